/*
 * filter_window - generations: how a filter forgets; see internal.h.
 *
 * The layers of a window are its generations. New keys go into the one with the largest number; when
 * that is full, or its time is over, another layer takes its place: one that is free, or else the
 * oldest, which is emptied for it. This is the window's kind of growing, and under the same lock, as
 * it takes as long as the disk does.
 *
 *   1. the layer is marked as retired;
 *   2. its pages are cleared, and the zeros are on disk;
 *   3. it gets the next number.
 *
 * Bits go from 1 to 0 here, while others look without a lock. What they may see in a layer between
 * steps 1 and 3 is a mixture of old bits and zeros: fewer bits than it had when it was full, so its
 * rate is below that of a full layer; and what they do not find any more is being forgotten. Nothing
 * in flight points at a layer (settling works out its place anew), so a writer that stood still
 * meanwhile settles into what is then the newest generation.
 *
 * Whoever is killed on the way leaves a retired layer, and the next one that needs room starts again
 * at step 2. The zeros must be on disk before the number is written: after a power cut, old bits under
 * a new number would be lines that nobody forgets in time, and a rate above p. The other steps may
 * reach the disk in any order: then the layer counts as an old generation and is emptied once more,
 * with what was settled in it in the last seconds before the power cut.
 *
 * Time is CLOCK_REALTIME, in milliseconds. A layer expires as a whole, when the last key was settled
 * in it so long ago; whoever looks then passes over it, though nobody has emptied it. Where a clock is
 * set back, lines are forgotten late, never early: a time that is written is at least as late as every
 * one before it, and a layer that takes keys while the clock is behind is marked. How long that went
 * on nobody can tell, so the layer's time is counted from when the clock was first seen to be right
 * again. (What the clock does while nothing is remembered cannot be seen.)
 *
 * No state of a file is believed so far that nothing would move any more. A time that no clock tells is
 * none: a generation that began then is over, and lines that came then count from when the clock is seen
 * next. A time that is merely far ahead may be true, or have been the clock's word; it is obeyed, and
 * filter_window_ahead tells of it.
 */
#include "store/internal.h"
#include "system/lock.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static uint64_t clock_now(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || now.tv_sec < 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static size_t state_at(unsigned layer)
{
    return WINDOW_STATES_AT + (size_t)layer * WINDOW_STATE_BYTES;
}

static size_t last_at(unsigned layer)
{
    return WINDOW_LAST_AT + (size_t)layer * 8;
}

static uint64_t number_of(const struct filter *filter, unsigned layer)
{
    return get64(filter, state_at(layer));
}

static bool is_generation(uint64_t number)
{
    return number != GENERATION_FREE && number != GENERATION_RETIRED;
}

/* The layer with the largest number, or filter->count. */
static unsigned newest_of(const struct filter *filter)
{
    unsigned newest = filter->count;
    uint64_t largest = 0;
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t number = number_of(filter, i);
        if (is_generation(number) && number > largest) {
            largest = number;
            newest = i;
        }
    }
    return newest;
}

/* A time as the file has it, without the mark; 0 if it is one that no clock tells. */
static uint64_t time_of(uint64_t word)
{
    uint64_t time = word & ~WINDOW_BEHIND;
    return time <= WINDOW_TIME_MAX ? time : 0;
}

static uint64_t began_of(const struct filter *filter, unsigned layer)
{
    return time_of(get64(filter, state_at(layer) + WINDOW_BEGAN));
}

static uint64_t last_of(const struct filter *filter, unsigned layer)
{
    return time_of(get64(filter, last_at(layer)));
}

/* When keys were settled in the layer last is not known: the clock was behind, or the time is none. */
static bool is_undated(const struct filter *filter, unsigned layer)
{
    uint64_t last = get64(filter, last_at(layer));
    return (last & WINDOW_BEHIND) != 0 || time_of(last) != last;
}

/* The latest time that was written. */
static uint64_t latest_of(const struct filter *filter)
{
    uint64_t latest = 0;
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t began = began_of(filter, i);
        uint64_t last = last_of(filter, i);
        uint64_t later = began > last ? began : last;
        latest = later > latest ? later : latest;
    }
    return latest;
}

/* The clock is right: marked layers count from now on. */
static void count_from(struct filter *filter, uint64_t now)
{
    for (unsigned i = 0; i < filter->count; i++)
        if (is_undated(filter, i))
            put64(filter, last_at(i), now);
}

/* Under LOCK_CHANGE: the time to write now, marked if the clock is behind. */
static uint64_t time_to_write(struct filter *filter)
{
    uint64_t now = clock_now();
    uint64_t latest = latest_of(filter);
    if (now < latest)
        return latest | WINDOW_BEHIND;
    count_from(filter, now);
    return now;
}

/* --- looking --- */

uint64_t filter_window_now(const struct filter *filter)
{
    return filter->header.plan.forget != 0 ? clock_now() : 0;
}

bool filter_window_expired(const struct filter *filter, unsigned layer, uint64_t now)
{
    uint64_t forget = filter->header.plan.forget;
    if (forget == 0)
        return false;
    uint64_t last = last_of(filter, layer);
    return !is_undated(filter, layer) && now >= last && now - last >= forget;
}

/* How long a generation by time takes in keys. */
static uint64_t period_of(const struct filter *filter)
{
    const struct filter_plan *plan = &filter->header.plan;
    return (plan->forget - 1) / plan->generations + 1;
}

/* Is the time of the newest generation over? */
static bool period_is_over(const struct filter *filter, unsigned layer)
{
    if (filter->header.plan.forget == 0)
        return false;
    uint64_t began = began_of(filter, layer);
    uint64_t now = clock_now();
    return now >= began && now - began >= period_of(filter);
}

