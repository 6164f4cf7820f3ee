/* hash - see hash.h. The library is inlined from its header, which saves a call per line. */
#include "core/hash.h"

#include "core/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- SipHash-2-4 with a result of 128 bits --- */

static inline uint64_t sip_turn(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_mix(uint64_t v[4], unsigned rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1], v[1] = sip_turn(v[1], 13) ^ v[0], v[0] = sip_turn(v[0], 32);
        v[2] += v[3], v[3] = sip_turn(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = sip_turn(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = sip_turn(v[1], 17) ^ v[2], v[2] = sip_turn(v[2], 32);
    }
}

static inline void sip_take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_mix(v, 2);
    v[0] ^= word;
}

static inline uint64_t sip_result(uint64_t v[4])
{
    sip_mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static struct key siphash_key(const void *bytes, size_t length, uint64_t k0, uint64_t k1)
{
    const uint8_t *at = bytes;
    /* 0xee selects a result of 128 bits. */
    uint64_t v[4] = {
        k0 ^ UINT64_C(0x736f6d6570736575),
        k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
        k0 ^ UINT64_C(0x6c7967656e657261),
        k1 ^ UINT64_C(0x7465646279746573),
    };
    struct key key;
    for (size_t words = length / 8; words > 0; words--, at += 8)
        sip_take(v, load64(at));

    /* The length, and the last `length` % 8 bytes. If bytes precede them, one load of the last
     * eight bytes saves a seventh of the time. */
    uint64_t last = (uint64_t)length << 56;
    if (length >= 8)
        last |= load64(at + length % 8 - 8) >> 8 >> (56 - 8 * (length % 8));
    else
        for (size_t i = 0; i < length; i++)
            last |= (uint64_t)at[i] << 8 * i;
    sip_take(v, last);

    v[2] ^= 0xee;
    key.lo = sip_result(v);
    v[1] ^= 0xdd;
    key.hi = sip_result(v);
    return key;
}

/* --- either of them --- */

static inline struct key xxh3_key(const void *bytes, size_t length, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(bytes, length, seed);
    return (struct key){.lo = h.low64, .hi = h.high64};
}

struct key hash_key(const void *bytes, size_t length, struct hasher hasher)
{
    return hasher.kind == HASH_SIPHASH ? siphash_key(bytes, length, hasher.k0, hasher.k1)
                                       : xxh3_key(bytes, length, hasher.k0);
}

/* Flattened: a short line is hashed in half the time if no function is called for it. It stands
 * apart from SipHash, which would need the registers. */
__attribute__((flatten)) static void xxh3_lines(const char *bytes, const size_t *starts, size_t n,
                                                uint64_t seed, struct key *keys)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = xxh3_key(bytes + starts[i], starts[i + 1] - 1 - starts[i], seed);
}

__attribute__((flatten)) static void xxh3_pieces(const char *bytes, const struct piece *pieces,
                                                 size_t n, uint64_t seed, struct key *keys)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = xxh3_key(bytes + pieces[i].first, pieces[i].end - pieces[i].first, seed);
}

void hash_pieces(const char *bytes, const struct piece *pieces, size_t n, struct hasher hasher,
                 struct key *keys)
{
    if (hasher.kind != HASH_SIPHASH) {
        xxh3_pieces(bytes, pieces, n, hasher.k0, keys);
        return;
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = hash_key(bytes + pieces[i].first, pieces[i].end - pieces[i].first, hasher);
}

void hash_lines(const char *bytes, const size_t *starts, size_t n, struct hasher hasher,
                struct key *keys)
{
    if (hasher.kind != HASH_SIPHASH) {
        xxh3_lines(bytes, starts, n, hasher.k0, keys);
        return;
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = hash_key(bytes + starts[i], starts[i + 1] - 1 - starts[i], hasher);
}

uint64_t hash_chain(uint64_t sum, const void *bytes, size_t length)
{
    return XXH3_64bits_withSeed(bytes, length, sum);
}
