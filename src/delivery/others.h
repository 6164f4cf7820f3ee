/*
 * others - what other living writers have in flight.
 */
#ifndef UNSEEN_DELIVERY_OTHERS_H
#define UNSEEN_DELIVERY_OTHERS_H

#include "core/hash.h"
#include "system/fault.h"

#include <stddef.h>
#include <stdint.h>

struct filter;

/* Under LOCK_CHANGE: marks as seen the keys that another has in flight, and counts in *total those
 * of others in flight that will want a place in a layer. Returns 0, or -1 with the fault. */
int others_look(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                uint64_t *total, struct fault *fault);

/* Lets go of their key sets. */
void others_free(struct filter *filter);

#endif
