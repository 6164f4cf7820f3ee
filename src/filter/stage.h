/*
 * stage - where new keys of a large layer gather until they are set in it together.
 *
 * An open table of keys, in the order of the layer's pages. It is exact: it has keys, and nothing
 * that only looks like one. A key in it counts in its layer, from the moment it comes here. A stage
 * that is not in use is a hole in the file.
 */
#ifndef UNSEEN_FILTER_STAGE_H
#define UNSEEN_FILTER_STAGE_H

#include "core/hash.h"
#include "filter/store.h"

/* Whether a writer died, or was told to end, while it emptied the stage of a layer. What has been
 * set in the layer is in the stage, too. */
bool stage_is_half_emptied(const struct store *store, unsigned layer);

/* Reads the keys of a stage that fall on pages from..end of its layer, from the file and without a
 * lock, in about the order of these pages; 1 ns a place. If the stage is emptied meanwhile, what is
 * missed here is in the layer by then. stage_read fills `keys`, returns how many there are, and 0
 * when there are no more; -1 with the fault, whose error is EINTR if a signal came. */
enum { STAGE_PIECE = 512 };
struct stage_reader {
    const struct store *store;
    unsigned layer;
    uint64_t from, end;   /* pages */
    uint64_t place, last; /* places of the table that are still to be read */
};
struct stage_reader stage_begin(const struct store *store, unsigned layer, uint64_t from,
                                uint64_t end);
ptrdiff_t stage_read(struct stage_reader *reader, struct key keys[STAGE_PIECE],
                     struct fault *fault);

/* Counts the keys of a stage that are not in its layer. Returns 0, or -1 as stage_read. */
int stage_count(const struct store *store, unsigned layer, uint64_t *keys, struct fault *fault);

/* How much of a layer may be dirty at a time, in pages. */
uint64_t stage_stretch(void);

/* --- for the files of filter --- */

/* Asks for the pages of keys in the stage of a layer, as pages_prefetch. */
void stage_prefetch(const struct store *store, unsigned layer, const struct key *keys, size_t n);

/* Those of the keys with seen[i] == 0 that are in the stage of a layer: seen[i] = 1. Exact. To be
 * asked before the layer is looked into, since keys go from the one to the other. No lock; one
 * cache miss a key. */
void stage_test(const struct store *store, unsigned layer, const struct key *keys, size_t n,
                uint8_t *seen);

/* Under LOCK_CHANGE: keys go into the stage of a layer; or into the layer at once, where this run
 * does not use the stage, while it is emptied, and where there is no place. Does not count them. */
void stage_set(struct store *store, unsigned layer, const struct key *keys, size_t n);

/* Whether this run should make room in the stage of a layer before it has keys for it: it is to get
 * its blocks, or it is full. False where it is not used. A hint, without a lock, of a few loads. */
bool stage_wants_room(const struct store *store, unsigned layer);

/* Under LOCK_GROW, and not LOCK_CHANGE: makes it. If it is full, all keys are set in the layer,
 * which takes as long as the disk does. Where blocks cannot be had, this run does without the stage
 * from now on. Returns 0, or -1 with the fault, which may be store_check_signals': then all is
 * still in, and whoever finds it full goes on. */
int stage_make_room(struct store *store, unsigned layer, struct fault *fault);

#endif
