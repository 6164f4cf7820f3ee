/* siphash - the plain version, and the choice between all; see siphash.h. */
#include "core/siphash_list.h"

static inline uint64_t turn(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void mix(struct siphash_state *s, unsigned rounds)
{
    uint64_t *v = s->v;
    while (rounds-- > 0) {
        v[0] += v[1], v[1] = turn(v[1], 13) ^ v[0], v[0] = turn(v[0], 32);
        v[2] += v[3], v[3] = turn(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = turn(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = turn(v[1], 17) ^ v[2], v[2] = turn(v[2], 32);
    }
}

static inline void take(struct siphash_state *s, uint64_t word)
{
    s->v[3] ^= word;
    mix(s, 2);
    s->v[0] ^= word;
}

static inline uint64_t finish(struct siphash_state *s)
{
    mix(s, 4);
    return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

/* Byte by byte it is right for all texts, but costs a seventh more. */
static inline uint64_t last_word(const uint8_t *at, size_t length)
{
    uint64_t word = (uint64_t)length << 56;
    if (length >= 8)
        return siphash_last(at + length % 8, length);
    for (size_t i = 0; i < length; i++)
        word |= (uint64_t)at[i] << 8 * i;
    return word;
}

struct key siphash_key(const void *bytes, size_t length, uint64_t k0, uint64_t k1)
{
    const uint8_t *at = bytes;
    struct siphash_state s = siphash_start(k0, k1);
    struct key key;
    for (size_t words = length / 8; words > 0; words--, at += 8)
        take(&s, load64(at));
    take(&s, last_word(at, length));
    s.v[2] ^= SIPHASH_FIRST;
    key.lo = finish(&s);
    s.v[1] ^= SIPHASH_SECOND;
    key.hi = finish(&s);
    return key;
}

static void plain_lines(const char *bytes, const size_t *starts, size_t n, uint64_t k0, uint64_t k1,
                        struct key *keys)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = siphash_key(bytes + starts[i], starts[i + 1] - 1 - starts[i], k0, k1);
}

const struct siphash siphash_plain = {.name = "plain", .lines = plain_lines};

size_t siphash_all(const struct siphash *versions[SIPHASHES_MAX])
{
    size_t n = 0;
    versions[n++] = &siphash_plain;
#if defined(__x86_64__)
    if (cpu_has_avx2())
        versions[n++] = &siphash_avx2;
    if (cpu_has_avx512())
        versions[n++] = &siphash_avx512;
#endif
    return n;
}

/* So few lines do not fill the vectors. */
enum { FEW = 8 };

void siphash_lines(const char *bytes, const size_t *starts, size_t n, uint64_t k0, uint64_t k1,
                   struct key *keys)
{
    const struct siphash *versions[SIPHASHES_MAX] = {&siphash_plain};
    size_t best = n < FEW ? 0 : siphash_all(versions) - 1;
    versions[best]->lines(bytes, starts, n, k0, k1, keys);
}
