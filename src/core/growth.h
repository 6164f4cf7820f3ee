/*
 * growth - how large each layer of a growing filter is, and what rate it may have.
 *
 * A filter of several layers says "seen" if any of them does, so its rate is at most the sum of the
 * layers' rates. A series keeps the sum below p, however many layers there are:
 *
 *     layer 0      p * (1 - s)              s: the share of p that is kept for growth
 *     layer i > 0  p * s * (1 - r) * r^(i-1),  r = 0.8
 *
 * s is 0.15 if the capacity was given: growth is then the exception, and costs 1% of space at 1e-6.
 * Otherwise the filter is expected to grow, and s is 0.5. A single ratio for all layers, as in the
 * literature (Almeida et al. 2007), costs log2(1/r) bits per key and layer. With 0.15 the tenth
 * layer would be twice as large as the first for the same keys; with these two it is a third.
 *
 * Each further layer is one more page to test per key, so a new layer is made as large as the
 * promised size allows. A file of which no n was given has at most 3 times the bytes, stages apart,
 * of one made with -n for the lines in it, from 300000 lines on and up to p = 1e-2. Where a key has
 * few bits beside those that its layer's share of p costs, it is 4.5 times at 0.1, and 8 at 0.5
 * (counting: 3.1 at 1e-2).
 * Smaller layers save less than they cost: at 1e-6, up to 10^9 lines,
 *
 *     size after growing, at most      2.15    2.5    2.9   (before: up to 8.4)
 *     in the mean over log(lines)      1.65   1.78   1.92   (2.5)
 *     layers that hold 10^8 lines        11      9      8   (7)
 *     that a new line meets             9.4    7.8    6.7   (5.3)
 *     time against -n, 3*10^7 lines     2.2    2.1    1.9   (1.7)
 *
 * A filter in memory is not smaller for small layers, and after n lines that were given, few more
 * are expected: when these grow, the whole filter gets 2.15 times the size of a single layer for
 * the present keys. Below 60 MB, where memory is no concern, they grow eightfold.
 *
 * A layer is sized for the distinct lines that arrive, but its counter has the lines that it
 * remembers. At high rates these are fewer: of 10^6 lines at 0.1, 20000 are dropped on the way, and
 * a layer that took 20000 more would be above its rate. Below 1e-2 the margin of 3% covers this. n
 * lines that arrive together are all remembered, and must fit; so a first layer for n lines is full
 * when it remembers n, and has pages for all lines that arrive until then.
 *
 * A window forgets. Its lines are kept in generations, which are layers: four are full, a fifth one
 * fills, and when that is full the oldest is emptied for the next. A generation takes N / 4 lines,
 * rounded up, so that at least N and at most 1.25 * N are remembered, N rounded up to a multiple of
 * four; keys in flight (-x, --pending) come on top, and keep all generations as they are. A
 * window by count never grows, and its layers share p. A window by time begins a generation each
 * quarter of the time; n, if given, is the expected number of lines in all, and a period that
 * brings more adds layers by the same series. With more generations, less than 1.25 * N would be
 * remembered, but each is one more page to test per key.
 *
 * When a generation is full, keys that several writers have in flight at that time still go there.
 * So a layer of a window is sized for GROWTH_IN_FLIGHT more. And a small one, by count, is sized
 * for two generations, so that its rate holds if a power cut brings back a generation that was
 * cleared: then clearing need not be flushed (window.c), which would take longer than filling it.
 * If a size was given, the rate is worth more.
 *
 * A large layer of a file has space for a stage before it, a staging area (in the literature, a
 * log-structured buffer): a table that collects keys, which are then set in the layer together, in
 * the order of its pages. (A buffered Bloom filter: Canim et al. 2010; here the buffer is exact and
 * adds nothing to the rate.) Without it, each key would dirty a page of its own, and the system
 * cannot keep all pages of such a layer dirty. How many it can keep depends on the machine, but
 * the file must not: so every layer above a fixed size has a stage, and a writer uses it if the
 * layer is large for the memory. A layer of a filter made with --size has none.
 *
 * Pure functions; the same numbers on every machine (see sizing.h).
 */
