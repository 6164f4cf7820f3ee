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
#ifndef UNSEEN_FILE_FLIGHT_H
#define UNSEEN_FILE_FLIGHT_H

#include "core/geometry.h"

#include <stdbool.h>

struct flight;

/* Room for `room` keys (at most 65535); NULL if memory is short. */
struct flight *flight_new(size_t room);
void flight_free(struct flight *flight);

size_t flight_count(const struct flight *flight);
size_t flight_room(const struct flight *flight);
const struct key *flight_keys(const struct flight *flight);

/* Adds a key that will go into layer `layer` with these bits. Precondition: there is room. */
void flight_add(struct flight *flight, struct key key, unsigned layer, const struct bits *bits);

/* Would the key be in `layer` if all keys in flight were? */
bool flight_covers(const struct flight *flight, struct key key, unsigned layer,
                   const struct bits *bits);

/* The lowest and highest layer of any key in flight; only if there are keys. */
unsigned flight_layer_low(const struct flight *flight);
unsigned flight_layer_high(const struct flight *flight);

void flight_clear(struct flight *flight);

#endif
