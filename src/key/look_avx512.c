/* look_avx512 - the look with 512-bit vectors: a block is one register. */
#include "key/look_list.h"

#if defined(__x86_64__)

#include "key/look_nibbles.h"

#include <immintrin.h>

#define LOOK_NAME "avx512"
#define LOOK_STRUCT look_avx512
#define LOOK_TARGET                                                                                \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,lzcnt,popcnt")))
#define LOOK_SHORTEST 8
#define LOOK_ALWAYS 128

LOOK_TARGET
static inline __m512i table(const uint8_t *nibbles)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)nibbles));
}

/* Hidden from the compiler, which would make it anew for each line. */
LOOK_TARGET
static inline __m512i constant(char c)
{
    __m512i bytes = _mm512_set1_epi8(c);
    __asm__("" : "+v"(bytes));
    return bytes;
}

struct look_constants {
    __m512i low_table, high_table, nibble, slash, dot, unfit, percent;
};

LOOK_TARGET
static inline struct look_constants look_start(void)
{
    return (struct look_constants){
        table(look_low_nibbles), table(look_high_nibbles), constant(15),          constant('/'),
        constant('.'),           constant(LOOK_UNFIT),     constant(LOOK_PERCENT)};
}

#include "key/look_body.h"

LOOK_TARGET
static inline __mmask64 first_bits(size_t n)
{
    return _bzhi_u64(~UINT64_C(0), (unsigned)n);
}

/* Bytes that are not loaded are no fault, wherever they are. A byte is bad if it has no bit in both
 * tables, or nothing differs from a dot in it and from a slash in the one before. */
LOOK_TARGET
static inline struct look_masks look_block(struct look_constants constants, const char *at,
                                           size_t n, size_t before)
{
    (void)before;
    __mmask64 wanted = first_bits(n);
    __m512i bytes = _mm512_maskz_loadu_epi8(wanted, at);
    __m512i bytes_before = _mm512_maskz_loadu_epi8(wanted, at - 1);
    __m512i nibbles = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), constants.nibble);
    __m512i kinds = _mm512_and_si512(_mm512_shuffle_epi8(constants.low_table, bytes),
                                     _mm512_shuffle_epi8(constants.high_table, nibbles));
    __m512i other = _mm512_or_si512(_mm512_xor_si512(bytes, constants.dot),
                                    _mm512_xor_si512(bytes_before, constants.slash));
    __m512i least = _mm512_min_epu8(kinds, other);
    return (struct look_masks){
        .bad = _mm512_mask_testn_epi8_mask(wanted, least, least),
        .unfit = _mm512_test_epi8_mask(kinds, constants.unfit),
        .slash = _mm512_cmpeq_epi8_mask(bytes, constants.slash),
        .percent = _mm512_test_epi8_mask(kinds, constants.percent),
    };
}

/* 0 to 15 for each digit, else 0x80, for which a shuffle gives none. */
LOOK_TARGET
static inline __m512i digits_of(__m512i bytes)
{
    __m512i digits = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));
    __m512i letters = _mm512_sub_epi8(bytes, _mm512_set1_epi8('A'));
    __mmask64 is_letter = _mm512_cmplt_epu8_mask(letters, _mm512_set1_epi8(6));
    __mmask64 is_digit = _mm512_cmplt_epu8_mask(digits, _mm512_set1_epi8(10));
    __m512i values = _mm512_mask_blend_epi8(is_digit, _mm512_set1_epi8((char)0x80), digits);
    return _mm512_mask_add_epi8(values, is_letter, letters, _mm512_set1_epi8(10));
}

LOOK_TARGET
static inline bool look_escapes(const char *at, size_t n, size_t before, uint64_t second)
{
    (void)before;
    __mmask64 wanted = first_bits(n);
    __m512i digits_before = digits_of(_mm512_maskz_loadu_epi8(wanted, at - 1));
    __m512i digits = digits_of(_mm512_maskz_loadu_epi8(wanted, at));
    __m512i first = _mm512_shuffle_epi8(table(look_first_digits), digits_before);
    __m512i last = _mm512_shuffle_epi8(table(look_second_digits), digits);
    return (second & _mm512_testn_epi8_mask(first, last)) == 0;
}

#endif
