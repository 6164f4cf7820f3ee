/*
 * survey - the whole truth about a filter, read from its bits.
 */
#ifndef UNSEEN_FILTER_SURVEY_H
#define UNSEEN_FILTER_SURVEY_H

#include "core/evenness.h"
#include "filter/generation.h"

struct layer_survey {
    struct layer_plan plan;
    bool window;       /* it is a generation */
    double keys;       /* estimated from the bits, and those that are in its stage alone: */
    double staged;     /* these */
    double deviation;  /* of the keys: one standard deviation */
    double remembered; /* of so many keys, those that did not look seen when they came */
    double lines;      /* for reports: the keys. In a window those remembered, or what the counter
                        * says if it has more of the keys: all that were judged beside each
                        * other, as with -x */
    double full;       /* of so many keys it is full */
    double capacity;   /* for reports: the same, but of lines as above */
    double rate;
    double fill;
    struct evenness evenness;     /* of its pages */
    uint64_t counted_before;      /* the counter's word for the keys, before the bits were read */
    uint64_t counted;             /* and after */
    struct generation generation; /* of a window */
};

struct survey {
    unsigned layers;
    struct layer_survey layer[LAYERS_MAX];
    uint64_t pages;
    /* Those that chance does not fill so: with too many lines; with too few. */
    uint64_t fuller_pages, emptier_pages;
    /* Over all layers, the distinct lines that came, or in a window those of them that were
     * settled; once, if they are in several layers of one shape. */
    double keys;
    double rate; /* that a new line looks seen: 1 - prod(1 - rate of layer) */
    double fill;
    double keys_until; /* keys to add until it is full (grows, or passes its rate) */
    double capacity;
    /* Of a window: the layer whose lines are forgotten next, or `layers`; and how many keys can
     * come before that, if it is not by time. */
    unsigned next;
    double until_forgetting;
};

/* Reads all pages of all layers: as long as cat(1) takes, 0.1 s a gigabyte from the page cache.
 * Returns 0, or -1 if a signal wants the program to end. */
int survey_make(struct survey *survey, const struct store *store);

/* Estimates what n >= 1 layers of one shape are as one layer. Returns as above. */
int survey_joint(const struct bits *const *layers, size_t n, struct estimate *estimate);

#endif
