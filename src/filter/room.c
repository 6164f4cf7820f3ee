/*
 * room - makes room for more keys, and keeps the counters right that say when it is needed.
 *
 * Counters. A counter decides when its layer is full. After a power cut, or in a copy made while
 * the filter was in use, a counter may be older than the bits; then the layer would be filled above
 * its rate. So opening a filter for writing samples a few pages. Keys fall on pages evenly, and 16
 * pages give the number of keys to a few percent. A counter that is too low by more than chance
 * explains (six standard deviations plus 5%) is set to the estimate.
 *
 * Growing a little early is harmless, so a counter that is too high stays. But a file of unknown
 * origin may have huge layers without a key, and say that they are full. So before a layer is
 * added, counters at least four times too high are lowered.
 *
 * Usually the first four random pages show that nothing is wrong, which saves 0.2 ms. They may miss
 * a counter that is slightly too low; a later run finds it.
 *
 * Somebody may craft lines that fall on a few pages, so that a layer looks full, again and again,
 * and the file grows. So the estimate uses the median of the pages: to change it, half of all pages
 * must be filled.
 */
#include "filter/internal.h"

#include "core/estimate.h"
#include "filter/create.h"
#include "system/lock.h"
#include "system/machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- counters --- */

/* An estimate from some pages of a layer. */
struct sample {
    double keys, deviation; /* of the whole layer */
};

static bool is_behind(uint64_t counted, struct sample sample, double deviations)
{
    return sample.keys > (double)counted * 1.05 + deviations * sample.deviation;
}

/* Scales the keys of `n` pages to the layer. `spread`: the standard deviation of that number, as a
 * multiple of the deviation of a sum. */
static struct sample scale_up(uint64_t pages, double keys, uint64_t n, double spread)
{
    double scale = (double)pages / (double)n;
    return (struct sample){scale * keys, scale * spread * sqrt(keys + 1)};
}

static int by_size(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* By the median, whose deviation is that of the mean times sqrt(pi/2). NAN, with which no
 * comparison holds, if a page cannot be read. */
static struct sample sample_layer(const struct filter *filter, unsigned number, uint64_t counted)
{
    enum { SAMPLE_PAGES = 16, FIRST_PAGES = 4 };
    _Alignas(BLOCK_BYTES) uint8_t buffer[PAGE_BYTES];
    uint16_t set[PAGE_BLOCKS];
    double keys[SAMPLE_PAGES] = {0}, sum = 0;
    const struct bits *bits = &filter->layers[number].bits;
    uint64_t n = bits->pages < SAMPLE_PAGES ? bits->pages : SAMPLE_PAGES;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t which = bits->pages > SAMPLE_PAGES ? random_word() % bits->pages : i;
        const uint8_t *page = pages_get(filter, number, which, buffer);
        if (page == NULL)
            return (struct sample){NAN, NAN};
        keys[i] = estimate_page_keys(bits->geometry, filter->kernel->count(page, set));
        sum += keys[i];
        struct sample first = scale_up(bits->pages, sum, i + 1, 1);
        if (i + 1 == FIRST_PAGES && !is_behind(counted, first, 2))
            return first;
    }
    qsort(keys, n, sizeof *keys, by_size);
    double median = (keys[(n - 1) / 2] + keys[n / 2]) / 2;
    return scale_up(bits->pages, median * (double)n, n, 1.2533);
}

static bool may_raise(const struct filter *filter, unsigned number)
{
    const struct layer *layer = &filter->layers[number];
    return layer_keys(filter, layer) < layer->plan.capacity && layer_has_bits(filter, layer) &&
           !(is_window(filter) && filter_generation(filter, number).retired);
}

/* Samples without the lock; meanwhile other processes may have raised the counter, or cleared the
 * layer. If the lock cannot be had, the counter stays as it is. */
void room_raise_counters(struct filter *filter)
{
    struct fault ignored;
    for (unsigned i = 0; i < filter->count; i++) {
        const struct layer *layer = &filter->layers[i];
        uint64_t counted = layer_keys(filter, layer);
        if (!may_raise(filter, i))
            continue;
        /* The generation before may be in the layer, too, and need not be counted (window.c). */
        bool two = is_window(filter) && growth_holds_two(&layer->plan);
        uint64_t before = two ? layer->plan.capacity : 0;
        struct sample sample = sample_layer(filter, i, counted + before);
        if (!is_behind(counted + before, sample, 6))
            continue;
        /* The bits tell all lines that came, the counter leaves out false drops. This takes 0.5 ms,
         * and matters near p = 0.5. */
        sample.keys = sizing_remembered(layer->bits.geometry, layer->bits.pages, sample.keys);
        if (!is_behind(counted + before, sample, 6) || filter_lock(filter, &ignored) != 0)
            continue;
        uint64_t now = layer_keys(filter, layer);
        if (now >= counted && may_raise(filter, i) && is_behind(now + before, sample, 6))
            put64(filter, layer->state_at + LAYER_KEYS, (uint64_t)sample.keys);
        filter_unlock(filter);
    }
}

