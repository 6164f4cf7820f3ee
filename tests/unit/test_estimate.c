/* What is read off the bits of a layer: keys and rate, against the truth. */
#include "core/estimate.h"
#include "core/sizing.h"

#include "layer.h"
#include "tap.h"

#include <inttypes.h>

/* --- the formulas, on pages made by hand --- */

/* Sets `count` random bits of a block. */
static void set_some(struct chance *chance, uint8_t *block, unsigned count)
{
    while (count > 0) {
        uint64_t bit = chance_below(chance, BLOCK_BITS);
        count -= !bit_test(block, bit);
        bit_set(block, bit);
    }
}

/* A page whose blocks are filled very differently, some empty and some full. */
static void make_page(struct chance *chance, uint8_t page[PAGE_BYTES], unsigned set[PAGE_BLOCKS])
{
    memset(page, 0, PAGE_BYTES);
    for (unsigned i = 0; i < PAGE_BLOCKS; i++) {
        set[i] = i % 8 == 0 ? BLOCK_BITS : (unsigned)chance_below(chance, BLOCK_BITS + 1);
        set_some(chance, page + (size_t)i * BLOCK_BYTES, set[i]);
    }
}

/* Sum of the products over all choices of `blocks` further blocks from `from` on. */
static double products(const double chances[PAGE_BLOCKS], unsigned blocks, unsigned from)
{
    double sum = 0;
    if (blocks == 0)
        return 1;
    for (unsigned i = from; i + blocks <= PAGE_BLOCKS; i++)
        sum += chances[i] * products(chances, blocks - 1, i + 1);
    return sum;
}

/* The rate of a page is the mean over all choices of g blocks: here each of them one by one. */
static void rate_by_brute_force(void)
{
    static const double choices[] = {1, 64, 2016, 41664, 635376};
    struct chance chance = {20};
    for (unsigned round = 0; round < 3; round++) {
        static uint8_t page[PAGE_BYTES];
        unsigned set[PAGE_BLOCKS];
        make_page(&chance, page, set);
        for (unsigned blocks = 1; blocks <= 4; blocks++)
            for (unsigned fields = 1; fields <= FIELDS_MAX; fields++) {
                double chances[PAGE_BLOCKS];
                struct estimate estimate;
                for (unsigned i = 0; i < PAGE_BLOCKS; i++)
                    chances[i] = pow((double)set[i] / BLOCK_BITS, fields);
                double wanted = products(chances, blocks, 0) / choices[blocks];
                estimate_start(&estimate, (struct geometry){.blocks = (uint8_t)blocks,
                                                            .fields = (uint8_t)fields});
                estimate_add(&estimate, page, 1);
                double rate = estimate_rate(&estimate);
                tap_check(fabs(rate - wanted) <= 1e-12 * wanted, "%u x %u: %.15g, not %.15g",
                          blocks, fields, rate, wanted);
            }
    }
}

/* Of no page, and of three, so many of them full. */
static void empty_and_full(void)
{
    static uint8_t pages[3 * PAGE_BYTES];
    for (unsigned full = 0; full <= 3; full++)
        for (unsigned blocks = 1; blocks <= BLOCKS_MAX; blocks++) {
            struct estimate estimate;
            estimate_start(&estimate, (struct geometry){(uint8_t)blocks, FIELDS_MAX, false});
            tap_check(estimate_keys(&estimate) == 0 && estimate_rate(&estimate) == 0 &&
                          estimate_fill(&estimate) == 0,
                      "of no page at all");
            memset(pages, 0xff, (size_t)full * PAGE_BYTES);
            estimate_add(&estimate, pages, 3);
            double keys = estimate_keys(&estimate), rate = estimate_rate(&estimate);
            tap_check(full == 0 ? keys == 0 : keys > 0 && keys < 1e12, "%u full: %g keys", full,
                      keys);
            tap_check(rate <= 1 && fabs(rate - full / 3.0) < 1e-12, "%u full: %.17g", full, rate);
            tap_check(fabs(estimate_fill(&estimate) - full / 3.0) < 1e-12 && estimate.full == full,
                      "%u full: fill %g", full, estimate_fill(&estimate));
        }
}

/* --- real layers --- */

