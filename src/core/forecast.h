/*
 * forecast - how a filter with a given plan will behave until it grows.
 *
 * Pure functions, by the model of sizing.h.
 */
#ifndef UNSEEN_CORE_FORECAST_H
#define UNSEEN_CORE_FORECAST_H

#include "core/growth.h"

struct forecast {
    struct filter_plan plan;
    struct layer_plan layer; /* each of the first layers */
    unsigned layers;         /* how many first layers there are */
    uint64_t capacity;       /* lines at most in the window, or in the first layer */
};

/* Returns 0, or -1 where growth_first does. Takes milliseconds. */
int forecast_make(struct forecast *forecast, const struct filter_plan *plan);

/* The rate with `keys` keys, if no layer is added. A window's layers fill one after another. */
double forecast_rate(const struct forecast *forecast, double keys);

/* Bits per key at capacity. */
double forecast_bits_per_key(const struct forecast *forecast);

/* The rate at capacity of a classic filter of the same size, k and cells. */
double forecast_classic_rate(const struct forecast *forecast);

/* Whether layers can be added. */
bool forecast_grows(const struct forecast *forecast);

#endif
