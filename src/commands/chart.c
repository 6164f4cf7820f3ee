#include "commands/chart.h"

#include "system/terminal.h"
#include "text/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In ASCII, and in UTF-8. */
static const struct strokes strokes[] = {
    {"#", ".", "|", "|", "+", "-", "+", "O"},
    {"█", "·", "│", "│", "└", "─", "┴", "●"},
};

bool chart_begin(struct chart *chart)
{
    if (!isatty(STDOUT_FILENO))
        return false;
    bool utf8 = terminal_shows_utf8();
    *chart = (struct chart){terminal_width(STDOUT_FILENO), utf8, &strokes[utf8]};
    return true;
}

void chart_bar(const struct chart *chart, const char *label, double fill, double mark,
               const char *notes)
{
    enum { LABEL = 9, MOST = 40 };
    const struct strokes *stroke = chart->stroke;
    unsigned width = (chart->width - LABEL) / 2 < MOST ? (chart->width - LABEL) / 2 : MOST;
    unsigned filled = (unsigned)(fill * width + 0.5), at = (unsigned)(mark * width);
    int room = (int)(chart->width - LABEL - width) - 3;
    if (filled == 0 && fill > 0)
        filled = 1;
    printf("%*.*s ", LABEL, LABEL, label);
    for (unsigned i = 0; i < width; i++)
        fputs(i == (at < width ? at : width - 1) ? stroke->mark
              : i < filled                       ? stroke->filled
                                                 : stroke->empty,
              stdout);
    while (room > 0 && (int)strlen(notes) > room && strncmp(notes + room, "  ", 2) != 0)
        room--;
    printf("%s%.*s\n", room > 0 ? "  " : "", room, notes);
}

/* --- a curve --- */

enum { LABEL = 8, ROWS = 12, COLUMNS_MOST = 500 };

/* Lower rates are drawn as this one, so that the logarithm is finite. */
#define RATE_LEAST 1e-300

/* A cell has one dot in ASCII; else 2 by 4, as in Braille. Levels are rows of dots, from 0 at the
 * bottom; -1 is below. */
struct curve {
    unsigned columns, across, up;
    double bottom, top;              /* powers of ten */
    int level[2 * COLUMNS_MOST + 1]; /* the first is that of a dot before the curve */
};

static int level_of(const struct curve *curve, double rate)
{
    double height = (log10(fmax(rate, RATE_LEAST)) - curve->bottom) / (curve->top - curve->bottom);
    return (int)fmax(floor(height * (ROWS * curve->up - 1) + 0.5), -1);
}

/* The decades shown: from the rate at a quarter of the lines, but at most four below the point. */
static void choose_scale(struct curve *curve, const struct forecast *forecast)
{
    double lines = (double)forecast->capacity, at = forecast_rate(forecast, lines);
    double low = fmax(forecast_rate(forecast, lines / 4), at * 1e-4);
    double high = fmin(forecast_rate(forecast, lines * 2), 1);
    curve->bottom = floor(log10(fmax(low, RATE_LEAST)));
    curve->top = fmax(ceil(log10(fmax(high, RATE_LEAST))), curve->bottom + 1);
}

/* The dots of a cell, as bits of a Braille character. Where the curve is steep, dots are joined
 * vertically, so that there is no gap. */
static unsigned dots_of(const struct curve *curve, unsigned row, unsigned column)
{
    static const unsigned char upward[] = {64, 4, 2, 1, 128, 32, 16, 8};
    unsigned dots = 0;
    for (unsigned i = 0; i < curve->across * curve->up; i++) {
        const int *level = &curve->level[column * curve->across + i / curve->up];
        int y = (int)((ROWS - 1 - row) * curve->up + i % curve->up);
        if (level[0] < level[1] ? level[0] < y && y <= level[1] : y == level[1])
            dots |= upward[i];
    }
    return dots;
}

/* `point`: the column of the point if it is in this row, else a column after the last. */
static void draw_row(const struct chart *chart, const struct curve *curve, unsigned row,
                     unsigned point)
{
    int blanks = 0;
    fputs(chart->stroke->axis, stdout);
    for (unsigned column = 0; column < curve->columns; column++, blanks++) {
        unsigned dots = dots_of(curve, row, column);
        if (dots == 0 && column != point)
            continue;
        printf("%*s", blanks, "");
        if (column == point || !chart->utf8)
            fputs(column == point ? chart->stroke->point : "*", stdout);
        else
            printf("\xe2%c%c", (int)(0xa0 | dots >> 6), (int)(0x80 | (dots & 63)));
        blanks = -1;
    }
    putchar('\n');
}

/* The axis, and under it 0, the lines at the point and, if they fit, those at the end. */
static void draw_ground(const struct chart *chart, unsigned columns, double lines)
{
    char middle[32], end[32];
    const struct strokes *stroke = chart->stroke;
    int point = (int)columns / 2, left = (int)strlen(number_count(lines, middle)) / 2;
    int right = (int)columns - point - left - 1;
    printf("%*s %s", LABEL, "", stroke->corner);
    for (int column = 0; column < (int)columns; column++)
        fputs(column == point ? stroke->foot : stroke->ground, stdout);
    printf("\n%*s 0%*s", LABEL, "", point + left + 1, middle);
    if (right > (int)strlen(number_count(2 * lines, end)) + 6)
        printf("%*s lines", right - 6, end);
    putchar('\n');
}

void chart_curve(const struct chart *chart, const struct forecast *forecast)
{
    double lines = (double)forecast->capacity, at = forecast_rate(forecast, lines);
    unsigned columns = chart->width - LABEL - 2;
    struct curve curve = {
        .columns = columns < COLUMNS_MOST ? columns : COLUMNS_MOST,
        .across = chart->utf8 ? 2 : 1,
        .up = chart->utf8 ? 4 : 1,
        .level[0] = -1,
    };
    choose_scale(&curve, forecast);
    unsigned dots = curve.columns * curve.across;
    for (unsigned x = 0; x < dots; x++) {
        double rate = forecast_rate(forecast, (x + 0.5) / dots * 2 * lines);
        curve.level[x + 1] = level_of(&curve, fmin(rate, 1));
    }
    unsigned point_row = ROWS - 1 - (unsigned)fmax(level_of(&curve, at), 0) / curve.up;
    for (unsigned row = 0; row < ROWS; row++) {
        char label[NUMBER_TEXT] = "";
        if (row == point_row || row == 0 || row == ROWS - 1)
            number_text(row == point_row ? at : pow(10, row == 0 ? curve.top : curve.bottom),
                        CHART_DIGITS, label);
        printf("%*s ", LABEL, label);
        draw_row(chart, &curve, row, row == point_row ? curve.columns / 2 : COLUMNS_MOST);
    }
    draw_ground(chart, curve.columns, lines);
}
