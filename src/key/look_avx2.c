/* look_avx2 - the look with 256-bit vectors. */
#include "key/look_list.h"

#if defined(__x86_64__)

#include "key/look_nibbles.h"

#include <immintrin.h>

#define LOOK_NAME "avx2"
#define LOOK_STRUCT look_avx2
#define LOOK_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define LOOK_SHORTEST 17
#define LOOK_ALWAYS 64

LOOK_TARGET
static inline __m256i table(const uint8_t *nibbles)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)nibbles));
}

struct look_constants {
    __m256i low_table, high_table;
};

LOOK_TARGET
static inline struct look_constants look_start(void)
{
    return (struct look_constants){table(look_low_nibbles), table(look_high_nibbles)};
}

#include "key/look_body.h"

LOOK_TARGET
static inline uint32_t mask_of(__m256i bytes)
{
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

LOOK_TARGET
static inline uint32_t equal_mask(__m256i bytes, char c)
{
    return mask_of(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c)));
}

LOOK_TARGET
static inline __m256i load_vector(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

/* 16 bytes from each place. */
LOOK_TARGET
static inline __m256i load_halves(const char *low, const char *high)
{
    return _mm256_set_m128i(_mm_loadu_si128((const __m128i *)(const void *)high),
                            _mm_loadu_si128((const __m128i *)(const void *)low));
}

/* A byte is bad if it has no bit in both tables, or nothing differs from a dot in it and from a
 * slash in the one before. */
LOOK_TARGET
static inline struct look_masks look_vector(struct look_constants constants, __m256i bytes,
                                            __m256i bytes_before)
{
    __m256i nibbles = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    __m256i kinds = _mm256_and_si256(_mm256_shuffle_epi8(constants.low_table, bytes),
                                     _mm256_shuffle_epi8(constants.high_table, nibbles));
    __m256i other = _mm256_or_si256(_mm256_xor_si256(bytes, _mm256_set1_epi8('.')),
                                    _mm256_xor_si256(bytes_before, _mm256_set1_epi8('/')));
    __m256i unfit = _mm256_and_si256(kinds, _mm256_set1_epi8(LOOK_UNFIT));
    return (struct look_masks){
        .bad = equal_mask(_mm256_min_epu8(kinds, other), 0),
        .unfit = (uint32_t)~equal_mask(unfit, 0),
        .slash = equal_mask(bytes, '/'),
        .percent = equal_mask(bytes, '%'),
    };
}

/* Those of two vectors, of which the second begins `shift` bytes after the first. */
LOOK_TARGET
static inline struct look_masks join_masks(struct look_masks low, struct look_masks high,
                                           unsigned shift)
{
    return (struct look_masks){
        .bad = low.bad | high.bad << shift,
        .unfit = low.unfit | high.unfit << shift,
        .slash = low.slash | high.slash << shift,
        .percent = low.percent | high.percent << shift,
    };
}

LOOK_TARGET
static inline struct look_masks drop_masks(struct look_masks masks, unsigned shift)
{
    return (struct look_masks){masks.bad >> shift, masks.unfit >> shift, masks.slash >> shift,
                               masks.percent >> shift};
}

/* A block of 16 bytes to 31 is one vector of two halves that overlap. */
LOOK_TARGET
static inline struct look_masks look_short(struct look_constants constants, const char *at,
                                           unsigned length)
{
    const char *last = at + length - 16;
    struct look_masks masks = look_vector(constants, load_halves(at, last),
                                          load_halves(at - 1, last - 1));
    const uint64_t half = 0xffff;
    struct look_masks low = {masks.bad & half, masks.unfit & half, masks.slash & half,
                             masks.percent & half};
    return join_masks(low, drop_masks(masks, 16), length - 16);
}

LOOK_TARGET
static inline struct look_masks look_at(struct look_constants constants, const char *at)
{
    return look_vector(constants, load_vector(at), load_vector(at - 1));
}

/* Where there are too few bytes, loads overlap: those of a line's last block reach back to what is
 * before it. */
LOOK_TARGET
static inline struct look_masks look_block(struct look_constants constants, const char *at,
                                           size_t n, size_t before)
{
    unsigned length = (unsigned)n;
    const char *end = at + n;
    if (before > 64)
        return drop_masks(join_masks(look_at(constants, end - 64), look_at(constants, end - 32),
                                     32),
                          64 - length);
    if (length < 32)
        return look_short(constants, at, length);
    return join_masks(look_at(constants, at), look_at(constants, end - 32), length - 32);
}

/* 0 to 15 for each digit, else 0x80, for which a shuffle gives none. */
LOOK_TARGET
static inline __m256i digits_of(__m256i bytes)
{
    __m256i digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    __m256i letters = _mm256_sub_epi8(bytes, _mm256_set1_epi8('A'));
    __m256i nine = _mm256_min_epu8(digits, _mm256_set1_epi8(9));
    __m256i five = _mm256_min_epu8(letters, _mm256_set1_epi8(5));
    __m256i none = _mm256_set1_epi8((char)0x80);
    __m256i values = _mm256_blendv_epi8(none, digits, _mm256_cmpeq_epi8(digits, nine));
    return _mm256_blendv_epi8(values, _mm256_add_epi8(letters, _mm256_set1_epi8(10)),
                              _mm256_cmpeq_epi8(letters, five));
}

/* Bit i: byte i and the one before it are no digits of a %HH that stays. */
LOOK_TARGET
static inline uint64_t wrong_mask(const char *at)
{
    __m256i first = _mm256_shuffle_epi8(table(look_first_digits), digits_of(load_vector(at - 1)));
    __m256i second = _mm256_shuffle_epi8(table(look_second_digits), digits_of(load_vector(at)));
    return equal_mask(_mm256_and_si256(first, second), 0);
}

/* In a short line, each by itself. */
LOOK_TARGET
static inline bool look_escapes(const char *at, size_t n, size_t before, uint64_t second)
{
    unsigned length = (unsigned)n;
    if (before + n <= 32)
        return look_each(at, second);
    uint64_t wrong = wrong_mask(at + n - 32);
    if (length <= 32)
        return (second & wrong >> (32 - length)) == 0;
    return (second & (wrong_mask(at) | wrong << (length - 32))) == 0;
}

#endif
