/* filter_claim - what is new, and what was delivered; see filter.h. */
#include "store/internal.h"
#include "system/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t settled_now(const struct filter *filter)
{
    return get64(filter, COUNTER_SETTLED_AT);
}

static void test_all_but(const struct filter *filter, unsigned layer, const struct key *keys,
                         size_t n, uint8_t *seen)
{
    uint64_t now = filter_window_now(filter);
    memset(seen, 0, n);
    for (unsigned i = 0; i < filter->count; i++)
        if (i != layer && !filter_window_expired(filter, i, now))
            filter->kernel->test(&filter->layers[i].bits, keys, n, seen);
}

/* Those that were set, of the first `n` keys, are noted, as there is room for all of the small layer's. */
static void note_small(struct filter *filter, const struct key *keys, size_t n, const uint8_t *seen)
{
    struct key *note = filter->small_keys + filter->layers[0].keys;
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            *note++ = keys[i];
}

/* Test and set in one layer of a filter in memory, as far as there is room. */
static size_t insert_memory(struct filter *filter, struct layer *layer, const struct key *keys,
                            size_t n, uint64_t most, uint8_t *seen, uint64_t *set)
{
    uint64_t room = filter->header.plan.fixed ? UINT64_MAX : layer->plan.capacity - layer->keys;
    if (!layer->in_bulk && layer->keys + n >= HUGE_FROM)
        filter_use_huge_pages(layer);
    size_t done = filter->kernel->insert(&layer->bits, keys, n, seen, most < room ? most : room,
                                         set);
    if (filter->small_keys != NULL)
        note_small(filter, keys, done, seen);
    layer->keys += *set;
    return done;
}

/* In memory: test all layers but the newest, test and set in that; when it is full, grow, and go on
 * with the key that did not fit. What was seen behind it may be forgotten then, so it is looked for
 * again. */
static ptrdiff_t claim_memory(struct filter *filter, const struct key *keys, size_t n,
                              uint64_t most_new, uint8_t *seen, struct fault *fault)
{
    size_t done = 0;
    uint64_t new = 0;
    for (;;) {
        unsigned newest = filter_is_window(filter) ? filter_window_filling(filter)
                                                   : filter->count - 1;
        if (newest < filter->count) {
            uint64_t set;
            test_all_but(filter, newest, keys + done, n - done, seen + done);
            done += insert_memory(filter, &filter->layers[newest], keys + done, n - done,
                                  most_new - new, seen + done, &set);
            if (set > 0 && filter_is_window(filter))
                filter_window_settled(filter, newest);
            new += set;
            if (done == n || new == most_new)
                return (ptrdiff_t)done;
        }
        if (filter_grow(filter, fault) != 0)
            return new > 0 ? (ptrdiff_t)done : -1;
    }
}

/* The keys that were missed, to be found again by what other writers have in flight: open
 * addressing over their positions, made only if another writer has anything in flight. */
struct missed {
    const struct key *keys;
    uint8_t *seen;
    unsigned shift;
    uint32_t *table; /* position + 1, or 0 */
};

/* missed->keys and seen are set. */
static bool missed_make(struct missed *missed, size_t n)
{
    missed->shift = 60;
    while (((size_t)1 << (64 - missed->shift)) < 2 * n)
        missed->shift--;
    size_t size = (size_t)1 << (64 - missed->shift);
    missed->table = calloc(size, sizeof *missed->table);
    if (missed->table == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (missed->seen[i])
            continue;
        size_t at = (size_t)(missed->keys[i].lo >> missed->shift);
        while (missed->table[at] != 0)
            at = (at + 1) & (size - 1);
        missed->table[at] = (uint32_t)i + 1;
    }
    return true;
}

/* Equal keys of one batch are all found: the chain is followed to its end. */
static void missed_drop(struct missed *missed, struct key key)
{
    size_t size = (size_t)1 << (64 - missed->shift);
    size_t at = (size_t)(key.lo >> missed->shift);
    for (; missed->table[at] != 0; at = (at + 1) & (size - 1)) {
        size_t i = missed->table[at] - 1;
        if (missed->keys[i].lo == key.lo && missed->keys[i].hi == key.hi)
            missed->seen[i] = 1;
    }
}

/* How many keys a slot has in flight: what it says, as far as it has room. */
static uint64_t slot_count(const struct filter *filter, unsigned slot)
{
    uint64_t count = get32(filter, slot_at(slot));
    uint64_t room = slot_room(&filter->header, slot);
    return count < room ? count : room;
}

