/*
 * sizing - how many pages a layer needs: the false-positive rate as a function of keys and pages.
 *
 * Cells are bits, or the counters of a counting filter: it is in when its cells are not zero.
 *
 * The staircase, from the textbook to this:
 *
 *   1. The formula (1 - e^(-kn/m))^k assumes that each bit of a key falls anywhere. Here they share
 *      lines, and lines fill unevenly, so that it is 1.3 to 31 times too low.
 *   2. So take the average over all the ways in which the keys can have fallen:
 *
 *          rate = E_M[ ( E_i|M[ q(i) ] )^g ]
 *
 *          M    keys in the page             Binomial(n, 1 / pages)
 *          i|M  keys in a line of that page  Binomial(M, g / 64)
 *          q(i) chance that f random cells of a line are all set after i keys of f cells each
 *
 *   3. Every machine must come to the same number of pages: filters made apart can then be merged,
 *      and output is the same everywhere. exp() and the like differ in the last bit. So binomials
 *      and q come from recurrences of + - * / on IEEE doubles, in a fixed order, without
 *      contraction and in no wider registers; so does the one logarithm. (sqrt() is exact, too.)
 *   4. Sums over all n keys would never end. What is more than 9 standard deviations off the mean
 *      does not count, and M goes in steps of a quarter of one: 30 us.
 *   5. Solving for pages tries sizes of 12 significant bits only: a dozen tries.
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
/* No layer is larger: 2^38 pages are 2^50 bytes. Page and byte counts never overflow 63 bits. */
#define SIZING_PAGES_MAX (UINT64_C(1) << 38)

/* Layers are sized for this much of their rate: P2 is about the rate that is measured. */
#define SIZING_MARGIN 0.97

/* The rate of a layer of `pages` with `keys` inside (keys may have a fraction). About 30 us. */
double sizing_rate(struct geometry geometry, uint64_t pages, double keys);

/* The fewest pages whose rate with `keys` inside is at most SIZING_MARGIN * rate, so that the
 * measured rate stays under `rate` with its noise (which costs 0.15 % of space). Rounded up to 12
 * significant bits. 0 if it would be more than SIZING_PAGES_MAX. */
uint64_t sizing_pages(struct geometry geometry, uint64_t keys, double rate);

/* The other way round: the most keys that `pages` hold at that rate; 0 if not even one. */
uint64_t sizing_capacity(struct geometry geometry, uint64_t pages, double rate);

/* Whether a layer made for that rate may be one for so many keys: a cheap bound that every layer
 * which can be made keeps by a wide margin, and that absurd numbers break. It does without exp()
 * and the model: with x = keys * geometry_share / pages, the fill is 1 - e^-x, which is above
 * 1 - 1 / (1 + x + x^2/2 + x^3/6); and the rate is above fill^k, since powers are convex. */
bool sizing_may_hold(struct geometry geometry, uint64_t pages, uint64_t keys, double rate);

/* How many of `lines` distinct lines are remembered while they fill an empty layer: all but those
 * that look seen on the way. Simpson's rule over the rate, whose error is far below a key in a
 * thousand; about 0.5 ms. */
double sizing_remembered(struct geometry geometry, uint64_t pages, double lines);

/* The other way round: how many distinct lines come until so many are remembered. Where the rate is
 * above 0.999 hardly any is, and it tells fewer than came. About 3 ms. */
double sizing_lines(struct geometry geometry, uint64_t pages, double remembered);

/* The geometry for a rate: the smallest g whose size is within 5 % of the classic filter's (of the
 * best one's, for counting cells), and the f that makes it smallest. Depends on these two alone. At
 * most about 2 ms. */
struct geometry sizing_geometry(double rate, bool counting);

/* The geometry with k nearest to `hashes`: fewest lines that can hold as many fields, and fields
 * rounded up. So 10 is 2 x 5; 11 becomes 12 = 2 x 6. hashes: 1..BLOCKS_MAX * FIELDS_MAX. */
struct geometry sizing_geometry_of_hashes(unsigned hashes, bool counting);

/* Bits a key of a filter at capacity: pages * 32768 / keys, whatever a cell is. */
double sizing_bits_per_key(uint64_t pages, double keys);

/* The classic filter, for comparison: bits a key at a rate with the best k (log2(1/p) / ln 2), and
 * the rate (1 - e^(-k/b))^k with b bits a key and k hashes. Use libm: not for deciding anything. */
double sizing_classic_bits_per_key(double rate);
double sizing_classic_rate(double bits_per_key, unsigned hashes);
#endif
