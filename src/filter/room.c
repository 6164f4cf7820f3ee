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

int room_plan(const struct filter *filter, struct layer_plan *layer, struct fault *fault)
{
    const struct filter_plan *asked = &filter->header.plan;
    uint64_t pages = 0, keys = filter_capacity(filter);
    double left = asked->rate;
    for (unsigned i = 0; i < filter->count; i++) {
        const struct layer_plan *plan = &filter->layers[i].plan;
        pages += plan->pages;
        left -= sizing_rate(plan->geometry, plan->pages, growth_lines_when_full(plan));
    }
    unsigned place = growth_place(asked, filter->count, left);
    if (filter->count == LAYERS_MAX || growth_next(asked, place, pages, keys, layer) != 0) {
        fault_set(fault, filter_name(filter), "cannot grow further than %u layers", filter->count);
        return fault_way_out(fault, "make a new filter, with -n for all its lines");
    }
    return 0;
}

void room_tell(const struct filter *filter)
{
    if (filter->watch.grew != NULL)
        filter->watch.grew(filter, filter->count);
}

static int sync_fixed(const struct filter *filter)
{
    return msync(filter->metadata, HEADER_BYTES * 2, MS_SYNC);
}

/* Writes the record, then the count of layers, each flushed. */
static int announce(struct filter *filter, const struct layer_record *record)
{
    size_t at = (size_t)filter->count * LAYER_RECORD_BYTES;
    layer_encode(record, filter->metadata + LAYER_TABLE_AT + at);
    put64(filter, layer_state_at(filter->count) + LAYER_KEYS, 0);
    put64(filter, layer_state_at(filter->count) + LAYER_ERA, 0);
    put64(filter, layer_state_at(filter->count) + LAYER_HAS_BITS, 0);
    put64(filter, layer_state_at(filter->count) + LAYER_EMPTYING, 0);
    if (sync_fixed(filter) != 0)
        return -1;
    put32(filter, LAYER_COUNT_AT, filter->count + 1);
    return sync_fixed(filter);
}

/* Allocates the blocks of a layer after the end and flushes them, then announces the layer. A layer
 * must begin as zeros, so anything that a killed writer left after the end is cut off first. */
static int add_layer(struct filter *filter, struct fault *fault)
{
    struct layer_record record;
    int fd = filter->file.fd;
    uint64_t begin = filter_end(filter);
    if (room_plan(filter, &record.plan, fault) != 0)
        return -1;
    layer_put(&record, begin);
    if (ftruncate(fd, (off_t)begin) != 0)
        return fault_errno(fault, filter->file.path, "cannot grow", errno);
    if (create_allocate(fd, begin, &record, 1) != 0 || fsync(fd) != 0) {
        int error = errno;
        (void)!ftruncate(fd, (off_t)begin);
        return fault_errno(fault, filter->file.path, "cannot grow", error);
    }
    if (announce(filter, &record) != 0)
        return fault_errno(fault, filter->file.path, "cannot grow", errno);
    return filter_map_layer(filter, &record, fault);
}

/* --- making room --- */

/* The layer whose stage needs room, or filter_layers. */
static unsigned wants_stage_room(const struct filter *filter)
{
    unsigned layer = place_next(filter);
    return layer < filter->count && stage_wants_room(filter, layer) ? layer : filter->count;
}

bool room_is_wanted(const struct filter *filter)
{
    return wants_stage_room(filter) < filter->count;
}

/* Another writer may have added layers since this one knew `before` of them. */
static int make(struct filter *filter, unsigned before, uint64_t taken, struct fault *fault)
{
    unsigned layer = wants_stage_room(filter);
    if (layer < filter->count)
        return stage_make_room(filter, layer, fault);
    if (!is_window(filter))
        return filter->count > before || counter_lower(filter) ? 0 : add_layer(filter, fault);
    if (place_next(filter) < filter->count)
        return place_room(filter) + window_room_ahead(filter) > taken ? 0
                                                                      : add_layer(filter, fault);
    layer = window_next(filter);
    if (layer == filter->count && add_layer(filter, fault) != 0)
        return -1;
    return window_turn(filter, layer, fault);
}

/* Sets *grown if this process has added a layer. */
static int make_locked(struct filter *filter, unsigned before, uint64_t taken, bool *grown,
                       struct fault *fault)
{
    if (filter_take(filter, LOCK_GROW, fault) != 0)
        return -1;
    int result = filter_refresh(filter, fault);
    unsigned known = filter->count;
    if (result == 0)
        result = make(filter, before, taken, fault);
    *grown = filter->count > known;
    filter_drop(filter, LOCK_GROW); /* here Ctrl-Z stops the process */
    return result;
}

int room_make(struct filter *filter, uint64_t taken, struct fault *fault)
{
    unsigned before = filter->count;
    bool grown = false;
    int result;
    do {
        if (signals_arrived() && !filter->settling)
            return fault_errno(fault, filter->file.path, "cannot grow", EINTR);
        result = make_locked(filter, before, taken, &grown, fault);
    } while (result != 0 &&
             (fault->error == ECANCELED || (fault->error == EINTR && filter->settling)));
    note_change(filter);
    if (result == 0 && grown)
        room_tell(filter);
    return result;
}
