/* Keys in flight: judged as if their bits were set, against a layer in which they are. */
#include "delivery/flight.h"

#include "core/kernel.h"

#include "chance.h"
#include "oracle.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 4, PAGES_MAX = 5, ROOM = 200 };

/* Layers as they are, and as they would be if all in flight were set. */
struct world {
    struct flight *flight;
    struct bits layers[LAYERS];
    uint8_t set[LAYERS][PAGES_MAX * PAGE_BYTES];
    uint8_t would[LAYERS][PAGES_MAX * PAGE_BYTES];
    unsigned low, high;
};

static struct world *world_new(size_t room)
{
    static const uint64_t pages[LAYERS] = {1, 3, PAGES_MAX, 2};
    static const struct geometry geometries[LAYERS] = {{1, 2, false},
                                                       {2, 3, false},
                                                       {5, 1, false},
                                                       {2, 4, true}};
    struct world *world = calloc(1, sizeof *world);
    if (world == NULL || (world->flight = flight_new(room)) == NULL)
        exit(1);
    for (unsigned i = 0; i < LAYERS; i++)
        world->layers[i] = (struct bits){
            .bytes = world->set[i],
            .pages = pages[i],
            .geometry = geometries[i],
        };
    return world;
}

static void world_free(struct world *world)
{
    flight_free(world->flight);
    free(world);
}

/* Whether the key is in a layer with these bytes, or cells. */
static bool is_in(const struct world *world, unsigned layer, uint8_t *bytes, struct key key)
{
    struct bits bits = world->layers[layer];
    uint8_t seen = 0;
    bits.bytes = bytes;
    if (!bits.geometry.counting)
        return oracle_has(bytes, key, bits.pages, bits.geometry) != 0;
    kernel_for(bits.geometry)->test(&bits, &key, 1, &seen);
    return seen != 0;
}

static void set_in(const struct world *world, unsigned layer, uint8_t *bytes, struct key key)
{
    struct bits bits = world->layers[layer];
    bits.bytes = bytes;
    if (bits.geometry.counting)
        kernel_for(bits.geometry)->set(&bits, &key, 1);
    else
        oracle_add(bytes, key, bits.pages, bits.geometry);
}

static void add(struct world *world, struct key key, unsigned layer)
{
    size_t count = world->flight->count;
    const struct bits *bits = &world->layers[layer];
    uint8_t seen = 0;
    size_t judged = flight_take(world->flight, &key, 1, SIZE_MAX, layer, bits, &seen);
    tap_check(judged == 1, "it did not look at a key");
    if (seen) {
        tap_check(is_in(world, layer, world->would[layer], key),
                  "a key that would be new was held back");
        tap_check(world->flight->count == count, "it took a key that would be in");
        return;
    }
    world->low = count == 0 || layer < world->low ? layer : world->low;
    world->high = count == 0 || layer > world->high ? layer : world->high;
    set_in(world, layer, world->would[layer], key);
    tap_check(world->flight->count == count + 1, "it did not count a key");
    struct key last = world->flight->keys[count];
    tap_check(last.lo == key.lo && last.hi == key.hi, "it did not keep a key in its place");
    tap_check(world->flight->layer_low == world->low && world->flight->layer_high == world->high,
              "layers %u to %u, not %u to %u", world->flight->layer_low, world->flight->layer_high,
              world->low, world->high);
}

/* What is in the layers already is no question: those are looked at before. */
static void check_covers(struct world *world, struct key key)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        const struct bits *bits = &world->layers[i];
        if (is_in(world, i, world->set[i], key))
            continue;
        bool would = is_in(world, i, world->would[i], key);
        tap_check(flight_covers(world->flight, key, i, bits) == would,
                  "layer %u, %zu in flight: a key that would be %s", i, world->flight->count,
                  would ? "in is not covered" : "new is covered");
    }
}

/* All that is in flight is set now. */
static void settle(struct world *world)
{
    memcpy(world->set, world->would, sizeof world->set);
    flight_clear(world->flight);
    tap_check(world->flight->count == 0, "it is not empty after clearing");
}

/* None of it was delivered. */
static void drop(struct world *world)
{
    memcpy(world->would, world->set, sizeof world->set);
    flight_clear(world->flight);
}

/* A key out of so few that their bits meet: 6 values of hi, 4 of each field. */
static struct key narrow_key(struct chance *chance)
{
    struct chance few = {chance_below(chance, 6)};
    uint64_t dice = chance_next(chance);
    struct key key = {.lo = 0, .hi = chance_next(&few)};
    for (unsigned t = 0; t < FIELDS_MAX; t++)
        key.lo |= (dice >> 2 * t & 3) << FIELD_BITS * t;
    return key;
}

