/*
 * slot - a writer's record in the filter file, where other writers see its keys in flight.
 *
 * A slot has the record of a flight, and the first slots also have space for its keys. A flight
 * that does not fit is in a side file, FILTER.flight-NUMBER, with the filter's mode. NUMBER is that
 * of the slot in which it was made, or 128 more, and so on, if that name is taken. Its owner holds
 * LOCK_FLIGHT of it to the end.
 *
 * Who has one of the first 64 slots keeps it from open to close. In another one, a writer is a
 * guest, with its keys in its side file: when nothing is in flight, it gives the slot back and
 * keeps the file, to show it in the next slot that it takes. (To make a file for each batch would
 * take longer than the batch, and a confined process cannot.)
 */
#include "filter/internal.h"
#include "system/lock.h"
#include "system/machine.h"
#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Slots below this one are kept from open to close. */
enum { SLOTS_KEPT = SLOTS_MAX / 2 };

struct slot_facts slot_facts(const struct filter *filter, unsigned slot)
{
    struct slot_facts facts = {
        .keys = get64(filter, slot_at(slot) + FLIGHT_COUNT),
        .capacity = slot_capacity(slot),
        .file = get64(filter, slot_at(slot) + FLIGHT_FILE),
        .number = get32(filter, slot_at(slot) + FLIGHT_NUMBER),
        .level = get32(filter, slot_at(slot) + FLIGHT_LEVEL),
    };
    if (facts.file != 0)
        facts.capacity = facts.level <= FLIGHT_LEVEL_MAX ? (uint64_t)FLIGHT_FILE_KEYS << facts.level
                                                         : 0;
    return facts;
}

int slot_lives(const struct filter *filter, unsigned slot, struct fault *fault)
{
    int held = lock_ask(filter->file.fd, LOCK_SLOT + slot);
    return held < 0 ? fault_errno(fault, filter_path(filter), "cannot be locked", errno) : held;
}

struct flight slot_flight(const struct filter *filter, unsigned slot)
{
    return flight_in_slot(filter->metadata + slot_at(slot), filter->metadata + slot_keys_at(slot),
                          slot);
}

static void name_file(const struct filter *filter, uint32_t number, char path[SIDE_FILE_NAME_MAX])
{
    snprintf(path, SIDE_FILE_NAME_MAX, "%s.flight-%u", filter_real_path(filter), number);
}

/* --- the side file --- */

/* Under LOCK_CHANGE: publishes this writer's file. The level comes before the inode number, because
 * readers may have no lock. */
static void show_file(struct writer *writer, uint32_t level)
{
    size_t record = slot_at(writer->slot);
    put32(writer->filter, record + FLIGHT_NUMBER, writer->number);
    put32(writer->filter, record + FLIGHT_LEVEL, level);
    put64(writer->filter, record + FLIGHT_FILE, writer->inode);
}

/* Unpublishes the side file. `level`: FLIGHT_BEGINS while the file may still exist, else 0. */
static void show_no_file(struct filter *filter, unsigned slot, uint32_t level)
{
    put64(filter, slot_at(slot) + FLIGHT_FILE, 0);
    put32(filter, slot_at(slot) + FLIGHT_LEVEL, level);
}

/* Removes what a dead writer left at `path`: a file of keys in flight of this filter, or with
 * `empty` an empty file of a user who may write to the filter. Touches nothing else. */
static void remove_dead_file(const struct filter *filter, const char *path, bool empty)
{
    struct stat status;
    struct key_file_head head;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    bool may_be = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                  side_file_is_trusted(path, &status, &filter->file.status) &&
                  !lock_is_held(fd, LOCK_FLIGHT);
    int is = may_be ? flight_read_head(fd, &head) : KEY_FILE_OTHER;
    close(fd);
    bool ours = is == KEY_FILE_GOOD && head.kind == KEYS_IN_FLIGHT &&
                memcmp(head.uuid, filter->header.uuid, UUID_BYTES) == 0;
    if (ours || (is == KEY_FILE_EMPTY && empty))
        unlink(path);
}

/* Closes a side file, and removes it unless another file has its name by now. Returns whether it
 * was removed. */
static bool remove_file(int fd, const char *path)
{
    bool gone = path_leads_to(path, fd) && unlink(path) == 0;
    close(fd);
    return gone;
}

