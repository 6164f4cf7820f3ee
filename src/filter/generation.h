/*
 * generation - the state of the layers of a window: which is filling, which is forgotten.
 *
 * Only reads, without a lock; window.h turns a window. Times are milliseconds since 1970.
 */
#ifndef UNSEEN_FILTER_GENERATION_H
#define UNSEEN_FILTER_GENERATION_H

#include "filter/filter.h"

/* The generation in a layer of a window. */
struct generation {
    uint64_t number; /* from 1 on, larger ones are newer; 0: none */
    bool retired;    /* the layer is being emptied, or was when a writer died */
    bool filling;    /* new lines go here */
    bool expired;    /* by time: forgotten, and to be emptied */
    bool behind;     /* by time: the clock was set back while lines were added */
    uint64_t began;
    uint64_t ends; /* by time: when it expires if no more lines are added; else 0 */
};
struct generation generation_of(const struct filter *filter, unsigned layer);

/* Of a window by time: the latest time in it, if that is ahead of the clock by more than a
 * generation, so that nothing is forgotten until then; else 0. */
uint64_t generation_clock_ahead(const struct filter *filter);

/* --- for the files of this directory --- */

/* The layer that new keys go into; filter_layers if there is none, or its time is over. */
unsigned generation_filling(const struct filter *filter);

/* The newest layer, which takes keys that fit nowhere; for all filters, not only windows. */
unsigned generation_newest(const struct filter *filter);

/* The layer with the largest number, or filter_layers. */
unsigned generation_largest(const struct filter *filter);

/* The number of the generation in a layer, or GENERATION_FREE, or GENERATION_RETIRED. */
uint64_t generation_number(const struct filter *filter, unsigned layer);

static inline bool generation_is_one(uint64_t number)
{
    return number != GENERATION_FREE && number != GENERATION_RETIRED;
}

/* The time now, for generation_expired; 0 if the filter is no window by time. */
uint64_t generation_now(const struct filter *filter);
/* Whether the layer's lines are forgotten, though its bits may be set. */
bool generation_expired(const struct filter *filter, unsigned layer, uint64_t now);

/* How long ago keys were last settled in the layer, by the clock, but not longer than the uptime
 * says. */
uint64_t generation_age(const struct filter *filter, unsigned layer, uint64_t now);

/* Whether it is unknown when keys were last settled in the layer: the clock was behind or wrong. */
bool generation_is_undated(const struct filter *filter, unsigned layer);

/* The latest time that was written to the file. */
uint64_t generation_latest(const struct filter *filter);

#endif
