/*
 * removal - see removal.h.
 *
 * Under LOCK_CHANGE, key by key: look at all cells of the key, and if none is zero lower them all.
 * Readers look at cells without the lock, and stay right: a cell of another key that is in counts
 * that key, so it does not fall to zero (cells.h).
 *
 * What a kill between two stores would leave is a key that is not in any more, while some of its
 * cells still count it, and nobody would ever lower those. So there is a journal, one page: the
 * key, its lines as they were, and last a mark that all this is valid; when the cells are lowered
 * the mark is taken away. Stores to a mapped file outlive a killed process in the order in which it
 * made them. Whoever takes the lock next and finds the mark puts the lines back; so each key is
 * removed whole or not at all. Until then readers may see the key as not in.
 *
 * The journal need not be on disk before the cells are, and it may be copied with the file, older
 * or newer than they: the lines are put back only if each cell is as it was, or lower by one and
 * the key's. That raises cells and lowers none, and a cell that is too high never loses a line. At
 * worst a removal is undone that a power cut left half on disk.
 */
#include "filter/removal.h"

#include "core/cells.h"
#include "filter/internal.h"
#include "filter/probe.h"
#include "system/lock.h"

#include <string.h>

enum { JOURNAL_LAYER = 4, JOURNAL_KEY = 8, JOURNAL_BLOCKS = 64 };

_Static_assert(JOURNAL_BLOCKS + BLOCKS_MAX * BLOCK_BYTES <= JOURNAL_BYTES, "the journal is a page");

static size_t journal_at(const struct store *store)
{
    return (size_t)store->header.layers_at - JOURNAL_BYTES;
}

bool removal_repair_is_due(const struct store *store)
{
    return store->header.plan.geometry.counting && get32(store, journal_at(store)) != 0;
}

bool removal_is_unfinished(const struct store *store)
{
    /* Once more after the lock was asked for: a live one may have ended meanwhile. */
    return removal_repair_is_due(store) && !lock_is_held(store->file.fd, LOCK_CHANGE) &&
           removal_repair_is_due(store);
}

static void journal_begin(struct store *store, unsigned layer, struct key key)
{
    uint8_t *journal = store->metadata + journal_at(store);
    put32(store, journal_at(store) + JOURNAL_LAYER, layer);
    store_key(journal + JOURNAL_KEY, key);
    cells_save(&store->layers[layer].bits, key, journal + JOURNAL_BLOCKS);
    fence_for_others();
    put32(store, journal_at(store), 1);
    fence_for_others();
}

static void journal_end(struct store *store)
{
    fence_for_others();
    put32(store, journal_at(store), 0);
}

void removal_repair(struct store *store)
{
    const uint8_t *journal = store->metadata + journal_at(store);
    uint32_t layer = get32(store, journal_at(store) + JOURNAL_LAYER);
    /* Others may have found the key absent meanwhile: they must look again. */
    if (layer < store->count &&
        cells_restore(&store->layers[layer].bits, load_key(journal + JOURNAL_KEY),
                      journal + JOURNAL_BLOCKS))
        count_settling(store);
    journal_end(store);
}

/* The layers that may hold each key: bit i of in[] is layer i. Those not named will not come to
 * hold it while others are removed. */
static void find_layers(const struct store *store, const struct key *keys, size_t n,
                        uint64_t in[BATCH_KEYS])
{
    uint8_t seen[BATCH_KEYS];
    memset(in, 0, n * sizeof *in);
    for (unsigned i = 0; i < store->count; i++) {
        memset(seen, 0, n);
        store->kernel->test(&store->layers[i].bits, keys, n, seen);
        for (size_t k = 0; k < n; k++)
            in[k] |= (uint64_t)seen[k] << i;
    }
}

static enum removal remove_key(struct store *store, struct key key, uint64_t in)
{
    unsigned found = 0, layer = 0;
    for (unsigned i = 0; i < store->count; i++)
        if ((in >> i & 1) != 0 && cells_has(&store->layers[i].bits, key)) {
            found++;
            layer = i;
        }
    if (found != 1)
        return found == 0 ? REMOVAL_ABSENT : REMOVAL_AMBIGUOUS;
    journal_begin(store, layer, key);
    cells_remove(&store->layers[layer].bits, key);
    journal_end(store);
    uint64_t keys = layer_keys(store, &store->layers[layer]);
    if (keys > 0)
        put64(store, keys_at(layer), keys - 1);
    return REMOVAL_DONE;
}

/* Up to BATCH_KEYS of them. */
static ptrdiff_t remove_batch(struct store *store, const struct key *keys, size_t n,
                              uint8_t *removals, struct fault *fault)
{
    uint64_t in[BATCH_KEYS];
    ptrdiff_t removed = 0;
    /* This brings the pages into memory before the lock is taken. */
    if (probe(store, keys, n, removals, fault) != 0 || store_lock_to_settle(store, fault) != 0)
        return -1;
    find_layers(store, keys, n, in);
    for (size_t i = 0; i < n; i++) {
        removals[i] = (uint8_t)remove_key(store, keys[i], in[i]);
        removed += removals[i] == REMOVAL_DONE;
    }
    store_unlock(store);
    return removed;
}

ptrdiff_t removal_remove(struct store *store, const struct key *keys, size_t n, uint8_t *removals,
                         struct fault *fault)
{
    ptrdiff_t removed = 0;
    if (!store->header.plan.geometry.counting)
        return fault_set(fault, store->file.path, "is not a counting filter");
    for (size_t done = 0; done < n;) {
        size_t batch = n - done < BATCH_KEYS ? n - done : BATCH_KEYS;
        ptrdiff_t now = remove_batch(store, keys + done, batch, removals + done, fault);
        if (now < 0)
            return -1;
        removed += now;
        done += batch;
    }
    return removed;
}
