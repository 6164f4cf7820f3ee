/*
 * Parts of a list: the mapping is as published, and as it always was; it is even, and when there is
 * a part more, only the keys that go there move.
 */
#include "core/shard.h"

#include "chance.h"
#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint32_t bucket(uint64_t k, uint32_t buckets)
{
    return shard_part((struct key){.lo = k}, buckets) - 1;
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
    static const uint32_t counts[] = {1, 2, 3, 7, 100, 4096, 99991, SHARD_PARTS_MAX};
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

/* The vectors of unseen(5): lines, and their parts of 2, 3, 100 and a million. */
static void vectors(void)
{
    static const struct {
        const char *line;
        uint32_t parts[4];
    } known[] = {
        {"", {2, 3, 22, 417253}},
        {"a", {1, 1, 17, 708690}},
        {"http://example.com/", {1, 1, 16, 656297}},
        {"www.example.com", {2, 2, 63, 195084}},
    };
    static const uint32_t counts[] = {2, 3, 100, SHARD_PARTS_MAX};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *line = known[i].line;
        struct key key = hash_key(line, strlen(line), hashers_of_shards().key);
        for (size_t c = 0; c < 4; c++) {
            uint32_t part = shard_part(key, counts[c]);
            tap_check(part == known[i].parts[c], "'%s' of %" PRIu32 ": %" PRIu32, line, counts[c],
                      part);
        }
    }
}

/* Each part has its share of a million keys, and together they are as far from it as chance has
 * them, within 6 sigma. */
static void even(void)
{
    enum { KEYS = 1000000 };
    static const uint32_t of[] = {2, 8, 10, 100, 1000, 4096};
    for (size_t p = 0; p < sizeof of / sizeof *of; p++) {
        uint64_t count[4096] = {0};
        double mean = (double)KEYS / of[p], sigma = sqrt(mean * (1 - 1.0 / of[p]));
        for (uint64_t i = 0; i < KEYS; i++)
            count[shard_part(hash_key(&i, sizeof i, hashers_of_shards().key), of[p]) - 1]++;
        for (uint32_t i = 0; i < of[p]; i++)
            tap_check(fabs((double)count[i] - mean) < CHANCE_SIGMAS * sigma,
                      "part %" PRIu32 " of %" PRIu32 " has %" PRIu64, i + 1, of[p], count[i]);
        double uneven = chance_unevenness(count, of[p]);
        tap_check(fabs(uneven) < CHANCE_SIGMAS, "%" PRIu32 " parts: uneven by %g", of[p], uneven);
    }
}

static void few_move(void)
{
    enum { KEYS = 200000 };
    for (uint32_t parts = 1; parts <= 12; parts++) {
        unsigned moved = 0;
        for (uint64_t i = 0; i < KEYS; i++) {
            struct key key = hash_key(&i, sizeof i, hashers_of_shards().key);
            uint32_t before = shard_part(key, parts), after = shard_part(key, parts + 1);
            tap_check(after == before || after == parts + 1, "from %" PRIu32 " to %" PRIu32, before,
                      after);
            moved += after != before;
        }
        double share = 1.0 / (parts + 1), sigma = sqrt(KEYS * share * (1 - share));
        tap_check(fabs(moved - KEYS * share) < 6 * sigma, "to %" PRIu32 ": %u", parts + 1, moved);
    }
}

/* However many keys there are, and whatever their neighbours. */
static void together(void)
{
    enum { KEYS = 4099 };
    static const uint32_t counts[] = {1, 2, 3, 100, SHARD_PARTS_MAX};
    static const size_t sizes[] = {0, 1, 2, 3, 7, 255, 256, 257, 511, 513, KEYS};
    struct key keys[KEYS];
    uint32_t parts[KEYS + 1];
    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = hash_key(&i, sizeof i, hashers_of_shards().key);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t n = sizes[s];
            memset(parts, 0, sizeof parts);
            shard_parts(keys, n, counts[c], parts);
            for (size_t i = 0; i < n; i++)
                tap_check(parts[i] == shard_part(keys[i], counts[c]), "key %zu of %zu", i, n);
            tap_check(parts[n] == 0, "one too many of %zu", n);
        }
}

static void same(uint64_t k, uint64_t parts)
{
    struct key key = {.lo = k};
    uint32_t part;
    if (parts < 1 || parts > SHARD_PARTS_MAX)
        return;
    shard_parts(&key, 1, (uint32_t)parts, &part);
    tap_check(part == shard_part(key, (uint32_t)parts), "%" PRIx64 " of %" PRIu64, k, parts);
}

/* The fast way divides doubles: a key changes its part at the same numbers of parts. */
static void at_each_change(void)
{
    struct chance chance = {2};
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t key = chance_next(&chance), k = key, next = 0;
        while (next < SHARD_PARTS_MAX) {
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
    for (uint64_t quotient = 1; quotient < SHARD_PARTS_MAX; quotient += 1 + quotient / 64)
        for (uint64_t d = (UINT64_C(1) << 31) / quotient - 1, i = 0; i < 4; i++, d++)
            for (uint64_t parts = quotient - 1; parts <= quotient + 1; parts++)
                same((((d - 1) << 33) - 1) * inverse, parts);
}

int main(void)
{
    tap_run("published vectors", published);
    tap_run_long("in integers as in floating point", as_in_doubles);
    tap_run("the vectors of unseen(5)", vectors);
    tap_run("many keys together as one by one", together);
    tap_run_long("at each change of a key's part", at_each_change);
    tap_run("at integers, and near them", at_integers);
    tap_run_long("parts are even", even);
    tap_run_long("with a part more, few keys move, and only there", few_move);
    return tap_end();
}
