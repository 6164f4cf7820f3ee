/* queue - opening one, making one, and its lock; see queue.h. */
#include "queue/internal.h"

#include "format/shared.h"
#include "io/side_file.h"
#include "system/io.h"
#include "system/network.h"
#include "system/path.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int queue_open_segment(const struct queue *queue, uint64_t number, int flags, struct fault *fault)
{
    char path[SIDE_FILE_NAME_MAX + 24];
    snprintf(path, sizeof path, "%s/" SEGMENT_NAME, queue->path, number);
    if (number <= 9999999999)
        return side_file_open(path, flags, &queue->filter_stat, fault);
    fault_set(fault, queue->path, "the segment numbers are used up");
    fault->error = ENOENT;
    return -1;
}

int queue_make_room(struct queue *queue, size_t bytes, struct fault *fault)
{
    if (bytes <= queue->capacity)
        return 0;
    bytes += QUEUE_CHUNK;
    char *buffer = realloc(queue->buffer, bytes);
    if (buffer == NULL)
        return fault_errno(fault, queue->path, "a line does not fit into memory", ENOMEM);
    queue->buffer = buffer;
    queue->capacity = bytes;
    return 0;
}

/* Whether a path still leads to what was opened. */
static int check_name(const struct queue *queue, const char *path, const struct stat *opened,
                      struct fault *fault)
{
    struct stat named;
    if (stat(path, &named) == 0 && path_same_file(&named, opened))
        return 0;
    fault_set(fault, path, "was replaced or removed during this run");
    if (queue->plan.use == QUEUE_PUSH)
        fault_way_out(fault, "run it again, with the same input");
    return fault_temporary(fault);
}

/* The lines of `path` end with the other delimiter. */
static int fault_delimiter(const char *path, bool nuls, struct fault *fault)
{
    fault_set(fault, path, "its lines end with %s",
              nuls ? "NUL, not a newline" : "a newline, not NUL");
    return fault_way_out(fault, nuls ? "add -z" : "leave -z out");
}

int queue_find(struct queue *queue, struct fault *fault)
{
    uint8_t kind;
    char name[QUOTE_MAX], *delimiter = &queue->plan.delimiter;
    if (queue->directory >= 0)
        return check_name(queue, queue->path, &queue->directory_stat, fault) == 0 ? 1 : -1;
    if (io_read_at(queue->filter, &kind, 1, QUEUE_AT) != 1)
        return fault_errno(fault, queue->filter_path, NULL, errno != 0 ? errno : EIO);
    if (kind == QUEUE_NONE)
        return 0;
    if (kind > QUEUE_OF_NULS)
        return fault_set(fault, queue->filter_path, "damaged filter: unknown kind of queue");
    if (queue->plan.use == QUEUE_LOOK)
        *delimiter = kind == QUEUE_OF_NULS ? '\0' : '\n';
    if ((kind == QUEUE_OF_NULS) != (*delimiter == '\0'))
        return fault_delimiter(queue->path, kind == QUEUE_OF_NULS, fault);
    queue->directory = side_file_open_directory(queue->path, &queue->filter_stat,
                                                &queue->directory_stat, fault);
    if (queue->directory < 0 && fault->error == ENOENT)
        fault_way_out(fault, "move it back; or, to start with an empty queue: mkdir %s",
                      quote_file(queue->path, name));
    if (queue->directory >= 0 && queue->plan.use != QUEUE_LOOK &&
        network_check(queue->directory, queue->path, fault) != 0)
        return -1;
    return queue->directory >= 0 ? 1 : -1;
}

/* Whether the directory that is in the way is a queue, with no line that waits, unless the plan
 * takes these over. */
static int check_left(struct queue *queue, struct fault *fault)
{
    struct left left;
    if (queue_look_left(queue, &left, fault) != 0)
        return -1;
    if (!left.is_queue || left.facts.foreign[0] != '\0') {
        fault_errno(fault, queue->path, "cannot be created", EEXIST);
        return fault_way_out(fault, "move it away");
    }
    if (!queue->plan.takes_over && queue_refuse_left(queue, &left, QUEUE_NONE, true, fault) != 0)
        return -1;
    queue->taken_over = left.facts.waiting + left.facts.held;
    return left.delimiter == queue->plan.delimiter
               ? 0
               : fault_delimiter(queue->path, left.delimiter == '\0', fault);
}

