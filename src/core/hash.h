/*
 * hash - hashes a line, or the key taken from it, to 128 bits, which the code calls its key.
 *
 * With b bits and n lines in the filter, n / 2^b of all new lines look seen, however large the bit
 * array is: 5e-10 for 64 bits and 10^10 lines. Hence 128 bits.
 *
 * Sources: XXH3, 128-bit variant, of libxxhash; lo and hi are low64 and high64 of its result, which
 * are the same on machines of either byte order. With a secret: Aumasson and Bernstein, "SipHash: a
 * fast short-input PRF", 2012; SipHash-2-4 with a result of 128 bits, as in its authors' reference:
 * lo is the first 8 bytes of it and hi the last 8, little-endian.
 */
#ifndef UNSEEN_CORE_HASH_H
#define UNSEEN_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct key {
    uint64_t lo;
    uint64_t hi;
};

/* The hash functions, by their numbers in a filter. */
enum hash_kind {
    HASH_XXH3 = 1, /* fast, but lines can be crafted whose hashes are equal */
    /* Without its secret nobody can craft lines that have the same hash or share a page, not even
     * by asking the filter for any number of lines whether it has them. */
    HASH_SIPHASH = 2
};

/* A hash function with its seed or secret. */
struct hasher {
    enum hash_kind kind;
    uint64_t k0; /* the seed of XXH3, or the first 8 bytes of SipHash's secret, little-endian */
    uint64_t k1; /* 0, or the last 8 bytes of the secret */
};

static inline struct hasher hasher_xxh3(uint64_t seed)
{
    return (struct hasher){HASH_XXH3, seed, 0};
}

/* What is hashed. The same bytes have a different hash in each domain, so that a line without a key
 * is never taken for the key of another line. */
enum hash_domain {
    DOMAIN_KEY,  /* the key of a line */
    DOMAIN_LINE, /* a whole line that has no key */
    DOMAIN_SHARD /* the key of a line, or the line, to choose its shard */
};

/* The filter's hash function for a domain. XXH3's seed must differ in many bits, SipHash's need
 * not. */
static inline struct hasher hasher_in_domain(struct hasher hasher, enum hash_domain domain)
{
    uint64_t d = domain;
    hasher.k0 ^= hasher.kind == HASH_SIPHASH ? d : d * UINT64_C(0x9e3779b97f4a7c15);
    return hasher;
}

/* The hash functions for the lines of an input. */
struct hashers {
    struct hasher key;  /* for keys */
    struct hasher line; /* for lines without a key */
};

static inline struct hashers hashers_of_keys(struct hasher hasher)
{
    return (struct hashers){hasher_in_domain(hasher, DOMAIN_KEY),
                            hasher_in_domain(hasher, DOMAIN_LINE)};
}

/* Shards must be the same for every filter: hence no seed and no secret. */
static inline struct hashers hashers_of_shards(void)
{
    struct hasher hasher = hasher_in_domain(hasher_xxh3(0), DOMAIN_SHARD);
    return (struct hashers){hasher, hasher};
}

/* Hashes `length` bytes. About 8 ns for a URL with XXH3; with SipHash 33 ns, plus 0.28 ns per byte
 * of longer lines, and a whole run takes twice as long. */
struct key hash_key(const void *bytes, size_t length, struct hasher hasher);

/* Hashes `n` pieces of `bytes`, faster than one by one. */
struct piece {
    size_t first, end; /* offsets */
};
void hash_pieces(const char *bytes, const struct piece *pieces, size_t n, struct hasher hasher,
                 struct key *keys);

/* Hashes `n` lines that lie end to end. Line i begins at offset starts[i] and ends before its
 * delimiter, the byte before offset starts[i + 1]; so `starts` has n + 1 entries. */
void hash_lines(const char *bytes, const size_t *starts, size_t n, struct hasher hasher,
                struct key *keys);

/* Continues a 64-bit checksum over `length` bytes: XXH3, 64-bit variant, with the sum so far as its
 * seed. */
uint64_t hash_chain(uint64_t sum, const void *bytes, size_t length);

/* The checksum of headers and records, from seed 0. */
static inline uint64_t hash_checksum(const void *bytes, size_t length)
{
    return hash_chain(0, bytes, length);
}

/* The high 64 bits of a * b. */
static inline uint64_t hash_high_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)a * b) >> 64);
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t mid = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t cross = (a & UINT32_MAX) * (b >> 32) + (mid & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (mid >> 32) + (cross >> 32);
#endif
}

/* Combines both halves of the product: the lower bits of a product depend on lower bits alone, and
 * its upper bits hardly on them. */
static inline uint64_t salt_fold(uint64_t a, uint64_t b)
{
    return a * b ^ hash_high_product(a, b);
}

/* 64 bits, any of which can choose a key's place in a hash table so that nobody can predict it.
 *
 * Keys look random, and any of their bits could choose the place. But anyone who knows the seed can
 * craft a line for any key (tests/tools/genchosen.c), and so thousands of lines whose keys agree in
 * these bits: the table becomes a list that is walked for each of them. So the place depends on all
 * of the key and on a random number, the salt, which the author of the lines does not know.
 *
 * Folded twice: with one salt in 150, a single product puts consecutive numbers in consecutive
 * places. */
static inline uint64_t salt_key(struct key key, uint64_t salt)
{
    uint64_t once = salt_fold(key.lo ^ salt, key.hi ^ (salt << 32 | salt >> 32));
    return salt_fold(once ^ salt, UINT64_C(0x9e3779b97f4a7c15));
}

#endif
