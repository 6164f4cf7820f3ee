/*
 * window - which generation of a window is filling, which is forgotten; and how a window turns.
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
 * writes may reach the disk in any order: then the layer counts as an old generation and is cleared
 * again, with the keys of the last seconds before the power cut.
 *
 * A flush takes milliseconds, and a small generation is filled in less. So the layers of small
 * windows hold two generations within their rate (growth_holds_two), and their zeros are not
 * flushed. After a power cut a page on disk has keys of one generation, the old or the new. Where
 * it is the old one, its lines are forgotten one round late, with the new ones that are added. That
 * is all: a counter which is too low by more than the old generation is repaired (room.c).
 *
 * Time is CLOCK_REALTIME. A layer expires as a whole, when --forget-after has passed since the last
 * key was settled in it; tests skip an expired layer even before it is cleared. If the clock is set
 * back, lines are forgotten late, never early: each time that is written is at least as late as all
 * times before it, and a layer that takes keys while the clock is behind is marked. How long that
 * lasted cannot be known, so the layer's time runs from when the clock is first seen to be right
 * again. (What the clock does while no run remembers lines cannot be seen.)
 *
 * A clock that is behind and then put right would age all lines at once. So each time is written
 * with the machine's uptime, which nobody can set: until the next boot, a layer is at most as old
 * as the uptime says. (After a boot only the clock is left, unless a writer has corrected the
 * times.)
 *
 * A damaged time must not stop the window forever. A time that no clock shows counts as none: the
 * generation that began then is over, and its lines are dated when the clock is read next. A time
 * far ahead may be true, so it is obeyed, and filter_clock_ahead reports it.
 */
#include "filter/internal.h"

#include "system/lock.h"
#include "system/machine.h"

/* --- what the file says --- */

/* The number of the generation in a layer, or GENERATION_FREE, or GENERATION_RETIRED. */
static uint64_t generation_of(const struct filter *filter, unsigned layer)
{
    return get64(filter, layer_state_at(layer) + WINDOW_NUMBER);
}

static bool is_numbered(uint64_t number)
{
    return number != GENERATION_FREE && number != GENERATION_RETIRED;
}

unsigned generation_largest(const struct filter *filter)
{
    unsigned newest = filter->count;
    uint64_t largest = 0;
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t number = generation_of(filter, i);
        if (is_numbered(number) && number > largest) {
            largest = number;
            newest = i;
        }
    }
    return newest;
}

/* A time in the file without its mark; 0 if no clock shows such a time. */
static uint64_t time_of(uint64_t word)
{
    uint64_t time = word & ~WINDOW_BEHIND;
    return time <= WINDOW_TIME_MAX ? time : 0;
}

static uint64_t time_at(const struct filter *filter, unsigned layer, size_t field)
{
    return time_of(get64(filter, layer_state_at(layer) + field));
}

/* Whether it is unknown when keys were last settled in the layer: the clock was behind or wrong. */
static bool is_undated(const struct filter *filter, unsigned layer)
{
    uint64_t last = get64(filter, layer_state_at(layer) + WINDOW_LAST);
    return time_of(last) != last;
}

/* The latest time that was written to the file. */
static uint64_t latest_time(const struct filter *filter)
{
    uint64_t latest = 0;
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t began = time_at(filter, i, WINDOW_BEGAN);
        uint64_t last = time_at(filter, i, WINDOW_LAST);
        uint64_t later = began > last ? began : last;
        latest = later > latest ? later : latest;
    }
    return latest;
}

/* How long ago keys were last settled in the layer, by the clock, but not longer than the uptime
 * says. */
static uint64_t age_of(const struct filter *filter, unsigned layer, uint64_t now)
{
    uint64_t last = time_at(filter, layer, WINDOW_LAST), age = now > last ? now - last : 0;
    uint64_t then = get64(filter, layer_state_at(layer) + WINDOW_UPTIME);
    uint64_t up = then != 0 ? clock_uptime() : 0;
    bool one_boot = (then ^ up) >> CLOCK_UPTIME_BITS == 0;
    return one_boot && up > then && up - then < age ? up - then : age;
}

uint64_t generation_now(const struct filter *filter)
{
    return filter->header.plan.forget != 0 ? clock_now() : 0;
}

bool generation_expired(const struct filter *filter, unsigned layer, uint64_t now)
{
    uint64_t forget = filter->header.plan.forget;
    return forget != 0 && !is_undated(filter, layer) &&
           now >= time_at(filter, layer, WINDOW_LAST) + forget &&
           age_of(filter, layer, now) >= forget;
}

unsigned generation_filling(const struct filter *filter)
{
    unsigned newest = generation_largest(filter);
    uint64_t forget = filter->header.plan.forget;
    if (forget == 0 || newest == filter->count)
        return newest;
    uint64_t began = time_at(filter, newest, WINDOW_BEGAN), now = clock_now();
    bool is_over = now >= began && now - began >= growth_generation(forget);
    return is_over ? filter->count : newest;
}

