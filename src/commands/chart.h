/*
 * chart - draws numbers as bars and curves, for a terminal, as wide as it is.
 *
 * No colour, no escape sequences, no line wider than the terminal. With blocks and Braille dots in
 * UTF-8, else in ASCII.
 */
#ifndef UNSEEN_COMMANDS_CHART_H
#define UNSEEN_COMMANDS_CHART_H

#include "core/growth.h"

/* The characters of bars and curves. */
struct strokes {
    const char *filled, *empty, *mark, *axis, *corner, *ground, *foot, *point;
};

struct chart {
    unsigned width; /* columns, at least 20 */
    bool utf8;
    const struct strokes *stroke;
};

/* Sets up a chart for standard output. Returns false if that is no terminal. */
bool chart_begin(struct chart *chart);

/* Draws a bar on one line, with a label on the left and notes on the right, both ASCII. Notes are
 * separated by two blanks; those that do not fit are left out. `fill`: how much of the bar is
 * filled, and `mark`: the position of a mark, both 0 to 1. */
void chart_bar(const struct chart *chart, const char *label, double fill, double mark,
               const char *notes);

/* Draws the rate for 0 to twice the lines at capacity, with a point at capacity, in 14 rows. */
void chart_curve(const struct chart *chart, const struct forecast *forecast);

/* Digits of a rate, for text/number.h. */
enum { CHART_DIGITS = 2 };

#endif
