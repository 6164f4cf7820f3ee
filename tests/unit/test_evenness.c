/*
 * Odd pages: none where chance filled them, whatever the layer; and what is found of damage and of
 * keys that were chosen, and what is not.
 *
 * Seeds are fixed. Of the layers of chance here, far fewer than 10^8, none may have an odd page:
 * core/evenness.h promises fewer than one in 10^8.
 */
#include "core/evenness.h"
#include "core/sizing.h"

#include "layer.h"
#include "tap.h"

#include <inttypes.h>
#include <math.h>

/* Keys that all fall on one page, as somebody chose them. */
static void crowd(struct layer *layer, uint64_t page, uint64_t keys)
{
    struct bits one = {layer_page(layer, page), 1, layer->bits.geometry};
    layer_set(layer, one, keys);
}

static struct evenness look(const struct layer *layer)
{
    struct estimate estimate;
    estimate_start(&estimate, layer->bits.geometry);
    estimate_add(&estimate, layer->bits.bytes, layer->bits.pages);
    return evenness_of(&estimate);
}

static void check_even(const struct layer *layer, const char *what)
{
    struct evenness found = look(layer);
    struct geometry g = layer->bits.geometry;
    tap_check(found.fuller + found.emptier == 0,
              "%s: %ux%u%s, %" PRIu64 " pages, %" PRIu64 " keys: %" PRIu64 " fuller, %" PRIu64
              " emptier",
              what, g.blocks, g.fields, g.counting ? " counting" : "", layer->bits.pages,
              layer->keys, found.fuller, found.emptier);
}

/* The keys of a page that is as full as it was made for. */
static double keys_a_page(struct geometry geometry, double rate)
{
    return (double)sizing_capacity(geometry, 1000, rate) / 1000;
}

/* Of all kinds, rates, sizes and fills. */
static void even_layers(void)
{
    static const double rates[] = {0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12};
    static const double parts[] = {0.001, 0.01, 0.1, 0.5, 1, 1.5, 4};
    static const uint64_t sizes[] = {1, 2, 3, 7, 31, 256};
    for (unsigned kind = 0; kind < 2 * sizeof rates / sizeof *rates; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct geometry geometry = sizing_geometry(rates[kind / 2], kind % 2);
            double keys = keys_a_page(geometry, rates[kind / 2]) * (double)sizes[i];
            struct layer layer = layer_new(geometry, sizes[i], 100 + kind);
            for (size_t j = 0; j < sizeof parts / sizeof *parts && keys * parts[j] < 2e6; j++) {
                layer_fill(&layer, (uint64_t)(keys * parts[j]) + 1);
                check_even(&layer, "by chance");
            }
            layer_free(&layer);
        }
}

/* Many small layers, some with hardly a key; and a large one. */
static void many_even_layers(void)
{
    struct geometry geometry = {.blocks = 3, .fields = 6};
    struct chance chance = {41};
    unsigned layers = tap_cases(6000);
    for (unsigned i = 0; i < layers; i++) {
        uint64_t pages = 1 + chance_below(&chance, 12);
        struct layer layer = layer_new(geometry, pages, i);
        layer_fill(&layer, chance_below(&chance, pages * (i % 3 == 0 ? 8 : i % 3 == 1 ? 80 : 800)));
        check_even(&layer, "small");
        layer_free(&layer);
    }
    struct layer layer = layer_new(geometry, 8192, 7);
    for (uint64_t keys = 100; keys < 8192 * 1000; keys *= 9) {
        layer_fill(&layer, keys);
        check_even(&layer, "large");
    }
    layer_free(&layer);
}

