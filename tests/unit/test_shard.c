/*
 * Parts of a list: the mapping is as published; it is even, and when there is a part more, only the
 * keys that go there move. (tests/keys.bats has the vectors of unseen(5).)
 */
#include "core/shard.h"

#include "chance.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>

static uint32_t bucket(uint64_t k, uint32_t buckets)
{
    return shard_of_key((struct key){.lo = k}, buckets) - 1;
}

/* Of other implementations of the published function. */
static void published(void)
{
    static const uint32_t hundred[] = {0, 55, 62, 8, 45, 59, 86, 97, 82, 59};
    for (uint64_t k = 0; k < 10; k++)
        tap_check(bucket(k, 100) == hundred[k], "%" PRIu64 ": %" PRIu32, k, bucket(k, 100));
    tap_check(bucket(256, 1024) == 520, "256 of 1024: %" PRIu32, bucket(256, 1024));
}

/* The same in floating point, as it was published. */
static uint32_t in_doubles(uint64_t k, uint32_t buckets)
{
    int64_t b = -1, j = 0;
    while (j < (int64_t)buckets) {
        b = j;
        k = k * 2862933555777941757U + 1;
        j = (int64_t)((double)(b + 1) * ((double)(1LL << 31) / (double)((k >> 33) + 1)));
    }
    return (uint32_t)b;
}

/* Rounding may differ, once in millions of keys. */
static void as_in_doubles(void)
{
    static const uint32_t counts[] = {1, 2, 3, 7, 100, 4096, 99991, SHARDS_MAX};
    struct chance chance = {1};
    unsigned differ = 0;
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t k = chance_next(&chance);
        uint32_t buckets = counts[i % (sizeof counts / sizeof *counts)], got = bucket(k, buckets);
        tap_check(got < buckets, "bucket %" PRIu32 " of %" PRIu32, got, buckets);
        differ += got != in_doubles(k, buckets);
    }
    tap_check(differ <= 2, "%u differ", differ);
}

/* However many keys there are, and whatever their neighbours. */
static void together(void)
{
    enum { KEYS = 4099 };
    static const uint32_t counts[] = {1, 2, 3, 100, SHARDS_MAX};
    static const size_t sizes[] = {0, 1, 2, 3, 7, 255, 256, 257, 511, 513, KEYS};
    struct key keys[KEYS];
    uint32_t parts[KEYS + 1];
    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = hash_key(&i, sizeof i, hashers_of_shards().key);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t n = sizes[s];
            memset(parts, 0, sizeof parts);
            shards_of_keys(keys, n, counts[c], parts);
            for (size_t i = 0; i < n; i++)
                tap_check(parts[i] == shard_of_key(keys[i], counts[c]), "key %zu of %zu", i, n);
            tap_check(parts[n] == 0, "one too many of %zu", n);
        }
}

static void same(uint64_t k, uint64_t parts)
{
    struct key key = {.lo = k};
    uint32_t part;
    if (parts < 1 || parts > SHARDS_MAX)
        return;
    shards_of_keys(&key, 1, (uint32_t)parts, &part);
    tap_check(part == shard_of_key(key, (uint32_t)parts), "%" PRIx64 " of %" PRIu64, k, parts);
}

/* The fast way divides doubles: a key changes its part at the same numbers of parts. */
static void at_each_change(void)
{
    struct chance chance = {2};
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t key = chance_next(&chance), k = key, next = 0;
        while (next < SHARDS_MAX) {
            k = k * SHARD_FACTOR + 1;
            next = shard_jump(next, k);
            same(key, next);
            same(key, next + 1);
        }
    }
}

/* And where the first quotient is an integer, or nearly one. */
static void at_integers(void)
{
    uint64_t inverse = SHARD_FACTOR; /* modulo 2^3, then 2^6, 2^12 ... */
    for (unsigned i = 0; i < 5; i++)
        inverse *= 2 - SHARD_FACTOR * inverse;
    for (uint64_t quotient = 1; quotient < SHARDS_MAX; quotient += 1 + quotient / 64)
        for (uint64_t d = (UINT64_C(1) << 31) / quotient - 1, i = 0; i < 4; i++, d++)
            for (uint64_t parts = quotient - 1; parts <= quotient + 1; parts++)
                same((((d - 1) << 33) - 1) * inverse, parts);
}

/* A part more gets its share of the keys, within 6 sigma, and no other changes. */
static void even(void)
{
    enum { KEYS = 100000 };
    for (uint32_t parts = 1; parts <= 100; parts += 1 + parts / 4) {
        unsigned moved = 0;
        for (uint64_t i = 0; i < KEYS; i++) {
            struct key key = hash_key(&i, sizeof i, hashers_of_shards().key);
            uint32_t before = shard_of_key(key, parts), after = shard_of_key(key, parts + 1);
            tap_check(after == before || after == parts + 1, "from %" PRIu32 " to %" PRIu32, before,
                      after);
            moved += after != before;
        }
        tap_check(fabs(chance_excess(moved, KEYS, 1.0 / (parts + 1))) < CHANCE_SIGMAS,
                  "to %" PRIu32 ": %u", parts + 1, moved);
    }
}

int main(void)
{
    tap_run("published vectors", published);
    tap_run_long("in integers as in floating point", as_in_doubles);
    tap_run("many keys together as one by one", together);
    tap_run_long("at each change of a key's part", at_each_change);
    tap_run("at integers, and near them", at_integers);
    tap_run("a part more gets its share of the keys, and nothing else moves", even);
    return tap_end();
}
