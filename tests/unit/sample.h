/*
 * sample - numbered keys, and filters for a test to work on. What fails is a failure of the running
 * test, which goes on; a filter is NULL then.
 */
#ifndef UNSEEN_TESTS_SAMPLE_H
#define UNSEEN_TESTS_SAMPLE_H

#include "core/hash.h"
#include "filter/create.h"
#include "filter/internal.h"

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
    int result = create_filter(path, &header, FOUND_FILTER, &fault);
    if (result != 0)
        sample_fault("create", &fault);
    return result == 0;
}

/* Begins to use a filter, NULL with its fault included, and closes it if that fails. */
static inline struct writer *sample_writer(struct filter *filter, struct fault *fault)
{
    struct writer *writer = filter != NULL ? writer_new(filter, fault) : NULL;
    if (writer == NULL)
        filter_close(filter);
    return writer;
}

static inline struct filter *sample_filter(const struct writer *writer)
{
    return writer->filter;
}

static inline void sample_close(struct writer *writer)
{
    struct filter *filter = writer != NULL ? writer->filter : NULL;
    writer_free(writer);
    filter_close(filter);
}

static inline struct writer *sample_open(const char *path, bool write)
{
    struct fault fault;
    struct writer *writer = sample_writer(filter_open(path, write, NULL, &fault), &fault);
    if (writer == NULL)
        sample_fault("open", &fault);
    return writer;
}

/* In a new file, open for writing. */
static inline struct writer *sample_file(const char *path, const struct filter_plan *plan)
{
    return sample_create(path, plan) ? sample_open(path, true) : NULL;
}

/* Two writers of a new file. Returns whether both are there. */
static inline bool sample_two(const char *path, const struct filter_plan *plan, struct writer **a,
                              struct writer **b)
{
    *a = sample_file(path, plan);
    *b = *a != NULL ? sample_open(path, true) : NULL;
    return *b != NULL;
}

/* Of what the last claim took into flight, so many lines were handed on. */
static inline int sample_settle(struct writer *writer, uint64_t delivered, struct fault *fault)
{
    writer_keep(writer, delivered);
    return writer_settle(writer, fault);
}

static inline struct writer *sample_memory(const struct filter_plan *plan)
{
    struct fault fault;
    struct header header = {.plan = *plan};
    struct writer *writer = sample_writer(filter_memory(&header, NULL, &fault), &fault);
    if (writer == NULL)
        sample_fault("in memory", &fault);
    return writer;
}

/* What becomes of the new ones of a claim. KEPT and NOTHING leave them in flight; after NOTHING no
 * other claim may follow before they are settled. */
enum fate { SETTLED, DROPPED, KEPT, NOTHING };

/* Claims keys from..to, in as many batches as it takes. Returns how many were new, or UINT64_MAX
 * with the fault. */
static inline uint64_t sample_claim(struct writer *writer, uint64_t from, uint64_t to,
                                    enum fate fate, struct fault *fault)
{
    static struct key keys[BATCH_KEYS];
    static uint8_t seen[BATCH_KEYS];
    uint64_t total = 0;
    while (from < to) {
        size_t n = to - from < BATCH_KEYS ? (size_t)(to - from) : BATCH_KEYS, new = 0;
        for (size_t i = 0; i < n; i++)
            keys[i] = sample_key(from + i);
        ptrdiff_t judged = writer_claim(writer, keys, n, UINT64_MAX, seen, fault);
        for (ptrdiff_t i = 0; i < judged; i++)
            new += !seen[i];
        if (judged > 0 && fate != NOTHING)
            writer_keep(writer, fate == DROPPED ? 0 : new);
        if (judged <= 0 || (fate <= DROPPED && writer_settle(writer, fault) != 0))
            return UINT64_MAX;
        total += new;
        from += (uint64_t)judged;
    }
    return total;
}

/* The same, where it may not fail. */
static inline uint64_t sample_take(struct writer *writer, uint64_t from, uint64_t to,
                                   enum fate fate)
{
    struct fault fault = {.reason = "none"};
    uint64_t new = sample_claim(writer, from, to, fate, &fault);
    if (new == UINT64_MAX)
        sample_fault("claim", &fault);
    return new;
}

static inline bool sample_has(struct writer *writer, struct key key)
{
    struct fault fault;
    uint8_t seen = 2;
    if (filter_test(sample_filter(writer), &key, 1, &seen, &fault) != 0)
        sample_fault("test", &fault);
    return seen == 1;
}

/* How many of the keys from..to are in. */
static inline uint64_t sample_count(struct writer *writer, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++)
        count += sample_has(writer, sample_key(i));
    return count;
}

/* Adds at most BATCH_KEYS keys. Returns how many were not in. */
static inline uint64_t sample_add(struct writer *writer, const struct key *keys, size_t n)
{
    static uint8_t seen[BATCH_KEYS];
    struct fault fault;
    uint64_t added = 0, new = 0;
    if (writer_add(writer, keys, n, seen, &added, &fault) != (ptrdiff_t)n)
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
