#include "filter/slot.h"

#include "filter/internal.h"
#include "system/clock.h"
#include "system/lock.h"
#include "system/path.h"
#include "system/random.h"
#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
        facts.capacity = facts.level <= FLIGHT_LEVEL_MAX ? flight_capacity(facts.level) : 0;
    return facts;
}

struct flight slot_flight(const struct filter *filter, unsigned slot)
{
    return flight_in_slot(filter->metadata + slot_at(slot), filter->metadata + slot_keys_at(slot),
                          slot);
}

void slot_path(const struct filter *filter, uint32_t number, char path[SIDE_FILE_NAME_MAX])
{
    snprintf(path, SIDE_FILE_NAME_MAX, "%s.flight-%u", filter_real_path(filter), number);
}

/* --- its file --- */

/* Unpublishes the side file. `level`: FLIGHT_BEGINS while the file may still exist, else 0. */
static void note_no_file(struct writer *writer, uint32_t level)
{
    put64(writer->filter, slot_at(writer->slot) + FLIGHT_FILE, 0);
    put32(writer->filter, slot_at(writer->slot) + FLIGHT_LEVEL, level);
}

/* Removes what a dead writer left at `path`: a file of keys in flight of this filter, or with
 * `empty` an empty file of a user who may write to the filter. Touches nothing else. */
static void remove_leftover(const struct filter *filter, const char *path, bool empty)
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

/* Makes the side file under a free name, or that of a dead writer. The slot announces the file
 * before it exists, so that an empty file which a kill leaves can be attributed. Returns a
 * descriptor, or -1 with errno. */
