/*
 * filter_remove - taking keys out of a counting filter; see filter.h.
 *
 * Under LOCK_CHANGE, key by key: look at all cells of the key, and if none is zero lower them all.
 * Readers look at cells without the lock, and stay right: a cell of another key that is in counts
 * that key, so it does not fall to zero (cells.h).
 *
 * What a kill between two stores would leave is a key that is not in any more, while some of its
 * cells still count it, and nobody would ever lower those. So there is a journal, one page: the key, its
 * lines as they were, and last a mark that all this is valid; when the cells are lowered the mark is
 * taken away. Stores to a mapped file outlive a killed process in the order in which it made them.
 * Whoever takes the lock next and finds the mark puts the lines back; so each key is removed whole or
 * not at all. Until then readers may see the key as not in.
 *
 * The journal need not be on disk before the cells are, and it may be copied with the file, older or
 * newer than they: the lines are put back only if each cell is as it was, or lower by one and the
 * key's. That raises cells and lowers none, and a cell that is too high never loses a line. At worst a
 * removal is undone that a power cut left half on disk.
 */
#include "store/internal.h"

#include "core/cells.h"
#include "system/lock.h"

#include <string.h>

enum { JOURNAL_LAYER = 4, JOURNAL_KEY = 8, JOURNAL_LINES = 64 };

_Static_assert(JOURNAL_LINES + LINES_MAX * LINE_BYTES <= JOURNAL_BYTES, "the journal is a page");

static size_t journal_at(const struct filter *filter)
{
    return (size_t)filter->header.layers_at - JOURNAL_BYTES;
}

static bool journal_is_valid(const struct filter *filter)
{
    return filter->header.plan.geometry.counting && get32(filter, journal_at(filter)) != 0;
}

bool filter_removal_open(const struct filter *filter)
{
    /* Once more behind the lock: a live one may have ended meanwhile. */
    return journal_is_valid(filter) && !lock_is_held(filter->fd, LOCK_CHANGE) &&
           journal_is_valid(filter);
}

/* The compiler must not change the order in which the page and the cells are stored. */
static void in_order(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void journal_begin(struct filter *filter, unsigned layer, struct key key)
{
    uint8_t *journal = filter->fixed + journal_at(filter);
    put32(filter, journal_at(filter) + JOURNAL_LAYER, layer);
    store_key(journal + JOURNAL_KEY, key);
    cells_save(&filter->layers[layer].bits, key, journal + JOURNAL_LINES);
    in_order();
    put32(filter, journal_at(filter), 1);
    in_order();
}

static void journal_end(struct filter *filter)
{
    in_order();
    put32(filter, journal_at(filter), 0);
}

int filter_finish_removal(struct filter *filter, struct fault *fault)
{
    const uint8_t *journal = filter->fixed + journal_at(filter);
    if (!journal_is_valid(filter))
        return 0;
    /* The layer may be one that this process does not know yet. */
    if (filter_refresh(filter, fault) != 0)
        return -1;
    uint32_t layer = get32(filter, journal_at(filter) + JOURNAL_LAYER);
    /* Others may have found the key absent meanwhile: they must look again. */
    if (layer < filter->count &&
        cells_restore(&filter->layers[layer].bits, load_key(journal + JOURNAL_KEY),
                      journal + JOURNAL_LINES))
        put64(filter, COUNTER_SETTLED_AT, get64(filter, COUNTER_SETTLED_AT) + 1);
    journal_end(filter);
    return 0;
}

/* The layers that may hold each key: bit i of in[] is layer i. Those not named will not come to hold
 * it while others are removed. */
static void find_layers(const struct filter *filter, const struct key *keys, size_t n,
                        uint64_t in[MEMORY_BATCH])
{
    uint8_t seen[MEMORY_BATCH];
    memset(in, 0, n * sizeof *in);
    for (unsigned i = 0; i < filter->count; i++) {
        memset(seen, 0, n);
        filter->kernel->test(&filter->layers[i].bits, keys, n, seen);
        for (size_t k = 0; k < n; k++)
            in[k] |= (uint64_t)seen[k] << i;
    }
}

static enum removal remove_key(struct filter *filter, struct key key, uint64_t in)
{
    unsigned found = 0, layer = 0;
    for (unsigned i = 0; i < filter->count; i++)
        if ((in >> i & 1) != 0 && cells_has(&filter->layers[i].bits, key)) {
            found++;
            layer = i;
        }
    if (found != 1)
        return found == 0 ? REMOVAL_ABSENT : REMOVAL_AMBIGUOUS;
    journal_begin(filter, layer, key);
    cells_remove(&filter->layers[layer].bits, key);
    journal_end(filter);
    uint64_t keys = get64(filter, keys_at(layer));
    put64(filter, keys_at(layer), keys > 0 ? keys - 1 : 0);
    return REMOVAL_DONE;
}

/* Up to MEMORY_BATCH of them. */
static ptrdiff_t remove_batch(struct filter *filter, const struct key *keys, size_t n,
                              uint8_t *removals, struct fault *fault)
{
    uint64_t in[MEMORY_BATCH];
    ptrdiff_t removed = 0;
    /* This brings the pages into memory before the lock is taken. */
    if (filter_probe(filter, keys, n, removals, fault) != 0 ||
        filter_take_to_settle(filter, fault) != 0)
        return -1;
    if (filter_refresh(filter, fault) != 0) {
        lock_drop(filter->fd, LOCK_CHANGE);
        return -1;
    }
    find_layers(filter, keys, n, in);
    for (size_t i = 0; i < n; i++) {
        removals[i] = (uint8_t)remove_key(filter, keys[i], in[i]);
        removed += removals[i] == REMOVAL_DONE;
    }
    lock_drop(filter->fd, LOCK_CHANGE);
    return removed;
}

ptrdiff_t filter_remove(struct filter *filter, const struct key *keys, size_t n, uint8_t *removals,
                        struct fault *fault)
{
    ptrdiff_t removed = 0;
    if (!filter->header.plan.geometry.counting)
        return fault_set(fault, filter->path, "not a counting filter");
    for (size_t done = 0; done < n;) {
        size_t batch = n - done < MEMORY_BATCH ? n - done : MEMORY_BATCH;
        ptrdiff_t now = remove_batch(filter, keys + done, batch, removals + done, fault);
        if (now < 0)
            return -1;
        removed += now;
        done += batch;
    }
    return removed;
}
