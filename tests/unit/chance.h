/*
 * chance - random numbers that are the same in every run, and how unlikely a count is.
 *
 * A test of chance here has a fixed seed, so that it gives the same count each time, and a bound of
 * 6 standard deviations, so that no change of hash or seed breaks it by chance (once in 10^9).
 */
#ifndef UNSEEN_TESTS_CHANCE_H
#define UNSEEN_TESTS_CHANCE_H

#include "core/hash.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define CHANCE_SIGMAS 6.0

/* SplitMix64 (Steele, Lea and Flood 2014): state 0 is as good as any other. */
struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance)
{
    uint64_t x = chance->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* 0..n-1; n is far below 2^64, so that the bias is of no account. */
static inline uint64_t chance_below(struct chance *chance, uint64_t n)
{
    return chance_next(chance) % n;
}

static inline struct key chance_key(struct chance *chance)
{
    uint64_t lo = chance_next(chance);
    return (struct key){.lo = lo, .hi = chance_next(chance)};
}

/* How many standard deviations `hits` of `trials` are above what a chance of `rate` gives. */
static inline double chance_excess(double hits, double trials, double rate)
{
    double expected = trials * rate;
    double deviation = sqrt(expected * (1 - rate));
    return deviation > 0 ? (hits - expected) / deviation : hits > expected ? INFINITY : 0;
}

#endif
