/* writer - see writer.h; claiming and settling are in claim.c. */
#include "filter/writer.h"

#include "filter/internal.h"
#include "filter/slot.h"
#include "system/random.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* --- opening and closing --- */

/* If the slot is too small for a batch, its side file is made now, before the process is confined.
 * If the file cannot be made, a small slot will do. */
static int start_writing(struct writer *writer, struct fault *fault)
{
    struct fault ignored = FAULT_UNSET;
    writer->writes = true;
    if (slot_take(writer, fault) != 0)
        return -1;
    room_raise_counters(writer->filter);
    if (slot_reserve(writer, BATCH_KEYS, &ignored) != 0 && writer->flight.capacity == 0) {
        *fault = ignored;
        return -1;
    }
    slot_rest(writer);
    return 0;
}

struct writer *writer_new(struct filter *filter, struct fault *fault)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        fault_errno(fault, filter_name(filter), NULL, ENOMEM);
        return NULL;
    }
    writer->filter = filter;
    writer->flight.fd = writer->expected.fd = -1;
    if (!filter->file.write || start_writing(writer, fault) == 0)
        return writer;
    writer_free(writer);
    return NULL;
}

void writer_free(struct writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->writes)
        slot_leave(writer);
    flight_unmap(&writer->flight);
    flight_unmap(&writer->expected);
    if (writer->expected.fd >= 0)
        close(writer->expected.fd);
    others_free(writer);
    free(writer);
}

void writer_allow(const struct writer *writer, bool claims, struct confine *confine)
{
    unsigned uses = (claims ? CONFINE_READ : 0) |
                    (writer->writes && writer->flight.fd >= 0 ? CONFINE_REMOVE : 0);
    if (filter_path(writer->filter) != NULL && uses != 0)
        confine_allow_place(confine, filter_path(writer->filter), uses);
}

/* --- keys that stay in flight --- */

int writer_hold(struct writer *writer, bool briefly, struct fault *fault)
{
    const struct filter_plan *plan = &writer->filter->header.plan;
    writer->holds = true;
    writer->turns = briefly && plan->window && plan->forget == 0;
    return briefly ? slot_reserve(writer, BATCH_KEYS + 1, fault) : 0;
}

bool writer_fills(const struct writer *writer)
{
    return writer->turns && writer->delivered >= place_room(writer->filter);
}

/* Begins a flight that no other process reads. */
static int begin_private_flight(struct flight *flight, int fd, const char *path,
                                struct fault *fault)
{
    *flight = (struct flight){.salt = random_word() | 1, .path = path, .fd = fd};
    return flight_reserve(flight, 1, fault);
}

int writer_hold_in(struct writer *writer, int fd, const char *path, struct fault *fault)
{
    writer->holds = true;
    return begin_private_flight(&writer->flight, fd, path, fault);
}

int writer_expect_again(struct writer *writer, const struct key *keys, size_t n,
                        struct fault *fault)
{
    uint8_t seen[BATCH_KEYS] = {0};
    struct flight *expected = &writer->expected;
    const char *path = writer->flight.path;
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

uint64_t writer_expected(const struct writer *writer)
{
    return writer->expected.log != NULL ? writer->expected.count - writer->came_again : 0;
}
