#include "core/estimate.h"

#include <math.h>
#include <string.h>

void estimate_start(struct estimate *estimate, struct geometry geometry)
{
    memset(estimate, 0, offsetof(struct estimate, chance));
    estimate->geometry = geometry;
    estimate->kernel = kernel_for(geometry);
    estimate->zero = 1;
    estimate->step_bits = geometry.counting ? 4 : 6;
    estimate->choices = 1;
    for (unsigned j = 1; j <= geometry.blocks; j++)
        estimate->choices = estimate->choices * (PAGE_BLOCKS + 1 - j) / j;
}

/* ln(1 - y) */
static double log_zero(const struct estimate *estimate)
{
    return log1p(-geometry_share(estimate->geometry));
}

/* Filled only when the rate is asked for: it would take a tenth of the start of any other run. */
static void fill_chances(struct estimate *estimate)
{
    unsigned cells = geometry_block_cells(estimate->geometry);
    for (unsigned x = 0; x <= cells; x++) {
        double chance = 1;
        for (unsigned t = 0; t < estimate->geometry.fields; t++)
            chance *= (double)x / cells;
        estimate->chance[x] = chance;
    }
    estimate->has_chances = true;
}

/* log() is slow, so it is taken of a product of many factors, before the product underflows. */
static void add_zero(struct estimate *estimate, double zero)
{
    estimate->zero *= zero;
    if (estimate->zero < 1e-100) {
        estimate->log_sum += log(estimate->zero);
        estimate->zero = 1;
    }
}

/* Adds a page with `set` cells set, without its rate. */
static void add_page(struct estimate *estimate, unsigned set)
{
    unsigned cells = geometry_page_cells(estimate->geometry);
    /* A full page counts as if half a cell were zero. */
    double zero = set < cells ? cells - set : 0.5;
    estimate->pages++;
    estimate->full += set == cells;
    estimate->set += set;
    estimate->steps[(set + (1U << estimate->step_bits) - 1) >> estimate->step_bits]++;
    add_zero(estimate, zero / cells);
    estimate->inverse_sum += cells / zero;
}

/* Adds a page without its rate, and stores how many bits are set in each of its blocks. A page's
 * sum fits into 16 bits, which is fastest. */
static void count_page(struct estimate *estimate, const uint8_t *page, uint16_t blocks[PAGE_BLOCKS])
{
    uint16_t set = 0;
    estimate->kernel->count(page, blocks);
    for (unsigned block = 0; block < PAGE_BLOCKS; block++)
        set = (uint16_t)(set + blocks[block]);
    add_page(estimate, set);
}

void estimate_add_keys(struct estimate *estimate, const uint8_t *bytes, uint64_t pages)
{
    uint16_t blocks[PAGE_BLOCKS];
    for (uint64_t i = 0; i < pages; i++)
        count_page(estimate, bytes + i * PAGE_BYTES, blocks);
}

/* Up to KERNEL_PAGES pages. */
static void add_pages(struct estimate *estimate, const uint8_t *bytes, unsigned pages)
{
    double chances[PAGE_BLOCKS][KERNEL_PAGES] = {{0}};
    double sums[KERNEL_PAGES];
    for (unsigned page = 0; page < pages; page++) {
        uint16_t blocks[PAGE_BLOCKS];
        count_page(estimate, bytes + (size_t)page * PAGE_BYTES, blocks);
        for (unsigned block = 0; block < PAGE_BLOCKS; block++)
            chances[block][page] = estimate->chance[blocks[block]];
    }
    estimate->kernel->products(chances, estimate->geometry.blocks, sums);
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
