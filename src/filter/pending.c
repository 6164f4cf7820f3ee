/* pending - see pending.h. */
#include "filter/pending.h"

#include "filter/internal.h"
#include "system/io.h"
#include "system/lock.h"
#include "system/machine.h"
#include "system/path.h"
#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pending {
    const char *path;
    char target[PATH_MAX];     /* its real name */
    int fd;                    /* the file of that name; -1: none */
    struct key_file_head head; /* of that file */
    char new[PATH_MAX + 16];   /* the temporary file */
    int new_fd;                /* -1: none */
    mode_t mode;               /* of the temporary file */
};

static struct pending *pending_alloc(const char *path, struct fault *fault)
{
    struct pending *pending = calloc(1, sizeof *pending);
    if (pending == NULL) {
        fault_errno(fault, path, NULL, ENOMEM);
        return NULL;
    }
    pending->path = path;
    pending->fd = pending->new_fd = -1;
    return pending;
}

static int fault_system(const struct pending *pending, struct fault *fault)
{
    return fault_errno(fault, pending->path, NULL, errno);
}

/* Removes the temporary file before its lock, so that no other run locks a file without a name. */
void pending_free(struct pending *pending)
{
    if (pending == NULL)
        return;
    if (pending->new_fd >= 0 && path_leads_to(pending->new, pending->new_fd))
        unlink(pending->new);
    if (pending->new_fd >= 0)
        close(pending->new_fd);
    if (pending->fd >= 0)
        close(pending->fd);
    free(pending);
}

const char *pending_target(const struct pending *pending)
{
    return pending->target;
}

bool pending_is(int fd)
{
    struct key_file_head head;
    return flight_read_head(fd, &head) > KEY_FILE_OTHER;
}

/* --- reading --- */

static int damaged(const struct pending *pending, const char *what, struct fault *fault)
{
    fault_set(fault, pending->path, "damaged file of pending keys: %s", what);
    return fault_way_out(fault, "remove it and run its task again; committed lines will not "
                                "come again");
}

static int read_head(struct pending *pending, struct fault *fault)
{
    switch (flight_read_head(pending->fd, &pending->head)) {
    case KEY_FILE_GOOD:
        if (pending->head.kind == KEYS_PENDING)
            return 0;
        break;
    case KEY_FILE_UNKNOWN:
        fault_set(fault, pending->path, "was made by another version of unseen");
        return fault_way_out(fault, "use that version, or remove the file and run its task again");
    case KEY_FILE_DAMAGED:
        return damaged(pending, "header checksum mismatch", fault);
    case KEY_FILE_EMPTY:
    case KEY_FILE_OTHER:
        break;
    default:
        return fault_system(pending, fault);
    }
    if (pending->new_fd >= 0) {
        fault_set(fault, pending->path, "exists, and is not a file of pending keys");
        return fault_way_out(fault, "name a new file");
    }
    bool filter = filter_begins(pending->fd);
    fault_set(fault, pending->path, "is %s a file of pending keys",
              filter ? "a filter, not" : "not");
    return fault_way_out(fault, filter ? "to merge filters: unseen merge"
                                       : "to remember the lines of a file: unseen add");
}

/* The keys from number `from` on, at most BATCH_KEYS. Returns how many, 0 after the last one, or -1
 * with the fault. */
static ptrdiff_t read_keys(const struct pending *pending, uint64_t from, struct key *keys,
                           struct fault *fault)
{
    uint8_t bytes[BATCH_KEYS * KEY_BYTES];
    uint64_t left = pending->head.count - from, at = FLIGHT_HEAD_BYTES + from * KEY_BYTES;
    size_t n = left < BATCH_KEYS ? (size_t)left : BATCH_KEYS;
    if (n > 0 && signals_arrived())
        return fault_errno(fault, pending->path, NULL, EINTR);
    if (io_read_at(pending->fd, bytes, n * KEY_BYTES, at) < n * KEY_BYTES)
        return errno != 0 ? fault_system(pending, fault)
                          : damaged(pending, "wrong file size", fault);
    for (size_t i = 0; i < n; i++)
        keys[i] = load_key(bytes + i * KEY_BYTES);
    return (ptrdiff_t)n;
}