#ifndef UNSEEN_CORE_GROWTH_H
#define UNSEEN_CORE_GROWTH_H

#include "core/sizing.h"

#include <stdbool.h>

struct layer_plan {
    uint64_t pages;
    uint64_t capacity; /* the layer is full when it has remembered exactly this many keys */
    double rate;       /* how much it may add to the filter's rate */
    struct geometry geometry;
    uint64_t stage; /* pages of its stage; 0: none */
};

/* The options that describe a filter. */
struct filter_plan {
    double rate;              /* p */
    uint64_t capacity;        /* n; 0: not given, the first layer has `pages` */
    uint64_t pages;           /* of each first layer; 0: follows from capacity and rate */
    struct geometry geometry; /* blocks 0: follows from the rate; `counting` is valid either way */
    bool fixed;               /* does not grow: layer 0 has all of p */
    bool window;              /* old lines are forgotten */
    uint64_t forget;          /* window by time: milliseconds; 0: window of `capacity` lines */
    bool staged;              /* large layers have a stage: a file, no window, no counting */
    bool in_memory;           /* no file: space that is never touched costs nothing */
};

/* Layers of more than 512 MiB have a stage. With fewer pages it would be emptied more often, which
 * writes more in all. For tests, the Makefile builds a program where small layers use one, too. */
#ifndef STAGE_FROM_PAGES
#define STAGE_FROM_PAGES 131072
#define STAGE_PAGES(pages) ((pages) / 8)
#define STAGE_OF_MEMORY 10
#endif

/* The pages for the stage of a layer of `pages`; 0: none. */
uint64_t growth_stage_pages(const struct filter_plan *plan, uint64_t pages);

/* Whether its stage makes a layer of `pages` faster on a machine with `memory` pages of memory. The
 * system lets about a tenth of memory be dirty; in a layer that fits into this, setting keys at
 * once takes a third of the time. */
bool growth_uses_stage(uint64_t pages, uint64_t memory);

/* The full generations of a window; one more is filling. */
enum { GENERATIONS = 4 };

/* How many of a window's lines, or how much of its time, one generation takes. */
static inline uint64_t growth_generation(uint64_t window)
{
    return (window - 1) / GENERATIONS + 1;
}

/* Keys that other writers can have in flight at least: shared.h has 128 slots of 8 keys or more. In
 * larger layers growth.c adds to it. */
enum { GROWTH_IN_FLIGHT = 1024 };

/* A window's layers that are made for at most half as many keys hold two generations. A flush, of
 * about 5 ms, takes as long as filling a larger one. */
enum { GROWTH_TWICE = 32768 };

/* Whether a generation may be filled while the one before it is in the layer, too. 30 us. */
bool growth_holds_two(const struct layer_plan *layer);

/* Pages of the first layer if no capacity was given: 1 MB in a file; in memory 0.5 MB, then
 * 56 MB. */
enum { GROWTH_FILE_PAGES = 256, GROWTH_SMALL_PAGES = 128, GROWTH_MEMORY_PAGES = 14336 };

/* How many layers a filter is made with, all by growth_first: five for a window, otherwise one. */
unsigned growth_first_layers(const struct filter_plan *plan);

/* How many keys each of the first layers is sized for; plan->capacity must be given. */
uint64_t growth_first_keys(const struct filter_plan *plan);

/* p if none was given. */
#define GROWTH_DEFAULT_RATE 1e-6

/* The rate that layer `index` may have. */
double growth_rate(const struct filter_plan *plan, unsigned index);

/* Whether a layer of that rate was added by growth, when all layers before it were full. A layer
 * that merge appended has a larger rate. */
bool growth_added(const struct filter_plan *plan, double rate);

/* What the next layer may have of a rate that is left for all further layers. */
double growth_share(double left);

