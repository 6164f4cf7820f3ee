/* siphash_avx512 - 16 lines at a time, in two vectors of 512 bits. */
#include "core/siphash_list.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define SIPHASH_NAME "avx512"
#define SIPHASH_STRUCT siphash_avx512
#define SIPHASH_TARGET __attribute__((target("avx512bw,avx512dq,avx512vl,bmi,bmi2,lzcnt,popcnt")))

enum { WIDTH = 8 };
typedef uint64_t vec __attribute__((vector_size(64)));

/* Compilers know the instruction for it. */
SIPHASH_TARGET
static inline vec turn(vec x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

SIPHASH_TARGET
static inline void load_words(const uint8_t *const at[WIDTH], const uint64_t words[WIDTH],
                              uint64_t from, vec column[WIDTH])
{
    const __m512i number = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i front = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i back = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i row[8], two[8], four[8];
    UNROLL
    for (unsigned i = 0; i < 8; i++) {
        __m512i left = _mm512_set1_epi64((long long)(words[i] - from));
        row[i] = _mm512_maskz_loadu_epi64(_mm512_cmpgt_epi64_mask(left, number), at[i] + from * 8);
    }
    UNROLL
    for (unsigned i = 0; i < 8; i += 2) {
        two[i] = _mm512_unpacklo_epi64(row[i], row[i + 1]);
        two[i + 1] = _mm512_unpackhi_epi64(row[i], row[i + 1]);
    }
    UNROLL
    for (unsigned i = 0; i < 4; i++) {
        unsigned j = i / 2 * 4 + i % 2;
        four[j] = _mm512_permutex2var_epi64(two[j], front, two[j + 2]);
        four[j + 2] = _mm512_permutex2var_epi64(two[j], back, two[j + 2]);
    }
    UNROLL
    for (unsigned i = 0; i < 4; i++) {
        column[i] = (vec)_mm512_shuffle_i64x2(four[i], four[i + 4], 0x44);
        column[i + 4] = (vec)_mm512_shuffle_i64x2(four[i], four[i + 4], 0xee);
    }
}

#include "core/siphash_body.h"

#endif