int filter_look_at_others(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                          uint64_t *total, struct fault *fault)
{
    struct missed missed = {.keys = keys, .seen = seen};
    int result = 0;
    *total = 0;
    for (unsigned slot = 0; slot < SLOTS_MAX && result == 0; slot++) {
        uint64_t count = slot_count(filter, slot);
        bool holds = get32(filter, slot_at(slot) + SLOT_HOLDS) != 0;
        if ((count == 0 && !holds) || slot == filter->slot)
            continue;
        int alive = lock_ask(filter->fd, LOCK_SLOT + slot);
        if (alive < 0)
            result = fault_errno(fault, filter->path, "cannot be locked", errno);
        if (alive <= 0)
            continue;
        /* A generation ends when so many keys are settled in it: those may never be. */
        if (!filter_is_window(filter))
            *total += count;
        if (n == 0)
            continue;
        if (holds)
            result = filter_look_into_hold(filter, slot, keys, n, seen, fault);
        if (missed.table == NULL && !missed_make(&missed, n)) {
            result = fault_errno(fault, filter->path, NULL, ENOMEM);
            break;
        }
        const uint8_t *theirs = slot_keys(filter, slot);
        for (uint64_t i = 0; i < count && result == 0; i++)
            missed_drop(&missed, load_key(theirs + i * KEY_BYTES));
    }
    free(missed.table);
    return result;
}

static struct place place_in_window(const struct filter *filter, uint64_t ahead)
{
    unsigned layer = filter_window_filling(filter);
    if (layer == filter->count)
        return (struct place){filter->count, 0};
    uint64_t keys = get64(filter, keys_at(layer)) + ahead;
    uint64_t capacity = filter->layers[layer].plan.capacity;
    return keys < capacity ? (struct place){layer, capacity - keys}
                           : (struct place){filter->count, 0};
}

/* How many keys a layer that is no stage still takes, those in its stage counted. */
static uint64_t room_in(const struct filter *filter, unsigned layer)
{
    uint64_t keys = get64(filter, keys_at(layer));
    uint64_t capacity = filter->layers[layer].plan.capacity;
    if (layer > 0)
        keys += filter_staged(filter, layer - 1);
    return keys < capacity ? capacity - keys : 0;
}

/* A layer has room for `left` keys behind `ahead` others. If it has a stage, they go there. */
static struct place place_in(const struct filter *filter, unsigned layer, uint64_t ahead,
                             uint64_t left)
{
    if (layer == 0 || !is_stage(&filter->layers[layer - 1]))
        return (struct place){layer, left};
    uint64_t keys = filter_staged(filter, layer - 1) + ahead;
    uint64_t capacity = filter->layers[layer - 1].plan.capacity;
    if (filter_stage_emptying(filter) || keys >= capacity)
        return (struct place){filter->count, 0};
    return (struct place){layer - 1, left < capacity - keys ? left : capacity - keys};
}

struct place filter_place_behind(const struct filter *filter, uint64_t ahead)
{
    uint64_t all = ahead;
    if (filter_is_window(filter))
        return place_in_window(filter, ahead);
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t room = is_stage(&filter->layers[i]) ? 0 : room_in(filter, i);
        if (ahead < room)
            return place_in(filter, i, ahead, room - ahead);
        ahead -= room;
    }
    if (filter->header.plan.fixed)
        return place_in(filter, filter->count - 1, all, UINT64_MAX);
    return (struct place){filter->count, 0};
}

/* Whether what this writer has in flight for other layers than `but` covers the key. */
static bool in_own_flight(const struct filter *filter, struct key key, unsigned but)
{
    const struct flight *flight = filter->flight;
    if (flight->count == 0)
        return false;
    for (unsigned i = flight->layer_low; i <= flight->layer_high; i++)
        if (i != but && flight_meets(flight, key, &filter->layers[i].bits) &&
            flight_covers(flight, key, i, &filter->layers[i].bits))
            return true;
    return false;
}

