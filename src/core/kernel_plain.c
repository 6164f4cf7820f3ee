/* kernel_plain - the loops in plain C, for every machine; all versions must give its results. */
#include "core/kernel.h"

#define KERNEL_NAME "plain"
#define KERNEL_STRUCT kernel_plain
#define KERNEL_TARGET
#define BLOCK_HAS plain_block_has
#define BLOCK_ADD plain_block_add

static inline unsigned plain_block_has(unsigned fields, const uint8_t *block, uint64_t word)
{
    bool all = true;
    for (unsigned t = 0; t < fields; t++)
        all &= bit_test(block, geometry_field(word, t));
    return all;
}

static inline void plain_block_add(unsigned fields, uint8_t *block, uint64_t word)
{
    for (unsigned t = 0; t < fields; t++)
        bit_set(block, geometry_field(word, t));
}

#include "core/kernel_body.h"
