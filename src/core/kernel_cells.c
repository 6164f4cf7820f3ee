/* kernel_cells - the loops for counting layers, in plain C; see cells.h. */
#include "core/cells.h"
#include "core/kernel_bytes.h"
#include "core/kernel_list.h"
#include "core/little.h"

#define KERNEL_NAME "cells"
#define KERNEL_STRUCT kernel_cells
#define KERNEL_TARGET

static inline unsigned block_has(struct fields fields, const uint8_t *block, uint64_t word)
{
    return cells_test(block, word, fields.count);
}

static inline void block_add(struct fields fields, uint8_t *block, uint64_t word)
{
    cells_step(block, word, fields.count, true);
}

/* The OR of the four bits of a cell, in its lowest bit, says whether the cell is not zero. */
static inline uint64_t count_four(const uint8_t *blocks)
{
    uint64_t counts = 0;
    for (unsigned i = 0; i < 4 * BLOCK_BYTES / 8; i++) {
        uint64_t word = load64(blocks + (size_t)i * 8);
        word = (word | word >> 1 | word >> 2 | word >> 3) & UINT64_C(0x1111111111111111);
        counts += (uint64_t)__builtin_popcountll(word) << i / 8 * 16;
    }
    return counts;
}

#include "core/kernel_body.h"
