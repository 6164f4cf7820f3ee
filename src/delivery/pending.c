/*
 * pending - the file of a run with --pending, format version 1.
 *
 * Little-endian:
 *
 *   offset size meaning
 *        0    8  magic: 89 75 6e 73 70 6e 64 0a  ("unspnd" between a byte that is no text and LF)
 *        8    8  format version: 1
 *       16   16  UUID of the filter
 *       32    8  number of keys
 *       40    8  checksum of the keys: s = 0, then for each key s = XXH3-64 of its 16 bytes, seed s
 *       48    8  how often keys had been settled in the filter when the task's first run began
 *       56    8  checksum: XXH3-64, seed 0, of bytes 0..55
 *       64  16*n keys, lo then hi
 *
 * It is valid if and only if all of that holds and the file ends after the last key.
 */
#include "delivery/pending.h"

#include "store/key_file.h"
#include "store/newfile.h"
#include "store/store.h"
#include "system/lock.h"
#include "system/network.h"
#include "system/path.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 64, PIECE = 512 };

static const char temporary[] = ".unseen-new"; /* after FILE, where a new one must have a name */

static const uint8_t magic[8] = {0x89, 'u', 'n', 's', 'p', 'n', 'd', '\n'};

/* The keys of one file, as they are read or written. */
struct body {
    struct key_file file;
    uint64_t count, sum; /* as the head says, or as it will say */
    uint64_t done;       /* keys that were written, or given out */
    uint64_t summed;     /* the checksum of those that were given out */
};

struct pending {
    const char *path;
    char target[PATH_MAX];
    uint8_t uuid[UUID_BYTES];
    uint64_t settlings;
    int fd;               /* what stands under the name; claimed, or opened by commit */
    bool claimed, made;   /* it is ours; it was not there before, and nothing has begun */
    struct stat status;   /* of fd */
    uint8_t head[HEAD];   /* of what is read */
    struct body old, new; /* what is read, and what is written */
    struct newfile *file; /* where that is; NULL: nothing is written */
    struct key buffer[PIECE];
};

static struct pending *pending_alloc(const char *path, struct fault *fault)
{
    struct pending *pending = calloc(1, sizeof *pending);
    if (pending == NULL) {
        fault_errno(fault, path, NULL, ENOMEM);
        return NULL;
    }
    pending->path = path;
    pending->fd = -1;
    return pending;
}

static int fault_system(const struct pending *pending, struct fault *fault)
{
    return fault_errno(fault, pending->path, NULL, errno);
}

/* Whether a name leads to the file that was claimed. */
static bool leads_here(const struct pending *pending, const char *name)
{
    struct stat status;
    return stat(name, &status) == 0 && path_same_file(&status, &pending->status);
}

void pending_free(struct pending *pending)
{
    if (pending == NULL)
        return;
    newfile_free(pending->file);
    /* Before the lock goes with the descriptor. */
    if (pending->made && leads_here(pending, pending->target))
        unlink(pending->target);
    if (pending->fd >= 0)
        close(pending->fd);
    free(pending);
}

const char *pending_target(const struct pending *pending)
{
    return pending->target;
}

uint64_t pending_count(const struct pending *pending)
{
    return pending->old.count;
}

uint64_t pending_settlings(const struct pending *pending)
{
    return pending->settlings;
}

/* The next link of the checksum of the keys. */
static uint64_t chain(uint64_t sum, struct key key)
{
    uint8_t bytes[KEY_BYTES];
    store_key(bytes, key);
    return hash_chain(sum, bytes, sizeof bytes);
}

/* --- reading --- */

static int damaged(const struct pending *pending, const char *what, struct fault *fault)
{
    fault_set(fault, pending->path, "damaged file of pending keys: %s", what);
    return fault_way_out(fault, "remove it and run its task again; what was committed from it "
                                "does not come again");
}

static int no_pending_file(const struct pending *pending, struct fault *fault)
{
    if (pending->claimed) {
        fault_set(fault, pending->path, "exists, and is not a file of pending keys");
        return fault_way_out(fault, "name a new file");
    }
    bool filter = store_begins(pending->fd);
    fault_set(fault, pending->path, "is %s a file of pending keys",
              filter ? "a filter, not" : "not");
    return fault_way_out(fault, filter ? "to unite filters: unseen merge"
                                       : "to remember the lines of a file: unseen add");
}

