/*
 * window - see window.h.
 *
 * The layers of a window are its generations. New keys go into the generation with the largest
 * number. When that is full, or its time is over, a free layer, or else the oldest, replaces it:
 *
 *   1. the layer is marked as retired;
 *   2. its pages are cleared, and flushed unless they hold two generations;
 *   3. it gets the next number.
 *
 * Here bits go from 1 to 0 while others read without a lock. Between steps 1 and 3 a reader may see
 * a mixture of old bits and zeros. That is fewer bits than in a full layer, so the rate is lower;
 * and lines that are no longer found are being forgotten. Keys in flight do not refer to a layer,
 * so a writer that paused meanwhile settles into the generation that is newest then.
 *
 * A writer that is killed or stopped in between leaves a retired layer, and the next writer that
 * needs room starts again at step 2. The zeros must be on disk before the number: after a power
 * cut, old bits under a new number would be forgotten late, and raise the rate above p. The other
 * writes may reach the disk in any order: then the layer counts as an old generation and is emptied
 * again, with the keys of the last seconds before the power cut.
 *
 * A flush takes milliseconds, and a small generation is filled in less. So the layers of small
 * windows hold two generations within their rate (growth_holds_two), and their zeros are not
 * flushed. On the disk a page then has keys of one generation, the old or the new; if it is the old
 * one after a power cut, these lines are forgotten later, by one round, and the new ones are added.
 * Only that: a counter which is too low by more than the old generation is repaired (counter.c).
 */
#include "filter/window.h"

#include "filter/generation.h"
#include "filter/internal.h"
#include "filter/pages.h"
#include "system/clock.h"
#include "system/lock.h"

static void date(struct filter *filter, unsigned layer, uint64_t time)
{
    put64(filter, layer_state_at(layer) + WINDOW_LAST, time);
    if (filter->header.plan.forget != 0)
        put64(filter, layer_state_at(layer) + WINDOW_UPTIME, clock_uptime());
}

/* Under LOCK_CHANGE: the time to write, marked if the clock is behind. If the clock is right, dates
 * the layers that were marked, and those whose keys are younger than their times. */
static uint64_t time_to_write(struct filter *filter)
{
    const uint64_t noise = 1000; /* clocks are also adjusted bit by bit */
    uint64_t now = clock_now();
    uint64_t latest = generation_latest(filter);
    if (now < latest)
        return latest | WINDOW_BEHIND;
    for (unsigned i = 0; i < filter->count; i++) {
        size_t at = layer_state_at(i) + WINDOW_LAST;
        uint64_t age = generation_age(filter, i, now);
        if (generation_is_undated(filter, i))
            date(filter, i, now);
        else if (now - get64(filter, at) > age + noise)
            put64(filter, at, now - age);
    }
    return now;
}

void window_settled(struct filter *filter, unsigned layer)
{
    if (filter->header.plan.forget != 0)
        date(filter, layer, time_to_write(filter));
}

bool window_is_turning(const struct filter *filter)
{
    return !in_memory(filter) && lock_is_held(filter->file.fd, LOCK_GROW);
}

/* --- which one is next --- */

/* In a window by time, only expired layers. */
static bool may_be_emptied(const struct filter *filter, unsigned layer, uint64_t now)
{
    return filter->header.plan.forget == 0 ||
           !generation_is_one(generation_number(filter, layer)) ||
           generation_expired(filter, layer, now);
}

uint64_t window_room_ahead(const struct filter *filter)
{
    if (!is_window(filter))
        return 0;
    if (filter->header.plan.forget == 0)
        return UINT64_MAX / 2;
    uint64_t now = generation_now(filter), room = 0;
    unsigned newest = generation_largest(filter);
    for (unsigned i = 0; i < filter->count; i++)
        if (i != newest && may_be_emptied(filter, i, now))
            room += filter->layers[i].plan.capacity;
    return room;
}

/* In a window by time the largest is best, else the oldest: retired, free, old, new. */
static bool is_better(const struct filter *filter, unsigned layer, unsigned than)
{
    if (filter->header.plan.forget != 0) {
        uint64_t pages = filter->layers[layer].plan.pages;
        if (than < filter->count && pages != filter->layers[than].plan.pages)
            return pages > filter->layers[than].plan.pages;
    }
    return than == filter->count ||
           generation_number(filter, layer) + 1 < generation_number(filter, than) + 1;
}

unsigned window_next(const struct filter *filter)
{
    unsigned newest = generation_largest(filter);
    unsigned next = filter->count;
    /* A generation that ended without keys begins again. */
    if (newest < filter->count && filter_layer_keys(filter, newest) == 0)
        return newest;
    uint64_t now = generation_now(filter);
    for (unsigned i = 0; i < filter->count; i++)
        if (i != newest && may_be_emptied(filter, i, now) && is_better(filter, i, next))
            next = i;
    return next;
}

/* --- turning --- */

/* Steps 1 and 2. Whether a layer was ever written is asked of the file system: after a power cut
 * its counter may be older than the bits. */
static int empty_layer(struct filter *filter, unsigned layer, struct fault *fault)
{
    bool unused = generation_number(filter, layer) != GENERATION_RETIRED &&
                  filter_layer_keys(filter, layer) == 0;
    if (unused && !pages_have_data(filter, &filter->layers[layer]))
        return 0;
    if (filter_lock(filter, fault) != 0)
        return -1;
    /* It may be the newest, and keys may have been settled there by now. */
    if (unused && filter_layer_keys(filter, layer) != 0) {
        filter_unlock(filter);
        return 0;
    }
    put64(filter, layer_state_at(layer) + WINDOW_NUMBER, GENERATION_RETIRED);
    filter_unlock(filter);
    struct layer *old = &filter->layers[layer];
    if (!in_memory(filter) && !old->asked)
        old->two = growth_holds_two(&old->plan);
    old->asked = true;
    return pages_clear(filter, old, !old->two, "cannot forget", fault);
}

/* Step 3. */
static int begin_generation(struct filter *filter, unsigned layer, struct fault *fault)
{
    unsigned newest = generation_largest(filter);
    uint64_t number = newest < filter->count ? generation_number(filter, newest) : 0;
    if (number + 1 == GENERATION_RETIRED) {
        fault_set(fault, filter_name(filter), "damaged filter: wrong generation number");
        return fault_way_out(fault, "restore it from a copy, or make a new one");
    }
    if (filter_lock(filter, fault) != 0)
        return -1;
    uint64_t time = time_to_write(filter);
    /* Unless it is the newest, and keys were settled there by now. */
    if (layer != newest || filter_layer_keys(filter, layer) == 0) {
        put64(filter, layer_state_at(layer) + LAYER_KEYS, 0);
        date(filter, layer, time);
        put64(filter, layer_state_at(layer) + WINDOW_BEGAN, time & ~WINDOW_BEHIND);
        put64(filter, layer_state_at(layer) + WINDOW_NUMBER, number + 1);
    }
    filter_unlock(filter);
    return 0;
}

int window_turn(struct filter *filter, unsigned layer, struct fault *fault)
{
    return empty_layer(filter, layer, fault) == 0 ? begin_generation(filter, layer, fault) : -1;
}
