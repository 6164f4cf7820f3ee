/*
 * growth - the layers of a filter that grows: how large each is, and what rate it may have.
 *
 * A filter of several layers says "seen" if any of them does, so its rate is at most the sum of
 * theirs. The sum is kept under p for ever by a series:
 *
 *     layer 0      p * (1 - s)              s: the share that growth may use up
 *     layer i > 0  p * s * (1 - r) * r^(i-1),  r = 0.8
 *
 * s is 0.15 where the capacity was given, since growth is then the exception and costs 1 % of space
 * at 1e-6; 0.5 where the filter is expected to grow. A single ratio for all layers, as in the
 * literature (Almeida et al. 2007), would cost log2(1/r) bits a key and layer: with 0.15 the tenth
 * layer would be twice as large as the first for the same keys; with these two it is a third.
 *
 * A new layer makes the whole filter 2.15 times the size that a single layer for the present keys
 * would have, as large as promise allows, since each further layer is one more page to look at for
 * each key. Below 60 MB, where memory is no concern, growth is eightfold.
 *
 * A layer is made for so many distinct lines that come, but counts those that it remembers. At high
 * rates those are fewer: of 10^6 lines at 0.1, 20000 are dropped on the way, and a layer that took
 * in 20000 more would be above its rate. Below 1e-2 the difference is lost in the margin of 3 %.
 *
 * A window forgets. Its lines are kept in generations, which are layers: four are full, a fifth one
 * fills, and when that is full the oldest is emptied for the next. A layer takes N / 4 lines,
 * rounded up, so that at least N and at most 1.25 * N are remembered (N a multiple of four). By
 * count that is all for ever, and the layers share p. By time a generation takes a quarter of the
 * time, and n, if it was given, is a plan for the whole: a period that brings more adds layers,
 * under the same series. More generations would remember less beyond N, and each is one more page
 * to look at for each key.
 *
 * A generation ends when so many keys are settled in it; what several writers have in flight then
 * still goes there. So a layer of a window is sized for as many more (GROWTH_IN_FLIGHT).
 *
 * A large layer of a file has room for a stage before it: a table in which keys gather until they
 * are set in the layer together, in the order of its pages (a buffered Bloom filter: Canim et al.
 * 2010; here the buffer is exact, and has no part of the rate). Otherwise each key would dirty a
 * page of its own, of a layer that the system cannot keep dirty as a whole. What it can depends on
 * the machine, and the file must not: so a layer has a stage from a fixed size on, and who writes
 * uses it where the layer is large for the memory. One for which all bytes were given has none.
 *
 * Pure functions; the same numbers on every machine (see sizing.h).
 */
#ifndef UNSEEN_CORE_GROWTH_H
#define UNSEEN_CORE_GROWTH_H

#include "core/sizing.h"

#include <stdbool.h>

/* What one layer is to be. */
struct layer_plan {
    uint64_t pages;
    uint64_t capacity; /* keys; the layer is full after exactly so many were remembered */
    double rate;       /* what it may contribute to the filter's rate */
    struct geometry geometry;
    uint64_t stage; /* pages of its stage; 0: it has none */
};

/* What is asked of a filter. */
struct filter_plan {
    double rate;              /* p */
    uint64_t capacity;        /* n; 0: not given, the first layer has `pages` */
    uint64_t pages;           /* of each first layer; 0: follows from capacity and rate */
    struct geometry geometry; /* lines 0: follows from the rate; `counting` counts all the same */
    bool fixed;               /* does not grow: layer 0 has all of p */
    bool window;              /* old lines are forgotten */
    uint64_t forget;          /* a window by time: milliseconds; 0: it is `capacity` lines */
    bool staged;              /* large layers have a stage: in a file that keeps its lines */
};

/* Each layer of more than STAGE_FROM_PAGES pages, 512 MiB, has a stage of an eighth of its pages. A
 * smaller stage would be emptied more often, which writes more in all. For tests, the Makefile
 * builds a program in which small layers have one, too, and use it. */
#ifndef STAGE_FROM_PAGES
#define STAGE_FROM_PAGES 131072
#define STAGE_PAGES(pages) ((pages) / 8)
#define STAGE_OF_MEMORY 10
#endif

/* The pages for the stage of a layer of `pages`; 0: it has none. */
uint64_t growth_stage_pages(const struct filter_plan *plan, uint64_t pages);

