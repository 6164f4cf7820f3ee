#include "commands/picture.h"

#include "core/number.h"
#include "system/terminal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* What is drawn with: in ASCII, and in UTF-8. */
static const struct strokes {
    const char *filled, *empty, *mark, *axis, *corner, *ground, *foot, *point;
} strokes[] = {
    {"#", ".", "|", "|", "+", "-", "+", "O"},
    {"█", "·", "│", "│", "└", "─", "┴", "●"},
};

bool picture_begin(struct picture *picture)
{
    if (!isatty(STDOUT_FILENO))
        return false;
    *picture = (struct picture){stdout, terminal_width(STDOUT_FILENO), terminal_shows_utf8()};
    return true;
}

const char *picture_point(const struct picture *picture)
{
    return strokes[picture->utf8].point;
}

const char *picture_mark(const struct picture *picture)
{
    return strokes[picture->utf8].mark;
}

const char *picture_count(double count, char text[32])
{
    static const char *const units[] = {"", "K", "M", "G", "T", "P"};
    size_t unit = 0;
    for (; count >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        count /= 1000;
    snprintf(text, 32, "%.3g%s", count, units[unit]);
    return text;
}

void picture_bar(const struct picture *picture, const char *label, double part, double mark,
                 const char *notes)
{
    enum { LABEL = 9, MOST = 40 };
    const struct strokes *stroke = &strokes[picture->utf8];
    unsigned width = (picture->width - LABEL) / 2 < MOST ? (picture->width - LABEL) / 2 : MOST;
    unsigned filled = (unsigned)(part * width + 0.5), at = (unsigned)(mark * width);
    int room = (int)(picture->width - LABEL - width) - 3;
    if (filled == 0 && part > 0)
        filled = 1;
    fprintf(picture->to, "%*.*s ", LABEL, LABEL, label);
    for (unsigned i = 0; i < width; i++)
        fputs(i == (at < width ? at : width - 1) ? stroke->mark
              : i < filled                       ? stroke->filled
                                                 : stroke->empty,
              picture->to);
    while (room > 0 && (int)strlen(notes) > room && strncmp(notes + room, "  ", 2) != 0)
        room--;
    fprintf(picture->to, "%s%.*s\n", room > 0 ? "  " : "", room, notes);
}

/* --- a curve --- */

enum { LABEL = 8, ROWS = 12, COLUMNS_MOST = 500 };

/* What is lower is drawn as if it were that: its logarithm must be a number. */
#define RATE_LEAST 1e-300

/* In each cell are dots: in ASCII one; else as Braille has them, two beside and four above each
 * other. Levels are rows of dots, 0 the lowest. */
struct sheet {
    unsigned columns, across, up;
    double bottom, top; /* powers of ten */
    unsigned char dots[ROWS][COLUMNS_MOST];
};

/* Of what is below the sheet: -1. */
static int level_of(const struct sheet *sheet, double rate)
{
    double part = (log10(fmax(rate, RATE_LEAST)) - sheet->bottom) / (sheet->top - sheet->bottom);
    return (int)fmax(floor(part * (ROWS * sheet->up - 1) + 0.5), -1);
}

/* Decades in which the curve is worth seeing: from a quarter of the lines on, but at most four
 * decades under the point. */
static void choose_scale(struct sheet *sheet, const struct picture_curve *curve, double at)
{
    double low = fmax(curve->rate(curve->context, curve->lines / 4), at * 1e-4);
    double high = fmin(curve->rate(curve->context, curve->lines * 2), 1);
    sheet->bottom = floor(log10(fmax(low, RATE_LEAST)));
    sheet->top = fmax(ceil(log10(fmax(high, RATE_LEAST))), sheet->bottom + 1);
}

/* Without gaps where it is steep. */
static void plot(struct sheet *sheet, const struct picture_curve *curve)
{
    unsigned dots = sheet->columns * sheet->across;
    int before = -1;
    for (unsigned x = 0; x < dots; x++) {
        double lines = (x + 0.5) / dots * 2 * curve->lines;
        int level = level_of(sheet, fmin(curve->rate(curve->context, lines), 1));
        for (int y = before >= level ? level : before + 1; y >= 0 && y <= level; y++) {
            unsigned bit = x % sheet->across * sheet->up + (unsigned)y % sheet->up;
            unsigned row = ROWS - 1 - (unsigned)y / sheet->up;
            sheet->dots[row][x / sheet->across] |= (unsigned char)(1U << bit);
        }
        before = level;
    }
}

static void draw_dots(const struct picture *picture, unsigned dots)
{
    /* Braille counts its dots down the left column, then down the right one; the lowest of both
     * were added later. */
    static const unsigned braille[] = {64, 4, 2, 1, 128, 32, 16, 8};
    unsigned character = 0;
    if (dots == 0 || !picture->utf8) {
        putc(dots == 0 ? ' ' : '*', picture->to);
        return;
    }
    for (unsigned i = 0; i < 8; i++)
        character |= dots >> i & 1 ? braille[i] : 0;
    fprintf(picture->to, "\xe2%c%c", (int)(0xa0 | character >> 6), (int)(0x80 | (character & 63)));
}

/* `point`: the column of the point, if it is in this row; else after all columns. */
static void draw_row(const struct picture *picture, const struct sheet *sheet, unsigned row,
                     unsigned point)
{
    unsigned end = sheet->columns;
    while (end > 0 && sheet->dots[row][end - 1] == 0 && end - 1 != point)
        end--;
    fputs(strokes[picture->utf8].axis, picture->to);
    for (unsigned column = 0; column < end; column++)
        if (column == point)
            fputs(picture_point(picture), picture->to);
        else
            draw_dots(picture, sheet->dots[row][column]);
    putc('\n', picture->to);
}

/* 0, the point and, if there is room, the end, under an axis. */
static void draw_ground(const struct picture *picture, const struct sheet *sheet, double lines)
{
    char middle[32], end[32];
    const struct strokes *stroke = &strokes[picture->utf8];
    int point = (int)sheet->columns / 2, left = (int)strlen(picture_count(lines, middle)) / 2;
    int right = (int)sheet->columns - point - left - 1;
    fprintf(picture->to, "%*s %s", LABEL, "", stroke->corner);
    for (int column = 0; column < (int)sheet->columns; column++)
        fputs(column == point ? stroke->foot : stroke->ground, picture->to);
    fprintf(picture->to, "\n%*s 0%*s", LABEL, "", point + left + 1, middle);
    if (right > (int)strlen(picture_count(2 * lines, end)) + 6)
        fprintf(picture->to, "%*s lines", right - 6, end);
    putc('\n', picture->to);
}

void picture_curve(const struct picture *picture, const struct picture_curve *curve)
{
    unsigned columns = picture->width - LABEL - 2;
    double at = curve->rate(curve->context, curve->lines);
    struct sheet sheet = {
        .columns = columns < COLUMNS_MOST ? columns : COLUMNS_MOST,
        .across = picture->utf8 ? 2 : 1,
        .up = picture->utf8 ? 4 : 1,
    };
    choose_scale(&sheet, curve, at);
    plot(&sheet, curve);
    int level = level_of(&sheet, at);
    unsigned point_row = ROWS - 1 - (unsigned)(level > 0 ? level : 0) / sheet.up;
    for (unsigned row = 0; row < ROWS; row++) {
        char label[NUMBER_TEXT] = "";
        if (row == point_row)
            number_text(at, PICTURE_DIGITS, label);
        else if (row == 0 || row == ROWS - 1)
            number_text(pow(10, row == 0 ? sheet.top : sheet.bottom), PICTURE_DIGITS, label);
        fprintf(picture->to, "%*s ", LABEL, label);
        draw_row(picture, &sheet, row, row == point_row ? sheet.columns / 2 : COLUMNS_MOST);
    }
    draw_ground(picture, &sheet, curve->lines);
}
