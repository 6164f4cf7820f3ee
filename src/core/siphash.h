/*
 * siphash - a line's key under a secret of 128 bits.
 *
 * Who does not know the secret cannot choose lines that have the same key, or keys of one page,
 * even if he may learn of any number of lines whether the filter has them.
 *
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; SipHash-2-4 with a
 * result of 128 bits, as in its authors' reference: `lo` is the first 8 bytes of it and `hi` the
 * last 8, little-endian.
 */
#ifndef UNSEEN_CORE_SIPHASH_H
#define UNSEEN_CORE_SIPHASH_H

#include "core/hash.h"

/* The key of `length` bytes at `bytes`; k0 and k1 are the first and last 8 bytes of the secret,
 * little-endian. About 33 ns for a URL, and 0.28 ns a byte for what is longer: twice the time of
 * whole lines, all in all. Never fails. */
struct key siphash_key(const void *bytes, size_t length, uint64_t k0, uint64_t k1);

#endif
