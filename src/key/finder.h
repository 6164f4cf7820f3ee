/*
 * finder - where in a line a byte is, or either of two: for fields.
 *
 * The obvious way is a loop, or a call of memchr, for each field. But fields are short and of any
 * length, so a processor guesses wrongly at the end of each, and that costs more than to hash the
 * line. Here 64 bytes are compared at once, which gives a number with a bit for each; to get from
 * one hit to the next is then to count its zeros, however long the field is.
 */
#ifndef UNSEEN_KEY_FINDER_H
#define UNSEEN_KEY_FINDER_H

#include "core/bytes.h"
#include "core/little.h"
#include "key/span.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

struct finder {
    struct span line;
    char a, b;         /* what is looked for */
    const char *block; /* up to 64 bytes, in which they are where `found` has bits */
    uint64_t found;
};

static inline uint64_t finder_ask8(const struct finder *finder, const char *at)
{
    uint64_t word = load64((const uint8_t *)at);
    uint64_t hits = zero_bytes(word ^ eight_bytes((uint8_t)finder->a)) |
                    zero_bytes(word ^ eight_bytes((uint8_t)finder->b));
    /* Gather the eight bits at 0, 8, .. 56 into the top byte. */
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

/* The same for up to 64 bytes, of the n (32 or more) that are there: the second half overlaps the
 * first, rather than that a branch depends on the length, which a processor cannot guess. */
static inline uint64_t finder_ask64(const struct finder *finder, const char *at, size_t n)
{
    size_t second = n < 64 ? n - 32 : 32;
    return finder_ask32(finder, at) | finder_ask32(finder, at + second) << second;
}

/* The same for a line of less than 32 bytes. */
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

/* The block from `at` on, which is before the end of the line. The last bytes of a line of 32 or
 * more are asked with those before them. */
static inline void finder_ask(struct finder *finder, const char *at)
{
    const size_t length = finder->line.length, n = (size_t)(span_end(finder->line) - at);
    finder->block = at;
    if (n >= 32) {
        finder->found = finder_ask64(finder, at, n);
    } else if (length >= 32) {
        finder->found = finder_ask32(finder, at + n - 32) >> (32 - n);
    } else {
        finder->block = finder->line.bytes;
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

/* The first one from `at` on, or the end of the line. Cheapest if `at` is in the block that was
 * asked last, or after it. */
static inline const char *finder_next(struct finder *finder, const char *at)
{
    const char *end = span_end(finder->line);
    while (at < end) {
        /* Before the block, it is a number far above 64. */
        size_t offset = (size_t)(at - finder->block);
        if (offset >= 64) {
            finder_ask(finder, at);
            continue;
        }
        uint64_t found = finder->found >> offset;
        if (found != 0)
            return at + __builtin_ctzll(found);
        at = (size_t)(end - finder->block) > 64 ? finder->block + 64 : end;
    }
    return end;
}

#endif