/* Under LOCK_GROW, in a filter that is no window: lowers counters that are far too high for the
 * bits. Returns whether there were any; then there is room. Reads 4 pages per layer. */
static bool lower_counters(struct filter *filter)
{
    struct fault ignored;
    bool lowered = false;
    for (unsigned i = 0; i < filter->count; i++) {
        const struct layer *layer = &filter->layers[i];
        /* Asked first, as others may add keys meanwhile. Then this layer stays as it is. */
        uint64_t counted = layer_keys(filter, layer);
        struct sample sample = sample_layer(filter, i, UINT64_MAX);
        /* The keys in its stage count, too; at most, all places are taken. */
        double staged = (double)layer->stage.pages * PAGE_BYTES / KEY_BYTES;
        double most = 4 * (sample.keys + 6 * sample.deviation + staged);
        if (!((double)counted > most) || filter_lock(filter, &ignored) != 0)
            continue;
        if (layer_keys(filter, layer) == counted) {
            put64(filter, layer->state_at + LAYER_KEYS, (uint64_t)sample.keys);
            lowered = true;
        }
        filter_unlock(filter);
    }
    return lowered;
}

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
    unsigned index = growth_place(asked, filter->count, left);
    if (filter->count == LAYERS_MAX || growth_next(asked, index, pages, keys, layer) != 0) {
        fault_set(fault, filter_name(filter), "cannot grow further than %u layers", filter->count);
        return fault_way_out(fault, "make a new filter, with -n for all its lines");
    }
    return 0;
}

/* Allocates the blocks of a layer after the end and flushes them; then announces the layer: its
 * record, then the count of layers, each flushed. A layer must begin as zeros, so anything that a
 * killed writer left after the end is cut off first. */
static int append_layer(struct filter *filter, struct fault *fault)
{
    enum { TABLES = 2 * HEADER_BYTES }; /* with the header */
    struct layer_record record;
    int fd = filter->file.fd, error;
    uint64_t begin = filter_end(filter);
    size_t state = layer_state_at(filter->count);
    if (room_plan(filter, &record.plan, fault) != 0)
        return -1;
    layer_put(&record, begin);
    if (ftruncate(fd, (off_t)begin) != 0)
        goto failed;
    if (create_allocate(fd, begin, &record, 1) != 0 || fsync(fd) != 0) {
        error = errno;
        (void)!ftruncate(fd, (off_t)begin);
        errno = error;
        goto failed;
    }

    layer_encode(&record,
                 filter->metadata + LAYER_TABLE_AT + (size_t)filter->count * LAYER_RECORD_BYTES);
    put64(filter, state + LAYER_KEYS, 0);
    put64(filter, state + LAYER_ERA, 0);
    put64(filter, state + LAYER_HAS_BITS, 0);
    put64(filter, state + LAYER_EMPTYING, 0);
    if (msync(filter->metadata, TABLES, MS_SYNC) != 0)
        goto failed;
    put32(filter, LAYER_COUNT_AT, filter->count + 1);
    if (msync(filter->metadata, TABLES, MS_SYNC) != 0)
        goto failed;
    return filter_refresh(filter, fault);

failed:
    return fault_errno(fault, filter->file.path, "cannot grow", errno);
}

/* --- making room --- */

/* Under LOCK_GROW. Another writer may have added layers since this one knew `before` of them. */
static int make_locked(struct filter *filter, unsigned before, uint64_t taken, struct fault *fault)
{
    unsigned layer = room_next(filter);
    if (stage_wants_room(filter, layer))
        return stage_make_room(filter, layer, fault);
    if (!is_window(filter))
        return filter->count > before || lower_counters(filter) ? 0 : append_layer(filter, fault);
    if (room_next(filter) < filter->count)
        return room_left(filter) + window_room_ahead(filter) > taken ? 0
                                                                     : append_layer(filter, fault);
    layer = window_next(filter);
    if (layer == filter->count && append_layer(filter, fault) != 0)
        return -1;
    return window_turn(filter, layer, fault);
}

int room_make(struct filter *filter, uint64_t taken, struct fault *fault)
{
    unsigned before = filter->count;
    bool grown = false;
    int result;
    do {
        if (must_end(filter))
            return fault_errno(fault, filter->file.path, "cannot grow", EINTR);
        result = filter_take(filter, LOCK_GROW, fault);
        if (result == 0) {
            result = filter_refresh(filter, fault);
            unsigned known = filter->count;
            if (result == 0)
                result = make_locked(filter, before, taken, fault);
            grown = filter->count > known;
            lock_drop(filter->file.fd, LOCK_GROW); /* here Ctrl-Z stops the process */
        }
    } while (result != 0 &&
             (fault->error == ECANCELED || (fault->error == EINTR && filter->settling)));
    note_change(filter);
    if (result == 0 && grown && filter->watch.grew != NULL)
        filter->watch.grew(filter, filter->count);
    return result;
}
