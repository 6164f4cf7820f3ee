/*
 * hold - see hold.h.
 *
 * The keys are in a key set, the file FILTER.flight-SLOT, beside the file that FILTER really is,
 * with its mode. The slot says that it is there. When its owner dies, the slot's lock is free, so
 * nobody looks into it any more, and the slot's next owner removes it. If it cannot, because the
 * file is another user's and the directory sticky, it takes another slot.
 *
 * What comes out must not depend on when keys are settled. So keys in flight are judged either as
 * if their bits were set, as in a batch (HOLD_AS_SET): they are in the flight, too, which bounds
 * how many there can be. Or exactly (HOLD_EXACTLY), any number of them, until the run ends.
 */
#include "delivery/hold.h"

#include "delivery/claim.h"
#include "delivery/internal.h"
#include "delivery/others.h"
#include "delivery/slot.h"
#include "store/key_file.h"
#include "store/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hold {
    bool exactly;
    struct key_set *set;
    struct key_set *owed;  /* of a retry: what has not come yet; NULL: none ever was */
    struct key_file order; /* exactly, to be settled: the keys that were delivered; else fd -1 */
    uint64_t ordered;      /* how many these are */
    size_t last_count;     /* keys that the last claim took into flight */
    struct key last[BATCH_KEYS]; /* exactly: these */
};

enum { AS_SET_LEAST = 4096, AS_SET_MOST = 32768 };

/* How many keys to hold as if set. Each looks at those on its page: there are four on average, or
 * so few in all that looking takes no longer than the flush that follows. */
static size_t as_set_room(const struct store *store)
{
    uint64_t keys = store->layers[store->count - 1].region.plan.pages * 4;
    return keys < AS_SET_LEAST ? AS_SET_LEAST : keys > AS_SET_MOST ? AS_SET_MOST : (size_t)keys;
}

static bool is_written(const struct filter *filter)
{
    return filter->flight != NULL;
}

/* --- its life --- */

/* A key set beside the filter. Where another user's is in the way, that of the next free slot. */
static struct key_set *set_beside(struct filter *filter, struct fault *fault)
{
    char path[BESIDE_MAX];
    struct key_set *set;
    do {
        slot_set_path(filter->store, filter->slot, path);
        set = key_set_new(path, filter->store->file.fd, fault);
    } while (set == NULL && fault->error == EEXIST && slot_change(filter, fault) == 0);
    return set;
}

static int fault_file(const struct hold *hold, const char *doing, struct fault *fault)
{
    return fault_errno(fault, key_set_path(hold->set), doing, errno);
}

static int hold_for_others(struct filter *filter, struct fault *fault)
{
    struct hold *hold = filter->hold;
    hold->set = set_beside(filter, fault);
    if (hold->set == NULL)
        return -1;
    if (hold->exactly) {
        hold->order.fd = beside_nameless(key_set_path(hold->set));
        if (hold->order.fd < 0)
            return fault_file(hold, "lines in flight need a file beside the filter", fault);
    } else if (claim_fit_flight(filter, as_set_room(filter->store), fault) != 0) {
        return -1;
    }
    if (store_lock(filter->store, fault) != 0)
        return -1;
    filter->claimed_at = store_settlings(filter->store);
    filter->set = hold->set;
    slot_note_set(filter, key_set_mark(hold->set));
    store_unlock(filter->store);
    return 0;
}

int filter_hold(struct filter *filter, enum hold_kind kind, const char *beside, struct fault *fault)
{
    filter->hold = calloc(1, sizeof *filter->hold);
    if (filter->hold == NULL)
        return fault_errno(fault, store_path(filter->store), NULL, ENOMEM);
    filter->hold->exactly = kind == HOLD_EXACTLY;
    filter->hold->order.fd = -1;
    if (is_written(filter))
        return hold_for_others(filter, fault);
    filter->hold->set = key_set_nameless(beside, fault);
    return filter->hold->set != NULL ? 0 : -1;
}

void hold_free(struct filter *filter)
{
    struct fault ignored;
    struct hold *hold = filter->hold;
    if (hold == NULL)
        return;
    /* Nobody may look for the file once it is gone. If the lock cannot be had, the file stays, for
     * the slot's next owner to remove. */
    if (filter->set != NULL && store_lock(filter->store, &ignored) == 0) {
        slot_drop_set(filter);
        store_unlock(filter->store);
    } else if (filter->set != NULL) {
        key_set_leave(filter->set);
    }
    key_set_free(hold->set);
    key_set_free(hold->owed);
    if (hold->order.fd >= 0)
        close(hold->order.fd);
    free(hold);
    filter->set = NULL;
    filter->hold = NULL;
}

int filter_expect(struct filter *filter, uint64_t n, struct fault *fault)
{
    struct hold *hold = filter->hold;
    hold->owed = key_set_nameless(key_set_path(hold->set), fault);
    if (hold->owed == NULL || key_set_reserve(hold->owed, n, fault) != 0)
        return -1;
    return key_set_reserve(hold->set, n, fault);
}

void filter_owe(struct filter *filter, const struct key *keys, size_t n)
{
    uint8_t ignored[BATCH_KEYS] = {0};
    key_set_look(filter->hold->owed, keys, n, ignored);
    for (size_t i = 0; i < n; i++)
        key_set_add(filter->hold->owed, keys[i]);
}

uint64_t filter_owed(const struct filter *filter)
{
    const struct hold *hold = filter->hold;
    return hold->owed != NULL ? key_set_count(hold->owed) : 0;
}

