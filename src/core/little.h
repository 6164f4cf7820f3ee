/*
 * little - little-endian numbers and keys in bytes of any alignment, on machines of either order.
 */
#ifndef UNSEEN_CORE_LITTLE_H
#define UNSEEN_CORE_LITTLE_H

#include "core/hash.h"

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

#endif
