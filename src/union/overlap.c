/* overlap - see overlap.h. */
#include "union/overlap.h"

#include "core/join.h"
#include "format/likeness.h"
#include "system/signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGMAS = 2 };

static bool all_alike(struct store *const *filters, size_t count)
{
    char one[LIKENESS_TEXT], other[LIKENESS_TEXT];
    for (size_t i = 0; i < count; i++)
        if (likeness_differs(store_header(filters[0]), store_header(filters[i]), one, other) !=
                NULL ||
            store_header(filters[i])->plan.generations != 0)
            return false;
    return true;
}

static bool has_stage(const struct store *filter)
{
    return store_plan(filter, 0).journal != 0;
}

static bool same_shape(const struct bits *a, const struct bits *b)
{
    return a->pages == b->pages && memcmp(&a->geometry, &b->geometry, sizeof a->geometry) == 0;
}

/* Puts all layers of all filters into `layers`. Returns whether they are of one shape. */
static bool collect(struct store *const *filters, size_t count, const struct bits **layers,
                    size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned layer = 0; layer < store_regions(filters[i]); layer++) {
            layers[*n] = store_bits(filters[i], layer);
            if (!same_shape(layers[*n], layers[0]))
                return false;
            (*n)++;
        }
    return *n > 0;
}

/* Reads `n` layers as one. Stops at a signal. */
static void read_joint(const struct bits *const *layers, size_t n, struct estimate *estimate)
{
    enum { RUN = 256 };
    uint64_t end = layers[0]->pages;
    estimate_start(estimate, layers[0]->geometry);
    for (uint64_t page = 0; page < end && !signals_pending(); page += RUN)
        join_estimate(layers, n, page, end - page < RUN ? end - page : RUN, estimate);
}

static void find(const struct bits *const *layers, size_t n, struct overlap *overlap)
{
    struct estimate estimate;
    double sum = 0, variance = 0;
    for (size_t i = 0; i < n; i++) {
        read_joint(layers + i, 1, &estimate);
        sum += estimate_keys(&estimate);
        variance += pow(estimate_deviation(&estimate), 2);
    }
    read_joint(layers, n, &estimate);
    overlap->keys = estimate_keys(&estimate);
    overlap->keys_error = SIGMAS * estimate_deviation(&estimate);
    overlap->shared = fmax(sum - overlap->keys, 0);
    /* As if they were independent; where layers share little, chance moves both alike, and the
     * error is smaller. */
    overlap->shared_error = SIGMAS * sqrt(variance + pow(estimate_deviation(&estimate), 2));
}

const char *overlap_find(struct store *const *filters, size_t count, struct overlap *overlap)
{
    size_t n;
    if (!all_alike(filters, count))
        return "they were not made alike";
    const struct bits **layers = calloc(count * LAYERS_MAX, sizeof(struct bits *));
    if (layers == NULL)
        return "memory is short";
    bool one_shape = collect(filters, count, layers, &n);
    if (one_shape)
        find(layers, n, overlap);
    free(layers);
    if (signals_pending())
        return "a signal came";
    if (one_shape)
        return NULL;
    return has_stage(filters[0]) ? "lines gather in their stages" : "their layers differ in size";
}
