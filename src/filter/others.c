/* others - the keys that other living writers have in flight; see internal.h. */
#include "filter/internal.h"

#include "filter/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void detach(struct filter *filter, unsigned slot)
{
    struct attached *attached = filter->attached[slot];
    if (attached == NULL)
        return;
    flight_unmap(&attached->flight);
    if (attached->flight.fd >= 0)
        close(attached->flight.fd);
    free(attached);
    filter->attached[slot] = NULL;
}

void others_free(struct filter *filter)
{
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++)
        detach(filter, slot);
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
static int open_file(const struct store *store, struct attached *attached, struct fault *fault)
{
    struct stat status;
    int fd = attached->flight.fd = open(attached->path,
                                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ELOOP && errno != ENXIO)
        return fault_errno(fault, attached->path, NULL, errno);
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_dev != store->file.status.st_dev || (uint64_t)status.st_ino != attached->file)
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
static int attach(struct filter *filter, unsigned slot, struct slot_facts facts,
                  struct fault *fault)
{
    struct attached *attached = filter->attached[slot];
    if (attached == NULL || attached->file != facts.file) {
        detach(filter, slot);
        attached = filter->attached[slot] = calloc(1, sizeof *attached);
        if (attached == NULL)
            return fault_errno(fault, store_path(filter->store), NULL, ENOMEM);
        slot_path(filter->store, facts.number, attached->path);
        attached->file = facts.file;
        attached->flight.path = attached->path;
        if (open_file(filter->store, attached, fault) != 0) {
            detach(filter, slot);
            return -1;
        }
    }
    attached->flight.salt = get64(filter->store, slot_at(slot) + FLIGHT_SALT);
    return map_again(attached, facts.level, fault);
}

/* Tests again if the flight moved or grew meanwhile, which happens only without the lock. */
static int look(struct filter *filter, unsigned slot, const struct key *keys, size_t n,
                uint8_t *seen, struct fault *fault)
{
    const struct store *store = filter->store;
    struct slot_facts facts, after = slot_facts(store, slot);
    int result;
    do {
        facts = after;
        result = 0;
        if (facts.keys == 0)
            return 0;
        if (facts.file != 0)
            result = attach(filter, slot, facts, fault);
        if (result == 0 && facts.file != 0) {
            flight_test(&filter->attached[slot]->flight, keys, n, seen);
        } else if (result == 0 && facts.capacity > 0) {
            struct flight flight = slot_flight(store, slot);
            flight_test(&flight, keys, n, seen);
        }
        fence_for_others();
        after = slot_facts(store, slot);
    } while (facts.file != after.file || facts.number != after.number ||
             facts.level != after.level);
    return result;
}

int others_test(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                uint64_t *total, struct fault *fault)
{
    const struct store *store = filter->store;
    *total = 0;
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
        if (get64(store, slot_at(slot) + FLIGHT_COUNT) == 0) {
            /* If its owner has left, the disk gets the blocks of its file back. */
            if (filter->attached[slot] != NULL &&
                filter->attached[slot]->file != get64(store, slot_at(slot) + FLIGHT_FILE))
                detach(filter, slot);
            continue;
        }
        if (filter->has_slot && slot == filter->slot)
            continue;
        struct slot_facts facts = slot_facts(store, slot);
        int lives = slot_lives(store, slot, fault);
        if (lives < 0)
            return -1;
        if (lives == 0)
            continue;
        *total += facts.keys < facts.capacity ? facts.keys : facts.capacity;
        if (n > 0 && look(filter, slot, keys, n, seen, fault) != 0)
            return -1;
    }
    return 0;
}
