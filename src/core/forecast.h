/*
 * forecast - what becomes of a filter that is made by a plan, as far as its first layers go.
 *
 * Pure functions, by the model of sizing.h.
 */
#ifndef UNSEEN_CORE_FORECAST_H
#define UNSEEN_CORE_FORECAST_H

#include "core/growth.h"

struct forecast {
    struct filter_plan plan;
    struct layer_plan layer; /* each of the first layers, */
    unsigned layers;         /* of which there are so many */
    uint64_t capacity;       /* the lines of the window, or those of the first layer */
};

/* Returns 0, or -1 as growth_first. Takes milliseconds. */
int forecast_make(struct forecast *forecast, const struct filter_plan *plan);

/* The rate after so many keys, if no further layer is added. A window's layers fill one after the
 * other, as many as there are. */
double forecast_rate(const struct forecast *forecast, double keys);

/* At capacity. */
double forecast_bits_per_key(const struct forecast *forecast);

/* That of the classic filter of the same size, k and cells, at capacity: what textbooks promise. */
double forecast_classic_rate(const struct forecast *forecast);

/* Whether layers will be added. */
bool forecast_grows(const struct forecast *forecast);

#endif
