/*
 * group - decides which layers of several filters are combined into one.
 *
 * Only layers of one shape (the same number of pages and the same geometry) can be combined by OR.
 * Combining saves a test per key, but raises the rate: two full layers of 1e-6 become one of 1e-3.
 * So the fullest layer comes first, and each other layer joins the first group that stays within
 * its rate, or that leaves enough of the filter's rate for growth. Keys in a layer's stage belong
 * to the layer. Overlap between inputs cannot be predicted, so staged keys are counted for each
 * layer separately.
 */
#ifndef UNSEEN_MERGE_GROUP_H
#define UNSEEN_MERGE_GROUP_H

#include "core/join.h"
#include "filter/filter.h"

/* A layer of an input. */
struct source {
    const struct filter *filter;
    unsigned layer;
    const struct bits *bits;
    struct layer_plan plan;
    double keys;         /* in the layer and its stage */
    double staged;       /* in its stage */
    double rate;         /* of the layer and its stage */
    bool placed;         /* it is in a group */
    struct source *next; /* in the group */
};

/* A layer of the new filter. */
struct group {
    const struct bits **members;
    size_t count;
    struct source *sources; /* of the members, in no order */
    struct layer_plan plan;
    double keys;   /* at most, stages included */
    double staged; /* in stages */
    double rate;   /* stages included */
};

/* Sorts n sources and puts each into a group. `groups` and `members` have n elements each. Sources
 * are combined if the sum of the groups' rates stays at most what a first layer of given capacity
 * has of p; if the group keeps the rate of its layer, and the sum stays within p or is above it
 * anyway; or if the sum does not rise, because they share keys. The result depends on the sources,
 * not on their order. Returns the number of groups, or -1 if a signal came. Reads the bits of all
 * pairs that may be combined. */
ptrdiff_t group_all(struct source *sources, size_t n, const struct filter_plan *plan,
                    const struct bits **members, struct group *groups);

/* The rate of a layer with the estimated bits and `staged` more keys in its stage. */
double group_rate(const struct estimate *estimate, const struct layer_plan *plan, double staged);

#endif
