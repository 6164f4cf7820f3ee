/* estimate - see estimate.h. */
#include "core/estimate.h"

#include <math.h>
#include <string.h>

void estimate_start(struct estimate *estimate, struct geometry geometry)
{
    memset(estimate, 0, sizeof *estimate);
    estimate->geometry = geometry;
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

static unsigned line_count(const uint8_t *line)
{
    uint64_t words[LINE_BYTES / 8];
    memcpy(words, line, sizeof words);
    unsigned set = 0;
    for (unsigned i = 0; i < LINE_BYTES / 8; i++)
        set += (unsigned)__builtin_popcountll(words[i]);
    return set;
}

/* The mean product of g distinct ones of the 64 chances: e_g / C(64, g), where e_j over one more
 * chance c is e_j + c * e_(j-1). Dividing by the count as it grows keeps all values within 0..1. */
static double page_rate(const double chances[PAGE_LINES], unsigned lines)
{
    double mean[LINES_MAX + 1] = {1};
    for (unsigned seen = 1; seen <= PAGE_LINES; seen++) {
        unsigned top = seen < lines ? seen : lines;
        /* Of `seen` chances, a choice of j holds the newest one with probability j / seen. */
        for (unsigned j = top; j > 0; j--) {
            double newest = (double)j / seen;
            double without = seen > j ? (1 - newest) * mean[j] : 0;
            mean[j] = without + newest * chances[seen - 1] * mean[j - 1];
        }
    }
    return mean[lines];
}

static void add_page(struct estimate *estimate, const uint8_t *page)
{
    double chances[PAGE_LINES];
    unsigned set = 0;
    for (unsigned line = 0; line < PAGE_LINES; line++) {
        unsigned x = line_count(page + (size_t)line * LINE_BYTES);
        set += x;
        chances[line] = estimate->chance[x];
    }
    estimate->pages++;
    if (set == 0)
        return;
    /* A full page counts as if half a bit were zero. */
    double zero = set < PAGE_BITS ? PAGE_BITS - set : 0.5;
    estimate->full += set == PAGE_BITS;
    estimate->set += set;
    estimate->keys_sum += log(zero / PAGE_BITS) / estimate->log_zero;
    estimate->rate_sum += page_rate(chances, estimate->geometry.lines);
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
