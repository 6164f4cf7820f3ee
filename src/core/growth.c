/* growth - see growth.h. */
#include "core/growth.h"

#define SHARE_GIVEN 0.15
#define SHARE_OPEN 0.5
#define RATIO 0.8
/* Total size after growing, in sizes of a single layer for the present keys. */
#define SIZE_AFTER 2.15
/* Below this many pages in all (60 MB) a filter grows eightfold. */
enum { SMALL_PAGES = 15360, SMALL_FACTOR = 7 };

double growth_rate(const struct filter_plan *plan, unsigned index)
{
    if (plan->fixed)
        return plan->rate;
    double share = plan->capacity != 0 ? SHARE_GIVEN : SHARE_OPEN;
    if (index == 0)
        return plan->rate * (1 - share);
    double rate = plan->rate * share * (1 - RATIO);
    while (--index > 0)
        rate *= RATIO;
    return rate;
}

/* The geometry of a layer: as asked for the whole filter, or the best for its own rate. */
static struct geometry layer_geometry(const struct filter_plan *plan, double rate)
{
    return plan->geometry.lines != 0 ? plan->geometry : sizing_geometry(rate);
}

#define RATE_LOW 1e-2

/* The keys that a layer made for so many lines counts. */
static uint64_t counted(const struct layer_plan *layer, uint64_t lines)
{
    if (layer->rate <= RATE_LOW)
        return lines;
    double keys = sizing_remembered(layer->geometry, layer->pages, (double)lines);
    return keys < 1 ? lines : (uint64_t)keys;
}

int growth_first(const struct filter_plan *plan, struct layer_plan *layer)
{
    layer->rate = growth_rate(plan, 0);
    layer->geometry = layer_geometry(plan, layer->rate);
    layer->pages = plan->pages != 0 ? plan->pages
                                    : sizing_pages(layer->geometry, plan->capacity, layer->rate);
    if (layer->pages == 0 || layer->pages > SIZING_PAGES_MAX)
        return -1;
    layer->capacity = plan->capacity != 0
                          ? plan->capacity
                          : sizing_capacity(layer->geometry, layer->pages, layer->rate);
    if (!plan->fixed)
        layer->capacity = counted(layer, layer->capacity);
    return layer->capacity != 0 ? 0 : -1;
}

static uint64_t pages_wanted(const struct filter_plan *plan, uint64_t pages, uint64_t keys)
{
    struct geometry geometry = layer_geometry(plan, plan->rate);
    uint64_t single = sizing_pages(geometry, keys, plan->rate);
    double total = SIZE_AFTER * (double)single;
    uint64_t wanted = total > (double)pages ? (uint64_t)(total - (double)pages) : 0;
    if (pages < SMALL_PAGES) {
        uint64_t small = pages * SMALL_FACTOR;
        if (pages + small > SMALL_PAGES)
            small = SMALL_PAGES - pages;
        if (wanted < small)
            wanted = small;
    }
    /* High rates leave no room under the promise after a few layers; go on all the same. */
    uint64_t least = pages / 8 * 3 + 1;
    return wanted < least ? least : wanted;
}

int growth_next(const struct filter_plan *plan, unsigned index, uint64_t pages, uint64_t keys,
                struct layer_plan *layer)
{
    layer->rate = growth_rate(plan, index);
    layer->geometry = layer_geometry(plan, layer->rate);
    layer->pages = pages_wanted(plan, pages, keys);
    if (pages > SIZING_PAGES_MAX || layer->pages > SIZING_PAGES_MAX - pages)
        return -1;
    layer->capacity = counted(layer, sizing_capacity(layer->geometry, layer->pages, layer->rate));
    return layer->capacity != 0 ? 0 : -1;
}
