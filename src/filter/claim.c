/*
 * claim - claiming, settling and adding keys: see filter.h. For filters in memory see memory.c.
 *
 * The obvious algorithm holds the lock while it tests a key, sets its bits if it is new, and prints
 * its line. How this one was derived from it, step by step:
 *
 *   1. A line that is remembered but not delivered is lost if the process is killed. So claiming
 *      sets no bits: it puts the key in flight, and settling sets the bits after delivery.
 *   2. Meanwhile another writer would print the line, too. So all writers see each other's keys in
 *      flight, as long as the owner lives.
 *   3. A test takes 10 to 60 ns per key, and longer if pages come from the disk. So keys are tested
 *      without the lock. Most are seen; if all are, the lock is not taken at all.
 *   4. A key that another writer settles between that test and the lock would be printed twice. So
 *      keys are tested again under the lock if the counter of settlings has moved.
 *   5. A full disk must be noticed before lines are printed that the filter cannot hold. So room is
 *      made before keys are claimed: these and all keys in flight anywhere fit into the layers.
 *   6. A key that is settled late, after CMD or from a pending file, may have been added by another
 *      writer meanwhile, and must not count twice. So settling tests keys again if anybody has
 *      settled since the claim, as adding does.
 *   7. In a window, a generation that will be cleared may contain the key only by a false positive,
 *      at rate p. So these last tests ask only the newest generation.
 */
#include "filter/internal.h"
#include "filter/probe.h"
#include "filter/slot.h"
#include "filter/window.h"
#include "system/lock.h"

#include <string.h>

/* --- claiming --- */

/* How many new keys may go into flight beside the `taken` that are in flight anywhere. A window has
 * room in its next generations, too, but a batch that is not held ends where the window turns. */
static uint64_t room_beside(const struct filter *filter, uint64_t taken)
{
    const struct store *store = filter->store;
    uint64_t room = place_room(store), more = window_room_ahead(store);
    if (!filter->writes || store->header.plan.fixed)
        return UINT64_MAX;
    if (room == 0 || room + more <= taken)
        return 0;
    if (filter->turns)
        return room > filter->flight.count ? room - filter->flight.count : room;
    return is_window(store) && !filter->holds ? room : room + more - taken;
}

/* Expected keys are new, whatever the layers say (filter.h, "A retry"). */
static void find_expected(const struct filter *filter, const struct key *keys, size_t n,
                          uint8_t *seen, uint8_t expected[BATCH_KEYS])
{
    memset(expected, 0, n);
    flight_test(&filter->expected, keys, n, expected);
    for (size_t i = 0; i < n; i++)
        seen[i] &= !expected[i];
}

/* Under LOCK_CHANGE, if there is a lock: takes into flight the keys that are still new. Returns how
 * many keys were judged, 0 if room must be made beside those *taken, or -1. */
static ptrdiff_t take_new(struct filter *filter, const struct key *keys, size_t n,
                          uint64_t most_new, uint64_t settled, uint8_t *seen, uint64_t *taken,
                          struct fault *fault)
{
    uint8_t expected[BATCH_KEYS];
    if (others_test(filter, keys, n, seen, taken, fault) != 0)
        return -1;
    *taken += filter->flight.count;
    if (store_settlings(filter->store) != settled)
        probe_layers(filter->store, filter->store->count, keys, n, seen);
    uint64_t room = room_beside(filter, *taken);
    bool expects = filter->expected.log != NULL;
    if (expects)
        find_expected(filter, keys, n, seen, expected);
    if (filter->flight.count == 0)
        filter->claimed_at = store_settlings(filter->store);
    size_t judged = flight_take(&filter->flight, keys, n, most_new < room ? most_new : room, seen);
    for (size_t i = 0; expects && i < judged; i++)
        filter->came_again += expected[i] && !seen[i];
    return (ptrdiff_t)judged;
}

/* Makes room in the flight for the keys; if the side file cannot be made, for some of them. Opening
 * has made room for one batch. */
static int reserve(struct filter *filter, size_t n, struct fault *fault)
{
    const struct flight *flight = &filter->flight;
    bool some = flight->capacity > flight->count;
    return !filter->holds || slot_reserve(filter, n, fault) == 0 || some ? 0 : -1;
}

static ptrdiff_t claim_once(struct filter *filter, const struct key *keys, size_t n,
                            uint64_t most_new, uint8_t *seen, uint64_t *taken, struct fault *fault)
{
    struct store *store = filter->store;
    uint64_t settled = store_settlings(store);
    if (probe(store, keys, n, seen, fault) != 0)
        return -1;
    if (filter->expected.log == NULL && memchr(seen, 0, n) == NULL)
        return (ptrdiff_t)n;
    if (!filter->writes)
        return take_new(filter, keys, n, most_new, settled, seen, taken, fault);
    if (slot_take(filter, fault) != 0 || store_lock(store, fault) != 0)
        return -1;
    ptrdiff_t judged = take_new(filter, keys, n, most_new, settled, seen, taken, fault);
    store_unlock(store);
    return judged;
}

ptrdiff_t filter_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault)
{
    struct store *store = filter->store;
    ptrdiff_t judged = 0;
    uint64_t taken = 0;
    if (in_memory(store))
        return memory_claim(store, keys, n, most_new, seen, fault);
    if (n > BATCH_KEYS)
        n = BATCH_KEYS;
    if (reserve(filter, n, fault) != 0)
        return -1;
    while (judged == 0) {
        if (filter->writes && room_is_wanted(store) && room_make(store, taken, fault) != 0)
            return -1;
        judged = claim_once(filter, keys, n, most_new, seen, &taken, fault);
        if (judged == 0 && room_make(store, taken, fault) != 0)
            return -1;
    }
    return judged;
}

