/*
 * sample - numbered keys, and filters for a test to work on. What fails is a failure of the running
 * test, which goes on; a filter is NULL then.
 */
#ifndef UNSEEN_TESTS_SAMPLE_H
#define UNSEEN_TESTS_SAMPLE_H

#include "core/hash.h"
#include "filter/create.h"
#include "filter/filter.h"
#include "filter/probe.h"

#include "scratch.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Key number `i` of a set of distinct ones. */
static inline struct key sample_key(uint64_t i)
{
    return hash_key(&i, sizeof i, hasher_xxh3(0));
}

static inline void sample_fault(const char *what, const struct fault *fault)
{
    tap_check(false, "%s: %s: %s", what, fault->object, fault->reason);
}

/* Makes the file, whatever was there before. */
static inline bool sample_create(const char *path, const struct filter_plan *plan)
{
    struct fault fault;
    struct header header = {.plan = *plan};
    int result = create_filter(path, &header, PLACE_FILTER, &fault);
    if (result != 0)
        sample_fault("create", &fault);
    return result == 0;
}

static inline struct filter *sample_open(const char *path, bool write)
{
    struct fault fault;
    struct filter *filter = filter_open(store_open(path, write, NULL, &fault), &fault);
    if (filter == NULL)
        sample_fault("open", &fault);
    return filter;
}

/* In a new file, open for writing. */
static inline struct filter *sample_file(const char *path, const struct filter_plan *plan)
{
    return sample_create(path, plan) ? sample_open(path, true) : NULL;
}

/* Two writers of a new file. Returns whether both are there. */
static inline bool sample_two(const char *path, const struct filter_plan *plan, struct filter **a,
                              struct filter **b)
{
    *a = sample_file(path, plan);
    *b = *a != NULL ? sample_open(path, true) : NULL;
    return *b != NULL;
}

/* Of what the last claim took into flight, so many lines were handed on. */
static inline int sample_settle(struct filter *filter, uint64_t delivered, struct fault *fault)
{
    filter_keep(filter, delivered);
    return filter_settle(filter, fault);
}

static inline struct filter *sample_memory(const struct filter_plan *plan)
{
    struct fault fault;
    struct header header = {.plan = *plan};
    struct filter *filter = filter_memory(&header, NULL, &fault);
    if (filter == NULL)
        sample_fault("in memory", &fault);
    return filter;
}

/* What becomes of the new ones of a claim. KEPT and NOTHING leave them in flight; after NOTHING no
 * other claim may follow before they are settled. */
enum fate { SETTLED, DROPPED, KEPT, NOTHING };

/* Claims keys from..to, in as many batches as it takes. Returns how many were new, or UINT64_MAX
 * with the fault. */
static inline uint64_t sample_claim(struct filter *filter, uint64_t from, uint64_t to,
                                    enum fate fate, struct fault *fault)
{
    static struct key keys[BATCH_KEYS];
    static uint8_t seen[BATCH_KEYS];
    uint64_t total = 0;
    while (from < to) {
        size_t n = to - from < BATCH_KEYS ? (size_t)(to - from) : BATCH_KEYS, new = 0;
        for (size_t i = 0; i < n; i++)
            keys[i] = sample_key(from + i);
        ptrdiff_t judged = filter_claim(filter, keys, n, UINT64_MAX, seen, fault);
        for (ptrdiff_t i = 0; i < judged; i++)
            new += !seen[i];
        if (judged > 0 && fate != NOTHING)
            filter_keep(filter, fate == DROPPED ? 0 : new);
        if (judged <= 0 || (fate <= DROPPED && filter_settle(filter, fault) != 0))
            return UINT64_MAX;
        total += new;
        from += (uint64_t)judged;
    }
    return total;
}

/* The same, where it may not fail. */
static inline uint64_t sample_take(struct filter *filter, uint64_t from, uint64_t to,
                                   enum fate fate)
{
    struct fault fault = {.reason = "none"};
    uint64_t new = sample_claim(filter, from, to, fate, &fault);
    if (new == UINT64_MAX)
        sample_fault("claim", &fault);
    return new;
}

static inline bool sample_has(struct filter *filter, struct key key)
{
    struct fault fault;
    uint8_t seen = 2;
    if (probe(filter_store(filter), &key, 1, &seen, &fault) != 0)
        sample_fault("probe", &fault);
    return seen == 1;
}

/* How many of the keys from..to are in. */
static inline uint64_t sample_count(struct filter *filter, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++)
        count += sample_has(filter, sample_key(i));
    return count;
}

/* Adds at most BATCH_KEYS keys. Returns how many were not in. */
static inline uint64_t sample_add(struct filter *filter, const struct key *keys, size_t n)
{
    static uint8_t seen[BATCH_KEYS];
    struct fault fault;
    uint64_t added = 0, new = 0;
    if (filter_add(filter, keys, n, seen, &added, &fault) != (ptrdiff_t)n)
        sample_fault("add", &fault);
    for (size_t i = 0; i < n; i++)
        new += !seen[i];
    tap_check(added == new, "it counts %" PRIu64 " of %" PRIu64 " added", added, new);
    return added;
}

/* To be run when all are closed: only then the disk has the blocks of files back that are gone. */
static inline void sample_nothing_is_mapped(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        tap_check(strstr(line, ".bf") == NULL, "it is still mapped: %s", line);
    if (maps != NULL)
        fclose(maps);
}

#endif
