/*
 * group - which layers of several filters become one.
 *
 * Only layers of one shape, that is of equal pages and geometry, can be laid over one another. That
 * saves a look for each key and costs rate: two full layers of 1e-6 as one have 1e-3. So the
 * fullest comes first, and each other one joins the first group that the filter's rate allows. The
 * keys in the stage of a layer are the layer's. How many of them others have, too, is not known:
 * they count as its own.
 */
#ifndef UNSEEN_UNION_GROUP_H
#define UNSEEN_UNION_GROUP_H

#include "core/join.h"
#include "filter/store.h"

/* A layer of an input. */
struct source {
    const struct store *store;
    unsigned layer;
    const struct bits *bits;
    struct layer_plan plan;
    double keys;         /* with those in its stage alone */
    double staged;       /* those */
    double rate;         /* with them */
    bool placed;         /* it has a group */
    struct source *next; /* in that */
};

/* A layer to be. */
struct group {
    const struct bits **members;
    size_t count;
    struct source *sources; /* of the members, in no order */
    struct layer_plan plan;
    double keys;   /* with those in stages: at most */
    double staged; /* these */
    double rate;   /* with them */
};

/* Sorts n sources and puts each into one of the groups, which has room for n; so has `members` for
 * their bits. They join where the rates of all groups together stay at most `rate`; where it is
 * above that, only if a layer does not pass what it was made for, or if that adds nothing, since
 * they share their keys. Depends on what is in the sources, not on their order. Returns how many
 * groups there are, or -1: a signal came. Reads the bits of each two that may join. */
ptrdiff_t group_all(struct source *sources, size_t n, double rate, const struct bits **members,
                    struct group *groups);

/* The rate of a layer with the bits that were estimated, and so many keys more in its stage. */
double group_rate(const struct estimate *estimate, const struct layer_plan *plan, double staged);

#endif
