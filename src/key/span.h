/*
 * span - bytes that are stored elsewhere, and tests of single bytes that ignore the locale, so that
 * keys are the same everywhere.
 */
#ifndef UNSEEN_KEY_SPAN_H
#define UNSEEN_KEY_SPAN_H

#include <stdbool.h>
#include <stddef.h>

struct span {
    const char *bytes;
    size_t length;
};

/* Room for what is decoded from a row of CSV, and written anew in quotes. */
#define SPAN_DECODED(length) (3 * (length) + 64)

/* Opens and closes fields of CSV and strings of JSON. */
enum { QUOTE = '"' };

static inline struct span span_between(const char *first, const char *end)
{
    return (struct span){first, (size_t)(end - first)};
}

static inline const char *span_end(struct span span)
{
    return span.bytes + span.length;
}

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

/* The value of a hex digit; of another byte, some number. */
static inline unsigned ascii_hex_value(char c)
{
    return (c & 15U) + (c >> 6 & 1U) * 9;
}

#endif
