/*
 * hash - a line's key: the 128 bits that stand for it everywhere else.
 *
 * 128 bits, because shorter keys have a floor that no bit array can get under: with n lines inside,
 * a b-bit key makes n / 2^b of the new lines look seen (5e-10 for 64 bits and 10^10 lines).
 * Source: XXH3, 128-bit variant, of libxxhash; the numbers low64 and high64 of its result, which
 * are the same on machines of either byte order. Under a secret: siphash.h.
 */
#ifndef UNSEEN_CORE_HASH_H
#define UNSEEN_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct key {
    uint64_t lo;
    uint64_t hi;
};

/* The hashes, by their numbers in a filter. */
enum hash_kind {
    HASH_XXH3 = 1,   /* fast; who chooses lines can choose them so that their keys are the same */
    HASH_SIPHASH = 2 /* of no use to those who do not know its key */
};

/* A hash with all that it needs but the bytes. All zeros: XXH3 with seed 0. */
struct hasher {
    enum hash_kind kind;
    uint64_t k0; /* the seed of XXH3; the first 8 bytes of SipHash's key, little-endian */
    uint64_t k1; /* 0; its last 8 bytes */
};

static inline struct hasher hasher_xxh3(uint64_t seed)
{
    return (struct hasher){HASH_XXH3, seed, 0};
}

/* What a key is made of. The same bytes have a different key in each domain, so that no key is
 * taken for one of another kind. */
enum hash_domain {
    DOMAIN_KEY,    /* what counts in a line */
    DOMAIN_ITSELF, /* a line of which nothing could be taken, and that counts as itself */
    DOMAIN_SHARD   /* which part of a list a line belongs to */
};

/* The filter's hash, for a domain. XXH3 wants a seed with many bits changed; SipHash does not. */
static inline struct hasher hasher_in_domain(struct hasher hasher, enum hash_domain domain)
{
    uint64_t d = domain;
    hasher.k0 ^= hasher.kind == HASH_SIPHASH ? d : d * UINT64_C(0x9e3779b97f4a7c15);
    return hasher;
}

/* The hashes for the lines of a list. */
struct hashers {
    struct hasher key;    /* of what counts in a line */
    struct hasher itself; /* of a line that counts as itself */
};

static inline struct hashers hashers_of_keys(struct hasher hasher)
{
    return (struct hashers){hasher_in_domain(hasher, DOMAIN_KEY),
                            hasher_in_domain(hasher, DOMAIN_ITSELF)};
}

/* Parts are the same whatever filter they are for: hence no seed, and no secret. */
static inline struct hashers hashers_of_shards(void)
{
    struct hasher hasher = hasher_in_domain(hasher_xxh3(0), DOMAIN_SHARD);
    return (struct hashers){hasher, hasher};
}

/* The key of `length` bytes at `bytes`. About 8 ns for a URL with XXH3. Never fails. */
struct key hash_key(const void *bytes, size_t length, struct hasher hasher);

/* The keys of `n` lines laid end to end: line i is the bytes from starts[i] up to, not including,
 * the delimiter byte before starts[i + 1]; so starts has n + 1 entries, offsets from `bytes`. */
void hash_lines(const char *bytes, const size_t *starts, size_t n, struct hasher hasher,
                struct key *keys);

/* A 64-bit checksum of `length` bytes (XXH3, 64-bit variant, seed 0), for headers and records. */
uint64_t hash_checksum(const void *bytes, size_t length);

/* One link of a chain of checksums: the same function with the sum so far as its seed. */
uint64_t hash_chain(uint64_t sum, const void *bytes, size_t length);

#endif