/* Those of the keys that this writer's lines in flight for other layers than `but` cover. That is
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
    return filter->hold != NULL ? filter->flight->room
                                : (size_t)slot_room(&filter->header, filter->slot);
}

int filter_fit_flight(struct filter *filter, size_t room, struct fault *fault)
{
    if (filter->flight->room >= room)
        return 0;
    struct flight *larger = flight_new(room);
    if (larger == NULL)
        return fault_errno(fault, filter->path, NULL, ENOMEM);
    flight_free(filter->flight);
    filter->flight = larger;
    return 0;
}

/* Under LOCK_CHANGE: other writers see what is in flight, from key `from` on. */
static void show_flight(struct filter *filter, size_t from)
{
    const struct flight *flight = filter->flight;
    if (filter->hold != NULL) {
        filter_show_held(filter, flight->keys + from, flight->count - from);
        return;
    }
    uint8_t *slot = slot_keys(filter, filter->slot);
    for (size_t i = from; i < flight->count; i++)
        store_key(slot + i * KEY_BYTES, flight->keys[i]);
    put32(filter, slot_at(filter->slot), (uint32_t)flight->count);
}

/* Under LOCK_CHANGE: takes the new ones of the keys into flight, in order, each for the layer that
 * has room after those before it. Returns how many keys were judged, and in *full whether it
 * stopped for want of a layer. */
static size_t take_new(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint64_t others, uint8_t *seen, bool *full)
{
    struct flight *flight = filter->flight;
    size_t before = flight->count, room = flight_most(filter) - before;
    size_t end = before + (most_new < room ? (size_t)most_new : room);
    size_t i = 0;
    *full = false;
    while (i < n && !*full) {
        struct place place = filter_place_behind(filter, others + flight->count);
        unsigned layer = place.layer < filter->count ? place.layer : filter->count - 1;
        uint64_t most = end - flight->count;
        if (most > place.left)
            most = place.left;
        look_at_own(filter, keys + i, n - i, layer, seen + i);
        i += flight_take(flight, keys + i, n - i, (size_t)most, layer, &filter->layers[layer].bits,
                         seen + i);
        if (flight->count == end)
            break;
        *full = i < n && place.layer == filter->count;
    }
    show_flight(filter, before);
    return i;
}

int filter_look_again(struct filter *filter, const struct key *keys, size_t n, uint64_t settled,
                      uint8_t *seen, struct fault *fault)
{
    unsigned known = filter->count;
    if (filter_refresh(filter, fault) != 0)
        return -1;
    filter->emptied = get64(filter, STAGE_EMPTIED_AT);
    if (settled_now(filter) != settled || filter->count != known)
        filter_test_layers(filter, keys, n, seen);
    return 0;
}

/* Under LOCK_CHANGE: what is still new is taken into flight. Returns how many keys were judged, or
 * -1. */
static ptrdiff_t claim_locked(struct filter *filter, const struct key *keys, size_t n,
                              uint64_t most_new, uint64_t settled, uint8_t *seen, bool *full,
                              struct fault *fault)
{
    uint64_t others;
    if (filter_look_again(filter, keys, n, settled, seen, fault) != 0 ||
        filter_look_at_others(filter, keys, n, seen, &others, fault) != 0)
        return -1;
    if (filter->flight->count == 0)
        filter->claimed_at = settled_now(filter);
    return (ptrdiff_t)take_new(filter, keys, n, most_new, others, seen, full);
}

/* Whether making room clears bits that keys were found by. */
static bool clears_bits(const struct filter *filter)
{
    return filter_is_window(filter) || filter_stage_next(filter) < filter->count;
}

static ptrdiff_t claim_file(struct filter *filter, const struct key *keys, size_t n,
                            uint64_t most_new, uint8_t *seen, struct fault *fault)
{
    for (;;) {
        if (filter_refresh(filter, fault) != 0)
            return -1;
        uint64_t settled = settled_now(filter);
        memset(seen, 0, n);
        filter_test_layers(filter, keys, n, seen);
        if (memchr(seen, 0, n) == NULL)
            return (ptrdiff_t)n;
        bool full = false;
        if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
            return -1;
        ptrdiff_t judged = claim_locked(filter, keys, n, most_new, settled, seen, &full, fault);
        lock_drop(filter->fd, LOCK_CHANGE);
        if (judged < 0 || !full || filter->flight->count > 0)
            return judged;
        /* What is before the key that finds no room is judged by what is in now. */
        if (judged > 0 && clears_bits(filter))
            return judged;
        if (filter_grow(filter, fault) != 0)
            return -1;
    }
}

ptrdiff_t filter_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault)
{
    if (filter->fd < 0)
        return claim_memory(filter, keys, n, most_new, seen, fault);
    if (filter->hold == NULL)
        return claim_file(filter, keys, n, most_new, seen, fault);
    if (n > MEMORY_BATCH)
        n = MEMORY_BATCH;
    if (filter_prepare_held(filter, n, fault) != 0)
        return -1;
    return filter_held_exactly(filter)
               ? filter_claim_exactly(filter, keys, n, most_new, seen, fault)
               : claim_file(filter, keys, n, most_new, seen, fault);
}