bool pending_is(int fd)
{
    uint8_t bytes[sizeof magic];
    return whole_read_at(fd, bytes, sizeof bytes, 0) == sizeof bytes &&
           memcmp(bytes, magic, sizeof magic) == 0;
}

/* Reads the head. Returns 1; 0 if the file is empty; -1. */
static int read_head(struct pending *pending, struct fault *fault)
{
    size_t got = whole_read_at(pending->fd, pending->head, HEAD, 0);
    if (got < HEAD && errno != 0)
        return fault_system(pending, fault);
    if (got > 0 && (got < sizeof magic || memcmp(pending->head, magic, sizeof magic) != 0))
        return no_pending_file(pending, fault);
    return got > 0;
}

static int check_uuid(const struct pending *pending, struct fault *fault)
{
    if (memcmp(pending->head + 16, pending->uuid, UUID_BYTES) == 0)
        return 0;
    fault_set(fault, pending->path, "belongs to another filter");
    return fault_way_out(fault, pending->claimed ? "name another file for this one"
                                                 : "commit it to the filter that its run named");
}

static int check_size(const struct pending *pending, struct fault *fault)
{
    struct stat status;
    if (fstat(pending->fd, &status) != 0)
        return fault_system(pending, fault);
    uint64_t bytes = (uint64_t)status.st_size;
    if (bytes < HEAD || (bytes - HEAD) % KEY_BYTES != 0 ||
        (bytes - HEAD) / KEY_BYTES != pending->old.count)
        return damaged(pending, "size", fault);
    return 0;
}

static int check_head(struct pending *pending, struct fault *fault)
{
    const uint8_t *head = pending->head;
    if (load64(head + 8) != 1) {
        fault_set(fault, pending->path,
                  "has format version %" PRIu64 "; this program knows version 1", load64(head + 8));
        return fault_way_out(fault, "use a newer unseen");
    }
    if (hash_checksum(head, HEAD - 8) != load64(head + HEAD - 8))
        return damaged(pending, "header", fault);
    pending->old = (struct body){.file = {.fd = pending->fd, .at = HEAD},
                                 .count = load64(head + 32),
                                 .sum = load64(head + 40)};
    pending->settlings = load64(head + 48);
    return check_uuid(pending, fault) == 0 ? check_size(pending, fault) : -1;
}

ptrdiff_t pending_next(struct pending *pending, struct key *keys, size_t most, struct fault *fault)
{
    struct body *body = &pending->old;
    uint64_t left = body->count - body->done;
    size_t n = left < most ? (size_t)left : most;
    if (signals_pending())
        return fault_errno(fault, pending->path, NULL, EINTR);
    if (!key_file_read(body->file, body->done, keys, n))
        return errno != 0 ? fault_system(pending, fault) : damaged(pending, "size", fault);
    for (size_t i = 0; i < n; i++)
        body->summed = chain(body->summed, keys[i]);
    body->done += n;
    if (n == 0 && body->summed != body->sum)
        return damaged(pending, "checksum of the keys", fault);
    return (ptrdiff_t)n;
}

/* Nothing is given out before all of it is known to be good. */
static int check_keys(struct pending *pending, struct fault *fault)
{
    ptrdiff_t n;
    while ((n = pending_next(pending, pending->buffer, PIECE, fault)) > 0) {
    }
    pending->old.done = pending->old.summed = 0;
    return (int)n;
}

static int is_empty(const struct pending *pending, struct fault *fault)
{
    if (lock_ask(pending->fd, LOCK_PENDING) > 0) {
        fault_set(fault, pending->path, "is empty: a run is still writing it");
        fault_way_out(fault, "commit it once that has ended well");
        return fault_may_pass(fault);
    }
    fault_set(fault, pending->path, "is empty: the run that was to write it did not end well");
    return fault_way_out(fault, "run it again, with the same input");
}

