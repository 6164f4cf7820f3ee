/*
 * memory - a filter in memory, which ends with its process. Claiming sets the bits at once, and
 * nothing is settled. The same lines are printed as with a file.
 */
#ifndef UNSEEN_FILTER_MEMORY_H
#define UNSEEN_FILTER_MEMORY_H

#include "core/hash.h"
#include "filter/store.h"

/* Makes a filter of header->plan and its seed; without capacity and pages, a small one that grows
 * (growth_in_memory). Returns NULL with the fault. */
struct store *memory_new(const struct header *header, const struct store_watch *watch,
                         struct fault *fault);

/* As filter_claim, but sets the bits of new keys. */
ptrdiff_t memory_claim(struct store *store, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault);

#endif
