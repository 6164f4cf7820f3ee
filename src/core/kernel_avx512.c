/* kernel_avx512 - the loops with 512-bit vectors: a block is one register. */
#include "core/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define KERNEL_NAME "avx512"
#define KERNEL_STRUCT kernel_avx512
#define KERNEL_TARGET                                                                              \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,lzcnt,popcnt,"         \
                          "pclmul")))
#define FIELDS struct avx512_fields
#define FIELDS_START(f) ((struct avx512_fields){(__mmask8)((1U << (f)) - 1), (f)})
#define BLOCK_HAS avx512_block_has
#define BLOCK_ADD avx512_block_add
#define DELIMITER_MASK avx512_delimiter_mask
#define WITHIN_MASK avx512_within_mask
#define FIRST_BIT _tzcnt_u64
#define STORE_BITS avx512_store_bits
#define CONTROL_MASK avx512_control_mask
#define PUNCTUATION_MASK avx512_punctuation_mask
#define URL_MASKS avx512_url_masks

struct avx512_fields {
    __mmask8 wanted; /* bit t: t < f */
    unsigned count;
};

/* Lane t gets field t of the word. The field's top three bits choose one of the block's 64-bit
 * words (the permutation ignores higher bits); its low six bits choose the bit in this word. */
KERNEL_TARGET
static inline unsigned avx512_block_has(struct avx512_fields fields, const uint8_t *block,
                                        uint64_t word)
{
    const __m512i shifts = _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 63);
    const __m512i bit_mask = _mm512_set1_epi64(63);
    __m512i field = _mm512_srlv_epi64(_mm512_set1_epi64((long long)word), shifts);
    __m512i content = _mm512_load_si512(block);
    __m512i found = _mm512_permutexvar_epi64(_mm512_srli_epi64(field, 6), content);
    __m512i bit = _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_si512(field, bit_mask));
    __mmask8 hits = _mm512_test_epi64_mask(found, bit);
    return (hits & fields.wanted) == fields.wanted;
}

/* The bit of field t as 512 bits: in each 64-bit lane, 1 is shifted left by the field minus 64
 * times the lane's number; a negative or too large shift gives 0. Fields from f on are made too
 * large. The fields go through memory, because a load can broadcast and the shuffle unit is busiest
 * here. */
KERNEL_TARGET
static inline void avx512_block_add(struct avx512_fields fields, uint8_t *block, uint64_t word)
{
    const __m512i shifts = _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 63);
    const __m512i before = _mm512_setr_epi64(0, -64, -128, -192, -256, -320, -384, -448);
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i field_mask = _mm512_set1_epi64(BLOCK_BITS - 1);
    long long at[8] __attribute__((aligned(64)));
    __m512i field = _mm512_srlv_epi64(_mm512_set1_epi64((long long)word), shifts);
    field = _mm512_mask_and_epi64(_mm512_set1_epi64(4 * BLOCK_BITS), fields.wanted, field,
                                  field_mask);
    _mm512_store_si512(at, field);
    __asm__("" : "+m"(at));
    __m512i content = _mm512_load_si512(block);
#define BIT(t) _mm512_sllv_epi64(one, _mm512_add_epi64(before, _mm512_set1_epi64(at[t])))
#define OR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0xfe)
    content = OR3(content, BIT(0), BIT(1));
    content = OR3(content, BIT(2), BIT(3));
    content = OR3(content, BIT(4), BIT(5));
    if (fields.count > 6)
        content = _mm512_or_si512(content, BIT(6));
#undef OR3
#undef BIT
    _mm512_store_si512(block, content);
}

/* It is not to stay a mask of vectors: sums of such are slow. */
KERNEL_TARGET
static inline uint64_t avx512_delimiter_mask(const char *bytes, char delimiter)
{
    uint64_t mask = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(delimiter));
    __asm__("" : "+r"(mask));
    return mask;
}

KERNEL_TARGET
static inline uint64_t avx512_control_mask(const char *bytes)
{
    uint64_t mask = _mm512_cmplt_epu8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(0x20));
    __asm__("" : "+r"(mask));
    return mask;
}

/* Brackets of either kind differ in one bit. */
KERNEL_TARGET
static inline uint64_t avx512_punctuation_mask(const char *bytes)
{
    __m512i part = _mm512_loadu_si512(bytes);
    __m512i braces = _mm512_or_si512(part, _mm512_set1_epi8(0x20));
    uint64_t mask = _mm512_cmpeq_epi8_mask(braces, _mm512_set1_epi8('{')) |
                    _mm512_cmpeq_epi8_mask(braces, _mm512_set1_epi8('}')) |
                    _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8(':')) |
                    _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8(','));
    __asm__("" : "+r"(mask));
    return mask;
}

/* For bytes above ASCII a shuffle gives 0. Loaded once: most of these loads cross cache lines. */
KERNEL_TARGET
static inline struct url_masks avx512_url_masks(const char *bytes)
{
    const __m512i kept = _mm512_broadcast_i32x4(_mm_setr_epi8(URL_KEPT));
    const __m512i of_host = _mm512_broadcast_i32x4(_mm_setr_epi8(URL_OF_HOST));
    const __m512i halves = _mm512_broadcast_i32x4(_mm_setr_epi8(URL_HALVES));
    __m512i part = _mm512_loadu_si512(bytes);
    __asm__("" : "+v"(part));
    __m512i high = _mm512_and_si512(_mm512_srli_epi16(part, 4), _mm512_set1_epi8(15));
    __m512i half = _mm512_shuffle_epi8(halves, high);
    return (struct url_masks){
        _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8('/')),
        _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8('.')),
        _mm512_test_epi8_mask(_mm512_shuffle_epi8(kept, part), half),
        _mm512_test_epi8_mask(_mm512_shuffle_epi8(of_host, part), half),
    };
}

KERNEL_TARGET
static inline void avx512_store_bits(uint32_t *out, uint32_t first, uint64_t bits)
{
    __m512i numbers = _mm512_add_epi32(_mm512_set1_epi32((int)first),
                                       _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                                         13, 14, 15));
    for (unsigned i = 0; i < 4; i++, bits >>= 16) {
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)bits, numbers));
        out += __builtin_popcountll(bits & 0xffff);
        numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
    }
}

/* The product with 64 ones, without carries: bit i is the sum of the quotes up to bit i. */
KERNEL_TARGET
static inline uint64_t avx512_within_mask(uint64_t quotes)
{
    __m128i sums = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)quotes), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(sums);
}

#include "core/kernel_body.h"

#endif
