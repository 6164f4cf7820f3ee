/* pair - a layer of the program's, and its twin, which the oracle keeps. Each has pages of its
 * own. */
#ifndef UNSEEN_TESTS_PAIR_H
#define UNSEEN_TESTS_PAIR_H

#include "core/geometry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    struct bits bits;
    uint8_t *plain;
    size_t bytes;
};

/* Both are empty. */
static inline struct pair pair_new(uint64_t pages, struct geometry geometry)
{
    struct pair pair = {
        .bits = {.pages = pages, .geometry = geometry},
        .bytes = pages * PAGE_BYTES,
    };
    pair.bits.bytes = aligned_alloc(PAGE_BYTES, pair.bytes);
    pair.plain = calloc(1, pair.bytes);
    if (pair.bits.bytes == NULL || pair.plain == NULL)
        exit(1);
    memset(pair.bits.bytes, 0, pair.bytes);
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
