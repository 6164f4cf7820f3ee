/* kernel_cells - the loops for counting layers, in plain C; see cells.h. */
#include "core/cells.h"
#include "core/kernel_bytes.h"
#include "core/kernel_list.h"

#define KERNEL_NAME "cells"
#define KERNEL_STRUCT kernel_cells
#define KERNEL_TARGET
/* The OR of the four bits of a cell is in its lowest bit. */
#define KERNEL_NONZERO(word)                                                                       \
    (((word) | (word) >> 1 | (word) >> 2 | (word) >> 3) & UINT64_C(0x1111111111111111))

static inline unsigned block_has(struct fields fields, const uint8_t *block, uint64_t word)
{
    return cells_test(block, word, fields.count);
}

static inline void block_add(struct fields fields, uint8_t *block, uint64_t word)
{
    cells_step(block, word, fields.count, true);
}

#include "core/kernel_body.h"