uint64_t filter_window_ahead(const struct filter *filter)
{
    if (filter->header.plan.forget == 0)
        return 0;
    uint64_t latest = latest_of(filter);
    uint64_t now = clock_now();
    return latest > now && latest - now > period_of(filter) ? latest : 0;
}

unsigned filter_newest(const struct filter *filter)
{
    if (!filter_is_window(filter))
        return filter->count - 1;
    unsigned newest = newest_of(filter);
    return newest < filter->count ? newest : 0;
}

unsigned filter_window_filling(const struct filter *filter)
{
    unsigned newest = newest_of(filter);
    return newest < filter->count && period_is_over(filter, newest) ? filter->count : newest;
}

void filter_window_settled(struct filter *filter, unsigned layer)
{
    if (filter->header.plan.forget != 0)
        put64(filter, last_at(layer), time_to_write(filter));
}

struct generation filter_generation(const struct filter *filter, unsigned layer)
{
    const struct filter_plan *plan = &filter->header.plan;
    uint64_t number = number_of(filter, layer);
    return (struct generation){
        .number = is_generation(number) ? number : 0,
        .retired = number == GENERATION_RETIRED,
        .filling = is_generation(number) && layer == newest_of(filter),
        .expired = filter_window_expired(filter, layer, filter_window_now(filter)),
        .began = began_of(filter, layer),
        .ends = plan->forget != 0 ? last_of(filter, layer) + plan->forget : 0,
        .behind = is_undated(filter, layer),
    };
}

bool filter_window_turning(const struct filter *filter)
{
    return filter->fd >= 0 && lock_is_held(filter->fd, LOCK_GROW);
}

/* --- turning --- */

/* What may be emptied; the less, the rather: retired, free, old, new. */
static uint64_t age_rank(const struct filter *filter, unsigned layer)
{
    return number_of(filter, layer) + 1;
}

/* By time, only what has expired, and of that the largest; else there may be none. */
static bool is_better(const struct filter *filter, unsigned layer, unsigned than, uint64_t now)
{
    if (filter->header.plan.forget != 0) {
        if (is_generation(number_of(filter, layer)) && !filter_window_expired(filter, layer, now))
            return false;
        uint64_t pages = filter->layers[layer].plan.pages;
        if (than < filter->count && pages != filter->layers[than].plan.pages)
            return pages > filter->layers[than].plan.pages;
    }
    return than == filter->count || age_rank(filter, layer) < age_rank(filter, than);
}

unsigned filter_window_next(const struct filter *filter)
{
    unsigned newest = newest_of(filter);
    unsigned next = filter->count;
    /* Its time was over before anything came: it begins anew. */
    if (newest < filter->count && filter_layer_keys(filter, newest) == 0)
        return newest;
    uint64_t now = filter_window_now(filter);
    for (unsigned i = 0; i < filter->count; i++)
        if (i != newest && is_better(filter, i, next, now))
            next = i;
    return next;
}

static int clear_layer(struct filter *filter, unsigned layer)
{
    uint8_t *bytes = filter->layers[layer].bits.bytes;
    size_t length = (size_t)(filter->layers[layer].plan.pages * PAGE_BYTES);
    /* Memory without a file is given back, and comes as zeros when it is touched again. */
    if (filter->fd < 0 && madvise(bytes, length, MADV_DONTNEED) == 0)
        return 0;
    memset(bytes, 0, length);
    return filter->fd < 0 ? 0 : msync(bytes, length, MS_SYNC);
}

static int change_locked(struct filter *filter, struct fault *fault)
{
    return filter->fd < 0 ? 0 : filter_take_lock(filter, LOCK_CHANGE, fault);
}

static void change_done(struct filter *filter)
{
    if (filter->fd >= 0)
        lock_drop(filter->fd, LOCK_CHANGE);
}

/* Steps 1 and 2. Counters that are behind the bits were mended when the file was opened. */
static int empty_layer(struct filter *filter, unsigned layer, struct fault *fault)
{
    if (number_of(filter, layer) != GENERATION_RETIRED && filter_layer_keys(filter, layer) == 0)
        return 0;
    if (change_locked(filter, fault) != 0)
        return -1;
    put64(filter, state_at(layer), GENERATION_RETIRED);
    change_done(filter);
    if (clear_layer(filter, layer) != 0)
        return fault_errno(fault, filter->path, "cannot forget", errno);
    return 0;
}

/* Step 3. */
static int begin_generation(struct filter *filter, unsigned layer, struct fault *fault)
{
    unsigned newest = newest_of(filter);
    uint64_t number = newest < filter->count ? number_of(filter, newest) : 0;
    if (number + 1 == GENERATION_RETIRED) {
        fault_set(fault, filter->path, "damaged filter: number of a generation");
        return fault_way_out(fault, "restore it from a copy, or make a new one");
    }
    if (change_locked(filter, fault) != 0)
        return -1;
    uint64_t time = time_to_write(filter);
    /* Unless it was the empty newest one, and somebody has settled keys there by now. */
    if (layer != newest || filter_layer_keys(filter, layer) == 0) {
        filter->layers[layer].keys = 0;
        put64(filter, keys_at(layer), 0);
        put64(filter, last_at(layer), time);
        put64(filter, state_at(layer) + WINDOW_BEGAN, time & ~WINDOW_BEHIND);
        put64(filter, state_at(layer), number + 1);
    }
    change_done(filter);
    return 0;
}

int filter_window_turn(struct filter *filter, unsigned layer, struct fault *fault)
{
    return empty_layer(filter, layer, fault) == 0 ? begin_generation(filter, layer, fault) : -1;
}
