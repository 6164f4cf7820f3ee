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

/* The most, and the fewest, cells set in a page of a step of the estimate. */
static double most_set(struct geometry geometry, unsigned step)
{
    return (double)step * geometry_page_cells(geometry) / ESTIMATE_STEPS;
}

static double least_set(struct geometry geometry, unsigned step)
{
    return step > 0 ? most_set(geometry, step - 1) + 1 : 0;
}

struct evenness evenness_of(const struct estimate *estimate)
{
    const double nearly_full = 15.0 / 16;
    struct geometry geometry = estimate->geometry;
    double all = (double)estimate->pages, enough = enough_for(estimate);
    struct evenness evenness = {.keys = 0};
    /* The pages that are not set aside, those of the steps `low` to `high`, and their cells set. */
    unsigned low = 0, high = ESTIMATE_STEPS;
    double pages = all, set = (double)estimate->set;
    while (pages > all / 2) {
        double fill = set / (pages * geometry_page_cells(geometry));
        if (fill > nearly_full)
            break;
        while (estimate->steps[low] == 0)
            low++;
        while (estimate->steps[high] == 0)
            high--;
        double above = evenness_evidence(geometry, pages, fill, least_set(geometry, high));
        double below = -evenness_evidence(geometry, pages, fill, most_set(geometry, low));
        if (fmax(above, below) <= enough)
            break;
        /* The odder of the two steps is set aside: counted, and its average keys updated. */
        bool fuller = above > below;
        unsigned step = fuller ? high-- : low++;
        uint64_t *odd = fuller ? &evenness.fuller : &evenness.emptier, more = estimate->steps[step];
        double *keys = fuller ? &evenness.most : &evenness.least;
        double middle = (least_set(geometry, step) + most_set(geometry, step)) / 2;
        double each = estimate_page_keys(geometry, middle);
        *keys = (*keys * (double)*odd + each * (double)more) / (double)(*odd + more);
        *odd += more;
        pages -= (double)more;
        set = fmax(set - middle * (double)more, 0);
    }
    if (pages > 0)
        evenness.keys = estimate_page_keys(geometry, set / pages);
    return evenness;
}
