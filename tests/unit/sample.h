/*
 * sample - numbered keys, and filters for a test to work on. What fails is a failure of the running
 * test, which goes on; a filter is NULL then.
 */
#ifndef UNSEEN_TESTS_SAMPLE_H
#define UNSEEN_TESTS_SAMPLE_H

#include "core/hash.h"
#include "filter/create.h"
#include "filter/filter.h"

#include "scratch.h"
#include "tap.h"

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
    struct filter *filter = filter_open(path, write, NULL, &fault);
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

#endif
