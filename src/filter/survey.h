/*
 * survey - what the bits of a filter tell: its lines, rates and fill, and pages that look wrong.
 */
#ifndef UNSEEN_FILTER_SURVEY_H
#define UNSEEN_FILTER_SURVEY_H

#include "core/evenness.h"
#include "filter/filter.h"

struct layer_survey {
    struct layer_plan plan;
    bool window;       /* it is a generation */
    bool told;         /* the bits tell how many keys there are; if not, `keys` is a lower bound */
    double keys;       /* estimated from the bits, plus `staged` */
    double staged;     /* keys in the stage, and not in the layer */
    double deviation;  /* of the keys: one standard deviation */
    double remembered; /* of `keys`, those that were not false drops */
    double lines;      /* for reports: `keys`; in a window `remembered`, or the counter if that is
                        * larger, since keys that are in flight together, as with -x, are counted
                        * without false drops */
    double full;       /* the layer is full with this many keys */
    double capacity;   /* for reports: `full`, counted as `lines` is, or n as it was asked for */
    double rate;       /* with all keys, those in the stage too; 0 only without keys */
    double fill;
    struct evenness evenness;     /* of its pages */
    bool no_copy;                 /* no sound copy made in use has such pages (core/evenness.h) */
    uint64_t counted_before;      /* the counter before the bits were read */
    uint64_t counted;             /* and after that */
    struct generation generation; /* of a window */
};

struct survey {
    unsigned layers;
    struct layer_survey layer[LAYERS_MAX];
    uint64_t pages;
    /* Pages with more keys, and with fewer keys, than chance explains. */
    uint64_t fuller_pages, emptier_pages;
    /* The distinct lines that came to all layers, or in a window those that were settled. A line in
     * several layers of one shape counts once. */
    bool told; /* in all layers; if not, `keys` is a lower bound */
    double keys;
    double deviation; /* of the keys: one standard deviation */
    bool sampled;     /* not all pages were read */
    double rate;      /* the false-positive rate: 1 - prod(1 - rate of layer) */
    double fill;
    double keys_until; /* keys that may be added before the filter is full */
    double capacity;
    /* In a window: the layer that is forgotten next, or `layers`; and, in a window by lines, how
     * many keys may be added before that. */
    unsigned next;
    double until_forgetting;
};

/* Reads all pages of all layers, as fast as cat(1): 0.2 s per GB from the page cache. Returns 0, or
 * -1 after a signal to end. */
int survey_make(struct survey *survey, const struct filter *filter);

/* How many lines, at which rate, as survey_make tells; but of layers with more than SURVEY_SAMPLE
 * pages it reads only that many, evenly spread, and both figures vary a few percent. Leaves out
 * what says whether pages are odd, and of layers `remembered`, `lines`, `full` and `capacity`.
 * About 0.3 ms per layer. */
enum { SURVEY_SAMPLE = 256 };
void survey_sample(struct survey *survey, const struct filter *filter);

/* Estimates the union of n >= 1 layers of one shape. Returns 0, or -1 after a signal to end. */
int survey_joint(const struct bits *const *layers, size_t n, struct estimate *estimate);

#endif
