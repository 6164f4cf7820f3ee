/*
 * hyperloglog - estimates the number of distinct keys, in 128 KB however many there are.
 *
 * To count distinct lines exactly, they must be remembered: sort -u, or a set as large as the data.
 * For a plan an estimate is enough, and takes far less memory:
 *
 *   1. Keys are random bits. One in 2 begins with a zero, one in 4 with two, one in 2^r with r. If
 *      the longest run of zeros so far is r, there were about 2^r distinct keys. A duplicate has
 *      the same bits and changes nothing. So one small number is enough for any count, but the
 *      estimate is off by a factor of two or more.
 *   2. The average of many such numbers is off by less. The first bits of a key choose one of m
 *      registers, and step 1 applies to the rest of the bits: each register counts an m-th of the
 *      keys in one byte. With the harmonic mean, which a few extreme registers do not distort, the
 *      relative standard error is 1.04 / sqrt(m) (Flajolet, Fusy, Gandouet, Meunier 2007,
 *      "HyperLogLog").
 *   3. This mean is wrong for few keys, when most registers are empty. The usual correction is
 *      another formula below about 2.5 m keys, and a table around that number. Ertl 2017 ("New
 *      cardinality estimation algorithms for HyperLogLog sketches", algorithm 6) needs neither: it
 *      replaces the empty registers' part of the sum by its expected value for keys that arrive as
 *      a Poisson process. (It corrects for full registers, too; a full one takes 2^50 keys, so that
 *      is left out here.) One formula serves from no key to more than 10^12, with next to no bias.
 *      Below a hundred keys, its nearest integer is their exact number, unless two of them share a
 *      register.
 */
#ifndef UNSEEN_CORE_HYPERLOGLOG_H
#define UNSEEN_CORE_HYPERLOGLOG_H

#include "core/hash.h"

#include <stddef.h>
#include <stdint.h>

enum { HYPERLOGLOG_BITS = 17, HYPERLOGLOG_REGISTERS = 1 << HYPERLOGLOG_BITS };

/* The relative standard error of an estimate: 1.04 / sqrt(2^17); less with few keys. */
#define HYPERLOGLOG_ERROR 0.0029

/* All zeros: no keys yet. */
struct hyperloglog {
    /* 0, or 1 + the longest run of zeros among the keys of this register. The upper 17 bits of a
     * key's `lo` choose the register; the run begins at the top of the other 47. */
    uint8_t registers[HYPERLOGLOG_REGISTERS];
};

/* Adds `n` keys. About 2 ns each. */
void hyperloglog_add(struct hyperloglog *sketch, const struct key *keys, size_t n);

/* The estimated number of distinct keys, which is the same on every machine. */
double hyperloglog_estimate(const struct hyperloglog *sketch);

#endif
