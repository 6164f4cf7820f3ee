/* ascii - tests of letters and digits that ignore the locale, so that keys are the same
 * everywhere. */
#ifndef UNSEEN_KEY_ASCII_H
#define UNSEEN_KEY_ASCII_H

#include <stdbool.h>
#include <stdint.h>

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline char ascii_lower(char c)
{
    return ascii_is_upper(c) ? (char)(c | 0x20) : c;
}

static inline bool ascii_is_letter(char c)
{
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z';
}

static inline bool ascii_is_hex(char c)
{
    char lower = (char)(c | 0x20);
    return ascii_is_digit(c) || (lower >= 'a' && lower <= 'f');
}

/* Precondition: c is a hex digit. */
static inline unsigned ascii_hex_value(char c)
{
    return (c & 15U) + (c >> 6 & 1U) * 9;
}

#endif
