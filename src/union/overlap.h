/*
 * overlap - how many keys do several filters have together, and how many of them more than once?
 *
 * The bits of layers of one shape, laid over one another, are those of a layer with all their keys;
 * what it has fewer than the layers have each for themselves, it has twice. All are estimates, and
 * the error of the overlap, a small difference of large numbers, is mostly theirs.
 */
#ifndef UNSEEN_UNION_OVERLAP_H
#define UNSEEN_UNION_OVERLAP_H

#include "store/store.h"

struct overlap {
    double keys; /* in any of them */
    double keys_error;
    double shared; /* in how many more of them, summed up over the keys; of two, those in both */
    double shared_error;
};

/* Errors are two standard deviations: in 19 of 20 cases the truth is within. Returns NULL, or why
 * it cannot be told: they were not made alike, or their layers differ in size. Reads all bits. */
const char *overlap_find(struct store *const *filters, size_t count, struct overlap *overlap);

#endif
