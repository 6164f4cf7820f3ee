/*
 * probe - tests which keys are in.
 */
#ifndef UNSEEN_FILTER_PROBE_H
#define UNSEEN_FILTER_PROBE_H

#include "core/hash.h"
#include "filter/filter.h"

/* Sets seen[i] = 1 for each key that is in, else 0. Maps new layers first. No lock; about 10 to 60
 * ns per key. Returns 0, or -1 with the fault. */
int probe(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
          struct fault *fault);

/* The same for keys with seen[i] == 0, in the layers that are mapped, but for layer `except`;
 * filter_layers: in all. */
void probe_layers(const struct filter *filter, unsigned except, const struct key *keys, size_t n,
                  uint8_t *seen);

/* The same, but in a window only in the newest generation: an older one will be cleared earlier,
 * and may have the key only by a false positive. */
void probe_newest(const struct filter *filter, const struct key *keys, size_t n, uint8_t *seen);

/* The first part of probe: sets seen[i] = 0, maps new layers, prefetches the pages of the first
 * batch of a run. */
int probe_begin(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                struct fault *fault);

#endif
