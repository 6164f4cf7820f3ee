/* merge - see merge.h. From top to bottom: what the inputs have in common, what is in their layers,
 * which of these become one layer, and the file. */
#include "merge/merge.h"

#include "core/cells.h"
#include "core/estimate.h"
#include "core/kernel.h"
#include "filter/create.h"
#include "filter/survey.h"
#include "format/likeness.h"
#include "io/newfile.h"
#include "system/io.h"
#include "system/map.h"
#include "system/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A layer of an input. */
struct source {
    const struct filter *filter;
    unsigned layer;
    const struct bits *bits;
    struct layer_plan plan;
    double keys;         /* in the layer and its stage */
    double staged;       /* in its stage */
    double rate;         /* of the layer and its stage */
    bool placed;         /* it is in a group */
    struct source *next; /* in the group */
};

/* A layer of the new filter. */
struct group {
    const struct bits **members;
    size_t count;
    struct source *sources; /* of the members, in no order */
    struct layer_plan plan;
    double keys;   /* at most, stages included */
    double staged; /* in stages */
    double rate;   /* stages included */
};

struct merge {
    struct header header;
    struct source *sources;
    size_t source_count;
    const struct bits **members; /* of all groups */
    struct group *groups;
    unsigned count;
    struct filter *replaced; /* the input that the new filter replaces, frozen; or NULL */
};

/* --- the header --- */

/* The new header is that of the input made for the most keys, after all were found to be alike. */
static int make_header(struct header *header, struct filter *const *inputs, size_t count,
                       struct fault *fault)
{
    /* 1. All are compared with the first that is for a shard, or with the first. A filter without
     * --shard agrees with shards of any list. */
    const struct shard first = filter_header(inputs[0])->shard;
    const struct filter *model = inputs[0];
    bool one_shard = true; /* all inputs are for the same */
    for (size_t i = count; i-- > 0;) {
        const struct shard *shard = &filter_header(inputs[i])->shard;
        one_shard = one_shard && shard->number == first.number;
        if (shard->count != 0)
            model = inputs[i];
    }
    const uint32_t shards = filter_header(model)->shard.count;
    *header = *filter_header(inputs[0]);
    for (size_t i = 0; i < count; i++) {
        char how[LIKENESS_TEXT];
        const char *option;
        struct header one = *filter_header(inputs[i]);
        if (one.plan.window) {
            fault_set(fault, filter_path(inputs[i]), "is a window, and windows cannot be merged");
            return fault_way_out(fault, "leave it out");
        }
        if (one.shard.count == 0)
            one.shard = filter_header(model)->shard;
        if (likeness_difference(&one, filter_header(model), LIKE_FOR_UNION, &option, how) != NULL) {
            fault_set(fault, filter_path(inputs[i]), "cannot be merged with %s: was made %s",
                      filter_path(model), how);
            return fault_way_out(fault,
                                 "to make filters that can be merged: unseen create --like FILTER");
        }
        const struct filter_plan *plan = &one.plan, *largest = &header->plan;
        if (plan->capacity > largest->capacity ||
            (plan->capacity == largest->capacity && plan->pages > largest->pages))
            *header = *filter_header(inputs[i]);
    }
    /* 2. If all inputs are for one shard, the result is for this shard; if all shards of a list are
     * there, each at least once, it is for the whole list. A filter without --shard among the
     * inputs does not replace a missing shard, because it may lack lines of that shard. */
    if (one_shard && shards > 1) {
        header->shard = first;
        return 0;
    }
    header->shard = (struct shard){0};
    for (uint32_t shard = 1; shard <= shards; shard++) {
        size_t i = 0;
        while (i < count && filter_header(inputs[i])->shard.number != shard)
            i++;
        if (i < count)
            continue;
        fault_set(fault, "merge", "shard %" PRIu32 " of %" PRIu32 " is missing", shard, shards);
        return fault_way_out(fault, "if the inputs are shards, all of them must be given");
    }
    return 0;
}

/* --- what is in the layers --- */

/* The rate of a layer with the estimated bits and `staged` more keys in its stage. */
static double rate_of(const struct estimate *estimate, const struct layer_plan *plan, double staged)
{
    double keys = estimate_keys(estimate), rate = estimate_rate(estimate);
    if (staged > 0)
        rate += sizing_rate(plan->geometry, plan->pages, keys + staged) -
                sizing_rate(plan->geometry, plan->pages, keys);
    return rate;
}

/* --- which layers are combined ---
 *
 * Only layers of one shape (the same number of pages and the same geometry) can be combined by OR.
 * Combining saves a test per key, but raises the rate: two full layers of 1e-6 become one of 1e-3.
 * So the fullest layer comes first, and each other layer joins the first group that stays within
 * its rate, or that leaves enough of the filter's rate for growth. Keys in a layer's stage belong
 * to the layer. Overlap between inputs cannot be predicted, so staged keys are counted for each
 * layer separately. */

/* Small layers first, as in a filter that grew; within one shape the fullest first. Ties are broken
 * by the bits, so that the order of the inputs does not matter. */
