/*
 * others - see others.h.
 *
 * Most runs are alone: then all slots are empty, and this costs a load a slot. Where another
 * writer has keys in flight, they are looked up in a table of our own keys that were missed so far,
 * as these are fewer than what the layers were asked for; open addressing over their positions,
 * made at the first need. Lines may come often in a batch: equal keys share a place, as a list.
 */
#include "delivery/others.h"

#include "core/salt.h"
#include "delivery/internal.h"
#include "delivery/slot.h"

#include <errno.h>
#include <stdlib.h>

struct missed {
    const struct key *keys;
    size_t n;
    uint8_t *seen;
    uint64_t salt;
    unsigned shift;
    uint32_t *table; /* position + 1, or 0 */
    uint32_t *next;  /* after the table: of the next equal key, in the same way */
};

static size_t size_of(const struct missed *missed)
{
    return (size_t)1 << (64 - missed->shift);
}

/* The place of the key, or the empty one where it would go. */
static uint32_t *find(const struct missed *missed, struct key key)
{
    size_t size = size_of(missed);
    size_t at = (size_t)(salt_key(key, missed->salt) >> missed->shift);
    for (; missed->table[at] != 0; at = (at + 1) & (size - 1)) {
        struct key there = missed->keys[missed->table[at] - 1];
        if (there.lo == key.lo && there.hi == key.hi)
            break;
    }
    return &missed->table[at];
}

/* Does nothing once it is made. Returns false if memory is short. */
static bool make_table(struct missed *missed)
{
    if (missed->table != NULL)
        return true;
    missed->shift = 60;
    while (size_of(missed) < 2 * missed->n)
        missed->shift--;
    missed->table = calloc(size_of(missed) + missed->n, sizeof *missed->table);
    if (missed->table == NULL)
        return false;
    missed->next = missed->table + size_of(missed);
    for (size_t i = 0; i < missed->n; i++) {
        if (missed->seen[i])
            continue;
        uint32_t *place = find(missed, missed->keys[i]);
        missed->next[i] = *place;
        *place = (uint32_t)i + 1;
    }
    return true;
}

static void mark(const struct missed *missed, struct key key)
{
    for (uint32_t i = *find(missed, key); i != 0; i = missed->next[i - 1])
        missed->seen[i - 1] = 1;
}

/* The key set of a slot as it is now: attached anew when its owner has begun another. */
static struct key_set *attached(struct filter *filter, unsigned slot, struct fault *fault)
{
    char path[BESIDE_MAX];
    uint64_t mark = slot_set_mark(filter->store, slot);
    if (filter->attached[slot] == NULL || filter->attached_mark[slot] != mark) {
        key_set_free(filter->attached[slot]);
        slot_set_path(filter->store, slot, path);
        filter->attached[slot] = key_set_attach(path, filter->store->file.fd, mark, fault);
        filter->attached_mark[slot] = mark;
    } else if (key_set_refresh(filter->attached[slot], fault) != 0) {
        return NULL;
    }
    return filter->attached[slot];
}

static int look_into_set(struct filter *filter, unsigned slot, struct missed *missed,
                         struct fault *fault)
{
    const struct key_set *set = attached(filter, slot, fault);
    if (set == NULL)
        return -1;
    key_set_look(set, missed->keys, missed->n, missed->seen);
    return 0;
}

static int look_into_slot(struct filter *filter, unsigned slot, struct missed *missed,
                          struct fault *fault)
{
    uint64_t count = slot_count(filter->store, slot);
    if (slot_has_set(filter->store, slot) && look_into_set(filter, slot, missed, fault) != 0)
        return -1;
    if (count > 0 && !make_table(missed))
        return fault_errno(fault, store_path(filter->store), NULL, ENOMEM);
    for (uint64_t i = 0; i < count; i++)
        mark(missed, slot_key(filter->store, slot, i));
    return 0;
}

int others_look(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                uint64_t *total, struct fault *fault)
{
    const struct store *store = filter->store;
    struct missed missed = {.keys = keys, .n = n, .salt = filter->flight->salt};
    missed.seen = seen;
    int result = 0;
    *total = 0;
    for (unsigned slot = 0; slot < SLOTS_MAX && result >= 0; slot++) {
        if (slot == filter->slot || slot_is_empty(store, slot))
            continue;
        result = slot_lives(filter, slot, fault);
        /* A generation ends when so many keys are settled in it: those may never be. */
        if (result > 0 && !is_window(store))
            *total += slot_count(store, slot);
        if (result > 0 && n > 0)
            result = look_into_slot(filter, slot, &missed, fault);
    }
    free(missed.table);
    return result < 0 ? -1 : 0;
}

void others_free(struct filter *filter)
{
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++)
        key_set_free(filter->attached[slot]);
}
