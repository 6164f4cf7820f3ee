/*
 * stage - where new keys of a layer gather until they are set in it together.
 *
 * An empty stage is a hole in the file. It gets blocks before the keys come that need them: for all
 * its bits, and for a stretch of its journal at a time. It gives them back when it is emptied.
 */
#ifndef UNSEEN_STORE_STAGE_H
#define UNSEEN_STORE_STAGE_H

#include "core/hash.h"
#include "store/store.h"

/* Whether a writer died while it emptied a stage. */
bool stage_left(const struct store *store);

/* Keys in the stage of a layer; 0 if it has none. */
uint64_t stage_keys(const struct store *store, unsigned layer);

/* How much of a layer may be dirty at a time, in pages. */
uint64_t stage_stretch(void);

/* Sets those keys of the stage of a layer in `to`, which is of the layer's shape, that fall on its
 * pages from..end. No lock is needed: if the stage is emptied meanwhile, what is missed here is in
 * the layer by then, so whoever reads those pages of it afterwards misses no key. Returns 0, or -1
 * with the fault, whose error is EINTR if a signal came. */
int stage_set_in(const struct store *store, unsigned layer, const struct bits *to, uint64_t from,
                 uint64_t end, struct fault *fault);

/* --- for store and delivery --- */

/* The layer whose stage is to be emptied before room is made otherwise, or store_layers. */
unsigned stage_next(const struct store *store);

/* Whether a stage is being emptied, or was when its writer died: it takes no keys. */
bool stage_is_emptying(const struct store *store);

/* Under LOCK_CHANGE, else a hint: how many keys the stage of a layer may have before room has to be
 * made: its capacity, or fewer if this run has not yet asked for the blocks of all; 0 while a stage
 * is emptied or has to be repaired. */
uint64_t stage_most(const struct store *store, unsigned layer);

/* Under LOCK_GROW: whether the stage of a layer needs more blocks in the file before it takes keys.
 */
bool stage_wants_room(const struct store *store, unsigned layer);

/* Under LOCK_GROW: has the file system allocate them, for far more keys than can be in flight. At
 * most a tenth of a millisecond. Returns 0, or -1 with the fault. */
int stage_reserve(struct store *store, unsigned layer, struct fault *fault);

/* Under LOCK_CHANGE: keys go into the stage of a layer: its journal, its counter, its bits. Writes
 * 16 bytes a key to the page cache. */
void stage_add(struct store *store, unsigned layer, const struct key *keys, size_t n);

/* Repairs what a writer killed in stage_add left. If the journal cannot be read, it stays so, and
 * the stage takes no keys. */
bool stage_repair_is_due(const struct store *store);
void stage_repair(struct store *store);

/* Under LOCK_GROW, and not LOCK_CHANGE: sets all keys of a stage in its layer, and empties it.
 * Takes as long as the disk does. Returns 0, or -1 with the fault, which may be
 * store_check_signals'; then all is as it was, or the next writer does it again. */
int stage_empty(struct store *store, unsigned layer, struct fault *fault);

#endif