/* --- settling --- */

/* Under LOCK_CHANGE: sets the bits of keys in a layer, or has them gather in a stage. */
static void set_in(struct filter *filter, unsigned layer, const struct key *keys, size_t n)
{
    if (n == 0)
        return;
    if (is_stage(&filter->layers[layer])) {
        filter_stage_keys(filter, layer, keys, n);
        return;
    }
    filter_set_keys(filter, layer, keys, n);
    put64(filter, keys_at(layer), get64(filter, keys_at(layer)) + n);
    if (filter_is_window(filter))
        filter_window_settled(filter, layer);
}

/* Under LOCK_CHANGE: sets the bits of keys, each layer up to its capacity, with room left for what
 * `others` have in flight. Where there is no more room, the newest layer takes the rest if `all` are to
 * be set. Returns how many were. */
static size_t set_in_order(struct filter *filter, const struct key *keys, size_t n, uint64_t others,
                           bool all)
{
    size_t done = 0;
    while (done < n) {
        struct place place = filter_place_behind(filter, others);
        if (place.layer == filter->count && !all)
            break;
        if (place.layer == filter->count)
            place = (struct place){filter_newest(filter), UINT64_MAX};
        size_t run = place.left < n - done ? (size_t)place.left : n - done;
        set_in(filter, place.layer, keys + done, run);
        done += run;
    }
    return done;
}

/* The same for keys that were claimed, at most MEMORY_BATCH of them. A counting filter must not count
 * one twice: those are passed over that are in by now, if others have settled any since, as filter_add
 * does not ask who has a key in flight. */
static size_t set_claimed(struct filter *filter, const struct key *keys, size_t n, uint64_t others,
                          bool all)
{
    uint8_t counted[MEMORY_BATCH];
    size_t done = 0;
    bool alone = settled_now(filter) == filter->claimed_at;
    if (alone || !filter->header.plan.geometry.counting) {
        done = set_in_order(filter, keys, n, others, all);
    } else {
        memset(counted, 0, n);
        filter_test_layers(filter, keys, n, counted);
        while (done < n &&
               (counted[done] || set_in_order(filter, keys + done, 1, others, all) == 1))
            done++;
    }
    if (done > 0)
        put64(filter, COUNTER_SETTLED_AT, settled_now(filter) + 1);
    if (alone)
        filter->claimed_at = settled_now(filter);
    return done;
}

int filter_settle(struct filter *filter, size_t delivered, struct fault *fault)
{
    if (filter->hold != NULL)
        return filter_settle_batch_held(filter, delivered, fault);
    if (filter->fd < 0 || filter->flight->count == 0)
        return 0;
    /* Lines that were long in flight should not be the newest of a generation that was to end before
     * them. If the next one cannot be had they are, and that generation is forgotten late. */
    struct fault ignored;
    if (delivered > 0 && filter_is_window(filter) && filter_window_filling(filter) == filter->count)
        (void)filter_grow(filter, &ignored);
    if (filter_take_to_settle(filter, fault) != 0)
        return -1;
    /* Others may have filled what was free, and added a layer for the rest. */
    if (filter_refresh(filter, fault) != 0) {
        lock_drop(filter->fd, LOCK_CHANGE);
        return -1;
    }
    /* The claim saw to it that there is room, unless the counters were changed since, or a generation
     * has filled up. */
    set_claimed(filter, filter->flight->keys, delivered, 0, true);
    put32(filter, slot_at(filter->slot), 0);
    lock_drop(filter->fd, LOCK_CHANGE);
    flight_clear(filter->flight);
    return 0;
}

/* Under LOCK_CHANGE. Returns how many of the keys are done, 0 if there is no room, -1. */
static ptrdiff_t settle_keys_locked(struct filter *filter, const struct key *keys, size_t n,
                                    struct fault *fault)
{
    uint64_t others;
    if (filter_look_again(filter, keys, 0, settled_now(filter), NULL, fault) != 0 ||
        filter_look_at_others(filter, NULL, 0, NULL, &others, fault) != 0)
        return -1;
    return (ptrdiff_t)set_claimed(filter, keys, n, others, false);
}

uint64_t filter_settlings(const struct filter *filter)
{
    return settled_now(filter);
}