/* The checksum of `count` keys of an open file, chained by 32 KB. Returns 0, or -1 with errno. */
static int sum_up(int fd, uint64_t count, uint64_t *sum)
{
    uint8_t bytes[BATCH_KEYS * KEY_BYTES];
    uint64_t end = FLIGHT_HEAD_BYTES + count * KEY_BYTES;
    size_t length;
    *sum = 0;
    for (uint64_t at = FLIGHT_HEAD_BYTES; at < end; at += length) {
        length = end - at < sizeof bytes ? (size_t)(end - at) : sizeof bytes;
        if (signals_arrived())
            errno = EINTR;
        if (signals_arrived() || io_read_at(fd, bytes, length, at) < length)
            return -1;
        *sum = hash_chain(*sum, bytes, length);
    }
    return 0;
}

/* Whether the file belongs to this filter, and has all its keys. */
static int check_pending(const struct pending *pending, const struct filter *filter,
                         struct fault *fault)
{
    struct stat status;
    const struct key_file_head *head = &pending->head;
    uint64_t sum;
    if (memcmp(head->uuid, filter_header(filter)->uuid, UUID_BYTES) != 0) {
        fault_set(fault, pending->path, "belongs to another filter");
        return fault_way_out(fault, pending->new_fd >= 0
                                        ? "name another file for this filter"
                                        : "commit it to the filter that its run used");
    }
    if (fstat(pending->fd, &status) != 0)
        return fault_system(pending, fault);
    uint64_t bytes = (uint64_t)status.st_size - FLIGHT_HEAD_BYTES;
    if (status.st_size < FLIGHT_HEAD_BYTES || bytes % KEY_BYTES != 0 ||
        bytes / KEY_BYTES != head->count)
        return damaged(pending, "wrong file size", fault);
    if (sum_up(pending->fd, head->count, &sum) != 0)
        return errno != 0 ? fault_system(pending, fault)
                          : damaged(pending, "wrong file size", fault);
    return sum == head->sum ? 0 : damaged(pending, "key checksum mismatch", fault);
}

