/*
 * layer - a layer of a test's own, filled with keys of chance; and a pair: a layer of the
 * program's, and its twin, which the oracle keeps.
 */
#ifndef UNSEEN_TESTS_LAYER_H
#define UNSEEN_TESTS_LAYER_H

#include "core/kernel.h"

#include "chance.h"

#include <stdlib.h>
#include <string.h>

enum { LAYER_BATCH = 2048 };

struct layer {
    struct bits bits;
    struct chance chance;
    uint64_t keys; /* by layer_fill */
};

/* All zeros. */
static inline struct bits layer_bits(struct geometry geometry, uint64_t pages)
{
    struct bits bits = {.pages = pages, .geometry = geometry};
    bits.bytes = aligned_alloc(PAGE_BYTES, pages * PAGE_BYTES);
    if (bits.bytes == NULL)
        exit(1);
    memset(bits.bytes, 0, pages * PAGE_BYTES);
    return bits;
}

static inline struct layer layer_new(struct geometry geometry, uint64_t pages, uint64_t seed)
{
    return (struct layer){.bits = layer_bits(geometry, pages), .chance = {seed}};
}

static inline void layer_free(struct layer *layer)
{
    free(layer->bits.bytes);
}

static inline uint8_t *layer_page(const struct layer *layer, uint64_t page)
{
    return layer->bits.bytes + page * PAGE_BYTES;
}

/* Sets the next n keys, in these bits. */
static inline void layer_set(struct layer *layer, struct bits bits, uint64_t n)
{
    struct key batch[LAYER_BATCH];
    for (; n > 0; n -= n < LAYER_BATCH ? n : LAYER_BATCH) {
        size_t some = n < LAYER_BATCH ? (size_t)n : LAYER_BATCH;
        for (size_t i = 0; i < some; i++)
            batch[i] = chance_key(&layer->chance);
        kernel_for(bits.geometry)->set(&bits, batch, some);
    }
}

/* Until so many keys are in it. */
static inline void layer_fill(struct layer *layer, uint64_t keys)
{
    layer_set(layer, layer->bits, keys > layer->keys ? keys - layer->keys : 0);
    layer->keys = keys;
}

/* Each has pages of its own. */
struct pair {
    struct bits bits;
    uint8_t *plain;
    size_t bytes;
};

/* Both are empty. */
static inline struct pair pair_new(uint64_t pages, struct geometry geometry)
{
    struct pair pair = {layer_bits(geometry, pages), calloc(pages, PAGE_BYTES), pages * PAGE_BYTES};
    if (pair.plain == NULL)
        exit(1);
    return pair;
}

static inline void pair_free(struct pair *pair)
{
    free(pair->bits.bytes);
    free(pair->plain);
}

static inline bool pair_same(const struct pair *pair)
{
    return memcmp(pair->bits.bytes, pair->plain, pair->bytes) == 0;
}

#endif
