/*
 * place - where the next key goes.
 */
#ifndef UNSEEN_STORE_PLACE_H
#define UNSEEN_STORE_PLACE_H

#include "core/hash.h"
#include "store/store.h"

/* A layer, and how many more keys go there after the first. */
struct place {
    unsigned layer; /* store_layers: there is none, room has to be made */
    bool in_stage;  /* they go into its stage */
    uint64_t left;
};

/* The place of a key that comes after `ahead` others which are not settled yet. Under LOCK_CHANGE
 * what it says holds until the lock is dropped, else it is a hint. */
struct place place_after(const struct store *store, uint64_t ahead);

/* The layer that the next keys are for, even if its stage has no room for them as yet; store_layers
 * if all are full. Not for a window. */
unsigned place_filling(const struct store *store);

static inline bool place_is_none(const struct store *store, struct place place)
{
    return place.layer == store_layers(store);
}

/* Under LOCK_CHANGE: keys are in, and counted, at a place. */
void place_set(struct store *store, struct place place, const struct key *keys, size_t n);

/* Under LOCK_CHANGE: keys are in, each layer up to its capacity, with room left for `others`. Where
 * there is no more room, the newest layer takes the rest if `all`. Returns how many were set. */
size_t place_all(struct store *store, const struct key *keys, size_t n, uint64_t others, bool all);

#endif
