#include "core/growth.h"

#include <math.h>

#define SHARE_GIVEN 0.15
#define SHARE_OPEN 0.5
#define RATIO 0.8
/* Size of the filter after growing, as a multiple of a single layer for the present keys; and for
 * at least so many keys in a file of which no n was given. Not 3, as a file has other parts. */
#define SIZE_AFTER 2.15
#define SIZE_AFTER_OPEN 2.9
enum { LEAST_KEYS_OPEN = 300000 };
/* Other filters below this many pages in all (60 MB) grow eightfold. */
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

/* Layer `index`; pages 0: not known yet. */
static struct layer_plan layer_without_capacity(const struct filter_plan *plan, unsigned index,
                                                uint64_t pages)
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
    return layer_geometry(plan, growth_rate(plan, 0));
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

static uint64_t in_flight(uint64_t pages)
{
    return GROWTH_IN_FLIGHT + (pages < 512 ? 8 * pages : 4096);
}

uint64_t growth_first_keys(const struct filter_plan *plan)
{
    if (!plan->window)
        return plan->capacity;
    struct layer_plan layer = layer_without_capacity(plan, 0, plan->pages);
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

/* How many keys a layer has counted when it is full, if no n was given for it. */
static uint64_t capacity_by_rate(const struct filter_plan *plan, const struct layer_plan *layer)
{
    uint64_t keys = growth_capacity(layer->geometry, layer->pages, layer->rate);
    if (!plan->window)
        return keys;
    uint64_t others = in_flight(layer->pages);
    return keys > 2 * others ? keys - others : (keys + 1) / 2;
}

int growth_first(const struct filter_plan *plan, struct layer_plan *layer)
{
    *layer = layer_without_capacity(plan, 0, plan->pages);
    if (layer->pages == 0 && plan->fixed && !plan->window) {
        layer->pages = sizing_pages(layer->geometry, plan->capacity, layer->rate);
    } else if (layer->pages == 0) {
        /* For as many lines as it takes to remember these keys. */
        uint64_t keys = growth_first_keys(plan), lines = keys, remembered;
        do {
            layer->pages = sizing_pages(layer->geometry, lines, layer->rate);
            remembered = counted(layer, lines);
            lines += keys - remembered;
        } while (layer->pages != 0 && remembered < keys);
    }
    if (layer->pages == 0 || (!plan->window && layer->pages > SIZING_PAGES_MAX))
        return -1;
    if (plan->capacity != 0)
        layer->capacity = plan->window ? growth_generation(plan->capacity) : plan->capacity;
    else
        layer->capacity = capacity_by_rate(plan, layer);
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

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

int growth_next(const struct filter_plan *plan, unsigned index, uint64_t pages, uint64_t keys,
                struct layer_plan *layer)
{
    uint64_t wanted;
    if (plan->window) {
        /* A window by time needs several free layers at any time, so small steps waste less. */
        wanted = pages / 2 + 1;
    } else {
        struct geometry geometry = layer_geometry(plan, plan->rate);
        bool open = plan->capacity == 0 && !plan->in_memory;
        uint64_t hold = open ? larger(keys, LEAST_KEYS_OPEN) : keys;
        double total = (open ? SIZE_AFTER_OPEN : SIZE_AFTER) *
                       (double)sizing_pages(geometry, hold, plan->rate);
        wanted = total > (double)pages ? (uint64_t)(total - (double)pages) : 0;
        if (!open && pages < SMALL_PAGES)
            wanted = larger(wanted, smaller(pages * SMALL_FACTOR, SMALL_PAGES - pages));
        /* At high rates, the size that was promised is used up after a few layers; grow all the
         * same. And however many keys a damaged file claims, it grows at most eightfold. */
        uint64_t least = open ? pages / 2 : pages / 8 * 3;
        wanted = smaller(larger(wanted, least + 1), pages * SMALL_FACTOR);
    }
    *layer = layer_without_capacity(plan, index, wanted);
    /* A file of unknown origin may have any number of pages for a few keys. */
    uint64_t single = sizing_pages(layer->geometry, keys, layer->rate);
    if (single != 0)
        layer->pages = smaller(layer->pages, single * SMALL_FACTOR + SMALL_PAGES);
    if (pages > SIZING_PAGES_MAX || layer->pages > SIZING_PAGES_MAX - pages)
        return -1;
    layer->capacity = capacity_by_rate(plan, layer);
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

/* --- forecast --- */

int forecast_make(struct forecast *forecast, const struct filter_plan *plan)
{
    *forecast = (struct forecast){.plan = *plan, .layers = growth_first_layers(plan)};
    if (growth_first(plan, &forecast->layer) != 0)
        return -1;
    forecast->capacity = plan->window ? forecast->layer.capacity * forecast->layers
                                      : (uint64_t)round(growth_sized_for(plan, &forecast->layer));
    return 0;
}

double forecast_rate(const struct forecast *forecast, double keys)
{
    struct layer_plan layer = forecast->layer;
    double each = (double)layer.capacity, rate = 0, of_generation = 0;
    if (!forecast->plan.window)
        return sizing_rate(layer.geometry, layer.pages, keys);
    for (unsigned i = 0; i < forecast->layers && keys > 0; i++, keys -= each) {
        /* Full generations have one rate. */
        if (i == 0 || keys < each) {
            layer.capacity = (uint64_t)fmin(keys, each);
            of_generation = sizing_rate(layer.geometry, layer.pages,
                                        growth_lines_when_full(&layer));
        }
        rate = sizing_joint_rate(rate, of_generation);
    }
    return rate;
}

double forecast_bits_per_key(const struct forecast *forecast)
{
    return sizing_bits_per_key(forecast->layer.pages * forecast->layers,
                               (double)forecast->capacity);
}

double forecast_classic_rate(const struct forecast *forecast)
{
    struct geometry geometry = forecast->layer.geometry;
    double cells_per_key = forecast_bits_per_key(forecast) / geometry_cell_bits(geometry);
    unsigned hashes = geometry_hashes(geometry);
    return pow(-expm1(-(double)hashes / cells_per_key), hashes);
}
