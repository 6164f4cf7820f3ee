/*
 * false_drops - estimates the number of false drops in a run.
 *
 * While a filter has the rate R, the fraction R of all new lines is dropped and 1 - R is printed:
 * for each line printed, R / (1 - R) lines were dropped. R is computed again whenever there are a
 * sixteenth more keys; in between, it is taken to change linearly. Where R is near 1, lines that
 * were printed tell little, and the estimate may be above the number of lines that were dropped.
 */
#ifndef UNSEEN_PIPELINE_FALSE_DROPS_H
#define UNSEEN_PIPELINE_FALSE_DROPS_H

#include "filter/filter.h"

struct false_drops {
    const struct filter *filter;
    double odds;    /* R / (1 - R) when it was last computed */
    uint64_t added; /* lines printed since then */
    uint64_t batches;
    uint64_t next; /* lines after which it is computed again */
};

void false_drops_start(struct false_drops *drops, const struct filter *filter);

/* To be called when `n` more lines were printed. Returns the false drops to add to the estimate, or
 * 0 until there are enough lines. */
double false_drops_add(struct false_drops *drops, uint64_t n);

/* Returns the rest, at the end. */
double false_drops_finish(struct false_drops *drops);

#endif