/* Keys told from cells vary more than keys do, and the evidence is less by the same. */
static void check_variance(struct geometry geometry, double fill)
{
    enum { MANY = 1024 };
    struct layer layer = layer_new(geometry, MANY, 17);
    double cells = geometry_page_cells(geometry), zero = log1p(-geometry_share(geometry));
    double sum = 0, squares = 0, set = cells * fill;
    layer_fill(&layer, (uint64_t)(MANY * log1p(-fill) / zero));
    for (uint64_t page = 0; page < MANY; page++) {
        uint16_t each[PAGE_BLOCKS];
        double found = estimate_page_keys(geometry,
                                          kernel_for(geometry)->count(layer_page(&layer, page),
                                                                      each));
        sum += found;
        squares += found * found;
    }
    double measured = (squares - sum * sum / MANY) / sum;
    double mean = log1p(-fill) / zero, keys = log1p(-set * 1.01 / cells) / zero;
    double rest = MANY * mean - keys;
    double chance = keys * log(keys / mean) + rest * log(rest / ((MANY - 1) * mean));
    double told = chance / evenness_evidence(geometry, MANY, fill, set * 1.01);
    tap_check(fabs(measured / told - 1) < 6 * sqrt(2.0 / MANY),
              "%u x %u: varies %g times as much as keys, not %g", geometry.blocks, geometry.fields,
              measured, told);
    layer_free(&layer);
}

static void variance(void)
{
    check_variance((struct geometry){1, 1, true}, 0.8);
    check_variance((struct geometry){1, 7, false}, 0.9);
    check_variance((struct geometry){4, 1, true}, 0.95);
}

/* --- what is found --- */

static const struct geometry plain = {3, 6, false};
enum { PAGES = 256, FULL = 1000, TRIALS = 5 };

/* What is done to a layer, at which fill; and how many pages are found, in each of the trials. */
struct damage {
    const char *name;
    void (*make)(struct layer *layer);
    double fill;
    uint64_t fuller, emptier;
    bool counting;
};

static uint64_t any_page(struct layer *layer)
{
    return chance_below(&layer->chance, layer->bits.pages);
}

static void zero_page(struct layer *layer)
{
    memset(layer_page(layer, any_page(layer)), 0, PAGE_BYTES);
}

static void zero_some(struct layer *layer)
{
    memset(layer_page(layer, chance_below(&layer->chance, PAGES - 40)), 0, 40UL * PAGE_BYTES);
}

static void ones(struct layer *layer)
{
    memset(layer_page(layer, any_page(layer)), 0xff, PAGE_BYTES);
}

static void crowd_one(struct layer *layer)
{
    crowd(layer, any_page(layer), 8000);
}

static void crowd_ten(struct layer *layer)
{
    for (uint64_t i = 0; i < 10; i++)
        crowd(layer, 20 * i, 100000);
}

/* Pages from when the layer had half of its keys. */
static void make_older(struct layer *layer, uint64_t pages)
{
    memset(layer->bits.bytes, 0, pages * PAGE_BYTES);
    struct bits old = {layer->bits.bytes, pages, layer->bits.geometry};
    layer_set(layer, old, layer->keys * pages / PAGES / 2);
}

static void half_page(struct layer *layer)
{
    make_older(layer, 1);
}

static void older_pages(struct layer *layer)
{
    make_older(layer, PAGES / 3);
}

static const struct damage damages[] = {
    {"a page of zeros, full", zero_page, 1, .emptier = 1},
    {"a page of zeros, half full", zero_page, 0.5, .emptier = 1},
    {"a page of zeros, counting", zero_page, 1, .counting = true, .emptier = 1},
    {"a page of zeros, a tenth full", zero_page, 0.1, .emptier = 1},
    {"a page of zeros, a fiftieth full", zero_page, 0.02, .fuller = 0},
    {"a page of zeros, nearly all cells set", zero_page, 6, .emptier = 0},
    {"40 pages of zeros", zero_some, 1, .emptier = 40},
    {"a page of ones", ones, 1, .fuller = 1},
    {"8000 keys on a page", crowd_one, 1, .fuller = 1},
    {"8000 keys on a page, hardly any on others", crowd_one, 0.001, .fuller = 1},
    {"8000 keys on a page, counting", crowd_one, 1, .counting = true, .fuller = 1},
    {"100000 keys on each of ten pages", crowd_ten, 1, .fuller = 10},
    {"a page with half the keys", half_page, 1, .emptier = 1},
    {"a page with half the keys, a tenth full", half_page, 0.1, .fuller = 0},
    {"a third of all pages with half the keys", older_pages, 1, .emptier = PAGES / 3},
};

