#include "core/sizing.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The Makefile passes the flags that this needs. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "this compiler does not round doubles as other machines do (for i386: -msse2 -mfpmath=sse)"
#endif

#define LN2 0.69314718055994530942
/* A geometry is good enough if it needs at most this times the classic filter's cells. */
#define NEAR_CLASSIC 1.05
/* A page of counting cells has a quarter of the keys, so pages and blocks fill less evenly. This
 * costs space in proportion to the square of k = log2(1/p). With the limit raised by this much, the
 * chosen size is within 5% of the best that any g reaches, at all rates. */
#define COUNTING_COST 7e-5
/* Binomials are summed to this many standard deviations from the mean. The upper tail weighs up to
 * the seventh power of the fill; at 9 deviations the rest is below 1e-12 of the result. */
#define REACH 9.0

enum { Q_MAX = 4096 };

/*
 * Computes q(i) for all i up to `last`: the chance that f fields, each one of a block's B cells,
 * all hit set cells after i * f throws.
 *
 * Inclusion and exclusion over the missed cells gives a sum of terms near 1 with alternating signs,
 * which is useless if q is 1e-14. Instead, let A_d(t) be the chance that d given cells are all set
 * after t throws. Either the last throw misses all d, or it hits one of them, and then the earlier
 * throws must have set the other d - 1:
 *
 *     A_d(t+1) = (1 - d/B) A_d(t) + (d/B) A_{d-1}(t),   A_0 = 1, A_d(0) = 0 for d > 0
 *
 * All terms are positive, so only the last few bits are inexact. The f fields hit d different cells
 * with probability S(f,d) B(B-1)..(B-d+1) / B^f (S: Stirling numbers of the second kind).
 */
static void fill_q(struct geometry geometry, double last, double q[Q_MAX])
{
    unsigned f = geometry.fields, cells = geometry_block_cells(geometry);
    double distinct[FIELDS_MAX + 1] = {1}; /* chance that f fields hit d different cells */
    double all_set[FIELDS_MAX + 1] = {1};  /* A_d(t) */
    /* The same recurrence counts distinct cells one field at a time. */
    for (unsigned t = 0; t < f; t++) {
        for (unsigned d = t + 1; d > 0; d--) {
            double again = distinct[d] * d / cells;
            double fresh = distinct[d - 1] * (cells - d + 1) / cells;
            distinct[d] = again + fresh;
        }
        distinct[0] = 0;
    }
    size_t i = 0;
    do {
        q[i] = 0;
        for (unsigned d = 1; d <= f; d++)
            q[i] += distinct[d] * all_set[d];
        /* One key more: f throws. */
        for (unsigned t = 0; t < f; t++)
            for (unsigned d = f; d > 0; d--) {
                double share = (double)d / cells;
                all_set[d] = (1 - share) * all_set[d] + share * all_set[d - 1];
            }
    } while (++i < Q_MAX && (double)i <= last);
}

/* The range of a Binomial(n, share), around its mode, that is summed. */
struct stretch {
    double low, mode, high;
};

static struct stretch binomial_stretch(double n, double share)
{
    double mean = n * share;
    double reach = REACH * sqrt(mean * (1 - share)) + 20;
    return (struct stretch){
        .low = mean > reach ? floor(mean - reach) : 0,
        .mode = fmin(floor((n + 1) * share), n),
        .high = fmin(floor(mean + reach), n),
    };
}

/* E_i|M[q(i)], with i from Binomial(keys_in_page, g/64). The weights are computed by recurrence
 * from the mode, where they are largest, and divided by their sum: no factorials, no exp(). */
static double block_rate(const double q[Q_MAX], double keys_in_page, double share)
{
    struct stretch s = binomial_stretch(keys_in_page, share);
    if (s.high > Q_MAX - 1)
        return 1;
    const double *upper = &q[(size_t)s.mode], *lower = upper;
    double odds = share / (1 - share);
    double sum = 1;
    double weighted = *upper;
    double weight = 1;
    for (double i = s.mode; i < s.high; i++) {
        weight *= (keys_in_page - i) / (i + 1) * odds;
        sum += weight;
        weighted += weight * *++upper;
    }
    weight = 1;
    for (double i = s.mode; i > s.low; i--) {
        weight *= i / ((keys_in_page - i + 1) * odds);
        sum += weight;
        weighted += weight * *--lower;
    }
    return weighted / sum;
}

