/*
 * sizing - how many pages a layer needs: the false-positive rate as a function of keys and pages.
 *
 * A cell is a bit, or a counter of a counting filter; a counter that is not zero is a bit that is
 * set.
 *
 * How this model was derived from the textbook's formula, step by step:
 *
 *   1. The formula (1 - e^(-kn/m))^k assumes that each bit of a key can fall anywhere. Here a key's
 *      bits share blocks, and blocks fill unevenly, so the formula is 1.3 to 31 times too low.
 *   2. Instead, take the expectation over all ways in which keys can fall on pages and blocks:
 *
 *          rate = E_M[ ( E_i|M[ q(i) ] )^g ]
 *
 *          M    keys in the page              Binomial(n, 1 / pages)
 *          i|M  keys in a block of that page  Binomial(M, g / 64)
 *          q(i) chance that f random cells of a block are all set after i keys of f cells each
 *
 *   3. Every machine must compute the same number of pages, so that filters from different machines
 *      can be merged and output is the same everywhere. But exp() and the like differ in the last
 *      bit. So binomials, q and the one logarithm are computed by + - * / on IEEE doubles, in a
 *      fixed order, without contraction or wider registers. (sqrt() is exact, too.)
 *   4. A sum over all n keys would take too long. Values more than 9 standard deviations from the
 *      mean are left out, and M advances by a quarter of one: 30 us.
 *   5. The number of pages is rounded to 12 significant bits, so solving for it takes about a dozen
 *      tries.
 *
 * Pure functions, no allocation. Units: keys, pages of 4096 bytes, rates as probabilities.
 */
#ifndef UNSEEN_CORE_SIZING_H
#define UNSEEN_CORE_SIZING_H

#include "core/geometry.h"

#include <stdbool.h>

/* Limits on what can be asked for. */
#define SIZING_RATE_MIN 1e-12
#define SIZING_RATE_MAX 0.5
#define SIZING_KEYS_MAX UINT64_C(1000000000000)
/* No layer is larger: 2^38 pages are 2^50 bytes. So numbers of pages, bytes and bits fit into 63
 * bits. */
#define SIZING_PAGES_MAX (UINT64_C(1) << 38)

/* Layers are sized for this fraction of their rate, so that a measured rate, with its noise, stays
 * below p. It costs 0.15% of space. */
#define SIZING_MARGIN 0.97

/* The rate of a layer of `pages` with `keys` keys (not always whole). About 30 us. */
double sizing_rate(struct geometry geometry, uint64_t pages, double keys);

/* The rate of two layers, each of which has such a rate: 1 - (1 - a)(1 - b), in a form in which
 * rates near 0 do not cancel. */
static inline double sizing_joint_rate(double a, double b)
{
    return a + (1 - a) * b;
}

/* The fewest pages whose rate with `keys` keys is at most SIZING_MARGIN * rate, rounded up to 12
 * significant bits; 0 if they would be more than SIZING_PAGES_MAX. */
uint64_t sizing_pages(struct geometry geometry, uint64_t keys, double rate);

/* The inverse: the most keys that `pages` hold at that rate; 0 if not even one. */
uint64_t sizing_capacity(struct geometry geometry, uint64_t pages, double rate);

/* Whether a layer for that rate can have been made for `keys` keys. A cheap bound: true with a
 * wide margin for every layer that can be made, false for absurd numbers. It needs neither exp()
 * nor the model: with x = keys * geometry_share / pages, the fill is 1 - e^-x, which is above
 * 1 - 1 / (1 + x + x^2/2 + x^3/6); and the rate is above fill^k, because powers are convex. */
bool sizing_may_hold(struct geometry geometry, uint64_t pages, uint64_t keys, double rate);

/* How many of `lines` distinct lines an empty layer remembers: all but those that look seen while
 * it fills. Simpson's rule over the rate, with an error far below a thousandth. About 0.5 ms. */
double sizing_remembered(struct geometry geometry, uint64_t pages, double lines);

/* The inverse: how many distinct lines it takes to remember `remembered` of them. At rates above
 * 0.999, where hardly any line is remembered, the result is too low. About 3 ms. */
double sizing_lines(struct geometry geometry, uint64_t pages, double remembered);

/* The geometry for a rate: the smallest g whose size is within 5% of the classic filter's (for
 * counting cells, of the best geometry's), and the f that makes it smallest. At most about 2 ms. */
struct geometry sizing_geometry(double rate, bool counting);

/* The geometry with k nearest to `hashes`, rounded up: the fewest blocks that suffice, then the
 * fewest fields. 10 is 2 x 5; 11 becomes 12 = 2 x 6. hashes: 1..BLOCKS_MAX * FIELDS_MAX. */
struct geometry sizing_geometry_of_hashes(unsigned hashes, bool counting);

/* Bits per key of a filter at capacity. */
static inline double sizing_bits_per_key(uint64_t pages, double keys)
{
    return (double)pages * PAGE_BITS / keys;
}

/* The classic filter's bits per key at a rate, with the best k: log2(1/p) / ln 2. By libm, so it
 * must not decide anything. */
double sizing_classic_bits_per_key(double rate);

#endif
