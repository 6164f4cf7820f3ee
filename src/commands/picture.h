/*
 * picture - numbers as bars, and as a curve: for a terminal, in as many columns as it has.
 *
 * Text alone: no colour, no escape sequence, no line wider than the terminal. In UTF-8, with blocks
 * and dots of Braille; else in ASCII.
 */
#ifndef UNSEEN_COMMANDS_PICTURE_H
#define UNSEEN_COMMANDS_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

struct picture {
    FILE *to;
    unsigned width; /* columns, at least 20 */
    bool utf8;
};

/* Sets the picture up for standard output. Returns false if that is no terminal: then there is
 * nothing to be drawn. */
bool picture_begin(struct picture *picture);

/* A bar on a line, with its label on the left and notes on the right, as many of these, which two
 * blanks divide, as there is room for; both are ASCII. `part` is how much of the bar is filled, and
 * `mark` where a mark stands, 0 to 1. */
void picture_bar(const struct picture *picture, const char *label, double part, double mark,
                 const char *notes);

/* A rate that rises with the number of lines, drawn from none to twice `lines`, where a point is:
 * 14 lines. */
struct picture_curve {
    double (*rate)(const void *context, double lines);
    const void *context;
    double lines;
};
void picture_curve(const struct picture *picture, const struct picture_curve *curve);

/* How the point of a curve and the mark of a bar look. */
const char *picture_point(const struct picture *picture);
const char *picture_mark(const struct picture *picture);

/* Of a rate, for core/number.h. */
enum { PICTURE_DIGITS = 2 };

/* "12.3M", as options take it: into text, which is returned. */
const char *picture_count(double count, char text[32]);

#endif
