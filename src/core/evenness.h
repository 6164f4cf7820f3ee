/*
 * evenness - whether chance alone filled the pages of a layer as they are filled.
 *
 * Keys fall on pages at random, so each has about as many as any other. What differs by more has a
 * cause: pages that were zeroed or are older than the others, lines that were chosen to meet.
 *
 * The staircase:
 *
 *   1. A page is suspect if it is eight standard deviations off the mean. But the mean has the odd
 *      pages in it, and a layer may have 2^38 pages, or two.
 *   2. So put all pages in order by how full they are, and try each place to cut them in two: the
 *      smaller part, of K pages with at least (or at most) M keys each, is odd if the rest, r pages
 *      with R keys, cannot have come from the same chance. Given that K M + R keys fell on K + r
 *      pages, so many fell on those K with a chance below e^-D (Chernoff 1952), where
 *
 *          D = K M ln(M / u) + R ln(R / (r u)),   u = (K M + R) / (K + r)
 *
 *      and they are the fullest of n, so any K of n could have been it: less than e^(K ln(n/K) + K)
 *      ways. What is left of D after that must be above 32: over all cuts a chance of 10^-11. One
 *      page of 10^4 needs nine standard deviations, and of 2^38 eleven.
 *   3. The best cut is made, and the next is looked for in the rest, until none is left. So a few
 *      pages that are far too full do not hide others, nor make the rest look empty.
 *   4. Keys are not seen, but the cells that they set, which is a little less even. So D is divided
 *      by how much the variance is larger than that of keys: with Z zero cells of c in a page of
 *      Poisson(m) keys, and y2 the chance that a key sets at least one of two cells,
 *
 *          E[Z (Z - 1)] = sum over pairs of cells of e^(-m y2)
 *
 *      where y2 is one number for two cells of a line and another for cells of two lines.
 *
 * A mean that drifts, as in a copy that was made while lines came, can pass all this page by page.
 * The variance of all pages tells (the index of dispersion: Fisher 1925).
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
    uint64_t empty; /* those of them in which no cell is set; or all but the fuller ones */
    uint64_t torn;  /* pages of which an eighth or more is empty, and not all, against chance */
    /* How far all are filled less evenly than by chance: in standard deviations, 0 if they are not
     * by a twentieth. 6 is no chance. (More evenly they may be: where a line that looks seen in an
     * older layer does not come, fuller pages get fewer.) */
    double unevenness;
};

/* Of all pages that were added since estimate_start_steps; some 20 us. */
struct evenness evenness_of(const struct estimate *estimate);

/* Whether so many pages are full as chance makes of the others with less than 10^-10. */
bool evenness_has_filled(const struct estimate *estimate);

#endif
