#include "commands/picture.h"

#include "core/number.h"
#include "system/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is drawn with. */
struct strokes {
    const char *filled, *empty, *mark, *here;
    const char *parts[7]; /* a cell of a bar that is filled by so many eighths */
    const char *axis, *tick, *corner, *ground, *foot, *across, *down, *point;
};

static const struct strokes ascii = {
    .filled = "#",
    .empty = ".",
    .mark = "|",
    .here = ">",
    .parts = {".", ".", ".", "#", "#", "#", "#"},
    .axis = "|",
    .tick = "+",
    .corner = "+",
    .ground = "-",
    .foot = "+",
    .across = "-",
    .down = ":",
    .point = "O",
};

static const struct strokes unicode = {
    .filled = "█",
    .empty = "·",
    .mark = "│",
    .here = "▶",
    .parts = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"},
    .axis = "│",
    .tick = "┤",
    .corner = "└",
    .ground = "─",
    .foot = "┴",
    .across = "╌",
    .down = "╎",
    .point = "●",
};

static const struct strokes *strokes_of(const struct picture *picture)
{
    return picture->utf8 ? &unicode : &ascii;
}

bool picture_begin(struct picture *picture)
{
    if (!terminal_is(STDOUT_FILENO))
        return false;
    *picture = (struct picture){stdout, terminal_width(STDOUT_FILENO), terminal_shows_utf8()};
    return true;
}

/* --- words --- */

const char *picture_point(const struct picture *picture)
{
    return strokes_of(picture)->point;
}

const char *picture_mark(const struct picture *picture)
{
    return strokes_of(picture)->mark;
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

/* Columns that a word takes: bytes, but for those that go on with a character. */
static unsigned columns(const char *word, size_t length)
{
    unsigned count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)word[i] & 0xc0) != 0x80;
    return count;
}

void picture_say(const struct picture *picture, const char *format, ...)
{
    char text[512];
    unsigned column = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (const char *word = text; *word != '\0'; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        unsigned wide = columns(word, length);
        if (column > 0 && column + 1 + wide > picture->width)
            column = 0, putc('\n', picture->to);
        else if (column > 0)
            column++, putc(' ', picture->to);
        fprintf(picture->to, "%.*s", (int)length, word);
        column += wide;
        word += length;
    }
    putc('\n', picture->to);
}

/* --- bars --- */

enum { BAR_LEAST = 4, BAR_WELL = 30 };

/* Widths of the columns, the same for all bars. */
struct layout {
    unsigned here, label, bar, notes, note[PICTURE_NOTES];
};

static void widen(unsigned *width, const char *text)
{
    unsigned length = (unsigned)strlen(text);
    *width = *width > length ? *width : length;
}

/* As many notes as leave room for a bar; the first one, if there is any room at all. */
static struct layout layout_of(unsigned width, const struct picture_bar *bars, size_t count)
{
    struct layout layout = {.here = 0};
    for (size_t i = 0; i < count; i++) {
        layout.here = bars[i].here ? 2 : layout.here;
        widen(&layout.label, bars[i].label);
        for (unsigned j = 0; j < PICTURE_NOTES; j++)
            widen(&layout.note[j], bars[i].notes[j]);
    }
    unsigned used = layout.here + layout.label + 1;
    for (; layout.notes < PICTURE_NOTES; layout.notes++) {
        unsigned more = layout.note[layout.notes] + 2;
        if (used + more + (layout.notes == 0 ? BAR_LEAST : BAR_WELL) > width)
            break;
        used += more == 2 ? 0 : more;
    }
    layout.bar = width > used ? width - used : 1;
    return layout;
}

static void draw_bar(const struct picture *picture, const struct picture_bar *bar, unsigned width)
{
    const struct strokes *strokes = strokes_of(picture);
    unsigned eighths = (unsigned)(bar->part * width * 8 + 0.5);
    unsigned mark = (unsigned)(bar->mark * width);
    if (eighths == 0 && bar->part > 0)
        eighths = picture->utf8 ? 1 : 8;
    for (unsigned i = 0; i < width; i++)
        if (i == (mark < width ? mark : width - 1))
            fputs(strokes->mark, picture->to);
        else if (eighths >= 8 * i + 8)
            fputs(strokes->filled, picture->to);
        else
            fputs(eighths > 8 * i ? strokes->parts[eighths - 8 * i - 1] : strokes->empty,
                  picture->to);
}

