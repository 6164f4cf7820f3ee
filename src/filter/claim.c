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
#include "system/lock.h"

#include <string.h>

/* --- claiming --- */

/* How many new keys may go into flight beside the `taken` that are in flight anywhere. A window has
 * room in its next generations, too, but a batch that is not held ends where the window turns. */
static uint64_t room_beside(const struct writer *writer, uint64_t taken)
{
    const struct filter *filter = writer->filter;
    uint64_t room = place_room(filter), more = window_room_ahead(filter);
    if (!writer->writes || filter->header.plan.fixed)
        return UINT64_MAX;
    if (room == 0 || room + more <= taken)
        return 0;
    if (writer->turns)
        return room > writer->flight.count ? room - writer->flight.count : room;
    return is_window(filter) && !writer->holds ? room : room + more - taken;
}

/* Expected keys are new, whatever the layers say (filter.h, "A retry"). */
static void find_expected(const struct writer *writer, const struct key *keys, size_t n,
                          uint8_t *seen, uint8_t expected[BATCH_KEYS])
{
    memset(expected, 0, n);
    flight_test(&writer->expected, keys, n, expected);
    for (size_t i = 0; i < n; i++)
        seen[i] &= !expected[i];
}

/* Under LOCK_CHANGE, if there is a lock: takes into flight the keys that are still new. Returns how
 * many keys were judged, 0 if room must be made beside those *taken, or -1. */
static ptrdiff_t take_new(struct writer *writer, const struct key *keys, size_t n,
                          uint64_t most_new, uint64_t settled, uint8_t *seen, uint64_t *taken,
                          struct fault *fault)
{
    uint8_t expected[BATCH_KEYS];
    if (others_test(writer, keys, n, seen, taken, fault) != 0)
        return -1;
    *taken += writer->flight.count;
    if (filter_settlings(writer->filter) != settled)
        probe_layers(writer->filter, writer->filter->count, keys, n, seen);
    uint64_t room = room_beside(writer, *taken);
    bool expects = writer->expected.log != NULL;
    if (expects)
        find_expected(writer, keys, n, seen, expected);
    if (writer->flight.count == 0)
        writer->claimed_at = filter_settlings(writer->filter);
    size_t judged = flight_take(&writer->flight, keys, n, most_new < room ? most_new : room, seen);
    for (size_t i = 0; expects && i < judged; i++)
        writer->came_again += expected[i] && !seen[i];
    return (ptrdiff_t)judged;
}

/* Makes room in the flight for the keys; if the side file cannot be made, for some of them. Opening
 * has made room for one batch. */
static int reserve(struct writer *writer, size_t n, struct fault *fault)
{
    const struct flight *flight = &writer->flight;
    bool some = flight->capacity > flight->count;
    return !writer->holds || slot_reserve(writer, n, fault) == 0 || some ? 0 : -1;
}

static ptrdiff_t claim_once(struct writer *writer, const struct key *keys, size_t n,
                            uint64_t most_new, uint8_t *seen, uint64_t *taken, struct fault *fault)
{
    struct filter *filter = writer->filter;
    uint64_t settled = filter_settlings(filter);
    if (probe(filter, keys, n, seen, fault) != 0)
        return -1;
    if (writer->expected.log == NULL && memchr(seen, 0, n) == NULL)
        return (ptrdiff_t)n;
    if (!writer->writes)
        return take_new(writer, keys, n, most_new, settled, seen, taken, fault);
    if (slot_take(writer, fault) != 0 || filter_lock(filter, fault) != 0)
        return -1;
    ptrdiff_t judged = take_new(writer, keys, n, most_new, settled, seen, taken, fault);
    filter_unlock(filter);
    return judged;
}

ptrdiff_t writer_claim(struct writer *writer, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault)
{
    struct filter *filter = writer->filter;
    ptrdiff_t judged = 0;
    uint64_t taken = 0;
    if (in_memory(filter))
        return memory_claim(filter, keys, n, most_new, seen, fault);
    if (n > BATCH_KEYS)
        n = BATCH_KEYS;
    if (reserve(writer, n, fault) != 0)
        return -1;
    while (judged == 0) {
        if (writer->writes && room_is_wanted(filter) && room_make(filter, taken, fault) != 0)
            return -1;
        judged = claim_once(writer, keys, n, most_new, seen, &taken, fault);
        if (judged == 0 && room_make(filter, taken, fault) != 0)
            return -1;
    }
    return judged;
}

/* Works without the lock, too: then others merely see the dropped keys as seen for longer. */
void writer_keep(struct writer *writer, uint64_t delivered)
{
    struct fault ignored;
    struct filter *filter = writer->filter;
    uint64_t count = writer->flight.count;
    if (in_memory(filter))
        return;
    writer->delivered += delivered;
    if (count == writer->delivered) {
        slot_rest(writer);
        return;
    }
    filter->settling = true;
    bool locked = writer->writes && filter_lock(filter, &ignored) == 0;
    filter->settling = false;
    flight_drop(&writer->flight, count - writer->delivered);
    if (locked)
        filter_unlock(filter);
    slot_rest(writer);
}

uint64_t writer_kept(const struct writer *writer)
{
    return writer->delivered;
}

