/*
 * internal - what the files of delivery share of an open filter. For nobody else.
 */
#ifndef UNSEEN_DELIVERY_INTERNAL_H
#define UNSEEN_DELIVERY_INTERNAL_H

#include "delivery/filter.h"
#include "delivery/flight.h"
#include "delivery/key_set.h"
#include "store/internal.h"

struct filter {
    struct store *store;
    struct flight *flight; /* NULL: the filter is in memory, or opened for reading */
    unsigned slot;
    struct key_set *set; /* others see what is in flight here; NULL: in the slot */
    uint64_t claimed_at; /* the counter of settlings when what is in flight was claimed */
    struct hold *hold;   /* NULL: keys are in flight for a batch */

    /* Key sets of others, as far as they were met, and which one of the slot's it was. */
    struct key_set *attached[SLOTS_MAX];
    uint64_t attached_mark[SLOTS_MAX];
};

/* Whether a slot has neither keys nor a key set. */
static inline bool slot_is_empty(const struct store *store, unsigned slot)
{
    _Static_assert(SLOT_HOLDS == 4, "the number of keys and the flag are one word");
    return get64(store, slot_at(slot)) == 0;
}

#endif
