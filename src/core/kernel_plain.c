/* kernel_plain - the loops in plain C, for every machine; all versions must give its results. */
#include "core/kernel_bytes.h"
#include "core/kernel_list.h"
#include "core/little.h"

#define KERNEL_NAME "plain"
#define KERNEL_STRUCT kernel_plain
#define KERNEL_TARGET

static inline unsigned block_has(struct fields fields, const uint8_t *block, uint64_t word)
{
    bool all = true;
    for (unsigned t = 0; t < fields.count; t++)
        all &= bit_test(block, geometry_field(word, t));
    return all;
}

static inline void block_add(struct fields fields, uint8_t *block, uint64_t word)
{
    for (unsigned t = 0; t < fields.count; t++)
        bit_set(block, geometry_field(word, t));
}

static inline uint64_t count_four(const uint8_t *blocks)
{
    uint64_t counts = 0;
    for (unsigned i = 0; i < 4 * BLOCK_BYTES / 8; i++)
        counts += (uint64_t)__builtin_popcountll(load64(blocks + (size_t)i * 8)) << i / 8 * 16;
    return counts;
}

#include "core/kernel_body.h"
