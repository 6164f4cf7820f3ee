/*
 * others - the keys that other living writers have in flight.
 */
#ifndef UNSEEN_FILTER_OTHERS_H
#define UNSEEN_FILTER_OTHERS_H

#include "core/hash.h"
#include "system/fault.h"

#include <stddef.h>
#include <stdint.h>

struct filter;

/* Sets seen[i] = 1 for keys that another writer has in flight; *total: how many keys they all have.
 * Under LOCK_CHANGE; or without a lock, and then a key that is settled meanwhile may be missed: it
 * is in the layers, and the counter of settlings has moved. One load per slot with nothing in
 * flight. Returns 0, or -1 with the fault. */
int others_test(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                uint64_t *total, struct fault *fault);

/* Unmaps and closes their files. */
void others_free(struct filter *filter);

#endif
