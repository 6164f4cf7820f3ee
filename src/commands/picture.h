/*
 * picture - numbers as bars, and as a curve: for a terminal, in as many columns as it has.
 *
 * Text alone: no colour, no escape sequence, no line wider than asked. In UTF-8, with blocks and
 * dots of Braille; else in ASCII.
 */
#ifndef UNSEEN_COMMANDS_PICTURE_H
#define UNSEEN_COMMANDS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct picture {
    FILE *to;
    unsigned width; /* columns, at least 20 */
    bool utf8;
};

/* Sets the picture up for standard output. Returns false if that is no terminal: then there is
 * nothing to be drawn. */
bool picture_begin(struct picture *picture);

/* --- bars --- */

enum { PICTURE_NOTES = 4, PICTURE_NOTE = 32 };

/* A bar with its label on the left and notes on the right. Labels and notes are ASCII. */
struct picture_bar {
    bool here;   /* it is pointed at */
    double part; /* how much of the bar is filled, 0 to 1 */
    double mark; /* where a mark stands, 0 to 1 */
    char label[24];
    char notes[PICTURE_NOTES][PICTURE_NOTE]; /* where the picture is narrow, only the first few */
};

/* One bar a line. */
void picture_bars(const struct picture *picture, const struct picture_bar *bars, size_t count);

/* --- a curve --- */

/* A rate that rises with the number of lines: drawn from none to twice `lines`. */
struct picture_curve {
    double (*rate)(const void *context, double lines);
    const void *context;
    double lines; /* the point that is marked */
    double solid; /* from so many lines on, the curve is dotted */
};

/* 8 to 16 lines, and four around them. */
void picture_curve(const struct picture *picture, const struct picture_curve *curve);

/* --- words --- */

/* A sentence, broken between words. */
__attribute__((format(printf, 2, 3))) void picture_say(const struct picture *picture,
                                                       const char *format, ...);

/* How the point of a curve and the mark of a bar look. */
const char *picture_point(const struct picture *picture);
const char *picture_mark(const struct picture *picture);

/* Of a rate, for core/number.h. */
enum { PICTURE_DIGITS = 2 };

/* "12.3M", as options take it: into text, which is returned. */
const char *picture_count(double count, char text[32]);

#endif
