#include "core/evenness.h"

#include <math.h>

/* y2: the chance that a key of a page sets at least one of two cells, of one line or of two. */
static double share_of_two(struct geometry geometry, bool same_line)
{
    double lines = geometry.lines, cells = geometry_line_cells(geometry);
    if (same_line)
        return lines / PAGE_LINES * (1 - pow(1 - 2 / cells, geometry.fields));
    double hit = 1 - pow(1 - 1 / cells, geometry.fields);
    double both = lines * (lines - 1) / (PAGE_LINES * (PAGE_LINES - 1.0));
    return 2 * lines / PAGE_LINES * hit - both * hit * hit;
}

/* The keys that set this part of the cells. */
static double keys_at(struct geometry geometry, double fill)
{
    return log1p(-fill) / log1p(-geometry_share(geometry));
}

/* The variance of the cells set in a page, of as many keys on average as set this part of them. */
static double variance_by_chance(struct geometry geometry, double fill)
{
    double keys = -log1p(-fill) / geometry_share(geometry);
    double cells = geometry_page_cells(geometry), line = geometry_line_cells(geometry);
    double zero = cells * (1 - fill);
    double pairs = cells * (line - 1) * exp(-keys * share_of_two(geometry, true)) +
                   cells * (cells - line) * exp(-keys * share_of_two(geometry, false));
    return zero + pairs - zero * zero;
}

static double unevenness(const struct estimate *estimate)
{
    double pages = (double)estimate->pages, fill = estimate_fill(estimate);
    if (estimate->pages < 2 || !(fill > 0 && fill < 1))
        return 0;
    double mean = (double)estimate->set / pages;
    double variance = (estimate->set_squares - pages * mean * mean) / (pages - 1);
    double chance = variance_by_chance(estimate->geometry, fill);
    double keys = estimate_keys(estimate) / pages;
    if (!(chance > 0) || variance < 1.05 * chance)
        return 0;
    /* Their quotient is as chi-square with so many degrees of freedom, fewer where few keys make it
     * skew; its cube root as a normal variable (Wilson and Hilferty 1931). */
    double freedom = 2 / (2 / (pages - 1) + 1 / (keys * pages));
    double part = 2 / (9 * freedom);
    return (cbrt(variance / chance) - (1 - part)) / sqrt(part);
}

/* --- odd pages --- */

/* What chance does with less than e^-25, at any of the places to cut. */
static const double no_chance = 25 + 7;

/* The pages that are left, and how many were taken from them. */
struct rest {
    const struct estimate *estimate;
    unsigned from, to; /* of the steps, without the last */
    double pages, set;
    uint64_t taken;
};

/* The cells set in a page of this step: at most, and at least. */
static double most_set(const struct rest *rest, unsigned step)
{
    return (double)(step << rest->estimate->step_bits);
}

static double least_set(const struct rest *rest, unsigned step)
{
    return step > 0 ? most_set(rest, step - 1) + 1 : 0;
}

static double middle_set(const struct rest *rest, unsigned step)
{
    return (least_set(rest, step) + most_set(rest, step)) / 2;
}

/* How many times the variance of keys is that of keys told from cells. */
static double overdispersion(struct geometry geometry, double fill)
{
    double keys = -log1p(-fill) / geometry_share(geometry);
    double slope = (1 - fill) * geometry_page_cells(geometry) * geometry_share(geometry);
    return fmax(variance_by_chance(geometry, fill) / (slope * slope * keys), 1);
}

/* x ln(x / mean) */
static double surplus(double x, double mean)
{
    return x > 0 ? x * log(x / mean) : 0;
}

/* Pages at one end of the order, from step `step` on or down from it. */
struct cut {
    bool above;
    unsigned step;
    uint64_t pages;
    double set;
    double evidence;
};

