/*
 * bytes - numbers and keys in bytes, little-endian, of any alignment and on machines of either
 * order; searching eight bytes at a time in a 64-bit word; and where lines end.
 */
#ifndef UNSEEN_CORE_BYTES_H
#define UNSEEN_CORE_BYTES_H

#include "core/hash.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE64(x) __builtin_bswap64(x)
#define LITTLE32(x) __builtin_bswap32(x)
#define LITTLE16(x) __builtin_bswap16(x)
#else
#define LITTLE64(x) (x)
#define LITTLE32(x) (x)
#define LITTLE16(x) (x)
#endif

static inline uint64_t load64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return LITTLE64(value);
}

static inline uint32_t load32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return LITTLE32(value);
}

static inline uint16_t load16(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return LITTLE16(value);
}

static inline void store64(uint8_t *bytes, uint64_t value)
{
    value = LITTLE64(value);
    memcpy(bytes, &value, sizeof value);
}

static inline void store32(uint8_t *bytes, uint32_t value)
{
    value = LITTLE32(value);
    memcpy(bytes, &value, sizeof value);
}

static inline void store16(uint8_t *bytes, uint16_t value)
{
    value = LITTLE16(value);
    memcpy(bytes, &value, sizeof value);
}

/* A double in a file: its IEEE 754 bits. */
static inline double load_double(const uint8_t *bytes)
{
    uint64_t raw = load64(bytes);
    double value;
    memcpy(&value, &raw, sizeof value);
    return value;
}

static inline void store_double(uint8_t *bytes, double value)
{
    uint64_t raw;
    memcpy(&raw, &value, sizeof raw);
    store64(bytes, raw);
}

/* A key in a file: lo, then hi. */
static inline struct key load_key(const uint8_t *bytes)
{
    return (struct key){.lo = load64(bytes), .hi = load64(bytes + 8)};
}

static inline void store_key(uint8_t *bytes, struct key key)
{
    store64(bytes, key.lo);
    store64(bytes + 8, key.hi);
}

/* A word whose eight bytes are all `byte`. */
static inline uint64_t eight_bytes(uint8_t byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

/* Sets the high bit of each byte of x that is zero. Mycroft's test in the form that carries nothing
 * from byte to byte, and so has no false hits. */
static inline uint64_t zero_bytes(uint64_t x)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ~(((x & low) + low) | x | low);
}

/* --- lines, each with its delimiter --- */

/* The bytes of all whole lines at the beginning of `bytes`; 0 if no line is whole. */
static inline size_t whole_lines(const char *bytes, size_t length, char delimiter)
{
    const char *last = memrchr(bytes, delimiter, length);
    return last != NULL ? (size_t)(last - bytes) + 1 : 0;
}

/* How many lines end in `bytes`. */
static inline uint64_t lines_in(const char *bytes, size_t length, char delimiter)
{
    uint64_t count = 0;
    const char *end = bytes + length;
    for (const char *at = bytes; (at = memchr(at, delimiter, (size_t)(end - at))) != NULL; at++)
        count++;
    return count;
}

/* The bytes of the first line; 0 if it is not whole. */
static inline size_t first_line(const char *bytes, size_t length, char delimiter)
{
    const char *end = memchr(bytes, delimiter, length);
    return end != NULL ? (size_t)(end - bytes) + 1 : 0;
}

/* The bytes of the whole lines that fit into `most` bytes; of the first line, if that is longer; 0
 * if it is not whole. */
static inline size_t fitting_lines(const char *bytes, size_t length, size_t most, char delimiter)
{
    size_t fit = whole_lines(bytes, length < most ? length : most, delimiter);
    return fit > 0 ? fit : first_line(bytes, length, delimiter);
}

#endif
