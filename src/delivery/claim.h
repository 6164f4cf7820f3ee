/*
 * claim - claiming and settling keys of a filter in a file: what filter.h has of it, for a batch.
 */
#ifndef UNSEEN_DELIVERY_CLAIM_H
#define UNSEEN_DELIVERY_CLAIM_H

#include "delivery/filter.h"

/* As filter_claim and filter_settle of filter.h, for keys that are in flight for a batch. */
ptrdiff_t claim_batch(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                      uint8_t *seen, struct fault *fault);

int claim_settle(struct filter *filter, size_t delivered, struct fault *fault);

/* Under LOCK_CHANGE, the second look: keys that were looked for without it are looked for again, if
 * others have settled any since the counter stood at `settled`. */
void claim_look_again(const struct filter *filter, const struct key *keys, size_t n,
                      uint64_t settled, uint8_t *seen);

/* The flight has room for so many keys. Precondition: it is empty. Returns 0 or -1. */
int claim_fit_flight(struct filter *filter, size_t room, struct fault *fault);

#endif
