/* Several layers read as one, and what estimates of it are worth. */
#include "core/join.h"

#include "chance.h"
#include "lines.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES = 11, LAYERS = 4 }; /* not a multiple of KERNEL_PAGES */

static uint8_t layers[LAYERS][PAGES * PAGE_BYTES];

static void join_all(bool counting, size_t n, uint8_t *to)
{
    struct bits bits[LAYERS];
    const struct bits *members[LAYERS];
    for (size_t i = 0; i < n; i++) {
        bits[i] = (struct bits){
            .bytes = layers[i],
            .pages = PAGES,
            .geometry = {.lines = 3, .fields = 6, .counting = counting},
        };
        members[i] = &bits[i];
    }
    join_pages(members, n, 0, PAGES, to);
}

static void fill_layers(unsigned spread)
{
    struct chance chance = {spread};
    for (size_t i = 0; i < LAYERS; i++)
        for (size_t at = 0; at < sizeof layers[i]; at++)
            layers[i][at] = (uint8_t)chance_below(&chance, 256);
}

/* Every cell of every page, against one addition at a time. */
static void cells_one_by_one(void)
{
    static uint8_t joint[PAGES * PAGE_BYTES];
    fill_layers(1);
    for (size_t n = 1; n <= LAYERS; n++) {
        unsigned wrong = 0;
        join_all(true, n, joint);
        for (size_t at = 0; at < sizeof joint; at++)
            for (unsigned shift = 0; shift < 8; shift += 4) {
                unsigned sum = 0;
                for (size_t i = 0; i < n; i++)
                    sum += layers[i][at] >> shift & 15;
                wrong += (joint[at] >> shift & 15U) != (sum > 15 ? 15 : sum);
            }
        tap_check(wrong == 0, "%zu layers: %u cells are wrong", n, wrong);
    }
}

static void bits_one_by_one(void)
{
    static uint8_t joint[PAGES * PAGE_BYTES];
    fill_layers(2);
    for (size_t n = 1; n <= LAYERS; n++) {
        unsigned wrong = 0;
        join_all(false, n, joint);
        for (size_t at = 0; at < sizeof joint; at++) {
            uint8_t any = 0;
            for (size_t i = 0; i < n; i++)
                any |= layers[i][at];
            wrong += joint[at] != any;
        }
        tap_check(wrong == 0, "%zu layers: %u bytes are wrong", n, wrong);
    }
}

static uint8_t *pages_new(size_t pages)
{
    uint8_t *bytes = aligned_alloc(PAGE_BYTES, pages * PAGE_BYTES);
    if (bytes == NULL)
        abort();
    return memset(bytes, 0, pages * PAGE_BYTES);
}

static void insert(const struct bits *bits, struct lines *lines, uint64_t keys)
{
    struct key batch[1000];
    for (; keys > 0; keys -= 1000) {
        lines_keys(lines, batch, 1000, 0);
        kernel_best()->set(bits, batch, 1000);
    }
}

/* The joint layer's estimate is that of a layer with all the keys: of its very bits. */
static void estimates_agree(void)
{
    struct geometry geometry = {.lines = 3, .fields = 6};
    struct bits parts[2], whole = {.pages = 100, .geometry = geometry};
    const struct bits *members[2] = {&parts[0], &parts[1]};
    struct lines lines;
    struct estimate joint, direct;
    whole.bytes = pages_new(100);
    for (unsigned i = 0; i < 2; i++) {
        parts[i] = (struct bits){pages_new(100), 100, geometry};
        lines_start(&lines, "join", i, 0);
        insert(&parts[i], &lines, 50000);
        lines_start(&lines, "join", i, 0);
        insert(&whole, &lines, 50000);
    }
    estimate_start(&joint, geometry);
    join_estimate(members, 2, 0, 37, &joint); /* in pieces */
    join_estimate(members, 2, 37, 63, &joint);
    estimate_start(&direct, geometry);
    estimate_add(&direct, whole.bytes, 100);
    tap_check(fabs(estimate_keys(&joint) - estimate_keys(&direct)) < 1e-6, "%.9g and %.9g keys",
              estimate_keys(&joint), estimate_keys(&direct));
    tap_check(fabs(estimate_rate(&joint) / estimate_rate(&direct) - 1) < 1e-9, "rates %g and %g",
              estimate_rate(&joint), estimate_rate(&direct));
    free(whole.bytes);
    free(parts[0].bytes);
    free(parts[1].bytes);
}

/* Pages with a known number of keys, over and over: how far the estimates lie apart is what the
 * deviation says. Its own error over so many is a fiftieth. */
static void deviation_is_true(struct geometry geometry, uint64_t keys)
{
    enum { ROUNDS = 1000 };
    static _Alignas(PAGE_BYTES) uint8_t page[PAGE_BYTES];
    struct bits bits = {page, 1, geometry};
    struct lines lines;
    double squares = 0, said = 0;
    lines_start(&lines, "dev", geometry.lines, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct estimate estimate;
        memset(page, 0, sizeof page);
        insert(&bits, &lines, keys);
        estimate_start(&estimate, geometry);
        estimate_add(&estimate, page, 1);
        squares += pow(estimate_keys(&estimate) - (double)keys, 2) / ROUNDS;
        said += pow(estimate_deviation(&estimate), 2) / ROUNDS;
    }
    double ratio = sqrt(squares / said);
    tap_check(ratio > 0.85 && ratio < 1.15, "%u x %u%s, %g keys: %.3g keys, not %.3g",
              geometry.lines, geometry.fields, geometry.counting ? " cells" : "", (double)keys,
              sqrt(squares), sqrt(said));
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

int main(void)
{
    tap_run("bits: any", bits_one_by_one);
    tap_run("cells: the sum, at most 15", cells_one_by_one);
    tap_run("the estimate of several is that of one with all keys", estimates_agree);
    tap_run_long("the deviation of an estimate", deviations);
    return tap_end();
}
