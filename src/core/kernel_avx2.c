/* kernel_avx2 - the loops with 256-bit vectors. */
#include "core/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define KERNEL_NAME "avx2"
#define KERNEL_STRUCT kernel_avx2
#define KERNEL_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,pclmul")))
#define FIELDS struct avx2_fields
#define FIELDS_START avx2_fields_start
#define BLOCK_HAS avx2_block_has
#define BLOCK_ADD avx2_block_add
#define DELIMITER_MASK avx2_delimiter_mask
#define WITHIN_MASK avx2_within_mask
#define FIRST_BIT _tzcnt_u64
#define CONTROL_MASK avx2_control_mask
#define PUNCTUATION_MASK avx2_punctuation_mask
#define URL_MASKS avx2_url_masks

struct avx2_fields {
    __m256i wanted; /* 32-bit lane t: 1 if t < f, else 0 */
    unsigned count;
};

KERNEL_TARGET
static inline struct avx2_fields avx2_fields_start(unsigned count)
{
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), lane);
    return (struct avx2_fields){_mm256_and_si256(below, _mm256_set1_epi32(1)), count};
}

KERNEL_TARGET
static inline __m256i avx2_fields_of(uint64_t word)
{
    __m256i words = _mm256_set1_epi64x((long long)word);
    __m256i even = _mm256_srlv_epi64(words, _mm256_setr_epi64x(0, 18, 36, 54));
    __m256i odd = _mm256_srlv_epi64(words, _mm256_setr_epi64x(9, 27, 45, 63));
    __m256i field = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    return _mm256_and_si256(field, _mm256_set1_epi32(BLOCK_BITS - 1));
}

/* The top four bits of field t choose one of the block's sixteen 32-bit words, from two registers
 * of eight, for lane t; its low five bits choose the bit in this word. */
KERNEL_TARGET
static inline unsigned avx2_block_has(struct avx2_fields fields, const uint8_t *block,
                                      uint64_t word)
{
    __m256i field = avx2_fields_of(word);
    __m256i index = _mm256_srli_epi32(field, 5);
    __m256i low = _mm256_load_si256((const __m256i *)(const void *)block);
    __m256i high = _mm256_load_si256((const __m256i *)(const void *)(block + 32));
    __m256i from_low = _mm256_permutevar8x32_epi32(low, index);
    __m256i from_high = _mm256_permutevar8x32_epi32(high, index);
    /* Bit 8 of the field chooses the register; blendv wants it as the top bit of the lane. */
    __m256i half = _mm256_slli_epi32(field, 23);
    __m256i found = _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(from_low),
                                                         _mm256_castsi256_ps(from_high),
                                                         _mm256_castsi256_ps(half)));
    __m256i bit = _mm256_and_si256(field, _mm256_set1_epi32(31));
    __m256i wanted = _mm256_sllv_epi32(fields.wanted, bit);
    return (unsigned)_mm256_testc_si256(found, wanted);
}

/* The bit of field t as 512 bits: in each 32-bit lane, 1 is shifted left by the field minus 32
 * times the lane's number; a negative or too large shift gives 0. The fields go through memory,
 * because a load can broadcast. */
KERNEL_TARGET
static inline void avx2_block_add(struct avx2_fields fields, uint8_t *block, uint64_t word)
{
    const __m256i before_low = _mm256_setr_epi32(0, -32, -64, -96, -128, -160, -192, -224);
    const __m256i before_high = _mm256_setr_epi32(-256, -288, -320, -352, -384, -416, -448, -480);
    const __m256i one = _mm256_set1_epi32(1);
    int at[8] __attribute__((aligned(32)));
    _mm256_store_si256((__m256i *)(void *)at, avx2_fields_of(word));
    __m256i *low = (__m256i *)(void *)block;
    __m256i *high = (__m256i *)(void *)(block + 32);
    __m256i bits_low = _mm256_load_si256(low);
    __m256i bits_high = _mm256_load_si256(high);
    for (unsigned t = 0; t < fields.count; t++) {
        __m256i field = _mm256_set1_epi32(at[t]);
        __m256i low_bit = _mm256_sllv_epi32(one, _mm256_add_epi32(before_low, field));
        __m256i high_bit = _mm256_sllv_epi32(one, _mm256_add_epi32(before_high, field));
        bits_low = _mm256_or_si256(bits_low, low_bit);
        bits_high = _mm256_or_si256(bits_high, high_bit);
    }
    _mm256_store_si256(low, bits_low);
    _mm256_store_si256(high, bits_high);
}

