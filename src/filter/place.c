/*
 * place - puts settled keys into layers.
 *
 * A layer takes exactly `capacity` keys before the next one is filled. So the layer of a key
 * depends only on the keys before it, not on when or by which process they were settled. Of several
 * layers with room the oldest is filled first. In a window only one generation is filling.
 */
#include "filter/internal.h"

#include "filter/generation.h"
#include "filter/pages.h"
#include "filter/stage.h"
#include "filter/window.h"

#include <string.h>

static uint64_t room_in(const struct store *store, unsigned layer)
{
    uint64_t keys = layer_keys(store, &store->layers[layer]);
    uint64_t capacity = store->layers[layer].plan.capacity;
    return keys < capacity ? capacity - keys : 0;
}

uint64_t place_room(const struct store *store)
{
    uint64_t room = 0;
    unsigned filling = is_window(store) ? generation_filling(store) : store->count;
    for (unsigned i = 0; i < store->count; i++)
        if (!is_window(store) || i == filling)
            room += room_in(store, i);
    return store->header.plan.fixed ? UINT64_MAX : room;
}

unsigned place_next(const struct store *store)
{
    unsigned layer = 0;
    if (is_window(store)) {
        layer = generation_filling(store);
        return layer < store->count && room_in(store, layer) > 0 ? layer : store->count;
    }
    while (layer < store->count && room_in(store, layer) == 0)
        layer++;
    return layer == store->count && store->header.plan.fixed ? layer - 1 : layer;
}

static void set(struct store *store, unsigned number, const struct key *keys, size_t n)
{
    struct layer *layer = &store->layers[number];
    if (has_stage(layer))
        stage_set(store, number, keys, n);
    else
        pages_set(store, layer, keys, n);
    count_keys(store, layer, n);
    if (is_window(store))
        window_settled(store, number);
}

/* As place_keys, for keys none of which is in. */
static size_t place_run(struct store *store, const struct key *keys, size_t n, bool all)
{
    size_t done = 0;
    while (done < n) {
        unsigned layer = place_next(store);
        if (layer == store->count && !all)
            break;
        size_t left = n - done;
        if (layer == store->count)
            layer = generation_newest(store);
        else if (room_in(store, layer) > 0 && room_in(store, layer) < left)
            left = (size_t)room_in(store, layer);
        set(store, layer, keys + done, left);
        done += left;
    }
    return done;
}

size_t place_keys(struct store *store, const struct key *keys, size_t n, const uint8_t *in,
                  bool all)
{
    size_t done = 0;
    while (done < n) {
        const uint8_t *end = memchr(in + done, 1, n - done);
        size_t run = end != NULL ? (size_t)(end - (in + done)) : n - done;
        size_t placed = place_run(store, keys + done, run, all);
        done += placed;
        if (placed < run)
            break;
        while (done < n && in[done])
            done++;
    }
    return done;
}
