/* Pictures: what they show, and that no line of theirs is wider than asked. */
#include "commands/picture.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *drawn;
static size_t drawn_length;

static struct picture begin(unsigned width, bool utf8)
{
    free(drawn);
    drawn = NULL;
    struct picture picture = {open_memstream(&drawn, &drawn_length), width, utf8};
    if (picture.to == NULL)
        exit(1);
    return picture;
}

static unsigned lines_drawn(void)
{
    unsigned lines = 0;
    for (const char *c = drawn; *c != '\0'; c++)
        lines += *c == '\n';
    return lines;
}

/* Whole lines, none too wide, of nothing but what may be in them. */
static void check_drawn(const struct picture *picture, const char *what)
{
    unsigned column = 0;
    fclose(picture->to);
    tap_check(drawn_length > 0 && drawn[drawn_length - 1] == '\n', "%s: no last newline", what);
    for (const unsigned char *c = (const unsigned char *)drawn; *c != '\0'; c++) {
        column = *c == '\n' ? 0 : column + ((*c & 0xc0) != 0x80);
        tap_check(column <= picture->width, "%s, %u columns: too wide", what, picture->width);
        tap_check(*c != '\n' || c == (const unsigned char *)drawn || c[-1] != ' ',
                  "%s: a blank ends a line", what);
        tap_check(*c == '\n' || (*c >= ' ' && (*c < 0x7f || (picture->utf8 && *c > 0x7f))),
                  "%s, %u columns: byte %02x", what, picture->width, *c);
    }
}

static void check_shows(const char *wanted)
{
    tap_check(strcmp(drawn, wanted) == 0, "wanted:\n%sdrawn:\n%s", wanted, drawn);
}

static const struct picture_bar some_bars[] = {
    {.part = 0.5, .mark = 0.75, .label = "layer 1", .notes = {"50 %", "5 of 7"}},
    {.here = true, .part = 1, .mark = 0.25, .label = "layer 10", .notes = {"100 %", "9 of 1"}},
    {.part = 0.0001, .mark = 1, .label = "stage 3", .notes = {"<1 %", "", "free"}},
    {.part = 0, .mark = 0, .label = "layer 4", .notes = {"0 %", "0 of 100K", "full", "since noon"}},
};

static void bars(void)
{
    struct picture picture = begin(50, false);
    picture_bars(&picture, some_bars, 4);
    check_drawn(&picture, "bars");
    check_shows("   layer 1 ################........|.......   50 %\n"
                "> layer 10 ########|#######################  100 %\n"
                "   stage 3 #..............................|   <1 %\n"
                "   layer 4 |...............................    0 %\n");
    picture = begin(66, false);
    picture_bars(&picture, some_bars, 4);
    check_drawn(&picture, "bars");
    check_shows("   layer 1 ################.......|.......   50 %     5 of 7\n"
                "> layer 10 #######|#######################  100 %     9 of 1\n"
                "   stage 3 #.............................|   <1 %             free\n"
                "   layer 4 |..............................    0 %  0 of 100K  full\n");
    picture = begin(37, true);
    picture_bars(&picture, some_bars, 4);
    check_drawn(&picture, "bars");
    check_shows("   layer 1 █████████▌····│····   50 %\n"
                "▶ layer 10 ████│██████████████  100 %\n"
                "   stage 3 ▏·················│   <1 %\n"
                "   layer 4 │··················    0 %\n");
}

static void bars_of_any_width(void)
{
    for (unsigned width = 20; width <= 1000; width++)
        for (int utf8 = 0; utf8 < 2; utf8++) {
            struct picture picture = begin(width, utf8);
            picture_bars(&picture, some_bars, 4);
            check_drawn(&picture, "bars");
            tap_check(lines_drawn() == 4, "%u lines", lines_drawn());
        }
}

/* A rate that is a power of the lines. */
static double power(const void *context, double lines)
{
    const double *exponent = context;
    return fmin(pow(lines / 4000, *exponent), 1);
}

static double never(const void *context, double lines)
{
    (void)context;
    return lines * 0;
}

static double always(const void *context, double lines)
{
    return never(context, lines) + 1;
}

static void curve(void)
{
    double exponent = 4;
    struct picture_curve curve = {power, &exponent, 1000, 1000};
    struct picture picture = begin(42, false);
    picture_curve(&picture, &curve);
    check_drawn(&picture, "curve");
    check_shows("     0.1 +                              .\n"
                "         |                     .  -  '\n"
                "  0.0039 + - - - - - - - .O -\n"
                "   0.001 +           ..-' :\n"
                "         |        .-'     :\n"
                "         |      .-'       :\n"
                "         |     /'         :\n"
                "    1e-5 +   ./           :\n"
                "         +----------------+---------------\n"
                "         0               1K       2K lines\n");
    curve.solid = HUGE_VAL;
    picture = begin(31, true);
    picture_curve(&picture, &curve);
    check_drawn(&picture, "curve");
    check_shows("     0.1 ┤                  ⣀⡠⠤\n"
                "         │             ⢀⡠⠔⠒⠉\n"
                "  0.0039 ┤╌╌╌╌╌╌╌╌╌╌●⠔⠊⠁\n"
                "   0.001 ┤       ⢀⠔⠊╎\n"
                "         │     ⢀⠔⠁  ╎\n"
                "         │    ⡠⠃    ╎\n"
                "         │   ⡰⠁     ╎\n"
                "    1e-5 ┤  ⢰⠁      ╎\n"
                "         └──────────┴──────────\n"
                "         0         1K  2K lines\n");
}

static void curves_of_any_width(void)
{
    static const double exponents[] = {0.01, 1, 3, 20, 300};
    for (unsigned width = 20; width <= 1000; width += width < 300 ? 1 : 50)
        for (unsigned i = 0; i < 14; i++) {
            double lines = i < 10 ? pow(10, i) : 1e12;
            struct picture_curve curve = {i == 12   ? never
                                          : i == 13 ? always
                                                    : power,
                                          &exponents[i % 5], lines, i % 2 ? lines : HUGE_VAL};
            struct picture picture = begin(width, i % 3);
            picture_curve(&picture, &curve);
            check_drawn(&picture, "curve");
            tap_check(strstr(drawn, picture_point(&picture)) != NULL, "no point");
            tap_check(lines_drawn() >= 10 && lines_drawn() <= 18, "%u lines", lines_drawn());
        }
}

static void words(void)
{
    struct picture picture = begin(20, true);
    picture_say(&picture, "%s a sentence that goes on; averyveryverylongword", "●●●●");
    fclose(picture.to);
    check_shows("●●●● a sentence that\ngoes on;\naveryveryverylongword\n");
}

static void counts(void)
{
    static const struct {
        double count;
        const char *text;
    } rows[] = {
        {0, "0"},     {1, "1"},         {999, "999"},   {999.6, "1K"}, {12345, "12.3K"},
        {1e7, "10M"}, {999499, "999K"}, {999501, "1M"}, {1e12, "1T"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_check(strcmp(picture_count(rows[i].count, text), rows[i].text) == 0, "%g: %s",
                  rows[i].count, text);
}

int main(void)
{
    tap_run("bars", bars);
    tap_run("bars of any width", bars_of_any_width);
    tap_run("a curve", curve);
    tap_run("curves of any width, and of no rate", curves_of_any_width);
    tap_run("words", words);
    tap_run("counts", counts);
    free(drawn);
    return tap_end();
}
