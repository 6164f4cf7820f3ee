/*
 * memory - a filter in memory: it dies with its process.
 *
 * So there is nothing to protect: a claim sets the bits at once, and nothing is settled. What is
 * printed is the same as with a file.
 */
#ifndef UNSEEN_FILTER_MEMORY_H
#define UNSEEN_FILTER_MEMORY_H

#include "core/hash.h"
#include "filter/store.h"

/* header->plan, seed: as asked; without capacity and pages it starts small (growth_in_memory).
 * Returns NULL with the fault. */
struct store *memory_new(const struct header *header, const struct store_watch *watch,
                         struct fault *fault);

/* As filter_claim, but what is new is in then. */
ptrdiff_t memory_claim(struct store *store, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault);

#endif
