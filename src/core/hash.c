/* hash - see hash.h. The library is inlined from its header, which saves a call per line. */
#include "core/hash.h"

#include "core/siphash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

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

/* Flattened: a short line is hashed in half the time if no function is called for it. */
__attribute__((flatten)) static void xxh3_lines(const char *bytes, const size_t *starts, size_t n,
                                                uint64_t seed, struct key *keys)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = xxh3_key(bytes + starts[i], starts[i + 1] - 1 - starts[i], seed);
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

uint64_t hash_checksum(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

uint64_t hash_chain(uint64_t sum, const void *bytes, size_t length)
{
    return XXH3_64bits_withSeed(bytes, length, sum);
}
