/*
 * claim - see claim.h, and filter.h for the states of a key.
 *
 * The obvious way is: under the lock, test a key; if it is new, set its bits; print its line. It is
 * wrong, slow and blocks others, and each step from there to here has one reason:
 *
 *   1. A line that is remembered and not delivered is lost by a kill. So a claim sets no bits: it
 *      notes the key as in flight, and settling sets them once the line was handed on.
 *   2. Another writer would print the line, too, meanwhile. So what is in flight stands in the
 *      slot, where others see it as long as its owner lives.
 *   3. Testing takes 10 to 60 ns a key, and longer where pages come from the disk. So keys are
 *      tested without the lock; most are seen, and if all are, no lock is taken at all.
 *   4. What others settle between that look and the lock would be printed twice. So keys are tested
 *      again under the lock, if the counter of settlings says that there was any.
 *   5. The output must not depend on where batches end. So a key is judged as if those before it
 *      were set, each in the layer where it will be: flight.c finds that, place.c the layer.
 *   6. Room is made before keys are claimed that need it, never between their claim and their
 *      delivery: a claim ends at the first key without a place.
 */
#include "delivery/claim.h"

#include "delivery/internal.h"
#include "delivery/others.h"
#include "delivery/slot.h"
#include "store/generation.h"
#include "store/pages.h"
#include "store/place.h"
#include "store/probe.h"
#include "store/room.h"
#include "store/stage.h"

#include <errno.h>
#include <string.h>

/* --- claiming --- */

/* In a flight, each layer and each stage has a number. */
static unsigned number_of(const struct store *store, struct place place)
{
    unsigned layer = place_is_none(store, place) ? store->count - 1 : place.layer;
    return 2 * layer + !place.in_stage;
}

static const struct bits *bits_of(const struct store *store, unsigned number)
{
    const struct layer *layer = &store->layers[number / 2];
    return number % 2 == 0 ? &layer->stage.bits : &layer->region.bits;
}

/* Whether what this writer has in flight for other numbers than `but` covers the key. */
static bool in_own_flight(const struct filter *filter, struct key key, unsigned but)
{
    const struct flight *flight = filter->flight;
    for (unsigned i = flight->layer_low; i <= flight->layer_high; i++) {
        const struct bits *bits = bits_of(filter->store, i);
        if (i != but && bits->pages != 0 && flight_covers(flight, key, i, bits))
            return true;
    }
    return false;
}

/* Those of the keys that this writer's keys in flight for other numbers than `but` cover. That is
 * rare: a batch that began in one layer and goes on in the next. */
static void look_at_own(const struct filter *filter, const struct key *keys, size_t n, unsigned but,
                        uint8_t *seen)
{
    const struct flight *flight = filter->flight;
    if (flight->count == 0 || (flight->layer_low == but && flight->layer_high == but))
        return;
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            seen[i] = in_own_flight(filter, keys[i], but);
}

/* How many keys may be in flight: as many as other writers can be shown. */
static size_t flight_most(const struct filter *filter)
{
    return filter->set != NULL ? filter->flight->room : slot_size(filter);
}

int claim_fit_flight(struct filter *filter, size_t room, struct fault *fault)
{
    if (filter->flight->room >= room)
        return 0;
    struct flight *larger = flight_new(room);
    if (larger == NULL)
        return fault_errno(fault, store_path(filter->store), NULL, ENOMEM);
    flight_free(filter->flight);
    filter->flight = larger;
    return 0;
}

/* Under LOCK_CHANGE: takes the new keys into flight, in order, each for the place that it has after
 * those before it. Returns how many keys were judged; *full: it stopped for want of a place. */
static size_t take_new(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint64_t others, uint8_t *seen, bool *full)
{
    const struct store *store = filter->store;
    struct flight *flight = filter->flight;
    size_t before = flight->count, room = flight_most(filter) - before;
    size_t end = before + (most_new < room ? (size_t)most_new : room);
    size_t i = 0;
    *full = false;
    while (i < n && !*full) {
        struct place place = place_after(store, others + flight->count);
        unsigned number = number_of(store, place);
        size_t most = end - flight->count;
        if (most > place.left)
            most = (size_t)place.left;
        look_at_own(filter, keys + i, n - i, number, seen + i);
        i += flight_take(flight, keys + i, n - i, most, number, bits_of(store, number), seen + i);
        if (flight->count == end)
            break;
        *full = i < n && place_is_none(store, place);
    }
    slot_show(filter, before);
    return i;
}

