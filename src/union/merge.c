/* merge - see merge.h. */
#include "union/merge.h"

#include "core/join.h"
#include "format/likeness.h"
#include "store/create.h"
#include "store/newfile.h"
#include "store/pages.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A layer of an input. */
struct source {
    const struct bits *bits;
    struct layer_plan plan;
    double keys;
    bool stage;
};

/* The static analyzer of gcc 12 loses sight of what the elements of an array own; here each group of
 * merge->groups its members, which merge_free frees. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#pragma GCC diagnostic ignored "-Wanalyzer-use-of-uninitialized-value"
#endif

/* A layer to be: members are `count` sources. */
struct group {
    const struct bits **members;
    size_t count;
    struct layer_plan plan;
    bool stage; /* members are stages */
    double keys;
    double deviation; /* of keys */
    double rate;
    double noise; /* how far the rate may be off */
};

struct merge {
    struct header header;
    struct source *sources;
    size_t source_count;
    struct group *groups;
    size_t group_count;
    double keys; /* in all groups; once, if groups of one shape share them */
};

/* So far from what was estimated the truth is not by chance. */
enum { SIGMAS = 6 };

static bool same_shape(const struct layer_plan *a, const struct layer_plan *b)
{
    return a->pages == b->pages && memcmp(&a->geometry, &b->geometry, sizeof a->geometry) == 0;
}

/* --- reading --- */

enum { RUN = 256 }; /* pages to read at a time */

/* Reads the joint layer of the first `count` members: all runs of pages, or one of so many of them.
 * Returns 0, or -1: a signal. */
static int estimate_group(const struct group *group, size_t count, uint64_t step,
                          struct estimate *estimate)
{
    uint64_t end = group->plan.pages;
    estimate_start(estimate, group->plan.geometry);
    for (uint64_t page = 0; page < end; page += step * RUN) {
        if (signals_pending())
            return -1;
        join_estimate(group->members, count, page, end - page < RUN ? end - page : RUN, estimate);
    }
    return 0;
}

static int measure(struct group *group)
{
    struct estimate estimate;
    if (estimate_group(group, group->count, 1, &estimate) != 0)
        return -1;
    group->keys = estimate_keys(&estimate);
    group->deviation = estimate_deviation(&estimate);
    group->rate = estimate_rate(&estimate);
    struct geometry geometry = group->plan.geometry;
    double more = group->keys + SIGMAS * group->deviation;
    group->noise = sizing_rate(geometry, group->plan.pages, more) -
                   sizing_rate(geometry, group->plan.pages, group->keys);
    return 0;
}

/* --- which layers come together --- */

/* Would the source fit, too? It does if there is room for all its keys; or if nothing is gained by
 * keeping it apart, since the other layer, which may be too full, has them already. It may share many
 * with what is there: then the joint bits tell. Most often a few runs of pages do, since keys fall on
 * pages evenly, and all are read only if it is close. Returns 1 or 0, *keys then being about what is
 * inside; or -1 for a signal. */
static int fits(const struct group *group, const struct source *source, double *keys)
{
    enum { SAMPLE = 4 };
    double most = fmax((double)group->plan.capacity, fmax(group->keys, source->keys));
    struct estimate estimate;
    *keys = group->keys + source->keys;
    if (*keys <= most)
        return 1;
    uint64_t step = group->plan.pages / (SAMPLE * RUN) + 1;
    if (estimate_group(group, group->count + 1, step, &estimate) != 0)
        return -1;
    double scale = (double)group->plan.pages / (double)estimate.pages;
    *keys = scale * estimate_keys(&estimate);
    double deviation = scale * sqrt(estimate_keys(&estimate) + 1);
    if (*keys - SIGMAS * deviation > most)
        return 0;
    if (*keys + SIGMAS * deviation <= most)
        return 1;
    if (estimate_group(group, group->count + 1, 1, &estimate) != 0)
        return -1;
    *keys = estimate_keys(&estimate);
    return *keys <= most + SIGMAS * estimate_deviation(&estimate);
}

/* Small layers first, as in a filter that grew; of one shape the fullest first, and so on, so that
 * the order of the inputs does not matter. */
static int compare_plans(const struct layer_plan *a, const struct layer_plan *b)
{
    if (a->pages != b->pages)
        return a->pages < b->pages ? -1 : 1;
    return memcmp(&a->geometry, &b->geometry, sizeof a->geometry);
}

/* Stages come before all layers: while they are read, an input may be written to, and what leaves a stage
 * goes into a layer that is still to be read. */
static int compare_kinds(bool a, bool b)
{
    return (int)b - (int)a;
}

