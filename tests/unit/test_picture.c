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

static void draw_bars(const struct picture *picture)
{
    picture_bar(picture, "layer 1", 0.5, 0.75, " 50 %  5 of 7");
    picture_bar(picture, "layer 10", 1, 0.25, "100 %  9 of 1");
    picture_bar(picture, "stage 3", 0.0001, 1, "  0 %  0 of 100K  full");
    check_drawn(picture, "bars");
}

static void bars(void)
{
    struct picture picture = begin(50, false);
    draw_bars(&picture);
    check_shows("  layer 1 ##########.....|....   50 %  5 of 7\n"
                " layer 10 #####|##############  100 %  9 of 1\n"
                "  stage 3 #..................|    0 %  0 of 100K\n");
    picture = begin(30, true);
    draw_bars(&picture);
    check_shows("  layer 1 █████··│··   50 %\n"
                " layer 10 ██│███████  100 %\n"
                "  stage 3 █········│    0 %\n");
}

static void bars_of_any_width(void)
{
    for (unsigned width = 20; width <= 1000; width++)
        for (int utf8 = 0; utf8 < 2; utf8++) {
            struct picture picture = begin(width, utf8);
            draw_bars(&picture);
            tap_check(lines_drawn() == 3, "%u lines", lines_drawn());
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
    struct picture_curve curve = {power, &exponent, 1000};
    struct picture picture = begin(42, false);
    picture_curve(&picture, &curve);
    check_drawn(&picture, "curve");
    check_shows("     0.1 |\n"
                "         |                          ******\n"
                "         |                     *****\n"
                "         |                 ****\n"
                "  0.0039 |              **O\n"
                "         |           ***\n"
                "         |         **\n"
                "         |       **\n"
                "         |      *\n"
                "         |     *\n"
                "         |    *\n"
                "    1e-5 |   *\n"
                "         +----------------+---------------\n"
                "         0                1K      2K lines\n");
    picture = begin(31, true);
    picture_curve(&picture, &curve);
    check_drawn(&picture, "curve");
    check_shows("     0.1 │                    ⣀\n"
                "         │                ⢀⠤⠒⠉\n"
                "         │             ⢀⠤⠊⠁\n"
                "         │           ⡠⠒⠁\n"
                "  0.0039 │         ⡠●\n"
                "         │       ⢀⠎\n"
                "         │      ⡠⠃\n"
                "         │     ⡰⠁\n"
                "         │    ⡰⠁\n"
                "         │   ⢠⠃\n"
                "         │   ⡇\n"
                "    1e-5 │  ⢸\n"
                "         └──────────┴──────────\n"
                "         0          1K 2K lines\n");
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
                                          &exponents[i % 5], lines};
            struct picture picture = begin(width, i % 3);
            picture_curve(&picture, &curve);
            check_drawn(&picture, "curve");
            tap_check(strstr(drawn, picture_point(&picture)) != NULL, "no point");
            tap_check(lines_drawn() == 14, "%u lines", lines_drawn());
        }
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
    tap_run("counts", counts);
    free(drawn);
    return tap_end();
}