/* Numbers end in one column, words begin in one. The last one is not filled up. */
static void draw_notes(const struct picture *picture, const struct picture_bar *bar,
                       const struct layout *layout)
{
    unsigned blanks = 0;
    for (unsigned i = 0; i < layout->notes; i++) {
        const char *note = bar->notes[i];
        unsigned length = (unsigned)strlen(note), before = layout->note[i] - length;
        bool word = note[0] >= 'a';
        if (layout->note[i] == 0)
            continue;
        blanks += 2 + (word ? 0 : before);
        if (length > 0)
            fprintf(picture->to, "%*s%s", (int)blanks, "", note);
        blanks = length == 0 ? blanks : word ? before : 0;
    }
}

void picture_bars(const struct picture *picture, const struct picture_bar *bars, size_t count)
{
    struct layout layout = layout_of(picture->width, bars, count);
    for (size_t i = 0; i < count; i++) {
        if (layout.here > 0)
            fprintf(picture->to, "%s ", bars[i].here ? strokes_of(picture)->here : " ");
        fprintf(picture->to, "%*s ", (int)layout.label, bars[i].label);
        draw_bar(picture, &bars[i], layout.bar);
        draw_notes(picture, &bars[i], &layout);
        putc('\n', picture->to);
    }
}

/* --- a curve --- */

enum { ROWS_LEAST = 8, ROWS_MOST = 16, COLUMNS_MOST = 1000, LABEL = 8 };

/* What is lower is drawn as if it were that: its logarithm must be a number. */
#define RATE_LEAST 1e-300

/* A sheet of rows and columns. In each of its cells are dots: in ASCII three, one above the other;
 * else as Braille has them, two and four. Levels are rows of dots, 0 the lowest. */
struct sheet {
    unsigned rows, columns, across, up;
    double bottom, top; /* powers of ten */
    unsigned point_row, point_column;
    unsigned char dots[ROWS_MOST][COLUMNS_MOST];
    char labels[ROWS_MOST][NUMBER_TEXT]; /* row 0 is the uppermost */
};

/* May be below the sheet. */
static double level_of(const struct sheet *sheet, double rate)
{
    double part = (log10(fmax(rate, RATE_LEAST)) - sheet->bottom) / (sheet->top - sheet->bottom);
    return floor(part * (sheet->rows * sheet->up - 1) + 0.5);
}

static unsigned row_of(const struct sheet *sheet, double rate)
{
    double level = fmax(level_of(sheet, rate), 0);
    unsigned row = sheet->rows - 1 - (unsigned)level / sheet->up;
    return row < sheet->rows ? row : 0;
}

static void dot(struct sheet *sheet, unsigned x, unsigned level)
{
    unsigned row = sheet->rows - 1 - level / sheet->up;
    unsigned bit = x % sheet->across * sheet->up + level % sheet->up;
    if (row < sheet->rows)
        sheet->dots[row][x / sheet->across] |= (unsigned char)(1U << bit);
}

/* Decades in which the curve is worth seeing: from a quarter of the lines on, but at most four
 * decades under the point. */
static void choose_scale(struct sheet *sheet, const struct picture_curve *curve)
{
    double at = curve->rate(curve->context, curve->lines);
    double low = fmax(curve->rate(curve->context, curve->lines / 4), at * 1e-4);
    double high = fmin(curve->rate(curve->context, curve->lines * 2), 1);
    sheet->bottom = floor(log10(fmax(low, RATE_LEAST)));
    sheet->top = fmax(ceil(log10(fmax(high, RATE_LEAST))), sheet->bottom + 1);
    sheet->point_row = row_of(sheet, at);
    sheet->point_column = sheet->columns / 2;
}

/* Without gaps where it is steep. */
static void plot(struct sheet *sheet, const struct picture_curve *curve)
{
    unsigned dots = sheet->columns * sheet->across;
    double before = -1;
    for (unsigned x = 0; x < dots; x++) {
        double lines = (x + 0.5) / dots * 2 * curve->lines;
        double level = level_of(sheet, curve->rate(curve->context, lines));
        bool dotted = lines > curve->solid;
        if (level >= 0 && (!dotted || x % 3 == 0))
            for (double y = dotted || before >= level ? level : before + 1; y <= level; y++)
                dot(sheet, x, (unsigned)y);
        before = fmax(level, -1);
    }
}

/* The point's own label, and those of decades that leave a row free between them. */
static void label(struct sheet *sheet, const struct picture_curve *curve)
{
    double at = curve->rate(curve->context, curve->lines);
    double decades = sheet->top - sheet->bottom, step = ceil(2 * decades / (sheet->rows - 1));
    for (double power = sheet->top; power >= sheet->bottom; power -= step)
        number_text(pow(10, power), PICTURE_DIGITS, sheet->labels[row_of(sheet, pow(10, power))]);
    number_text(at, PICTURE_DIGITS, sheet->labels[sheet->point_row]);
}

