/*
 * stage - the staging area of a large layer: a log-structured buffer of new keys, which are set in
 * the layer together.
 *
 * A hash table of keys in the order of the layer's pages, without false positives. Its keys count
 * as keys of the layer. A stage that is not in use is a hole in the file.
 */
#ifndef UNSEEN_FILTER_STAGE_H
#define UNSEEN_FILTER_STAGE_H

#include "core/hash.h"
#include "filter/filter.h"

/* Whether a writer ended while it emptied the stage of a layer. All keys are still in the stage. */
bool stage_is_half_emptied(const struct filter *filter, unsigned layer);

/* Reads the keys of a stage that fall on pages from..end of its layer, from the file, without a
 * lock, roughly in the order of these pages; 1 ns per place. If the stage is emptied meanwhile,
 * keys that are missed are in the layer by then. stage_read fills `keys` and returns how many; 0 at
 * the end; -1 with the fault, with EINTR after a signal. */
enum { STAGE_PIECE = 512 };
struct stage_reader {
    const struct filter *filter;
    unsigned layer;
    uint64_t from, end;   /* pages */
    uint64_t place, last; /* places of the table that are still to be read */
};
struct stage_reader stage_begin(const struct filter *filter, unsigned layer, uint64_t from,
                                uint64_t end);
ptrdiff_t stage_read(struct stage_reader *reader, struct key keys[STAGE_PIECE],
                     struct fault *fault);

/* Counts the keys of a stage that fall on pages from..end and are not in its layer. Returns 0, or
 * -1 as stage_read. */
int stage_count(const struct filter *filter, unsigned layer, uint64_t from, uint64_t end,
                uint64_t *keys, struct fault *fault);

/* How many pages of a layer may be dirty at a time. */
uint64_t stage_stretch(void);

/* --- for the files of this directory --- */

/* As pages_prefetch, for the stage of a layer. */
void stage_prefetch(const struct filter *filter, unsigned layer, const struct key *keys, size_t n);

/* Sets seen[i] = 1 for keys that are in the stage of a layer. Exact. To be called before the layer
 * is tested, because keys move from the stage to the layer. No lock; one cache miss per key. */
void stage_test(const struct filter *filter, unsigned layer, const struct key *keys, size_t n,
                uint8_t *seen);

/* Under LOCK_CHANGE: puts keys into the stage of a layer; or sets them in the layer if this run
 * does not use the stage, while the stage is emptied, or if a key has no place. Does not count
 * them. */
void stage_set(struct filter *filter, unsigned layer, const struct key *keys, size_t n);

/* Whether the stage of a layer must be allocated or emptied before this run adds keys. False if
 * this run does not use the stage. A hint, without a lock; a few loads. */
bool stage_wants_room(const struct filter *filter, unsigned layer);

/* Under LOCK_GROW, but not LOCK_CHANGE: makes room in the stage. If the stage is full, sets all its
 * keys in the layer, which takes as long as the disk. If blocks cannot be allocated, this run uses
 * the stage no more. Returns 0, or -1 with the fault, maybe that of filter_check_signals: then no
 * key is lost, and the next writer that finds the stage full continues. */
int stage_make_room(struct filter *filter, unsigned layer, struct fault *fault);

#endif
