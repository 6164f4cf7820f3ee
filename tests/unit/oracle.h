/*
 * oracle - the false-positive rate and the bits of a key, worked out once more from their
 * definitions, slowly and in another way than src/core does.
 *
 * The rate: where sizing.c follows the chance that a few given bits are set, here the whole
 * distribution of the number of set bits in a block is carried along; where it goes from weight to
 * weight by recurrence, here each weight comes from lgamma(); and where it samples the pages' load
 * at some points, here all of them are summed.
 *
 * The bits: as the text of geometry.h tells, one by one, with products cut into 16-bit digits.
 */
#ifndef UNSEEN_TESTS_ORACLE_H
#define UNSEEN_TESTS_ORACLE_H

#include "core/geometry.h"

#include <math.h>
#include <stdint.h>

/* --- the rate --- */

enum { ORACLE_KEYS_MAX = 3000 };

/* Cells of a block: bits, or counters of 4 bits. */
static inline unsigned oracle_cells(struct geometry geometry)
{
    return geometry.counting ? 64 * 2 : 64 * 8;
}

/* One more random bit is set in a block of so many; chance[x] is that of x set bits. */
static inline void oracle_throw(double chance[BLOCK_BITS + 1], unsigned cells)
{
    double share = 1.0 / cells;
    for (unsigned x = cells; x > 0; x--) {
        double again = chance[x] * (x * share);
        double fresh = chance[x - 1] * (1 - (x - 1) * share);
        chance[x] = again + fresh;
    }
    chance[0] = 0;
}

/* q[i] = E[(X/512)^f], X the number of bits set in a block by i * f random ones; 128 for 512 where
 * they are counters. Worked out once. */
static inline const double *oracle_q(struct geometry geometry)
{
    static double tables[2][FIELDS_MAX + 1][ORACLE_KEYS_MAX];
    double chance[BLOCK_BITS + 1] = {1}, all_hit[BLOCK_BITS + 1];
    unsigned fields = geometry.fields, cells = oracle_cells(geometry);
    double *q = tables[geometry.counting][fields];
    if (q[ORACLE_KEYS_MAX - 1] != 0)
        return q;
    for (unsigned x = 0; x <= cells; x++)
        all_hit[x] = pow((double)x / cells, fields);
    for (unsigned i = 0; i < ORACLE_KEYS_MAX; i++) {
        for (unsigned x = 1; x <= cells; x++)
            q[i] += chance[x] * all_hit[x];
        for (unsigned t = 0; t < fields; t++)
            oracle_throw(chance, cells);
    }
    return q;
}

enum { ORACLE_FACTORIALS = 65536 };

/* ln n! */
static inline double oracle_log_factorial(double n)
{
    static double known[ORACLE_FACTORIALS];
    if (n < 2)
        return 0;
    if (n >= ORACLE_FACTORIALS)
        return lgamma(n + 1);
    double *entry = &known[(size_t)n];
    if (*entry == 0)
        *entry = lgamma(n + 1);
    return *entry;
}

static inline double oracle_binomial(double n, double k, double share)
{
    if (share >= 1)
        return k == n;
    return exp(oracle_log_factorial(n) - oracle_log_factorial(k) - oracle_log_factorial(n - k) +
               k * log(share) + (n - k) * log1p(-share));
}

/* The rate of a page with `keys` in it. */
static inline double oracle_page_rate(struct geometry geometry, double keys, const double *q,
                                      unsigned most)
{
    double rate = 0;
    for (unsigned i = 0; i <= most && i <= keys; i++)
        rate += oracle_binomial(keys, i, (double)geometry.blocks / PAGE_BLOCKS) * q[i];
    return pow(rate, geometry.blocks);
}

/* The range that carries all but 1e-20 of a binomial's weight, and of a steep function of it. */
static inline double oracle_low(double n, double share)
{
    double low = n * share - 14 * sqrt(n * share * (1 - share)) - 40;
    return low > 0 ? floor(low) : 0;
}

static inline double oracle_high(double n, double share)
{
    double high = ceil(n * share + 14 * sqrt(n * share * (1 - share)) + 40);
    return high < n ? high : n;
}

