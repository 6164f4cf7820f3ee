/* kernel_neon - the loops for 64-bit Arm, whose every processor has 128-bit vectors. */
#include "core/kernel.h"

#if defined(CPU_HAS_NEON)

#include <arm_neon.h>

#define KERNEL_NAME "neon"
#define KERNEL_STRUCT kernel_neon
#define KERNEL_TARGET
#define FIELDS struct neon_fields
#define FIELDS_START(f)                                                                            \
    ((struct neon_fields){vcge_u8((uint8x8_t){0, 1, 2, 3, 4, 5, 6, 7}, vdup_n_u8((uint8_t)(f))),   \
                          (f)})
#define BLOCK_HAS neon_block_has
#define BLOCK_ADD neon_block_add
#define DELIMITER_MASK neon_delimiter_mask

struct neon_fields {
    uint8x8_t unwanted; /* lane t: 255 from f on, else 0 */
    unsigned count;
};

/* Lane t gets field t of the word. The eighth is not used. */
static inline uint16x8_t neon_fields_of(uint64_t word)
{
    const int64x2_t shifts[4] = {{0, -9}, {-18, -27}, {-36, -45}, {-54, -63}};
    uint64x2_t words = vdupq_n_u64(word);
    uint32x4_t low = vuzp1q_u32(vreinterpretq_u32_u64(vshlq_u64(words, shifts[0])),
                                vreinterpretq_u32_u64(vshlq_u64(words, shifts[1])));
    uint32x4_t high = vuzp1q_u32(vreinterpretq_u32_u64(vshlq_u64(words, shifts[2])),
                                 vreinterpretq_u32_u64(vshlq_u64(words, shifts[3])));
    uint16x8_t field = vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
    return vandq_u16(field, vdupq_n_u16(BLOCK_BITS - 1));
}

/* The number of the byte of the block that has each field's bit, and the bit in this byte. */
static inline uint8x8_t byte_index(uint16x8_t field)
{
    return vshrn_n_u16(field, 3);
}

static inline uint8x8_t byte_bit(uint16x8_t field)
{
    int8x8_t low = vreinterpret_s8_u8(vand_u8(vmovn_u16(field), vdup_n_u8(7)));
    return vshl_u8(vdup_n_u8(1), low);
}

static inline unsigned neon_block_has(struct neon_fields fields, const uint8_t *block,
                                      uint64_t word)
{
    uint16x8_t field = neon_fields_of(word);
    uint8x8_t found = vqtbl4_u8(vld1q_u8_x4(block), byte_index(field));
    uint8x8_t hit = vorr_u8(vtst_u8(found, byte_bit(field)), fields.unwanted);
    return vget_lane_u64(vreinterpret_u64_u8(hit), 0) == UINT64_MAX;
}

/* Adds the bit of field t to the block's content, in the byte that the field chooses. */
#define WITH_BIT(t)                                                                                \
    do {                                                                                           \
        uint8x16_t number = vdupq_lane_u8(index, t);                                               \
        uint8x16_t mask = vdupq_lane_u8(bit, t);                                                   \
        for (unsigned i = 0; i < 4; i++)                                                           \
            content.val[i] = vorrq_u8(content.val[i],                                              \
                                      vandq_u8(vceqq_u8(numbers[i], number), mask));               \
    } while (0)

/* Fields from f on have no bit. */
static inline void neon_block_add(struct neon_fields fields, uint8_t *block, uint64_t word)
{
    const uint8x16_t numbers[4] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
        {32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47},
        {48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63},
    };
    uint16x8_t field = neon_fields_of(word);
    uint8x8_t index = byte_index(field);
    uint8x8_t bit = vbic_u8(byte_bit(field), fields.unwanted);
    uint8x16x4_t content = vld1q_u8_x4(block);
    WITH_BIT(0);
    WITH_BIT(1);
    WITH_BIT(2);
    WITH_BIT(3);
    WITH_BIT(4);
    if (fields.count > 5) {
        WITH_BIT(5);
        WITH_BIT(6);
    }
    vst1q_u8_x4(block, content);
}

/* In each group of eight bytes, a byte that is the delimiter leaves a bit of its own; adding
 * neighbours three times collects the bits of a group in one byte. */
static inline uint64_t neon_delimiter_mask(const char *bytes, char delimiter)
{
    const uint8x16_t own = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t pattern = vdupq_n_u8((uint8_t)delimiter);
    uint8x16x4_t block = vld1q_u8_x4((const uint8_t *)bytes);
    uint8x16_t bits[4];
    for (unsigned i = 0; i < 4; i++)
        bits[i] = vandq_u8(vceqq_u8(block.val[i], pattern), own);
    uint8x16_t halves = vpaddq_u8(vpaddq_u8(bits[0], bits[1]), vpaddq_u8(bits[2], bits[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)), 0);
}

#include "core/kernel_body.h"

#endif
