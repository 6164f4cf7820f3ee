/*
 * probe - which keys are in.
 */
#ifndef UNSEEN_STORE_PROBE_H
#define UNSEEN_STORE_PROBE_H

#include "core/hash.h"
#include "store/store.h"

/* seen[i] = 1 for each key that is in, else 0. No lock; about 10 to 60 ns a key. Maps layers that
 * others have added first. Returns 0, or -1 with the fault. */
int probe(struct store *store, const struct key *keys, size_t n, uint8_t *seen,
          struct fault *fault);

/* The same for keys with seen[i] == 0, in the layers that are known. */
void probe_layers(const struct store *store, const struct key *keys, size_t n, uint8_t *seen);

/* The same, without stages: what is in a layer itself. */
void probe_past_stages(const struct store *store, const struct key *keys, size_t n, uint8_t *seen);

#endif