static double power(double x, unsigned n)
{
    double result = 1;
    while (n-- > 0)
        result *= x;
    return result;
}

double sizing_rate(struct geometry geometry, uint64_t pages, double keys)
{
    if (keys <= 0)
        return 0;
    double share_of_page = 1 / (double)pages;
    double share_of_block = (double)geometry.blocks / PAGE_BLOCKS;
    struct stretch s = binomial_stretch(keys, share_of_page);
    /* If blocks hold thousands of keys, hardly any cell is zero. */
    if (s.mode * share_of_block > Q_MAX / 2.0)
        return 1;

    double q[Q_MAX];
    fill_q(geometry, ceil(binomial_stretch(s.high, share_of_block).high), q);
    if (pages == 1)
        return power(block_rate(q, keys, share_of_block), geometry.blocks);

    /* The rate is smooth in M: a quarter of a standard deviation is a fine enough step. */
    double deviation = sqrt(keys * share_of_page * (1 - share_of_page));
    long stride = deviation > 8 ? (long)(deviation / 4) : 1;
    double odds = share_of_page / (1 - share_of_page);
    double sum = 0, weighted = 0, weight = 1;
    long step = 0;
    for (double m = s.mode; m <= s.high; m++, step++) {
        if (step % stride == 0) {
            sum += weight;
            weighted += weight * power(block_rate(q, m, share_of_block), geometry.blocks);
        }
        weight *= (keys - m) / (m + 1) * odds;
    }
    weight = 1;
    step = 0;
    for (double m = s.mode; m > s.low; m--) {
        weight *= m / ((keys - m + 1) * odds);
        if (++step % stride == 0) {
            sum += weight;
            weighted += weight * power(block_rate(q, m - 1, share_of_block), geometry.blocks);
        }
    }
    return weighted / sum;
}

/* Numbers of pages have 12 significant bits, so that solving for them takes a dozen steps. The grid
 * has all numbers up to 4095, and 2048 numbers per power of two from there on. */
enum { GRID = 2048 };

static uint64_t grid_pages(uint64_t index)
{
    if (index < 2 * GRID)
        return index;
    uint64_t shift = index / GRID - 1;
    return (index - shift * GRID) << shift;
}

/* The index of the first number on the grid that is at least `pages`. */
static uint64_t grid_index(uint64_t pages)
{
    uint64_t shift = 0;
    while (pages >> shift >= 2 * GRID)
        shift++;
    uint64_t whole = pages >> shift;
    return shift * GRID + whole + (whole << shift < pages);
}

uint64_t sizing_pages(struct geometry geometry, uint64_t keys, double rate)
{
    double target = rate * SIZING_MARGIN;
    unsigned page_cells = geometry_page_cells(geometry);
    double start = (double)keys / page_cells;
    uint64_t last = grid_index(SIZING_PAGES_MAX);
    if (sizing_rate(geometry, 1, (double)keys) <= target)
        return 1;
    if (start > (double)SIZING_PAGES_MAX)
        return 0;
    /* Bisects between `low`, too few pages, and `high`, enough; first finds `high` in steps of half
     * an octave. With less than one cell per key no rate up to 0.5 is possible. */
    uint64_t low, high = start > 1 ? grid_index((uint64_t)start) : 1;
    do {
        low = high;
        high = low + 1 + (low < 2 * GRID ? low / 2 : GRID / 2);
        if (high > last)
            return 0;
    } while (sizing_rate(geometry, grid_pages(high), (double)keys) > target);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (sizing_rate(geometry, grid_pages(middle), (double)keys) <= target)
            high = middle;
        else
            low = middle;
    }
    return grid_pages(high);
}

