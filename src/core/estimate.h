/*
 * estimate - what the bits of a layer say about it: keys inside, and the rate as it is now.
 *
 * In a counting layer a cell that is not zero is a bit that is set, and a line has 128 of them.
 *
 * Counters can be wrong after a crash or in a copy; the bits cannot. Both figures are computed page
 * by page and summed, because pages and lines fill unevenly:
 *
 *   keys  In a page with M keys a given bit is still zero with chance (1 - y)^M, where
 *         y = g/64 * (1 - (1 - 1/512)^f). So with Z of 32768 bits zero, M = ln(Z/32768) / ln(1-y).
 *   rate  A new key that falls into the page looks at g distinct lines, each with chance
 *         (x/512)^f of finding all its bits set, x being the line's set bits: the mean over all
 *         choices of g lines of the product. That is the elementary symmetric polynomial e_g of the
 *         64 chances, divided by the number of choices. (The textbook's (X/m)^k, read off the whole
 *         page, is 31 times too low at 1e-6.)
 *
 * The keys are an estimate, since which bits fall together is chance. With t = -ln(Z/m) its
 * variance is (e^t - 1 - t) / (m y^2) in a page of m bits (Whang and others 1990, with m y bits a
 * key where linear counting has one): at half fill and k = 18 it is a fortieth of the keys.
 *
 * What the pages tell of damage and of chosen lines is in evenness.h.
 *
 * As fast as memory is read: about 0.3 us a page.
 */
#ifndef UNSEEN_CORE_ESTIMATE_H
#define UNSEEN_CORE_ESTIMATE_H

#include "core/kernel.h"

/* Pages are told apart by how many of their cells are set, in steps of a 512th of all. */
enum { ESTIMATE_STEPS = 512 };

struct estimate {
    struct geometry geometry;
    const struct kernel *kernel;
    double choices;     /* C(64, g) */
    uint64_t pages;     /* added so far */
    uint64_t set;       /* bits set in them; cells that are not zero */
    uint64_t full;      /* pages with no zero cell: their keys are only known to be many */
    double log_sum;     /* of ln(zero bits / bits), of most pages; and of the others */
    double zero;        /* the product of zero bits / bits */
    double inverse_sum; /* of cells / zero cells */
    double rate_sum;
    unsigned step_bits; /* a 512th of all cells is 2 to this power */
    uint64_t *steps;    /* pages by cells set: 0; 1 to a 512th; and so on; NULL: not asked for */
    bool has_chances;   /* the next one, once the rate is asked for */
    double chance[BLOCK_BITS + 1]; /* (x / 512)^f */
};

void estimate_start(struct estimate *estimate, struct geometry geometry);

/* The same for evenness.h, which wants to know how many pages have how many cells set: they are
 * counted in `steps`, 4 KB that only it needs, and that stay the caller's. */
void estimate_start_steps(struct estimate *estimate, struct geometry geometry,
                          uint64_t steps[ESTIMATE_STEPS + 1]);

/* Adds `pages` pages at `bytes`. */
void estimate_add(struct estimate *estimate, const uint8_t *bytes, uint64_t pages);

/* The same for who will not ask for the rate, which is most of the work. */
void estimate_add_keys(struct estimate *estimate, const uint8_t *bytes, uint64_t pages);

/* Adds what was added to another one, of the same geometry, and with steps if this has them. */
void estimate_merge(struct estimate *estimate, const struct estimate *other);

/* Over all pages added: number of distinct keys inside, probability that a new key looks seen, and
 * the fraction of bits set. All 0 if no page was added. */
double estimate_keys(const struct estimate *estimate);
/* The standard deviation of the number of keys, for the keys that are in these pages. */
double estimate_deviation(const struct estimate *estimate);
double estimate_rate(const struct estimate *estimate);
double estimate_fill(const struct estimate *estimate);

#endif