static int compare_sources(const void *left, const void *right)
{
    const struct source *a = left, *b = right;
    int order = compare_kinds(a->stage, b->stage);
    if (order == 0)
        order = compare_plans(&a->plan, &b->plan);
    if (order == 0 && a->keys != b->keys)
        order = a->keys > b->keys ? -1 : 1;
    if (order == 0)
        order = memcmp(a->bits->bytes, b->bits->bytes, (size_t)(a->plan.pages * PAGE_BYTES));
    return order;
}

static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    int order = compare_kinds(a->stage, b->stage);
    if (order == 0)
        order = compare_plans(&a->plan, &b->plan);
    if (order == 0 && a->keys != b->keys)
        order = a->keys > b->keys ? -1 : 1;
    return order;
}

/* What a layer of that shape was made for at its best: an earlier merge may have left some with
 * less. */
static struct layer_plan class_plan(const struct merge *merge, const struct source *source)
{
    struct layer_plan best = source->plan;
    for (size_t i = 0; i < merge->source_count; i++) {
        const struct layer_plan *plan = &merge->sources[i].plan;
        if (merge->sources[i].stage == source->stage && same_shape(plan, &source->plan) &&
            plan->capacity > best.capacity)
            best = *plan;
    }
    return best;
}

static int open_group(struct merge *merge, const struct source *source)
{
    struct group *group = &merge->groups[merge->group_count];
    *group = (struct group){
        .members = calloc(merge->source_count, sizeof(struct bits *)),
        .count = 1,
        .plan = class_plan(merge, source),
        .stage = source->stage,
        .keys = source->keys,
    };
    if (group->members == NULL)
        return -1;
    merge->group_count++;
    group->members[0] = source->bits;
    return 0;
}

/* Puts a source into the first group that it fits into, or one of its own. Returns 0, or -1 with
 * errno. */
static int place(struct merge *merge, const struct source *source)
{
    for (size_t i = 0; i < merge->group_count; i++) {
        struct group *group = &merge->groups[i];
        double keys;
        if (group->stage != source->stage || !same_shape(&group->plan, &source->plan))
            continue;
        group->members[group->count] = source->bits;
        int fit = fits(group, source, &keys);
        errno = EINTR;
        if (fit < 0)
            return -1;
        if (fit == 0)
            continue;
        group->count++;
        group->keys = keys;
        return 0;
    }
    errno = ENOMEM;
    return open_group(merge, source);
}

static int form_groups(struct merge *merge, struct fault *fault)
{
    merge->group_count = 0;
    for (size_t i = 0; i < merge->source_count; i++)
        if (place(merge, &merge->sources[i]) != 0)
            return fault_errno(fault, "merge", NULL, errno);
    for (size_t i = 0; i < merge->group_count; i++)
        if (measure(&merge->groups[i]) != 0)
            return fault_errno(fault, "merge", NULL, EINTR);
    qsort(merge->groups, merge->group_count, sizeof *merge->groups, compare_groups);
    if (merge->group_count <= LAYERS_MAX)
        return 0;
    fault_set(fault, "merge", "%zu layers do not fit together, and a filter has at most %u",
              merge->group_count, LAYERS_MAX);
    return fault_way_out(fault, "merge filters made --like one that is large enough for all");
}

/* --- what each layer may still take in --- */

/* A layer's share of p is what it has now, and as much of what it was made for as p has left, the
 * largest layer first; growth keeps its own part. */
static void share_rate(struct merge *merge)
{
    const struct filter_plan *plan = &merge->header.plan;
    double left = plan->rate - growth_rest(plan, (unsigned)merge->group_count);
    for (size_t i = 0; i < merge->group_count; i++)
        left -= merge->groups[i].rate;
    for (size_t i = merge->group_count; i-- > 0;) {
        struct group *group = &merge->groups[i];
        double wanted = group->plan.rate - group->rate;
        if (wanted <= left + plan->rate * 1e-9 || merge->group_count == 1) {
            left -= wanted;
            continue;
        }
        group->plan.rate = group->rate + (left > 0 ? left : 0);
        left = 0;
        uint64_t capacity = growth_capacity(group->plan.geometry, group->plan.pages,
                                            group->plan.rate);
        uint64_t keys = group->keys > 1 ? (uint64_t)group->keys : 1;
        group->plan.capacity = capacity > keys ? capacity : keys;
    }
}

/* --- how many keys there are --- */

/* Of the groups of one shape, the keys that they have together. Returns how many groups those are, from
 * `first` on; 0: no memory, or a signal. */