/* Whether its stage makes a layer faster where the memory has so many pages: the system lets about
 * a tenth of it be dirty. In a layer that may be dirty as a whole, setting a key at once takes a
 * third of the time. */
bool growth_uses_stage(uint64_t pages, uint64_t memory);

/* The generations that a window remembers, beside the one that fills. */
enum { GENERATIONS = 4 };

/* The part of a window's lines, or of its time, that goes into one. */
static inline uint64_t growth_generation(uint64_t window)
{
    return (window - 1) / GENERATIONS + 1;
}

/* Keys that others than one writer can have in flight, beside those that a layer's size gives room
 * to: shared.h has 128 slots of 8 keys and more. */
enum { GROWTH_IN_FLIGHT = 1024 };

/* First layers where no capacity was given: 1 MB of file; in memory 0.5 MB, then 56 MB. */
enum { GROWTH_FILE_PAGES = 256, GROWTH_SMALL_PAGES = 128, GROWTH_MEMORY_PAGES = 14336 };

/* How many layers such a filter is made with, all as growth_first says: 1, or five. */
unsigned growth_first_layers(const struct filter_plan *plan);

/* How many keys each of the first layers is sized for; plan->capacity must be given. */
uint64_t growth_first_keys(const struct filter_plan *plan);

/* p, where none is asked for. */
#define GROWTH_DEFAULT_RATE 1e-6

/* The rate that layer `index` may have. */
double growth_rate(const struct filter_plan *plan, unsigned index);

/* Whether a filter grew by a layer of that rate: all lines in it have passed those before it, which
 * were full. Layers that were merged had theirs side by side, and have more of the rate. */
bool growth_made(const struct filter_plan *plan, double rate);

/* The keys that a layer of that shape counts when it is at that rate. */
uint64_t growth_capacity(struct geometry geometry, uint64_t pages, double rate);

/* How many keys are in a layer of a filter that grows when it has counted `capacity`, that is when
 * it is full: more than that at high rates. About 3 ms there. */
double growth_full(const struct layer_plan *layer);

/* How many distinct lines a layer of a filter was made for: the same, but exactly n where that was
 * given, for layer 0; and what a layer of a filter that is fixed has for its capacity. */
double growth_made_for(const struct filter_plan *plan, const struct layer_plan *layer);

/* The geometry of layer 0. */
struct geometry growth_geometry(const struct filter_plan *plan);

/* Pages of each first layer, for so many bits a key; plan->capacity must be given. */
uint64_t growth_pages_of_bits(const struct filter_plan *plan, double bits_per_key);

/* Sets plan->rate to the lowest p that layers of `pages` keep with `capacity` keys, over all
 * geometries or with the one that is given; within the limits. Both must be given. */
void growth_find_rate(struct filter_plan *plan);

/* Layer 0 of a filter. Returns 0, or -1 if it would be larger than
 * SIZING_PAGES_MAX, or if `pages` cannot hold even one key at that rate. plan->capacity or
 * plan->pages must be given. */
int growth_first(const struct filter_plan *plan, struct layer_plan *layer);

/*
 * The same for a filter in memory of which neither n nor a size was given, and which is no window.
 * The staircase:
 *
 *   1. Begin with 1 MB, as a file does, and grow. But every further layer is one more page to look
 *      at for each key; and it saves nothing, as memory that is not touched costs nothing.
 *   2. Begin with 56 MB: 15 million lines, and most runs never grow. But a page that is touched for
 *      the first time costs 5 us, and each of the first lines touches another one.
 *   3. Begin with 0.5 MB (`small`), which stays in the cache, and keep its keys. When it is full,
 *      after 10^5 lines, they are set in a layer of 56 MB that takes its place as layer 0.
 *   4. Without -p, both capacities are known beforehand (growth.c): to work them out takes 5 ms,
 *      and a whole run of a few lines takes less.
 */
int growth_in_memory(const struct filter_plan *plan, bool small, struct layer_plan *layer);

/* Layer `index` > 0 of a filter with so many pages and keys (its capacity) so far. Returns 0, or -1
 * if it would be too large. */
int growth_next(const struct filter_plan *plan, unsigned index, uint64_t pages, uint64_t keys,
                struct layer_plan *layer);

#endif