/* Some dots, not none. */
static void draw_dots(const struct picture *picture, unsigned dots)
{
    static const char *const heights[] = {" ", ".", "-", "/", "'", "|", "/", "|"};
    /* Braille counts its dots down the left column, then down the right one; the lowest of both
     * were added later. */
    static const unsigned braille[] = {64, 4, 2, 1, 128, 32, 16, 8};
    unsigned character = 0;
    if (!picture->utf8) {
        fputs(heights[dots], picture->to);
        return;
    }
    for (unsigned i = 0; i < 8; i++)
        character |= dots >> i & 1 ? braille[i] : 0;
    fprintf(picture->to, "\xe2%c%c", (int)(0xa0 | character >> 6), (int)(0x80 | (character & 63)));
}

/* What is in a cell beside the curve, which goes before the guides to the point. */
static const char *guide(const struct picture *picture, const struct sheet *sheet, unsigned row,
                         unsigned column)
{
    const struct strokes *strokes = strokes_of(picture);
    bool same_row = row == sheet->point_row, same_column = column == sheet->point_column;
    if (same_row && same_column)
        return strokes->point;
    if (sheet->dots[row][column] != 0)
        return NULL;
    if (same_row && column < sheet->point_column && (picture->utf8 || column % 2 == 1))
        return strokes->across;
    return same_column && row > sheet->point_row ? strokes->down : NULL;
}

/* Without blanks at its end. */
static void draw_row(const struct picture *picture, const struct sheet *sheet, unsigned row)
{
    int blanks = 0;
    for (unsigned column = 0; column < sheet->columns; column++) {
        const char *stroke = guide(picture, sheet, row, column);
        if (stroke == NULL && sheet->dots[row][column] == 0) {
            blanks++;
            continue;
        }
        fprintf(picture->to, "%*s%s", blanks, "", stroke != NULL ? stroke : "");
        if (stroke == NULL)
            draw_dots(picture, sheet->dots[row][column]);
        blanks = 0;
    }
    putc('\n', picture->to);
}

static void draw_sheet(const struct picture *picture, const struct sheet *sheet)
{
    const struct strokes *strokes = strokes_of(picture);
    for (unsigned row = 0; row < sheet->rows; row++) {
        bool tick = sheet->labels[row][0] != '\0';
        fprintf(picture->to, "%*s %s", LABEL, sheet->labels[row],
                tick ? strokes->tick : strokes->axis);
        draw_row(picture, sheet, row);
    }
    fprintf(picture->to, "%*s %s", LABEL, "", strokes->corner);
    for (unsigned column = 0; column < sheet->columns; column++)
        fputs(column == sheet->point_column ? strokes->foot : strokes->ground, picture->to);
    putc('\n', picture->to);
}

/* 0, the point and the end under the axis: of the end what there is room for. */
static void draw_counts(const struct picture *picture, const struct sheet *sheet, double lines)
{
    static const char *const units[] = {" lines", ""};
    char middle[32], end[32];
    unsigned length = (unsigned)strlen(picture_count(lines, middle));
    unsigned to = sheet->point_column + 1 + (length + 1) / 2;
    picture_count(2 * lines, end);
    fprintf(picture->to, "%*s 0%*s", LABEL, "", (int)to - 1, middle);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t wide = strlen(end) + strlen(units[i]);
        if (to + wide > sheet->columns)
            continue;
        fprintf(picture->to, "%*s%s", (int)(sheet->columns + 1 - to - wide), "", end);
        fputs(units[i], picture->to);
        break;
    }
    putc('\n', picture->to);
}

void picture_curve(const struct picture *picture, const struct picture_curve *curve)
{
    unsigned rows = picture->width / 7;
    struct sheet sheet = {
        .rows = rows < ROWS_LEAST  ? ROWS_LEAST
                : rows < ROWS_MOST ? rows
                                   : ROWS_MOST,
        .columns = picture->width - LABEL - 2,
        .across = picture->utf8 ? 2 : 1,
        .up = picture->utf8 ? 4 : 3,
    };
    choose_scale(&sheet, curve);
    plot(&sheet, curve);
    label(&sheet, curve);
    draw_sheet(picture, &sheet);
    draw_counts(picture, &sheet, curve->lines);
}
