/*
 * memory - a filter in memory, which ends with its process. Claiming sets the bits at once, and
 * nothing is settled. The same lines are printed as with a file.
 *
 * Counters and generations are laid out as in a file, so that surveys and windows work on both.
 *
 * The first touch of a page costs 5 us. So a filter for any number of lines begins with a small
 * layer, and notes its keys. When that is full, a large layer with the same keys replaces it.
 */
#include "filter/internal.h"
#include "system/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- layers --- */

static int map_in_memory(struct filter *filter, const struct layer_plan *plan, struct fault *fault)
{
    size_t bytes = (size_t)(plan->pages * PAGE_BYTES);
    if (bytes / PAGE_BYTES != plan->pages)
        return fault_errno(fault, filter_name(filter), NULL, ENOMEM);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        fault_errno(fault, filter_name(filter), NULL, errno);
        return fault_way_out(
            fault, "needs %llu bytes of memory; a filter in a file need not fit: unseen FILTER",
            (unsigned long long)bytes);
    }
    filter->layers[filter->count] = (struct layer){
        .plan = *plan,
        .bits = {.bytes = map, .pages = plan->pages, .geometry = plan->geometry},
        .state_at = layer_state_at(filter->count),
    };
    filter->count++;
    return 0;
}

/* Replaces the small first layer by a large one with its keys. */
static int replace_small(struct filter *filter, struct fault *fault)
{
    struct layer_plan plan;
    struct layer small = filter->layers[0];
    size_t keys = (size_t)layer_keys(filter, &small);
    if (growth_in_memory(&filter->header.plan, false, &plan) != 0)
        return fault_set(fault, filter_name(filter), "cannot grow any further");
    filter->count = 0;
    if (map_in_memory(filter, &plan, fault) != 0) {
        filter->count = 1;
        return -1;
    }
    pages_use_huge(&filter->layers[0]);
    filter->kernel->set(&filter->layers[0].bits, filter->noted, keys);
    munmap(small.bits.bytes, (size_t)(small.bits.pages * PAGE_BYTES));
    free(filter->noted);
    filter->noted = NULL;
    return 0;
}

/* --- making one --- */

struct filter *filter_memory(const struct header *header, const struct filter_watch *watch,
                             struct fault *fault)
{
    struct layer_plan layer;
    struct filter *filter = filter_new(watch, fault);
    if (filter == NULL)
        return NULL;
    filter->header = *header;
    filter->header.plan.staged = false; /* stages save writes to a disk */
    filter->header.plan.in_memory = true;
    filter->kernel = kernel_for(header->plan.geometry);
    struct filter_plan plan = filter->header.plan;
    unsigned count = growth_first_layers(&plan);
    bool any = plan.capacity == 0 && plan.pages == 0, small = any && !plan.window;
    if (plan.forget != 0)
        (void)clock_uptime(); /* it cannot be asked first when the process is confined */
    if (any && !small)
        plan.pages = GROWTH_MEMORY_PAGES / count;
    if ((small ? growth_in_memory(&plan, true, &layer) : growth_first(&plan, &layer)) != 0) {
        fault_set(fault, filter_name(filter), "the filter would be too large");
        goto failed;
    }
    /* Not cleared, which would take longer than a run of a few lines. */
    filter->noted = small ? malloc((size_t)layer.capacity * sizeof(struct key)) : NULL;
    filter->metadata = calloc(1, FLIGHT_AT);
    if ((small && filter->noted == NULL) || filter->metadata == NULL) {
        fault_errno(fault, filter_name(filter), NULL, ENOMEM);
        goto failed;
    }
    while (filter->count < count)
        if (map_in_memory(filter, &layer, fault) != 0)
            goto failed;
    return filter;
failed:
    filter_close(filter);
    return NULL;
}

/* --- claiming --- */

/* Tests and sets keys in one layer while it has room. *set: how many were set. Returns how many
 * keys were judged. */
static size_t insert(struct filter *filter, unsigned number, const struct key *keys, size_t n,
                     uint64_t most, uint8_t *seen, uint64_t *set)
{
    struct layer *layer = &filter->layers[number];
    uint64_t before = layer_keys(filter, layer);
    uint64_t room = filter->header.plan.fixed ? UINT64_MAX : layer->plan.capacity - before;
    if (!layer->in_bulk && before + n >= HUGE_FROM)
        pages_use_huge(layer);
    size_t done = filter->kernel->insert(&layer->bits, keys, n, seen, most < room ? most : room,
                                         set);
    if (*set == 0)
        return done;
    window_count(filter, number, *set);
    /* There is space for all keys of the small layer. */
    struct key *note = filter->noted != NULL ? filter->noted + before : NULL;
    for (size_t i = 0; note != NULL && i < done; i++)
        if (!seen[i])
            *note++ = keys[i];
    return done;
}

/* Tests all layers but the newest; tests and sets in the newest. When that is full, makes room, and
 * goes on with the key that did not fit. Later keys are judged again, as a window may have
 * forgotten. */
ptrdiff_t memory_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault)
{
    const bool window = is_window(filter);
    struct layer_plan plan;
    uint64_t new = 0, set;
    size_t done = 0;
    for (;;) {
        unsigned newest = window ? generation_filling(filter) : filter->count - 1;
        if (newest < filter->count) {
            memset(seen + done, 0, n - done);
            filter_test_layers(filter, newest, keys + done, n - done, seen + done);
            done += insert(filter, newest, keys + done, n - done, most_new - new, seen + done,
                           &set);
            new += set;
            if (done == n || new == most_new)
                return (ptrdiff_t)done;
        }
        unsigned next = window ? window_next(filter) : filter->count;
        int result = 0;
        if (filter->noted != NULL) {
            result = replace_small(filter, fault);
        } else if (next == filter->count) {
            result = room_plan(filter, &plan, fault) == 0 ? map_in_memory(filter, &plan, fault)
                                                          : -1;
            if (result == 0 && filter->watch.grew != NULL)
                filter->watch.grew(filter, filter->count);
        }
        if (result == 0 && window)
            result = window_turn(filter, next, fault);
        if (result != 0)
            return new > 0 ? (ptrdiff_t)done : -1;
    }
}
