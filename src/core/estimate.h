/*
 * estimate - the keys in a layer and its present false-positive rate, computed from its bits.
 *
 * In a counting layer, a cell that is not zero counts as a bit that is set, and a block has 128.
 *
 * Counters can be wrong after a crash or in a copy; the bits cannot. Both figures are computed page
 * by page and summed, because pages and blocks fill unevenly:
 *
 *   keys  In a page with M keys a given bit is still zero with chance (1 - y)^M, where
 *         y = g/64 * (1 - (1 - 1/512)^f). So with Z of 32768 bits zero, M = ln(Z/32768) / ln(1-y).
 *   rate  A new key that falls into the page is looked up in g distinct blocks. In a block with x
 *         bits set, all its bits are found set with chance (x/512)^f. The rate is the mean, over
 *         all choices of g blocks, of the product of these chances: the elementary symmetric
 *         polynomial e_g of the 64 chances, divided by the number of choices. (The textbook's
 *         (X/m)^k, applied to a whole page, is 31 times too low at 1e-6.)
 *
 * The number of keys is an estimate, because keys share bits at random. With t = -ln(Z/m) its
 * variance is (e^t - 1 - t) / (m y^2) in a page of m bits (Whang and others 1990, with m y bits per
 * key where linear counting has one): at half fill and k = 18 it is a fortieth of the keys.
 *
 * Cost: about 0.8 us per page.
 */
#ifndef UNSEEN_CORE_ESTIMATE_H
#define UNSEEN_CORE_ESTIMATE_H

#include "core/kernel.h"

/* For evenness.h, pages are counted by the cells set in them, in steps of a 512th of all cells. */
enum { ESTIMATE_STEPS = 512 };

/* And where they lie: pages that follow one another, in at most this many parts of equal size. */
enum { ESTIMATE_PARTS = 256 };
struct estimate_part {
    uint64_t pages, set;
    unsigned most, least; /* cells set in a page */
};

/* A page with fewer zero cells is full: ten thousand keys more might change nothing. */
enum { ESTIMATE_ZERO_CELLS = 32 };

struct estimate {
    struct geometry geometry;
    const struct kernel *kernel;
    double choices;      /* C(64, g) */
    uint64_t pages;      /* added so far */
    uint64_t set;        /* bits set in them, or cells that are not zero */
    uint64_t full;       /* pages that are full */
    double log_sum;      /* sum of ln(zero bits / bits) */
    double most_log_sum; /* the same, where a full page has 3 * ESTIMATE_ZERO_CELLS zero cells */
    double inverse_sum;  /* sum of cells / zero cells */
    double rate_sum;
    uint64_t part_pages; /* of a part; 0: only one is kept */
    struct estimate_part parts[ESTIMATE_PARTS];
    uint64_t steps[ESTIMATE_STEPS + 1]; /* pages by cells set: none, 1 to a 512th, and so on */
    double chance[BLOCK_BITS + 1];      /* (x / 512)^f */
};

void estimate_start(struct estimate *estimate, struct geometry geometry);

/* After estimate_start: this many pages will be added, in their order, and are kept in parts. */
void estimate_expect(struct estimate *estimate, uint64_t pages);

void estimate_add(struct estimate *estimate, const uint8_t *bytes, uint64_t pages);

/* The number of keys of a page with `set` cells set. */
double estimate_page_keys(struct geometry geometry, double set);

/* Over all pages added: the number of distinct keys, its standard deviation, the probability that a
 * new key looks seen, and the fraction of bits set. All 0 if no page was added. */
double estimate_keys(const struct estimate *estimate);
double estimate_deviation(const struct estimate *estimate);
double estimate_rate(const struct estimate *estimate);
double estimate_fill(const struct estimate *estimate);

/* Whether the bits tell the number of keys: at most half of the pages are full. */
static inline bool estimate_is_told(const struct estimate *estimate)
{
    return estimate->full * 2 <= estimate->pages;
}

/* If they do not: a lower bound of it, by six standard deviations. */
double estimate_least_keys(const struct estimate *estimate);

#endif
