#include "merge/merge.h"

#include "core/kernel.h"
#include "filter/create.h"
#include "filter/pages.h"
#include "filter/stage.h"
#include "filter/survey.h"
#include "format/likeness.h"
#include "io/newfile.h"
#include "merge/group.h"
#include "system/io.h"
#include "system/map.h"
#include "system/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct merge {
    struct header header;
    struct source *sources;
    size_t source_count;
    const struct bits **members; /* of all groups */
    struct group *groups;
    unsigned count;
    struct filter *replaced; /* the input that the new filter replaces, frozen; or NULL */
};

/* The new header is that of the input made for the most keys. */
static bool is_larger(const struct filter_plan *a, const struct filter_plan *b)
{
    if (a->capacity != b->capacity)
        return a->capacity > b->capacity;
    return a->pages > b->pages;
}

/* The input that all others are compared with: the first that is for a shard, or the first. A
 * filter without --shard agrees with shards of any list. */
static const struct filter *model_of(struct filter *const *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (filter_header(inputs[i])->shard.count != 0)
            return inputs[i];
    return inputs[0];
}

static int check_alike(const struct filter *filter, const struct filter *model, struct fault *fault)
{
    char how[LIKENESS_TEXT];
    const char *option;
    struct header header = *filter_header(filter);
    if (header.plan.window) {
        fault_set(fault, filter_path(filter), "is a window, and windows cannot be merged");
        return fault_way_out(fault, "leave it out");
    }
    if (header.shard.count == 0)
        header.shard = filter_header(model)->shard;
    if (likeness_difference(&header, filter_header(model), LIKE_FOR_UNION, &option, how) == NULL)
        return 0;
    fault_set(fault, filter_path(filter), "cannot be merged with %s: was made %s",
              filter_path(model), how);
    return fault_way_out(fault, "to make filters that can be merged: unseen create --like FILTER");
}

static bool has_shard(struct filter *const *inputs, size_t count, uint32_t shard)
{
    for (size_t i = 0; i < count; i++)
        if (filter_header(inputs[i])->shard.number == shard)
            return true;
    return false;
}

/* If all inputs are for one shard, the result is for this shard; if all shards of a list are there,
 * each at least once, it is for the whole list. A filter without --shard among the inputs does not
 * replace a missing shard, because it may lack lines of that shard. */
static int join_shards(struct filter *const *inputs, size_t count, struct shard *joint,
                       struct fault *fault)
{
    struct shard first = filter_header(inputs[0])->shard;
    uint32_t shards = filter_header(model_of(inputs, count))->shard.count;
    bool all_first = true;
    for (size_t i = 0; i < count; i++)
        all_first = all_first && filter_header(inputs[i])->shard.number == first.number;
    *joint = (struct shard){0};
    if (all_first && shards > 1) {
        *joint = first;
        return 0;
    }
    for (uint32_t shard = 1; shard <= shards; shard++)
        if (!has_shard(inputs, count, shard)) {
            fault_set(fault, "merge", "shard %" PRIu32 " of %" PRIu32 " is missing", shard, shards);
            return fault_way_out(fault, "if the inputs are shards, all of them must be given");
        }
    return 0;
}

static int make_header(struct header *header, struct filter *const *inputs, size_t count,
                       struct fault *fault)
{
    const struct filter *model = model_of(inputs, count);
    *header = *filter_header(inputs[0]);
    for (size_t i = 0; i < count; i++) {
        if (check_alike(inputs[i], model, fault) != 0)
            return -1;
        if (is_larger(&filter_header(inputs[i])->plan, &header->plan))
            *header = *filter_header(inputs[i]);
    }
    return join_shards(inputs, count, &header->shard, fault);
}

/* Keys in the stage are counted before those in the layer, to which a writer may move them. */
static int read_source(struct source *source, struct fault *fault)
{
    struct estimate estimate;
    uint64_t staged;
    if (stage_count(source->filter, source->layer, 0, source->bits->pages, &staged, fault) != 0)
        return -1;
    pages_read_ahead(source->filter, source->layer, 0, 0);
    if (survey_joint(&source->bits, 1, &estimate) != 0)
        return fault_errno(fault, filter_path(source->filter), NULL, EINTR);
    source->staged = (double)staged;
    source->keys = estimate_keys(&estimate) + source->staged;
    source->rate = group_rate(&estimate, &source->plan, source->staged);
    return 0;
}

