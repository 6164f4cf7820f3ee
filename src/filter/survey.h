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

/* With SURVEY_ALL reads all pages of all layers, as fast as cat(1): 0.2 s per GB from the page
 * cache. Returns 0, or -1 after a signal to end.
 *
 * With SURVEY_SAMPLE, of larger layers only that many pages, evenly spread: about 0.3 ms per layer.
 * The number of lines and the rate vary a few percent then. What says whether pages are odd is left
 * out, and of layers `remembered`, `lines`, `full` and `capacity`. Returns 0. */
#define SURVEY_ALL UINT64_MAX
#define SURVEY_SAMPLE UINT64_C(256)
int survey_make(struct survey *survey, const struct filter *filter, uint64_t most);

/* Estimates the union of n >= 1 layers of one shape from `most` pages, as above. Returns 0, or -1
 * after a signal to end. */
int survey_joint(const struct bits *const *layers, size_t n, uint64_t most,
                 struct estimate *estimate);

#endif
