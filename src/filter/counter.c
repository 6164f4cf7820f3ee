/*
 * counter - see counter.h.
 *
 * A counter decides when its layer is full. After a power cut, or in a copy made while the filter
 * was in use, a counter may be older than the bits; then the layer would be filled above its rate.
 * So opening a filter for writing samples a few pages. Keys fall on pages evenly, and 16 pages give
 * the number of keys to a few percent. A counter that is too low by more than chance explains (six
 * standard deviations plus 5%) is set to the estimate.
 *
 * Growing a little early is harmless, so a counter that is too high stays. But a file of unknown
 * origin may have huge layers without a key, and say that they are full. So before a layer is
 * added, counters at least four times too high are lowered.
 *
 * Usually the first four random pages show that nothing is wrong, which saves 0.2 ms. They may miss
 * a counter that is slightly too low; a later run finds it.
 *
 * Somebody may craft lines that fall on a few pages, so that a layer looks full, again and again,
 * and the file grows. So the estimate uses the median of the pages: to change it, half of all pages
 * must be filled.
 */
#include "filter/counter.h"

#include "core/estimate.h"
#include "filter/generation.h"
#include "filter/internal.h"
#include "filter/pages.h"
#include "system/random.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLE_PAGES = 16, FIRST_PAGES = 4 };

/* An estimate from some pages of a layer. */
struct sample {
    double keys, deviation; /* of the whole layer */
};

static bool is_behind(uint64_t counted, struct sample sample, double deviations)
{
    return sample.keys > (double)counted * 1.05 + deviations * sample.deviation;
}

/* The keys of a page; below 0 if it cannot be read. */
static double keys_of(const struct filter *filter, unsigned layer, uint64_t number)
{
    _Alignas(BLOCK_BYTES) uint8_t buffer[PAGE_BYTES];
    uint16_t set[PAGE_BLOCKS];
    const uint8_t *page = pages_get(filter, layer, number, buffer);
    return page == NULL ? -1
                        : estimate_page_keys(filter->layers[layer].bits.geometry,
                                             filter->kernel->count(page, set));
}

/* Scales the keys of `n` pages to the layer. `spread`: the standard deviation of that number, as a
 * multiple of the deviation of a sum. */
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

/* By the median, whose deviation is that of the mean times sqrt(pi/2). NAN if a page cannot
 * be read. */
static struct sample sample_layer(const struct filter *filter, unsigned layer, uint64_t counted)
{
    double keys[SAMPLE_PAGES] = {0}, sum = 0;
    uint64_t pages = filter->layers[layer].bits.pages,
             n = pages < SAMPLE_PAGES ? pages : SAMPLE_PAGES;
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = keys_of(filter, layer, pages > SAMPLE_PAGES ? random_word() % pages : i);
        if (keys[i] < 0)
            return (struct sample){NAN, NAN}; /* then no comparison holds */
        sum += keys[i];
        struct sample first = scale_up(pages, sum, i + 1, 1);
        if (i + 1 == FIRST_PAGES && !is_behind(counted, first, 2))
            return first;
    }
    qsort(keys, n, sizeof *keys, by_size);
    double median = (keys[(n - 1) / 2] + keys[n / 2]) / 2;
    return scale_up(pages, median * (double)n, n, 1.2533);
}

static bool may_repair(const struct filter *filter, unsigned i)
{
    const struct layer *layer = &filter->layers[i];
    return layer_keys(filter, layer) < layer->plan.capacity && !layer_is_empty(filter, layer) &&
           !(is_window(filter) && generation_of(filter, i).retired);
}

/* Samples without the lock; meanwhile other processes may have repaired the counter, or cleared the
 * layer. If the lock cannot be had, the counter stays as it is. */
static void repair(struct filter *filter, unsigned i)
{
    struct fault ignored;
    const struct layer *layer = &filter->layers[i];
    uint64_t counted = layer_keys(filter, layer);
    if (!may_repair(filter, i))
        return;
    /* The generation before may be in the layer, too, and need not be counted (window.c). */
    uint64_t before = is_window(filter) && growth_holds_two(&layer->plan) ? layer->plan.capacity
                                                                          : 0;
    struct sample sample = sample_layer(filter, i, counted + before);
    if (!is_behind(counted + before, sample, 6))
        return;
    /* The bits tell all lines that came, the counter leaves out false drops. This takes 0.5 ms, and
     * matters near p = 0.5. */
    sample.keys = sizing_remembered(layer->bits.geometry, layer->bits.pages, sample.keys);
    if (!is_behind(counted + before, sample, 6) || filter_lock(filter, &ignored) != 0)
        return;
    uint64_t now = layer_keys(filter, layer);
    if (now >= counted && may_repair(filter, i) && is_behind(now + before, sample, 6))
        put64(filter, layer->state_at + LAYER_KEYS, (uint64_t)sample.keys);
    filter_unlock(filter);
}

bool counter_lower(struct filter *filter)
{
    struct fault ignored;
    bool lowered = false;
    for (unsigned i = 0; i < filter->count; i++) {
        const struct layer *layer = &filter->layers[i];
        /* Asked first, as others may add keys meanwhile. Then this layer stays as it is. */
        uint64_t counted = layer_keys(filter, layer);
        struct sample sample = sample_layer(filter, i, UINT64_MAX);
        /* The keys in its stage count, too; at most, all places are taken. */
        double staged = (double)layer->stage.pages * PAGE_BYTES / KEY_BYTES;
        double most = 4 * (sample.keys + 6 * sample.deviation + staged);
        if (!((double)counted > most) || filter_lock(filter, &ignored) != 0)
            continue;
        if (layer_keys(filter, layer) == counted) {
            put64(filter, layer->state_at + LAYER_KEYS, (uint64_t)sample.keys);
            lowered = true;
        }
        filter_unlock(filter);
    }
    return lowered;
}

void counter_repair(struct filter *filter)
{
    for (unsigned i = 0; i < filter->count; i++)
        repair(filter, i);
}
