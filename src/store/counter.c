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
 * Mostly the first four pages tell that nothing is wrong. Which ones they are is chance: a counter
 * that is too low by so little that they miss it is found by one of the next runs.
 *
 * Keys do not fall evenly if somebody chooses lines for pages. A few thousand of them on pages that
 * can be foretold would make a layer look full, again and again, and the file ever larger. So it is
 * the median of the pages that tells: who wants to change that has to fill half of all pages.
 */
#include "store/counter.h"

#include "core/estimate.h"
#include "store/generation.h"
#include "store/internal.h"
#include "store/stage.h"
#include "system/random.h"
#include "system/whole.h"

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

static uint64_t sample_size(const struct region *region)
{
    return region->bits.pages < SAMPLE_PAGES ? region->bits.pages : SAMPLE_PAGES;
}

/* Where the part of a layer begins that page i of the sample is of. In steps of 5/16: the first
 * four lie apart, and all sixteen cover the layer. */
static uint64_t begin_of(const struct region *region, uint64_t i)
{
    uint64_t all = region->bits.pages;
    return all < SAMPLE_PAGES ? i : all * (i * 5 % SAMPLE_PAGES) / SAMPLE_PAGES;
}

/* Any page of that part. */
static uint64_t draw_page(const struct region *region, uint64_t i)
{
    uint64_t part = region->bits.pages / SAMPLE_PAGES;
    return begin_of(region, i) + (part > 1 ? random_word() % part : 0);
}

/* Pages of a file are read, not looked at in the map: there a page costs a fault, which maps its
 * neighbours too. Returns whether it could be read. */
static bool read_page(const struct store *store, const struct region *region, uint64_t number,
                      uint8_t page[PAGE_BYTES])
{
    if (store->file.fd >= 0)
        return whole_read_at(store->file.fd, page, PAGE_BYTES, page_at(region, number)) ==
               PAGE_BYTES;
    memcpy(page, region->bits.bytes + number * PAGE_BYTES, PAGE_BYTES);
    return true;
}

/* The keys of page i of the sample; below 0 if it cannot be read. */
static double keys_of(const struct store *store, const struct region *region, uint64_t i)
{
    _Alignas(LINE_BYTES) uint8_t page[PAGE_BYTES];
    struct estimate estimate;
    if (!read_page(store, region, draw_page(region, i), page))
        return -1;
    estimate_start(&estimate, region->bits.geometry);
    estimate_add_keys(&estimate, page, 1);
    return estimate_keys(&estimate);
}

/* `keys`: of so many pages; `spread`: their deviation, if that of a sum is 1. */
static struct sample scale_up(double keys, uint64_t pages, double spread,
                              const struct region *region)
{
    double scale = (double)region->bits.pages / (double)pages;
    return (struct sample){scale * keys, scale * spread * sqrt(keys + 1)};
}

