/*
 * shard - which part of a list a key belongs to, when the list is split among N machines.
 *
 * Jump consistent hashing: every part gets the same share of the keys, and from N to N + 1 parts
 * only 1/(N+1) of them move, all to the new part. About ln N steps with a division each; no memory.
 * Source: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014; here in
 * integers throughout, so that it is the same on every machine.
 *
 * The key is hashed in a domain of its own (hashers_of_shards), so that what chooses the part
 * has nothing to do with what chooses the page: the keys of a part lie on all pages of its filter.
 *
 * The mapping is frozen as number 1. A change is a new number.
 */
#ifndef UNSEEN_CORE_SHARD_H
#define UNSEEN_CORE_SHARD_H

#include "core/hash.h"

#include <stdbool.h>

enum { SHARD_PARTS_MAX = 1000000 };

/* Part `part` of `parts`, counted from 1; both 0: all of the list. */
struct shard {
    uint32_t part;
    uint32_t parts;
};

/* Reads I/N, or of all of a list N alone: decimal digits, also after zeros (seq -w). What is too
 * large for 32 bits is UINT32_MAX. Returns whether it is of that form. */
bool shard_parse(const char *text, bool all, struct shard *shard);

#define SHARD_FACTOR UINT64_C(2862933555777941757)

/* Where a key in `bucket` goes next. */
static inline uint64_t shard_jump(uint64_t bucket, uint64_t k)
{
    return ((bucket + 1) << 31) / ((k >> 33) + 1);
}

/* The part, 1..parts, of a key that was hashed with hashers_of_shards. Precondition: `parts` is
 * 1..SHARD_PARTS_MAX. */
static inline uint32_t shard_part(struct key key, uint32_t parts)
{
    uint64_t k = key.lo, bucket = 0, next = 0;
    while (next < parts) {
        bucket = next;
        k = k * SHARD_FACTOR + 1;
        next = shard_jump(bucket, k);
    }
    return (uint32_t)bucket + 1;
}

/* The same of `n` keys. */
void shard_parts(const struct key *keys, size_t n, uint32_t parts, uint32_t *part);

#endif
