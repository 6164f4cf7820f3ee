#include "core/growth.h"

#include <math.h>

#define SHARE_GIVEN 0.15
#define SHARE_OPEN 0.5
#define RATIO 0.8
/* Size of the filter after growing, as a multiple of a single layer for the present keys. */
#define SIZE_AFTER 2.15
/* Below this many pages in all (60 MB) a filter grows eightfold. */
enum { SMALL_PAGES = 15360, SMALL_FACTOR = 7 };

unsigned growth_first_layers(const struct filter_plan *plan)
{
    return plan->window ? GENERATIONS + 1 : 1;
}

double growth_rate(const struct filter_plan *plan, unsigned index)
{
    unsigned first = growth_first_layers(plan);
    double share = plan->fixed || (plan->window && plan->forget == 0) ? 0
                   : plan->capacity != 0                              ? SHARE_GIVEN
                                                                      : SHARE_OPEN;
    if (index < first)
        return plan->rate * (1 - share) / first;
    double rate = plan->rate * share * (1 - RATIO);
    for (index -= first; index > 0; index--)
        rate *= RATIO;
    return rate;
}

bool growth_added(const struct filter_plan *plan, double rate)
{
    return rate <= growth_rate(plan, growth_first_layers(plan)) * (1 + 1e-9);
}

double growth_share(double left)
{
    return left * (1 - RATIO);
}

unsigned growth_place(const struct filter_plan *plan, unsigned index, double left)
{
    enum { FARTHEST = 64 };
    while (left > 0 && index < FARTHEST &&
           growth_rate(plan, index) > growth_share(left) * (1 + 1e-9))
        index++;
    return index;
}

/* The geometry that was given for the filter, or the best for the layer's own rate. */
static struct geometry layer_geometry(const struct filter_plan *plan, double rate)
{
    return plan->geometry.blocks != 0 ? plan->geometry
                                      : sizing_geometry(rate, plan->geometry.counting);
}

uint64_t growth_stage_pages(const struct filter_plan *plan, uint64_t pages)
{
    bool sized = plan->fixed && plan->pages != 0;
    return plan->staged && !sized && pages > STAGE_FROM_PAGES ? STAGE_PAGES(pages) : 0;
}

bool growth_uses_stage(uint64_t pages, uint64_t memory)
{
    return pages > memory / STAGE_OF_MEMORY;
}

/* Layer `index` without its capacity. pages 0: not known yet. */
static struct layer_plan empty_layer(const struct filter_plan *plan, unsigned index, uint64_t pages)
{
    double rate = growth_rate(plan, index);
    return (struct layer_plan){
        .pages = pages,
        .rate = rate,
        .geometry = layer_geometry(plan, rate),
    };
}

struct geometry growth_geometry(const struct filter_plan *plan)
{
    return empty_layer(plan, 0, plan->pages).geometry;
}

#define RATE_LOW 1e-2

/* How many keys a layer has counted after `lines` distinct lines. */
static uint64_t counted(const struct layer_plan *layer, uint64_t lines)
{
    if (layer->rate <= RATE_LOW)
        return lines;
    double keys = sizing_remembered(layer->geometry, layer->pages, (double)lines);
    return keys < 1 ? lines : (uint64_t)keys;
}

uint64_t growth_capacity(struct geometry geometry, uint64_t pages, double rate)
{
    struct layer_plan layer = {.pages = pages, .rate = rate, .geometry = geometry};
    return counted(&layer, sizing_capacity(geometry, pages, rate));
}

double growth_lines_when_full(const struct layer_plan *layer)
{
    double keys = (double)layer->capacity;
    return layer->rate <= RATE_LOW ? keys : sizing_lines(layer->geometry, layer->pages, keys);
}

double growth_sized_for(const struct filter_plan *plan, const struct layer_plan *layer)
{
    bool as_asked = !plan->window && layer->capacity == plan->capacity;
    return plan->fixed || as_asked ? (double)layer->capacity : growth_lines_when_full(layer);
}

/* The pages of a layer for as many lines as it takes to remember `keys`; 0 if they are too many. */
static uint64_t pages_to_remember(struct layer_plan layer, uint64_t keys)
{
    for (uint64_t lines = keys;;) {
        layer.pages = sizing_pages(layer.geometry, lines, layer.rate);
        uint64_t remembered = counted(&layer, lines);
        if (layer.pages == 0 || remembered >= keys)
            return layer.pages;
        lines += keys - remembered;
    }
}

static uint64_t in_flight(uint64_t pages)
{
    return GROWTH_IN_FLIGHT + (pages < 512 ? 8 * pages : 4096);
}

uint64_t growth_first_keys(const struct filter_plan *plan)
{
    if (!plan->window)
        return plan->capacity;
    struct layer_plan layer = empty_layer(plan, 0, plan->pages);
    uint64_t keys = growth_generation(plan->capacity);
    if (layer.pages == 0)
        layer.pages = sizing_pages(layer.geometry, keys, layer.rate);
    uint64_t twice = keys < GROWTH_TWICE / 2 ? 2 * keys : GROWTH_TWICE;
    keys += in_flight(layer.pages);
    return keys > twice || plan->pages != 0 || plan->forget != 0 ? keys : twice;
}

bool growth_holds_two(const struct layer_plan *layer)
{
    return layer->capacity <= GROWTH_TWICE / 2 &&
           sizing_rate(layer->geometry, layer->pages, 2.0 * (double)layer->capacity) <= layer->rate;
}

