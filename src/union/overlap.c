#include "union/overlap.h"

#include "format/likeness.h"
#include "union/group.h"

#include <math.h>
#include <stdlib.h>

enum { SIGMAS = 2 };

/* For which part of a list each of them is does not matter. */
static bool all_alike(struct store *const *filters, size_t count)
{
    char one[LIKENESS_TEXT], other[LIKENESS_TEXT];
    const struct header *first = store_header(filters[0]);
    if (first->plan.window)
        return false;
    for (size_t i = 1; i < count; i++) {
        struct header header = *store_header(filters[i]);
        header.shard = first->shard;
        header.part_recipe = first->part_recipe;
        if (likeness_differs(first, &header, one, other) != NULL)
            return false;
    }
    return true;
}

/* Whether lines are in a stage, whose bits tell nothing of those of a layer. */
static bool gathers(struct store *const *filters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (unsigned region = 0; region < store_regions(filters[i]); region++)
            if (store_is_stage(filters[i], region) && store_region_keys(filters[i], region) > 0)
                return true;
    return false;
}

/* Puts all layers of all filters into `layers`. Returns whether they are of one shape. */
static bool collect(struct store *const *filters, size_t count, const struct bits **layers,
                    size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned region = 0; region < store_regions(filters[i]); region++) {
            if (store_is_stage(filters[i], region))
                continue;
            layers[*n] = store_bits(filters[i], region);
            if (!join_is_possible(layers[*n], layers[0]))
                return false;
            (*n)++;
        }
    return *n > 0;
}

/* Returns 0, or -1: a signal. */
static int find(const struct bits *const *layers, size_t n, struct overlap *overlap)
{
    struct estimate estimate;
    double sum = 0, variance = 0;
    for (size_t i = 0; i < n; i++) {
        if (group_estimate(layers + i, 1, &estimate) != 0)
            return -1;
        sum += estimate_keys(&estimate);
        variance += pow(estimate_deviation(&estimate), 2);
    }
    if (group_estimate(layers, n, &estimate) != 0)
        return -1;
    overlap->keys = estimate_keys(&estimate);
    overlap->keys_error = SIGMAS * estimate_deviation(&estimate);
    overlap->shared = fmax(sum - overlap->keys, 0);
    /* As if they were independent; where layers share little, chance moves both alike, and the
     * error is smaller. */
    overlap->shared_error = SIGMAS * sqrt(variance + pow(estimate_deviation(&estimate), 2));
    return 0;
}

const char *overlap_find(struct store *const *filters, size_t count, struct overlap *overlap)
{
    size_t n;
    if (!all_alike(filters, count))
        return "they were not made alike";
    if (gathers(filters, count))
        return "lines gather in their stages";
    const struct bits **layers = calloc(count * REGIONS_MAX, sizeof(struct bits *));
    if (layers == NULL)
        return "memory is short";
    bool one_shape = collect(filters, count, layers, &n);
    bool ended = one_shape && find(layers, n, overlap) != 0;
    free(layers);
    if (ended)
        return "a signal came";
    return one_shape ? NULL : "their layers differ in size";
}
