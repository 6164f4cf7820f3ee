#include "core/cells.h"

#include <string.h>

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

/* Whether a block can have come from `copy` by lowering some of the cells that the word names. */
static bool comes_from(const uint8_t *block, const uint8_t *copy, uint64_t word, unsigned fields)
{
    uint8_t lowered[BLOCK_BYTES];
    memcpy(lowered, copy, sizeof lowered);
    cells_step(lowered, word, fields, false);
    for (unsigned cell = 0; cell < BLOCK_CELLS; cell++) {
        unsigned value = cell_value(block, cell);
        if (value != cell_value(copy, cell) && value != cell_value(lowered, cell))
            return false;
    }
    return true;
}

bool cells_restore(const struct bits *bits, struct key key, const uint8_t *copy)
{
    struct walk walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.blocks; j++, walk_next(&walk))
        if (!comes_from(block_of(bits, key, &walk), copy + (size_t)j * BLOCK_BYTES, walk.word,
                        bits->geometry.fields))
            return false;
    walk = walk_start(key);
    for (unsigned j = 0; j < bits->geometry.blocks; j++, walk_next(&walk)) {
        uint8_t *block = block_of(bits, key, &walk);
        for (unsigned i = 0; i < BLOCK_BYTES; i++)
            __atomic_store_n(&block[i], copy[j * BLOCK_BYTES + i], __ATOMIC_RELAXED);
    }
    return true;
}