static int read_filter(struct source *source, const struct filter *filter, struct fault *fault)
{
    for (unsigned layer = 0; layer < filter_layers(filter); layer++, source++) {
        source->filter = filter;
        source->layer = layer;
        source->bits = filter_bits(filter, layer);
        source->plan = filter_plan(filter, layer);
        if (read_source(source, fault) != 0)
            return -1;
    }
    return 0;
}

static int read_sources(struct merge *merge, struct filter *const *inputs, size_t count,
                        struct fault *fault)
{
    for (size_t i = 0; i < count; i++)
        merge->source_count += filter_layers(inputs[i]);
    merge->sources = calloc(merge->source_count, sizeof *merge->sources);
    merge->members = calloc(merge->source_count, sizeof(struct bits *));
    merge->groups = calloc(merge->source_count, sizeof *merge->groups);
    if (merge->sources == NULL || merge->members == NULL || merge->groups == NULL)
        return fault_errno(fault, "merge", NULL, ENOMEM);
    struct source *source = merge->sources;
    for (size_t i = 0; i < count; i++) {
        if (read_filter(source, inputs[i], fault) != 0)
            return -1;
        source += filter_layers(inputs[i]);
    }
    return 0;
}

/* Layers that were not combined share p as their bits are now; filled up, each would have the rate
 * of a whole filter. If they may all be filled within p, they go on as they are. If not, layers
 * that are nearly full take no more keys. Each of the others, the largest and emptiest first, may
 * take as much of the rate that is left as a new layer would have, and gets the capacity for that:
 * since the rate rises steeply as a layer fills, a small share is room for most of its keys. Above
 * p, what is left is what growth may add all the same. */
static void share_rate(struct merge *merge)
{
    const struct filter_plan *plan = &merge->header.plan;
    double left = plan->rate, promised = 0;
    for (unsigned i = 0; i < merge->count; i++) {
        left -= merge->groups[i].rate;
        promised += fmax(merge->groups[i].rate, merge->groups[i].plan.rate);
    }
    if (promised <= plan->rate * (1 + 1e-9))
        return;
    if (left <= 0)
        left = growth_rate(plan, merge->count) / growth_share(1);
    for (unsigned i = merge->count; i-- > 0;) {
        const struct group *group = &merge->groups[i];
        struct layer_plan *layer = &merge->groups[i].plan;
        double keys = sizing_remembered(layer->geometry, layer->pages, group->keys);
        uint64_t capacity = keys < 1 ? 1 : (uint64_t)keys;
        if (group->rate < layer->rate / 2) {
            double share = fmin(layer->rate - group->rate, growth_share(left));
            uint64_t more = growth_capacity(layer->geometry, layer->pages, group->rate + share);
            capacity = more > capacity ? more : capacity;
            left -= share;
        }
        layer->capacity = capacity < layer->capacity ? capacity : layer->capacity;
    }
}

static int form_groups(struct merge *merge, struct fault *fault)
{
    /* A filter that grows needs some spare layers. */
    const int most = merge->header.plan.fixed ? LAYERS_MAX : LAYERS_MAX - 8;
    ptrdiff_t count = group_all(merge->sources, merge->source_count, &merge->header.plan,
                                merge->members, merge->groups);
    if (count < 0)
        return fault_errno(fault, "merge", NULL, EINTR);
    if (count > most) {
        fault_set(fault, "merge", "the result would have %td layers, more than the limit of %d",
                  count, most);
        return fault_way_out(fault, "make the inputs --like a filter large enough for all lines");
    }
    merge->count = (unsigned)count;
    if (!merge->header.plan.fixed)
        share_rate(merge);
    return 0;
}

