/* The layers of a filter that grows: their rates, sizes and limits. */
#include "core/growth.h"
#include "format/header.h"

#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* As many as the file format has room for. */
enum { LAYERS = 48 };

static const double rates[] = {0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12};
enum { RATES = sizeof rates / sizeof *rates };

/* --- rates --- */

static void check_rates(struct filter_plan plan, double first_least)
{
    double sum = 0, before = 1;
    for (unsigned i = 0; i < LAYERS; i++) {
        double rate = growth_rate(&plan, i);
        tap_check(rate > 0 && (i < 2 || rate < before), "p = %g, layer %u: %g after %g", plan.rate,
                  i, rate, before);
        sum += rate;
        before = rate;
    }
    tap_check(sum <= plan.rate, "p = %g: the sum is %g", plan.rate, sum);
    tap_check(sum > 0.99 * plan.rate, "p = %g: the sum is only %g", plan.rate, sum);
    tap_check(growth_rate(&plan, 0) >= first_least * plan.rate * (1 - 1e-9),
              "p = %g: the first layer has %g", plan.rate, growth_rate(&plan, 0));
}

/* All layers together stay under p for ever, and little of it is left unused. Where n was given the
 * first layer has 85 % of p, so that growth costs a filter that does not grow almost nothing. */
static void sum_of_rates(void)
{
    for (size_t i = 0; i < RATES; i++) {
        check_rates((struct filter_plan){.rate = rates[i]}, 0.25);
        check_rates((struct filter_plan){.rate = rates[i], .capacity = 1}, 0.85);
        check_rates((struct filter_plan){.rate = rates[i], .capacity = SIZING_KEYS_MAX}, 0.85);
        check_rates((struct filter_plan){.rate = rates[i], .capacity = 1000, .pages = 7}, 0.85);
    }
}

/* A layer of a filter that only grew is next in the series; in a merged one, it and all further
 * layers have no more than what is left, and not much less. */
static void places(void)
{
    for (size_t i = 0; i < RATES; i++) {
        const struct filter_plan plans[] = {{.rate = rates[i]},
                                            {.rate = rates[i], .capacity = 1000},
                                            {.rate = rates[i], .window = true, .forget = 1}};
        const struct filter_plan *plan = &plans[i % 3];
        double left = plan->rate;
        for (unsigned index = 0; index < LAYERS; index++) {
            if (index >= growth_first_layers(plan)) {
                unsigned place = growth_place(plan, index, left);
                tap_check(place == index, "p = %g: layer %u in place %u", plan->rate, index, place);
                place = growth_place(plan, index, left / 10);
                double all = 0;
                for (unsigned next = place; next < place + 100; next++)
                    all += growth_rate(plan, next);
                tap_check(all <= left / 10 * (1 + 1e-9) && (place == 64 || all > left / 13),
                          "p = %g, layer %u: %g for %g", plan->rate, index, all, left / 10);
                tap_check(growth_place(plan, index, 0) == index, "layer %u: above p", index);
            }
            left -= growth_rate(plan, index);
        }
    }
}

/* --- layers --- */

static void check_layer(const struct filter_plan *plan, unsigned index,
                        const struct layer_plan *layer)
{
    struct geometry geometry = plan->geometry;
    if (geometry.blocks == 0)
        geometry = sizing_geometry(layer->rate, plan->geometry.counting);
    tap_check(layer->rate == growth_rate(plan, index), "layer %u: rate %g", index, layer->rate);
    tap_check(layer->geometry.blocks == geometry.blocks &&
                  layer->geometry.fields == geometry.fields,
              "layer %u: %u x %u", index, layer->geometry.blocks, layer->geometry.fields);
    tap_check(layer->pages >= 1 && layer->pages <= SIZING_PAGES_MAX && layer->capacity >= 1,
              "layer %u: %" PRIu64 " pages, %" PRIu64 " keys", index, layer->pages,
              layer->capacity);
    tap_check(sizing_rate(layer->geometry, layer->pages, (double)layer->capacity) <= layer->rate,
              "layer %u: its rate is too high when it is full", index);
    double full = growth_lines_when_full(layer), counts = full;
    if (layer->rate > 1e-2)
        counts = sizing_remembered(layer->geometry, layer->pages, full);
    tap_check(fabs(counts - (double)layer->capacity) <= 1 &&
                  sizing_rate(layer->geometry, layer->pages, full) <= layer->rate,
              "layer %u: full with %g keys, and counts %g", index, full, counts);
    tap_check(sizing_may_hold(layer->geometry, layer->pages, layer->capacity, layer->rate),
              "layer %u: %" PRIu64 " keys pass for too many", index, layer->capacity);
}

