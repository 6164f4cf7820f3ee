/*
 * place - puts settled keys into layers.
 *
 * A layer takes exactly `capacity` keys before the next one is filled. So the layer of a key
 * depends only on the keys before it, not on when or by which process they were settled. Of several
 * layers with room the oldest is filled first. In a window only one generation is filling.
 */
#include "filter/internal.h"

#include <string.h>

static uint64_t room_in(const struct filter *filter, unsigned layer)
{
    uint64_t keys = layer_keys(filter, &filter->layers[layer]);
    uint64_t capacity = filter->layers[layer].plan.capacity;
    return keys < capacity ? capacity - keys : 0;
}

uint64_t place_room(const struct filter *filter)
{
    uint64_t room = 0;
    unsigned filling = is_window(filter) ? generation_filling(filter) : filter->count;
    for (unsigned i = 0; i < filter->count; i++)
        if (!is_window(filter) || i == filling)
            room += room_in(filter, i);
    return filter->header.plan.fixed ? UINT64_MAX : room;
}

unsigned place_next(const struct filter *filter)
{
    unsigned layer = 0;
    if (is_window(filter)) {
        layer = generation_filling(filter);
        return layer < filter->count && room_in(filter, layer) > 0 ? layer : filter->count;
    }
    while (layer < filter->count && room_in(filter, layer) == 0)
        layer++;
    return layer == filter->count && filter->header.plan.fixed ? layer - 1 : layer;
}

static void set(struct filter *filter, unsigned number, const struct key *keys, size_t n)
{
    struct layer *layer = &filter->layers[number];
    if (has_stage(layer))
        stage_set(filter, number, keys, n);
    else
        pages_set(filter, layer, keys, n);
    count_keys(filter, layer, n);
    if (is_window(filter))
        window_settled(filter, number);
}

/* As place_keys, for keys none of which is in. */
static size_t place_run(struct filter *filter, const struct key *keys, size_t n, bool all)
{
    size_t done = 0;
    while (done < n) {
        unsigned layer = place_next(filter);
        if (layer == filter->count && !all)
            break;
        size_t left = n - done;
        if (layer == filter->count)
            layer = generation_newest(filter);
        else if (room_in(filter, layer) > 0 && room_in(filter, layer) < left)
            left = (size_t)room_in(filter, layer);
        set(filter, layer, keys + done, left);
        done += left;
    }
    return done;
}

size_t place_keys(struct filter *filter, const struct key *keys, size_t n, const uint8_t *in,
                  bool all)
{
    size_t done = 0;
    while (done < n) {
        const uint8_t *end = memchr(in + done, 1, n - done);
        size_t run = end != NULL ? (size_t)(end - (in + done)) : n - done;
        size_t placed = place_run(filter, keys + done, run, all);
        done += placed;
        if (placed < run)
            break;
        while (done < n && in[done])
            done++;
    }
    return done;
}
