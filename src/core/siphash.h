/*
 * siphash - a line's key under a secret of 128 bits.
 *
 * Who does not know the secret cannot choose lines that have the same key, or keys of one page,
 * even if he may learn of any number of lines whether the filter has them.
 *
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; SipHash-2-4 with a
 * result of 128 bits, as in its authors' reference: `lo` is the first 8 bytes of it and `hi` the
 * last 8, little-endian.
 *
 * There is a plain version, for every machine, and vector versions that must give the same keys.
 */
#ifndef UNSEEN_CORE_SIPHASH_H
#define UNSEEN_CORE_SIPHASH_H

#include "core/hash.h"

/* The key of `length` bytes at `bytes`; k0 and k1 are the first and last 8 bytes of the secret,
 * little-endian. About 35 ns for a URL, and 0.28 ns a byte for what is longer. Never fails. */
struct key siphash_key(const void *bytes, size_t length, uint64_t k0, uint64_t k1);

/* The same of `n` lines laid end to end, as in hash_lines, in the fastest version that this machine
 * runs: for each of many URLs 10 ns with AVX-512, 19 with AVX2, 35 without. Reads no bytes but
 * those of the lines and what is between them. n: below 2^32. */
void siphash_lines(const char *bytes, const size_t *starts, size_t n, uint64_t k0, uint64_t k1,
                   struct key *keys);

/* The versions that this machine runs, the plain one first. Returns how many. */
struct siphash {
    const char *name;
    void (*lines)(const char *bytes, const size_t *starts, size_t n, uint64_t k0, uint64_t k1,
                  struct key *keys);
};
enum { SIPHASHES_MAX = 3 };
size_t siphash_all(const struct siphash *versions[SIPHASHES_MAX]);

#endif
