/*
 * place - where keys go that are settled.
 */
#ifndef UNSEEN_FILTER_PLACE_H
#define UNSEEN_FILTER_PLACE_H

#include "core/hash.h"
#include "filter/store.h"

/* How many more keys there is room for: in all layers that have any left, or in the generation of a
 * window that is filling. Under LOCK_CHANGE it holds until the lock is dropped, else it is a hint.
 */
uint64_t place_room(const struct store *store);

/* The layer that the next key goes into; store_layers if room has to be made. */
unsigned place_next(const struct store *store);

/* Under LOCK_CHANGE: the keys with in[i] == 0 are in, and counted, each layer up to its capacity.
 * Where there is no more room, the newest layer takes the rest if `all`. Returns how many keys are
 * done. */
size_t place_keys(struct store *store, const struct key *keys, size_t n, const uint8_t *in,
                  bool all);

#endif
