/* kernel_plain - the loops in plain C, for every machine; all versions must give its results. */
#include "core/kernel_bytes.h"
#include "core/kernel_list.h"

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

#include "core/kernel_body.h"
