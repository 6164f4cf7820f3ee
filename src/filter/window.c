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

static void date(struct store *store, unsigned layer, uint64_t time)
{
    put64(store, layer_state_at(layer) + WINDOW_LAST, time);
    if (store->header.plan.forget != 0)
        put64(store, layer_state_at(layer) + WINDOW_UPTIME, clock_uptime());
}

/* Under LOCK_CHANGE: the time to write, marked if the clock is behind. If the clock is right, dates
 * the layers that were marked, and those whose keys are younger than their times. */
static uint64_t time_to_write(struct store *store)
{
    const uint64_t noise = 1000; /* clocks are also adjusted bit by bit */
    uint64_t now = clock_now();
    uint64_t latest = generation_latest(store);
    if (now < latest)
        return latest | WINDOW_BEHIND;
    for (unsigned i = 0; i < store->count; i++) {
        size_t at = layer_state_at(i) + WINDOW_LAST;
        uint64_t age = generation_age(store, i, now);
        if (generation_is_undated(store, i))
            date(store, i, now);
        else if (now - get64(store, at) > age + noise)
            put64(store, at, now - age);
    }
    return now;
}

void window_settled(struct store *store, unsigned layer)
{
    if (store->header.plan.forget != 0)
        date(store, layer, time_to_write(store));
}

bool window_is_turning(const struct store *store)
{
    return !in_memory(store) && lock_is_held(store->file.fd, LOCK_GROW);
}

/* --- which one is next --- */

/* In a window by time, only expired layers. */
static bool may_be_emptied(const struct store *store, unsigned layer, uint64_t now)
{
    return store->header.plan.forget == 0 || !generation_is_one(generation_number(store, layer)) ||
           generation_expired(store, layer, now);
}

uint64_t window_room_ahead(const struct store *store)
{
    if (!is_window(store))
        return 0;
    if (store->header.plan.forget == 0)
        return UINT64_MAX / 2;
    uint64_t now = generation_now(store), room = 0;
    unsigned newest = generation_largest(store);
    for (unsigned i = 0; i < store->count; i++)
        if (i != newest && may_be_emptied(store, i, now))
            room += store->layers[i].plan.capacity;
    return room;
}

/* In a window by time the largest is best, else the oldest: retired, free, old, new. */
static bool is_better(const struct store *store, unsigned layer, unsigned than)
{
    if (store->header.plan.forget != 0) {
        uint64_t pages = store->layers[layer].plan.pages;
        if (than < store->count && pages != store->layers[than].plan.pages)
            return pages > store->layers[than].plan.pages;
    }
    return than == store->count ||
           generation_number(store, layer) + 1 < generation_number(store, than) + 1;
}

unsigned window_next(const struct store *store)
{
    unsigned newest = generation_largest(store);
    unsigned next = store->count;
    /* A generation that ended without keys begins again. */
    if (newest < store->count && store_layer_keys(store, newest) == 0)
        return newest;
    uint64_t now = generation_now(store);
    for (unsigned i = 0; i < store->count; i++)
        if (i != newest && may_be_emptied(store, i, now) && is_better(store, i, next))
            next = i;
    return next;
}

/* --- turning --- */

/* Steps 1 and 2. Whether a layer was ever written is asked of the file system: after a power cut
 * its counter may be older than the bits. */
static int empty_layer(struct store *store, unsigned layer, struct fault *fault)
{
    bool unused = generation_number(store, layer) != GENERATION_RETIRED &&
                  store_layer_keys(store, layer) == 0;
    if (unused && !pages_have_data(store, &store->layers[layer]))
        return 0;
    if (store_lock(store, fault) != 0)
        return -1;
    /* It may be the newest, and keys may have been settled there by now. */
    if (unused && store_layer_keys(store, layer) != 0) {
        store_unlock(store);
        return 0;
    }
    put64(store, layer_state_at(layer) + WINDOW_NUMBER, GENERATION_RETIRED);
    store_unlock(store);
    struct layer *old = &store->layers[layer];
    if (!in_memory(store) && !old->asked)
        old->two = growth_holds_two(&old->plan);
    old->asked = true;
    return pages_clear(store, old, !old->two, "cannot forget", fault);
}

/* Step 3. */
static int begin_generation(struct store *store, unsigned layer, struct fault *fault)
{
    unsigned newest = generation_largest(store);
    uint64_t number = newest < store->count ? generation_number(store, newest) : 0;
    if (number + 1 == GENERATION_RETIRED) {
        fault_set(fault, store_name(store), "damaged filter: wrong generation number");
        return fault_way_out(fault, "restore it from a copy, or make a new one");
    }
    if (store_lock(store, fault) != 0)
        return -1;
    uint64_t time = time_to_write(store);
    /* Unless it is the newest, and keys were settled there by now. */
    if (layer != newest || store_layer_keys(store, layer) == 0) {
        put64(store, layer_state_at(layer) + LAYER_KEYS, 0);
        date(store, layer, time);
        put64(store, layer_state_at(layer) + WINDOW_BEGAN, time & ~WINDOW_BEHIND);
        put64(store, layer_state_at(layer) + WINDOW_NUMBER, number + 1);
    }
    store_unlock(store);
    return 0;
}

int window_turn(struct store *store, unsigned layer, struct fault *fault)
{
    return empty_layer(store, layer, fault) == 0 ? begin_generation(store, layer, fault) : -1;
}
