/* merge - see merge.h. */
#include "union/merge.h"

#include "format/likeness.h"
#include "store/create.h"
#include "store/pages.h"
#include "system/signals.h"
#include "union/joint.h"
#include "union/merged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct merge {
    struct header header;
    struct source *sources;
    size_t source_count;
    const struct bits **members; /* of all groups */
    struct group *groups;
    unsigned count;
    double keys; /* in all groups; once, if groups of one shape share them */
};

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
    source->stage = store_is_stage(filter, layer); /* in a new file it is a layer like any other */
    estimate_start(&estimate, source->plan.geometry);
    for (uint64_t page = 0; page < source->plan.pages; page += JOINT_RUN) {
        uint64_t left = source->plan.pages - page;
        if (signals_pending())
            return -1;
        pages_read_ahead(filter, layer, page, left < JOINT_RUN ? left : JOINT_RUN);
        estimate_add(&estimate, source->bits->bytes + page * PAGE_BYTES,
                     left < JOINT_RUN ? left : JOINT_RUN);
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
    merge->members = calloc(merge->source_count, sizeof(struct bits *));
    merge->groups = calloc(merge->source_count, sizeof *merge->groups);
    if (merge->sources == NULL || merge->members == NULL || merge->groups == NULL)
        return fault_errno(fault, "merge", NULL, ENOMEM);
    struct source *source = merge->sources;
    for (size_t i = 0; i < count; i++)
        for (unsigned layer = 0; layer < store_regions(inputs[i]); layer++)
            if (read_source(source++, inputs[i], layer) != 0)
                return fault_errno(fault, store_path(inputs[i]), NULL, EINTR);
    return 0;
}

static int form_groups(struct merge *merge, struct fault *fault)
{
    ptrdiff_t count = group_all(merge->sources, merge->source_count, merge->members, merge->groups,
                                &merge->keys);
    if (count < 0)
        return fault_errno(fault, "merge", NULL, EINTR);
    if (count > LAYERS_MAX) {
        fault_set(fault, "merge", "%td layers do not fit together, and a filter has at most %u",
                  count, LAYERS_MAX);
        return fault_way_out(fault, "merge filters made --like one that is large enough for all");
    }
    merge->count = (unsigned)count;
    group_share_rate(merge->groups, merge->count, &merge->header.plan);
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
        read_sources(merge, inputs, count, fault) != 0 || form_groups(merge, fault) != 0) {
        merge_free(merge);
        return NULL;
    }
    return merge;
}

void merge_free(struct merge *merge)
{
    if (merge == NULL)
        return;
    free(merge->groups);
    free(merge->members);
    free(merge->sources);
    free(merge);
}

unsigned merge_layers(const struct merge *merge)
{
    return merge->count;
}

double merge_keys(const struct merge *merge)
{
    return merge->keys;
}

double merge_rate(const struct merge *merge)
{
    double rate = 0;
    for (unsigned i = 0; i < merge->count; i++)
        rate += (1 - rate) * merge->groups[i].rate;
    return rate;
}

bool merge_keeps_rate(const struct merge *merge)
{
    double noise = 0;
    for (unsigned i = 0; i < merge->count; i++)
        noise += merge->groups[i].noise;
    return merge_rate(merge) - noise <= merge->header.plan.rate;
}

int merge_write(const struct merge *merge, const char *path, bool over,
                const struct store *replaced, struct fault *fault)
{
    struct header header = merge->header;
    struct stat status;
    const struct stat *like = NULL;
    header.writer_features = 0; /* a queue stays where it is */
    if (replaced == NULL) {
        create_new_identity(&header);
    } else {
        const struct header *was = store_header(replaced);
        memcpy(header.uuid, was->uuid, UUID_BYTES);
        header.created = was->created;
        header.writer_features = was->writer_features;
        if (stat(store_path(replaced), &status) == 0)
            like = &status;
    }
    return merged_write(&header, merge->groups, merge->count, path, over, like, fault);
}
