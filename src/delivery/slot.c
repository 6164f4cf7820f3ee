#include "delivery/slot.h"

#include "delivery/internal.h"
#include "system/lock.h"
#include "system/signals.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* --- what is in it --- */

static uint8_t *keys_of(const struct store *store, unsigned slot)
{
    return store->fixed + FLIGHT_AT + slot_first(store->header.flight_keys, slot) * KEY_BYTES;
}

size_t slot_size(const struct filter *filter)
{
    return (size_t)slot_room(filter->store->header.flight_keys, filter->slot);
}

uint64_t slot_count(const struct store *store, unsigned slot)
{
    uint64_t count = get32(store, slot_at(slot));
    uint64_t room = slot_room(store->header.flight_keys, slot);
    return count < room ? count : room;
}

struct key slot_key(const struct store *store, unsigned slot, uint64_t i)
{
    return load_key(keys_of(store, slot) + i * KEY_BYTES);
}

void slot_show(struct filter *filter, size_t from)
{
    const struct flight *flight = filter->flight;
    if (filter->set != NULL) {
        for (size_t i = from; i < flight->count; i++)
            key_set_add(filter->set, flight->keys[i]);
        return;
    }
    uint8_t *keys = keys_of(filter->store, filter->slot);
    for (size_t i = from; i < flight->count; i++)
        store_key(keys + i * KEY_BYTES, flight->keys[i]);
    put32(filter->store, slot_at(filter->slot), (uint32_t)flight->count);
}

void slot_clear(struct filter *filter)
{
    put32(filter->store, slot_at(filter->slot), 0);
}

uint64_t slot_keys(const struct store *store, unsigned slot, bool *alive, bool *has_set)
{
    *alive = lock_is_held(store->file.fd, LOCK_SLOT + slot);
    *has_set = slot_has_set(store, slot);
    return get32(store, slot_at(slot));
}

/* --- its key set --- */

void slot_set_path(const struct store *store, unsigned slot, char path[BESIDE_MAX])
{
    snprintf(path, BESIDE_MAX, "%s.flight-%u", store_real_path(store), slot);
}

bool slot_has_set(const struct store *store, unsigned slot)
{
    return get32(store, slot_at(slot) + SLOT_HOLDS) != 0;
}

uint64_t slot_set_mark(const struct store *store, unsigned slot)
{
    return get64(store, slot_at(slot) + SLOT_MARK);
}

void slot_note_set(struct filter *filter, uint64_t mark)
{
    put64(filter->store, slot_at(filter->slot) + SLOT_MARK, mark);
    put32(filter->store, slot_at(filter->slot) + SLOT_HOLDS, 1);
}

void slot_drop_set(struct filter *filter)
{
    put32(filter->store, slot_at(filter->slot) + SLOT_HOLDS, 0);
}

/* --- whose it is --- */

int slot_lives(const struct filter *filter, unsigned slot, struct fault *fault)
{
    int held = lock_ask(filter->store->file.fd, LOCK_SLOT + slot);
    return held < 0 ? fault_errno(fault, store_path(filter->store), "cannot be locked", errno)
                    : held;
}

/* The first free slot from `from` on. Returns 1, 0 if there is none, -1. */
static int take_free(struct filter *filter, unsigned from, struct fault *fault)
{
    for (unsigned slot = from; slot < SLOTS_MAX; slot++) {
        int got = lock_try(filter->store->file.fd, LOCK_SLOT + slot);
        if (got < 0)
            return fault_errno(fault, store_path(filter->store), "cannot be locked", errno);
        if (got > 0) {
            filter->slot = slot;
            return 1;
        }
    }
    return 0;
}

/* What a dead owner left. */
static void empty(struct filter *filter)
{
    char path[BESIDE_MAX];
    if (slot_has_set(filter->store, filter->slot)) {
        slot_drop_set(filter);
        slot_set_path(filter->store, filter->slot, path);
        unlink(path);
    }
    if (get32(filter->store, slot_at(filter->slot)) != 0)
        slot_clear(filter);
}

/* What a dead owner left would mean something again under a living one: so both happen under
 * LOCK_CHANGE, the taking and the emptying. */
static int take_empty(struct filter *filter, unsigned from, struct fault *fault)
{
    if (store_lock(filter->store, fault) != 0)
        return -1;
    int taken = take_free(filter, from, fault);
    if (taken > 0)
        empty(filter);
    store_unlock(filter->store);
    return taken;
}

int slot_take(struct filter *filter, struct fault *fault)
{
    struct timespec doze = {0, 10000000};
    for (unsigned round = 0;; round++) {
        int taken = take_empty(filter, 0, fault);
        if (taken != 0)
            return taken > 0 ? 0 : -1;
        if (round == 500)
            store_tell_waiting(filter->store, false);
        if (nanosleep(&doze, NULL) != 0 && signals_pending())
            return fault_errno(fault, store_path(filter->store), "cannot be locked", errno);
    }
}

int slot_change(struct filter *filter, struct fault *fault)
{
    unsigned before = filter->slot;
    int taken = take_empty(filter, before + 1, fault);
    if (taken <= 0) /* the others are taken by who will end */
        return taken == 0 ? fault_may_pass(fault) : -1;
    lock_let_go(filter->store->file.fd, LOCK_SLOT + before);
    return 0;
}
