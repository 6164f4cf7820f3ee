/*
 * filter_hold - lines in flight for longer than a batch; see filter.h.
 *
 * The keys are in a spill: an exact set in the file FILTER.flight-SLOT, beside the file that FILTER
 * really is. Its slot in the filter says that it is there. When its owner dies, the slot's lock is
 * free, so nobody looks into it any more, and the slot's next owner removes it.
 */
#include "file/beside.h"
#include "file/filter_internal.h"
#include "file/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct hold {
    struct spill *spill;
    size_t last_count; /* keys that the last claim took into flight */
    struct key last[MEMORY_BATCH];
};

/* The file of a slot. */
static void spill_path(const struct filter *filter, unsigned slot, char path[BESIDE_MAX])
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
    spill_path(filter, filter->slot, path);
    unlink(path);
}

int filter_hold(struct filter *filter, const char *beside, struct fault *fault)
{
    char path[BESIDE_MAX];
    struct hold *hold = calloc(1, sizeof *hold);
    if (hold == NULL)
        return fault_set(fault, filter->path, "out of memory");
    spill_path(filter, filter->slot, path);
    uint64_t mark = new_mark(filter);
    hold->spill = filter->write ? spill_new(path, mark, fault) : spill_nameless(beside, fault);
    if (hold->spill == NULL) {
        free(hold);
        return -1;
    }
    filter->hold = hold;
    if (!filter->write)
        return 0;
    if (filter_is_window(filter) && spill_keep_order(hold->spill, fault) != 0)
        return -1;
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    put64(filter, slot_at(filter->slot) + SLOT_MARK, mark);
    put32(filter, slot_at(filter->slot) + SLOT_HOLDS, 1);
    lock_drop(filter->fd, LOCK_CHANGE);
    return 0;
}

void filter_hold_free(struct filter *filter)
{
    struct fault ignored;
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++)
        spill_free(filter->attached[slot]);
    if (filter->hold == NULL)
        return;
    /* Nobody may look for the file once it is gone. If the lock cannot be had, the file stays, for
     * the slot's next owner to remove. */
    if (filter->write && filter_take_lock(filter, LOCK_CHANGE, &ignored) == 0) {
        put32(filter, slot_at(filter->slot) + SLOT_HOLDS, 0);
        lock_drop(filter->fd, LOCK_CHANGE);
    } else if (filter->write) {
        spill_leave(filter->hold->spill);
    }
    spill_free(filter->hold->spill);
    free(filter->hold);
    filter->hold = NULL;
}

uint64_t filter_held(const struct filter *filter)
{
    return filter->hold != NULL ? spill_count(filter->hold->spill) : 0;
}

int filter_hold_in_order(struct filter *filter, struct fault *fault)
{
    return filter_is_window(filter) ? 0 : spill_keep_order(filter->hold->spill, fault);
}

void filter_drop_held(struct filter *filter, uint64_t n)
{
    spill_drop_noted(filter->hold->spill, n);
}

/* --- others' --- */

/* The spill of a slot as it is now: attached anew when its owner has begun another. */
static struct spill *attached(struct filter *filter, unsigned slot, struct fault *fault)
{
    char path[BESIDE_MAX];
    uint64_t mark = get64(filter, slot_at(slot) + SLOT_MARK);
    if (filter->attached[slot] == NULL || filter->attached_mark[slot] != mark) {
        spill_free(filter->attached[slot]);
        spill_path(filter, slot, path);
        filter->attached[slot] = spill_attach(path, mark, fault);
        filter->attached_mark[slot] = mark;
    } else if (spill_refresh(filter->attached[slot], fault) != 0) {
        return NULL;
    }
    return filter->attached[slot];
}

int filter_look_into_hold(struct filter *filter, unsigned slot, const struct key *keys, size_t n,
                          uint8_t *seen, struct fault *fault)
{
    const struct spill *spill = attached(filter, slot, fault);
    if (spill == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!seen[i] && spill_has(spill, keys[i]))
            seen[i] = 1;
    return 0;
}

/* --- claiming --- */

static size_t take_new(struct hold *hold, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen)
{
    hold->last_count = 0;
    for (size_t i = 0; i < n; i++) {
        if (seen[i])
            continue;
        if (hold->last_count == most_new) {
            if (!spill_has(hold->spill, keys[i]))
                return i;
            seen[i] = 1;
        } else if (spill_add(hold->spill, keys[i])) {
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

ptrdiff_t filter_claim_held(struct filter *filter, const struct key *keys, size_t n,
                            uint64_t most_new, uint8_t *seen, struct fault *fault)
{
    struct hold *hold = filter->hold;
    hold->last_count = 0;
    if (n > MEMORY_BATCH)
        n = MEMORY_BATCH;
    if (filter_refresh(filter, fault) != 0)
        return -1;
    uint64_t settled = get64(filter, COUNTER_SETTLED_AT);
    memset(seen, 0, n);
    filter_test_layers(filter, keys, n, seen, 0);
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            seen[i] = spill_has(hold->spill, keys[i]);
    if (memchr(seen, 0, n) == NULL)
        return (ptrdiff_t)n;
    if (spill_reserve(hold->spill, n, fault) != 0)
        return -1;
    if (!filter->write)
        return (ptrdiff_t)take_new(hold, keys, n, most_new, seen);
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    ptrdiff_t judged = claim_locked(filter, keys, n, most_new, settled, seen, fault);
    lock_drop(filter->fd, LOCK_CHANGE);
    return judged;
}

int filter_settle_batch_held(struct filter *filter, size_t delivered, struct fault *fault)
{
    struct hold *hold = filter->hold;
    size_t kept = delivered < hold->last_count ? delivered : hold->last_count;
    if (spill_note(hold->spill, hold->last, kept, fault) != 0)
        return -1;
    if (kept == hold->last_count)
        return 0;
    /* Without the lock, too: what was not delivered must not be settled with the rest. Others may then
     * see half a key, which is nobody's. */
    bool locked = filter->write && filter_take_lock(filter, LOCK_CHANGE, fault) == 0;
    while (hold->last_count > delivered)
        spill_remove(hold->spill, hold->last[--hold->last_count]);
    if (locked)
        lock_drop(filter->fd, LOCK_CHANGE);
    return locked || !filter->write ? 0 : -1;
}

int filter_settle_held(struct filter *filter, struct fault *fault)
{
    struct hold *hold = filter->hold;
    uint8_t seen[MEMORY_BATCH];
    uint64_t at = 0, added;
    ptrdiff_t n;
    if (spill_count(hold->spill) == 0)
        return 0;
    while ((n = spill_next(hold->spill, &at, hold->last, MEMORY_BATCH, fault)) > 0)
        if (filter_add(filter, hold->last, (size_t)n, seen, &added, fault) != 0)
            return -1;
    if (n < 0)
        return -1;
    hold->last_count = 0;
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    spill_clear(hold->spill);
    lock_drop(filter->fd, LOCK_CHANGE);
    return 0;
}