void claim_look_again(const struct filter *filter, const struct key *keys, size_t n,
                      uint64_t settled, uint8_t *seen)
{
    if (store_settlings(filter->store) != settled)
        probe_layers(filter->store, keys, n, seen);
}

/* Under LOCK_CHANGE: what is still new is taken into flight. Returns how many keys were judged, or
 * -1. */
static ptrdiff_t claim_locked(struct filter *filter, const struct key *keys, size_t n,
                              uint64_t most_new, uint64_t settled, uint8_t *seen, bool *full,
                              struct fault *fault)
{
    uint64_t others;
    claim_look_again(filter, keys, n, settled, seen);
    if (others_look(filter, keys, n, seen, &others, fault) != 0)
        return -1;
    if (filter->flight->count == 0)
        filter->claimed_at = store_settlings(filter->store);
    return (ptrdiff_t)take_new(filter, keys, n, most_new, others, seen, full);
}

/* Whether lines were in flight for so long that the generation they were claimed for is over: then
 * they need the next one, so as not to be the newest of one that was to end before them. */
static bool needs_generation(const struct store *store)
{
    return is_window(store) && generation_filling(store) == store->count;
}

ptrdiff_t claim_batch(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                      uint8_t *seen, struct fault *fault)
{
    struct store *store = filter->store;
    for (;;) {
        uint64_t settled = store_settlings(store);
        bool full = false;
        if (probe(store, keys, n, seen, fault) != 0)
            return -1;
        if (memchr(seen, 0, n) == NULL)
            return (ptrdiff_t)n;
        if (store_lock(store, fault) != 0)
            return -1;
        ptrdiff_t judged = claim_locked(filter, keys, n, most_new, settled, seen, &full, fault);
        store_unlock(store);
        if (judged < 0 || !full || filter->flight->count > 0)
            return judged;
        /* What is before the key that finds no room is judged by what is in now. */
        if (judged > 0 && room_clears_bits(store))
            return judged;
        if (room_make(store, fault) != 0)
            return -1;
    }
}

/* --- settling --- */

/* Under LOCK_CHANGE: settles at most BATCH_KEYS keys that were claimed, as place_all. A counting
 * filter must not count one twice: those are passed over that are in by now, if others have settled
 * any since, as filter_add does not ask who has a key in flight. */
static size_t set_claimed(struct filter *filter, const struct key *keys, size_t n, uint64_t others,
                          bool all)
{
    struct store *store = filter->store;
    uint8_t counted[BATCH_KEYS];
    size_t done = 0;
    bool alone = store_settlings(store) == filter->claimed_at;
    /* Who is killed from here on and settles them again is not alone then, but with these. */
    if (alone)
        count_settling(store);
    in_order_for_others();
    if (alone || !store->header.plan.geometry.counting) {
        done = place_all(store, keys, n, others, all);
    } else {
        memset(counted, 0, n);
        probe_layers(store, keys, n, counted);
        while (done < n && (counted[done] || place_all(store, keys + done, 1, others, all) == 1))
            done++;
    }
    if (done > 0)
        count_settling(store);
    if (alone)
        filter->claimed_at = store_settlings(store);
    return done;
}

int claim_settle(struct filter *filter, size_t delivered, struct fault *fault)
{
    struct store *store = filter->store;
    struct fault ignored;
    if (filter->flight->count == 0)
        return 0;
    store->settling = delivered > 0;
    /* If the next one cannot be had, that generation is forgotten late. */
    if (delivered > 0 && needs_generation(store))
        (void)room_make(store, &ignored);
    bool locked = store_lock_to_settle(store, fault) == 0;
    if (locked) {
        /* The claim saw to it that there is room, unless the counters were changed since, or a
         * generation has filled up. */
        set_claimed(filter, filter->flight->keys, delivered, 0, true);
        slot_clear(filter);
        store_unlock(store);
        flight_clear(filter->flight);
    }
    store->settling = false;
    return locked ? 0 : -1;
}

