/*
 * chart - numbers as bars, and as a curve: for a terminal, in as many columns as it has.
 *
 * Text alone: no colour, no escape sequence, no line wider than the terminal. In UTF-8, with blocks
 * and dots of Braille; else in ASCII.
 */
#ifndef UNSEEN_COMMANDS_CHART_H
#define UNSEEN_COMMANDS_CHART_H

#include <stdbool.h>
#include <stdio.h>

struct chart {
    FILE *to;
    unsigned width; /* columns, at least 20 */
    bool utf8;
};

/* Sets the chart up for standard output. Returns false if that is no terminal: then there is
 * nothing to be drawn. */
bool chart_begin(struct chart *chart);

/* A bar on a line, with its label on the left and notes on the right, as many of these, which two
 * blanks divide, as there is room for; both are ASCII. `part` is how much of the bar is filled, and
 * `mark` where a mark stands, 0 to 1. */
void chart_bar(const struct chart *chart, const char *label, double part, double mark,
               const char *notes);

/* A rate that rises with the number of lines, drawn from none to twice `lines`, where a point is:
 * 14 lines. */
struct chart_rate {
    double (*at)(const void *context, double lines);
    const void *context;
    double lines;
};
void chart_curve(const struct chart *chart, const struct chart_rate *rate);

/* How the point of a curve and the mark of a bar look. */
const char *chart_point(const struct chart *chart);
const char *chart_mark(const struct chart *chart);

/* Of a rate, for core/number.h. */
enum { CHART_DIGITS = 2 };

#endif
