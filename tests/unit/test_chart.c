/* Charts: what they show, and that no line of theirs is wider than asked. */
#include "commands/chart.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *drawn;
static size_t drawn_length;

static struct chart begin(unsigned width, bool utf8)
{
    free(drawn);
    drawn = NULL;
    struct chart chart = {open_memstream(&drawn, &drawn_length), width, utf8};
    if (chart.to == NULL)
        exit(1);
    return chart;
}

static unsigned lines_drawn(void)
{
    unsigned lines = 0;
    for (const char *c = drawn; *c != '\0'; c++)
        lines += *c == '\n';
    return lines;
}

/* Whole lines, none too wide, of nothing but what may be in them. */
static void check_drawn(const struct chart *chart, const char *what)
{
    unsigned column = 0;
    fclose(chart->to);
    tap_check(drawn_length > 0 && drawn[drawn_length - 1] == '\n', "%s: no last newline", what);
    for (const unsigned char *c = (const unsigned char *)drawn; *c != '\0'; c++) {
        column = *c == '\n' ? 0 : column + ((*c & 0xc0) != 0x80);
        tap_check(column <= chart->width, "%s, %u columns: too wide", what, chart->width);
        tap_check(*c != '\n' || c == (const unsigned char *)drawn || c[-1] != ' ',
                  "%s: a blank ends a line", what);
        tap_check(*c == '\n' || (*c >= ' ' && (*c < 0x7f || (chart->utf8 && *c > 0x7f))),
                  "%s, %u columns: byte %02x", what, chart->width, *c);
    }
}

static void check_shows(const char *wanted)
{
    tap_check(strcmp(drawn, wanted) == 0, "wanted:\n%sdrawn:\n%s", wanted, drawn);
}

static void draw_bars(const struct chart *chart)
{
    chart_bar(chart, "layer 1", 0.5, 0.75, " 50 %  5 of 7");
    chart_bar(chart, "layer 10", 1, 0.25, "100 %  9 of 1");
    chart_bar(chart, "stage 3", 0.0001, 1, "  0 %  0 of 100K  full");
    check_drawn(chart, "bars");
}

static void bars(void)
{
    struct chart chart = begin(50, false);
    draw_bars(&chart);
    check_shows("  layer 1 ##########.....|....   50 %  5 of 7\n"
                " layer 10 #####|##############  100 %  9 of 1\n"
                "  stage 3 #..................|    0 %  0 of 100K\n");
    chart = begin(30, true);
    draw_bars(&chart);
    check_shows("  layer 1 █████··│··   50 %\n"
                " layer 10 ██│███████  100 %\n"
                "  stage 3 █········│    0 %\n");
}

static void bars_of_any_width(void)
{
    for (unsigned width = 20; width <= 1000; width++)
        for (int utf8 = 0; utf8 < 2; utf8++) {
            struct chart chart = begin(width, utf8);
            draw_bars(&chart);
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
    struct chart_rate curve = {power, &exponent, 1000};
    struct chart chart = begin(42, false);
    chart_curve(&chart, &curve);
    check_drawn(&chart, "curve");
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
    chart = begin(31, true);
    chart_curve(&chart, &curve);
    check_drawn(&chart, "curve");
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
            struct chart_rate curve = {i == 12   ? never
                                       : i == 13 ? always
                                                 : power,
                                       &exponents[i % 5], lines};
            struct chart chart = begin(width, i % 3);
            chart_curve(&chart, &curve);
            check_drawn(&chart, "curve");
            tap_check(strstr(drawn, chart_point(&chart)) != NULL, "no point");
            tap_check(lines_drawn() == 14, "%u lines", lines_drawn());
        }
}

int main(void)
{
    tap_run("bars", bars);
    tap_run("bars of any width", bars_of_any_width);
    tap_run("a curve", curve);
    tap_run("curves of any width, and of no rate", curves_of_any_width);
    free(drawn);
    return tap_end();
}
