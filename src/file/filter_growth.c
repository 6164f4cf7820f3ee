/* filter_growth - the next layer of a filter; see filter_internal.h. */
#include "file/filter_internal.h"
#include "file/lock.h"
#include "io/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t pages_in_all(const struct filter *filter)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < filter->count; i++)
        pages += filter->layers[i].plan.pages;
    return pages;
}

/* What the layers may contribute to the rate, in all. */
static double rate_of_all(const struct filter *filter)
{
    double rate = 0;
    for (unsigned i = 0; i < filter->count; i++)
        rate += filter->layers[i].plan.rate;
    return rate;
}

static int next_layer(const struct filter *filter, struct layer_plan *plan, struct fault *fault)
{
    const struct filter_plan *asked = &filter->header.plan;
    unsigned index = growth_index(asked, filter->count, rate_of_all(filter));
    const char *object = filter->path != NULL ? filter->path : "filter in memory";
    if (filter->count == LAYERS_MAX ||
        growth_next(asked, index, pages_in_all(filter), filter_capacity(filter), plan) != 0)
        return fault_set(fault, object, "cannot grow any further");
    return 0;
}

static void tell_growth(struct filter *filter)
{
    if (filter->watch.grew != NULL) {
        uint64_t keys = 0;
        for (unsigned i = 0; i + 1 < filter->count; i++)
            keys += filter->layers[i].plan.capacity;
        filter->watch.grew(filter->watch.context, filter, filter->count, keys);
    }
}

static int sync_fixed(struct filter *filter)
{
    return msync(filter->fixed, HEADER_BYTES * 2, MS_SYNC);
}

/* Allocates the layer's blocks behind the end and flushes them, then writes its record, then the
 * count, each on disk before the next. What a killed writer left behind the end is cut off first:
 * a layer must begin with zeros. */
static int append_layer(struct filter *filter, struct layer_record *record, struct fault *fault)
{
    uint64_t end = filter->layers[filter->count - 1].end;
    record->offset = layer_place(end, record->plan.pages);
    if (ftruncate(filter->fd, (off_t)end) != 0)
        return fault_errno(fault, filter->path, "cannot grow", errno);
    if (whole_allocate(filter->fd, record->offset, record->plan.pages * PAGE_BYTES) != 0 ||
        fsync(filter->fd) != 0) {
        int error = errno;
        (void)!ftruncate(filter->fd, (off_t)end);
        return fault_errno(fault, filter->path, "cannot grow", error);
    }
    layer_encode(record,
                 filter->fixed + LAYER_TABLE_AT + (size_t)filter->count * LAYER_RECORD_BYTES);
    put64(filter, keys_at(filter->count), 0);
    if (sync_fixed(filter) != 0)
        return fault_errno(fault, filter->path, "cannot grow", errno);
    put32(filter, LAYER_COUNT_AT, filter->count + 1);
    if (sync_fixed(filter) != 0)
        return fault_errno(fault, filter->path, "cannot grow", errno);
    return filter_map_file(filter, record, fault);
}

static int add_layer(struct filter *filter, struct fault *fault)
{
    struct layer_record record;
    if (next_layer(filter, &record.plan, fault) != 0)
        return -1;
    return filter->fd < 0 ? filter_map_memory(filter, &record.plan, fault)
                          : append_layer(filter, &record, fault);
}

/* Whether another writer has made room since this one knew `before` layers. */
static bool has_room(const struct filter *filter, unsigned before)
{
    return filter_is_window(filter) ? filter_place_behind(filter, 0).layer < filter->count
                                    : filter->count > before;
}

static int make_room(struct filter *filter, struct fault *fault)
{
    if (!filter_is_window(filter))
        return add_layer(filter, fault);
    unsigned layer = filter_window_next(filter);
    if (layer == filter->count && add_layer(filter, fault) != 0)
        return -1;
    return filter_window_turn(filter, layer, fault);
}

/* Precondition: LOCK_CHANGE is not held. */
static int make_room_in_file(struct filter *filter, unsigned *grown, struct fault *fault)
{
    unsigned before = filter->count;
    if (filter_take_lock(filter, LOCK_GROW, fault) != 0)
        return -1;
    int result = filter_refresh(filter, fault);
    unsigned known = filter->count;
    if (result == 0 && !has_room(filter, before))
        result = make_room(filter, fault);
    *grown = filter->count - known;
    lock_drop(filter->fd, LOCK_GROW);
    return result;
}

int filter_grow(struct filter *filter, struct fault *fault)
{
    unsigned before = filter->count, grown;
    int result;
    if (filter->fd < 0) {
        result = make_room(filter, fault);
        grown = filter->count - before;
    } else {
        result = make_room_in_file(filter, &grown, fault);
    }
    if (result == 0 && grown > 0)
        tell_growth(filter);
    return result;
}
