/* kernel_plain - the loops in plain C, for every machine; the others must equal it. */
#include "core/kernel_list.h"
#include "core/little.h"

#define KERNEL_NAME "plain"
#define KERNEL_STRUCT kernel_plain
#define KERNEL_TARGET

struct fields {
    unsigned count;
};

static inline struct fields fields_start(unsigned count)
{
    return (struct fields){count};
}

int line_test(const uint8_t *line, uint64_t word, unsigned fields)
{
    int all = 1;
    for (unsigned t = 0; t < fields; t++)
        all &= bit_test(line, geometry_field(word, t));
    return all;
}

void line_set(uint8_t *line, uint64_t word, unsigned fields)
{
    for (unsigned t = 0; t < fields; t++)
        bit_set(line, geometry_field(word, t));
}

static inline unsigned line_has(struct fields fields, const uint8_t *line, uint64_t word)
{
    return (unsigned)line_test(line, word, fields.count);
}

static inline void line_add(struct fields fields, uint8_t *line, uint64_t word)
{
    line_set(line, word, fields.count);
}

/* Which of 8 bytes are zero: the high bit of each that is (Mycroft; this form has no false hits
 * above a true one, since nothing is carried from byte to byte). */
static inline uint64_t zero_bytes(uint64_t x)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ~(((x & low) + low) | x | low);
}

static inline uint64_t block_mask(const char *bytes, char delimiter)
{
    uint64_t pattern = (uint8_t)delimiter * UINT64_C(0x0101010101010101);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t word = 0;
        /* Little-endian by construction, so that bit and byte numbers agree. */
        for (unsigned j = 0; j < 8; j++)
            word |= (uint64_t)(uint8_t)bytes[i * 8 + j] << (j * 8);
        uint64_t hits = zero_bytes(word ^ pattern) >> 7;
        /* Gather the eight bits at 0, 8, .. 56 into the top byte. */
        mask |= (hits * UINT64_C(0x0102040810204080) >> 56) << (i * 8);
    }
    return mask;
}

static inline uint64_t count_four(const uint8_t *lines)
{
    uint64_t counts = 0;
    for (unsigned i = 0; i < 4 * LINE_BYTES / 8; i++)
        counts += (uint64_t)__builtin_popcountll(load64(lines + (size_t)i * 8)) << i / 8 * 16;
    return counts;
}

#include "core/kernel_body.h"