/* Into random layers, with many keys that others cover. */
static void differential(void)
{
    struct chance chance = {40};
    unsigned covered = 0;
    size_t summed = 0;
    for (unsigned round = 0; round < 60; round++) {
        struct world *world = world_new(ROOM);
        for (unsigned batch = 0; batch < 6; batch++) {
            size_t count = chance_below(&chance, ROOM + 1);
            for (size_t i = 0; i < count; i++) {
                struct key key = i % 16 ? chance_key(&chance) : narrow_key(&chance);
                add(world, key,
                    round % 2 ? (unsigned)chance_below(&chance, LAYERS) : batch % LAYERS);
                check_covers(world, key);
                check_covers(world, chance_key(&chance));
                for (unsigned query = 0; query < 4; query++) {
                    key = narrow_key(&chance);
                    check_covers(world, key);
                    covered += flight_covers(world->flight, key, 2, &world->layers[2]);
                }
            }
            summed += world->flight->summed;
            if (chance_below(&chance, 3) != 0)
                settle(world);
            else
                drop(world);
            for (unsigned query = 0; query < 50; query++)
                check_covers(world, chance_key(&chance));
        }
        world_free(world);
    }
    /* It was about something: keys that are covered, and pages with many. */
    tap_check(summed > 100, "only %zu sums were made", summed);
    tap_check(covered > 1000, "only %u covered keys were met", covered);
}

/* Keys that share all but one thing: page, line, layer. */
static void near_misses(void)
{
    struct world *world = world_new(ROOM);
    struct chance chance = {41};
    for (unsigned i = 0; i < ROOM; i++) {
        struct key key = chance_key(&chance);
        struct key low = key, high = key;
        add(world, key, 2);
        low.lo ^= UINT64_C(1) << i % 64;
        high.hi ^= UINT64_C(1) << i % 64;
        check_covers(world, key);
        check_covers(world, low);
        check_covers(world, high);
        /* In flight for one layer is not in flight for another. */
        tap_check(!flight_covers(world->flight, key, 0, &world->layers[0]) &&
                      !flight_covers(world->flight, key, 1, &world->layers[1]),
                  "a key in flight for layer 2 is found in another");
    }
    world_free(world);
}

/* The last ones are no longer in flight: all is as it was before them. */
static void drop_last(void)
{
    struct chance chance = {43};
    for (unsigned round = 0; round < 60; round++) {
        struct world *world = world_new(ROOM), *before = world_new(1);
        for (size_t i = 0; i < ROOM / 2; i++)
            add(world, i % 2 ? chance_key(&chance) : narrow_key(&chance), (unsigned)(i % LAYERS));
        memcpy(before->would, world->would, sizeof world->would);
        size_t count = world->flight->count, summed = world->flight->summed;
        for (size_t i = 0; i < 1 + chance_below(&chance, ROOM / 2); i++)
            add(world, i % 2 ? chance_key(&chance) : narrow_key(&chance), (unsigned)(i % LAYERS));
        flight_drop_last(world->flight, world->flight->count - count);
        tap_check(world->flight->count == count, "%zu are left of %zu", world->flight->count,
                  count);
        tap_check(world->flight->summed == summed, "%zu sums are left of %zu",
                  world->flight->summed, summed);
        memcpy(world->would, before->would, sizeof world->would);
        for (unsigned query = 0; query < 100; query++)
            check_covers(world, query % 2 ? chance_key(&chance) : narrow_key(&chance));
        for (size_t i = 0; i < ROOM / 4; i++)
            add(world, chance_key(&chance), (unsigned)(i % LAYERS));
        for (unsigned query = 0; query < 100; query++)
            check_covers(world, query % 2 ? chance_key(&chance) : narrow_key(&chance));
        world_free(before);
        world_free(world);
    }
}

/* Up to its room, whatever that is, and again after clearing. */
static void rooms(void)
{
    static const size_t sizes[] = {1, 2, 8, 31, 2048, 65535};
    struct bits bits = {.pages = 1000, .geometry = {3, 6, false}};
    struct chance chance = {42};
    bits.bytes = calloc(bits.pages, PAGE_BYTES);
    for (size_t i = 0; bits.bytes != NULL && i < sizeof sizes / sizeof *sizes; i++) {
        struct flight *flight = flight_new(sizes[i]);
        if (flight == NULL)
            exit(1);
        tap_check(flight->room == sizes[i], "room %zu", flight->room);
        for (unsigned round = 0; round < 3; round++) {
            struct chance again = chance;
            size_t found = 0, strange = 0;
            for (size_t j = 0; j < sizes[i]; j++) {
                struct key key = chance_key(&chance);
                uint8_t seen = 0;
                flight_take(flight, &key, 1, 1, 0, &bits, &seen);
            }
            struct key more = {.lo = 1, .hi = 1};
            uint8_t seen = 0;
            tap_check(flight_take(flight, &more, 1, 1, 0, &bits, &seen) == 0 && !seen &&
                          flight->count == sizes[i],
                      "it took a key for which there is no room");
            for (size_t j = 0; j < sizes[i]; j++)
                found += flight_covers(flight, chance_key(&again), 0, &bits);
            for (size_t j = 0; j < sizes[i]; j++)
                strange += flight_covers(flight, chance_key(&again), 0, &bits);
            tap_check(found == sizes[i], "%zu of %zu are found", found, sizes[i]);
            tap_check(strange <= 1, "%zu strangers are found", strange);
            flight_clear(flight);
            tap_check(flight->count == 0, "it is not empty");
        }
        flight_free(flight);
    }
    free(bits.bytes);
    flight_free(NULL);
}

int main(void)
{
    tap_run("covers: as if the bits were set", differential);
    tap_run("keys that differ in one bit, and other layers", near_misses);
    tap_run("the last ones are dropped", drop_last);
    tap_run_long("as many keys as it has room for, again and again", rooms);
    return tap_end();
}
