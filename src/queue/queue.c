/* queue - opening one, and its lock; see queue.h and internal.h. */
#include "queue/internal.h"

#include "core/quote.h"

#include "system/network.h"
#include "system/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- opening --- */

struct queue *queue_new(const char *filter, struct fault *fault)
{
    char path[BESIDE_MAX];
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue != NULL) {
        queue->directory = queue->fd = queue->notify = queue->read_fd = queue->write_fd = -1;
        queue->state.delimiter = '\n';
        queue->state.used = 1;
        queue_set_max_line(queue, 1 << 30);
        if (stat(filter, &queue->like) != 0)
            queue->like.st_nlink = 0;
        beside_name(filter, ".queue", path);
        queue->path = strdup(path);
        if (queue->path != NULL)
            return queue;
    }
    free(queue);
    fault_errno(fault, filter, NULL, ENOMEM);
    return NULL;
}

/* Whoever made the directory, or a link of that name, can put other files into it at any time. */
static int check_owner(const struct queue *queue, const struct stat *status, struct fault *fault)
{
    const struct stat ours = {.st_uid = geteuid()};
    const struct stat *filter = queue->like.st_nlink != 0 ? &queue->like : &ours;
    if (beside_is_trusted(queue->path, status, filter))
        return 0;
    fault_set(fault, queue->path, "belongs to user %ju, who may not write to the filter",
              (uintmax_t)status->st_uid);
    return fault_way_out(fault, "move it away, or name another filter");
}

static int fault_directory(const struct queue *queue, struct fault *fault)
{
    char name[QUOTE_MAX];
    fault_errno(fault, queue->path, NULL, errno);
    if (fault->error == ENOENT)
        fault_way_out(fault, "put it back; or, to start with an empty queue: mkdir %s",
                      quote_file(queue->path, name));
    return -1;
}

/* First what has the name. If it is a link of somebody who is trusted, he leads on. */
int queue_open_directory(struct queue *queue, struct fault *fault)
{
    struct stat status;
    if (lstat(queue->path, &status) != 0)
        return fault_directory(queue, fault);
    if (check_owner(queue, &status, fault) != 0)
        return -1;
    queue->directory = open(queue->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (queue->directory < 0 || fstat(queue->directory, &status) != 0)
        return fault_directory(queue, fault);
    return check_owner(queue, &status, fault);
}

/* Whoever opened the filter to more users meant its lines, too. The directory still keeps out whom
 * it kept out. */
static void share_state(const struct queue *queue)
{
    struct stat now;
    mode_t more = queue->like.st_mode & 0666;
    if (queue->like.st_nlink != 0 && fstat(queue->fd, &now) == 0 && (more & ~now.st_mode) != 0)
        (void)fchmod(queue->fd, (now.st_mode & 0777) | more);
}

static int open_all(struct queue *queue, const uint8_t uuid[UUID_BYTES], bool write,
                    struct fault *fault)
{
    if (queue_open_directory(queue, fault) != 0)
        return -1;
    if (write && network_check(queue->directory, queue->path, fault) != 0)
        return -1;
    int there = queue_open_state(queue, write, fault);
    if (there <= 0)
        return there;
    if (memcmp(queue->head.uuid, uuid, UUID_BYTES) != 0) {
        fault_set(fault, queue->path, "is the queue of another filter");
        return fault_way_out(fault, "put it back beside that one");
    }
    if (write)
        share_state(queue);
    return 0;
}

struct queue *queue_open(const char *filter, const uint8_t uuid[UUID_BYTES], bool write,
                         uint64_t segment_bytes, struct fault *fault)
{
    struct queue *queue = queue_new(filter, fault);
    if (queue == NULL)
        return NULL;
    memcpy(queue->head.uuid, uuid, UUID_BYTES);
    queue->head.segment_bytes = segment_bytes;
    if (open_all(queue, uuid, write, fault) == 0)
        return queue;
    queue_close(queue);
    return NULL;
}

void queue_close(struct queue *queue)
{
    if (queue == NULL)
        return;
    const int fds[] = {queue->directory, queue->notify, queue->read_fd, queue->write_fd,
                       queue->fd}; /* the last drops all locks */
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(queue->buffer);
    free(queue->path);
    free(queue);
}

const char *queue_path(const struct queue *queue)
{
    return queue->path;
}

int queue_open_file(const struct queue *queue, const char *name, int flags)
{
    int fd = segment_open_named(queue->directory, name, flags);
    for (unsigned i = 0; i < 100 && fd < 0 && errno == ENOENT; i++) {
        fd = segment_open_named(queue->directory, name, flags | O_CREAT | O_EXCL);
        if (fd >= 0)
            queue_follow(queue, fd);
        else if (errno == EEXIST) /* somebody has just made it */
            fd = segment_open_named(queue->directory, name, flags);
    }
    return fd;
}

/* --- the lock --- */

bool queue_names(const struct queue *queue, const char *name, int fd)
{
    struct stat open, named;
    return fstatat(queue->directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstat(fd, &open) == 0 && path_same_file(&open, &named);
}

int queue_check_name(const struct queue *queue, struct fault *fault)
{
    struct stat open, named;
    int result = stat(queue->path, &named);
    if (result == 0 && fstat(queue->directory, &open) == 0 && path_same_file(&open, &named) &&
        queue_names(queue, "state", queue->fd))
        return 0;
    fault_set(fault, queue->path, "was %s during this run", result == 0 ? "replaced" : "removed");
    fault_way_out(fault, "run it again, with the same input");
    return fault_may_pass(fault);
}

int queue_begin(struct queue *queue, struct fault *fault)
{
    if (lock_take(queue->fd, LOCK_CHANGE, queue->owned > 0, queue->waits, queue) != 0)
        return fault_errno(fault, queue->path, "cannot be locked", errno);
    if (queue_check_name(queue, fault) == 0 && queue_load(queue, fault) == 0)
        return 0;
    queue_end(queue);
    return -1;
}

void queue_end(struct queue *queue)
{
    lock_drop(queue->fd, LOCK_CHANGE);
}

/* --- settings --- */

void queue_set_waits(struct queue *queue, lock_waits *waits)
{
    queue->waits = waits;
}

void queue_set_max_line(struct queue *queue, uint64_t bytes)
{
    queue->max_line = bytes < SIZE_MAX ? bytes + 1 : SIZE_MAX;
}

int queue_set_delimiter(struct queue *queue, char delimiter, bool first, struct fault *fault)
{
    struct queue_state *state = &queue->state;
    int result = 0;
    if (queue_begin(queue, fault) != 0)
        return -1;
    bool other = state->known && state->delimiter != delimiter;
    if (!state->known) {
        state->known = first;
        state->delimiter = delimiter;
        result = first ? queue_save(queue, fault) : 0;
    }
    queue_end(queue);
    if (!other)
        return result;
    fault_set(fault, queue->path, "its lines end with %s",
              delimiter == '\0' ? "a newline, not NUL" : "NUL, not a newline");
    return fault_way_out(fault, delimiter == '\0' ? "leave -z out" : "add -z");
}
