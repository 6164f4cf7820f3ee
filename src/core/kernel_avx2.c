/* kernel_avx2 - the loops with 256-bit vectors. */
#include "core/kernel_list.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define KERNEL_NAME "avx2"
#define KERNEL_STRUCT kernel_avx2
#define KERNEL_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))

struct fields {
    __m256i wanted; /* in 32-bit lane t: 1 if t < f, else 0 */
};

KERNEL_TARGET
static inline struct fields fields_start(unsigned count)
{
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), lane);
    return (struct fields){_mm256_and_si256(below, _mm256_set1_epi32(1))};
}

/* Lane t gets field t of the word; then the 32-bit word of the line that the field's top four bits
 * name, out of two halves of eight; then the bit that its low five bits name. */
KERNEL_TARGET
static inline unsigned line_has(struct fields fields, const uint8_t *line, uint64_t word)
{
    __m256i words = _mm256_set1_epi64x((long long)word);
    __m256i even = _mm256_srlv_epi64(words, _mm256_setr_epi64x(0, 18, 36, 54));
    __m256i odd = _mm256_srlv_epi64(words, _mm256_setr_epi64x(9, 27, 45, 63));
    __m256i field = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    field = _mm256_and_si256(field, _mm256_set1_epi32(LINE_BITS - 1));
    __m256i index = _mm256_srli_epi32(field, 5);
    __m256i low = _mm256_load_si256((const __m256i *)(const void *)line);
    __m256i high = _mm256_load_si256((const __m256i *)(const void *)(line + 32));
    __m256i from_low = _mm256_permutevar8x32_epi32(low, index);
    __m256i from_high = _mm256_permutevar8x32_epi32(high, index);
    /* Bit 8 of the field says which half; as the top bit of the lane it selects. */
    __m256i half = _mm256_slli_epi32(field, 23);
    __m256i found = _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(from_low),
                                                         _mm256_castsi256_ps(from_high),
                                                         _mm256_castsi256_ps(half)));
    __m256i bit = _mm256_and_si256(field, _mm256_set1_epi32(31));
    __m256i wanted = _mm256_sllv_epi32(fields.wanted, bit);
    return (unsigned)_mm256_testc_si256(found, wanted);
}

KERNEL_TARGET
static inline uint64_t block_mask(const char *bytes, char delimiter)
{
    __m256i pattern = _mm256_set1_epi8(delimiter);
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    uint32_t low_mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, pattern));
    uint32_t high_mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, pattern));
    return (uint64_t)high_mask << 32 | low_mask;
}

#include "core/kernel_body.h"

#endif
