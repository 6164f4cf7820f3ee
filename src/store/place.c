/*
 * place - see place.h.
 *
 * A layer takes exactly `capacity` keys, then the next one is filled: so which layer a key is in
 * depends on the keys before it alone, and not on when they were settled, or by whom. Of several
 * layers with room the oldest is filled first. A window has one that is filling, and no other.
 */
#include "store/place.h"

#include "store/generation.h"
#include "store/internal.h"
#include "store/pages.h"
#include "store/stage.h"
#include "store/window.h"

static struct place nowhere(const struct store *store)
{
    return (struct place){.layer = store->count};
}

/* How many keys a layer still takes, those in its stage counted. */
static uint64_t room_in(const struct store *store, unsigned layer)
{
    uint64_t keys = region_keys(store, &store->layers[layer].region) + stage_keys(store, layer);
    uint64_t capacity = store->layers[layer].region.plan.capacity;
    return keys < capacity ? capacity - keys : 0;
}

/* A layer has room for `left` keys after `ahead` others. If it has a stage, they go there. */
static struct place place_in(const struct store *store, unsigned layer, uint64_t ahead,
                             uint64_t left)
{
    if (!has_stage(&store->layers[layer]))
        return (struct place){layer, false, left};
    uint64_t keys = stage_keys(store, layer) + ahead;
    uint64_t most = stage_most(store, layer);
    if (keys >= most)
        return nowhere(store);
    return (struct place){layer, true, left < most - keys ? left : most - keys};
}

unsigned place_filling(const struct store *store)
{
    unsigned layer = 0;
    while (layer < store->count && room_in(store, layer) == 0)
        layer++;
    return layer == store->count && store->header.plan.fixed ? layer - 1 : layer;
}

static struct place place_in_window(const struct store *store, uint64_t ahead)
{
    unsigned layer = generation_filling(store);
    uint64_t room = layer < store->count ? room_in(store, layer) : 0;
    return ahead < room ? (struct place){layer, false, room - ahead} : nowhere(store);
}

struct place place_after(const struct store *store, uint64_t ahead)
{
    uint64_t all = ahead;
    if (is_window(store))
        return place_in_window(store, ahead);
    for (unsigned i = 0; i < store->count; i++) {
        uint64_t room = room_in(store, i);
        if (ahead < room)
            return place_in(store, i, ahead, room - ahead);
        ahead -= room;
    }
    if (store->header.plan.fixed)
        return place_in(store, store->count - 1, all, UINT64_MAX);
    return nowhere(store);
}

void place_set(struct store *store, struct place place, const struct key *keys, size_t n)
{
    if (n == 0)
        return;
    if (place.in_stage) {
        stage_add(store, place.layer, keys, n);
        return;
    }
    struct region *region = &store->layers[place.layer].region;
    pages_set(store, region, keys, n);
    count_keys(store, region, n);
    if (is_window(store))
        window_settled(store, place.layer);
}

size_t place_all(struct store *store, const struct key *keys, size_t n, uint64_t others, bool all)
{
    size_t done = 0;
    while (done < n) {
        struct place place = place_after(store, others);
        if (place_is_none(store, place) && !all)
            break;
        if (place_is_none(store, place))
            place = (struct place){generation_newest(store), false, UINT64_MAX};
        size_t run = place.left < n - done ? (size_t)place.left : n - done;
        place_set(store, place, keys + done, run);
        done += run;
    }
    return done;
}