static int open_to_read(struct pending *pending, struct fault *fault)
{
    struct stat status;
    pending->fd = open(pending->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (pending->fd < 0 || fstat(pending->fd, &status) != 0)
        return fault_system(pending, fault);
    if (S_ISDIR(status.st_mode))
        return fault_errno(fault, pending->path, NULL, EISDIR);
    return S_ISREG(status.st_mode) ? 0 : fault_set(fault, pending->path, "is not a regular file");
}

struct pending *pending_open(const char *path, const struct filter *filter, struct fault *fault)
{
    struct pending *pending = pending_alloc(path, fault);
    if (pending == NULL)
        return NULL;
    if (open_to_read(pending, fault) != 0)
        fault_way_out(fault, fault->error == ENOENT
                                 ? "a run with --pending FILE makes it when it succeeds"
                                 : "name files made with --pending");
    else if (read_head(pending, fault) == 0 && check_pending(pending, filter, fault) == 0)
        return pending;
    pending_free(pending);
    return NULL;
}

/* --- claiming --- */

/* The name of the temporary file: a dot, so that a shell's * does not match it, the name and a
 * suffix; a random suffix where other machines do not see the lock. */
static int name_new(struct pending *pending, struct fault *fault)
{
    char directory[PATH_MAX], suffix[32] = ".unseen-new";
    struct stat status;
    struct fault ignored;
    if (realpath(pending->path, pending->target) == NULL) {
        if (lstat(pending->path, &status) == 0 && S_ISLNK(status.st_mode)) {
            fault_set(fault, pending->path, "is a symbolic link to a file that does not exist");
            return fault_way_out(fault, "name the file itself");
        }
        snprintf(pending->target, sizeof pending->target, "%s", pending->path);
    }
    const char *name = path_directory(pending->target, directory);
    if (network_check_place(directory, pending->path, &ignored) != 0)
        snprintf(suffix, sizeof suffix, ".unseen-%08x", (unsigned)random_word());
    snprintf(pending->new, sizeof pending->new, "%.*s.%.*s%s", (int)(name - pending->target),
             pending->target, (int)(NAME_MAX - 1 - strlen(suffix)), name, suffix);
    bool is_there = stat(pending->target, &status) == 0;
    pending->mode = is_there ? (status.st_mode & 0666) | 0600 : 0666;
    return is_there ? path_check_replaceable(pending->path, &status, fault)
                    : path_check_directory(pending->target, fault);
}

/* Opens and locks the temporary file: a new one, or one that a killed run of this user has left. It
 * is not removed if it is that of another run. */
static int claim_new(struct pending *pending, struct fault *fault)
{
    struct stat status;
    struct key_file_head head;
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd;
    for (;; close(fd)) {
        if (signals_arrived())
            return fault_errno(fault, pending->path, NULL, EINTR);
        fd = open(pending->new, flags, pending->mode);
        if (fd < 0)
            return fault_errno(fault, pending->path, "cannot create a file beside it", errno);
        if (fstat(fd, &status) != 0) {
            fault_system(pending, fault);
            break;
        }
        int is = flight_read_head(fd, &head);
        if (!S_ISREG(status.st_mode) || status.st_nlink > 1 || status.st_uid != geteuid() ||
            (is != KEY_FILE_EMPTY && is != KEY_FILE_GOOD)) {
            fault_set(fault, pending->new,
                      "exists, but is the name of the temporary file for %.200s", pending->path);
            fault_way_out(fault, "remove it, or name another file");
            break;
        }
        int got = lock_try(fd, LOCK_PENDING);
        if (got < 0)
            fault_errno(fault, pending->path, "cannot be locked", errno);
        if (got == 0) {
            fault_set(fault, pending->path, "another run is writing to it");
            fault_way_out(fault,
                          "wait until that run has ended; for another task, name another file");
            fault_temporary(fault);
        }
        if (got <= 0)
            break;
        /* Again, if another run has just renamed it. */
        if (path_leads_to(pending->new, fd)) {
            pending->new_fd = fd;
            return 0;
        }
    }
    close(fd);
    return -1;
}

/* The file of the name is opened after the claim: from then on no other run replaces it. */
struct pending *pending_claim(const char *path, struct fault *fault)
{
    struct pending *pending = pending_alloc(path, fault);
    if (pending == NULL)
        return NULL;
    if (name_new(pending, fault) == 0 && claim_new(pending, fault) == 0 &&
        ((open_to_read(pending, fault) == 0 && read_head(pending, fault) == 0) ||
         (pending->fd < 0 && fault->error == ENOENT)))
        return pending;
    pending_free(pending);
    return NULL;
}

int pending_add(const struct pending *pending, struct writer *writer, uint64_t *added,
                struct fault *fault)
{
    static struct key keys[BATCH_KEYS]; /* too large for a small stack, with read_keys */
    static uint8_t seen[BATCH_KEYS];
    uint64_t from = 0, more;
    ptrdiff_t n;
    for (; (n = read_keys(pending, from, keys, fault)) > 0; from += (uint64_t)n) {
        if (writer_add(writer, keys, (size_t)n, seen, &more, fault) != n)
            return -1;
        *added += more;
    }
    return n < 0 ? -1 : 0;
}

/* --- writing --- */

int pending_begin(struct pending *pending, struct writer *writer, struct fault *fault)
{
    struct stat old;
    struct key keys[BATCH_KEYS];
    struct key_file_head head = {.kind = KEYS_IN_FLIGHT};
    ptrdiff_t n;
    if (pending->fd >= 0 && check_pending(pending, writer->filter, fault) != 0)
        return -1;
    if (ftruncate(pending->new_fd, 0) != 0 || flight_write_head(pending->new_fd, &head) != 0)
        return fault_system(pending, fault);
    if (pending->fd >= 0 && fstat(pending->fd, &old) == 0)
        side_file_copy_owner(pending->new_fd, &old);
    if (writer_hold_in(writer, pending->new_fd, pending->target, fault) != 0)
        return -1;
    for (uint64_t from = 0; (n = read_keys(pending, from, keys, fault)) > 0; from += (uint64_t)n)
        if (writer_expect_again(writer, keys, (size_t)n, fault) != 0)
            return -1;
    return n < 0 ? -1 : 0;
}

int pending_finish(struct pending *pending, const struct writer *writer, struct fault *fault)
{
    struct stat status;
    struct key_file_head head = {.kind = KEYS_PENDING, .count = writer_kept(writer)};
    off_t end = (off_t)(FLIGHT_HEAD_BYTES + head.count * KEY_BYTES);
    memcpy(head.uuid, filter_header(writer->filter)->uuid, UUID_BYTES);
    /* Another process may have moved the temporary file away, or another file to its new name. */
    bool same = pending->fd >= 0 ? path_leads_to(pending->target, pending->fd)
                                 : lstat(pending->target, &status) != 0;
    if (!same || !path_leads_to(pending->new, pending->new_fd)) {
        fault_set(fault, pending->path, "was replaced or removed during this run");
        fault_way_out(fault, "run it again, with the same input");
        return fault_temporary(fault);
    }
    if (sum_up(pending->new_fd, head.count, &head.sum) != 0 ||
        flight_write_head(pending->new_fd, &head) != 0 || ftruncate(pending->new_fd, end) != 0 ||
        fsync(pending->new_fd) != 0 || rename(pending->new, pending->target) != 0)
        return fault_system(pending, fault);
    path_sync_directory(pending->target);
    return 0;
}