static int by_size(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* By the median, whose deviation is that of the mean times the root of pi/2. */
static struct sample of_median(const struct region *region, double *keys, uint64_t pages)
{
    qsort(keys, pages, sizeof *keys, by_size);
    double median = (keys[(pages - 1) / 2] + keys[pages / 2]) / 2;
    return scale_up(median * (double)pages, pages, 1.2533, region);
}

/* Tells no keys if a page cannot be read: nothing is known. */
static struct sample sample_region(const struct store *store, const struct region *region,
                                   uint64_t counted)
{
    double keys[SAMPLE_PAGES] = {0}, sum = 0;
    uint64_t pages = sample_size(region);
    for (uint64_t i = 0; i < pages; i++) {
        keys[i] = keys_of(store, region, i);
        if (keys[i] < 0)
            return (struct sample){0, 0};
        sum += keys[i];
        if (i + 1 != FIRST_PAGES)
            continue;
        struct sample first = scale_up(sum, FIRST_PAGES, 1, region);
        if (!is_behind(counted, first, 2))
            return first;
    }
    struct sample sample = of_median(region, keys, pages);
    /* The bits tell of lines that came, a counter has those that did not look seen. That takes half
     * a millisecond, and near p = 0.5 makes the difference. */
    if (is_behind(counted, sample, 6))
        sample.keys = sizing_remembered(region->bits.geometry, region->bits.pages, sample.keys);
    return sample;
}

/* The rate of a layer, as its sample tells. */
static double sampled_rate(const struct store *store, const struct region *region)
{
    _Alignas(LINE_BYTES) uint8_t page[PAGE_BYTES];
    struct estimate estimate;
    estimate_start(&estimate, region->bits.geometry);
    for (uint64_t i = 0; i < sample_size(region); i++)
        if (read_page(store, region, begin_of(region, i), page))
            estimate_add(&estimate, page, 1);
    return estimate_rate(&estimate);
}

/* How many distinct lines came to a region, if so many were counted: those that looked seen were
 * not. */
static double lines_of(const struct store *store, const struct region *region)
{
    const double makes_a_difference = 0.001;
    struct geometry geometry = region->bits.geometry;
    uint64_t pages = region->bits.pages;
    double counted = (double)region_keys(store, region);
    return sizing_rate(geometry, pages, counted) < makes_a_difference
               ? counted
               : sizing_lines(geometry, pages, counted);
}

static double counted_rate(const struct store *store, const struct region *region)
{
    return sizing_rate(region->bits.geometry, region->bits.pages, lines_of(store, region));
}

/* That a new line looks seen in any layer that has not expired, by a function for one region. */
static double rate_of_all(const struct store *store,
                          double (*rate)(const struct store *store, const struct region *region))
{
    double missed = 1;
    uint64_t now = generation_now(store);
    for (unsigned i = 0; i < store->count; i++) {
        const struct layer *layer = &store->layers[i];
        if (has_stage(layer))
            missed *= 1 - rate(store, &layer->stage);
        if (!generation_expired(store, i, now))
            missed *= 1 - rate(store, &layer->region);
    }
    return 1 - missed;
}

double counter_rate(const struct store *store)
{
    return rate_of_all(store, counted_rate);
}

double counter_lines(const struct store *store)
{
    double lines = 0;
    for (unsigned i = 0; i < store->count; i++)
        lines += lines_of(store, &store->layers[i].region);
    return lines;
}

double counter_sampled_rate(const struct store *store)
{
    return rate_of_all(store, sampled_rate);
}

static bool may_mend(const struct store *store, unsigned layer, const struct region *region)
{
    /* What is being emptied will be counted anew. */
    if (stage_is_emptying(store))
        return false;
    return region_keys(store, region) < region->plan.capacity &&
           !(is_window(store) && generation_of(store, layer).retired);
}

/* The keys that a region can have by the counters. Some of a stage's may be in its layer already,
 * which counts them when the stage is emptied: those that came again (delivery/claim.c). */
static uint64_t accounted(const struct store *store, unsigned layer, const struct region *region)
{
    return region_keys(store, region) + (is_stage(region) ? 0 : stage_keys(store, layer));
}

/* The disk is read without the lock, which others wait for. Meanwhile they may have mended the
 * counter, or begun a new one. A lock that cannot be had leaves a hint as it was. */
static void mend(struct store *store, unsigned layer, const struct region *region)
{
    struct fault ignored;
    uint64_t counted = accounted(store, layer, region);
    if (!may_mend(store, layer, region))
        return;
    struct sample sample = sample_region(store, region, counted);
    if (!is_behind(counted, sample, 6) || store_lock(store, &ignored) != 0)
        return;
    uint64_t now = accounted(store, layer, region);
    if (now >= counted && may_mend(store, layer, region) && is_behind(now, sample, 6))
        put64(store, region->keys_at, (uint64_t)sample.keys);
    store_unlock(store);
}

void counter_mend(struct store *store)
{
    for (unsigned i = 0; i < store->count; i++) {
        const struct layer *layer = &store->layers[i];
        if (has_stage(layer))
            mend(store, i, &layer->stage);
        mend(store, i, &layer->region);
    }
}