struct grown {
    unsigned layers;
    uint64_t pages, keys;
    struct layer_plan newest;
};

/* The next layer, checked; -1 if there is none. */
static int grow(const struct filter_plan *plan, struct grown *grown)
{
    struct layer_plan *layer = &grown->newest;
    if (grown->layers == LAYERS ||
        growth_next(plan, grown->layers, grown->pages, grown->keys, layer) != 0)
        return -1;
    check_layer(plan, grown->layers, layer);
    grown->layers++;
    grown->pages += layer->pages;
    grown->keys += layer->capacity;
    return 0;
}

static struct grown start(const struct filter_plan *plan, uint64_t first_pages)
{
    struct filter_plan first = *plan;
    struct layer_plan layer = {0};
    if (first_pages != 0)
        first.pages = first_pages;
    if (tap_check(growth_first(&first, &layer) == 0, "p = %g: no first layer", plan->rate))
        check_layer(plan, 0, &layer);
    return (struct grown){1, layer.pages, layer.capacity, layer};
}

/* At its worst, a new layer just added and empty, the filter has at most `most` times the size of
 * one that was made for its keys, or 64 MB, up to 1000 times the first layer: in memory, or of
 * given n. */
static void check_size(struct filter_plan plan, uint64_t first_pages, double most)
{
    struct grown grown = start(&plan, first_pages);
    struct geometry geometry = sizing_geometry(plan.rate, false);
    uint64_t first = grown.keys, keys = grown.keys;
    while (keys <= 1000 * first) {
        if (!tap_check(grow(&plan, &grown) == 0, "p = %g: stops growing", plan.rate))
            return;
        uint64_t single = sizing_pages(geometry, keys, plan.rate);
        tap_check(grown.pages * PAGE_BYTES <= UINT64_C(64) << 20 ||
                      (double)grown.pages <= most * (double)single,
                  "p = %g: %" PRIu64 " pages for %" PRIu64 " keys, which need %" PRIu64, plan.rate,
                  grown.pages, keys, single);
        keys = grown.keys;
    }
}

/* Where a key has few bits, the bits that a layer's share of p costs are many beside them, and no
 * size of layers keeps the promise of 2.2: at 1e-2 it is at most 3.7, at 0.5 it is 19. */
static void size_after_growing(void)
{
    static const struct {
        double rate, most;
    } cases[] = {{1e-12, 2.2}, {1e-7, 2.2}, {1e-6, 2.2}, {1e-4, 2.45},
                 {1e-3, 3},    {1e-2, 3.7}, {0.1, 6.5},  {0.5, 19}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filter_plan plan = {.rate = cases[i].rate, .in_memory = true};
        check_size(plan, GROWTH_FILE_PAGES, cases[i].most);
        check_size(plan, GROWTH_MEMORY_PAGES, cases[i].most);
        plan.in_memory = false;
        for (plan.capacity = 100000000; plan.capacity > 0 && plan.rate <= 1e-6;
             plan.capacity /= 10000)
            check_size(plan, 0, cases[i].most);
    }
}

/* The bytes of a file, stages apart, that was made for n lines. */
static double bytes_of_given(struct filter_plan plan, double n)
{
    struct layer_plan layer = {.pages = 0};
    plan.capacity = (uint64_t)n;
    tap_check(growth_first(&plan, &layer) == 0, "p = %g, n = %g", plan.rate, n);
    return (double)header_file_bytes(layer.pages, &plan, 1);
}

/* A file of which no n was given has, with any number of lines from 300000 to 10^9, at most `most`
 * times the bytes of one of given n; `mean` times in the mean over their logarithms; and `far`
 * layers for 10^12. */
static void check_open(struct filter_plan plan, double most, double mean, unsigned far)
{
    const double from = 300000, to = 1e9, step = 1.1;
    struct grown grown = start(&plan, GROWTH_FILE_PAGES);
    uint64_t bytes = header_file_bytes(grown.pages, &plan, 1);
    double before = 0, worst = 0, sum = 0, n = from * sqrt(step);
    unsigned count = 0;
    while (n < to) {
        double lines = before + growth_lines_when_full(&grown.newest);
        /* The worst is a line after it has grown. */
        double least = fmax(before + 1, from);
        if (least <= lines)
            worst = fmax(worst, (double)bytes / bytes_of_given(plan, least));
        for (; n < to && n <= lines; n *= step, count++)
            sum += (double)bytes / bytes_of_given(plan, n);
        if (!tap_check(grow(&plan, &grown) == 0, "p = %g: stops growing", plan.rate))
            return;
        struct layer_record record = {.plan = grown.newest}; /* no stage */
        layer_put(&record, bytes);
        bytes = layer_end(&record);
        before = lines;
    }
    tap_check(worst <= most && sum / count <= mean, "p = %g: %g times, %g in the mean", plan.rate,
              worst, sum / count);
    while (grown.keys < SIZING_KEYS_MAX && grow(&plan, &grown) == 0)
        continue;
    tap_check(grown.layers <= far, "p = %g: %u layers", plan.rate, grown.layers);
}