/* The rate of `pages` pages with `keys` keys; -1 where blocks are too full for this oracle. */
static inline double oracle_rate(struct geometry geometry, double pages, double keys)
{
    const double *q = oracle_q(geometry);
    double low = oracle_low(keys, 1 / pages), high = oracle_high(keys, 1 / pages);
    double most = oracle_high(high, (double)geometry.blocks / PAGE_BLOCKS);
    if (most >= ORACLE_KEYS_MAX)
        return -1;
    double rate = 0;
    for (double m = low; m <= high; m++)
        rate += oracle_binomial(keys, m, 1 / pages) *
                oracle_page_rate(geometry, m, q, (unsigned)most);
    return rate;
}

/* --- the bits --- */

enum { ORACLE_BITS_MAX = BLOCKS_MAX * FIELDS_MAX };

/* The high half of a 128-bit product, by hand. */
static inline uint64_t oracle_high_product(uint64_t a, uint64_t b)
{
    uint64_t digits[9] = {0};
    for (unsigned i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < 4; j++) {
            uint64_t sum = digits[i + j] + (a >> 16 * i & 0xffff) * (b >> 16 * j & 0xffff) + carry;
            digits[i + j] = sum & 0xffff;
            carry = sum >> 16;
        }
        digits[i + 4] = carry;
    }
    return digits[4] | digits[5] << 16 | digits[6] << 32 | digits[7] << 48;
}

/* The numbers of a key's bits, or counters, in a region of `pages`; returns how many, repeats
 * counted. */
static inline unsigned oracle_bits(struct key key, uint64_t pages, struct geometry geometry,
                                   uint64_t bits[ORACLE_BITS_MAX])
{
    uint64_t page = oracle_high_product(key.hi, pages);
    uint64_t remix = key.hi * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t a = remix >> 58, b = (remix >> 52) % 64 | 1;
    unsigned n = 0;
    for (uint64_t j = 0; j < geometry.blocks; j++) {
        uint64_t block = (a + j * b) % 64;
        uint64_t word = key.lo + j * (key.hi | 1);
        for (unsigned t = 0; t < geometry.fields; t++) {
            uint64_t cells = oracle_cells(geometry);
            bits[n++] = (page * 64 + block) * cells + word % cells;
            word /= cells;
        }
    }
    return n;
}

/* The value of a bit or a counter. */
static inline int oracle_value(const uint8_t *region, uint64_t cell, struct geometry geometry)
{
    if (geometry.counting)
        return cell % 2 == 0 ? region[cell / 2] % 16 : region[cell / 2] / 16;
    return (region[cell / 8] & 1 << cell % 8) != 0;
}

static inline int oracle_has(const uint8_t *region, struct key key, uint64_t pages,
                             struct geometry geometry)
{
    uint64_t bits[ORACLE_BITS_MAX];
    unsigned n = oracle_bits(key, pages, geometry, bits);
    for (unsigned i = 0; i < n; i++)
        if (oracle_value(region, bits[i], geometry) == 0)
            return 0;
    return 1;
}

/* Counts one more key, or one less, in each different counter of a key; those at 15 stay. */
static inline void oracle_count(uint8_t *region, struct key key, uint64_t pages,
                                struct geometry geometry, int change)
{
    uint64_t cells[ORACLE_BITS_MAX];
    unsigned n = oracle_bits(key, pages, geometry, cells);
    for (unsigned i = 0; i < n; i++) {
        int again = 0;
        for (unsigned j = 0; j < i; j++)
            again = again || cells[j] == cells[i];
        if (!again && oracle_value(region, cells[i], geometry) < 15)
            region[cells[i] / 2] = (uint8_t)(region[cells[i] / 2] +
                                             change * (cells[i] % 2 == 0 ? 1 : 16));
    }
}

static inline void oracle_add(uint8_t *region, struct key key, uint64_t pages,
                              struct geometry geometry)
{
    uint64_t bits[ORACLE_BITS_MAX];
    unsigned n = oracle_bits(key, pages, geometry, bits);
    if (geometry.counting) {
        oracle_count(region, key, pages, geometry, 1);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        region[bits[i] / 8] = (uint8_t)(region[bits[i] / 8] | 1 << bits[i] % 8);
}

#endif
