/*
 * filter_counter - are the counted keys of a layer about those that its bits tell of?
 *
 * Counters say when a layer is full. After a power cut they may be older than the bits, and in a
 * copy made while the filter was in use too; then a layer would be filled above its rate. So whoever
 * opens a filter for writing looks at a few pages: keys fall on pages evenly, and 16 pages tell of
 * the whole to a few percent. A counter that is behind by more than chance allows (six standard
 * deviations, and a twentieth) is set to what they tell; never backwards, since growing early is
 * harmless.
 *
 * Mostly the first four pages tell that nothing is wrong. Which ones they are changes with the
 * counter: one that is behind by so little that they miss it is found by one of the next runs.
 */
#include "store/internal.h"

#include "core/estimate.h"
#include "system/lock.h"
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

static uint64_t sample_size(const struct layer *layer)
{
    return layer->bits.pages < SAMPLE_PAGES ? layer->bits.pages : SAMPLE_PAGES;
}

/* Reads page i of the sample. Pages of a file are read, not looked at in the map: there a page costs a
 * fault, which maps its neighbours too and is paid for again at the end. Returns whether it could be read. */
static bool read_page(const struct filter *filter, const struct layer *layer, uint64_t counted,
                      uint64_t i, uint8_t page[PAGE_BYTES])
{
    uint64_t all = layer->bits.pages;
    /* In steps of 5/16: the first four lie apart, and all sixteen cover the layer. */
    uint64_t part = i * 5 % SAMPLE_PAGES;
    uint64_t number = all < SAMPLE_PAGES ? i : (all * part / SAMPLE_PAGES + counted) % all;
    if (filter->fd >= 0)
        return whole_read_at(filter->fd, page, PAGE_BYTES, page_at(layer, number)) == PAGE_BYTES;
    memcpy(page, layer->bits.bytes + number * PAGE_BYTES, PAGE_BYTES);
    return true;
}

static struct sample scale_up(double keys, uint64_t pages, const struct layer *layer)
{
    double scale = (double)layer->bits.pages / (double)pages;
    return (struct sample){scale * keys, scale * sqrt(keys + 1)};
}

/* Tells no keys if a page cannot be read: nothing is known. */
static struct sample sample_layer(const struct filter *filter, const struct layer *layer,
                                  uint64_t counted)
{
    _Alignas(LINE_BYTES) uint8_t page[PAGE_BYTES];
    struct estimate estimate;
    uint64_t pages = sample_size(layer);
    estimate_start(&estimate, layer->bits.geometry);
    for (uint64_t i = 0; i < pages; i++) {
        if (!read_page(filter, layer, counted, i, page))
            return (struct sample){0, 0};
        estimate_add_keys(&estimate, page, 1);
        if (i + 1 != FIRST_PAGES)
            continue;
        struct sample most = scale_up(estimate_keys_most(&estimate), FIRST_PAGES, layer);
        if (!is_behind(counted, most, 2))
            return most;
    }
    struct sample sample = scale_up(estimate_keys(&estimate), pages, layer);
    /* The bits tell of lines that came, a counter has those that did not look seen. That takes half a
     * millisecond, and near p = 0.5 makes the difference. */
    if (is_behind(counted, sample, 6))
        sample.keys = sizing_remembered(layer->bits.geometry, layer->bits.pages, sample.keys);
    return sample;
}

/* The rate of a layer, as its sample tells. */
static double sampled_rate(const struct filter *filter, const struct layer *layer)
{
    _Alignas(LINE_BYTES) uint8_t page[PAGE_BYTES];
    struct estimate estimate;
    estimate_start(&estimate, layer->bits.geometry);
    for (uint64_t i = 0; i < sample_size(layer); i++)
        if (read_page(filter, layer, 0, i, page))
            estimate_add(&estimate, page, 1);
    return estimate_rate(&estimate);
}

double filter_sampled_rate(const struct filter *filter)
{
    double missed = 1;
    for (unsigned i = 0; i < filter->count; i++)
        missed *= 1 - sampled_rate(filter, &filter->layers[i]);
    return 1 - missed;
}

static bool may_mend(const struct filter *filter, unsigned layer)
{
    /* What is being emptied will be counted anew. */
    if (filter_stage_emptying(filter))
        return false;
    return get64(filter, keys_at(layer)) < filter->layers[layer].plan.capacity &&
           !(filter_is_window(filter) && filter_generation(filter, layer).retired);
}

/* The disk is read without the lock, which others wait for. Meanwhile they may have mended the
 * counter, or begun a new one. A lock that cannot be had leaves a hint as it was. */
void filter_mend_counters(struct filter *filter)
{
    struct fault ignored;
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t counted = get64(filter, keys_at(i));
        if (!may_mend(filter, i))
            continue;
        struct sample sample = sample_layer(filter, &filter->layers[i], counted);
        if (!is_behind(counted, sample, 6) || filter_take_lock(filter, LOCK_CHANGE, &ignored) != 0)
            continue;
        uint64_t now = get64(filter, keys_at(i));
        if (now >= counted && may_mend(filter, i) && is_behind(now, sample, 6))
            put64(filter, keys_at(i), (uint64_t)sample.keys);
        lock_drop(filter->fd, LOCK_CHANGE);
    }
}
