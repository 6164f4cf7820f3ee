/*
 * Parts of a list: the mapping is as published; it is even, and when there is a part more, only the
 * keys that go there move. (tests/keys.bats has the vectors of unseen(5).)
 */
#include "core/shard.h"

#include "chance.h"
#include "tap.h"

#include <inttypes.h>

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
    tap_run("a part more gets its share of the keys, and nothing else moves", even);
    return tap_end();
}
