/* Several layers read as one. */
#include "core/join.h"
#include "filter/survey.h"

#include "layer.h"
#include "tap.h"

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

/* The joint layer is the layer of all keys, bit for bit, and so is its estimate. */
static void estimates_agree(void)
{
    struct geometry geometry = {.lines = 3, .fields = 6};
    struct layer whole = layer_new(geometry, 100, 1), parts[2];
    const struct bits *members[2] = {&parts[0].bits, &parts[1].bits};
    struct estimate joint, direct;
    for (unsigned i = 0; i < 2; i++) {
        parts[i] = layer_new(geometry, 100, 1);
        parts[i].chance = whole.chance;
        layer_set(&parts[i], parts[i].bits, 50000);
        layer_set(&whole, whole.bits, 50000);
    }
    tap_check(survey_joint(members, 2, &joint) == 0, "a signal came");
    estimate_start(&direct, geometry);
    estimate_add(&direct, whole.bits.bytes, 100);
    tap_check(joint.pages == 100 && fabs(estimate_keys(&joint) - estimate_keys(&direct)) < 1e-6,
              "%.9g and %.9g keys", estimate_keys(&joint), estimate_keys(&direct));
    tap_check(fabs(estimate_rate(&joint) / estimate_rate(&direct) - 1) < 1e-9, "rates %g and %g",
              estimate_rate(&joint), estimate_rate(&direct));
    layer_free(&whole);
    layer_free(&parts[0]);
    layer_free(&parts[1]);
}

int main(void)
{
    tap_run("bits: any", bits_one_by_one);
    tap_run("cells: the sum, at most 15", cells_one_by_one);
    tap_run("the estimate of several is that of one with all keys", estimates_agree);
    return tap_end();
}
