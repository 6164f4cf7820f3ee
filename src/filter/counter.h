/*
 * counter - repairs the key counters of layers.
 */
#ifndef UNSEEN_FILTER_COUNTER_H
#define UNSEEN_FILTER_COUNTER_H

#include "filter/filter.h"

/* Raises counters of a file that are far too low for the bits. Reads 4 to 16 pages per layer.
 * LOCK_CHANGE must not be held. */
void counter_repair(struct filter *filter);

/* Under LOCK_GROW, before a layer is added to a filter that is no window: lowers counters that are
 * far too high for the bits. Returns whether there were any; then there is room. Reads 4 pages per
 * layer. */
bool counter_lower(struct filter *filter);

#endif