uint64_t filter_held(const struct filter *filter)
{
    return filter->hold != NULL ? key_set_count(filter->hold->set) : 0;
}

void filter_drop_held(struct filter *filter, uint64_t n)
{
    struct hold *hold = filter->hold;
    hold->ordered -= n < hold->ordered ? n : hold->ordered;
}

/* --- claiming --- */

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
            if (hold->owed != NULL)
                key_set_remove(hold->owed, keys[i]);
        } else {
            seen[i] = 1;
        }
    }
    return n;
}

/* What is owed is as new as it was, whatever the layers say by now. At most BATCH_KEYS keys. */
static void look_for_owed(const struct hold *hold, const struct key *keys, size_t n, uint8_t *seen)
{
    uint8_t owed[BATCH_KEYS] = {0};
    if (hold->owed == NULL)
        return;
    key_set_look(hold->owed, keys, n, owed);
    for (size_t i = 0; i < n; i++)
        seen[i] &= !owed[i];
}

static ptrdiff_t claim_exactly(struct filter *filter, const struct key *keys, size_t n,
                               uint64_t most_new, uint8_t *seen, struct fault *fault)
{
    struct hold *hold = filter->hold;
    uint64_t others, settled = store_settlings(filter->store);
    if (probe(filter->store, keys, n, seen, fault) != 0)
        return -1;
    look_for_owed(hold, keys, n, seen);
    key_set_look(hold->set, keys, n, seen);
    if (memchr(seen, 0, n) == NULL)
        return (ptrdiff_t)n;
    if (!is_written(filter))
        return (ptrdiff_t)take_new(hold, keys, n, most_new, seen);
    if (store_lock(filter->store, fault) != 0)
        return -1;
    claim_look_again(filter, keys, n, settled, seen);
    bool looked = others_look(filter, keys, n, seen, &others, fault) == 0;
    ptrdiff_t judged = looked ? (ptrdiff_t)take_new(hold, keys, n, most_new, seen) : -1;
    store_unlock(filter->store);
    return judged;
}

ptrdiff_t hold_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                     uint8_t *seen, struct fault *fault)
{
    struct hold *hold = filter->hold;
    if (n > BATCH_KEYS)
        n = BATCH_KEYS;
    hold->last_count = 0;
    if (key_set_reserve(hold->set, n, fault) != 0)
        return -1;
    if (hold->exactly)
        return claim_exactly(filter, keys, n, most_new, seen, fault);
    size_t before = filter->flight->count;
    ptrdiff_t judged = claim_batch(filter, keys, n, most_new, seen, fault);
    hold->last_count = filter->flight->count - before;
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

int hold_keep(struct filter *filter, size_t delivered, struct fault *fault)
{
    struct hold *hold = filter->hold;
    const struct key *last = last_keys(filter);
    size_t kept = delivered < hold->last_count ? delivered : hold->last_count;
    if (hold->order.fd >= 0 && !key_file_write(hold->order, hold->ordered, last, kept))
        return fault_file(hold, "the file of lines in flight cannot grow", fault);
    hold->ordered += kept;
    if (kept == hold->last_count)
        return 0;
    /* Without the lock, too: as long as this run lives, others take what is in the set for seen.
     * They may then see half a key, which is nobody's. */
    filter->store->settling = true;
    bool locked = is_written(filter) && store_lock(filter->store, fault) == 0;
    filter->store->settling = false;
    for (size_t i = kept; i < hold->last_count; i++)
        key_set_remove(hold->set, last[i]);
    if (locked)
        store_unlock(filter->store);
    if (!hold->exactly)
        flight_drop_last(filter->flight, hold->last_count - kept);
    hold->last_count = kept;
    return locked || !is_written(filter) ? 0 : -1;
}

static int settle_exactly(struct filter *filter, struct fault *fault)
{
    struct hold *hold = filter->hold;
    size_t n;
    for (uint64_t done = 0; done < hold->ordered; done += n) {
        uint64_t left = hold->ordered - done;
        n = left < BATCH_KEYS ? (size_t)left : BATCH_KEYS;
        if (!key_file_read(hold->order, done, hold->last, n))
            return fault_file(hold, "the file of lines in flight cannot be read", fault);
        if (filter_settle_keys(filter, hold->last, n, fault) != 0)
            return -1;
    }
    return 0;
}

/* What is in flight is settled whatever is in by now: it was claimed, and what it is found in may
 * be cleared. */
static int settle_held(struct filter *filter, struct fault *fault)
{
    struct hold *hold = filter->hold;
    struct flight *flight = filter->flight;
    hold->last_count = 0;
    if (hold->exactly ? settle_exactly(filter, fault) != 0
                      : filter_settle_keys(filter, flight->keys, flight->count, fault) != 0)
        return -1;
    if (store_lock(filter->store, fault) != 0)
        return -1;
    key_set_clear(hold->set);
    hold->ordered = 0;
    store_unlock(filter->store);
    flight_clear(flight);
    /* The newest layer may be a larger one now. */
    return hold->exactly ? 0 : claim_fit_flight(filter, as_set_room(filter->store), fault);
}

int filter_settle_held(struct filter *filter, struct fault *fault)
{
    if (key_set_count(filter->hold->set) == 0)
        return 0;
    filter->store->settling = true;
    int result = settle_held(filter, fault);
    filter->store->settling = false;
    return result;
}