static int open_to_read(struct pending *pending, struct fault *fault)
{
    pending->fd = open(pending->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (pending->fd < 0) {
        int error = errno;
        fault_system(pending, fault);
        return error == ENOENT ? fault_way_out(fault, "a run with --pending FILE makes it") : -1;
    }
    if (fstat(pending->fd, &pending->status) != 0)
        return fault_system(pending, fault);
    if (S_ISREG(pending->status.st_mode))
        return 0;
    if (S_ISDIR(pending->status.st_mode))
        fault_errno(fault, pending->path, NULL, EISDIR);
    else
        fault_set(fault, pending->path, "is not a regular file");
    return fault_way_out(fault, "name files that runs with --pending have left");
}

struct pending *pending_open(const char *path, const uint8_t uuid[UUID_BYTES], struct fault *fault)
{
    struct pending *pending = pending_alloc(path, fault);
    if (pending == NULL)
        return NULL;
    memcpy(pending->uuid, uuid, UUID_BYTES);
    int there = open_to_read(pending, fault) == 0 ? read_head(pending, fault) : -1;
    if (there == 0)
        there = is_empty(pending, fault);
    if (there > 0 && check_head(pending, fault) == 0 && check_keys(pending, fault) == 0)
        return pending;
    pending_free(pending);
    return NULL;
}

/* --- claiming --- */

/* What is not there is made, but not where a link leads: anybody may have prepared it. Returns as
 * open. */
static int make(struct pending *pending, int flags)
{
    pending->fd = open(pending->path, flags | O_CREAT | O_EXCL, 0666);
    pending->made = pending->fd >= 0;
    return pending->fd;
}

static int fault_open(const struct pending *pending, struct fault *fault)
{
    int error = errno;
    struct stat link;
    if (error == EEXIST && lstat(pending->path, &link) == 0 && S_ISLNK(link.st_mode)) {
        fault_set(fault, pending->path, "is a symbolic link to a file that does not exist");
        return fault_way_out(fault, "name the file itself");
    }
    if (error == ENOENT && path_check_directory(pending->path, fault) != 0)
        return -1;
    return fault_errno(fault, pending->path, NULL, error);
}

static int open_or_make(struct pending *pending, struct fault *fault)
{
    int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK;
    pending->made = false;
    /* O_CREAT only if it is absent: in a sticky directory it is refused for another user's file.
     * Again, since other runs may make it and remove it just now. */
    for (unsigned i = 0; i < 100; i++) {
        pending->fd = open(pending->path, flags);
        if (pending->fd >= 0 || errno != ENOENT || make(pending, flags) >= 0 || errno != EEXIST)
            break;
    }
    if (pending->fd < 0)
        return fault_open(pending, fault);
    if (fstat(pending->fd, &pending->status) != 0)
        return fault_system(pending, fault);
    if (!S_ISREG(pending->status.st_mode))
        return fault_set(fault, pending->path, "is not a regular file");
    return 0;
}

static int lock(struct pending *pending, struct fault *fault)
{
    int got = lock_try(pending->fd, LOCK_PENDING);
    if (got > 0)
        return 0;
    pending->made = false; /* another run's by now */
    if (got < 0)
        return fault_errno(fault, pending->path, "cannot be locked", errno);
    fault_set(fault, pending->path, "another run is writing it");
    fault_way_out(fault, "wait until it has ended; another task needs another file");
    return fault_may_pass(fault);
}

/* Opens and locks what the name leads to; again, if that was replaced before it was locked. */
static int claim(struct pending *pending, struct fault *fault)
{
    while (open_or_make(pending, fault) == 0 && lock(pending, fault) == 0) {
        /* It has no full name that can be looked up where a directory above may not be searched:
         * path_check_replaceable then says so. */
        if (realpath(pending->path, pending->target) == NULL)
            snprintf(pending->target, sizeof pending->target, "%s", pending->path);
        if (leads_here(pending, pending->target))
            /* Better said now than after the last line. */
            return read_head(pending, fault) >= 0
                       ? path_check_replaceable(pending->path, &pending->status, fault)
                       : -1;
        if (signals_pending())
            return fault_errno(fault, pending->path, NULL, EINTR);
        close(pending->fd);
    }
    return -1;
}

struct pending *pending_claim(const char *path, struct fault *fault)
{
    struct pending *pending = pending_alloc(path, fault);
    if (pending == NULL)
        return NULL;
    pending->claimed = true;
    if (claim(pending, fault) == 0)
        return pending;
    pending_free(pending);
    return NULL;
}

/* --- writing --- */

/* Whether it is a new file of pending keys, or the beginning of one, in which the head comes last;
 * and nobody's, which only a lock can tell: between machines, there may be none. */
static bool is_leftover(const struct pending *pending, int fd)
{
    static const uint8_t none[HEAD];
    uint8_t head[HEAD];
    struct stat status;
    struct fault ignored;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
        (status.st_uid != geteuid() && status.st_uid != pending->status.st_uid) ||
        network_check(fd, pending->path, &ignored) != 0 || lock_ask(fd, LOCK_PENDING) != 0)
        return false;
    size_t got = whole_read_at(fd, head, HEAD, 0);
    return (got == 0 && errno == 0) || (got == HEAD && (memcmp(head, none, HEAD) == 0 ||
                                                        memcmp(head, magic, sizeof magic) == 0));
}

