/*
 * hash - a line's key: the 128 bits that stand for it everywhere else.
 *
 * 128 bits, because shorter keys have a floor that no bit array can get under: with n lines inside,
 * a b-bit key makes n / 2^b of the new lines look seen (5e-10 for 64 bits and 10^10 lines).
 * Source: XXH3, 128-bit variant, of libxxhash; the numbers low64 and high64 of its result, which
 * are the same on machines of either byte order.
 */
#ifndef UNSEEN_CORE_HASH_H
#define UNSEEN_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct key {
    uint64_t lo;
    uint64_t hi;
};

/* The key of `length` bytes at `bytes` under a 64-bit seed. About 8 ns for a URL. Never fails. */
struct key hash_key(const void *bytes, size_t length, uint64_t seed);

/* The keys of `n` lines laid end to end: line i is the bytes from starts[i] up to, not including,
 * the delimiter byte before starts[i + 1]; so starts has n + 1 entries, offsets from `bytes`. */
void hash_lines(const char *bytes, const size_t *starts, size_t n, uint64_t seed, struct key *keys);

/* What a key is made of. The same bytes have a different key in each domain, so that no key is
 * taken for one of another kind. */
enum hash_domain {
    DOMAIN_KEY,    /* what counts in a line */
    DOMAIN_ITSELF, /* a line of which nothing could be taken, and that counts as itself */
    DOMAIN_SHARD   /* which part of a list a line belongs to */
};

/* The seed of keys in a domain, from the filter's one. */
static inline uint64_t hash_seed(uint64_t seed, enum hash_domain domain)
{
    return seed ^ (uint64_t)domain * UINT64_C(0x9e3779b97f4a7c15);
}

/* The seeds for the lines of a list. */
struct hash_seeds {
    uint64_t key;    /* of what counts in a line */
    uint64_t itself; /* of a line that counts as itself */
};

static inline struct hash_seeds hash_seeds_of_keys(uint64_t seed)
{
    return (struct hash_seeds){hash_seed(seed, DOMAIN_KEY), hash_seed(seed, DOMAIN_ITSELF)};
}

/* Parts are the same whatever filter they are for: hence no seed. */
static inline struct hash_seeds hash_seeds_of_shards(void)
{
    uint64_t seed = hash_seed(0, DOMAIN_SHARD);
    return (struct hash_seeds){seed, seed};
}

/* A 64-bit checksum of `length` bytes (XXH3, 64-bit variant, seed 0), for headers and records. */
uint64_t hash_checksum(const void *bytes, size_t length);

/* One link of a chain of checksums: the same function with the sum so far as its seed. */
uint64_t hash_chain(uint64_t sum, const void *bytes, size_t length);

#endif