static size_t count_shape(struct merge *merge, size_t first, struct fault *fault)
{
    struct group joint = merge->groups[first];
    struct estimate estimate;
    size_t end = first;
    double sum = 0;
    joint.count = 0;
    joint.members = calloc(merge->source_count, sizeof(struct bits *));
    if (joint.members == NULL) {
        fault_errno(fault, "merge", NULL, ENOMEM);
        return 0;
    }
    for (; end < merge->group_count && merge->groups[end].stage == joint.stage &&
           same_shape(&merge->groups[end].plan, &joint.plan);
         end++) {
        const struct group *group = &merge->groups[end];
        for (size_t i = 0; i < group->count; i++)
            joint.members[joint.count + i] = group->members[i];
        joint.count += group->count;
        sum += group->keys;
    }
    bool ended = end > first + 1 && estimate_group(&joint, joint.count, 1, &estimate) != 0;
    free(joint.members);
    if (ended) {
        fault_errno(fault, "merge", NULL, EINTR);
        return 0;
    }
    /* Full pages tell no number. */
    if (end > first + 1 && estimate.full == 0)
        sum = fmin(sum, estimate_keys(&estimate));
    merge->keys += sum;
    return end - first;
}

/* Groups are in the order of their shapes. */
static int count_keys(struct merge *merge, struct fault *fault)
{
    for (size_t i = 0; i < merge->group_count;) {
        size_t some = count_shape(merge, i, fault);
        if (some == 0)
            return -1;
        i += some;
    }
    return 0;
}

/* --- all of it --- */

/* The header is that of the input made for the most keys. */
static bool is_larger(const struct filter_plan *a, const struct filter_plan *b)
{
    if (a->capacity != b->capacity)
        return a->capacity > b->capacity;
    return a->pages > b->pages;
}

static int check_alike(struct merge *merge, struct store *const *inputs, size_t count,
                       struct fault *fault)
{
    char wanted[LIKENESS_TEXT], found[LIKENESS_TEXT];
    merge->header = *store_header(inputs[0]);
    for (size_t i = 0; i < count; i++) {
        const struct header *header = store_header(inputs[i]);
        if (header->plan.generations != 0)
            return fault_set(fault, store_path(inputs[i]),
                             "is a window, which cannot be merged: what it forgets next would be "
                             "among what the others keep");
        const char *what = likeness_differs(&merge->header, header, wanted, found);
        if (what != NULL) {
            fault_set(fault, store_path(inputs[i]),
                      "cannot be merged with %s: its %s is %s, not %s", store_path(inputs[0]), what,
                      found, wanted);
            return fault_way_out(fault,
                                 "filters that are to be merged are made --like one another");
        }
        if (is_larger(&header->plan, &merge->header.plan))
            merge->header = *header;
    }
    return 0;
}

static int read_source(struct source *source, const struct store *filter, unsigned layer)
{
    struct estimate estimate;
    source->bits = store_bits(filter, layer);
    source->plan = store_plan(filter, layer);
    source->stage = source->plan.journal != 0;
    source->plan.journal = 0; /* in a new file it is a layer like any other */
    estimate_start(&estimate, source->plan.geometry);
    for (uint64_t page = 0; page < source->plan.pages; page += RUN) {
        uint64_t left = source->plan.pages - page;
        if (signals_pending())
            return -1;
        pages_read_ahead(filter, layer, page, left < RUN ? left : RUN);
        estimate_add(&estimate, source->bits->bytes + page * PAGE_BYTES, left < RUN ? left : RUN);
    }
    source->keys = estimate_keys(&estimate);
    return 0;
}

static int read_sources(struct merge *merge, struct store *const *inputs, size_t count,
                        struct fault *fault)
{
    for (size_t i = 0; i < count; i++)
        merge->source_count += store_regions(inputs[i]);
    merge->sources = calloc(merge->source_count, sizeof *merge->sources);
    merge->groups = calloc(merge->source_count, sizeof *merge->groups);
    if (merge->sources == NULL || merge->groups == NULL)
        return fault_errno(fault, "merge", NULL, ENOMEM);
    struct source *source = merge->sources;
    for (size_t i = 0; i < count; i++)
        for (unsigned layer = 0; layer < store_regions(inputs[i]); layer++)
            if (read_source(source++, inputs[i], layer) != 0)
                return fault_errno(fault, store_path(inputs[i]), NULL, EINTR);
    qsort(merge->sources, merge->source_count, sizeof *merge->sources, compare_sources);
    return 0;
}

struct merge *merge_new(struct store *const *inputs, size_t count, struct fault *fault)
{
    struct merge *merge = calloc(1, sizeof *merge);
    if (merge == NULL) {
        fault_errno(fault, "merge", NULL, ENOMEM);
        return NULL;
    }
    if (check_alike(merge, inputs, count, fault) != 0 ||
        read_sources(merge, inputs, count, fault) != 0 || form_groups(merge, fault) != 0 ||
        count_keys(merge, fault) != 0) {
        merge_free(merge);
        return NULL;
    }
    share_rate(merge);
    return merge;
}

void merge_free(struct merge *merge)
{
    if (merge == NULL)
        return;
    for (size_t i = 0; i < merge->group_count; i++)
        free(merge->groups[i].members);
    free(merge->groups);
    free(merge->sources);
    free(merge);
}