uint64_t sizing_capacity(struct geometry geometry, uint64_t pages, double rate)
{
    double target = rate * SIZING_MARGIN;
    /* With less than one cell per key no rate up to 0.5 is possible. */
    uint64_t low = 0, high = pages * geometry_page_cells(geometry);
    /* To within 2^-20 of the result, rounded down. */
    while (high - low > 1 + (low >> 20)) {
        uint64_t middle = low + (high - low) / 2;
        if (sizing_rate(geometry, pages, (double)middle) <= target)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool sizing_may_hold(struct geometry geometry, uint64_t pages, uint64_t keys, double rate)
{
    /* At x = 12 about all of a page's 32768 bits are set. */
    const double full = 12, margin = 1.5;
    double x = (double)keys * geometry_share(geometry) / (double)pages;
    if (keys == 1)
        return true;
    double fill = 1 - 1 / (1 + x * (1 + x / 2 * (1 + x / 3)));
    return x <= full && power(fill, geometry_hashes(geometry)) <= margin * rate;
}

double sizing_remembered(struct geometry geometry, uint64_t pages, double lines)
{
    enum { STEPS = 16 };
    double sum = 0;
    for (unsigned i = 0; i <= STEPS; i++) {
        double weight = i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * (1 - sizing_rate(geometry, pages, lines * i / STEPS));
    }
    return sum * lines / (3 * STEPS);
}

/* By Newton's method: `remembered` grows by 1 - rate per line. The rate only rises, so the method
 * approaches the result from below. */
double sizing_lines(struct geometry geometry, uint64_t pages, double remembered)
{
    enum { ROUNDS = 16 };
    double lines = remembered, missing = 1;
    for (unsigned i = 0; i < ROUNDS && missing > 0.01; i++) {
        double rate = sizing_rate(geometry, pages, lines);
        if (rate > 0.999)
            break;
        missing = remembered - sizing_remembered(geometry, pages, lines);
        lines += missing / (1 - rate);
    }
    return lines;
}

/* Geometries are compared with enough pages that rounding to whole pages does not matter. */
#define MANY_PAGES (UINT64_C(1) << 20)

static bool fits(struct geometry geometry, double rate, double cells_per_key)
{
    double keys = (double)MANY_PAGES * geometry_page_cells(geometry) / cells_per_key;
    return sizing_rate(geometry, MANY_PAGES, keys) <= rate;
}

/* log2(x), x > 0, by + - * / alone: with z = (m - 1) / (m + 1), which is at most 0.172 here,
 * ln m = 2 (z + z^3/3 + z^5/5 + ...). */
static double log2_of(double x)
{
    const double root_half = 0.70710678118654752440;
    int exponent;
    double m = frexp(x, &exponent);
    if (m < root_half) {
        m *= 2;
        exponent--;
    }
    double z = (m - 1) / (m + 1), sum = 0;
    for (int n = 23; n > 0; n -= 2)
        sum = sum * z * z + 1.0 / n;
    return exponent + 2 * z * sum / LN2;
}

struct geometry sizing_geometry(double rate, bool counting)
{
    double ideal_hashes = log2_of(1 / rate);
    double near = NEAR_CLASSIC + (counting ? COUNTING_COST * ideal_hashes * ideal_hashes : 0);
    double most = near * ideal_hashes / LN2;
    for (unsigned blocks = 1; blocks <= BLOCKS_MAX; blocks++) {
        struct geometry best = {.blocks = 0};
        double best_cells = most;
        for (unsigned fields = 1; fields <= FIELDS_MAX; fields++) {
            struct geometry candidate = {(uint8_t)blocks, (uint8_t)fields, counting};
            /* Geometries far from the ideal k need too much space. */
            double hashes = geometry_hashes(candidate);
            if (hashes < 0.6 * ideal_hashes - 1 || hashes > 1.4 * ideal_hashes + 1)
                continue;
            if (!fits(candidate, rate, best_cells))
                continue;
            best = candidate;
            /* Bisects for the fewest cells per key. */
            double low = best_cells / 2;
            for (int i = 0; i < 12; i++) {
                double middle = (low + best_cells) / 2;
                *(fits(candidate, rate, middle) ? &best_cells : &low) = middle;
            }
        }
        if (best.blocks != 0)
            return best;
    }
    return (struct geometry){BLOCKS_MAX, FIELDS_MAX, counting};
}

struct geometry sizing_geometry_of_hashes(unsigned hashes, bool counting)
{
    unsigned blocks = (hashes + FIELDS_MAX - 1) / FIELDS_MAX;
    unsigned fields = (hashes + blocks - 1) / blocks;
    return (struct geometry){(uint8_t)blocks, (uint8_t)fields, counting};
}

double sizing_classic_bits_per_key(double rate)
{
    return log2(1 / rate) / log(2);
}
