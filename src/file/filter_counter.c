/*
 * filter_counter - are the counted keys of a layer about those that its bits tell of?
 *
 * Counters say when a layer is full. After a power cut they may be older than the bits, and in a
 * copy made while the filter was in use too; then a layer would be filled above its rate. So whoever
 * opens a filter for writing looks at a few pages: keys fall on pages evenly, and 16 pages tell of
 * the whole to a percent. A counter that is behind by more than chance allows (six standard
 * deviations, and a twentieth) is set to what they tell; never backwards, since growing early is
 * harmless.
 */
#include "file/filter_internal.h"

#include "core/estimate.h"
#include "file/lock.h"
#include "io/whole.h"

#include <math.h>

enum { SAMPLE_PAGES = 16 };

/* Read, not looked at in the map: there a page costs a fault, which maps its neighbours too and is
 * paid for again at the end; sixteen of them are a twentieth of a run of one line. Returns 0 if a
 * page cannot be read: then nothing is known. */
static double sampled_keys(const struct filter *filter, const struct layer *layer,
                           double *deviation)
{
    struct estimate estimate;
    uint64_t all = layer->bits.pages;
    uint64_t pages = all < SAMPLE_PAGES ? all : SAMPLE_PAGES;
    uint64_t start = layer->end - all * PAGE_BYTES;
    estimate_start(&estimate, layer->bits.geometry);
    for (uint64_t i = 0; i < pages; i++) {
        _Alignas(LINE_BYTES) uint8_t page[PAGE_BYTES];
        uint64_t at = start + all * i / pages * PAGE_BYTES;
        if (whole_read_at(filter->fd, page, sizeof page, at) < sizeof page)
            return 0;
        estimate_add(&estimate, page, 1);
    }
    double scale = (double)all / (double)pages;
    *deviation = scale * sqrt(estimate_keys(&estimate) + 1);
    return scale * estimate_keys(&estimate);
}

static bool may_mend(const struct filter *filter, unsigned layer)
{
    /* What a window is emptying will be counted anew. */
    return get64(filter, keys_at(layer)) < filter->layers[layer].plan.capacity &&
           !(filter_is_window(filter) && filter_generation(filter, layer).retired);
}

static bool is_behind(uint64_t counted, double keys, double deviation)
{
    return keys > (double)counted * 1.05 + 6 * deviation;
}

/* The disk is read without the lock, which others wait for. Meanwhile they may have mended the
 * counter, or begun a new one. A lock that cannot be had leaves a hint as it was. */
void filter_mend_counters(struct filter *filter)
{
    struct fault ignored;
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t counted = get64(filter, keys_at(i));
        double deviation = 0;
        if (!may_mend(filter, i))
            continue;
        double keys = sampled_keys(filter, &filter->layers[i], &deviation);
        if (!is_behind(counted, keys, deviation) ||
            filter_take_lock(filter, LOCK_CHANGE, &ignored) != 0)
            continue;
        uint64_t now = get64(filter, keys_at(i));
        if (now >= counted && may_mend(filter, i) && is_behind(now, keys, deviation))
            put64(filter, keys_at(i), (uint64_t)keys);
        lock_drop(filter->fd, LOCK_CHANGE);
    }
}