unsigned merge_layers(const struct merge *merge)
{
    return (unsigned)merge->group_count;
}

double merge_keys(const struct merge *merge)
{
    return merge->keys;
}

double merge_rate(const struct merge *merge)
{
    double rate = 0;
    for (size_t i = 0; i < merge->group_count; i++)
        rate += (1 - rate) * merge->groups[i].rate;
    return rate;
}

bool merge_keeps_rate(const struct merge *merge)
{
    double noise = 0;
    for (size_t i = 0; i < merge->group_count; i++)
        noise += merge->groups[i].noise;
    return merge_rate(merge) - noise <= merge->header.plan.rate;
}

/* --- the file --- */

struct contents {
    const struct merge *merge;
    struct header header;
    struct layer_record records[LAYERS_MAX];
    uint64_t bytes;
};

static bool is_empty(const uint8_t page[PAGE_BYTES])
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

/* One by one: written in large pieces, the file would be cached in large folios, of which a run of a
 * few lines would then dirty as many. Pages of zeros are there already. */
static int write_pages(int fd, const uint8_t *bytes, unsigned pages, uint64_t at)
{
    for (unsigned i = 0; i < pages; i++) {
        const uint8_t *page = bytes + (size_t)i * PAGE_BYTES;
        if (!is_empty(page) &&
            whole_write_at(fd, page, PAGE_BYTES, at + (uint64_t)i * PAGE_BYTES) != PAGE_BYTES)
            return -1;
    }
    return 0;
}

/* Returns 0, or -1 with errno; *keys is what the layer now has: the inputs may have gone on since
 * they were measured. Its buffers must be off the stack when it has returned. */
__attribute__((noinline)) static int write_layer(int fd, const struct group *group, uint64_t offset,
                                                 double *keys)
{
    enum { SOME = KERNEL_PAGES / 4 }; /* as many as a small stack has room for */
    uint8_t joint[SOME * PAGE_BYTES];
    struct estimate estimate;
    estimate_start(&estimate, group->plan.geometry);
    for (uint64_t at = 0; at < group->plan.pages; at += SOME) {
        uint64_t left = group->plan.pages - at;
        unsigned pages = left < SOME ? (unsigned)left : SOME;
        if (signals_pending()) {
            errno = EINTR;
            return -1;
        }
        join_pages(group->members, group->count, at, pages, joint);
        estimate_add(&estimate, joint, pages);
        if (write_pages(fd, joint, pages, offset + at * PAGE_BYTES) != 0)
            return -1;
    }
    *keys = estimate_keys(&estimate);
    return 0;
}

static int fill(int fd, const void *context)
{
    const struct contents *contents = context;
    const struct merge *merge = contents->merge;
    uint8_t counters[LAYERS_MAX * 8] = {0};
    if (newfile_allocate(fd, contents->bytes) != 0 ||
        create_write_head(fd, &contents->header, contents->records, merge_layers(merge)) != 0)
        return -1;
    for (size_t i = 0; i < merge->group_count; i++) {
        const struct layer_plan *plan = &merge->groups[i].plan;
        double keys;
        if (write_layer(fd, &merge->groups[i], contents->records[i].offset, &keys) != 0)
            return -1;
        /* As if they had come one after the other: some look seen then, and are not counted. */
        store64(counters + i * 8, (uint64_t)sizing_remembered(plan->geometry, plan->pages, keys));
    }
    size_t wanted = sizeof counters;
    return whole_write_at(fd, counters, wanted, COUNTER_KEYS_AT) == wanted ? 0 : -1;
}

static int write_file(struct contents *contents, const char *path, bool over,
                      const struct stat *like, struct fault *fault)
{
    int result = newfile_make(&(struct newfile_plan){
        .path = path,
        .over = over,
        .like = like,
        .fill = fill,
        .context = contents,
    });
    return result < 0 ? fault_errno(fault, path, "cannot be created", errno) : result;
}

int merge_write(const struct merge *merge, const char *path, bool over,
                const struct store *replaced, struct fault *fault)
{
    struct contents contents = {.merge = merge, .header = merge->header};
    struct stat status;
    const struct stat *like = NULL;
    contents.header.writer_features = 0; /* a queue stays where it is */
    if (replaced == NULL) {
        create_new_identity(&contents.header);
    } else {
        const struct header *was = store_header(replaced);
        memcpy(contents.header.uuid, was->uuid, UUID_BYTES);
        contents.header.created = was->created;
        contents.header.writer_features = was->writer_features;
        if (stat(store_path(replaced), &status) == 0)
            like = &status;
    }
    for (size_t i = 0; i < merge->group_count; i++)
        contents.records[i].plan = merge->groups[i].plan;
    contents.bytes = create_lay_out(&contents.header, contents.records, merge_layers(merge));
    return write_file(&contents, path, over, like, fault);
}
