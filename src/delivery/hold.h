/*
 * hold - keeping keys in flight for longer than a batch: filter_hold of filter.h.
 */
#ifndef UNSEEN_DELIVERY_HOLD_H
#define UNSEEN_DELIVERY_HOLD_H

#include "delivery/filter.h"

/* filter_claim and filter_settle while keys are held. */
ptrdiff_t hold_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                     uint8_t *seen, struct fault *fault);
int hold_keep(struct filter *filter, size_t delivered, struct fault *fault);

/* Ends it; what is held is forgotten. */
void hold_free(struct filter *filter);

#endif
