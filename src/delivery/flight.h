/*
 * flight - this writer's keys in flight: lines chosen as new, not yet handed on.
 *
 * Their bits are not set, yet a later line of this run must be judged as if they were: a line whose
 * bits are all covered by those of lines before it is held back, and whether they have been set by
 * then depends on where a batch happened to end. The staircase, from the obvious way to this one:
 *
 *   1. Set the bits at once. But bits say that a line was delivered, and cannot be taken back.
 *   2. Keep an exact table of the keys in flight, as other writers do with the keys in this one's
 *      slot. But that finds the same line only, and not one that is covered by the bits of several.
 *   3. Set the bits in a copy of the layer. But it would have to be as large.
 *   4. Set them in copies of the lines that the key in question has, one after the other: the key
 *      is covered if each has the key's word once the words of all keys in flight are set in it.
 *      That asks every key in flight for every new key.
 *   5. Only keys on the same page matter. So keys in flight are chained by page, newest first: the
 *      head of a chain is found by hashing the page, and chains are four times as many as keys. A
 *      filter has many more pages than a batch has lines, so nearly always the chain is empty, and
 *      a new key costs one look and one store: about 3 ns.
 *   6. But a stranger who knows the hash can choose lines that are all on one page, and each would
 *      look at all before it: 35 times slower. So where FLIGHT_CROWD keys of a page have gathered,
 *      their bits are set in a page by itself, a sum, that begins as a copy of the sum before; and
 *      a key looks at its page's newest sum and at fewer than FLIGHT_CROWD keys. Sums are a stack,
 *      as keys are: dropping the last keys drops the sums that they made. And chains are salted
 *      (core/salt.h), since pages can be chosen that would share one.
 */
#ifndef UNSEEN_DELIVERY_FLIGHT_H
#define UNSEEN_DELIVERY_FLIGHT_H

#include "core/geometry.h"

#include <stdbool.h>

struct flight_entry {
    uint64_t where; /* page and layer */
    uint16_t alone; /* keys of this page that are in no sum, this one first; 0: it made one */
    uint16_t sum;   /* which sum has the older ones, counted from 1; 0: there is none */
    uint16_t next;  /* the next older entry of the same chain, or FLIGHT_NONE */
};

#define FLIGHT_NONE UINT16_MAX

enum { FLIGHT_CROWD = 8 };

struct flight {
    size_t count, room;
    unsigned shift;                 /* a chain's number is the top bits of a product, */
    uint64_t salt;                  /* with this odd number */
    unsigned layer_low, layer_high; /* of the keys in flight, if there are any */
    struct key *keys;
    struct flight_entry *entries;
    uint16_t *chains;
    uint8_t *sums; /* room / FLIGHT_CROWD pages, NULL before the first */
    size_t summed; /* of which so many are in use */
};

/* Room for `room` keys (at most 65535); NULL if memory is short. */
struct flight *flight_new(size_t room);
void flight_free(struct flight *flight);

/* Takes the keys with seen[i] == 0, one after the other, for layer `layer` with these bits: if the
 * keys in flight for that layer cover it, seen[i] = 1; else it is in flight too. Stops before the
 * new key number most + 1, and before one for which there is no room. Returns how many keys were
 * looked at. About 3 ns a key, and 60 if all are on one page. */
size_t flight_take(struct flight *flight, const struct key *keys, size_t n, size_t most,
                   unsigned layer, const struct bits *bits, uint8_t *seen);

/* Would the key be in `layer` if all keys in flight were? */
bool flight_covers(const struct flight *flight, struct key key, unsigned layer,
                   const struct bits *bits);

/* The last `n` keys are in flight no longer. */
void flight_drop_last(struct flight *flight, size_t n);

void flight_clear(struct flight *flight);

#endif