/* The place in the series of a layer that is to be added as `index`, if all further layers together
 * may have `left`: further on in a merged filter, whose layers have more of p. If nothing is left,
 * p is exceeded anyway, and the place is `index`. */
unsigned growth_place(const struct filter_plan *plan, unsigned index, double left);

/* The keys that a layer of that shape has counted when it reaches that rate. */
uint64_t growth_capacity(struct geometry geometry, uint64_t pages, double rate);

/* How many distinct lines a layer of a growing filter has taken when it is full. At high rates this
 * is more than its capacity, and takes 3 ms. */
double growth_lines_when_full(const struct layer_plan *layer);

/* How many distinct lines a layer was made for: n or, in other layers that grow,
 * growth_lines_when_full. */
double growth_sized_for(const struct filter_plan *plan, const struct layer_plan *layer);

/* The geometry of layer 0. */
struct geometry growth_geometry(const struct filter_plan *plan);

/* Pages of each first layer, for `bits_per_key` bits per key; plan->capacity must be given. */
uint64_t growth_pages_of_bits(const struct filter_plan *plan, double bits_per_key);

/* Sets plan->rate to the lowest p that layers of plan->pages keep with plan->capacity keys, with
 * plan->geometry if it is given, otherwise with any; not below SIZING_RATE_MIN. Pages and capacity
 * must be given. */
void growth_find_rate(struct filter_plan *plan);

/* Plans layer 0. Returns 0, or -1 if it would be larger than SIZING_PAGES_MAX or if plan->pages
 * cannot hold even one key at that rate. plan->capacity or plan->pages must be given. */
int growth_first(const struct filter_plan *plan, struct layer_plan *layer);

/*
 * Plans layer 0 of a filter in memory, no window, without a given n or size. How this way was
 * derived, step by step:
 *
 *   1. Begin with 1 MB, as a file does, and grow. But every further layer is one more page to test
 *      per key, and saves nothing, because memory that is never touched costs nothing.
 *   2. Begin with 56 MB for 15 million lines, so that most runs never grow. But touching a page for
 *      the first time costs 5 us, and each of the first lines touches another page.
 *   3. Begin with 0.5 MB (`small`), which stays in the cache, and keep its keys. When it is full,
 *      after 10^5 lines, they are set in a layer of 56 MB, which replaces it as layer 0.
 *   4. For the default p, both capacities are constants in growth.c: computing them takes 5 ms,
 *      longer than a whole run of a few lines.
 */
int growth_in_memory(const struct filter_plan *plan, bool small, struct layer_plan *layer);

/* Plans layer `index` > 0 (growth_place) of a filter that has `pages` pages and capacity for `keys`
 * so far; at most 60 MB more than seven times what these keys need at the layer's rate. Returns
 * 0, or -1 if it would be too large. */
int growth_next(const struct filter_plan *plan, unsigned index, uint64_t pages, uint64_t keys,
                struct layer_plan *layer);

/* How a filter with a given plan will behave until it grows. */
struct forecast {
    struct filter_plan plan;
    struct layer_plan layer; /* each of the first layers */
    unsigned layers;         /* of them */
    uint64_t capacity;       /* lines at most in the window, or in the first layer */
};

/* Returns 0, or -1 where growth_first does. Takes milliseconds. */
int forecast_make(struct forecast *forecast, const struct filter_plan *plan);

/* The rate with `keys` keys, if no layer is added. A window's layers fill one after another. */
double forecast_rate(const struct forecast *forecast, double keys);

/* At capacity. */
double forecast_bits_per_key(const struct forecast *forecast);

/* The rate at capacity of a classic filter of the same size, k and cells: (1 - e^(-k/b))^k with b
 * cells per key. By libm, so it must not decide anything. */
double forecast_classic_rate(const struct forecast *forecast);

/* Whether layers can be added. */
static inline bool forecast_grows(const struct forecast *forecast)
{
    return growth_rate(&forecast->plan, forecast->layers) > 0;
}

#endif
