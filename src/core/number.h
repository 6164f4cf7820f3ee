/*
 * number - a number as people write it, and as they are shown it.
 */
#ifndef UNSEEN_CORE_NUMBER_H
#define UNSEEN_CORE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum { NUMBER_TEXT = 32 };

/* With at most so many digits: 0.01, 1e-6, 3.19e-7. (printf would write 1e-06.) Returns `text`. */
const char *number_text(double number, unsigned digits, char text[NUMBER_TEXT]);

/* About as large as it is: bytes as "3.6 MB", in powers of 1000; a count as "12.3M". Return
 * `text`. */
const char *number_size(double bytes, char text[NUMBER_TEXT]);
const char *number_count(double count, char text[NUMBER_TEXT]);

enum number_kind {
    NUMBER_COUNT, /* 1000000, 1e6, 10^6, 1M */
    NUMBER_SIZE,  /* in bytes: 64K and 64KiB are 65536, 64kB are 64000 */
    NUMBER_TIME,  /* in milliseconds: 90s, 7d, 1d12h, each unit smaller than the one before */
    NUMBER_RATE,  /* 0.003, 3e-3, 0.3% */
    NUMBER_PLAIN, /* 0.003, 3e-3 */
};

/* NAN for what is no number of this kind. Counts, sizes and times are whole. */
double number_parse(const char *text, enum number_kind kind);

/* As number_parse reads it, in the largest unit of which it is a whole number, but no weeks: "64K",
 * "7d", "1.5s". Returns `text`. */
const char *number_exact(double number, enum number_kind kind, char text[NUMBER_TEXT]);

/* Decimal digits alone; a number that is too large becomes the largest. Returns what comes after
 * them; NULL if there are none. */
const char *number_digits(const char *text, uint32_t *number);

/* Of up to 64 bits, in decimal or hexadecimal (0x): more than a double has. Returns whether it is
 * one. */
bool number_parse_whole(const char *text, uint64_t *number);

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