/* D, and what is left of it. */
static double evidence(const struct rest *rest, const struct cut *cut)
{
    struct geometry geometry = rest->estimate->geometry;
    double cells = geometry_page_cells(geometry);
    double odd = (double)cut->pages, others = rest->pages - odd;
    double fill = fmax(rest->set - cut->set, 0) / (others * cells);
    double edge = (cut->above ? least_set(rest, cut->step) : most_set(rest, cut->step)) / cells;
    if (fill >= 1 || edge == fill || cut->above != (edge > fill))
        return 0;
    edge = fmin(edge, 1 - 0.5 / cells);
    double keys = keys_at(geometry, edge), others_keys = others * keys_at(geometry, fill);
    double mean = (odd * keys + others_keys) / rest->pages;
    double distance = odd * surplus(keys, mean) + surplus(others_keys, others * mean);
    double ways = odd * (log((double)rest->estimate->pages / odd) + 1);
    return distance / overdispersion(geometry, fmax(edge, fill)) - ways;
}

/* Tries all cuts from one end of what is left, and keeps the best. */
static void try_cuts(const struct rest *rest, bool above, struct cut *best)
{
    const struct estimate *estimate = rest->estimate;
    struct cut cut = {.above = above};
    for (unsigned i = 0; i < rest->to - rest->from; i++) {
        cut.step = above ? rest->to - 1 - i : rest->from + i;
        uint64_t here = estimate->steps[cut.step];
        cut.pages += here;
        cut.set += (double)here * middle_set(rest, cut.step);
        if (rest->taken + cut.pages > estimate->pages / 2)
            break;
        if (here == 0)
            continue;
        cut.evidence = evidence(rest, &cut);
        if (cut.evidence > best->evidence)
            *best = cut;
    }
}

static void take(struct rest *rest, const struct cut *cut)
{
    rest->taken += cut->pages;
    rest->pages -= (double)cut->pages;
    rest->set = fmax(rest->set - cut->set, 0);
    if (cut->above)
        rest->to = cut->step;
    else
        rest->from = cut->step + 1;
}

static void find_odd(const struct estimate *estimate, struct evenness *evenness)
{
    const double nearly_full = 15.0 / 16;
    struct geometry geometry = estimate->geometry;
    double cells = geometry_page_cells(geometry), fuller_keys = 0;
    struct rest rest = {
        estimate, 0, ESTIMATE_STEPS + 1, (double)estimate->pages, (double)estimate->set, 0};
    while (rest.set / (rest.pages * cells) <= nearly_full) {
        struct cut best = {.evidence = no_chance};
        try_cuts(&rest, true, &best);
        try_cuts(&rest, false, &best);
        if (best.pages == 0)
            break;
        take(&rest, &best);
    }
    for (unsigned step = 0; step < rest.from; step++)
        evenness->emptier += estimate->steps[step];
    for (unsigned step = rest.to; step <= ESTIMATE_STEPS; step++) {
        evenness->fuller += estimate->steps[step];
        fuller_keys += (double)estimate->steps[step] *
                       keys_at(geometry, fmin(middle_set(&rest, step) / cells, 1 - 0.5 / cells));
    }
    if (rest.from > 0 ||
        (evenness->fuller > 0 && evenness->fuller + estimate->empty == estimate->pages))
        evenness->empty = estimate->empty;
    evenness->most = evenness->fuller > 0 ? fuller_keys / (double)evenness->fuller : 0;
    evenness->keys = keys_at(geometry, fmin(rest.set / (rest.pages * cells), 1 - 0.5 / cells));
}

struct evenness evenness_of(const struct estimate *estimate)
{
    struct evenness evenness = {.torn = estimate->torn, .unevenness = unevenness(estimate)};
    if (estimate->pages > 0)
        find_odd(estimate, &evenness);
    return evenness;
}

bool evenness_has_filled(const struct estimate *estimate)
{
    enum { FAR_FROM_FULL = 64 }; /* zero cells */
    uint64_t cells = geometry_page_cells(estimate->geometry);
    uint64_t others = estimate->pages - estimate->full;
    if (estimate->full == 0 || others == 0)
        return false;
    double set = (double)(estimate->set - estimate->full * cells) / (double)others;
    return set < (double)(cells - FAR_FROM_FULL);
}