struct generation filter_generation(const struct filter *filter, unsigned layer)
{
    uint64_t forget = filter->header.plan.forget;
    uint64_t number = generation_of(filter, layer), now = generation_now(filter);
    uint64_t last = time_at(filter, layer, WINDOW_LAST);
    uint64_t true_last = now > last ? now - age_of(filter, layer, now) : last;
    return (struct generation){
        .number = is_numbered(number) ? number : 0,
        .retired = number == GENERATION_RETIRED,
        .filling = is_numbered(number) && layer == generation_largest(filter),
        .expired = generation_expired(filter, layer, now),
        .began = time_at(filter, layer, WINDOW_BEGAN),
        .ends = forget != 0 ? true_last + forget : 0,
        .behind = is_undated(filter, layer),
    };
}

uint64_t filter_clock_ahead(const struct filter *filter)
{
    uint64_t forget = filter->header.plan.forget;
    if (forget == 0)
        return 0;
    uint64_t latest = latest_time(filter), now = clock_now();
    return latest > now && latest - now > growth_generation(forget) ? latest : 0;
}

bool filter_is_turning(const struct filter *filter)
{
    return !in_memory(filter) && lock_is_held(filter->file.fd, LOCK_GROW);
}

/* --- writing times --- */

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
    uint64_t latest = latest_time(filter);
    if (now < latest)
        return latest | WINDOW_BEHIND;
    for (unsigned i = 0; i < filter->count; i++) {
        size_t at = layer_state_at(i) + WINDOW_LAST;
        uint64_t age = age_of(filter, i, now);
        if (is_undated(filter, i))
            date(filter, i, now);
        else if (now - get64(filter, at) > age + noise)
            put64(filter, at, now - age);
    }
    return now;
}

void window_count(struct filter *filter, unsigned layer, uint64_t more)
{
    put64(filter, layer_state_at(layer) + LAYER_KEYS, filter_layer_keys(filter, layer) + more);
    if (filter->header.plan.forget != 0)
        date(filter, layer, time_to_write(filter));
}

/* --- turning --- */

/* In a window by time, only expired layers. */
static bool may_be_cleared(const struct filter *filter, unsigned layer, uint64_t now)
{
    return filter->header.plan.forget == 0 || !is_numbered(generation_of(filter, layer)) ||
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
        if (i != newest && may_be_cleared(filter, i, now))
            room += filter->layers[i].plan.capacity;
    return room;
}

unsigned window_next(const struct filter *filter)
{
    unsigned newest = generation_largest(filter), next = filter->count;
    bool by_time = filter->header.plan.forget != 0;
    /* A generation that ended without keys begins again. */
    if (newest < filter->count && filter_layer_keys(filter, newest) == 0)
        return newest;
    uint64_t now = generation_now(filter), most = 0, first = 0;
    for (unsigned i = 0; i < filter->count; i++) {
        if (i == newest || !may_be_cleared(filter, i, now))
            continue;
        /* In a window by time the largest is best. Of several, the oldest: + 1 makes the order
         * retired, free, old, new. */
        uint64_t pages = by_time ? filter->layers[i].plan.pages : 0;
        uint64_t number = generation_of(filter, i) + 1;
        if (next < filter->count && (pages < most || (pages == most && number >= first)))
            continue;
        next = i;
        most = pages;
        first = number;
    }
    return next;
}

int window_turn(struct filter *filter, unsigned number, struct fault *fault)
{
    struct layer *layer = &filter->layers[number];
    size_t state = layer->state_at;

    /* Steps 1 and 2. Whether a layer was ever written is asked of the file system: after a power
     * cut its counter may be older than the bits. */
    bool unused = generation_of(filter, number) != GENERATION_RETIRED &&
                  layer_keys(filter, layer) == 0;
    if (!unused || pages_have_data(filter, layer)) {
        if (filter_lock(filter, fault) != 0)
            return -1;
        /* It may be the newest, and keys may have been settled there by now: then it stays. */
        bool stays = unused && layer_keys(filter, layer) != 0;
        if (!stays)
            put64(filter, state + WINDOW_NUMBER, GENERATION_RETIRED);
        filter_unlock(filter);
        if (!stays) {
            if (!layer->asked)
                layer->two = !in_memory(filter) && growth_holds_two(&layer->plan);
            layer->asked = true;
            if (pages_clear(filter, layer, !layer->two, fault) != 0)
                return -1;
        }
    }

    /* Step 3. */
    unsigned newest = generation_largest(filter);
    uint64_t largest = newest < filter->count ? generation_of(filter, newest) : 0;
    if (largest + 1 == GENERATION_RETIRED) {
        fault_set(fault, filter_name(filter), "damaged filter: wrong generation number");
        return fault_way_out(fault, "restore it from a copy, or make a new one");
    }
    if (filter_lock(filter, fault) != 0)
        return -1;
    uint64_t time = time_to_write(filter);
    if (number != newest || layer_keys(filter, layer) == 0) {
        put64(filter, state + LAYER_KEYS, 0);
        date(filter, number, time);
        put64(filter, state + WINDOW_BEGAN, time & ~WINDOW_BEHIND);
        put64(filter, state + WINDOW_NUMBER, largest + 1);
    }
    filter_unlock(filter);
    return 0;
}
