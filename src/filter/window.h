/*
 * window - turns a window: forgets the oldest generation, and begins the next.
 */
#ifndef UNSEEN_FILTER_WINDOW_H
#define UNSEEN_FILTER_WINDOW_H

#include "filter/filter.h"

/* Under LOCK_CHANGE, after keys were settled in the layer: writes the time. */
void window_settled(struct filter *filter, unsigned layer);

/* How many keys fit into layers that may be emptied now; practically unlimited in a window by
 * lines. 0 if the filter is no window. */
uint64_t window_room_ahead(const struct filter *filter);

/* Under LOCK_GROW: the layer to empty next; filter_layers if none may be emptied yet. */
unsigned window_next(const struct filter *filter);

/* Under LOCK_GROW, but not LOCK_CHANGE: empties the layer and makes it the newest generation. Takes
 * as long as the disk. Returns 0, or -1 with the fault, maybe that of filter_check_signals: then
 * the next writer that needs room does it again. */
int window_turn(struct filter *filter, unsigned layer, struct fault *fault);

/* Whether a writer is emptying a layer, or growing, right now. */
bool window_is_turning(const struct filter *filter);

#endif