struct merge *merge_new(struct filter *const *inputs, size_t count, struct filter *replaced,
                        struct fault *fault)
{
    struct merge *merge = calloc(1, sizeof *merge);
    if (merge == NULL) {
        fault_errno(fault, "merge", NULL, ENOMEM);
        return NULL;
    }
    if (replaced != NULL && filter_freeze(replaced, fault) != 0) {
        free(merge);
        return NULL;
    }
    merge->replaced = replaced;
    if (make_header(&merge->header, inputs, count, fault) != 0 ||
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
    if (merge->replaced != NULL)
        filter_thaw(merge->replaced);
    free(merge->groups);
    free(merge->members);
    free(merge->sources);
    free(merge);
}

unsigned merge_layers(const struct merge *merge)
{
    return merge->count;
}

double merge_rate(const struct merge *merge)
{
    double rate = 0;
    for (unsigned i = 0; i < merge->count; i++)
        rate = sizing_joint_rate(rate, merge->groups[i].rate);
    return rate;
}

/* --- the file --- */

struct contents {
    const struct merge *merge;
    struct header header;
    struct layer_record records[LAYERS_MAX];
    uint64_t settlings;
    uint8_t queue;
    const char *path;
    struct fault *fault;
};

/* A layer that is being written. */
struct writing {
    const struct contents *contents;
    int fd;
    uint64_t offset;
    const struct bits **layers; /* the layers that are combined in it */
    size_t count;
    struct estimate estimate;
};

static bool is_empty(const uint8_t page[PAGE_BYTES])
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

/* Writes page by page: large writes would put the file into large folios of the page cache, and a
 * later run of a few lines would dirty one of these per line. Pages of zeros are skipped. */
static int write_pages(int fd, const uint8_t *bytes, unsigned pages, uint64_t at)
{
    for (unsigned i = 0; i < pages; i++) {
        const uint8_t *page = bytes + (size_t)i * PAGE_BYTES;
        if (!is_empty(page) &&
            io_write_at(fd, page, PAGE_BYTES, at + (uint64_t)i * PAGE_BYTES) != PAGE_BYTES)
            return -1;
    }
    return 0;
}

static int fail(const struct contents *contents, int error)
{
    return fault_errno(contents->fault, contents->path, "cannot be created", error);
}

/* Not inlined, so that its buffer is on the stack only while it runs. */
__attribute__((noinline)) static int write_stretch(struct writing *writing, uint64_t from,
                                                   uint64_t end)
{
    enum { SOME = 2 }; /* as many as fit on a small stack */
    uint8_t joint[SOME * PAGE_BYTES];
    for (uint64_t at = from; at < end; at += SOME) {
        unsigned pages = end - at < SOME ? (unsigned)(end - at) : SOME;
        if (signals_arrived())
            return fail(writing->contents, EINTR);
        join_pages(writing->layers, writing->count, at, pages, joint);
        estimate_add(&writing->estimate, joint, pages);
        if (write_pages(writing->fd, joint, pages, writing->offset + at * PAGE_BYTES) != 0)
            return fail(writing->contents, errno);
    }
    return 0;
}

/* Sets the keys of a stage that fall on pages from..end in a layer of the same shape. Not inlined,
 * because of its buffer. */
__attribute__((noinline)) static int set_staged(const struct source *source, const struct bits *to,
                                                uint64_t from, uint64_t end, struct fault *fault)
{
    struct key keys[STAGE_PIECE];
    struct stage_reader reader = stage_begin(source->filter, source->layer, from, end);
    ptrdiff_t n;
    while ((n = stage_read(&reader, keys, fault)) > 0)
        kernel_for(to->geometry)->set(to, keys, (size_t)n);
    return n < 0 ? -1 : 0;
}

/* For a group with keys in stages. Maps the new layer and sets these keys in it, then combines it
 * with the other layers, a stretch at a time. A stage is read before the pages that a writer may
 * move its keys to (filter/stage.h). */
static int write_staged(struct writing *writing, const struct group *group)
{
    struct fault *fault = writing->contents->fault;
    uint64_t stretch = stage_stretch();
    size_t bytes = (size_t)(group->plan.pages * PAGE_BYTES);
    struct bits own = {.pages = group->plan.pages, .geometry = group->plan.geometry};
    own.bytes = map_file(writing->fd, true, writing->offset, bytes, writing->contents->path, fault);
    if (own.bytes == NULL)
        return -1;
    map_advise(own.bytes, bytes, MADV_RANDOM);
    writing->layers[writing->count++] = &own;
    int result = 0;
    for (uint64_t from = 0, end; from < own.pages && result == 0; from = end) {
        end = own.pages - from < stretch ? own.pages : from + stretch;
        for (const struct source *one = group->sources; one != NULL && result == 0; one = one->next)
            result = set_staged(one, &own, from, end, fault);
        if (result == 0)
            result = write_stretch(writing, from, end);
    }
    map_drop(own.bytes, bytes);
    return result;
}

/* *keys is estimated again, because writers may have added to the inputs since group_all. */
static int write_layer(int fd, const struct contents *contents, unsigned layer, double *keys)
{
    const struct group *group = &contents->merge->groups[layer];
    struct writing writing = {contents, fd, contents->records[layer].offset, .count = group->count};
    writing.layers = malloc((group->count + 1) * sizeof(struct bits *));
    if (writing.layers == NULL)
        return fail(contents, ENOMEM);
    memcpy(writing.layers, group->members, group->count * sizeof(struct bits *));
    estimate_start(&writing.estimate, group->plan.geometry);
    int result = group->staged == 0 ? write_stretch(&writing, 0, group->plan.pages)
                                    : write_staged(&writing, group);
    free(writing.layers);
    *keys = estimate_keys(&writing.estimate);
    return result;
}

static int fill(int fd, const void *context)
{
    const struct contents *contents = context;
    const struct merge *merge = contents->merge;
    uint8_t states[LAYERS_MAX * LAYER_STATE_BYTES] = {0};
    if (create_allocate(fd, 0, contents->records, merge->count) != 0 ||
        create_write_head(fd, &contents->header, contents->records, merge->count) != 0)
        return fail(contents, errno);
    for (unsigned i = 0; i < merge->count; i++) {
        const struct layer_plan *plan = &merge->groups[i].plan;
        double keys = 0;
        if (write_layer(fd, contents, i, &keys) != 0)
            return -1;
        /* Counters leave out keys that looked seen, as if the keys had come one by one. */
        store64(states + (layer_state_at(i) + LAYER_KEYS - LAYER_STATES_AT),
                (uint64_t)sizing_remembered(plan->geometry, plan->pages, keys));
    }
    uint8_t settled[8];
    store64(settled, contents->settlings);
    bool whole = io_write_at(fd, states, sizeof states, LAYER_STATES_AT) == sizeof states &&
                 io_write_at(fd, settled, sizeof settled, COUNTER_SETTLED_AT) == sizeof settled &&
                 io_write_at(fd, &contents->queue, 1, QUEUE_AT) == 1;
    return whole ? 0 : fail(contents, errno);
}

int merge_write(const struct merge *merge, const char *path, bool over, struct fault *fault)
{
    const struct filter *replaced = merge->replaced;
    struct contents contents = {.merge = merge,
                                .header = merge->header,
                                .path = path,
                                .fault = fault};
    struct header *header = &contents.header;
    struct newfile_plan plan = {
        .path = path,
        .over = over,
        .secret = header_has_secret(header),
        .mark = header_magic,
        .mark_bytes = HEADER_MAGIC_BYTES,
        .fill = fill,
        .context = &contents,
    };
    struct stat status;
    if (replaced == NULL) {
        create_new_identity(header);
    } else {
        const struct header *was = filter_header(replaced);
        memcpy(header->uuid, was->uuid, UUID_BYTES);
        header->created = was->created;
        contents.queue = filter_queue(replaced);
        /* Another count, so that a writer which has noted the count tests its keys again. */
        contents.settlings = filter_settlings(replaced) + 1;
        if (stat(filter_path(replaced), &status) == 0 && filter_is_file(replaced, &status))
            plan.like = &status;
    }
    for (unsigned i = 0; i < merge->count; i++)
        contents.records[i].plan = merge->groups[i].plan;
    create_lay_out(header, contents.records, merge->count);
    fault->reason[0] = '\0';
    int result = newfile_make(&plan);
    return result < 0 && fault->reason[0] == '\0'
               ? fault_errno(fault, path, "cannot be created", errno)
               : result;
}