static int compare_sources(const void *left, const void *right)
{
    const struct source *a = left, *b = right;
    if (a->plan.pages != b->plan.pages)
        return a->plan.pages < b->plan.pages ? -1 : 1;
    int order = memcmp(&a->plan.geometry, &b->plan.geometry, sizeof a->plan.geometry);
    if (order != 0)
        return order;
    if (a->keys != b->keys)
        return a->keys > b->keys ? -1 : 1;
    return memcmp(a->bits->bytes, b->bits->bytes, (size_t)(a->bits->pages * PAGE_BYTES));
}

static void add_to_group(struct group *group, struct source *source)
{
    source->placed = true;
    source->next = group->sources;
    group->sources = source;
    group->members[group->count++] = source->bits;
    group->staged += source->staged;
    /* Inputs may have been made for different numbers of keys. */
    if (source->plan.capacity > group->plan.capacity)
        group->plan = source->plan;
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

/* Sorts the sources and puts each into a group. The result depends on the sources, not on their
 * order. Reads the bits of all pairs that may be combined. */
static int form_groups(struct merge *merge, struct fault *fault)
{
    /* A filter that grows needs some spare layers. */
    const struct filter_plan *plan = &merge->header.plan;
    const unsigned most = plan->fixed ? LAYERS_MAX : LAYERS_MAX - 8;
    struct filter_plan given = *plan;
    given.capacity = 1;
    struct source *sources = merge->sources;
    const size_t n = merge->source_count;
    const struct bits **members = merge->members;
    double all = 0, easily = growth_rate(&given, 0);
    qsort(sources, n, sizeof *sources, compare_sources);
    for (size_t i = 0; i < n; i++)
        all += sources[i].rate;
    for (size_t i = 0; i < n; i++) {
        if (sources[i].placed)
            continue;
        struct group *group = &merge->groups[merge->count++];
        *group = (struct group){.members = members,
                                .keys = sources[i].keys,
                                .rate = sources[i].rate};
        add_to_group(group, &sources[i]);
        /* Each layer of its shape joins it if the rate allows that: if the sum of all rates stays
         * at most what a first layer of given capacity has of p; if the group keeps the rate of its
         * layer, and the sum stays within p or is above it anyway; or if the sum does not rise,
         * because they share keys. */
        for (size_t j = i + 1; j < n && join_is_possible(sources[j].bits, sources[i].bits); j++) {
            struct source *source = &sources[j];
            struct estimate estimate;
            if (source->placed)
                continue;
            members[group->count] = source->bits;
            if (survey_joint(members, group->count + 1, SURVEY_ALL, &estimate) != 0)
                return fault_errno(fault, "merge", NULL, EINTR);
            double joint = rate_of(&estimate, &group->plan, group->staged + source->staged);
            double apart = group->rate + source->rate, after = all - apart + joint;
            if (after > easily && joint > apart &&
                (joint > group->plan.rate || (after > plan->rate && all <= plan->rate)))
                continue;
            add_to_group(group, source);
            group->keys = estimate_keys(&estimate) + group->staged;
            group->rate = joint;
            group->plan.rate = fmax(group->plan.rate, joint);
            all = after;
        }
        members += group->count;
    }
    if (merge->count > most) {
        fault_set(fault, "merge", "the result would have %u layers, more than the limit of %u",
                  merge->count, most);
        return fault_way_out(fault, "make the inputs --like a filter large enough for all lines");
    }
    if (!plan->fixed)
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
    /* 1. What the inputs have in common. */
    if (make_header(&merge->header, inputs, count, fault) != 0)
        goto failed;
    /* 2. What is in their layers. */
    for (size_t i = 0; i < count; i++)
        merge->source_count += filter_layers(inputs[i]);
    merge->sources = calloc(merge->source_count, sizeof *merge->sources);
    merge->members = calloc(merge->source_count, sizeof(struct bits *));
    merge->groups = calloc(merge->source_count, sizeof *merge->groups);
    if (merge->sources == NULL || merge->members == NULL || merge->groups == NULL) {
        fault_errno(fault, "merge", NULL, ENOMEM);
        goto failed;
    }
    struct source *source = merge->sources;
    for (size_t i = 0; i < count; i++)
        for (unsigned layer = 0; layer < filter_layers(inputs[i]); layer++, source++) {
            struct estimate estimate;
            uint64_t staged;
            source->filter = inputs[i];
            source->layer = layer;
            source->bits = filter_bits(inputs[i], layer);
            source->plan = filter_plan(inputs[i], layer);
            filter_read_all(inputs[i], layer);
            /* Keys in the stage are counted before those in the layer, to which a writer may move
             * them. */
            if (filter_count_staged(inputs[i], layer, 0, source->bits->pages, &staged, fault) != 0)
                goto failed;
            if (survey_joint(&source->bits, 1, SURVEY_ALL, &estimate) != 0) {
                fault_errno(fault, filter_path(inputs[i]), NULL, EINTR);
                goto failed;
            }
            source->staged = (double)staged;
            source->keys = estimate_keys(&estimate) + source->staged;
            source->rate = rate_of(&estimate, &source->plan, source->staged);
        }
    /* 3. Which of them become one layer. */
    if (form_groups(merge, fault) == 0)
        return merge;
failed:
    merge_free(merge);
    return NULL;
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

static int fault_creating(const struct contents *contents, int error)
{
    return fault_errno(contents->fault, contents->path, "cannot be created", error);
}

/* Combines the pages from..end, and writes them one by one: large writes would put the file into
 * large folios of the page cache, and a later run of a few lines would dirty one of these per line.
 * Pages of zeros are skipped. Not inlined, so that its buffer is on the stack only while it
 * runs. */
__attribute__((noinline)) static int write_stretch(struct writing *writing, uint64_t from,
                                                   uint64_t end)
{
    enum { SOME = 2 }; /* as many as fit on a small stack */
    uint8_t joint[SOME * PAGE_BYTES];
    for (uint64_t at = from; at < end; at += SOME) {
        unsigned pages = end - at < SOME ? (unsigned)(end - at) : SOME;
        if (signals_arrived())
            return fault_creating(writing->contents, EINTR);
        join_pages(writing->layers, writing->count, at, pages, joint);
        estimate_add(&writing->estimate, joint, pages);
        for (unsigned i = 0; i < pages; i++) {
            const uint8_t *page = joint + (size_t)i * PAGE_BYTES;
            bool empty = page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
            uint64_t offset = writing->offset + (at + i) * PAGE_BYTES;
            if (!empty && io_write_at(writing->fd, page, PAGE_BYTES, offset) != PAGE_BYTES)
                return fault_creating(writing->contents, errno);
        }
    }
    return 0;
}

/* Sets the keys of a stage that fall on pages from..end in a layer of the same shape. Not inlined,
 * because of its buffer. */
__attribute__((noinline)) static int set_staged(const struct source *source, const struct bits *to,
                                                uint64_t from, uint64_t end, struct fault *fault)
{
    struct key keys[STAGE_PIECE];
    struct stage_reader reader = filter_stage_reader(source->filter, source->layer, from, end);
    ptrdiff_t n;
    while ((n = filter_read_stage(&reader, keys, fault)) > 0)
        kernel_for(to->geometry)->set(to, keys, (size_t)n);
    return n < 0 ? -1 : 0;
}

/* Writes a layer. *keys is estimated again, because writers may have added to the inputs since they
 * were read. */
static int write_layer(int fd, const struct contents *contents, unsigned layer, double *keys)
{
    const struct group *group = &contents->merge->groups[layer];
    const uint64_t pages = group->plan.pages;
    struct writing writing = {contents, fd, contents->records[layer].offset, .count = group->count};
    writing.layers = malloc((group->count + 1) * sizeof(struct bits *));
    if (writing.layers == NULL)
        return fault_creating(contents, ENOMEM);
    memcpy(writing.layers, group->members, group->count * sizeof(struct bits *));
    estimate_start(&writing.estimate, group->plan.geometry);
    /* If there are staged keys, maps the new layer and sets those in it, then combines it with the
     * other layers, a stretch at a time. A stage is read before the pages that a writer may move
     * its keys to (filter/stage.c). */
    const bool staged = group->staged > 0;
    const uint64_t stretch = staged ? filter_stretch() : pages;
    const size_t bytes = (size_t)(pages * PAGE_BYTES);
    struct bits own = {.pages = pages, .geometry = group->plan.geometry};
    int result = 0;
    if (staged) {
        own.bytes = map_file(fd, true, writing.offset, bytes, contents->path, contents->fault);
        result = own.bytes != NULL ? 0 : -1;
        writing.layers[writing.count++] = &own;
    }
    if (own.bytes != NULL)
        map_advise(own.bytes, bytes, MADV_RANDOM);
    for (uint64_t from = 0, end; from < pages && result == 0; from = end) {
        end = pages - from < stretch ? pages : from + stretch;
        for (const struct source *one = staged ? group->sources : NULL; one != NULL && result == 0;
             one = one->next)
            result = set_staged(one, &own, from, end, contents->fault);
        if (result == 0)
            result = write_stretch(&writing, from, end);
    }
    if (own.bytes != NULL)
        map_drop(own.bytes, bytes);
    free(writing.layers);
    *keys = estimate_keys(&writing.estimate);
    return result;
}

static int write_contents(int fd, const void *context)
{
    const struct contents *contents = context;
    const struct merge *merge = contents->merge;
    uint8_t states[LAYERS_MAX * LAYER_STATE_BYTES] = {0};
    if (create_allocate(fd, 0, contents->records, merge->count) != 0 ||
        create_write_head(fd, &contents->header, contents->records, merge->count) != 0)
        return fault_creating(contents, errno);
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
    return whole ? 0 : fault_creating(contents, errno);
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
        .fill = write_contents,
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
