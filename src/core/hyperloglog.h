/*
 * hyperloglog - about how many distinct keys there were, in 128 KB, however many come.
 *
 * To count distinct lines exactly is to remember them: sort -u, or a set as large as the data. For
 * a plan an estimate is enough, and far less memory will do:
 *
 *   1. Keys are random bits. One in 2 begins with a zero, one in 4 with two, one in 2^r with r: if
 *      the longest run of zeros so far is r, about 2^r distinct keys have come. A repeat changes
 *      nothing, as it has the same bits. So one small number stands for any count; but it is off
 *      by a factor of two or more.
 *   2. Many such numbers are off by less together. The first bits of a key choose one of m
 *      registers, and the rest is looked at as in step 1: each register counts its m-th part of
 *      the keys, at the price of one pass and one byte. With the harmonic mean, which a few lucky
 *      registers cannot spoil, the relative standard error is 1.04 / sqrt(m) (Flajolet, Fusy,
 *      Gandouet, Meunier 2007, "HyperLogLog").
 *   3. That mean is right only for many keys: with few, most registers are still empty. The usual
 *      way out is another formula below about 2.5 m keys and a table of corrections around there.
 *      Ertl 2017 ("New cardinality estimation algorithms for HyperLogLog sketches", algorithm 6)
 *      needs neither: the empty registers' part of the sum is replaced by what they are worth if
 *      keys come as a Poisson process (and so is that of full ones, which we leave alone: for one
 *      it takes 2^50 keys). One formula, with next to no bias, from no key to more than 10^12;
 *      below a hundred keys, its nearest whole number is their count unless two of them meet in a
 *      register.
 */
#ifndef UNSEEN_CORE_HYPERLOGLOG_H
#define UNSEEN_CORE_HYPERLOGLOG_H

#include "core/hash.h"

#include <stddef.h>
#include <stdint.h>

enum { HYPERLOGLOG_BITS = 17, HYPERLOGLOG_REGISTERS = 1 << HYPERLOGLOG_BITS };

/* Standard error of an estimate, as a fraction of it: 1.04 / sqrt(2^17). With few keys it is
 * less. */
#define HYPERLOGLOG_ERROR 0.0029

/* All zeros: no keys yet. */
struct hyperloglog {
    /* 0, or 1 + the longest run of zeros of a key that came here. Of a key's `lo`, the upper 17
     * bits choose the register, and the run is at the top of the other 47. */
    uint8_t registers[HYPERLOGLOG_REGISTERS];
};

/* Takes `n` keys. About 2 ns each. */
void hyperloglog_add(struct hyperloglog *sketch, const struct key *keys, size_t n);

/* How many distinct ones there were, about. The same on every machine. */
double hyperloglog_estimate(const struct hyperloglog *sketch);

#endif
