/* siphash_avx2 - eight lines at a time, in two vectors of 256 bits. */
#include "core/siphash_list.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define SIPHASH_NAME "avx2"
#define SIPHASH_STRUCT siphash_avx2
#define SIPHASH_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))

enum { WIDTH = 4 };
typedef uint64_t vec __attribute__((vector_size(32)));

/* There is no instruction for it, but two numbers of bits can be had by moving bytes. */
SIPHASH_TARGET
static inline vec turn(vec x, unsigned bits)
{
    const __m256i by_16 = _mm256_setr_epi64x(0x0504030201000706, 0x0d0c0b0a09080f0e,
                                             0x0504030201000706, 0x0d0c0b0a09080f0e);
    if (bits == 32)
        return (vec)_mm256_shuffle_epi32((__m256i)x, 0xb1);
    if (bits == 16)
        return (vec)_mm256_shuffle_epi8((__m256i)x, by_16);
    return x << bits | x >> (64 - bits);
}

SIPHASH_TARGET
static inline void load_words(const uint8_t *const at[WIDTH], const uint64_t words[WIDTH],
                              uint64_t from, vec column[WIDTH])
{
    const __m256i number = _mm256_setr_epi64x(0, 1, 2, 3);
    __m256i row[4], two[4];
    UNROLL
    for (unsigned i = 0; i < 4; i++) {
        __m256i left = _mm256_set1_epi64x((long long)(words[i] - from));
        row[i] = _mm256_maskload_epi64((const long long *)(const void *)(at[i] + from * 8),
                                       _mm256_cmpgt_epi64(left, number));
    }
    UNROLL
    for (unsigned i = 0; i < 4; i += 2) {
        two[i] = _mm256_unpacklo_epi64(row[i], row[i + 1]);
        two[i + 1] = _mm256_unpackhi_epi64(row[i], row[i + 1]);
    }
    UNROLL
    for (unsigned i = 0; i < 2; i++) {
        column[i] = (vec)_mm256_permute2x128_si256(two[i], two[i + 2], 0x20);
        column[i + 2] = (vec)_mm256_permute2x128_si256(two[i], two[i + 2], 0x31);
    }
}

#include "core/siphash_body.h"

#endif