void writer_drop(struct writer *writer, uint64_t n)
{
    writer->delivered -= n < writer->delivered ? n : writer->delivered;
    writer_keep(writer, 0);
}

/* --- settling --- */

/* Under LOCK_CHANGE: sets up to BATCH_KEYS keys. With `all`, keys for which there is no room go
 * into the newest layer. Returns how many are set. */
static size_t set_keys(struct writer *writer, const struct key *keys, size_t n, bool all)
{
    struct filter *filter = writer->filter;
    uint8_t in[BATCH_KEYS] = {0};
    bool alone = filter_settlings(filter) == writer->claimed_at;
    if (!alone)
        probe_newest(filter, keys, n, in);
    size_t done = place_keys(filter, keys, n, in, all);
    if (done > 0)
        count_settling(filter);
    if (alone)
        writer->claimed_at = filter_settlings(filter);
    return done;
}

/* Settles the next batch. Sets *all if no room can be made. All keys stay in flight to the end. */
static int settle_some(struct writer *writer, uint64_t *done, bool *all, struct fault *fault)
{
    static struct key buffer[BATCH_KEYS];
    struct fault ignored;
    struct flight *flight = &writer->flight;
    uint64_t left = writer->delivered - *done;
    size_t n = left < BATCH_KEYS ? (size_t)left : BATCH_KEYS;
    if (filter_lock_to_settle(writer->filter, fault) != 0)
        return -1;
    size_t set = set_keys(writer, flight_keys(flight, *done, n, buffer), n, *all);
    *done += set;
    if (*done == writer->delivered)
        flight_hide(flight);
    filter_unlock(writer->filter);
    if (set < n && room_make(writer->filter, 0, &ignored) != 0)
        *all = true;
    return 0;
}

/* Under LOCK_HELD a merge over the filter waits until all held keys are in; or the merge was first,
 * and none is settled. */
int writer_settle(struct writer *writer, struct fault *fault)
{
    struct filter *filter = writer->filter;
    uint64_t done = 0;
    bool all = false;
    if (writer->delivered == 0)
        return 0;
    filter->settling = true;
    int result = writer->holds ? filter_take(filter, LOCK_HELD, fault) : 0;
    bool locked = writer->holds && result == 0;
    while (result == 0 && done < writer->delivered)
        result = settle_some(writer, &done, &all, fault);
    if (locked)
        filter_drop(filter, LOCK_HELD);
    filter->settling = false;
    if (result != 0)
        return -1;
    flight_clear(&writer->flight, done);
    writer->delivered = 0;
    slot_rest(writer);
    return 0;
}

/* --- adding --- */

/* Under LOCK_CHANGE: keys that are not in pass through this run's flight, which finds duplicates.
 * Returns how many keys are done, 0 if room must be made beside those *taken, or -1. */
static ptrdiff_t add_locked(struct writer *writer, const struct key *keys, size_t n,
                            uint64_t settled, uint8_t *seen, uint64_t *added, uint64_t *taken,
                            struct fault *fault)
{
    static struct key buffer[BATCH_KEYS];
    static const uint8_t none[BATCH_KEYS];
    struct filter *filter = writer->filter;
    struct flight *flight = &writer->flight;
    if (filter_settlings(filter) != settled)
        probe_newest(filter, keys, n, seen);
    if (others_test(writer, keys, 0, NULL, taken, fault) != 0)
        return -1;
    size_t done = flight_take(flight, keys, n, room_beside(writer, *taken), seen);
    size_t count = (size_t)flight->count;
    *added += place_keys(filter, flight_keys(flight, 0, count, buffer), count, none, true);
    if (count > 0)
        count_settling(filter);
    flight_hide(flight);
    flight_clear(flight, count);
    return (ptrdiff_t)done;
}

/* At most BATCH_KEYS keys. Returns how many are done, or -1. */
static ptrdiff_t add_some(struct writer *writer, const struct key *keys, size_t n, uint8_t *seen,
                          uint64_t *added, struct fault *fault)
{
    struct filter *filter = writer->filter;
    uint64_t settled = filter_settlings(filter), taken = 0;
    if ((room_is_wanted(filter) && room_make(filter, 0, fault) != 0) ||
        probe_begin(filter, keys, n, seen, fault) != 0)
        return -1;
    probe_newest(filter, keys, n, seen);
    if (memchr(seen, 0, n) == NULL)
        return (ptrdiff_t)n;
    if (filter_lock_to_settle(filter, fault) != 0)
        return -1;
    ptrdiff_t done = add_locked(writer, keys, n, settled, seen, added, &taken, fault);
    filter_unlock(filter);
    return done == 0 && room_make(filter, taken, fault) != 0 ? -1 : done;
}

ptrdiff_t writer_add(struct writer *writer, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *added, struct fault *fault)
{
    size_t judged = 0;
    *added = 0;
    while (judged < n) {
        size_t left = n - judged;
        ptrdiff_t done = add_some(writer, keys + judged, left < BATCH_KEYS ? left : BATCH_KEYS,
                                  seen + judged, added, fault);
        if (done < 0)
            return judged > 0 ? (ptrdiff_t)judged : -1;
        judged += (size_t)done;
    }
    return (ptrdiff_t)judged;
}
