/*
 * removal - removes keys from a counting filter.
 *
 * For each key, under LOCK_CHANGE: if no cell of the key is zero, lowers all its cells by one.
 * Readers without the lock are not disturbed, because a cell that another key uses counts that key,
 * too, and does not fall to zero (cells.h).
 *
 * A kill between two stores would leave a key that is no longer in, but still counted by some
 * cells, and nothing would ever lower these. So there is a journal of one page: the key, a copy of
 * its blocks, and then a mark that the journal is valid; after the cells are lowered, the mark is
 * cleared. Stores to a mapped file survive a killed process in order. The next holder of the lock
 * that finds the mark restores the blocks, so each key is removed completely or not at all. Until
 * then readers may see the key as not in.
 *
 * After a power cut, or in a copy, the journal may be older or newer than the cells. So blocks are
 * restored only if each cell is as it was, or is the key's and lower by one. This only raises
 * cells, and a cell that is too high never loses a line. At worst it undoes a removal.
 */
#include "filter/internal.h"

#include "core/cells.h"
#include "system/lock.h"

#include <string.h>

enum { JOURNAL_LAYER = 4, JOURNAL_KEY = 8, JOURNAL_BLOCKS = 64 };

_Static_assert(JOURNAL_BLOCKS + BLOCKS_MAX * BLOCK_BYTES <= JOURNAL_BYTES, "the journal is a page");

static size_t journal_at(const struct filter *filter)
{
    return (size_t)filter->header.layers_at - JOURNAL_BYTES;
}

static bool is_due(const struct filter *filter)
{
    return filter->header.plan.geometry.counting && get32(filter, journal_at(filter)) != 0;
}

bool removal_is_unfinished(const struct filter *filter)
{
    /* Asked again, because a live removal may have ended meanwhile. */
    return is_due(filter) && !lock_is_held(filter->file.fd, LOCK_CHANGE) && is_due(filter);
}

void removal_repair(struct filter *filter)
{
    if (!is_due(filter))
        return;
    size_t at = journal_at(filter);
    const uint8_t *journal = filter->metadata + at;
    uint32_t layer = get32(filter, at + JOURNAL_LAYER);
    /* Others may have tested the key as absent meanwhile, so they must test again. */
    if (layer < filter->count &&
        cells_restore(&filter->layers[layer].bits, load_key(journal + JOURNAL_KEY),
                      journal + JOURNAL_BLOCKS))
        count_settling(filter);
    fence_for_others();
    put32(filter, at, 0);
}

/* Removes a key from the one layer that has it, of those in the bits of `in`. */
static enum removal remove_key(struct filter *filter, struct key key, uint64_t in)
{
    size_t at = journal_at(filter);
    uint8_t *journal = filter->metadata + at;
    unsigned found = 0, number = 0;
    for (unsigned i = 0; i < filter->count; i++)
        if ((in >> i & 1) != 0 && cells_has(&filter->layers[i].bits, key)) {
            found++;
            number = i;
        }
    if (found != 1)
        return found == 0 ? REMOVAL_ABSENT : REMOVAL_AMBIGUOUS;
    const struct layer *layer = &filter->layers[number];

    put32(filter, at + JOURNAL_LAYER, number);
    store_key(journal + JOURNAL_KEY, key);
    cells_save(&layer->bits, key, journal + JOURNAL_BLOCKS);
    fence_for_others();
    put32(filter, at, 1);
    fence_for_others();
    cells_remove(&layer->bits, key);
    fence_for_others();
    put32(filter, at, 0);

    uint64_t keys = layer_keys(filter, layer);
    if (keys > 0)
        put64(filter, layer->state_at + LAYER_KEYS, keys - 1);
    return REMOVAL_DONE;
}

ptrdiff_t removal_remove(struct filter *filter, const struct key *keys, size_t n, uint8_t *removals,
                         struct fault *fault)
{
    uint64_t in[BATCH_KEYS] = {0}; /* which layers may have each key: bit i is layer i */
    ptrdiff_t removed = 0;
    if (!filter->header.plan.geometry.counting)
        return fault_set(fault, filter->file.path, "is not a counting filter");
    /* The test also reads the pages into memory before the lock is taken. */
    if (filter_test(filter, keys, n, removals, fault) != 0 ||
        filter_lock_to_settle(filter, fault) != 0)
        return -1;
    /* Layers in which a key is not found now will not come to have it while keys are removed. */
    for (unsigned i = 0; i < filter->count; i++) {
        uint8_t seen[BATCH_KEYS] = {0};
        filter->kernel->test(&filter->layers[i].bits, keys, n, seen);
        for (size_t k = 0; k < n; k++)
            in[k] |= (uint64_t)seen[k] << i;
    }
    for (size_t i = 0; i < n; i++) {
        removals[i] = (uint8_t)remove_key(filter, keys[i], in[i]);
        removed += removals[i] == REMOVAL_DONE;
    }
    if (removed > 0)
        note_change(filter);
    filter_unlock(filter);
    return removed;
}
