#include "core/siphash.h"

#include "core/little.h"

struct state {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t turn(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void mix(struct state *s, unsigned rounds)
{
    while (rounds-- > 0) {
        s->v0 += s->v1, s->v1 = turn(s->v1, 13) ^ s->v0, s->v0 = turn(s->v0, 32);
        s->v2 += s->v3, s->v3 = turn(s->v3, 16) ^ s->v2;
        s->v0 += s->v3, s->v3 = turn(s->v3, 21) ^ s->v0;
        s->v2 += s->v1, s->v1 = turn(s->v1, 17) ^ s->v2, s->v2 = turn(s->v2, 32);
    }
}

static inline void take(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s, 2);
    s->v0 ^= word;
}

struct key siphash_key(const void *bytes, size_t length, uint64_t k0, uint64_t k1)
{
    const uint8_t *at = bytes;
    struct state s = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                      k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    uint64_t last = (uint64_t)length << 56;
    struct key key;
    for (size_t words = length / 8; words > 0; words--, at += 8)
        take(&s, load64(at));
    for (size_t i = 0; i < length % 8; i++)
        last |= (uint64_t)at[i] << 8 * i;
    take(&s, last);
    s.v2 ^= 0xee;
    mix(&s, 4);
    key.lo = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    s.v1 ^= 0xdd;
    mix(&s, 4);
    key.hi = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    return key;
}

void siphash_lines(const char *bytes, const size_t *starts, size_t n, uint64_t k0, uint64_t k1,
                   struct key *keys)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = siphash_key(bytes + starts[i], starts[i + 1] - 1 - starts[i], k0, k1);
}
