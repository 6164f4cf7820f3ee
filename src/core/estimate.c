#include "core/estimate.h"

#include <math.h>
#include <string.h>

void estimate_start(struct estimate *estimate, struct geometry geometry)
{
    memset(estimate, 0, offsetof(struct estimate, chance));
    estimate->geometry = geometry;
    estimate->kernel = kernel_for(geometry);
    estimate->zero = 1;
    estimate->choices = 1;
    for (unsigned j = 1; j <= geometry.lines; j++)
        estimate->choices = estimate->choices * (PAGE_LINES + 1 - j) / j;
}

/* ln(1 - y) */
static double log_zero(const struct estimate *estimate)
{
    return log1p(-geometry_share(estimate->geometry));
}

/* The table is a tenth of the start of a run that does not ask for the rate. */
static void fill_chances(struct estimate *estimate)
{
    unsigned cells = geometry_line_cells(estimate->geometry);
    for (unsigned x = 0; x <= cells; x++) {
        double chance = 1;
        for (unsigned t = 0; t < estimate->geometry.fields; t++)
            chance *= (double)x / cells;
        estimate->chance[x] = chance;
    }
    estimate->has_chances = true;
}

/* The logarithm of a product, since it is slow: of as many factors as do not make it vanish. */
static void add_zero(struct estimate *estimate, double zero)
{
    estimate->zero *= zero;
    if (estimate->zero < 1e-100) {
        estimate->log_sum += log(estimate->zero);
        estimate->zero = 1;
    }
}

/* What the bits set in one page tell of its keys; in all, they are `set`. */
static void add_page(struct estimate *estimate, unsigned set)
{
    unsigned cells = geometry_page_cells(estimate->geometry);
    /* A full page counts as if half a cell were zero. */
    double zero = set < cells ? cells - set : 0.5;
    estimate->pages++;
    estimate->full += set == cells;
    estimate->empty += set == 0;
    estimate->set += set;
    estimate->set_squares += (double)set * set;
    add_zero(estimate, zero / cells);
    estimate->inverse_sum += cells / zero;
}

/* Adds a page, and puts into `lines` how many bits are set in each of its lines. */
static void count_page(struct estimate *estimate, const uint8_t *page, uint16_t lines[PAGE_LINES])
{
    unsigned set = 0;
    estimate->kernel->count(page, lines);
    for (unsigned line = 0; line < PAGE_LINES; line++)
        set += lines[line];
    add_page(estimate, set);
}

void estimate_add_keys(struct estimate *estimate, const uint8_t *bytes, uint64_t pages)
{
    uint16_t lines[PAGE_LINES];
    for (uint64_t i = 0; i < pages; i++)
        count_page(estimate, bytes + i * PAGE_BYTES, lines);
}

/* Up to KERNEL_PAGES pages. */
static void add_pages(struct estimate *estimate, const uint8_t *bytes, unsigned pages)
{
    double chances[PAGE_LINES][KERNEL_PAGES] = {{0}};
    double sums[KERNEL_PAGES];
    for (unsigned page = 0; page < pages; page++) {
        uint16_t lines[PAGE_LINES];
        count_page(estimate, bytes + (size_t)page * PAGE_BYTES, lines);
        for (unsigned line = 0; line < PAGE_LINES; line++)
            chances[line][page] = estimate->chance[lines[line]];
    }
    estimate->kernel->products(chances, estimate->geometry.lines, sums);
    for (unsigned page = 0; page < pages; page++)
        estimate->rate_sum += sums[page] / estimate->choices;
}

void estimate_add(struct estimate *estimate, const uint8_t *bytes, uint64_t pages)
{
    if (!estimate->has_chances)
        fill_chances(estimate);
    for (uint64_t i = 0; i < pages; i += KERNEL_PAGES) {
        uint64_t left = pages - i;
        add_pages(estimate, bytes + i * PAGE_BYTES,
                  left < KERNEL_PAGES ? (unsigned)left : KERNEL_PAGES);
    }
}

void estimate_merge(struct estimate *estimate, const struct estimate *other)
{
    estimate->pages += other->pages;
    estimate->full += other->full;
    estimate->empty += other->empty;
    estimate->set_squares += other->set_squares;
    estimate->set += other->set;
    estimate->inverse_sum += other->inverse_sum;
    estimate->rate_sum += other->rate_sum;
    estimate->log_sum += other->log_sum;
    add_zero(estimate, other->zero);
}

static double sum_of_logs(const struct estimate *estimate)
{
    return estimate->log_sum + log(estimate->zero);
}

double estimate_keys(const struct estimate *estimate)
{
    /* Not -0. */
    return sum_of_logs(estimate) / log_zero(estimate) + 0.0;
}

double estimate_deviation(const struct estimate *estimate)
{
    double sum = estimate->inverse_sum - (double)estimate->pages + sum_of_logs(estimate);
    double cells = geometry_page_cells(estimate->geometry);
    return sqrt((sum > 0 ? sum : 0) / cells) / -log_zero(estimate);
}

double estimate_rate(const struct estimate *estimate)
{
    return estimate->pages != 0 ? estimate->rate_sum / (double)estimate->pages : 0;
}

double estimate_fill(const struct estimate *estimate)
{
    if (estimate->pages == 0)
        return 0;
    return (double)estimate->set /
           ((double)estimate->pages * geometry_page_cells(estimate->geometry));
}

/* --- evenness --- */

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

double estimate_unevenness(const struct estimate *estimate)
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

/* The keys of a page that is not empty, on average, or somewhat fewer. */
static double keys_of_others(const struct estimate *estimate)
{
    double others = (double)(estimate->pages - estimate->empty);
    double fill = (double)estimate->set / (others * geometry_page_cells(estimate->geometry));
    double keys = -log1p(-fill) / geometry_share(estimate->geometry);
    /* A page that is not empty has more keys than one that may be: m / (1 - e^-m). */
    return keys * (1 - exp(1 - keys));
}

bool estimate_has_wiped(const struct estimate *estimate)
{
    const double no_chance = 25; /* e^-25 is 1e-11 */
    double wiped = (double)estimate->empty;
    if (estimate->empty == 0 || estimate->empty == estimate->pages || estimate_fill(estimate) >= 1)
        return false;
    double keys = keys_of_others(estimate);
    /* Chernoff's bound for a Poisson variable of that mean, whose logarithm this is. */
    double mean_log = log((double)estimate->pages) - keys;
    return keys > 0 && log(wiped) > mean_log &&
           wiped * (log(wiped) - mean_log) - wiped + exp(mean_log) > no_chance;
}

bool estimate_has_filled(const struct estimate *estimate)
{
    enum { FAR_FROM_FULL = 64 }; /* zero cells */
    uint64_t cells = geometry_page_cells(estimate->geometry);
    uint64_t others = estimate->pages - estimate->full;
    if (estimate->full == 0 || others == 0)
        return false;
    double set = (double)(estimate->set - estimate->full * cells) / (double)others;
    return set < (double)(cells - FAR_FROM_FULL);
}