static void check_damage(const struct damage *damage, uint64_t seed)
{
    struct geometry geometry = damage->counting ? (struct geometry){3, 6, true} : plain;
    double full = keys_a_page(geometry, 1e-6);
    struct layer layer = layer_new(geometry, PAGES, seed);
    layer_fill(&layer, (uint64_t)(PAGES * full * damage->fill));
    damage->make(&layer);
    struct evenness found = look(&layer);
    tap_check(found.fuller == damage->fuller && found.emptier == damage->emptier,
              "%s: %" PRIu64 " fuller, %" PRIu64 " emptier", damage->name, found.fuller,
              found.emptier);
    if (damage->fuller < PAGES / 10)
        tap_check(fabs(found.keys / (full * damage->fill) - 1) < 0.1,
                  "%s: %g keys in another page, not %g", damage->name, found.keys,
                  full * damage->fill);
    layer_free(&layer);
}

static void found_or_not(void)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        for (uint64_t seed = 0; seed < TRIALS; seed++)
            check_damage(&damages[i], 1000 * i + seed);
}

/* A copy that is read front to back, `each` pages at a time, while keys are added, from a share of
 * the fill on; what is done to it then. */
static void check_copy(uint64_t each, double from, const struct damage *damage, uint64_t seed)
{
    double full = PAGES * keys_a_page(plain, 1e-6);
    struct layer live = layer_new(plain, PAGES, seed), copy = layer_new(plain, PAGES, seed + 1);
    struct estimate estimate;
    uint64_t steps = PAGES / each + 1;
    for (uint64_t step = 0, at = 0; at < PAGES; step++, at += each) {
        uint64_t pages = PAGES - at < each ? PAGES - at : each;
        layer_fill(&live, (uint64_t)(full * (from + (1 - from) * (double)step / (double)steps)));
        memcpy(layer_page(&copy, at), layer_page(&live, at), pages * PAGE_BYTES);
    }
    if (damage != NULL)
        damage->make(&copy);
    estimate_start(&estimate, plain);
    estimate_expect(&estimate, PAGES);
    estimate_add(&estimate, copy.bits.bytes, PAGES);
    struct evenness found = evenness_of(&estimate);
    bool no_copy = evenness_is_no_copy(&estimate, true, full * from / PAGES, full / PAGES);
    tap_check(no_copy == (damage != NULL), "%s, of %" PRIu64 " pages from %g: %d",
              damage != NULL ? damage->name : "sound", each, from, no_copy);
    tap_check(from > 0.5 || found.fuller + found.emptier > 0, "the copy is even");
    layer_free(&live);
    layer_free(&copy);
}

/* Most are as uneven as damaged ones. */
static void copies(void)
{
    static const struct damage done[] = {{.name = "a page of zeros", .make = zero_page},
                                         {.name = "40 pages of zeros", .make = zero_some},
                                         {.name = "a page of ones", .make = ones},
                                         {.name = "8000 keys on a page", .make = crowd_one}};
    for (uint64_t seed = 0; seed < TRIALS; seed++)
        for (uint64_t each = 1; each <= 128; each *= 8)
            for (unsigned i = 0; i < 3; i++) {
                double from = (const double[]){0, 0.2, 0.9}[i];
                check_copy(each, from, NULL, 7 * seed + each);
                for (size_t j = 0; i > 0 && j < sizeof done / sizeof *done; j++)
                    check_copy(each, from, &done[j], 7 * seed + each);
            }
}

/* No page; pages of zeros, and of ones. */
static void all_alike(void)
{
    static uint8_t pages[5 * PAGE_BYTES];
    for (unsigned n = 0; n <= 5; n += 5)
        for (unsigned byte = 0; byte < 256; byte += 255) {
            struct estimate estimate;
            memset(pages, (int)byte, sizeof pages);
            estimate_start(&estimate, plain);
            estimate_add(&estimate, pages, n);
            struct evenness found = evenness_of(&estimate);
            tap_check(found.fuller + found.emptier == 0 && (n > 0 || found.keys == 0),
                      "%u pages of %u", n, byte);
        }
}

int main(void)
{
    tap_run("pages filled by chance: none is odd, in layers of all kinds, rates, sizes and fills",
            even_layers);
    tap_run("the same in thousands of small layers, and in a large one", many_even_layers);
    tap_run("how much the cells of pages vary", variance);
    tap_run("which damage is found, and which cannot be", found_or_not);
    tap_run("copies made while keys were added, and damaged ones", copies);
    tap_run("no page, empty and full ones", all_alike);
    return tap_end();
}
