/* siphash_list - the versions there are, and what they share; for siphash.c and their files. */
#ifndef UNSEEN_CORE_SIPHASH_LIST_H
#define UNSEEN_CORE_SIPHASH_LIST_H

#include "core/cpu.h"
#include "core/little.h"
#include "core/siphash.h"

extern const struct siphash siphash_plain;
#if defined(__x86_64__)
extern const struct siphash siphash_avx2;
extern const struct siphash siphash_avx512;
#endif

/* Loops over lanes and vectors leave nothing of a loop. */
#if defined(__clang__)
/* It does so by itself, and complains where it cannot. */
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

struct siphash_state {
    uint64_t v[4];
};

/* What it is at first; the 0xee stands for a result of 128 bits. */
static inline struct siphash_state siphash_start(uint64_t k0, uint64_t k1)
{
    return (struct siphash_state){{
        k0 ^ UINT64_C(0x736f6d6570736575),
        k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
        k0 ^ UINT64_C(0x6c7967656e657261),
        k1 ^ UINT64_C(0x7465646279746573),
    }};
}

/* What is changed before the first and the second half of the result. */
enum { SIPHASH_FIRST = 0xee, SIPHASH_SECOND = 0xdd };

/* The last word of a text: the length, and the up to seven bytes that are no whole word. Reads the
 * eight bytes before `end`, be they of the text or not. */
static inline uint64_t siphash_last(const uint8_t *end, size_t length)
{
    return load64(end - 8) >> 8 >> (56 - 8 * (length % 8)) | (uint64_t)length << 56;
}

#endif