/* Under the lock. A queue that another filter has left is taken over, or refused. */
static int make_queue(struct queue *queue, struct fault *fault)
{
    uint8_t kind = queue->plan.delimiter == '\0' ? QUEUE_OF_NULS : QUEUE_OF_LINES;
    char quoted[QUOTE_MAX];
    struct stat status;
    bool there = rmdir(queue->path) != 0 && (errno == ENOTEMPTY || errno == EEXIST);
    if (there && check_left(queue, fault) != 0)
        return -1;
    bool failed = lstat(queue->failed_path, &status) == 0;
    if (!failed && errno == ENAMETOOLONG) {
        fault_set(fault, queue->filter_path, "its name is too long for a queue");
        return fault_way_out(fault, "give it one of at most %d bytes",
                             NAME_MAX - (int)strlen(".failed"));
    }
    if (failed && !queue->plan.takes_over) {
        fault_set(fault, queue->failed_path, "existed before the queue");
        return fault_way_out(fault, "move it away; or, to queue its lines: unseen push --failed %s",
                             quote_file(queue->filter_path, quoted));
    }
    if (!there && mkdir(queue->path, 0700) != 0) {
        fault_errno(fault, queue->path, "cannot be created", errno);
        return fault->error == EEXIST ? fault_way_out(fault, "move it away") : -1;
    }
    queue->directory = side_file_open_directory(queue->path, &queue->filter_stat,
                                                &queue->directory_stat, fault);
    if (queue->directory < 0)
        return -1;
    if (!there)
        side_file_copy_owner(queue->directory, &queue->filter_stat);
    /* Flushed before any line. */
    path_sync_directory(queue->path);
    if (io_write_at(queue->filter, &kind, 1, QUEUE_AT) == 1 && fdatasync(queue->filter) == 0)
        return 0;
    return fault_errno(fault, queue->filter_path, NULL, errno);
}

static int open_all(struct queue *queue, struct fault *fault)
{
    const char *path = queue->filter_path;
    bool look = queue->plan.use == QUEUE_LOOK;
    queue->filter = open(path, (look ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    if (queue->filter < 0 || fstat(queue->filter, &queue->filter_stat) != 0)
        return fault_errno(fault, path, NULL, errno);
    if (!look && network_check(queue->filter, path, fault) != 0)
        return -1;
    if (queue->plan.use != QUEUE_PUSH)
        return queue_find(queue, fault);
    int found = queue_lock(queue, fault);
    if (found < 0)
        return -1;
    if (found == 0)
        found = make_queue(queue, fault);
    queue_unlock(queue);
    return found;
}

struct queue *queue_new(const char *filter, const struct queue_plan *plan, struct fault *fault)
{
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        fault_errno(fault, filter, NULL, ENOMEM);
        return NULL;
    }
    queue->plan = *plan;
    queue->filter_path = filter;
    queue->filter = queue->directory = -1;
    side_file_name(filter, ".queue", queue->path);
    side_file_name(filter, ".failed", queue->failed_path);
    return queue;
}

struct queue *queue_open(const char *filter, const struct queue_plan *plan, struct fault *fault)
{
    struct queue *queue = queue_new(filter, plan, fault);
    if (queue == NULL || open_all(queue, fault) >= 0)
        return queue;
    queue_close(queue);
    return NULL;
}

void queue_close(struct queue *queue)
{
    if (queue == NULL)
        return;
    queue_close_segments(queue);
    if (queue->directory >= 0)
        close(queue->directory);
    if (queue->filter >= 0)
        close(queue->filter);
    free(queue->buffer);
    free(queue);
}

void queue_allow(const char *filter, bool writes, struct confine *confine)
{
    char name[SIDE_FILE_NAME_MAX];
    unsigned uses = CONFINE_READ | CONFINE_LIST | (writes ? CONFINE_WRITE : 0);
    if (!writes) {
        side_file_name(filter, ".failed", name);
        confine_allow(confine, name, CONFINE_OPEN);
        confine_allow(confine, filter, CONFINE_OPEN);
    }
    side_file_name(filter, ".queue", name);
    /* pop --wait may find a queue that is made later. */
    if (!writes || access(name, F_OK) == 0)
        confine_allow(confine, name, uses);
    else
        confine_allow_place(confine, name, uses);
}

/* --- the lock --- */

int queue_lock(struct queue *queue, struct fault *fault)
{
    int found = -1;
    if (lock_take(queue->filter, LOCK_QUEUE, queue->run_count > 0, queue->plan.waits,
                  queue->path) != 0)
        return fault_errno(fault, queue->path, "cannot be locked", errno);
    if (check_name(queue, queue->filter_path, &queue->filter_stat, fault) == 0)
        found = queue_find(queue, fault);
    if (found < 0)
        queue_unlock(queue);
    return found;
}

void queue_unlock(struct queue *queue)
{
    lock_drop(queue->filter, LOCK_QUEUE);
}
