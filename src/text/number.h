/*
 * number - parses and formats numbers with and without units.
 */
#ifndef UNSEEN_TEXT_NUMBER_H
#define UNSEEN_TEXT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum { NUMBER_TEXT = 32 };

/* Formats a number with at most `digits` significant digits: 0.01, 1e-6, 3.19e-7. (printf would
 * write 1e-06.) Returns `text`. */
const char *number_text(double number, unsigned digits, char text[NUMBER_TEXT]);

/* Format an approximate size, "3.6 MB" in powers of 1000, and an approximate count, "12.3M". Return
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

/* Returns NAN if the text is not a number of this kind. Counts, sizes and times must be whole. */
double number_parse(const char *text, enum number_kind kind);

/* Formats a number so that number_parse gives the same one, in the largest unit, up to days, of
 * which it is a multiple: "64K", "7d", "1.5s"; more than two days as "37d12h". Returns `text`. */
const char *number_exact(double number, enum number_kind kind, char text[NUMBER_TEXT]);

/* Parses decimal digits; a number above UINT32_MAX becomes UINT32_MAX. Returns a pointer to the
 * text after the digits, or NULL if there are none. */
const char *number_digits(const char *text, uint32_t *number);

/* Parses a decimal or hexadecimal (0x) number of up to 64 bits, which a double cannot hold. Returns
 * false if the text is not such a number. */
bool number_parse_whole(const char *text, uint64_t *number);

static inline const char *number_of(uint64_t number, const char *one, const char *many)
{
    return number == 1 ? one : many;
}

static inline const char *number_lines(uint64_t number)
{
    return number_of(number, "line", "lines");
}

/* The capacity to choose for about `lines` lines: 1% more, rounded up to three significant
 * digits. */
uint64_t number_capacity(double lines);

/* Significant digits for numbers that the user gave, and for computed ones. */
enum { NUMBER_ASKED = 6, NUMBER_FOUND = 3 };

#endif
