/* filter_growth - the next layer of a filter; see internal.h. */
#include "store/internal.h"
#include "system/lock.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t pages_in_all(const struct filter *filter)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < filter->count; i++)
        if (!is_stage(&filter->layers[i]))
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

/* Layers but stages. */
static unsigned true_layers(const struct filter *filter)
{
    unsigned layers = 0;
    for (unsigned i = 0; i < filter->count; i++)
        layers += !is_stage(&filter->layers[i]);
    return layers;
}

/* Plans what is added: a layer, plans[0]; or plans[0] is its stage and plans[1] the layer. Returns how
 * many, or -1 with the fault. */
static int next_layers(const struct filter *filter, struct layer_plan plans[2], struct fault *fault)
{
    const struct filter_plan *asked = &filter->header.plan;
    unsigned index = growth_index(asked, true_layers(filter), rate_of_all(filter));
    const char *object = filter->path != NULL ? filter->path : "filter in memory";
    struct layer_plan layer;
    int stages = 0;
    if (growth_next(asked, index, pages_in_all(filter), filter_capacity(filter), &layer) != 0)
        return fault_set(fault, object, "cannot grow any further");
    if (filter->fd >= 0)
        stages = growth_stage(asked, &layer, &plans[0]);
    /* A layer can do without. */
    if (stages < 0)
        stages = 0;
    if (filter->count + (unsigned)stages >= LAYERS_MAX)
        return fault_set(fault, object, "cannot grow any further");
    plans[stages] = layer;
    return stages + 1;
}

static void tell_growth(struct filter *filter)
{
    if (filter->watch.grew != NULL) {
        uint64_t keys = filter_capacity(filter) - filter->layers[filter->count - 1].plan.capacity;
        filter->watch.grew(filter->watch.context, filter, true_layers(filter), keys);
    }
}

static int sync_fixed(struct filter *filter)
{
    return msync(filter->fixed, HEADER_BYTES * 2, MS_SYNC);
}

/* Writes records behind those that are there, then the count, each on disk before the next. */
static int announce(struct filter *filter, const struct layer_record *records, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        size_t at = (size_t)(filter->count + i) * LAYER_RECORD_BYTES;
        layer_encode(&records[i], filter->fixed + LAYER_TABLE_AT + at);
        put64(filter, keys_at(filter->count + i), 0);
    }
    if (sync_fixed(filter) != 0)
        return -1;
    put32(filter, LAYER_COUNT_AT, filter->count + n);
    return sync_fixed(filter);
}

/* Allocates the layers' blocks behind the end and flushes them, then announces them. What a killed
 * writer left behind the end is cut off first: a layer must begin with zeros. */
static int append_layers(struct filter *filter, const struct layer_plan *plans, unsigned n,
                         struct fault *fault)
{
    struct layer_record records[2];
    uint64_t begin = filter_end(filter), end = begin;
    for (unsigned i = 0; i < n; i++) {
        records[i].plan = plans[i];
        records[i].offset = layer_place(end, plans[i].pages + plans[i].journal);
        end = layer_end(&records[i]);
    }
    if (ftruncate(filter->fd, (off_t)begin) != 0)
        return fault_errno(fault, filter->path, "cannot grow", errno);
    if (whole_allocate(filter->fd, records[0].offset, end - records[0].offset) != 0 ||
        fsync(filter->fd) != 0) {
        int error = errno;
        (void)!ftruncate(filter->fd, (off_t)begin);
        return fault_errno(fault, filter->path, "cannot grow", error);
    }
    if (announce(filter, records, n) != 0)
        return fault_errno(fault, filter->path, "cannot grow", errno);
    for (unsigned i = 0; i < n; i++)
        if (filter_map_file(filter, &records[i], fault) != 0)
            return -1;
    return 0;
}

static int add_layers(struct filter *filter, struct fault *fault)
{
    struct layer_plan plans[2];
    int n = next_layers(filter, plans, fault);
    if (n < 0)
        return -1;
    return filter->fd < 0 ? filter_map_memory(filter, &plans[0], fault)
                          : append_layers(filter, plans, (unsigned)n, fault);
}

/* Whether another writer has made room since this one knew `before` layers. */
static bool has_room(const struct filter *filter, unsigned before)
{
    if (filter_is_window(filter))
        return filter_place_behind(filter, 0).layer < filter->count;
    return filter->count > before ||
           (filter->fd >= 0 && get64(filter, STAGE_EMPTIED_AT) != filter->emptied);
}

static int make_room(struct filter *filter, struct fault *fault)
{
    if (filter->small_keys != NULL)
        return filter_enlarge(filter, fault);
    unsigned stage = filter_stage_next(filter);
    if (stage < filter->count)
        return filter_stage_empty(filter, stage, fault);
    if (!filter_is_window(filter))
        return add_layers(filter, fault);
    unsigned layer = filter_window_next(filter);
    if (layer == filter->count && add_layers(filter, fault) != 0)
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

/* Who asks for room has it then, unless others settle keys there first. If again and again nobody did,
 * the file says of itself what cannot be. A signal ends that sooner; but not the first tries, since what
 * was delivered is to be remembered. */
static int check_progress(struct filter *filter, struct fault *fault)
{
    enum { PATIENCE = 2 * LAYERS_MAX, TRIES_MAX = 10000 };
    uint64_t settled = get64(filter, COUNTER_SETTLED_AT);
    if (settled != filter->tried_at)
        filter->tries = 0;
    filter->tried_at = settled;
    filter->tries++;
    if (filter->tries > PATIENCE && signals_pending())
        return fault_errno(fault, filter->path, "cannot grow", EINTR);
    if (filter->tries <= TRIES_MAX)
        return 0;
    fault_set(fault, filter->path, "damaged filter: making room makes none");
    return fault_way_out(fault, "restore it from a copy, or make a new one");
}

int filter_grow(struct filter *filter, struct fault *fault)
{
    unsigned before = filter->count, grown;
    int result;
    if (filter->fd < 0) {
        result = make_room(filter, fault);
        grown = filter->count - before;
    } else {
        if (check_progress(filter, fault) != 0)
            return -1;
        result = make_room_in_file(filter, &grown, fault);
    }
    if (result == 0 && grown > 0)
        tell_growth(filter);
    return result;
}