/* Works without the lock, too: then others merely see the dropped keys as seen for longer. */
void filter_keep(struct filter *filter, uint64_t delivered)
{
    struct fault ignored;
    struct store *store = filter->store;
    uint64_t count = filter->flight.count;
    if (in_memory(store))
        return;
    filter->delivered += delivered;
    if (count == filter->delivered) {
        slot_rest(filter);
        return;
    }
    store->settling = true;
    bool locked = filter->writes && store_lock(store, &ignored) == 0;
    store->settling = false;
    flight_drop(&filter->flight, count - filter->delivered);
    if (locked)
        store_unlock(store);
    slot_rest(filter);
}

uint64_t filter_kept(const struct filter *filter)
{
    return filter->delivered;
}

void filter_drop(struct filter *filter, uint64_t n)
{
    filter->delivered -= n < filter->delivered ? n : filter->delivered;
    filter_keep(filter, 0);
}

/* --- settling --- */

/* Under LOCK_CHANGE: sets up to BATCH_KEYS keys. With `all`, keys for which there is no room go
 * into the newest layer. Returns how many are set. */
static size_t set_keys(struct filter *filter, const struct key *keys, size_t n, bool all)
{
    struct store *store = filter->store;
    uint8_t in[BATCH_KEYS] = {0};
    bool alone = store_settlings(store) == filter->claimed_at;
    if (!alone)
        probe_newest(store, keys, n, in);
    size_t done = place_keys(store, keys, n, in, all);
    if (done > 0)
        count_settling(store);
    if (alone)
        filter->claimed_at = store_settlings(store);
    return done;
}

/* Settles the next batch. Sets *all if no room can be made. All keys stay in flight to the end. */
static int settle_some(struct filter *filter, uint64_t *done, bool *all, struct fault *fault)
{
    static struct key buffer[BATCH_KEYS];
    struct fault ignored;
    struct flight *flight = &filter->flight;
    uint64_t left = filter->delivered - *done;
    size_t n = left < BATCH_KEYS ? (size_t)left : BATCH_KEYS;
    if (store_lock_to_settle(filter->store, fault) != 0)
        return -1;
    size_t set = set_keys(filter, flight_keys(flight, *done, n, buffer), n, *all);
    *done += set;
    if (*done == filter->delivered)
        flight_hide(flight);
    store_unlock(filter->store);
    if (set < n && room_make(filter->store, 0, &ignored) != 0)
        *all = true;
    return 0;
}

/* Under LOCK_HELD a merge over the filter waits until all held keys are in; or the merge was first,
 * and none is settled. */
int filter_settle(struct filter *filter, struct fault *fault)
{
    struct store *store = filter->store;
    uint64_t done = 0;
    bool all = false;
    if (filter->delivered == 0)
        return 0;
    store->settling = true;
    int result = filter->holds ? store_take(store, LOCK_HELD, fault) : 0;
    bool locked = filter->holds && result == 0;
    while (result == 0 && done < filter->delivered)
        result = settle_some(filter, &done, &all, fault);
    if (locked)
        store_drop(store, LOCK_HELD);
    store->settling = false;
    if (result != 0)
        return -1;
    flight_clear(&filter->flight, done);
    filter->delivered = 0;
    slot_rest(filter);
    return 0;
}

/* --- adding --- */

/* Under LOCK_CHANGE: keys that are not in pass through this run's flight, which finds duplicates.
 * Returns how many keys are done, 0 if room must be made beside those *taken, or -1. */
static ptrdiff_t add_locked(struct filter *filter, const struct key *keys, size_t n,
                            uint64_t settled, uint8_t *seen, uint64_t *added, uint64_t *taken,
                            struct fault *fault)
{
    static struct key buffer[BATCH_KEYS];
    static const uint8_t none[BATCH_KEYS];
    struct store *store = filter->store;
    struct flight *flight = &filter->flight;
    if (store_settlings(store) != settled)
        probe_newest(store, keys, n, seen);
    if (others_test(filter, keys, 0, NULL, taken, fault) != 0)
        return -1;
    size_t done = flight_take(flight, keys, n, room_beside(filter, *taken), seen);
    size_t count = (size_t)flight->count;
    *added += place_keys(store, flight_keys(flight, 0, count, buffer), count, none, true);
    if (count > 0)
        count_settling(store);
    flight_hide(flight);
    flight_clear(flight, count);
    return (ptrdiff_t)done;
}

/* At most BATCH_KEYS keys. Returns how many are done, or -1. */
static ptrdiff_t add_some(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                          uint64_t *added, struct fault *fault)
{
    struct store *store = filter->store;
    uint64_t settled = store_settlings(store), taken = 0;
    if ((room_is_wanted(store) && room_make(store, 0, fault) != 0) ||
        probe_begin(store, keys, n, seen, fault) != 0)
        return -1;
    probe_newest(store, keys, n, seen);
    if (memchr(seen, 0, n) == NULL)
        return (ptrdiff_t)n;
    if (store_lock_to_settle(store, fault) != 0)
        return -1;
    ptrdiff_t done = add_locked(filter, keys, n, settled, seen, added, &taken, fault);
    store_unlock(store);
    return done == 0 && room_make(store, taken, fault) != 0 ? -1 : done;
}

ptrdiff_t filter_add(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *added, struct fault *fault)
{
    size_t judged = 0;
    *added = 0;
    while (judged < n) {
        size_t left = n - judged;
        ptrdiff_t done = add_some(filter, keys + judged, left < BATCH_KEYS ? left : BATCH_KEYS,
                                  seen + judged, added, fault);
        if (done < 0)
            return judged > 0 ? (ptrdiff_t)judged : -1;
        judged += (size_t)done;
    }
    return (ptrdiff_t)judged;
}
