/* ascii - letters and digits, whatever the locale: keys are the same everywhere. */
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

static inline bool ascii_is_upper_hex(char c)
{
    return ascii_is_digit(c) || (c >= 'A' && c <= 'F');
}

/* Letters, digits and - . _ ~: what RFC 3986 calls unreserved. A bit for each byte. */
static inline bool ascii_is_unreserved(unsigned char c)
{
    const uint64_t low = UINT64_C(0x03ff600000000000), high = UINT64_C(0x47fffffe87fffffe);
    return c < 128 && ((c < 64 ? low : high) >> c % 64 & 1) != 0;
}

/* Precondition: it is a hex digit. */
static inline unsigned ascii_hex_value(char c)
{
    return (unsigned)(ascii_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
}

#endif