/* Where a key has few bits, as above. */
static void size_of_open(void)
{
    static const struct {
        double rate, most, mean;
        unsigned far;
        bool counting;
    } cases[] = {{1e-12, 3, 2.2, 30, false},  {1e-9, 3, 2.2, 30, false},
                 {1e-6, 3, 2.2, 30, false},   {1e-6, 3, 2.2, 30, true},
                 {1e-4, 3, 2.2, 30, false},   {1e-3, 3, 2.2, 30, false},
                 {1e-2, 3, 2.2, 36, false},   {1e-2, 3.2, 2.3, 36, true},
                 {0.1, 4.7, 2.85, 40, false}, {0.5, 8.3, 4.4, 40, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filter_plan plan = {.rate = cases[i].rate};
        plan.geometry.counting = cases[i].counting;
        check_open(plan, cases[i].most, cases[i].mean, cases[i].far);
    }
}

/* Until the format has no more layers, or a layer would be larger than any may be. */
static void extremes(void)
{
    static const uint64_t capacities[] = {0, 1, SIZING_KEYS_MAX};
    static const double far_rates[] = {0.5, 1e-12};
    for (size_t i = 0; i < sizeof far_rates / sizeof *far_rates; i++)
        for (size_t j = 0; j < sizeof capacities / sizeof *capacities; j++) {
            struct filter_plan plan = {.rate = far_rates[i], .capacity = capacities[j]};
            struct grown grown = start(&plan, capacities[j] == 0 ? GROWTH_FILE_PAGES : 0);
            uint64_t pages = grown.pages, keys = grown.keys;
            while (grow(&plan, &grown) == 0) {
                tap_check(grown.pages > pages && grown.keys > keys, "a sum overflowed");
                pages = grown.pages;
                keys = grown.keys;
            }
            tap_check(grown.pages <= SIZING_PAGES_MAX, "%" PRIu64 " pages", grown.pages);
            /* Not stopped early: it holds many times more than can be asked for. */
            tap_check(grown.layers == LAYERS ? grown.keys > UINT64_C(1) << 42
                                             : grown.pages > SIZING_PAGES_MAX / 4,
                      "p = %g, n = %" PRIu64 ": %u layers, %" PRIu64 " keys", far_rates[i],
                      capacities[j], grown.layers, grown.keys);
        }
}

static void refused(void)
{
    static const struct filter_plan plans[] = {
        {.rate = 1e-12, .pages = 1, .geometry = {1, 1, false}}, /* not even one key */
        {.rate = 1e-6, .pages = SIZING_PAGES_MAX + 1},
        {.rate = 1e-12, .capacity = UINT64_C(1) << 60},
        {.rate = 1e-12, .capacity = UINT64_C(1) << 60, .window = true},
    };
    struct layer_plan layer;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        tap_check(growth_first(&plans[i], &layer) == -1, "plan %zu", i);
    for (uint64_t pages = SIZING_PAGES_MAX; pages <= SIZING_PAGES_MAX + 1; pages++)
        tap_check(growth_next(&(struct filter_plan){.rate = 1e-6}, 1, pages, SIZING_KEYS_MAX,
                              &layer) == -1,
                  "a layer behind %" PRIu64 " pages", pages);
    /* Keys that a file says it has, and cannot have, make it grow eightfold, no more. */
    for (uint64_t pages = 1; pages < 1000000; pages *= 10)
        tap_check(growth_next(&(struct filter_plan){.rate = 1e-12}, 1, pages, SIZING_KEYS_MAX,
                              &layer) == 0 &&
                      layer.pages <= 7 * pages,
                  "after %" PRIu64 " pages %" PRIu64, pages, layer.pages);
}

/* The two layers that stand in the source as numbers, and the same for other rates. */
static void memory_layers(void)
{
    static const double defaults[] = {GROWTH_DEFAULT_RATE, GROWTH_DEFAULT_RATE * (1 + 1e-9), 0.5,
                                      1e-12};
    for (unsigned i = 0; i < 8; i++) {
        struct filter_plan plan = {.rate = defaults[i / 2]};
        struct layer_plan layer;
        tap_check(growth_in_memory(&plan, i % 2 != 0, &layer) == 0, "it cannot be made");
        tap_check(layer.pages == (i % 2 != 0 ? GROWTH_SMALL_PAGES : GROWTH_MEMORY_PAGES) &&
                      layer.stage == 0,
                  "p = %g: %" PRIu64 " pages", plan.rate, layer.pages);
        check_layer(&plan, 0, &layer);
        tap_check(layer.capacity == growth_capacity(layer.geometry, layer.pages, layer.rate),
                  "p = %g: it has room for %" PRIu64, plan.rate, layer.capacity);
    }
}

/* n lines fit before a filter grows, even if all are counted, and at no rate is this too many.
 * Every report names this n. */
static void n_lines_fit(void)
{
    static const double grid[] = {0.5, 0.25, 0.1, 0.05, 0.02, 0.0101, 0.01, 1e-3, 1e-6, 1e-12};
    /* That an emulator computes the same, the digest says. */
    const size_t step = tap_brief() ? 3 : 1;
    const uint64_t more = tap_brief() ? 2401 : 7;
    for (uint64_t n = 1; n <= 1000000000; n = n < 10 && !tap_brief() ? n + 1 : n * more + 3)
        for (size_t i = 0; i < sizeof grid / sizeof *grid; i += step)
            for (unsigned kind = 0; kind < 3; kind++) {
                struct filter_plan plan = {.rate = grid[i], .capacity = n, .fixed = kind == 1};
                struct forecast forecast;
                plan.geometry.counting = kind == 2;
                if (!tap_check(forecast_make(&forecast, &plan) == 0, "none"))
                    continue;
                const struct layer_plan *layer = &forecast.layer;
                tap_check(layer->capacity == n && forecast.capacity == n &&
                              growth_sized_for(&plan, layer) == (double)n,
                          "p = %g, n = %" PRIu64 ": %" PRIu64 ", %" PRIu64, grid[i], n,
                          layer->capacity, forecast.capacity);
                double most = plan.fixed ? (double)n : growth_lines_when_full(layer);
                tap_check(most >= (double)n && forecast_rate(&forecast, most) <= layer->rate,
                          "p = %g, n = %" PRIu64 ": rate %g", grid[i], n,
                          forecast_rate(&forecast, most));
            }
}

/* A file may come from anywhere, and say that its huge layers are made for one key. */
static void pages_for_few_keys(void)
{
    const uint64_t most = UINT64_C(64) << 20;
    struct layer_plan layer = {.pages = 0};
    for (unsigned window = 0; window < 2; window++)
        for (uint64_t pages = 1000; pages < SIZING_PAGES_MAX / 2; pages *= 10) {
            struct filter_plan plan = {.rate = 1e-12, .window = window, .forget = window};
            tap_check(growth_next(&plan, 5, pages, 1000, &layer) == 0 &&
                          layer.pages * PAGE_BYTES < most,
                      "after %" PRIu64 " pages %" PRIu64, pages, layer.pages);
        }
}

/* --- stages --- */

static void stages(void)
{
    struct filter_plan plan = {.rate = 1e-6, .pages = STAGE_FROM_PAGES, .staged = true};
    struct layer_plan layer = {.pages = 0}, next = layer, alone = layer;
    tap_check(growth_first(&plan, &layer) == 0 && layer.stage == 0, "not yet large");
    tap_check(growth_next(&plan, 1, layer.pages, layer.capacity, &next) == 0 &&
                  next.pages > STAGE_FROM_PAGES && next.stage == next.pages / 8,
              "a large layer that is added");
    plan.pages++;
    tap_check(growth_first(&plan, &layer) == 0 && layer.stage == plan.pages / 8,
              "a large first layer");
    plan.staged = false;
    tap_check(growth_first(&plan, &alone) == 0 && alone.stage == 0 &&
                  alone.capacity == layer.capacity && alone.rate == layer.rate,
              "a stage takes a part of the rate");
    tap_check(growth_uses_stage(1001, 10000) && !growth_uses_stage(1000, 10000), "a tenth");
    tap_check(growth_uses_stage(1, 0), "a memory of unknown size");
}

/* FNV-1a, over the value's bytes from the lowest on. */
static uint64_t digest(uint64_t before, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        before = (before ^ (value >> (8 * i) & 255)) * UINT64_C(0x100000001b3);
    return before;
}

static uint64_t digest_layer(uint64_t before, const struct layer_plan *layer)
{
    uint64_t rate;
    memcpy(&rate, &layer->rate, sizeof rate);
    before = digest(before, layer->pages);
    before = digest(before, layer->capacity);
    before = digest(before, rate);
    return digest(before, layer->geometry.blocks * 16U + layer->geometry.fields);
}

/* All kinds of filters in turn, each with its first layer and up to three after it. */
static uint64_t digest_filter(uint64_t before, unsigned number, double rate, uint64_t keys)
{
    struct layer_plan layer = {.pages = 0};
    struct filter_plan plan = {.rate = rate, .capacity = keys, .fixed = number % 7 == 1};
    plan.geometry.counting = number % 5 == 1;
    plan.window = number % 7 == 2 || number % 7 == 4;
    plan.forget = number % 7 == 4;
    if (number % 7 == 3 || number % 7 == 4) {
        plan.pages = keys;
        plan.capacity = 0;
        plan.in_memory = number % 2 != 0;
    }
    if (growth_first(&plan, &layer) != 0)
        return digest(before, 0);
    struct grown grown = {1, layer.pages, layer.capacity, layer};
    before = digest_layer(before, &layer);
    while (growth_rate(&plan, grown.layers) > 0 && grown.layers < 4 &&
           growth_next(&plan, grown.layers, grown.pages, grown.keys, &layer) == 0) {
        before = digest_layer(before, &layer);
        grown = (struct grown){grown.layers + 1, grown.pages + layer.pages,
                               grown.keys + layer.capacity, layer};
    }
    return before;
}

/* To the last bit of the rate, on every processor and with every C library and compiler. */
static void digested(void)
{
    static const struct {
        double first, least;
        unsigned filters;
        uint64_t digest;
    } known[] = {{1e-6, 1e-6, 8, 0xdaa8cb7f311e2fa0},
                 {0.5, SIZING_RATE_MIN, 112, 0xec7cd55fb216bda6}};
    for (unsigned i = 0; i < (tap_brief() ? 1 : 2); i++) {
        uint64_t all = UINT64_C(0xcbf29ce484222325);
        unsigned number = 0;
        for (double rate = known[i].first; rate >= known[i].least; rate /= 7.3)
            for (uint64_t keys = 1 + number % 3; keys <= SIZING_KEYS_MAX; keys = keys * 41 + 7)
                all = digest_filter(all, number++, rate, keys);
        tap_check(all == known[i].digest && number == known[i].filters, "%u filters: %016" PRIx64,
                  number, all);
    }
}

/* --- from a size --- */

/* The rate that is found for so many pages needs so many, and not more. */
static void rate_of_a_size(void)
{
    for (uint64_t keys = 1000; keys <= 100000000; keys *= 100)
        for (double bits = 12; bits <= 48; bits += 12) {
            struct filter_plan plan = {.rate = 1, .capacity = keys, .fixed = true};
            struct forecast forecast;
            plan.pages = growth_pages_of_bits(&plan, bits);
            growth_find_rate(&plan);
            if (!tap_check(forecast_make(&forecast, &plan) == 0, "%" PRIu64 " keys", keys))
                continue;
            double rate = forecast_rate(&forecast, (double)keys);
            tap_check(rate <= plan.rate && (rate > plan.rate / 2 || plan.rate == SIZING_RATE_MIN),
                      "%" PRIu64 " keys, %g bits: %g, and it has %g", keys, bits, plan.rate, rate);
            tap_check(forecast_bits_per_key(&forecast) >= bits, "%g bits, not %g",
                      forecast_bits_per_key(&forecast), bits);
            tap_check(!forecast_grows(&forecast) && forecast.capacity == keys, "%" PRIu64 " keys",
                      forecast.capacity);
        }
}

int main(void)
{
    tap_run("the rates of 48 layers sum up to p at most", sum_of_rates);
    tap_run("the place of a layer in the series, by what is left of p", places);
    tap_run_long("how many times the right size after growing, or 64 MB", size_after_growing);
    tap_run_long("of no given n: at most 3 times a file of given n, 2.2 times in the mean",
                 size_of_open);
    tap_run_long("no overflow up to the largest filter", extremes);
    tap_run("what cannot be made is refused; what cannot be believed is not", refused);
    tap_run("n lines fit, at every rate, and are what is reported", n_lines_fit);
    tap_run("a file that has no lines does not grow by more than 64 MB", pages_for_few_keys);
    tap_run("the layers of many filters, to the last bit", digested);
    tap_run("a filter in memory of which no size was asked", memory_layers);
    tap_run("large layers have a stage by themselves, added ones, too", stages);
    tap_run("the rate of a size, and what becomes of it", rate_of_a_size);
    return tap_end();
}