static double measured_rate(const struct layer *layer, uint64_t queries, double *error)
{
    struct key batch[LAYER_BATCH];
    uint8_t seen[LAYER_BATCH];
    struct chance outside = {99};
    uint64_t hits = 0, done = 0;
    for (; done < queries; done += LAYER_BATCH) {
        memset(seen, 0, sizeof seen);
        for (size_t i = 0; i < LAYER_BATCH; i++)
            batch[i] = chance_key(&outside);
        kernel_for(layer->bits.geometry)->test(&layer->bits, batch, LAYER_BATCH, seen);
        for (size_t i = 0; i < LAYER_BATCH; i++)
            hits += seen[i];
    }
    *error = CHANCE_SIGMAS * sqrt((double)hits + 1) / (double)done;
    return (double)hits / (double)done;
}

/* Keys within 1 % while less than 99 % of the bits are set; the rate within the noise of counting,
 * which is wider than 10 % only where there are few hits. Before a key is added, whether its block
 * is a false positive does not matter: it would change no bit. */
static void check_truth(const struct layer *layer, double p, double part)
{
    struct estimate estimate;
    double error;
    estimate_start(&estimate, layer->bits.geometry);
    estimate_add(&estimate, layer->bits.bytes, layer->bits.pages);
    double keys = estimate_keys(&estimate), fill = estimate_fill(&estimate);
    double rate = estimate_rate(&estimate);
    double truth = measured_rate(layer, 400000, &error);
    if (fill < 0.99)
        tap_check(fabs(keys / (double)layer->keys - 1) < 0.01,
                  "p = %g, %g of n: %.0f keys, not %" PRIu64 " (fill %g)", p, part, keys,
                  layer->keys, fill);
    tap_check(fabs(rate - truth) < error, "p = %g, %g of n: rate %g, not %g +- %g", p, part, rate,
              truth, error);
    /* The model is a mean over many layers; where hits are rarest, one is unlike another, the more
     * so with a quarter of the keys in a page. */
    double tolerance = (layer->bits.geometry.counting ? 0.3 : 0.1) * (p < 1e-9 ? 2.5 : 1);
    if (part < 0.5)
        return;
    double model = sizing_rate(layer->bits.geometry, layer->bits.pages, (double)layer->keys);
    tap_check(fabs(rate / model - 1) < tolerance, "p = %g, %g of n: rate %g, the model says %g", p,
              part, rate, model);
}

static void truth(void)
{
    static const double rates[] = {0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-12};
    static const double parts[] = {0.001, 0.1, 0.5, 0.9, 1, 2, 5};
    enum { KEYS = 100000 };
    for (size_t i = 0; i < 2 * sizeof rates / sizeof *rates; i++) {
        double p = rates[i / 2];
        struct geometry geometry = sizing_geometry(p, i % 2);
        struct layer layer = layer_new(geometry, sizing_pages(geometry, KEYS, p), 1);
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
            layer_fill(&layer, (uint64_t)(parts[j] * KEYS));
            check_truth(&layer, p, parts[j]);
        }
        layer_free(&layer);
    }
}

/* In pieces it is the same. */
static void in_pieces(void)
{
    struct geometry geometry = {.blocks = 3, .fields = 6};
    struct layer layer = layer_new(geometry, 100, 1);
    struct estimate whole, pieces;
    layer_fill(&layer, 150000);
    memset(layer_page(&layer, 99), 0xff, PAGE_BYTES);
    estimate_start(&whole, geometry);
    estimate_start(&pieces, geometry);
    estimate_add(&whole, layer.bits.bytes, 100);
    for (uint64_t at = 0; at < 100; at += 10)
        estimate_add(&pieces, layer_page(&layer, at), 10);
    tap_check(estimate_keys(&whole) == estimate_keys(&pieces) &&
                  estimate_rate(&whole) == estimate_rate(&pieces) &&
                  estimate_fill(&whole) == estimate_fill(&pieces),
              "%g and %g keys", estimate_keys(&whole), estimate_keys(&pieces));
    layer_free(&layer);
}

/* Pages with a known number of keys, over and over: how far the estimates lie apart is what the
 * deviation says. Its own error over so many is a fiftieth. */
