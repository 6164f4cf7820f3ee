/*
 * flight - this writer's keys in flight: lines chosen as new, not yet handed on.
 *
 * Their bits are not set, yet a later line of this run must be judged as if they were: else the
 * output would depend on where batches happen to end (a line whose bits are covered by those of a
 * line before it is held back, whether or not that line's bits have been set already). So lines in
 * flight are found again by page: a chain for each page that has any. As a filter has many more
 * pages than a batch has lines, most chains are empty, and a new key costs one look and one store.
 *
 * For other writers these keys count one by one, exactly: they are in the slot in the file.
 */
#ifndef UNSEEN_DELIVERY_FLIGHT_H
#define UNSEEN_DELIVERY_FLIGHT_H

#include "core/geometry.h"

#include <stdbool.h>

struct flight_entry {
    uint64_t page;
    uint16_t next; /* the entry before in the same chain, or FLIGHT_NONE */
    uint8_t layer;
};

#define FLIGHT_NONE UINT16_MAX

struct flight {
    size_t count, room;
    unsigned shift;                 /* a chain is the top bits of a product */
    unsigned layer_low, layer_high; /* of the keys in flight, if there are any */
    struct key *keys;
    struct flight_entry *entries;
    uint16_t *chains;
};

/* Room for `room` keys (at most 65535); NULL if memory is short. */
struct flight *flight_new(size_t room);
void flight_free(struct flight *flight);

/* Takes keys with seen[i] == 0, which will go into layer `layer` with these bits, one after the
 * other: seen[i] = 1 if those in flight for that layer cover it; else it is in flight too. Stops
 * before a key that would be number most + 1, or for which there is no room. Returns how many keys
 * were looked at. About 3 ns a key. */
size_t flight_take(struct flight *flight, const struct key *keys, size_t n, size_t most,
                   unsigned layer, const struct bits *bits, uint8_t *seen);

static inline uint16_t *flight_chain(const struct flight *flight, uint64_t page)
{
    return &flight->chains[(page * UINT64_C(0x9e3779b97f4a7c15)) >> flight->shift];
}

/* Whether there may be keys in flight on the key's page, without which none covers it. */
static inline bool flight_meets(const struct flight *flight, struct key key,
                                const struct bits *bits)
{
    return *flight_chain(flight, geometry_page(key, bits->pages)) != FLIGHT_NONE;
}

/* Would the key be in `layer` if all keys in flight were? */
bool flight_covers(const struct flight *flight, struct key key, unsigned layer,
                   const struct bits *bits);

/* The last `n` keys are in flight no longer. */
void flight_drop_last(struct flight *flight, size_t n);

void flight_clear(struct flight *flight);

#endif
