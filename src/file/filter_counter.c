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

void filter_mend_counters(struct filter *filter)
{
    for (unsigned i = 0; i < filter->count; i++) {
        const struct layer *layer = &filter->layers[i];
        uint64_t counted = get64(filter, keys_at(i));
        /* What a window is emptying will be counted anew. */
        if (counted >= layer->plan.capacity ||
            (filter_is_window(filter) && filter_generation(filter, i).retired))
            continue;
        double deviation = 0;
        double keys = sampled_keys(filter, layer, &deviation);
        if (keys > (double)counted * 1.05 + 6 * deviation)
            put64(filter, keys_at(i), (uint64_t)keys);
    }
}
