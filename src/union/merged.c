/* merged - see merged.h. */
#include "union/merged.h"

#include "core/join.h"
#include "core/kernel.h"
#include "store/create.h"
#include "store/newfile.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <string.h>

struct contents {
    const struct group *groups;
    unsigned count;
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
    uint8_t states[LAYERS_MAX * LAYER_STATE_BYTES] = {0};
    if (whole_allocate(fd, 0, contents->bytes) != 0 ||
        create_write_head(fd, &contents->header, contents->records, contents->count) != 0)
        return -1;
    for (unsigned i = 0; i < contents->count; i++) {
        const struct layer_plan *plan = &contents->records[i].plan;
        double keys;
        if (write_layer(fd, &contents->groups[i], contents->records[i].offset, &keys) != 0)
            return -1;
        /* As if they had come one after the other: some look seen then, and are not counted. */
        store64(states + (keys_at(i) - LAYER_STATES_AT),
                (uint64_t)sizing_remembered(plan->geometry, plan->pages, keys));
    }
    size_t wanted = sizeof states;
    return whole_write_at(fd, states, wanted, LAYER_STATES_AT) == wanted ? 0 : -1;
}

int merged_write(const struct header *header, const struct group *groups, unsigned count,
                 const char *path, bool over, const struct stat *like, struct fault *fault)
{
    struct contents contents = {.groups = groups, .count = count, .header = *header};
    for (unsigned i = 0; i < count; i++)
        contents.records[i].plan = groups[i].plan;
    contents.bytes = create_lay_out(&contents.header, contents.records, count);
    int result = newfile_make(&(struct newfile_plan){
        .path = path,
        .over = over,
        .like = like,
        .fill = fill,
        .context = &contents,
    });
    return result < 0 ? fault_errno(fault, path, "cannot be created", errno) : result;
}
