/*
 * number - a number as people write it.
 */
#ifndef UNSEEN_CORE_NUMBER_H
#define UNSEEN_CORE_NUMBER_H

#include <stdint.h>

enum { NUMBER_TEXT = 32 };

/* With at most so many digits: 0.01, 1e-6, 3.19e-7. (printf would write 1e-06.) Returns `text`. */
const char *number_text(double number, unsigned digits, char text[NUMBER_TEXT]);

/* What so many of a thing are called: `one` or `many`. */
static inline const char *number_of(uint64_t number, const char *one, const char *many)
{
    return number == 1 ? one : many;
}

static inline const char *number_lines(uint64_t number)
{
    return number_of(number, "line", "lines");
}

/* The capacity to ask for where about so many lines are expected: 1 % more, and the next number up
 * that has three significant digits. */
uint64_t number_capacity(double lines);

/* The digits that tell what was asked for, and those that are enough for what was worked out. */
enum { NUMBER_ASKED = 6, NUMBER_FOUND = 3 };

#endif
