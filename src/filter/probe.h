/*
 * probe - which keys are in.
 */
#ifndef UNSEEN_FILTER_PROBE_H
#define UNSEEN_FILTER_PROBE_H

#include "core/hash.h"
#include "filter/store.h"

/* seen[i] = 1 for each key that is in, else 0. No lock; about 10 to 60 ns a key. Maps layers that
 * others have added first. Returns 0, or -1 with the fault. */
int probe(struct store *store, const struct key *keys, size_t n, uint8_t *seen,
          struct fault *fault);

/* The same for keys with seen[i] == 0, in the layers that are known. */
void probe_layers(const struct store *store, const struct key *keys, size_t n, uint8_t *seen);

/* The same, but of a window only in the newest generation: what will be cleared before it does not
 * vouch for a key, which at the rate p it only seems to have. */
void probe_newest(const struct store *store, const struct key *keys, size_t n, uint8_t *seen);

/* What probe does before it looks: seen[i] = 0, layers of others are mapped, and the pages of the
 * first batch of a run are asked for. */
int probe_begin(struct store *store, const struct key *keys, size_t n, uint8_t *seen,
                struct fault *fault);

#endif
