/*
 * window - turning: the oldest generation is forgotten, and the next one begins.
 */
#ifndef UNSEEN_FILTER_WINDOW_H
#define UNSEEN_FILTER_WINDOW_H

#include "filter/store.h"

/* Under LOCK_CHANGE: keys were settled in the layer. */
void window_settled(struct store *store, unsigned layer);

/* How many keys there is room for in layers that may be emptied now: a window by lines never lacks
 * one. 0 if the filter is no window. */
uint64_t window_room_ahead(const struct store *store);

/* Under LOCK_GROW: the layer that is emptied next; store_layers if none may be yet. */
unsigned window_next(const struct store *store);

/* Under LOCK_GROW, and not LOCK_CHANGE: empties the layer and makes it the newest generation. Takes
 * as long as the disk does. Returns 0, or -1 with the fault, which may be store_check_signals':
 * then the next writer that needs room does it again. */
int window_turn(struct store *store, unsigned layer, struct fault *fault);

/* Whether a writer is just emptying a layer, or growing. */
bool window_is_turning(const struct store *store);

#endif
