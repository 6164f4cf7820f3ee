/*
 * filter_hold - lines in flight for longer than a batch; see filter.h.
 *
 * The keys are in a set: an exact set in the file FILTER.flight-SLOT, beside the file that FILTER
 * really is, with its mode. Its slot in the filter says that it is there. When its owner dies, the
 * slot's lock is free, so nobody looks into it any more, and the slot's next owner removes it. If it
 * cannot, because the file is another user's and the directory sticky, it takes another slot.
 *
 * What comes out must not depend on when keys are settled. So keys in flight are judged either as if
 * their bits were set, as in a batch (HOLD_AS_SET): they are in the flight, too, which bounds how many
 * there can be. Or exactly (HOLD_EXACTLY), any number of them, and then until the end of the run.
 */
#include "store/internal.h"
#include "system/beside.h"
#include "system/lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct hold {
    struct key_set *set;
    bool exactly;
    size_t last_count; /* keys that the last claim took into flight */
    struct key last[MEMORY_BATCH];
};

enum { AS_SET_LEAST = 4096, AS_SET_MOST = 32768 };

/* How many keys to hold as if set. Each looks at those on its page: there are four on average, or
 * so few in all that looking takes no longer than the flush that follows. */
static size_t as_set_room(const struct filter *filter)
{
    uint64_t keys = filter->layers[filter->count - 1].plan.pages * 4;
    return keys < AS_SET_LEAST ? AS_SET_LEAST : keys > AS_SET_MOST ? AS_SET_MOST : (size_t)keys;
}

/* The file of a slot. */
static void key_set_path(const struct filter *filter, unsigned slot, char path[BESIDE_MAX])
{
    char suffix[20];
    snprintf(suffix, sizeof suffix, ".flight-%u", slot);
    beside_name(filter->path, suffix, path);
}

static uint64_t new_mark(const struct filter *filter)
{
    uint64_t mark = 0;
    if (getrandom(&mark, sizeof mark, GRND_NONBLOCK) < 0)
        mark = get64(filter, slot_at(filter->slot) + SLOT_MARK) + 1;
    return mark;
}

void filter_forget_hold(struct filter *filter)
{
    char path[BESIDE_MAX];
    if (get32(filter, slot_at(filter->slot) + SLOT_HOLDS) == 0)
        return;
    put32(filter, slot_at(filter->slot) + SLOT_HOLDS, 0);
    key_set_path(filter, filter->slot, path);
    unlink(path);
}

/* A set beside the filter. Where another user's is in the way, that of the next free slot. */
static struct key_set *key_set_beside(struct filter *filter, uint64_t mark, struct fault *fault)
{
    char path[BESIDE_MAX];
    struct key_set *set;
    do {
        key_set_path(filter, filter->slot, path);
        set = key_set_new(path, filter->fd, mark, fault);
    } while (set == NULL && fault->error == EEXIST && filter_change_slot(filter, fault) == 0);
    return set;
}

static int hold_for_others(struct filter *filter, struct fault *fault)
{
    uint64_t mark = new_mark(filter);
    filter->hold->set = key_set_beside(filter, mark, fault);
    if (filter->hold->set == NULL)
        return -1;
    if (filter->hold->exactly && key_set_keep_order(filter->hold->set, fault) != 0)
        return -1;
    if (!filter->hold->exactly && filter_fit_flight(filter, as_set_room(filter), fault) != 0)
        return -1;
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    filter->claimed_at = get64(filter, COUNTER_SETTLED_AT);
    put64(filter, slot_at(filter->slot) + SLOT_MARK, mark);
    put32(filter, slot_at(filter->slot) + SLOT_HOLDS, 1);
    lock_drop(filter->fd, LOCK_CHANGE);
    return 0;
}

int filter_hold(struct filter *filter, enum hold_kind kind, const char *beside, struct fault *fault)
{
    filter->hold = calloc(1, sizeof *filter->hold);
    if (filter->hold == NULL)
        return fault_errno(fault, filter->path, NULL, ENOMEM);
    filter->hold->exactly = kind == HOLD_EXACTLY;
    if (filter->write)
        return hold_for_others(filter, fault);
    filter->hold->set = key_set_nameless(beside, fault);
    return filter->hold->set != NULL ? 0 : -1;
}

void filter_hold_free(struct filter *filter)
{
    struct fault ignored;
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++)
        key_set_free(filter->attached[slot]);
    if (filter->hold == NULL || filter->hold->set == NULL) {
        free(filter->hold);
        filter->hold = NULL;
        return;
    }
    /* Nobody may look for the file once it is gone. If the lock cannot be had, the file stays, for
     * the slot's next owner to remove. */
    if (filter->write && filter_take_lock(filter, LOCK_CHANGE, &ignored) == 0) {
        put32(filter, slot_at(filter->slot) + SLOT_HOLDS, 0);
        lock_drop(filter->fd, LOCK_CHANGE);
    } else if (filter->write) {
        key_set_leave(filter->hold->set);
    }
    key_set_free(filter->hold->set);
    free(filter->hold);
    filter->hold = NULL;
}

uint64_t filter_held(const struct filter *filter)
{
    return filter->hold != NULL ? key_set_count(filter->hold->set) : 0;
}

void filter_drop_held(struct filter *filter, uint64_t n)
{
    key_set_drop_noted(filter->hold->set, n);
}

/* --- others' --- */

