/* room - makes room for keys; see internal.h. */
#include "filter/internal.h"

#include "filter/counter.h"
#include "filter/create.h"
#include "filter/stage.h"
#include "filter/window.h"
#include "system/lock.h"
#include "system/signals.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- the next layer --- */

int room_plan(const struct store *store, struct layer_plan *layer, struct fault *fault)
{
    const struct filter_plan *asked = &store->header.plan;
    uint64_t pages = 0, keys = store_capacity(store);
    double left = asked->rate;
    for (unsigned i = 0; i < store->count; i++) {
        const struct layer_plan *plan = &store->layers[i].plan;
        pages += plan->pages;
        left -= sizing_rate(plan->geometry, plan->pages, growth_lines_when_full(plan));
    }
    unsigned place = growth_place(asked, store->count, left);
    if (store->count == LAYERS_MAX || growth_next(asked, place, pages, keys, layer) != 0) {
        fault_set(fault, store_name(store), "cannot grow further than %u layers", store->count);
        return fault_way_out(fault, "make a new filter, with -n for all its lines");
    }
    return 0;
}

void room_tell(const struct store *store)
{
    if (store->watch.grew != NULL)
        store->watch.grew(store, store->count);
}

static int sync_fixed(const struct store *store)
{
    return msync(store->metadata, HEADER_BYTES * 2, MS_SYNC);
}

/* Writes the record, then the count of layers, each flushed. */
static int announce(struct store *store, const struct layer_record *record)
{
    size_t at = (size_t)store->count * LAYER_RECORD_BYTES;
    layer_encode(record, store->metadata + LAYER_TABLE_AT + at);
    put64(store, layer_state_at(store->count) + LAYER_KEYS, 0);
    put64(store, layer_state_at(store->count) + LAYER_ERA, 0);
    put64(store, layer_state_at(store->count) + LAYER_HAS_BITS, 0);
    put64(store, layer_state_at(store->count) + LAYER_EMPTYING, 0);
    if (sync_fixed(store) != 0)
        return -1;
    put32(store, LAYER_COUNT_AT, store->count + 1);
    return sync_fixed(store);
}

/* Allocates the blocks of a layer after the end and flushes them, then announces the layer. A layer
 * must begin as zeros, so anything that a killed writer left after the end is cut off first. */
static int add_layer(struct store *store, struct fault *fault)
{
    struct layer_record record;
    int fd = store->file.fd;
    uint64_t begin = store_end(store);
    if (room_plan(store, &record.plan, fault) != 0)
        return -1;
    layer_put(&record, begin);
    if (ftruncate(fd, (off_t)begin) != 0)
        return fault_errno(fault, store->file.path, "cannot grow", errno);
    if (create_allocate(fd, begin, &record, 1) != 0 || fsync(fd) != 0) {
        int error = errno;
        (void)!ftruncate(fd, (off_t)begin);
        return fault_errno(fault, store->file.path, "cannot grow", error);
    }
    if (announce(store, &record) != 0)
        return fault_errno(fault, store->file.path, "cannot grow", errno);
    return store_map_layer(store, &record, fault);
}

/* --- making room --- */

/* The layer whose stage needs room, or store_layers. */
static unsigned wants_stage_room(const struct store *store)
{
    unsigned layer = place_next(store);
    return layer < store->count && stage_wants_room(store, layer) ? layer : store->count;
}

bool room_is_wanted(const struct store *store)
{
    return wants_stage_room(store) < store->count;
}

/* Another writer may have added layers since this one knew `before` of them. */
static int make(struct store *store, unsigned before, uint64_t taken, struct fault *fault)
{
    unsigned layer = wants_stage_room(store);
    if (layer < store->count)
        return stage_make_room(store, layer, fault);
    if (!is_window(store))
        return store->count > before || counter_lower(store) ? 0 : add_layer(store, fault);
    if (place_next(store) < store->count)
        return place_room(store) + window_room_ahead(store) > taken ? 0 : add_layer(store, fault);
    layer = window_next(store);
    if (layer == store->count && add_layer(store, fault) != 0)
        return -1;
    return window_turn(store, layer, fault);
}

/* Sets *grown if this process has added a layer. */
static int make_locked(struct store *store, unsigned before, uint64_t taken, bool *grown,
                       struct fault *fault)
{
    if (store_take(store, LOCK_GROW, fault) != 0)
        return -1;
    int result = store_refresh(store, fault);
    unsigned known = store->count;
    if (result == 0)
        result = make(store, before, taken, fault);
    *grown = store->count > known;
    store_drop(store, LOCK_GROW); /* here Ctrl-Z stops the process */
    return result;
}

int room_make(struct store *store, uint64_t taken, struct fault *fault)
{
    unsigned before = store->count;
    bool grown = false;
    int result;
    do {
        if (signals_pending() && !store->settling)
            return fault_errno(fault, store->file.path, "cannot grow", EINTR);
        result = make_locked(store, before, taken, &grown, fault);
    } while (result != 0 &&
             (fault->error == ECANCELED || (fault->error == EINTR && store->settling)));
    note_change(store);
    if (result == 0 && grown)
        room_tell(store);
    return result;
}