KERNEL_TARGET
static inline uint64_t avx2_delimiter_mask(const char *bytes, char delimiter)
{
    __m256i pattern = _mm256_set1_epi8(delimiter);
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    uint32_t low_mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, pattern));
    uint32_t high_mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, pattern));
    return (uint64_t)high_mask << 32 | low_mask;
}

KERNEL_TARGET
static inline uint32_t avx2_controls(const char *bytes)
{
    __m256i part = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i low = _mm256_min_epu8(part, _mm256_set1_epi8(0x1f));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, part));
}

KERNEL_TARGET
static inline uint64_t avx2_control_mask(const char *bytes)
{
    return (uint64_t)avx2_controls(bytes + 32) << 32 | avx2_controls(bytes);
}

/* Brackets of either kind differ in one bit. */
KERNEL_TARGET
static inline uint32_t avx2_punctuation(const char *bytes)
{
    __m256i part = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i braces = _mm256_or_si256(part, _mm256_set1_epi8(0x20));
    __m256i opens = _mm256_cmpeq_epi8(braces, _mm256_set1_epi8('{'));
    __m256i closes = _mm256_cmpeq_epi8(braces, _mm256_set1_epi8('}'));
    __m256i colons = _mm256_cmpeq_epi8(part, _mm256_set1_epi8(':'));
    __m256i commas = _mm256_cmpeq_epi8(part, _mm256_set1_epi8(','));
    __m256i hits = _mm256_or_si256(_mm256_or_si256(opens, closes), _mm256_or_si256(colons, commas));
    return (uint32_t)_mm256_movemask_epi8(hits);
}

KERNEL_TARGET
static inline uint64_t avx2_punctuation_mask(const char *bytes)
{
    return (uint64_t)avx2_punctuation(bytes + 32) << 32 | avx2_punctuation(bytes);
}

/* For bytes above ASCII a shuffle gives 0. */
KERNEL_TARGET
static inline uint64_t avx2_in_set(const char *bytes, __m128i set)
{
    const __m256i low = _mm256_broadcastsi128_si256(set);
    const __m256i halves = _mm256_broadcastsi128_si256(_mm_setr_epi8(URL_HALVES));
    uint64_t out[2];
    for (unsigned i = 0; i < 2; i++) {
        __m256i part = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32 * i));
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(part, 4), _mm256_set1_epi8(15));
        __m256i both = _mm256_and_si256(_mm256_shuffle_epi8(low, part),
                                        _mm256_shuffle_epi8(halves, high));
        __m256i none = _mm256_cmpeq_epi8(both, _mm256_setzero_si256());
        out[i] = (uint32_t)_mm256_movemask_epi8(none);
    }
    return ~(out[1] << 32 | out[0]);
}

KERNEL_TARGET
static inline struct url_masks avx2_url_masks(const char *bytes)
{
    return (struct url_masks){avx2_delimiter_mask(bytes, '/'), avx2_delimiter_mask(bytes, '.'),
                              avx2_in_set(bytes, _mm_setr_epi8(URL_KEPT)),
                              avx2_in_set(bytes, _mm_setr_epi8(URL_OF_HOST))};
}

/* The product with 64 ones, without carries: bit i is the sum of the quotes up to bit i. */
KERNEL_TARGET
static inline uint64_t avx2_within_mask(uint64_t quotes)
{
    __m128i sums = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)quotes), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(sums);
}

#include "core/kernel_body.h"

#endif
