/*
 * shard - which of the N shards of a list a key belongs to.
 *
 * Jump consistent hashing: every shard gets the same share of the keys, and from N to N + 1 shards
 * only 1/(N+1) of the keys move, all to the new shard. It takes about ln N steps with a division
 * each, and no memory.
 * Source: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014; here in
 * integers throughout, so that it is the same on every machine.
 *
 * Keys are hashed for this in a domain of their own (hashers_of_shards), so that the choice of the
 * shard is independent of the choice of the page: a shard's keys lie on all pages of its filter.
 *
 * This is version 1 of the mapping and must not change; another mapping needs another number.
 */
#ifndef UNSEEN_CORE_SHARD_H
#define UNSEEN_CORE_SHARD_H

#include "core/hash.h"

enum { SHARDS_MAX = 1000000 };

/* Shard `number` of `count`, counted from 1; both 0: all of the list. */
struct shard {
    uint32_t number;
    uint32_t count;
};

#define SHARD_FACTOR UINT64_C(2862933555777941757)

/* The next bucket of a key in `bucket`. */
static inline uint64_t shard_jump(uint64_t bucket, uint64_t k)
{
    return ((bucket + 1) << 31) / ((k >> 33) + 1);
}

/* The shard, 1..shards, of a key that was hashed with hashers_of_shards. Precondition: `shards` is
 * 1..SHARDS_MAX. */
static inline uint32_t shard_of_key(struct key key, uint32_t shards)
{
    uint64_t k = key.lo, bucket = 0, next = 0;
    while (next < shards) {
        bucket = next;
        k = k * SHARD_FACTOR + 1;
        next = shard_jump(bucket, k);
    }
    return (uint32_t)bucket + 1;
}

/* Stores the shard of each of `n` keys. */
void shards_of_keys(const struct key *keys, size_t n, uint32_t shards, uint32_t *shard);

#endif
