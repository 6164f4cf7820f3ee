/*
 * filter - see filter.h. Whether it is in memory, in a file, or holds its keys is asked here, and
 * nowhere below.
 */
#include "delivery/filter.h"

#include "delivery/claim.h"
#include "delivery/hold.h"
#include "delivery/internal.h"
#include "delivery/others.h"
#include "delivery/slot.h"
#include "store/counter.h"
#include "store/memory.h"
#include "store/removal.h"
#include "store/stage.h"

#include <errno.h>
#include <stdlib.h>

const struct repair filter_repairs[] = {
    {stage_repair_is_due, stage_repair},
    {removal_repair_is_due, removal_repair},
    {NULL, NULL},
};

/* --- its life --- */

/* A filter of these layers; what made them has set the fault if there are none. */
static struct filter *filter_of(struct store *store, struct fault *fault)
{
    if (store == NULL)
        return NULL;
    struct filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) {
        fault_errno(fault, store_name(store), NULL, ENOMEM);
        store_close(store);
        return NULL;
    }
    filter->store = store;
    return filter;
}

struct filter *filter_memory(const struct header *header, const struct store_watch *watch,
                             struct fault *fault)
{
    return filter_of(memory_new(header, watch, fault), fault);
}

static int start_writing(struct filter *filter, struct fault *fault)
{
    if (slot_take(filter, fault) != 0)
        return -1;
    filter->flight = flight_new(slot_size(filter));
    if (filter->flight == NULL)
        return fault_errno(fault, store_path(filter->store), NULL, ENOMEM);
    counter_mend(filter->store);
    return 0;
}

struct filter *filter_open(const char *path, bool write, const struct store_watch *watch,
                           struct fault *fault)
{
    struct filter *filter = filter_of(store_open(path, write ? filter_repairs : NULL, watch, fault),
                                      fault);
    if (filter == NULL || !write || start_writing(filter, fault) == 0)
        return filter;
    filter_close(filter);
    return NULL;
}

static void let_go(struct filter *filter, void (*let_go_of)(struct store *store))
{
    if (filter == NULL)
        return;
    hold_free(filter);
    others_free(filter);
    /* The slot is given up once neither a map nor the descriptor holds the file. */
    let_go_of(filter->store);
    flight_free(filter->flight);
    free(filter);
}

void filter_close(struct filter *filter)
{
    let_go(filter, store_close);
}

void filter_leave(struct filter *filter)
{
    let_go(filter, store_leave);
}

void filter_allow(const struct filter *filter, struct confine *confine)
{
    unsigned uses = filter->set != NULL ? CONFINE_READ | CONFINE_REMOVE : CONFINE_READ;
    if (filter->flight != NULL)
        confine_allow_place(confine, store_path(filter->store), uses);
}

struct store *filter_store(const struct filter *filter)
{
    return filter->store;
}

/* --- a batch --- */

size_t filter_batch(const struct filter *filter)
{
    bool in_slot = filter->flight != NULL && filter->hold == NULL;
    return in_slot ? slot_size(filter) : BATCH_KEYS;
}

ptrdiff_t filter_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault)
{
    if (filter->store->memory != NULL)
        return memory_claim(filter->store, keys, n, most_new, seen, fault);
    return filter->hold != NULL ? hold_claim(filter, keys, n, most_new, seen, fault)
                                : claim_batch(filter, keys, n, most_new, seen, fault);
}

int filter_settle(struct filter *filter, size_t delivered, struct fault *fault)
{
    if (filter->store->memory != NULL)
        return 0;
    return filter->hold != NULL ? hold_keep(filter, delivered, fault)
                                : claim_settle(filter, delivered, fault);
}

void filter_set_claimed(struct filter *filter, uint64_t settlings)
{
    filter->claimed_at = settlings;
}