/* `alone`: only as long as nobody else has settled any since they were claimed. */
static int settle(struct filter *filter, const struct key *keys, size_t n, bool alone,
                  size_t *settled, struct fault *fault)
{
    const struct store *store = filter->store;
    *settled = 0;
    while (*settled < n) {
        uint64_t others;
        size_t done = 0, left = n - *settled;
        if (store_lock_to_settle(filter->store, fault) != 0)
            return -1;
        bool stops = alone && store_settlings(store) != filter->claimed_at;
        bool looked = others_look(filter, keys, 0, NULL, &others, fault) == 0;
        if (looked && !stops)
            done = set_claimed(filter, keys + *settled, left < BATCH_KEYS ? left : BATCH_KEYS,
                               others, false);
        store_unlock(filter->store);
        if (looked && stops)
            return 0;
        if (!looked || (done == 0 && room_make(filter->store, fault) != 0))
            return -1;
        *settled += done;
    }
    return 0;
}

int filter_settle_keys(struct filter *filter, const struct key *keys, size_t n, struct fault *fault)
{
    size_t settled;
    return settle(filter, keys, n, false, &settled, fault);
}

ptrdiff_t filter_settle_alone(struct filter *filter, const struct key *keys, size_t n,
                              struct fault *fault)
{
    size_t settled;
    return settle(filter, keys, n, true, &settled, fault) == 0 ? (ptrdiff_t)settled : -1;
}

/* --- adding: keys that are in flight and settled at once --- */

static bool has_stages(const struct store *store)
{
    return store_regions(store) > store->count;
}

/* Under LOCK_CHANGE: what will be cleared does not vouch for a key that it only seems to have. So
 * keys that are in, but only in a stage, are set in a layer, too. Most are in the stage's journal,
 * and are counted there. (An old generation may err as well; but most keys that it has are repeats,
 * which are not to become younger.) */
static void set_past_stages(struct store *store, const struct key *keys, size_t n,
                            const uint8_t *in)
{
    uint8_t lasting[BATCH_KEYS] = {0};
    unsigned layer = store->count - 1;
    for (unsigned i = 0; i < store->count; i++)
        if (stage_keys(store, i) > 0)
            layer = i;
    probe_past_stages(store, keys, n, lasting);
    for (size_t i = 0; i < n; i++)
        if (in[i] && !lasting[i])
            pages_set(store, &store->layers[layer].region, &keys[i], 1);
}

/* Under LOCK_CHANGE: as far as there is room in one place that nobody has claimed. Returns how many
 * keys are done, 0 if room has to be made, -1. */
static ptrdiff_t add_locked(struct filter *filter, const struct key *keys, size_t n,
                            uint64_t settled, uint8_t *seen, uint64_t *added, struct fault *fault)
{
    struct store *store = filter->store;
    struct flight *flight = filter->flight;
    uint64_t others;
    claim_look_again(filter, keys, n, settled, seen);
    if (others_look(filter, keys, 0, NULL, &others, fault) != 0)
        return -1;
    struct place place = place_after(store, others);
    unsigned number = number_of(store, place);
    size_t most = place.left < flight->room ? (size_t)place.left : flight->room;
    size_t done = flight_take(flight, keys, n, most, number, bits_of(store, number), seen);
    *added += flight->count;
    place_set(store, place, flight->keys, flight->count);
    if (flight->count > 0)
        count_settling(store);
    flight_clear(flight);
    if (has_stages(store))
        set_past_stages(store, keys, done, seen);
    return (ptrdiff_t)done;
}

/* At most BATCH_KEYS keys. Returns how many are done, or -1. */
static ptrdiff_t add_some(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                          uint64_t *added, struct fault *fault)
{
    struct store *store = filter->store;
    uint64_t settled = store_settlings(store);
    if (probe(store, keys, n, seen, fault) != 0)
        return -1;
    if (memchr(seen, 0, n) == NULL && !has_stages(store))
        return (ptrdiff_t)n;
    if (store_lock_to_settle(store, fault) != 0)
        return -1;
    ptrdiff_t done = add_locked(filter, keys, n, settled, seen, added, fault);
    store_unlock(store);
    return done == 0 && room_make(store, fault) != 0 ? -1 : done;
}

ptrdiff_t filter_add(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *added, struct fault *fault)
{
    size_t judged = 0;
    *added = 0;
    if (claim_fit_flight(filter, (size_t)slot_room(filter->store->header.flight_keys, 0), fault) !=
        0)
        return -1;
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
