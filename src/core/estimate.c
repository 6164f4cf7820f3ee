/* estimate - see estimate.h. */
#include "core/estimate.h"

#include <math.h>
#include <string.h>

void estimate_start(struct estimate *estimate, struct geometry geometry)
{
    memset(estimate, 0, sizeof *estimate);
    estimate->geometry = geometry;
    estimate->kernel = kernel_best();
    for (unsigned seen = 1; seen <= PAGE_LINES; seen++)
        estimate->part[seen] = 1.0 / seen;
    double missed = 1;
    for (unsigned t = 0; t < geometry.fields; t++)
        missed *= 1 - 1.0 / LINE_BITS;
    estimate->log_zero = log1p(-(double)geometry.lines / PAGE_LINES * (1 - missed));
    for (unsigned x = 0; x <= LINE_BITS; x++) {
        double chance = 1;
        for (unsigned t = 0; t < geometry.fields; t++)
            chance *= (double)x / LINE_BITS;
        estimate->chance[x] = chance;
    }
}

/* The mean product of g distinct ones of the 64 chances: e_g / C(64, g), where e_j over one more
 * chance c is e_j + c * e_(j-1). Dividing by the count as it grows keeps all values within 0..1. */
static double page_rate(const struct estimate *estimate, const uint16_t set[PAGE_LINES])
{
    unsigned lines = estimate->geometry.lines;
    double mean[LINES_MAX + 1] = {1};
    for (unsigned seen = 1; seen <= PAGE_LINES; seen++) {
        double chance = estimate->chance[set[seen - 1]];
        /* Of `seen` chances, a choice of j holds the newest one with probability j / seen. There is
         * none of more than `seen`; its mean stays 0, for want of a mean of one less. */
        for (unsigned j = lines; j > 0; j--) {
            double newest = j * estimate->part[seen];
            if (j <= seen)
                mean[j] += newest * (chance * mean[j - 1] - mean[j]);
        }
    }
    return mean[lines];
}

static void add_page(struct estimate *estimate, const uint8_t *page)
{
    uint16_t lines[PAGE_LINES];
    unsigned set = 0;
    estimate->kernel->count(page, lines);
    for (unsigned line = 0; line < PAGE_LINES; line++)
        set += lines[line];
    estimate->pages++;
    if (set == 0)
        return;
    /* A full page counts as if half a bit were zero. */
    double zero = set < PAGE_BITS ? PAGE_BITS - set : 0.5;
    estimate->full += set == PAGE_BITS;
    estimate->set += set;
    estimate->keys_sum += log(zero / PAGE_BITS) / estimate->log_zero;
    estimate->rate_sum += page_rate(estimate, lines);
}

void estimate_add(struct estimate *estimate, const uint8_t *bytes, uint64_t pages)
{
    for (uint64_t i = 0; i < pages; i++)
        add_page(estimate, bytes + i * PAGE_BYTES);
}

double estimate_keys(const struct estimate *estimate)
{
    return estimate->keys_sum;
}

double estimate_rate(const struct estimate *estimate)
{
    return estimate->pages != 0 ? estimate->rate_sum / (double)estimate->pages : 0;
}

double estimate_fill(const struct estimate *estimate)
{
    if (estimate->pages == 0)
        return 0;
    return (double)estimate->set / ((double)estimate->pages * PAGE_BITS);
}
