#include "core/cells.h"

static uint8_t *block_of(const struct bits *bits, struct key key, const struct walk *walk)
{
    return bits->bytes + geometry_page(key, bits->pages) * PAGE_BYTES +
           (size_t)walk->block * BLOCK_BYTES;
}

bool cells_has(const struct bits *bits, struct key key)
{
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.blocks; j++, walk_next(&walk))
        if (!cells_test(block_of(bits, key, &walk), walk.word, bits->geometry.fields))
            return false;
    return true;
}

void cells_remove(const struct bits *bits, struct key key)
{
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.blocks; j++, walk_next(&walk))
        cells_step(block_of(bits, key, &walk), walk.word, bits->geometry.fields, false);
}

void cells_save(const struct bits *bits, struct key key, uint8_t *copy)
{
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.blocks; j++, walk_next(&walk))
        memcpy(copy + (size_t)j * BLOCK_BYTES, block_of(bits, key, &walk), BLOCK_BYTES);
}

bool cells_restore(const struct bits *bits, struct key key, const uint8_t *copy)
{
    /* Each block must have come from its copy by lowering some of the key's cells. */
    struct walk walk = walk_start(key);
    const uint8_t *from = copy;
    for (unsigned j = 0; j < bits->geometry.blocks; j++, walk_next(&walk), from += BLOCK_BYTES) {
        const uint8_t *block = block_of(bits, key, &walk);
        uint8_t lowered[BLOCK_BYTES];
        memcpy(lowered, from, sizeof lowered);
        cells_step(lowered, walk.word, bits->geometry.fields, false);
        for (unsigned cell = 0; cell < BLOCK_CELLS; cell++) {
            unsigned value = cell_value(block, cell);
            if (value != cell_value(from, cell) && value != cell_value(lowered, cell))
                return false;
        }
    }
    walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.blocks; j++, walk_next(&walk)) {
        uint8_t *block = block_of(bits, key, &walk);
        for (unsigned i = 0; i < BLOCK_BYTES; i++)
            __atomic_store_n(&block[i], copy[j * BLOCK_BYTES + i], __ATOMIC_RELAXED);
    }
    return true;
}

/* --- layers together --- */

/* Adds eight cells of 4 bits, each in a byte of its own; sums above 15 become 15. */
static uint64_t add_spread(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    uint64_t over = sum >> 4 & UINT64_C(0x0101010101010101);
    return (sum | over * CELL_MAX) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

void join_pages(const struct bits *const *layers, size_t n, uint64_t first, unsigned pages,
                uint8_t *to)
{
    enum { WORDS = PAGE_BYTES / 8 };
    const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t sum[WORDS], other[WORDS];
    for (uint64_t page = first; page < first + pages; page++, to += PAGE_BYTES) {
        memcpy(sum, layers[0]->bytes + page * PAGE_BYTES, PAGE_BYTES);
        for (size_t i = 1; i < n; i++) {
            memcpy(other, layers[i]->bytes + page * PAGE_BYTES, PAGE_BYTES);
            if (!layers[0]->geometry.counting)
                for (size_t w = 0; w < WORDS; w++)
                    sum[w] |= other[w];
            else /* sixteen cells at once: the low nibbles, then the high ones */
                for (size_t w = 0; w < WORDS; w++)
                    sum[w] = add_spread(sum[w] & low, other[w] & low) |
                             add_spread(sum[w] >> 4 & low, other[w] >> 4 & low) << 4;
        }
        memcpy(to, sum, PAGE_BYTES);
    }
}

/* --- the loops of kernel.h for counting layers, in plain C --- */

#define KERNEL_NAME "cells"
#define KERNEL_STRUCT kernel_cells
#define KERNEL_TARGET
#define BLOCK_HAS(fields, block, word) cells_test(block, word, fields)
#define BLOCK_ADD(fields, block, word) cells_step(block, word, fields, true)
/* The OR of the four bits of a cell is in its lowest bit. */
#define KERNEL_NONZERO(word)                                                                       \
    (((word) | (word) >> 1 | (word) >> 2 | (word) >> 3) & UINT64_C(0x1111111111111111))

#include "core/kernel_body.h"
