/* queue - opening one, making one, its lock, and what is in it; see queue.h. */
#include "queue/internal.h"

#include "core/bytes.h"
#include "format/shared.h"
#include "io/side_file.h"
#include "system/io.h"
#include "system/path.h"
#include "text/number.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- what is there --- */

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

int queue_lock(struct queue *queue, struct fault *fault)
{
    int found = -1;
    if (lock_take(queue->filter, LOCK_QUEUE, queue->holding_count > 0, queue->plan.waits,
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

int queue_reserve(struct queue *queue, size_t bytes, struct fault *fault)
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

/* --- counting, without the lock --- */

/* Counts what is in FILTER.queue and FILTER.failed. Returns 0, or -1 with the fault. */
static int count_all(struct queue *queue, struct queue_facts *facts, struct fault *fault)
{
    const char delimiter = queue->plan.delimiter;
    struct segments found;
    struct segment segment = {.number = 0};
    int result;
    *facts = (struct queue_facts){0};
    if (segments_find(&found, queue->directory, queue->path, 0, fault) != 0)
        return -1;
    strcpy(facts->foreign, found.foreign);
    while ((result = segment_open_next(queue, &segment, O_RDONLY, fault)) > 0) {
        struct record record = {.end = 0};
        uint64_t until = 0;
        size_t from = 0;
        bool held = false;
        result = segment_map(&segment, false, delimiter, queue->path, fault);
        for (; segment_next(&segment, from, delimiter, &record); from = record.end) {
            bool waits = record_waits(&record);
            if (waits && record.at >= until) {
                until = segment.length;
                held = segment_is_held(&segment, record.at, &until);
            }
            facts->held += waits && held;
            facts->waiting += waits && !held;
            facts->removed += record.status == '-';
            facts->unknown += !waits && record.status != '-';
            facts->cut += record.at - from;
        }
        facts->cut += segment.size - from;
        segment_close(&segment);
        if (result != 0)
            return -1;
    }
    if (result < 0)
        return -1;
    segment.fd = side_file_open(queue->failed_path, O_RDONLY, &queue->filter_stat, fault);
    if (segment.fd < 0)
        return fault->error == ENOENT || fault->error == ENAMETOOLONG ? 0 : -1;
    result = segment_map(&segment, false, delimiter, queue->failed_path, fault);
    if (segment.length > 0)
        facts->given_up = lines_in(segment.bytes, segment.length, delimiter);
    segment_close(&segment);
    return result;
}

/* What is in FILTER.queue, and beside it in FILTER.failed, of a queue that may be another
 * filter's. */
struct left {
    struct queue_facts facts; /* all 0 if there is no such directory */
    char delimiter;           /* as most records have it */
    bool is_queue;            /* there is such a directory */
};

/* Counts with both delimiters: nothing says which of them ends the records. Returns 0, or -1 with
 * the fault. */
static int count_left(struct queue *queue, struct left *left, struct fault *fault)
{
    uint64_t most = 0;
    char own = queue->plan.delimiter;
    int result = 0;
    *left = (struct left){.delimiter = own};
    queue->directory = side_file_open_directory(queue->path, &queue->filter_stat,
                                                &queue->directory_stat, fault);
    if (queue->directory < 0)
        return fault->error == 0 || fault->error == ENOENT || fault->error == ENOTDIR ||
                       fault->error == ENAMETOOLONG
                   ? 0
                   : -1;
    left->is_queue = true;
    for (int pass = 0; pass < 2 && result == 0; pass++) {
        struct queue_facts facts;
        queue->plan.delimiter = pass == 0 ? '\n' : '\0';
        result = count_all(queue, &facts, fault);
        uint64_t records = facts.waiting + facts.held + facts.removed;
        if (pass > 0 && records <= most)
            continue;
        left->facts = facts;
        left->delimiter = records > 0 ? queue->plan.delimiter : own;
        most = records;
    }
    queue->plan.delimiter = own;
    close(queue->directory);
    queue->directory = -1;
    return result;
}

/* Returns -1 with the fault if lines wait or were given up there, else 0. `kind`: of the filter's
 * queue; `exists`: whether there is a filter. */
static int refuse_left(const struct queue *queue, const struct left *left, uint8_t kind,
                       bool exists, struct fault *fault)
{
    char name[SIDE_FILE_NAME_MAX], side[QUOTE_MAX], filter[QUOTE_MAX];
    uint64_t waiting = left->facts.waiting + left->facts.held;
    uint64_t lines = waiting > 0 ? waiting : left->facts.given_up;
    const char *path = queue->filter_path, *zero = left->delimiter == '\0' ? " -z" : "";
    const char *them = number_of(lines, "it", "them"), *rm = waiting > 0 ? "rm -r" : "rm";
    if (lines == 0)
        return 0;
    quote_file(path, filter);
    side_file_shown(path, waiting > 0 ? ".queue" : ".failed", name);
    quote_file(name, side);
    fault_set(fault, path, "%" PRIu64 " %s in %.150s%s", lines,
              waiting > 0 ? number_of(lines, "line waits", "lines wait")
                          : number_of(lines, "line was given up", "lines were given up"),
              name, kind == QUEUE_NONE && exists ? ", but this filter has no queue" : "");
    if (kind != QUEUE_NONE && waiting > 0)
        return fault_way_out(fault, "work %s off: unseen pop%s %s; or drop %s: %s %s", them, zero,
                             filter, them, rm, side);
    return fault_way_out(fault, "to queue %s again: unseen push%s --failed%s %s; or drop %s: %s %s",
                         them, exists ? "" : " --create", zero, filter, them, rm, side);
}

/* --- opening --- */

/* A queue of which nothing is open yet. NULL with the fault. */
static struct queue *new_queue(const char *filter, int fd, const struct queue_plan *plan,
                               struct fault *fault)
{
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        fault_errno(fault, filter, NULL, ENOMEM);
        return NULL;
    }
    queue->plan = *plan;
    queue->filter_path = filter;
    queue->filter = fd;
    queue->directory = -1;
    side_file_name(filter, ".queue", queue->path);
    side_file_name(filter, ".failed", queue->failed_path);
    return queue;
}

/* Under the lock. A queue that another filter has left is taken over, or refused. */
static int make_queue(struct queue *queue, struct fault *fault)
{
    uint8_t kind = queue->plan.delimiter == '\0' ? QUEUE_OF_NULS : QUEUE_OF_LINES;
    char quoted[QUOTE_MAX];
    struct stat status;
    /* 1. A directory that is in the way is a queue, with no line that waits, unless the plan takes
     * these over. */
    bool there = rmdir(queue->path) != 0 && (errno == ENOTEMPTY || errno == EEXIST);
    if (there) {
        struct left left;
        if (count_left(queue, &left, fault) != 0)
            return -1;
        if (!left.is_queue || left.facts.foreign[0] != '\0') {
            fault_errno(fault, queue->path, "cannot be created", EEXIST);
            return fault_way_out(fault, "move it away");
        }
        if (!queue->plan.takes_over && refuse_left(queue, &left, QUEUE_NONE, true, fault) != 0)
            return -1;
        queue->taken_over = left.facts.waiting + left.facts.held;
        if (left.delimiter != queue->plan.delimiter)
            return fault_delimiter(queue->path, left.delimiter == '\0', fault);
    }
    /* 2. Nor are there lines that were given up. */
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
    /* 3. The directory is made, and flushed before any line; then FILTER is told. */
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
    path_sync_directory(queue->path);
    if (io_write_at(queue->filter, &kind, 1, QUEUE_AT) == 1 && fdatasync(queue->filter) == 0)
        return 0;
    return fault_errno(fault, queue->filter_path, NULL, errno);
}

struct queue *queue_open(const char *filter, int fd, const struct queue_plan *plan,
                         struct fault *fault)
{
    struct queue *queue = new_queue(filter, fd, plan, fault);
    if (queue == NULL)
        return NULL;
    int found = fstat(fd, &queue->filter_stat) == 0 ? 0 : fault_errno(fault, filter, NULL, errno);
    if (found == 0 && plan->use != QUEUE_PUSH) {
        found = queue_find(queue, fault);
    } else if (found == 0 && (found = queue_lock(queue, fault)) >= 0) {
        if (found == 0)
            found = make_queue(queue, fault);
        queue_unlock(queue);
    }
    if (found >= 0)
        return queue;
    queue_close(queue);
    return NULL;
}

void queue_close(struct queue *queue)
{
    if (queue == NULL)
        return;
    while (queue->open_count > 0)
        segment_close(&queue->open[--queue->open_count]);
    if (queue->directory >= 0)
        close(queue->directory);
    free(queue->buffer);
    free(queue);
}

int queue_facts(const char *filter, int fd, struct queue_facts *facts, struct fault *fault)
{
    struct queue *queue = queue_open(filter, fd, &(struct queue_plan){.use = QUEUE_LOOK}, fault);
    *facts = (struct queue_facts){0};
    if (queue == NULL)
        return fault->error == ENOENT ? 1 : -1;
    int result = queue->directory >= 0 ? count_all(queue, facts, fault) : 0;
    queue_close(queue);
    return result;
}

int queue_check_left(const char *filter, int fd, struct fault *fault)
{
    struct left left;
    uint8_t before = QUEUE_NONE, kind = QUEUE_NONE;
    int own = fd < 0 ? open(filter, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    fd = fd < 0 ? own : fd;
    struct queue *queue = new_queue(filter, fd, &(struct queue_plan){.use = QUEUE_LOOK}, fault);
    int result = -1;
    if (queue != NULL) {
        bool exists = fd >= 0 && fstat(fd, &queue->filter_stat) == 0 &&
                      io_read_at(fd, &before, 1, QUEUE_AT) == 1;
        result = count_left(queue, &left, fault);
        /* Another process may have made the queue just now. */
        bool made = exists && before == QUEUE_NONE && io_read_at(fd, &kind, 1, QUEUE_AT) == 1 &&
                    kind != before;
        if (result == 0 && !made)
            result = refuse_left(queue, &left, before, exists, fault);
        queue_close(queue);
    }
    if (own >= 0)
        close(own);
    return result;
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