/* Makes the side file of larger->fd under a free name, or that of a dead writer, and locks it. */
static int begin_file(struct writer *writer, struct flight *larger, struct fault *fault)
{
    enum { NAMES = 64 };
    struct filter *filter = writer->filter;
    struct stat status;
    struct key_file_head head = {.kind = KEYS_IN_FLIGHT};
    larger->path = writer->path;
    writer->number = writer->slot;
    for (unsigned i = 0; i < NAMES; i++, writer->number += SLOTS_MAX) {
        name_file(filter, writer->number, writer->path);
        /* Under the lock: who clears another slot that names this file must not find it dead, and
         * then remove the one that is made here. */
        if (filter_lock(filter, fault) != 0)
            return -1;
        remove_dead_file(filter, writer->path, false);
        filter_unlock(filter);
        errno = EEXIST;
        if (access(writer->path, F_OK) == 0)
            continue;
        /* The slot announces the file before it exists, so that an empty file which a kill leaves
         * can be attributed. */
        put32(filter, slot_at(writer->slot) + FLIGHT_NUMBER, writer->number);
        put32(filter, slot_at(writer->slot) + FLIGHT_LEVEL, FLIGHT_BEGINS);
        larger->fd = open(writer->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (larger->fd >= 0 || errno != EEXIST)
            break;
    }
    if (larger->fd < 0) {
        /* The fault may pass: names may become free, and so may slots that need no file. */
        bool taken = errno == EEXIST && lstat(writer->path, &status) == 0;
        fault_errno(fault, writer->path, "cannot create the file for lines in flight", errno);
        if (fault->error == ENAMETOOLONG)
            fault_way_out(fault, "give the filter a name of at most %d bytes",
                          NAME_MAX - (int)strlen(".flight-127"));
        else if (taken)
            fault_way_out(fault, "the file of that name belongs to user %ju, who can remove it",
                          (uintmax_t)status.st_uid);
        else if (writer->slot != 0)
            fault_way_out(fault, "wait until other writers have ended, or allow new files in the "
                                 "directory");
        return taken || writer->slot != 0 ? fault_temporary(fault) : -1;
    }
    if (lock_try(larger->fd, LOCK_FLIGHT) < 0)
        return fault_errno(fault, writer->path, "cannot be locked", errno);
    side_file_copy_owner(larger->fd, &filter->file.status);
    memcpy(head.uuid, filter->header.uuid, UUID_BYTES);
    if (flight_write_head(larger->fd, &head) != 0 || fstat(larger->fd, &status) != 0)
        return fault_errno(fault, writer->path, NULL, errno);
    writer->inode = (uint64_t)status.st_ino;
    return 0;
}

int slot_reserve(struct writer *writer, uint64_t n, struct fault *fault)
{
    struct filter *filter = writer->filter;
    if (!filter->file.write)
        return flight_reserve(&writer->flight, n, fault);
    while (writer->flight.capacity - writer->flight.count < n) {
        struct flight old = writer->flight, larger = old;
        uint64_t count = old.count;
        if ((old.fd < 0 && begin_file(writer, &larger, fault) != 0) ||
            flight_enlarge(&old, &larger, fault) != 0 ||
            (writer->has_slot && filter_lock(filter, fault) != 0)) {
            if (larger.map != old.map)
                flight_unmap(&larger);
            if (old.fd < 0) {
                remove_file(larger.fd, larger.path);
                show_no_file(filter, writer->slot, 0);
            }
            return -1;
        }
        if (writer->has_slot) { /* else it is shown when a slot is taken */
            show_file(writer, larger.level);
            filter_unlock(filter);
        }
        if (old.fd < 0)
            flight_clear(&old, count);
        flight_unmap(&old);
        writer->flight = larger;
    }
    return 0;
}

/* --- taking a slot, and giving it back --- */

/* Under LOCK_CHANGE and the lock of the slot: clears what a dead owner left. A salt shows that an
 * owner died: a run that ends well clears it. An empty file that was made in another slot is left
 * to the next owner of that one, as it may be somebody's. */
static void clear_left(struct filter *filter, unsigned slot)
{
    char path[SIDE_FILE_NAME_MAX];
    struct slot_facts left = slot_facts(filter, slot);
    struct flight flight = slot_flight(filter, slot);
    if (left.keys != 0)
        flight_hide(&flight);
    if (left.file != 0 || left.level == FLIGHT_BEGINS) {
        show_no_file(filter, slot, FLIGHT_BEGINS);
        name_file(filter, left.number, path);
        remove_dead_file(filter, path, left.number % SLOTS_MAX == slot);
        show_no_file(filter, slot, 0);
    }
    if (left.keys != 0 || get64(filter, slot_at(slot) + FLIGHT_SALT) != 0) {
        flight_clear(&flight, flight.places);
        put64(filter, slot_at(slot) + FLIGHT_SALT, 0);
    }
}

/* Under LOCK_CHANGE: clears what was left in the slot, which would otherwise belong to its new
 * owner; if the slot is kept, clears the others, too, because few runs ever take those; shows a
 * guest's file. */
static void move_in(struct writer *writer)
{
    struct filter *filter = writer->filter;
    struct flight flight = slot_flight(filter, writer->slot);
    clear_left(filter, writer->slot);
    for (unsigned slot = 0; slot < SLOTS_MAX && writer->slot < SLOTS_KEPT; slot++) {
        size_t record = slot_at(slot);
        if (slot == writer->slot ||
            (get64(filter, record + FLIGHT_SALT) == 0 && get64(filter, record + FLIGHT_FILE) == 0 &&
             get32(filter, record + FLIGHT_LEVEL) == 0) ||
            lock_try(filter->file.fd, LOCK_SLOT + slot) <= 0)
            continue;
        clear_left(filter, slot);
        lock_give_back(filter->file.fd, LOCK_SLOT + slot);
    }
    if (writer->flight.fd >= 0) {
        writer->flight.record = flight.record;
        show_file(writer, writer->flight.level);
    } else {
        writer->flight = flight;
        writer->flight.salt = random_word() | 1;
    }
}

/* Returns 1, 0 if no slot is free, or -1. Begins with the last one. Asks before it takes
 * LOCK_CHANGE, so that waiting processes do not keep the lock from working ones. */
static int take_free(struct writer *writer, struct fault *fault)
{
    struct filter *filter = writer->filter;
    int fd = filter->file.fd, got = 0;
    for (unsigned i = 0, first = writer->slot; i < SLOTS_MAX && got == 0; i++) {
        unsigned slot = (first + i) % SLOTS_MAX;
        int held = slot_lives(filter, slot, fault);
        if (held > 0)
            continue;
        if (held < 0 || filter_lock(filter, fault) != 0)
            return -1;
        got = lock_try(fd, LOCK_SLOT + slot);
        writer->slot = slot;
        if (got > 0)
            move_in(writer);
        filter_unlock(filter);
    }
    return got >= 0 ? got : fault_errno(fault, filter_path(filter), "cannot be locked", errno);
}

/* While all slots are taken, one waiting process looks for a free one, and the others wait for its
 * lock, which it drops between looks so that it can be stopped (Ctrl-Z). Guests hold a slot for a
 * batch, so it looks soon at first. */
int slot_take(struct writer *writer, struct fault *fault)
{
    enum { FIVE_SECONDS = 5000 };
    struct timespec doze = {0, 1000000};
    struct filter *filter = writer->filter;
    if (writer->has_slot || !filter->file.write)
        return 0;
    int fd = filter->file.fd, taken = take_free(writer, fault);
    int64_t since = clock_monotonic();
    bool tells = filter->watch.waits_for_slot != NULL;
    while (taken == 0) {
        if (lock_take(fd, LOCK_WAITING, false, NULL, NULL) != 0)
            return fault_errno(fault, filter_path(filter), "cannot be locked", errno);
        if (tells && clock_monotonic() - since >= FIVE_SECONDS) {
            filter->watch.waits_for_slot(filter);
            tells = false;
        }
        if (nanosleep(&doze, NULL) != 0 && signals_arrived())
            taken = fault_errno(fault, filter_path(filter), "cannot be locked", errno);
        else
            taken = take_free(writer, fault);
        lock_drop(fd, LOCK_WAITING);
        if (doze.tv_nsec < 200000000)
            doze.tv_nsec *= 2;
    }
    writer->has_slot = taken > 0;
    return taken > 0 ? 0 : -1;
}

/* Nothing is in flight, so no other process looks at the rest of the record. */
void slot_rest(struct writer *writer)
{
    if (!writer->has_slot || writer->slot < SLOTS_KEPT || writer->flight.count > 0)
        return;
    struct filter *filter = writer->filter;
    show_no_file(filter, writer->slot, 0);
    put64(filter, slot_at(writer->slot) + FLIGHT_SALT, 0);
    writer->flight.record = NULL;
    writer->has_slot = false;
    lock_give_back(filter->file.fd, LOCK_SLOT + writer->slot);
}

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

/* If the file cannot be removed, because its directory was renamed, the next run will remove it. A
 * run that had nothing in flight changes nothing. The lock of a slot that is kept goes when the
 * filter is closed. */
void slot_close(struct writer *writer)
{
    struct fault ignored;
    struct filter *filter = writer->filter;
    struct flight *flight = &writer->flight;
    uint64_t count = flight->count;
    bool shown = writer->has_slot && flight->fd >= 0;
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++)
        detach(writer, slot);
    if (!filter->file.write)
        return;
    bool locked = shown && filter_lock(filter, &ignored) == 0;
    if (count > 0)
        flight_hide(flight);
    if (shown)
        show_no_file(filter, writer->slot, FLIGHT_BEGINS);
    if (locked)
        filter_unlock(filter);
    if (flight->fd < 0)
        flight_clear(flight, count);
    else if (remove_file(flight->fd, flight->path) && shown)
        show_no_file(filter, writer->slot, 0);
    if (writer->has_slot && get64(filter, slot_at(writer->slot) + FLIGHT_SALT) != 0)
        put64(filter, slot_at(writer->slot) + FLIGHT_SALT, 0);
    writer->has_slot = false;
}

