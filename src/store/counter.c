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
 * Mostly the first four pages tell that nothing is wrong. Which ones they are changes with the
 * counter: one that is too low by so little that they miss it is found by one of the next runs.
 */
#include "store/counter.h"

#include "core/estimate.h"
#include "store/generation.h"
#include "store/internal.h"
#include "store/stage.h"
#include "system/whole.h"

#include <math.h>
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

/* Reads page i of the sample. Pages of a file are read, not looked at in the map: there a page
 * costs a fault, which maps its neighbours too. Returns whether it could be read. */
static bool read_page(const struct store *store, const struct region *region, uint64_t counted,
                      uint64_t i, uint8_t page[PAGE_BYTES])
{
    uint64_t all = region->bits.pages;
    /* In steps of 5/16: the first four lie apart, and all sixteen cover the layer. */
    uint64_t part = i * 5 % SAMPLE_PAGES;
    uint64_t number = all < SAMPLE_PAGES ? i : (all * part / SAMPLE_PAGES + counted) % all;
    if (store->file.fd >= 0)
        return whole_read_at(store->file.fd, page, PAGE_BYTES, page_at(region, number)) ==
               PAGE_BYTES;
    memcpy(page, region->bits.bytes + number * PAGE_BYTES, PAGE_BYTES);
    return true;
}

static struct sample scale_up(double keys, uint64_t pages, const struct region *region)
{
    double scale = (double)region->bits.pages / (double)pages;
    return (struct sample){scale * keys, scale * sqrt(keys + 1)};
}

/* Tells no keys if a page cannot be read: nothing is known. */
static struct sample sample_region(const struct store *store, const struct region *region,
                                   uint64_t counted)
{
    _Alignas(LINE_BYTES) uint8_t page[PAGE_BYTES];
    struct estimate estimate;
    uint64_t pages = sample_size(region);
    estimate_start(&estimate, region->bits.geometry);
    for (uint64_t i = 0; i < pages; i++) {
        if (!read_page(store, region, counted, i, page))
            return (struct sample){0, 0};
        estimate_add_keys(&estimate, page, 1);
        if (i + 1 != FIRST_PAGES)
            continue;
        struct sample first = scale_up(estimate_keys(&estimate), FIRST_PAGES, region);
        if (!is_behind(counted, first, 2))
            return first;
    }
    struct sample sample = scale_up(estimate_keys(&estimate), pages, region);
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
        if (read_page(store, region, 0, i, page))
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
