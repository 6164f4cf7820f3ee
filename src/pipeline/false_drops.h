/*
 * false_drops - how many false drops a run is expected to have had.
 *
 * Of the new lines that come while a filter has the rate R, the fraction R is held back and 1 - R
 * printed: so for each one printed, R / (1 - R) were not. R is worked out again whenever there
 * are a sixteenth more keys; in between it is taken to change evenly with them.
 */
#ifndef UNSEEN_PIPELINE_FALSE_DROPS_H
#define UNSEEN_PIPELINE_FALSE_DROPS_H

#include "filter/store.h"

struct false_drops {
    const struct store *store;
    double odds;    /* R / (1 - R), when it was last worked out */
    uint64_t added; /* lines printed since */
    uint64_t next;  /* after so many of them it is worked out again */
};

void false_drops_start(struct false_drops *drops, const struct store *store);

/* After `n` more lines were printed: the false drops expected since the last call. Few lines may
 * give 0 for now. */
double false_drops_add(struct false_drops *drops, uint64_t n);

/* At the end: the rest of them. */
double false_drops_finish(struct false_drops *drops);

#endif
