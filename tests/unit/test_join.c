/* Several layers read as one. */
#include "core/cells.h"

#include "chance.h"
#include "tap.h"

enum { PAGES = 11, LAYERS = 4 }; /* an odd number */

static uint8_t layers[LAYERS][PAGES * PAGE_BYTES];

static void join_all(bool counting, size_t n, uint8_t *to)
{
    struct bits bits[LAYERS];
    const struct bits *members[LAYERS];
    for (size_t i = 0; i < n; i++) {
        bits[i] = (struct bits){
            .bytes = layers[i],
            .pages = PAGES,
            .geometry = {.blocks = 3, .fields = 6, .counting = counting},
        };
        members[i] = &bits[i];
    }
    join_pages(members, n, 0, PAGES, to);
}

static void fill_layers(void)
{
    struct chance chance = {1};
    for (size_t i = 0; i < LAYERS; i++)
        for (size_t at = 0; at < sizeof layers[i]; at++)
            layers[i][at] = (uint8_t)chance_below(&chance, 256);
}

/* Of bits any; of cells the sum, at most 15: every byte of every page, in one way at a time. */
static void one_by_one(void)
{
    static uint8_t joint[PAGES * PAGE_BYTES];
    fill_layers();
    for (size_t n = 1; n <= LAYERS; n++)
        for (unsigned counting = 0; counting < 2; counting++) {
            unsigned wrong = 0;
            join_all(counting, n, joint);
            for (size_t at = 0; at < sizeof joint; at++) {
                unsigned any = 0, low = 0, high = 0;
                for (size_t i = 0; i < n; i++) {
                    any |= layers[i][at];
                    low += layers[i][at] % 16;
                    high += layers[i][at] / 16;
                }
                if (counting)
                    any = (low < 15 ? low : 15) + 16 * (high < 15 ? high : 15);
                wrong += joint[at] != any;
            }
            tap_check(wrong == 0, "%zu layers: %u bytes are wrong", n, wrong);
        }
}

int main(void)
{
    tap_run("bits: any; cells: the sum, at most 15", one_by_one);
    return tap_end();
}