void filter_set_claimed(struct filter *filter, uint64_t settlings)
{
    filter->claimed_at = settlings;
}

int filter_settle_keys(struct filter *filter, const struct key *keys, size_t n, struct fault *fault)
{
    while (n > 0) {
        if (filter_take_to_settle(filter, fault) != 0)
            return -1;
        ptrdiff_t done = settle_keys_locked(filter, keys, n < MEMORY_BATCH ? n : MEMORY_BATCH,
                                            fault);
        lock_drop(filter->fd, LOCK_CHANGE);
        if (done < 0 || (done == 0 && filter_grow(filter, fault) != 0))
            return -1;
        keys += done;
        n -= (size_t)done;
    }
    return 0;
}

/* --- adding --- */

static bool has_stages(const struct filter *filter)
{
    for (unsigned i = 0; i < filter->count; i++)
        if (is_stage(&filter->layers[i]))
            return true;
    return false;
}

/* Under LOCK_CHANGE: what will be cleared does not vouch for a key that it only seems to have. So keys
 * that are in, but only in a stage, are set in a layer, too. Most are in the stage's journal, and are
 * counted there. (An old generation may err as well; but most keys that it has are repeats, which are not
 * to become younger.) */
static void set_past_stages(struct filter *filter, const struct key *keys, size_t n,
                            const uint8_t *in)
{
    uint8_t lasting[MEMORY_BATCH] = {0};
    unsigned layer = filter_newest(filter);
    for (unsigned i = 0; i < filter->count; i++)
        if (!is_stage(&filter->layers[i]))
            filter->kernel->test(&filter->layers[i].bits, keys, n, lasting);
        else if (filter_staged(filter, i) > 0)
            layer = i + 1;
    for (size_t i = 0; i < n; i++)
        if (in[i] && !lasting[i])
            filter_set_keys(filter, layer, &keys[i], 1);
}

/* Under LOCK_CHANGE: what is not in is taken into flight and settled at once, as far as there is room in
 * a layer that nobody has claimed. Returns how many keys are done, 0 if room has to be made, -1. */
static ptrdiff_t add_locked(struct filter *filter, const struct key *keys, size_t n,
                            uint64_t settled, uint8_t *seen, uint64_t *added, struct fault *fault)
{
    uint64_t others;
    struct flight *flight = filter->flight;
    if (filter_look_again(filter, keys, n, settled, seen, fault) != 0 ||
        filter_look_at_others(filter, NULL, 0, NULL, &others, fault) != 0)
        return -1;
    struct place place = filter_place_behind(filter, others);
    unsigned layer = place.layer < filter->count ? place.layer : 0;
    size_t most = place.left < flight->room ? (size_t)place.left : flight->room;
    size_t done = flight_take(flight, keys, n, most, layer, &filter->layers[layer].bits, seen);
    *added += flight->count;
    set_in(filter, layer, flight->keys, flight->count);
    if (flight->count > 0)
        put64(filter, COUNTER_SETTLED_AT, settled_now(filter) + 1);
    flight_clear(flight);
    if (has_stages(filter))
        set_past_stages(filter, keys, done, seen);
    return (ptrdiff_t)done;
}

/* At most MEMORY_BATCH keys. Returns how many are done, or -1. */
static ptrdiff_t add_some(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                          uint64_t *added, struct fault *fault)
{
    if (filter_refresh(filter, fault) != 0)
        return -1;
    uint64_t settled = settled_now(filter);
    memset(seen, 0, n);
    filter_test_layers(filter, keys, n, seen);
    if (memchr(seen, 0, n) == NULL && !has_stages(filter))
        return (ptrdiff_t)n;
    if (filter_take_to_settle(filter, fault) != 0)
        return -1;
    ptrdiff_t done = add_locked(filter, keys, n, settled, seen, added, fault);
    lock_drop(filter->fd, LOCK_CHANGE);
    return done == 0 && filter_grow(filter, fault) != 0 ? -1 : done;
}

int filter_add(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
               uint64_t *added, struct fault *fault)
{
    *added = 0;
    if (filter_fit_flight(filter, (size_t)slot_room(&filter->header, 0), fault) != 0)
        return -1;
    while (n > 0) {
        ptrdiff_t done = add_some(filter, keys, n < MEMORY_BATCH ? n : MEMORY_BATCH, seen, added,
                                  fault);
        if (done < 0)
            return -1;
        keys += done;
        seen += done;
        n -= (size_t)done;
    }
    return 0;
}
