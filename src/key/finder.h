/*
 * finder - finds each occurrence of a byte, or of either of two bytes, in a line: for fields.
 *
 * The obvious way is a loop, or a call of memchr, per field. But fields are short and vary in
 * length, so the processor mispredicts the end of each, which costs more than hashing the line.
 * Here 64 bytes are compared at once, giving a number with one bit per byte. Counting its trailing
 * zeros leads from one hit to the next, however long the field is.
 */
#ifndef UNSEEN_KEY_FINDER_H
#define UNSEEN_KEY_FINDER_H

#include "core/bytes.h"
#include "key/span.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

struct finder {
    struct span line;
    char a, b;         /* the bytes to find */
    const char *chunk; /* the up to 64 bytes that were compared */
    uint64_t found;    /* bit i: chunk[i] is one of the bytes */
};

static inline uint64_t finder_ask8(const struct finder *finder, const char *at)
{
    uint64_t word = load64((const uint8_t *)at);
    uint64_t hits = zero_bytes(word ^ eight_bytes((uint8_t)finder->a)) |
                    zero_bytes(word ^ eight_bytes((uint8_t)finder->b));
    /* The multiplication collects the bits 0, 8, .. 56 in the top byte. */
    return (hits >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t finder_ask16(const struct finder *finder, const char *at)
{
#if defined(__SSE2__)
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(finder->a)),
                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8(finder->b)));
    return (uint64_t)_mm_movemask_epi8(hits);
#else
    return finder_ask8(finder, at) | finder_ask8(finder, at + 8) << 8;
#endif
}

static inline uint64_t finder_ask32(const struct finder *finder, const char *at)
{
    return finder_ask16(finder, at) | finder_ask16(finder, at + 16) << 16;
}

/* The same for a line of n < 32 bytes. */
static inline uint64_t finder_ask_short(const struct finder *finder, const char *at, size_t n)
{
    if (n >= 16)
        return finder_ask16(finder, at) | finder_ask16(finder, at + n - 16) << (n - 16);
    if (n >= 8)
        return finder_ask8(finder, at) | finder_ask8(finder, at + n - 8) << (n - 8);
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++)
        found |= (uint64_t)(at[i] == finder->a || at[i] == finder->b) << i;
    return found;
}

/* Compares the chunk at `at`, which is before the end of the line. No branch depends on the exact
 * length, which would be mispredicted: reads overlap instead. */
static inline void finder_ask(struct finder *finder, const char *at)
{
    const size_t length = finder->line.length, n = (size_t)(span_end(finder->line) - at);
    finder->chunk = at;
    if (n >= 32) {
        size_t second = n < 64 ? n - 32 : 32;
        finder->found = finder_ask32(finder, at) | finder_ask32(finder, at + second) << second;
    } else if (length >= 32) {
        finder->found = finder_ask32(finder, at + n - 32) >> (32 - n);
    } else {
        finder->chunk = finder->line.bytes;
        finder->found = finder_ask_short(finder, finder->line.bytes, length);
    }
}

static inline struct finder finder_start(struct span line, char a, char b)
{
    struct finder finder = {line, a, b, line.bytes, 0};
    if (line.length > 0)
        finder_ask(&finder, line.bytes);
    return finder;
}

/* Returns a pointer to the first hit from `at` on, or to the end of the line. Cheapest if `at`
 * never moves back. */
static inline const char *finder_next(struct finder *finder, const char *at)
{
    const char *end = span_end(finder->line);
    while (at < end) {
        /* If `at` is before the chunk, this is far above 64. */
        size_t offset = (size_t)(at - finder->chunk);
        if (offset >= 64) {
            finder_ask(finder, at);
            continue;
        }
        uint64_t found = finder->found >> offset;
        if (found != 0)
            return at + __builtin_ctzll(found);
        at = (size_t)(end - finder->chunk) > 64 ? finder->chunk + 64 : end;
    }
    return end;
}

#endif