/* --- the slots of others --- */

/* Maps the flight of a slot that is in a file; another file if the slot has another. */
static int attach(struct writer *writer, unsigned slot, struct slot_facts facts,
                  struct fault *fault)
{
    struct stat status;
    const struct filter *filter = writer->filter;
    struct attached *attached = writer->attached[slot];
    struct flight *flight;
    if (attached == NULL || attached->file != facts.file) {
        detach(writer, slot);
        attached = writer->attached[slot] = calloc(1, sizeof *attached);
        if (attached == NULL)
            return fault_errno(fault, filter_path(filter), NULL, ENOMEM);
        name_file(filter, facts.number, attached->path);
        attached->file = facts.file;
        flight = &attached->flight;
        flight->path = attached->path;
        flight->fd = open(attached->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (flight->fd < 0 && errno != ENOENT && errno != ELOOP && errno != ENXIO) {
            fault_errno(fault, attached->path, NULL, errno);
            goto failed;
        }
        /* The inode number in the slot comes from the owner, so no other file can be passed off as
         * it. If the file is not here, its owner opened the filter by a name in another directory
         * (a hard link or bind mount). */
        if (flight->fd < 0 || fstat(flight->fd, &status) != 0 || !S_ISREG(status.st_mode) ||
            status.st_dev != filter->file.status.st_dev ||
            (uint64_t)status.st_ino != attached->file) {
            fault_set(fault, attached->path,
                      "another process uses it by another name, and keeps its lines in flight "
                      "there");
            fault_way_out(fault, "use that name, or wait until that process ends");
            fault_temporary(fault);
            goto failed;
        }
    }
    flight = &attached->flight;
    flight->salt = get64(filter, slot_at(slot) + FLIGHT_SALT);
    if (flight->map != NULL && flight->level == facts.level)
        return 0;
    flight_unmap(flight);
    if (fstat(flight->fd, &status) != 0)
        return fault_errno(fault, attached->path, NULL, errno);
    if (facts.level > FLIGHT_LEVEL_MAX || (uint64_t)status.st_size < flight_bytes(facts.level))
        return fault_set(fault, attached->path, "damaged file of lines in flight");
    return flight_map(flight, false, facts.level, fault);
failed:
    detach(writer, slot);
    return -1;
}

/* Tests keys against a slot; again if the flight moved or grew meanwhile, which happens only
 * without the lock. */
static int test_slot(struct writer *writer, unsigned slot, const struct key *keys, size_t n,
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
        if (facts.file != 0) {
            result = attach(writer, slot, facts, fault);
            if (result == 0)
                flight_test(&writer->attached[slot]->flight, keys, n, seen);
        } else if (facts.capacity > 0) {
            struct flight flight = slot_flight(filter, slot);
            flight_test(&flight, keys, n, seen);
        }
        fence_for_others();
        after = slot_facts(filter, slot);
    } while (facts.file != after.file || facts.number != after.number ||
             facts.level != after.level);
    return result;
}

int slot_test_others(struct writer *writer, const struct key *keys, size_t n, uint8_t *seen,
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
        if (n > 0 && test_slot(writer, slot, keys, n, seen, fault) != 0)
            return -1;
    }
    return 0;
}
