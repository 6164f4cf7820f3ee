/* filter - see filter.h; claiming and settling are in claim.c. */
#include "filter/filter.h"

#include "filter/counter.h"
#include "filter/internal.h"
#include "filter/slot.h"
#include "system/random.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* --- opening and closing --- */

/* Returns NULL if `store` is NULL: then the fault is set. */
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
    filter->flight.fd = filter->expected.fd = -1;
    return filter;
}

struct filter *filter_memory(const struct header *header, const struct store_watch *watch,
                             struct fault *fault)
{
    return filter_of(memory_new(header, watch, fault), fault);
}

/* If the slot is too small for a batch, its side file is made now, before the process is confined.
 * If the file cannot be made, a small slot will do. */
static int start_writing(struct filter *filter, struct fault *fault)
{
    struct fault ignored = FAULT_UNSET;
    filter->writes = true;
    if (slot_take(filter, fault) != 0)
        return -1;
    counter_repair(filter->store);
    if (slot_reserve(filter, BATCH_KEYS, &ignored) != 0 && filter->flight.capacity == 0) {
        *fault = ignored;
        return -1;
    }
    slot_rest(filter);
    return 0;
}

struct filter *filter_open(struct store *store, struct fault *fault)
{
    struct filter *filter = filter_of(store, fault);
    if (filter == NULL || !store->file.write || start_writing(filter, fault) == 0)
        return filter;
    filter_close(filter);
    return NULL;
}

void filter_close(struct filter *filter)
{
    if (filter == NULL)
        return;
    if (filter->writes)
        slot_leave(filter);
    flight_unmap(&filter->flight);
    flight_unmap(&filter->expected);
    if (filter->expected.fd >= 0)
        close(filter->expected.fd);
    others_free(filter);
    /* The lock of the slot is dropped when neither a map nor a descriptor holds the file. */
    store_close(filter->store);
    free(filter);
}

void filter_allow(const struct filter *filter, bool claims, struct confine *confine)
{
    unsigned uses = (claims ? CONFINE_READ : 0) |
                    (filter->writes && filter->flight.fd >= 0 ? CONFINE_REMOVE : 0);
    if (store_path(filter->store) != NULL && uses != 0)
        confine_allow_place(confine, store_path(filter->store), uses);
}

struct store *filter_store(const struct filter *filter)
{
    return filter->store;
}

/* --- keys that stay in flight --- */

int filter_hold(struct filter *filter, bool briefly, struct fault *fault)
{
    const struct filter_plan *plan = &filter->store->header.plan;
    filter->holds = true;
    filter->turns = briefly && plan->window && plan->forget == 0;
    return briefly ? slot_reserve(filter, BATCH_KEYS + 1, fault) : 0;
}

bool filter_fills(const struct filter *filter)
{
    return filter->turns && filter->delivered >= place_room(filter->store);
}

/* Begins a flight that no other process reads. */
static int begin_private_flight(struct flight *flight, int fd, const char *path,
                                struct fault *fault)
{
    *flight = (struct flight){.salt = random_word() | 1, .path = path, .fd = fd};
    return flight_reserve(flight, 1, fault);
}

int filter_hold_in(struct filter *filter, int fd, const char *path, struct fault *fault)
{
    filter->holds = true;
    return begin_private_flight(&filter->flight, fd, path, fault);
}

int filter_expect_again(struct filter *filter, const struct key *keys, size_t n,
                        struct fault *fault)
{
    uint8_t seen[BATCH_KEYS] = {0};
    struct flight *expected = &filter->expected;
    const char *path = filter->flight.path;
    if (expected->log == NULL) {
        int fd = side_file_unnamed(path);
        if (fd < 0)
            return fault_errno(fault, path, "cannot create a file beside it", errno);
        if (begin_private_flight(expected, fd, path, fault) != 0)
            return -1;
    }
    if (flight_reserve(expected, n, fault) != 0)
        return -1;
    flight_take(expected, keys, n, UINT64_MAX, seen);
    return 0;
}

uint64_t filter_expected(const struct filter *filter)
{
    return filter->expected.log != NULL ? filter->expected.count - filter->came_again : 0;
}
