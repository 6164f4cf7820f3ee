#include "core/estimate.h"

#include <math.h>

void estimate_start(struct estimate *estimate, struct geometry geometry)
{
    unsigned cells = geometry_block_cells(geometry);
    *estimate = (struct estimate){.geometry = geometry, .kernel = kernel_for(geometry)};
    estimate->choices = 1;
    for (unsigned j = 1; j <= geometry.blocks; j++)
        estimate->choices = estimate->choices * (PAGE_BLOCKS + 1 - j) / j;
    for (unsigned x = 0; x <= cells; x++) {
        estimate->chance[x] = 1;
        for (unsigned t = 0; t < geometry.fields; t++)
            estimate->chance[x] *= (double)x / cells;
    }
}

void estimate_expect(struct estimate *estimate, uint64_t pages)
{
    estimate->part_pages = (pages + ESTIMATE_PARTS - 1) / ESTIMATE_PARTS;
}

/* The fraction of zero cells of a page. A full page counts as if half a cell were zero. */
static double zero_of(struct geometry geometry, double set)
{
    double cells = geometry_page_cells(geometry);
    return 1 - fmin(set, cells - 0.5) / cells;
}

/* ln(1 - y) */
static double log_zero(struct geometry geometry)
{
    return log1p(-geometry_share(geometry));
}

double estimate_page_keys(struct geometry geometry, double set)
{
    return fabs(log(zero_of(geometry, set)) / log_zero(geometry)); /* 0, never -0 */
}

void estimate_add(struct estimate *estimate, const uint8_t *bytes, uint64_t pages)
{
    unsigned cells = geometry_page_cells(estimate->geometry), step = cells / ESTIMATE_STEPS;
    unsigned g = estimate->geometry.blocks;
    for (const uint8_t *page = bytes; pages > 0; pages--, page += PAGE_BYTES) {
        uint16_t blocks[PAGE_BLOCKS];
        unsigned set = estimate->kernel->count(page, blocks);
        double zero = zero_of(estimate->geometry, set);
        bool full = cells - set < ESTIMATE_ZERO_CELLS;
        uint64_t number = estimate->part_pages != 0 ? estimate->pages / estimate->part_pages : 0;
        struct estimate_part *part = &estimate->parts[number];
        part->most = set > part->most ? set : part->most;
        part->least = part->pages == 0 || set < part->least ? set : part->least;
        part->set += set;
        part->pages++;
        estimate->pages++;
        estimate->full += full;
        estimate->set += set;
        estimate->steps[(set + step - 1) / step]++;
        estimate->log_sum += log(zero);
        estimate->most_log_sum += full ? log(3.0 * ESTIMATE_ZERO_CELLS / cells) : log(zero);
        estimate->inverse_sum += 1 / zero;

        /* e_g of the chances of the page's blocks. The sums e_j of products of j chances, j = 0..g,
         * are extended by one block at a time: a choice either includes it or not, so e_j grows by
         * chance * e_(j-1). No term is negative, so nothing cancels; there are at most C(64, 16)
         * terms, so that sums of ones are exact. */
        double sum[BLOCKS_MAX + 1] = {1};
        for (unsigned block = 0; block < PAGE_BLOCKS; block++) {
            double chance = estimate->chance[blocks[block]];
            for (unsigned j = g; j > 0; j--)
                sum[j] += chance * sum[j - 1];
        }
        estimate->rate_sum += sum[g] / estimate->choices;
    }
}

double estimate_keys(const struct estimate *estimate)
{
    /* + 0.0 makes 0 of -0. */
    return estimate->log_sum / log_zero(estimate->geometry) + 0.0;
}

double estimate_least_keys(const struct estimate *estimate)
{
    return estimate->most_log_sum / log_zero(estimate->geometry) + 0.0;
}

double estimate_deviation(const struct estimate *estimate)
{
    double sum = estimate->inverse_sum - (double)estimate->pages + estimate->log_sum;
    double cells = geometry_page_cells(estimate->geometry);
    return sqrt((sum > 0 ? sum : 0) / cells) / -log_zero(estimate->geometry);
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
