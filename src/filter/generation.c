/*
 * generation - see generation.h.
 *
 * Time is CLOCK_REALTIME. A layer expires as a whole, when --forget-after has passed since the last
 * key was settled in it; tests skip an expired layer even before it is emptied. If the clock is set
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
 * far ahead may be true, so it is obeyed, and generation_clock_ahead reports it.
 */
#include "filter/generation.h"

#include "filter/internal.h"
#include "system/clock.h"

uint64_t generation_number(const struct filter *filter, unsigned layer)
{
    return get64(filter, layer_state_at(layer) + WINDOW_NUMBER);
}

unsigned generation_largest(const struct filter *filter)
{
    unsigned newest = filter->count;
    uint64_t largest = 0;
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t number = generation_number(filter, i);
        if (generation_is_one(number) && number > largest) {
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

bool generation_is_undated(const struct filter *filter, unsigned layer)
{
    uint64_t last = get64(filter, layer_state_at(layer) + WINDOW_LAST);
    return time_of(last) != last;
}

uint64_t generation_latest(const struct filter *filter)
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

uint64_t generation_now(const struct filter *filter)
{
    return filter->header.plan.forget != 0 ? clock_now() : 0;
}

uint64_t generation_age(const struct filter *filter, unsigned layer, uint64_t now)
{
    uint64_t last = time_at(filter, layer, WINDOW_LAST), age = now > last ? now - last : 0;
    uint64_t then = get64(filter, layer_state_at(layer) + WINDOW_UPTIME);
    uint64_t up = then != 0 ? clock_uptime() : 0;
    bool one_boot = (then ^ up) >> CLOCK_UPTIME_BITS == 0;
    return one_boot && up > then && up - then < age ? up - then : age;
}

bool generation_expired(const struct filter *filter, unsigned layer, uint64_t now)
{
    uint64_t forget = filter->header.plan.forget;
    return forget != 0 && !generation_is_undated(filter, layer) &&
           now >= time_at(filter, layer, WINDOW_LAST) + forget &&
           generation_age(filter, layer, now) >= forget;
}

static bool period_is_over(const struct filter *filter, unsigned layer)
{
    if (filter->header.plan.forget == 0)
        return false;
    uint64_t began = time_at(filter, layer, WINDOW_BEGAN);
    uint64_t now = clock_now();
    return now >= began && now - began >= growth_generation(filter->header.plan.forget);
}

uint64_t generation_clock_ahead(const struct filter *filter)
{
    if (filter->header.plan.forget == 0)
        return 0;
    uint64_t latest = generation_latest(filter);
    uint64_t now = clock_now();
    return latest > now && latest - now > growth_generation(filter->header.plan.forget) ? latest
                                                                                        : 0;
}

unsigned generation_newest(const struct filter *filter)
{
    if (!is_window(filter))
        return filter->count - 1;
    unsigned newest = generation_largest(filter);
    return newest < filter->count ? newest : 0;
}

unsigned generation_filling(const struct filter *filter)
{
    unsigned newest = generation_largest(filter);
    return newest < filter->count && period_is_over(filter, newest) ? filter->count : newest;
}

struct generation generation_of(const struct filter *filter, unsigned layer)
{
    uint64_t forget = filter->header.plan.forget;
    uint64_t number = generation_number(filter, layer), now = generation_now(filter);
    uint64_t last = time_at(filter, layer, WINDOW_LAST);
    uint64_t true_last = now > last ? now - generation_age(filter, layer, now) : last;
    return (struct generation){
        .number = generation_is_one(number) ? number : 0,
        .retired = number == GENERATION_RETIRED,
        .filling = generation_is_one(number) && layer == generation_largest(filter),
        .expired = generation_expired(filter, layer, now),
        .began = time_at(filter, layer, WINDOW_BEGAN),
        .ends = forget != 0 ? true_last + forget : 0,
        .behind = generation_is_undated(filter, layer),
    };
}