static void deviation_is_true(struct geometry geometry, uint64_t keys)
{
    enum { ROUNDS = 600 };
    struct layer layer = layer_new(geometry, 1, geometry.blocks);
    double squares = 0, said = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct estimate estimate;
        memset(layer.bits.bytes, 0, PAGE_BYTES);
        layer_set(&layer, layer.bits, keys);
        estimate_start(&estimate, geometry);
        estimate_add(&estimate, layer.bits.bytes, 1);
        squares += pow(estimate_keys(&estimate) - (double)keys, 2) / ROUNDS;
        said += pow(estimate_deviation(&estimate), 2) / ROUNDS;
    }
    double ratio = sqrt(squares / said);
    tap_check(ratio > 0.85 && ratio < 1.15, "%u x %u%s, %g keys: %.3g keys, not %.3g",
              geometry.blocks, geometry.fields, geometry.counting ? " cells" : "", (double)keys,
              sqrt(squares), sqrt(said));
    layer_free(&layer);
}

static void deviations(void)
{
    static const struct geometry geometries[] = {{1, 6, false}, {3, 6, false}, {7, 5, false}};
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++) {
        deviation_is_true(geometries[i], 1000);
        deviation_is_true(geometries[i], 2000);
    }
    struct estimate empty;
    estimate_start(&empty, geometries[0]);
    tap_check(estimate_deviation(&empty) == 0, "no page: %g", estimate_deviation(&empty));
}

/* As long as the bits tell the number of keys, it is within six deviations; beyond that the bound
 * holds. The last two have a hundred keys for each cell. */
static void told_or_bounded(void)
{
    static const struct geometry geometries[] = {{3, 6, false}, {1, 1, false}, {3, 6, true}};
    static const double keys_a_cell[] = {0.01, 0.1, 0.2, 0.3, 0.5, 1, 5, 100};
    for (size_t i = 0; i < 3 * 3 * 8; i++) {
        struct geometry geometry = geometries[i / 24];
        uint64_t pages = (const uint64_t[]){1, 3, 40}[i / 8 % 3];
        double keys = floor(keys_a_cell[i % 8] * geometry_page_cells(geometry) * (double)pages);
        struct layer layer = layer_new(geometry, pages, i);
        struct estimate estimate;
        if (keys > (tap_brief() ? 2e6 : 2e7))
            continue;
        layer_fill(&layer, (uint64_t)keys);
        estimate_start(&estimate, geometry);
        estimate_add(&estimate, layer.bits.bytes, pages);
        double found = estimate_keys(&estimate), least = estimate_least_keys(&estimate);
        double noise = CHANCE_SIGMAS * estimate_deviation(&estimate) + 0.01 * keys;
        bool told = estimate_is_told(&estimate);
        tap_check(told == (estimate.full * 2 <= pages), "told");
        tap_check(!told || (fabs(found - keys) <= noise && noise < 0.25 * keys + 100),
                  "%zu: %.0f keys, not %.0f", i, found, keys);
        tap_check(told || (least <= keys && least > 2000), "%zu: at least %.0f of %.0f", i, least,
                  keys);
        tap_check(told == (keys_a_cell[i % 8] * geometry_hashes(geometry) < 6), "%zu: %g keys", i,
                  keys);
        layer_free(&layer);
    }
}

/* Against the formula with logarithms, and never 0: of rates so far apart that 1 - (1 - a)(1 - b)
 * leaves nothing of the smaller ones. */
static void joint_rates(void)
{
    struct chance chance = {7};
    for (unsigned round = 0; round < 2000; round++) {
        double rate = 0, logs = 0;
        for (unsigned layer = 0; layer < 48; layer++) {
            double its = exp(-(double)chance_below(&chance, 600) - 0.001);
            rate = sizing_joint_rate(rate, its);
            logs += log1p(-its);
            tap_check(rate >= its * (1 - 1e-15), "%g, and one of them has %g", rate, its);
        }
        tap_check(fabs(rate + expm1(logs)) <= 1e-13 * rate, "%.17g, not %.17g", rate, -expm1(logs));
    }
    tap_check(sizing_joint_rate(1e-300, 1e-300) == 2e-300, "two tiny ones");
    tap_check(sizing_joint_rate(1, 0.5) == 1 && sizing_joint_rate(0.5, 1) == 1, "one of 1");
}

int main(void)
{
    tap_run("the number of keys, or a bound for it, at any fill", told_or_bounded);
    tap_run("the rate of many layers together", joint_rates);
    tap_run("the rate of a page: all choices of up to 4 blocks, one by one", rate_by_brute_force);
    tap_run("no page, empty pages, full pages", empty_and_full);
    tap_run_long("keys and rate against the truth at 0.001 to 5 x n, of counters, too", truth);
    tap_run("the same in pieces", in_pieces);
    tap_run_long("the deviation of the keys", deviations);
    return tap_end();
}
