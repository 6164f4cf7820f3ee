/* hyperloglog - see hyperloglog.h. Section and algorithm numbers are those of Ertl 2017. */
#include "core/hyperloglog.h"

#include <math.h>

/* The bits in which a run of zeros is counted; a full register holds one more. */
enum { RUN_BITS = 64 - HYPERLOGLOG_BITS, FULL = RUN_BITS + 1 };

void hyperloglog_add(struct hyperloglog *sketch, const struct key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t *at = &sketch->registers[keys[i].lo >> RUN_BITS];
        /* A bit set after the last one ends the longest run. */
        uint64_t rest = keys[i].lo << HYPERLOGLOG_BITS | UINT64_C(1) << (HYPERLOGLOG_BITS - 1);
        uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
        if (rank > *at)
            *at = rank;
    }
}

double hyperloglog_estimate(const struct hyperloglog *sketch)
{
    const double m = HYPERLOGLOG_REGISTERS;
    uint32_t count[FULL + 1] = {0};
    for (size_t i = 0; i < HYPERLOGLOG_REGISTERS; i++)
        count[sketch->registers[i]]++;
    /* The sum of 2^-rank over all registers, by Horner's rule, with m sigma for the empty ones. */
    double sum = 0;
    for (unsigned rank = FULL; rank >= 1; rank--)
        sum = (sum + count[rank]) / 2;
    /* Ertl's sigma of x, the fraction of empty registers: x + sum of x^(2^k) 2^(k-1) over k >= 1;
     * infinite if x is 1. */
    double x = count[0] / m, power = x, factor = 1, sigma = x, before;
    if (x == 1)
        return 0;
    do {
        before = sigma;
        power *= power;
        sigma += power * factor;
        factor *= 2;
    } while (sigma != before);
    sum += m * sigma;
    return m * m / (2 * log(2) * sum);
}