/* The set of a slot as it is now: attached anew when its owner has begun another. */
static struct key_set *attached(struct filter *filter, unsigned slot, struct fault *fault)
{
    char path[BESIDE_MAX];
    uint64_t mark = get64(filter, slot_at(slot) + SLOT_MARK);
    if (filter->attached[slot] == NULL || filter->attached_mark[slot] != mark) {
        key_set_free(filter->attached[slot]);
        key_set_path(filter, slot, path);
        filter->attached[slot] = key_set_attach(path, mark, fault);
        filter->attached_mark[slot] = mark;
    } else if (key_set_refresh(filter->attached[slot], fault) != 0) {
        return NULL;
    }
    return filter->attached[slot];
}

int filter_look_into_hold(struct filter *filter, unsigned slot, const struct key *keys, size_t n,
                          uint8_t *seen, struct fault *fault)
{
    const struct key_set *set = attached(filter, slot, fault);
    if (set == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!seen[i] && key_set_has(set, keys[i]))
            seen[i] = 1;
    return 0;
}

/* --- claiming --- */

bool filter_held_exactly(const struct filter *filter)
{
    return filter->hold->exactly;
}

int filter_prepare_held(struct filter *filter, size_t n, struct fault *fault)
{
    filter->hold->last_count = 0;
    return key_set_reserve(filter->hold->set, n, fault);
}

void filter_show_held(struct filter *filter, const struct key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        key_set_add(filter->hold->set, keys[i]);
    filter->hold->last_count = n;
}

static size_t take_new(struct hold *hold, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen)
{
    for (size_t i = 0; i < n; i++) {
        if (seen[i])
            continue;
        if (hold->last_count == most_new) {
            if (!key_set_has(hold->set, keys[i]))
                return i;
            seen[i] = 1;
        } else if (key_set_add(hold->set, keys[i])) {
            hold->last[hold->last_count++] = keys[i];
        } else {
            seen[i] = 1;
        }
    }
    return n;
}

/* Under LOCK_CHANGE. Returns as filter_claim. */
static ptrdiff_t claim_locked(struct filter *filter, const struct key *keys, size_t n,
                              uint64_t most_new, uint64_t settled, uint8_t *seen,
                              struct fault *fault)
{
    uint64_t others;
    if (filter_look_again(filter, keys, n, settled, seen, fault) != 0 ||
        filter_look_at_others(filter, keys, n, seen, &others, fault) != 0)
        return -1;
    return (ptrdiff_t)take_new(filter->hold, keys, n, most_new, seen);
}

ptrdiff_t filter_claim_exactly(struct filter *filter, const struct key *keys, size_t n,
                               uint64_t most_new, uint8_t *seen, struct fault *fault)
{
    struct hold *hold = filter->hold;
    if (filter_refresh(filter, fault) != 0)
        return -1;
    uint64_t settled = get64(filter, COUNTER_SETTLED_AT);
    memset(seen, 0, n);
    filter_test_layers(filter, keys, n, seen);
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            seen[i] = key_set_has(hold->set, keys[i]);
    if (memchr(seen, 0, n) == NULL)
        return (ptrdiff_t)n;
    if (!filter->write)
        return (ptrdiff_t)take_new(hold, keys, n, most_new, seen);
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    ptrdiff_t judged = claim_locked(filter, keys, n, most_new, settled, seen, fault);
    lock_drop(filter->fd, LOCK_CHANGE);
    return judged;
}

/* --- settling --- */

/* The keys of the last claim. */
static const struct key *last_keys(const struct filter *filter)
{
    const struct hold *hold = filter->hold;
    const struct flight *flight = filter->flight;
    return hold->exactly ? hold->last : flight->keys + flight->count - hold->last_count;
}

int filter_settle_batch_held(struct filter *filter, size_t delivered, struct fault *fault)
{
    struct hold *hold = filter->hold;
    const struct key *last = last_keys(filter);
    size_t kept = delivered < hold->last_count ? delivered : hold->last_count;
    if (key_set_note(hold->set, last, kept, fault) != 0)
        return -1;
    if (kept == hold->last_count)
        return 0;
    /* Without the lock, too: what was not delivered must not be settled with the rest. Others may then
     * see half a key, which is nobody's. */
    bool locked = filter->write && filter_take_lock(filter, LOCK_CHANGE, fault) == 0;
    for (size_t i = kept; i < hold->last_count; i++)
        key_set_remove(hold->set, last[i]);
    if (locked)
        lock_drop(filter->fd, LOCK_CHANGE);
    if (!hold->exactly)
        flight_drop_last(filter->flight, hold->last_count - kept);
    hold->last_count = kept;
    return locked || !filter->write ? 0 : -1;
}

static int settle_exactly(struct filter *filter, struct fault *fault)
{
    struct hold *hold = filter->hold;
    uint64_t at = 0;
    ptrdiff_t n;
    while ((n = key_set_next(hold->set, &at, hold->last, MEMORY_BATCH, fault)) > 0)
        if (filter_settle_keys(filter, hold->last, (size_t)n, fault) != 0)
            return -1;
    return (int)n;
}

/* What is in flight is settled whatever is in by now: it was claimed, and what it is found in may be
 * cleared. */
int filter_settle_held(struct filter *filter, struct fault *fault)
{
    struct hold *hold = filter->hold;
    struct flight *flight = filter->flight;
    if (key_set_count(hold->set) == 0)
        return 0;
    hold->last_count = 0;
    if (hold->exactly ? settle_exactly(filter, fault) != 0
                      : filter_settle_keys(filter, flight->keys, flight->count, fault) != 0)
        return -1;
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    key_set_clear(hold->set);
    lock_drop(filter->fd, LOCK_CHANGE);
    flight_clear(flight);
    /* The newest layer may be a larger one now. */
    return hold->exactly ? 0 : filter_fit_flight(filter, as_set_room(filter), fault);
}
