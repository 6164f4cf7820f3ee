/*
 * evenness - whether the pages of a layer are as evenly filled as chance makes them.
 *
 * Keys fall on pages at random, so all pages have about the same number of keys. A larger
 * difference has a cause: pages that were zeroed or are older than the rest, or lines that were
 * crafted so that their keys share a page.
 *
 * If all n pages together have T keys, a page has k of them by chance with a probability below e^-D
 * (Chernoff 1952: T keys, each of which falls on this page with chance 1/n), where
 *
 *     D = k ln(k / u) + (T - k) ln((T - k) / (T - u)),   u = T / n
 *
 * The number of keys is not known, only the number of cells they set, which varies a little more.
 * So D is divided by the ratio of the two variances: with Z zero cells of c in a page of Poisson(m)
 * keys, and y2 the chance that a key sets at least one of two cells,
 *
 *     E[Z (Z - 1)] = sum over pairs of cells of e^(-m y2)
 *
 * where y2 has one value for two cells of one block and another for cells of two blocks.
 *
 * A page is odd if its probability is below 10^-8, divided by the number of pages. The oddest pages
 * are set aside and the rest is tested again, until no odd page is left. So a few pages that are
 * far too full neither hide other odd pages nor make the rest look empty.
 */
#ifndef UNSEEN_CORE_EVENNESS_H
#define UNSEEN_CORE_EVENNESS_H

#include "core/estimate.h"

/* At most half of all pages are called odd, and none if more than 15/16 of all cells are set. */
struct evenness {
    double keys;      /* average keys of a page that is not odd */
    uint64_t fuller;  /* odd pages with more keys than that */
    double most;      /* their average keys */
    uint64_t emptier; /* odd pages with fewer keys */
    double least;     /* their average keys */
};

/* For all pages added since estimate_start. About 20 us. */
struct evenness evenness_of(const struct estimate *estimate);

/* Whether the pages cannot be those of a sound copy that was read from front to back while keys
 * were added: a page has more keys than those after it, or fewer than those before it, more than
 * `most` or fewer than `least`, and chance does not explain that. With `ordered` false, as in a
 * window, which is cleared meanwhile, their order says nothing. For all pages after
 * estimate_expect. About 1 ms. */
bool evenness_is_no_copy(const struct estimate *estimate, bool ordered, double least, double most);

/* D, divided as above, for a page with `set` cells set among `pages` pages with the fraction `fill`
 * of all cells set; negative if the page has fewer keys than the average. */
double evenness_evidence(struct geometry geometry, double pages, double fill, double set);

#endif
