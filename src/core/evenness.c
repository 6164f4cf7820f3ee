#include "core/evenness.h"

#include <math.h>

/* y2: the chance that a key of a page sets at least one of two cells, in one block or in two. */
static double share_of_two(struct geometry geometry, bool same_block)
{
    double blocks = geometry.blocks, cells = geometry_block_cells(geometry);
    if (same_block)
        return blocks / PAGE_BLOCKS * (1 - pow(1 - 2 / cells, geometry.fields));
    double hit = 1 - pow(1 - 1 / cells, geometry.fields);
    double both = blocks * (blocks - 1) / (PAGE_BLOCKS * (PAGE_BLOCKS - 1.0));
    return 2 * blocks / PAGE_BLOCKS * hit - both * hit * hit;
}

/* x ln(x / mean) */
static double surplus(double x, double mean)
{
    return x > 0 ? x * log(x / mean) : 0;
}

double evenness_evidence(struct geometry geometry, double pages, double fill, double set)
{
    double cells = geometry_page_cells(geometry);
    double keys = estimate_page_keys(geometry, set),
           mean = estimate_page_keys(geometry, fill * cells);
    double others = fmax(pages * mean - keys, 0);
    if (!(mean > 0) || pages < 2)
        return 0;
    double distance = surplus(keys, mean) + surplus(others, (pages - 1) * mean);
    /* The variance of keys computed from cells, divided by the variance of keys. */
    double most = fmin(fmax(fill, set / cells), 1 - 0.5 / cells);
    double m = -log1p(-most) / geometry_share(geometry);
    double zero = cells * (1 - most), slope = zero * geometry_share(geometry);
    double block = geometry_block_cells(geometry);
    double pairs = cells * (block - 1) * exp(-m * share_of_two(geometry, true)) +
                   cells * (cells - block) * exp(-m * share_of_two(geometry, false));
    double ratio = fmax((zero + pairs - zero * zero) / (slope * slope * m), 1);
    return copysign(distance / ratio, keys - mean);
}

/* The pages that have not been set aside: those of the steps from..to. */
struct rest {
    const struct estimate *estimate;
    unsigned from, to;
    double pages, set;
};

/* The most, and the fewest, cells set in a page of this step. */
static double most_set(const struct rest *rest, unsigned step)
{
    return (double)step * geometry_page_cells(rest->estimate->geometry) / ESTIMATE_STEPS;
}

static double least_set(const struct rest *rest, unsigned step)
{
    return step > 0 ? most_set(rest, step - 1) + 1 : 0;
}

static double fill_of(const struct rest *rest)
{
    return rest->set / (rest->pages * geometry_page_cells(rest->estimate->geometry));
}

/* Sets the pages of a step aside: counts them in *odd, and updates *keys, their average. */
static void set_aside(struct rest *rest, unsigned step, uint64_t *odd, double *keys)
{
    uint64_t pages = rest->estimate->steps[step];
    double set = (least_set(rest, step) + most_set(rest, step)) / 2;
    double each = estimate_page_keys(rest->estimate->geometry, set);
    *keys = (*keys * (double)*odd + each * (double)pages) / (double)(*odd + pages);
    *odd += pages;
    rest->pages -= (double)pages;
    rest->set = fmax(rest->set - set * (double)pages, 0);
}

static double evidence(const struct rest *rest, double set)
{
    return evenness_evidence(rest->estimate->geometry, rest->pages, fill_of(rest), set);
}

/* More evidence than chance explains for one of all pages. */
static double enough_for(const struct estimate *estimate)
{
    const double one_in = 1e8;
    return log(one_in * (double)estimate->pages);
}

/* The evidence that a page with `set` cells set does not belong to those of `others`. */
static double against(struct geometry geometry, struct estimate_part others, unsigned set)
{
    double pages = (double)others.pages + 1, cells = geometry_page_cells(geometry);
    return evenness_evidence(geometry, pages, ((double)others.set + set) / (pages * cells), set);
}

bool evenness_is_no_copy(const struct estimate *estimate, bool ordered, double least, double most)
{
    struct geometry geometry = estimate->geometry;
    struct estimate_part before = {.pages = 0}, after = {estimate->pages, estimate->set, 0, 0};
    double pages = (double)estimate->pages, enough = enough_for(estimate);
    double least_fill = -expm1(log1p(-geometry_share(geometry)) * least);
    double most_fill = -expm1(log1p(-geometry_share(geometry)) * most);
    for (unsigned i = 0; i < ESTIMATE_PARTS; i++) {
        struct estimate_part part = estimate->parts[i];
        if (part.pages == 0)
            break;
        after.pages -= part.pages;
        after.set -= part.set;
        if ((ordered && against(geometry, after, part.most) > enough) ||
            (ordered && -against(geometry, before, part.least) > enough) ||
            evenness_evidence(geometry, pages, most_fill, part.most) > enough ||
            -evenness_evidence(geometry, pages, least_fill, part.least) > enough)
            return true;
        before.pages += part.pages;
        before.set += part.set;
    }
    return false;
}

struct evenness evenness_of(const struct estimate *estimate)
{
    const double nearly_full = 15.0 / 16;
    double pages = (double)estimate->pages, enough = enough_for(estimate);
    struct evenness evenness = {.keys = 0};
    struct rest rest = {estimate, 0, ESTIMATE_STEPS, pages, (double)estimate->set};
    while (rest.pages > pages / 2 && fill_of(&rest) <= nearly_full) {
        while (estimate->steps[rest.from] == 0)
            rest.from++;
        while (estimate->steps[rest.to] == 0)
            rest.to--;
        double above = evidence(&rest, least_set(&rest, rest.to));
        double below = -evidence(&rest, most_set(&rest, rest.from));
        if (fmax(above, below) <= enough)
            break;
        if (above > below)
            set_aside(&rest, rest.to--, &evenness.fuller, &evenness.most);
        else
            set_aside(&rest, rest.from++, &evenness.emptier, &evenness.least);
    }
    if (rest.pages > 0)
        evenness.keys = estimate_page_keys(estimate->geometry, rest.set / rest.pages);
    return evenness;
}
