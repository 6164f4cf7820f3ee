/*
 * cells - the counters of a counting layer, from which keys can be taken out again.
 *
 * A bit cannot be cleared for one key, because other keys may have set it too. A counting layer has
 * a cell of 4 bits in its place, which counts the keys that have it: adding a key raises its cells
 * by one, removing it lowers them, and a key is in the layer if none of its cells is zero. Three
 * rules make this right:
 *
 *   - a cell counts keys: a key whose fields hit one cell twice raises and lowers that cell once;
 *   - a cell that has reached 15 stays at 15, because the number of its keys is then unknown (at
 *     half fill the chance of this is 1e-16);
 *   - a key is removed only if it is in: all its cells are tested before any is lowered.
 *
 * So removing one key never lowers a cell of another key to zero. Two cells share a byte, which is
 * stored whole: a reader without a lock sees a count before or after the change, never a zero
 * between the two.
 *
 * Source: Fan, Cao, Almeida and Broder 2000 (Summary Cache), who show that 4 bits are enough.
 */
#ifndef UNSEEN_CORE_CELLS_H
#define UNSEEN_CORE_CELLS_H

#include "core/geometry.h"

#include <string.h>

enum { CELL_MAX = 15 };

static inline unsigned cell_value(const uint8_t *block, unsigned cell)
{
    return block[cell / 2] >> (cell % 2 * 4) & CELL_MAX;
}

static inline void cell_put(uint8_t *block, unsigned cell, unsigned value)
{
    uint8_t *byte = block + cell / 2;
    unsigned other = *byte & (cell % 2 != 0 ? 0x0fU : 0xf0U);
    __atomic_store_n(byte, (uint8_t)(other | value << (cell % 2 * 4)), __ATOMIC_RELAXED);
}

/* Whether no cell that the word names is zero in this block. */
static inline bool cells_test(const uint8_t *block, uint64_t word, unsigned fields)
{
    bool all = true;
    for (unsigned t = 0; t < fields; t++)
        all &= cell_value(block, geometry_cell(word, t)) != 0;
    return all;
}

/* Raises each cell that the word names by one, or lowers it. Precondition of lowering: cells_test
 * is true for this block and for the key's other blocks. */
static inline void cells_step(uint8_t *block, uint64_t word, unsigned fields, bool up)
{
    uint64_t done[BLOCK_CELLS / 64] = {0};
    for (unsigned t = 0; t < fields; t++) {
        unsigned cell = geometry_cell(word, t);
        unsigned value = cell_value(block, cell);
        bool again = done[cell / 64] >> cell % 64 & 1;
        done[cell / 64] |= UINT64_C(1) << cell % 64;
        if (again || value == CELL_MAX || (value == 0 && !up))
            continue;
        cell_put(block, cell, up ? value + 1 : value - 1);
    }
}

/* Whether a key is in a counting layer. */
bool cells_has(const struct bits *bits, struct key key);

/* Lowers the key's cells. Precondition: cells_has. */
void cells_remove(const struct bits *bits, struct key key);

/* Copies the key's blocks, in the order of its walk, to `copy`, which has room for g of them. */
void cells_save(const struct bits *bits, struct key key, uint8_t *copy);

/* Undoes a removal that was interrupted after any of its stores. `copy` is what cells_save wrote
 * before it. Returns false, and changes nothing, if any cell is neither as in the copy nor lowered
 * from it by this key. */
bool cells_restore(const struct bits *bits, struct key key, const uint8_t *copy);

/*
 * Pages of several layers of one shape, joined: the result is, bit for bit, the page that a single
 * layer with all their keys would have. Bits are combined by OR; counting cells are added, up to
 * 15. In either case the order of the layers does not matter. A key that is in several layers is in
 * the bits once, and in the counting cells once per layer.
 */

/* Whether two layers have one shape: the same number of pages and the same geometry. */
static inline bool join_is_possible(const struct bits *a, const struct bits *b)
{
    return a->pages == b->pages && memcmp(&a->geometry, &b->geometry, sizeof a->geometry) == 0;
}

/* Writes `pages` joined pages of n >= 1 layers of one shape to `to`, from page `first` on. About
 * 0.1 us per page and layer. */
void join_pages(const struct bits *const *layers, size_t n, uint64_t first, unsigned pages,
                uint8_t *to);

#endif
