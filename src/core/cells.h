/*
 * cells - the counters of a counting layer, from which keys can be taken out again.
 *
 * A bit cannot be cleared for one key, since others may have set it, too. A cell of 4 bits in its
 * place counts how many keys have it: adding a key raises its cells by one, removing it lowers
 * them, and a key is in if none of its cells is zero. Three rules make this right:
 *
 *   - a key whose fields hit one cell twice raises it once, and lowers it once: a cell counts keys;
 *   - a cell that has reached 15 stays there for ever, as it is not known any more how many keys
 *     have it. (At half fill a cell is that high with a chance of 1e-16.);
 *   - a key is removed only if it is in: all its cells are looked at before any is lowered.
 *
 * So a cell of a key that is in never falls to zero by the removal of another key that was in. It
 * is stored as one byte, with its neighbour as it was: a reader without a lock sees the count
 * before or after, and never a zero on the way.
 *
 * Source: Fan, Cao, Almeida and Broder 2000 (Summary Cache), who show that 4 bits are enough.
 */
#ifndef UNSEEN_CORE_CELLS_H
#define UNSEEN_CORE_CELLS_H

#include "core/geometry.h"

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

/* Whether no cell of the word is zero in a line of 64 bytes. */
static inline bool cells_test(const uint8_t *block, uint64_t word, unsigned fields)
{
    bool all = true;
    for (unsigned t = 0; t < fields; t++)
        all &= cell_value(block, geometry_cell(word, t)) != 0;
    return all;
}

/* Raises each cell of the word by one, or lowers it. */
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

static inline void cells_raise(uint8_t *block, uint64_t word, unsigned fields)
{
    cells_step(block, word, fields, true);
}

/* Precondition: cells_test, of this line and of the key's others. */
static inline void cells_lower(uint8_t *block, uint64_t word, unsigned fields)
{
    cells_step(block, word, fields, false);
}

/* Whether a key is in a counting layer; lowers its cells. Precondition of the second: the first. */
bool cells_has(const struct bits *bits, struct key key);
void cells_remove(const struct bits *bits, struct key key);

/* A key's lines of 64 bytes, in the order of its walk: to `copy`, g times 64 bytes. */
void cells_save(const struct bits *bits, struct key key, uint8_t *copy);

/* Undoes a removal that stopped on its way, at whatever store, if the lines are what the copy from
 * before tells: each cell as it was, or lowered if it is the key's. Else nothing is changed.
 * Returns whether it was undone. */
bool cells_restore(const struct bits *bits, struct key key, const uint8_t *copy);

#endif
