/*
 * group - which layers of several filters become one.
 *
 * Layers of one class, that is of one shape, come together as long as their keys fit: the fullest
 * first, each into the first group in which there is room for it. The keys in the stage of a layer
 * are the layer's. How many of them others have, too, is not known: they count as its own.
 */
#ifndef UNSEEN_UNION_GROUP_H
#define UNSEEN_UNION_GROUP_H

#include "store/store.h"

/* A layer of an input. */
struct source {
    const struct store *store;
    unsigned layer;
    const struct bits *bits;
    const struct bits *stage; /* NULL: it has none */
    struct layer_plan plan;
    double keys;         /* with those in its stage */
    double staged;       /* those */
    double rate;         /* without them */
    bool placed;         /* it has a group */
    struct source *next; /* in that */
};

/* A layer to be. */
struct group {
    const struct bits **members;
    size_t count;
    struct source *sources; /* of the members, in no order */
    struct layer_plan plan;
    double full;   /* with so many keys in it */
    double keys;   /* with those in stages */
    double staged; /* those: at most so many */
    double rate;   /* with them */
    double noise;  /* how far the rate may be off */
};

/* Sorts n sources and puts each into one of the groups, which has room for n, in the order of their
 * classes; so has `members` for their bits. *keys is what all have together. Returns how many
 * groups there are, or -1: a signal came. Reads the bits of groups of several. `fixed`: they are of
 * filters that do not grow. */
ptrdiff_t group_all(struct source *sources, size_t n, bool fixed, const struct bits **members,
                    struct group *groups, double *keys);

/* What each of the layers to be may still take in. A layer's share of p is what it has now, and as
 * much of what it was made for as p has left, the largest layer first; growth keeps its share. A
 * layer that cannot have all of it has no stage. */
void group_share_rate(struct group *groups, size_t count, const struct filter_plan *plan);

#endif
