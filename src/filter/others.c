/* others - the keys that other living writers have in flight; see internal.h. */
#include "filter/internal.h"

#include "filter/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void detach(struct writer *writer, unsigned slot)
{
    struct attached *attached = writer->attached[slot];
    if (attached == NULL)
        return;
    flight_unmap(&attached->flight);
    if (attached->flight.fd >= 0)
        close(attached->flight.fd);
    free(attached);
    writer->attached[slot] = NULL;
}

void others_free(struct writer *writer)
{
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++)
        detach(writer, slot);
}

/* The slot names a file that is not here: its owner opened the filter by a name in another
 * directory (a hard link or bind mount). */
static int fault_elsewhere(const char *path, struct fault *fault)
{
    fault_set(fault, path,
              "another process uses it by another name, and keeps its lines in flight there");
    fault_way_out(fault, "use that name, or wait until that process ends");
    return fault_temporary(fault);
}

/* The inode number in the slot comes from the owner, so no other file can be passed off as it. */
static int open_file(const struct filter *filter, struct attached *attached, struct fault *fault)
{
    struct stat status;
    int fd = attached->flight.fd = open(attached->path,
                                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ELOOP && errno != ENXIO)
        return fault_errno(fault, attached->path, NULL, errno);
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_dev != filter->file.status.st_dev || (uint64_t)status.st_ino != attached->file)
        return fault_elsewhere(attached->path, fault);
    return 0;
}

/* Maps the file at its present level. */
static int map_again(struct attached *attached, unsigned level, struct fault *fault)
{
    struct stat status;
    struct flight *flight = &attached->flight;
    if (flight->map != NULL && flight->level == level)
        return 0;
    flight_unmap(flight);
    if (fstat(flight->fd, &status) != 0)
        return fault_errno(fault, attached->path, NULL, errno);
    if (level > FLIGHT_LEVEL_MAX || (uint64_t)status.st_size < flight_bytes(level))
        return fault_set(fault, attached->path, "damaged file of lines in flight");
    return flight_map(flight, false, level, fault);
}

/* Maps the flight of a slot that is in a file; another file if the slot has another. */
static int attach(struct writer *writer, unsigned slot, struct slot_facts facts,
                  struct fault *fault)
{
    struct attached *attached = writer->attached[slot];
    if (attached == NULL || attached->file != facts.file) {
        detach(writer, slot);
        attached = writer->attached[slot] = calloc(1, sizeof *attached);
        if (attached == NULL)
            return fault_errno(fault, filter_path(writer->filter), NULL, ENOMEM);
        slot_path(writer->filter, facts.number, attached->path);
        attached->file = facts.file;
        attached->flight.path = attached->path;
        if (open_file(writer->filter, attached, fault) != 0) {
            detach(writer, slot);
            return -1;
        }
    }
    attached->flight.salt = get64(writer->filter, slot_at(slot) + FLIGHT_SALT);
    return map_again(attached, facts.level, fault);
}

/* Tests again if the flight moved or grew meanwhile, which happens only without the lock. */
static int look(struct writer *writer, unsigned slot, const struct key *keys, size_t n,
                uint8_t *seen, struct fault *fault)
{
    const struct filter *filter = writer->filter;
    struct slot_facts facts, after = slot_facts(filter, slot);
    int result;
    do {
        facts = after;
        result = 0;
        if (facts.keys == 0)
            return 0;
        if (facts.file != 0)
            result = attach(writer, slot, facts, fault);
        if (result == 0 && facts.file != 0) {
            flight_test(&writer->attached[slot]->flight, keys, n, seen);
        } else if (result == 0 && facts.capacity > 0) {
            struct flight flight = slot_flight(filter, slot);
            flight_test(&flight, keys, n, seen);
        }
        fence_for_others();
        after = slot_facts(filter, slot);
    } while (facts.file != after.file || facts.number != after.number ||
             facts.level != after.level);
    return result;
}

int others_test(struct writer *writer, const struct key *keys, size_t n, uint8_t *seen,
                uint64_t *total, struct fault *fault)
{
    const struct filter *filter = writer->filter;
    *total = 0;
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
        if (get64(filter, slot_at(slot) + FLIGHT_COUNT) == 0) {
            /* If its owner has left, the disk gets the blocks of its file back. */
            if (writer->attached[slot] != NULL &&
                writer->attached[slot]->file != get64(filter, slot_at(slot) + FLIGHT_FILE))
                detach(writer, slot);
            continue;
        }
        if (writer->has_slot && slot == writer->slot)
            continue;
        struct slot_facts facts = slot_facts(filter, slot);
        int lives = slot_lives(filter, slot, fault);
        if (lives < 0)
            return -1;
        if (lives == 0)
            continue;
        *total += facts.keys < facts.capacity ? facts.keys : facts.capacity;
        if (n > 0 && look(writer, slot, keys, n, seen, fault) != 0)
            return -1;
    }
    return 0;
}
