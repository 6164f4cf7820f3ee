/*
 * place - puts settled keys into layers.
 */
#ifndef UNSEEN_FILTER_PLACE_H
#define UNSEEN_FILTER_PLACE_H

#include "core/hash.h"
#include "filter/store.h"

/* How many more keys fit into all layers, or into the filling generation of a window. Without
 * LOCK_CHANGE, a hint. */
uint64_t place_room(const struct store *store);

/* The layer of the next key; store_layers if room must be made. */
unsigned place_next(const struct store *store);

/* Under LOCK_CHANGE: sets and counts the keys with in[i] == 0, each layer up to its capacity. With
 * `all` the newest layer takes keys for which there is no room. Returns how many keys are done. */
size_t place_keys(struct store *store, const struct key *keys, size_t n, const uint8_t *in,
                  bool all);

#endif