static int make_file(struct writer *writer)
{
    enum { NAMES = 64 };
    struct filter *filter = writer->filter;
    uint32_t number = writer->slot;
    int fd = -1;
    for (unsigned i = 0; i < NAMES; i++, number += SLOTS_MAX) {
        slot_path(filter, number, writer->path);
        remove_leftover(filter, writer->path, false);
        errno = EEXIST;
        if (access(writer->path, F_OK) == 0)
            continue;
        put32(filter, slot_at(writer->slot) + FLIGHT_NUMBER, number);
        put32(filter, slot_at(writer->slot) + FLIGHT_LEVEL, FLIGHT_BEGINS);
        fd = open(writer->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    writer->number = number;
    return fd;
}

/* Uses errno. The fault may pass: names may become free, and so may slots that need no file. */
static int fault_no_file(const struct writer *writer, struct fault *fault)
{
    struct stat other;
    bool taken = errno == EEXIST && lstat(writer->path, &other) == 0;
    fault_errno(fault, writer->path, "cannot create the file for lines in flight", errno);
    if (fault->error == ENAMETOOLONG)
        fault_way_out(fault, "give the filter a name of at most %d bytes",
                      NAME_MAX - (int)strlen(".flight-127"));
    else if (taken)
        fault_way_out(fault, "the file of that name belongs to user %ju, who can remove it",
                      (uintmax_t)other.st_uid);
    else if (writer->slot != 0)
        fault_way_out(fault,
                      "wait until other writers have ended, or allow new files in the directory");
    return taken || writer->slot != 0 ? fault_temporary(fault) : -1;
}

static int begin_file(struct writer *writer, struct flight *larger, struct fault *fault)
{
    struct stat status;
    struct key_file_head head = {.kind = KEYS_IN_FLIGHT};
    memcpy(head.uuid, writer->filter->header.uuid, UUID_BYTES);
    larger->fd = make_file(writer);
    larger->path = writer->path;
    if (larger->fd < 0)
        return fault_no_file(writer, fault);
    if (lock_try(larger->fd, LOCK_FLIGHT) < 0)
        return fault_errno(fault, writer->path, "cannot be locked", errno);
    side_file_copy_owner(larger->fd, &writer->filter->file.status);
    if (flight_write_head(larger->fd, &head) != 0 || fstat(larger->fd, &status) != 0)
        return fault_errno(fault, writer->path, NULL, errno);
    writer->inode = (uint64_t)status.st_ino;
    return 0;
}

/* Unless another file has the name by now. Returns whether the file was removed. */
static bool remove_file(int fd, const char *path)
{
    bool gone = path_leads_to(path, fd) && unlink(path) == 0;
    close(fd);
    return gone;
}

/* Under LOCK_CHANGE: publishes this writer's file. The level comes before the inode number, because
 * readers may have no lock. */
static void show_file(struct writer *writer, uint32_t level)
{
    size_t record = slot_at(writer->slot);
    put32(writer->filter, record + FLIGHT_NUMBER, writer->number);
    put32(writer->filter, record + FLIGHT_LEVEL, level);
    put64(writer->filter, record + FLIGHT_FILE, writer->inode);
}

/* Publishes the larger flight; later, if this writer has no slot. */
static int show(struct writer *writer, const struct flight *larger, struct fault *fault)
{
    if (!writer->has_slot)
        return 0;
    if (filter_lock(writer->filter, fault) != 0)
        return -1;
    show_file(writer, larger->level);
    filter_unlock(writer->filter);
    return 0;
}

static int enlarge(struct writer *writer, struct fault *fault)
{
    struct flight old = writer->flight, larger = old;
    uint64_t count = old.count;
    bool begun = old.fd >= 0 || begin_file(writer, &larger, fault) == 0;
    if (!begun || flight_enlarge(&old, &larger, fault) != 0 || show(writer, &larger, fault) != 0) {
        if (larger.map != old.map)
            flight_unmap(&larger);
        if (old.fd < 0) {
            remove_file(larger.fd, larger.path);
            note_no_file(writer, 0);
        }
        return -1;
    }
    if (old.fd < 0)
        flight_clear(&old, count);
    flight_unmap(&old);
    writer->flight = larger;
    return 0;
}

int slot_reserve(struct writer *writer, uint64_t n, struct fault *fault)
{
    if (!writer->writes)
        return flight_reserve(&writer->flight, n, fault);
    while (writer->flight.capacity - writer->flight.count < n)
        if (enlarge(writer, fault) != 0)
            return -1;
    return 0;
}

/* --- taking a slot --- */

int slot_lives(const struct filter *filter, unsigned slot, struct fault *fault)
{
    int held = lock_ask(filter->file.fd, LOCK_SLOT + slot);
    return held < 0 ? fault_errno(fault, filter_path(filter), "cannot be locked", errno) : held;
}

/* Under LOCK_CHANGE: clears what a dead owner left, which would otherwise belong to the new owner,
 * and shows a guest's file. A salt shows that an owner died: a run that ends well clears it. A file
 * that was made in another slot is left to the next owner of that one, as it may be somebody's. */
static void move_in(struct writer *writer)
{
    char path[SIDE_FILE_NAME_MAX];
    struct filter *filter = writer->filter;
    size_t record = slot_at(writer->slot);
    struct slot_facts left = slot_facts(filter, writer->slot);
    struct flight flight = slot_flight(filter, writer->slot);
    bool began = left.level == FLIGHT_BEGINS;
    if (left.keys != 0)
        flight_hide(&flight);
    if (left.file != 0 || began) {
        note_no_file(writer, FLIGHT_BEGINS);
        slot_path(filter, left.number, path);
        if (left.number % SLOTS_MAX == writer->slot)
            remove_leftover(filter, path, true);
        note_no_file(writer, 0);
    }
    if (left.keys != 0 || get64(filter, record + FLIGHT_SALT) != 0) {
        flight_clear(&flight, flight.places);
        put64(filter, record + FLIGHT_SALT, 0);
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
static int wait_for_free(struct writer *writer, struct fault *fault)
{
    enum { FIVE_SECONDS = 5000 };
    struct timespec doze = {0, 1000000};
    struct filter *filter = writer->filter;
    int fd = filter->file.fd, taken = 0;
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
    return taken;
}

int slot_take(struct writer *writer, struct fault *fault)
{
    if (writer->has_slot)
        return 0;
    int taken = take_free(writer, fault);
    if (taken == 0)
        taken = wait_for_free(writer, fault);
    writer->has_slot = taken > 0;
    return taken > 0 ? 0 : -1;
}

/* Nothing is in flight, so no other process looks at the rest of the record. */
void slot_rest(struct writer *writer)
{
    if (!writer->has_slot || writer->slot < SLOTS_KEPT || writer->flight.count > 0)
        return;
    note_no_file(writer, 0);
    put64(writer->filter, slot_at(writer->slot) + FLIGHT_SALT, 0);
    writer->flight.record = NULL;
    writer->has_slot = false;
    lock_give_back(writer->filter->file.fd, LOCK_SLOT + writer->slot);
}

/* If the file cannot be removed, because its directory was renamed, the next owner of the slot will
 * remove it. A run that had nothing in flight changes nothing. */
void slot_leave(struct writer *writer)
{
    struct fault ignored;
    struct filter *filter = writer->filter;
    struct flight *flight = &writer->flight;
    uint64_t count = flight->count;
    bool shown = writer->has_slot && flight->fd >= 0;
    bool locked = shown && filter_lock(filter, &ignored) == 0;
    if (count > 0)
        flight_hide(flight);
    if (shown)
        note_no_file(writer, FLIGHT_BEGINS);
    if (locked)
        filter_unlock(filter);
    if (flight->fd < 0)
        flight_clear(flight, count);
    else if (remove_file(flight->fd, flight->path) && shown)
        note_no_file(writer, 0);
    if (writer->has_slot && get64(filter, slot_at(writer->slot) + FLIGHT_SALT) != 0)
        put64(filter, slot_at(writer->slot) + FLIGHT_SALT, 0);
    flight_unmap(flight);
    writer->has_slot = false;
}