/* How many keys a layer of a window by time has counted when it is full. */
static uint64_t window_capacity(const struct layer_plan *layer)
{
    uint64_t keys = growth_capacity(layer->geometry, layer->pages, layer->rate);
    uint64_t more = in_flight(layer->pages);
    return keys > 2 * more ? keys - more : (keys + 1) / 2;
}

static int first_of_window(const struct filter_plan *plan, struct layer_plan *layer)
{
    if (layer->pages == 0)
        layer->pages = pages_to_remember(*layer, growth_first_keys(plan));
    layer->capacity = plan->capacity != 0 ? growth_generation(plan->capacity)
                                          : window_capacity(layer);
    return layer->pages != 0 && layer->capacity != 0 ? 0 : -1;
}

int growth_first(const struct filter_plan *plan, struct layer_plan *layer)
{
    *layer = empty_layer(plan, 0, plan->pages);
    if (plan->window)
        return first_of_window(plan, layer);
    if (layer->pages == 0)
        layer->pages = plan->fixed ? sizing_pages(layer->geometry, plan->capacity, layer->rate)
                                   : pages_to_remember(*layer, plan->capacity);
    if (layer->pages == 0 || layer->pages > SIZING_PAGES_MAX)
        return -1;
    layer->capacity = plan->capacity != 0
                          ? plan->capacity
                          : growth_capacity(layer->geometry, layer->pages, layer->rate);
    layer->stage = growth_stage_pages(plan, layer->pages);
    return layer->capacity != 0 ? 0 : -1;
}

int growth_in_memory(const struct filter_plan *plan, bool small, struct layer_plan *layer)
{
    *layer = (struct layer_plan){
        .pages = small ? GROWTH_SMALL_PAGES : GROWTH_MEMORY_PAGES,
        .capacity = small ? 132959 : 14890708, /* test_growth computes both again */
        .rate = growth_rate(plan, 0),
        .geometry = {3, 7, false},
    };
    if (plan->rate == GROWTH_DEFAULT_RATE && plan->geometry.blocks == 0 && !plan->geometry.counting)
        return 0;
    layer->geometry = layer_geometry(plan, layer->rate);
    layer->capacity = growth_capacity(layer->geometry, layer->pages, layer->rate);
    return layer->capacity != 0 ? 0 : -1;
}

static uint64_t pages_wanted(const struct filter_plan *plan, uint64_t pages, uint64_t keys)
{
    /* A window by time needs several free layers at any time, so small steps waste less. */
    if (plan->window)
        return pages / 2 + 1;
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
    /* At high rates, the size that was promised is used up after a few layers; grow all the same.
     * And however many keys a damaged file claims, it grows at most eightfold. */
    uint64_t least = pages / 8 * 3 + 1, most = pages * SMALL_FACTOR;
    if (wanted < least)
        wanted = least;
    return wanted < most ? wanted : most;
}

int growth_next(const struct filter_plan *plan, unsigned index, uint64_t pages, uint64_t keys,
                struct layer_plan *layer)
{
    *layer = empty_layer(plan, index, pages_wanted(plan, pages, keys));
    /* A file of unknown origin may have any number of pages for a few keys. */
    uint64_t single = sizing_pages(layer->geometry, keys, layer->rate);
    uint64_t most = single * SMALL_FACTOR + SMALL_PAGES;
    if (single != 0 && layer->pages > most)
        layer->pages = most;
    if (pages > SIZING_PAGES_MAX || layer->pages > SIZING_PAGES_MAX - pages)
        return -1;
    layer->capacity = plan->window ? window_capacity(layer)
                                   : growth_capacity(layer->geometry, layer->pages, layer->rate);
    layer->stage = growth_stage_pages(plan, layer->pages);
    return layer->capacity != 0 ? 0 : -1;
}

uint64_t growth_pages_of_bits(const struct filter_plan *plan, double bits_per_key)
{
    double bits = bits_per_key * (double)plan->capacity / growth_first_layers(plan);
    return (uint64_t)ceil(bits / PAGE_BITS);
}

void growth_find_rate(struct filter_plan *plan)
{
    double best = HUGE_VAL;
    double keys = (double)growth_first_keys(plan);
    for (unsigned blocks = 1; blocks <= BLOCKS_MAX; blocks++)
        for (unsigned fields = 1; fields <= FIELDS_MAX; fields++) {
            struct geometry geometry = {(uint8_t)blocks, (uint8_t)fields, plan->geometry.counting};
            if (plan->geometry.blocks != 0 &&
                (blocks != plan->geometry.blocks || fields != plan->geometry.fields))
                continue;
            double rate = sizing_rate(geometry, plan->pages, keys);
            /* A further block has to be worth its cache miss. */
            if (rate < best * 0.8)
                best = rate;
        }
    struct filter_plan unit = *plan;
    unit.rate = 1;
    double share = SIZING_MARGIN * growth_rate(&unit, 0);
    plan->rate = fmax(best / share, SIZING_RATE_MIN);
    /* The layer gets the geometry for its rate, which need not be the best one for its size. If it
     * is not, p is the rate which that geometry gives. */
    for (unsigned round = 0; plan->geometry.blocks == 0 && round < 8; round++) {
        struct geometry geometry = growth_geometry(plan);
        double rate = sizing_rate(geometry, plan->pages, keys) / share;
        if (rate <= plan->rate)
            break;
        plan->rate = rate;
    }
}
