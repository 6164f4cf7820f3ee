/*
 * counter - are the counted keys of a layer about those that its bits tell of?
 */
#ifndef UNSEEN_FILTER_COUNTER_H
#define UNSEEN_FILTER_COUNTER_H

#include "filter/store.h"

/* Of a file: sets counters that are far too low for the bits to what a sample tells. LOCK_CHANGE
 * must not be held. Reads 4 to 16 pages a layer. */
void counter_repair(struct store *store);

/* The rate as it is now, by the counters: without the noise of a sample, and right while they are.
 * 30 us a layer; with rates above 0.001, 3 ms. */
double counter_rate(const struct store *store);

/* How many distinct lines came to the layers of a filter that does not grow, by the counters, which
 * leave out what looked seen. The same. */
double counter_lines(const struct store *store);

#endif
