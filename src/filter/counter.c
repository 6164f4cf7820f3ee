/*
 * counter - see counter.h.
 *
 * Counters say when a layer is full. After a power cut they may be older than the bits, and in a
 * copy made while the filter was in use too; then a layer would be filled above its rate. So
 * whoever opens a filter for writing looks at a few pages: keys fall on pages evenly, and 16 pages
 * tell of the whole to a few percent. A counter that is too low by more than chance allows (six
 * standard deviations, and a twentieth) is set to what they tell; never backwards, since growing
 * early is harmless.
 *
 * Mostly the first four pages tell that nothing is wrong, in a fifth of a millisecond less. Which
 * ones they are is chance: a counter that is too low by so little that they miss it is found by one
 * of the next runs.
 *
 * Keys do not fall evenly if somebody chooses lines for pages. A few thousand of them on pages that
 * can be foretold would make a layer look full, again and again, and the file ever larger. So it is
 * the median of the pages that tells: who wants to change that has to fill half of all pages.
 */
#include "filter/counter.h"

#include "core/estimate.h"
#include "filter/generation.h"
#include "filter/internal.h"
#include "system/io.h"
#include "system/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_PAGES = 16, FIRST_PAGES = 4 };

/* What a sample of a layer's pages tells. */
struct sample {
    double keys, deviation; /* of the whole layer */
};

static bool is_behind(uint64_t counted, struct sample sample, double deviations)
{
    return sample.keys > (double)counted * 1.05 + deviations * sample.deviation;
}

/* The keys of a page; below 0 if it cannot be read. It is not looked at in the map: there a page
 * costs a fault, which maps its neighbours too. */
static double keys_of(const struct store *store, const struct layer *layer, uint64_t number)
{
    _Alignas(BLOCK_BYTES) uint8_t page[PAGE_BYTES];
    struct estimate estimate;
    if (io_read_at(store->file.fd, page, PAGE_BYTES, page_at(layer, number)) != PAGE_BYTES)
        return -1;
    estimate_start(&estimate, layer->bits.geometry);
    estimate_add_keys(&estimate, page, 1);
    return estimate_keys(&estimate);
}

/* Of a layer of so many pages. `spread`: the deviation of `n` pages' keys, if that of their sum is
 * 1. */
static struct sample scale_up(uint64_t pages, double keys, uint64_t n, double spread)
{
    double scale = (double)pages / (double)n;
    return (struct sample){scale * keys, scale * spread * sqrt(keys + 1)};
}

static int by_size(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* By the median, whose deviation is that of the mean times the root of pi/2. Tells no keys if a
 * page cannot be read: nothing is known. */
static struct sample sample_layer(const struct store *store, const struct layer *layer,
                                  uint64_t counted)
{
    double keys[SAMPLE_PAGES] = {0}, sum = 0;
    uint64_t pages = layer->bits.pages, n = pages < SAMPLE_PAGES ? pages : SAMPLE_PAGES;
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = keys_of(store, layer, pages > SAMPLE_PAGES ? random_word() % pages : i);
        if (keys[i] < 0)
            return (struct sample){0, 0};
        sum += keys[i];
        struct sample first = scale_up(pages, sum, i + 1, 1);
        if (i + 1 == FIRST_PAGES && !is_behind(counted, first, 2))
            return first;
    }
    qsort(keys, n, sizeof *keys, by_size);
    double median = (keys[(n - 1) / 2] + keys[n / 2]) / 2;
    return scale_up(pages, median * (double)n, n, 1.2533);
}

/* How many distinct lines came to a layer, if so many were counted: those that looked seen were
 * not. */
static double lines_of(const struct store *store, const struct layer *layer)
{
    const double makes_a_difference = 0.001;
    struct geometry geometry = layer->bits.geometry;
    uint64_t pages = layer->bits.pages;
    double counted = (double)layer_keys(store, layer);
    return sizing_rate(geometry, pages, counted) < makes_a_difference
               ? counted
               : sizing_lines(geometry, pages, counted);
}

static double counted_rate(const struct store *store, const struct layer *layer)
{
    return sizing_rate(layer->bits.geometry, layer->bits.pages, lines_of(store, layer));
}

double counter_rate(const struct store *store)
{
    double missed = 1;
    uint64_t now = generation_now(store);
    for (unsigned i = 0; i < store->count; i++)
        if (!generation_expired(store, i, now))
            missed *= 1 - counted_rate(store, &store->layers[i]);
    return 1 - missed;
}

double counter_lines(const struct store *store)
{
    double lines = 0;
    for (unsigned i = 0; i < store->count; i++)
        lines += lines_of(store, &store->layers[i]);
    return lines;
}

static bool may_repair(const struct store *store, unsigned i)
{
    const struct layer *layer = &store->layers[i];
    return layer_keys(store, layer) < layer->plan.capacity && !layer_is_empty(store, layer) &&
           !(is_window(store) && generation_of(store, i).retired);
}

/* The disk is read without the lock, which others wait for. Meanwhile they may have mended the
 * counter, or begun a new one. A lock that cannot be had leaves a hint as it was. */
static void repair(struct store *store, unsigned i)
{
    struct fault ignored;
    const struct layer *layer = &store->layers[i];
    uint64_t counted = layer_keys(store, layer);
    if (!may_repair(store, i))
        return;
    struct sample sample = sample_layer(store, layer, counted);
    if (!is_behind(counted, sample, 6))
        return;
    /* The bits tell of lines that came, a counter has those that did not look seen. That takes half
     * a millisecond, and near p = 0.5 makes the difference. */
    sample.keys = sizing_remembered(layer->bits.geometry, layer->bits.pages, sample.keys);
    if (!is_behind(counted, sample, 6) || store_lock(store, &ignored) != 0)
        return;
    uint64_t now = layer_keys(store, layer);
    if (now >= counted && may_repair(store, i) && is_behind(now, sample, 6))
        put64(store, layer->state_at + LAYER_KEYS, (uint64_t)sample.keys);
    store_unlock(store);
}

void counter_repair(struct store *store)
{
    for (unsigned i = 0; i < store->count; i++)
        repair(store, i);
}