/* A run that was killed while its new file had that name has left it. As long as FILE is claimed
 * nobody else makes one. */
static void remove_leftover(const struct pending *pending)
{
    char name[NEWFILE_NAME_MAX];
    newfile_temporary_name(pending->target, temporary, name);
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (is_leftover(pending, fd))
        unlink(name);
    close(fd);
}

static int start_new(struct pending *pending, bool whole, struct fault *fault)
{
    struct newfile_plan plan = {.path = pending->target,
                                .over = true,
                                .suffix = temporary,
                                .like = &pending->status};
    int fd;
    remove_leftover(pending);
    pending->file = newfile_begin(&plan, &fd);
    if (pending->file == NULL)
        return fault_errno(fault, pending->path, "no new file can be made beside it", errno);
    (void)lock_try(fd, LOCK_PENDING); /* for is_leftover */
    pending->new.file = (struct key_file){.fd = fd, .at = HEAD};
    pending->made = false;
    return whole;
}

int pending_begin(struct pending *pending, const uint8_t uuid[UUID_BYTES], uint64_t settlings,
                  struct fault *fault)
{
    memcpy(pending->uuid, uuid, UUID_BYTES);
    pending->settlings = settlings;
    int there = read_head(pending, fault);
    if (there < 0 || (there > 0 && check_head(pending, fault) != 0))
        return -1;
    return start_new(pending, there > 0, fault);
}

static int flush(struct pending *pending, struct fault *fault)
{
    struct body *body = &pending->new;
    uint64_t from = body->done;
    body->done = body->count; /* even if it fails: the buffer must not overflow */
    if (!key_file_write(body->file, from, pending->buffer, (size_t)(body->count - from)))
        return fault_system(pending, fault);
    return 0;
}

int pending_append(struct pending *pending, struct key key, struct fault *fault)
{
    struct body *body = &pending->new;
    pending->buffer[body->count++ - body->done] = key;
    body->sum = chain(body->sum, key);
    return body->count - body->done == PIECE ? flush(pending, fault) : 0;
}

static void make_head(const struct pending *pending, uint8_t head[HEAD])
{
    memcpy(head, magic, sizeof magic);
    store64(head + 8, 1);
    memcpy(head + 16, pending->uuid, UUID_BYTES);
    store64(head + 32, pending->new.count);
    store64(head + 40, pending->new.sum);
    store64(head + 48, pending->settlings);
    store64(head + HEAD - 8, hash_checksum(head, HEAD - 8));
}

static int check_names(const struct pending *pending, struct fault *fault)
{
    if (leads_here(pending, pending->path) && leads_here(pending, pending->target))
        return 0;
    fault_set(fault, pending->path, "was replaced or removed during this run");
    fault_way_out(fault, "run it again, with the same input");
    return fault_may_pass(fault);
}

/* Whether what was read is as it was: then a file with the same head is there, and on disk. */
static bool is_untouched(const struct pending *pending)
{
    const struct stat *was = &pending->status;
    struct stat is;
    return fstat(pending->fd, &is) == 0 && is.st_size == was->st_size &&
           is.st_ctim.tv_sec == was->st_ctim.tv_sec && is.st_ctim.tv_nsec == was->st_ctim.tv_nsec;
}

int pending_finish(struct pending *pending, struct fault *fault)
{
    uint8_t head[HEAD];
    make_head(pending, head);
    if (flush(pending, fault) != 0 || check_names(pending, fault) != 0)
        return -1;
    if (memcmp(head, pending->head, HEAD) == 0 && is_untouched(pending))
        return 0;
    if (whole_write_at(pending->new.file.fd, head, HEAD, 0) != HEAD)
        return fault_system(pending, fault);
    int result = newfile_end(pending->file);
    if (result == 0)
        return 0;
    if (result < 0)
        return fault_system(pending, fault);
    fault_errno(fault, pending->path, NULL, EEXIST); /* made by another run just now */
    return fault_may_pass(fault);
}
