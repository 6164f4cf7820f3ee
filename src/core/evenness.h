/*
 * evenness - whether chance alone filled the pages of a layer as they are filled.
 *
 * Keys fall on pages at random, so each has about as many as any other. What differs by more has a
 * cause: pages that were zeroed or are older than the others, lines that were chosen to meet.
 *
 * A page of k keys, where all n pages have T, got so many of them by chance with less than e^-D
 * (Chernoff 1952: T keys, each with the chance 1/n of this page), where
 *
 *     D = k ln(k / u) + (T - k) ln((T - k) / (T - u)),   u = T / n
 *
 * Keys are not seen, but the cells that they set, which is a little less even. So D is divided by
 * how much the variance is larger than that of keys: with Z zero cells of c in a page of Poisson(m)
 * keys, and y2 the chance that a key sets at least one of two cells,
 *
 *     E[Z (Z - 1)] = sum over pairs of cells of e^(-m y2)
 *
 * where y2 is one number for two cells of a line and another for cells of two lines.
 *
 * A page is odd if that is less than 10^-8, divided by the number of pages. The oddest one is taken
 * out, and the rest is looked at again, until none is left. So a few pages that are far too full do
 * not hide others, nor make the rest look empty.
 *
 * tests/unit/test_evenness.c compares it with the pages that chance makes.
 */
#ifndef UNSEEN_CORE_EVENNESS_H
#define UNSEEN_CORE_EVENNESS_H

#include "core/estimate.h"

/* In pages; at most half of all are odd. Nothing is where more than 15/16 of the cells are set. */
struct evenness {
    double keys;     /* in a page that is not odd, on average */
    uint64_t fuller; /* pages with more keys than chance puts there */
    double most;     /* keys in one of these, on average */
    uint64_t emptier;
    double least; /* the same of these */
};

/* Of all pages that were added since estimate_start_steps; some 20 us. */
struct evenness evenness_of(const struct estimate *estimate);

/* -ln of that chance for a page with `set` cells set, where so many pages have `fill` of theirs set
 * on average; below 0 if it has fewer. */
double evenness_evidence(struct geometry geometry, double pages, double fill, double set);

#endif
