/* look_neon - the look for 64-bit Arm, with four 128-bit vectors a block. */
#include "key/look_list.h"

#if defined(CPU_HAS_NEON)

#include "key/look_nibbles.h"

#include <arm_neon.h>
#include <string.h>

#define LOOK_NAME "neon"
#define LOOK_STRUCT look_neon
#define LOOK_TARGET
#define LOOK_SHORTEST 8
#define LOOK_ALWAYS 64

struct look_constants {
    uint8x16_t low_table, high_table;
};

static inline struct look_constants look_start(void)
{
    return (struct look_constants){vld1q_u8(look_low_nibbles), vld1q_u8(look_high_nibbles)};
}

#include "key/look_body.h"

/* Each byte that is set leaves a bit of its own in its group of eight; three rounds of adding
 * neighbours gather each group into one byte. */
static inline uint64_t mask_of(uint8x16x4_t set)
{
    const uint8x16_t own = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low = vpaddq_u8(vandq_u8(set.val[0], own), vandq_u8(set.val[1], own));
    uint8x16_t high = vpaddq_u8(vandq_u8(set.val[2], own), vandq_u8(set.val[3], own));
    uint8x16_t halves = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)), 0);
}

static inline uint64_t equal_mask(uint8x16x4_t block, char c)
{
    uint8x16x4_t equal;
    for (unsigned i = 0; i < 4; i++)
        equal.val[i] = vceqq_u8(block.val[i], vdupq_n_u8((uint8_t)c));
    return mask_of(equal);
}

static inline uint64_t any_mask(uint8x16x4_t block, uint8_t bits)
{
    uint8x16x4_t any;
    for (unsigned i = 0; i < 4; i++)
        any.val[i] = vtstq_u8(block.val[i], vdupq_n_u8(bits));
    return mask_of(any);
}

/* A byte is bad if it has no bit in both tables, or nothing differs from a dot in it and from a
 * slash in the one before. */
static inline struct look_masks look_vectors(struct look_constants constants, const uint8_t *at)
{
    uint8x16x4_t block = vld1q_u8_x4(at), before = vld1q_u8_x4(at - 1), kinds, bad;
    for (unsigned i = 0; i < 4; i++) {
        uint8x16_t low = vqtbl1q_u8(constants.low_table, vandq_u8(block.val[i], vdupq_n_u8(15)));
        uint8x16_t high = vqtbl1q_u8(constants.high_table, vshrq_n_u8(block.val[i], 4));
        uint8x16_t other = vorrq_u8(veorq_u8(block.val[i], vdupq_n_u8('.')),
                                    veorq_u8(before.val[i], vdupq_n_u8('/')));
        kinds.val[i] = vandq_u8(low, high);
        bad.val[i] = vceqzq_u8(vminq_u8(kinds.val[i], other));
    }
    return (struct look_masks){
        .bad = mask_of(bad),
        .unfit = any_mask(kinds, LOOK_UNFIT),
        .slash = equal_mask(block, '/'),
        .percent = any_mask(kinds, LOOK_PERCENT),
    };
}

/* A short block is copied, so that nothing after it is read. */
static inline struct look_masks look_block(struct look_constants constants, const char *at,
                                           size_t n, size_t before)
{
    char copy[1 + 64];
    (void)before;
    if (n < 64) {
        memset(copy, '-', sizeof copy);
        memcpy(copy, at - 1, n + 1);
        at = copy + 1;
    }
    return look_vectors(constants, (const uint8_t *)at);
}

static inline bool look_escapes(const char *at, size_t n, size_t before, uint64_t second)
{
    (void)n, (void)before;
    return look_each(at, second);
}

#endif
