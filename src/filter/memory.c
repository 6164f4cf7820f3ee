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

#include "filter/generation.h"
#include "filter/pages.h"
#include "filter/probe.h"
#include "filter/window.h"
#include "system/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- layers --- */

static int add_layer(struct store *store, const struct layer_plan *plan, struct fault *fault)
{
    size_t bytes = (size_t)(plan->pages * PAGE_BYTES);
    if (bytes / PAGE_BYTES != plan->pages)
        return fault_errno(fault, store_name(store), NULL, ENOMEM);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        fault_errno(fault, store_name(store), NULL, errno);
        return fault_way_out(
            fault, "needs %llu bytes of memory; a filter in a file need not fit: unseen FILTER",
            (unsigned long long)bytes);
    }
    store->layers[store->count] = (struct layer){
        .plan = *plan,
        .bits = {.bytes = map, .pages = plan->pages, .geometry = plan->geometry},
        .state_at = layer_state_at(store->count),
    };
    store->count++;
    return 0;
}

/* Replaces the small first layer by a large one with its keys. */
static int enlarge(struct store *store, struct fault *fault)
{
    struct layer_plan plan;
    struct layer small = store->layers[0];
    size_t keys = (size_t)layer_keys(store, &small);
    if (growth_in_memory(&store->header.plan, false, &plan) != 0)
        return fault_set(fault, store_name(store), "cannot grow any further");
    store->count = 0;
    if (add_layer(store, &plan, fault) != 0) {
        store->count = 1;
        return -1;
    }
    pages_use_huge(&store->layers[0]);
    store->kernel->set(&store->layers[0].bits, store->noted, keys);
    munmap(small.bits.bytes, (size_t)(small.bits.pages * PAGE_BYTES));
    free(store->noted);
    store->noted = NULL;
    return 0;
}

static int grow(struct store *store, struct fault *fault)
{
    struct layer_plan plan;
    unsigned layer = is_window(store) ? window_next(store) : store->count;
    if (store->noted != NULL)
        return enlarge(store, fault);
    if (layer == store->count) {
        if (room_plan(store, &plan, fault) != 0 || add_layer(store, &plan, fault) != 0)
            return -1;
        room_tell(store);
    }
    return is_window(store) ? window_turn(store, layer, fault) : 0;
}

/* --- making one --- */

/* Plans the first layer. Returns 1 if it is the small one, 0 if not, -1 if none can be made. */
static int plan_first(const struct filter_plan *asked, struct layer_plan *layer)
{
    struct filter_plan plan = *asked;
    bool any = plan.capacity == 0 && plan.pages == 0;
    if (any && !plan.window)
        return growth_in_memory(&plan, true, layer) == 0 ? 1 : -1;
    if (any)
        plan.pages = GROWTH_MEMORY_PAGES / growth_first_layers(&plan);
    return growth_first(&plan, layer);
}

static int make_layers(struct store *store, struct fault *fault)
{
    struct layer_plan plan;
    int small = plan_first(&store->header.plan, &plan);
    if (small < 0)
        return fault_set(fault, store_name(store), "the filter would be too large");
    /* Not cleared, which would take longer than a run of a few lines. */
    store->noted = small > 0 ? malloc((size_t)plan.capacity * sizeof(struct key)) : NULL;
    store->metadata = calloc(1, FLIGHT_AT);
    if ((small > 0 && store->noted == NULL) || store->metadata == NULL)
        return fault_errno(fault, store_name(store), NULL, ENOMEM);
    while (store->count < growth_first_layers(&store->header.plan))
        if (add_layer(store, &plan, fault) != 0)
            return -1;
    return 0;
}

struct store *memory_new(const struct header *header, const struct store_watch *watch,
                         struct fault *fault)
{
    struct store *store = store_new(watch, fault);
    if (store == NULL)
        return NULL;
    store->header = *header;
    /* Stages save writes to a disk. */
    store->header.plan.staged = false;
    store->kernel = kernel_for(header->plan.geometry);
    if (header->plan.forget != 0)
        (void)clock_uptime();
    if (make_layers(store, fault) == 0)
        return store;
    store_close(store);
    return NULL;
}

/* --- claiming --- */

/* Notes the keys that were set. There is room for all keys of the small layer. */
static void note_small(struct store *store, uint64_t before, const struct key *keys, size_t n,
                       const uint8_t *seen)
{
    struct key *note = store->noted + before;
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            *note++ = keys[i];
}

/* Tests and sets keys in one layer while it has room. *set: how many were set. Returns how many
 * keys were judged. */
static size_t insert(struct store *store, unsigned number, const struct key *keys, size_t n,
                     uint64_t most, uint8_t *seen, uint64_t *set)
{
    struct layer *layer = &store->layers[number];
    uint64_t before = layer_keys(store, layer);
    uint64_t room = store->header.plan.fixed ? UINT64_MAX : layer->plan.capacity - before;
    if (!layer->in_bulk && before + n >= HUGE_FROM)
        pages_use_huge(layer);
    size_t done = store->kernel->insert(&layer->bits, keys, n, seen, most < room ? most : room,
                                        set);
    if (store->noted != NULL)
        note_small(store, before, keys, done, seen);
    if (*set > 0) {
        count_keys(store, layer, *set);
        if (is_window(store))
            window_settled(store, number);
    }
    return done;
}

/* Tests all layers but the newest; tests and sets in the newest. When that is full, grows, and goes
 * on with the key that did not fit. Later keys are judged again, as a window may have forgotten. */
ptrdiff_t memory_claim(struct store *store, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault)
{
    size_t done = 0;
    uint64_t new = 0;
    for (;;) {
        unsigned newest = is_window(store) ? generation_filling(store) : store->count - 1;
        if (newest < store->count) {
            uint64_t set;
            memset(seen + done, 0, n - done);
            probe_layers(store, newest, keys + done, n - done, seen + done);
            done += insert(store, newest, keys + done, n - done, most_new - new, seen + done, &set);
            new += set;
            if (done == n || new == most_new)
                return (ptrdiff_t)done;
        }
        if (grow(store, fault) != 0)
            return new > 0 ? (ptrdiff_t)done : -1;
    }
}
