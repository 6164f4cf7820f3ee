/* queue - opening, and putting in; see queue.h. */
#include "file/queue_internal.h"

#include "file/beside.h"
#include "file/segment.h"
#include "io/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<linux/fs.h>) /* not part of every libc */
#include <linux/fs.h>
#endif

/* --- making --- */

int queue_check_free(const char *filter, struct fault *fault)
{
    char path[BESIDE_MAX];
    beside_name(filter, ".queue", path);
    /* The only question that a directory answers by itself is whether it can be removed. */
    if (rmdir(path) == 0 || errno == ENOENT)
        return 0;
    fault_errno(fault, path, NULL, errno);
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
        fault_way_out(fault, "a queue is there already: remove it first");
    return -1;
}

int queue_make(const char *filter, struct fault *fault)
{
    char path[BESIDE_MAX];
    beside_name(filter, ".queue", path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return fault_errno(fault, path, "cannot be made", errno);
    return 0;
}

/* --- the state --- */

static bool reads(const struct queue *queue, void *bytes, size_t length, uint64_t at)
{
    return whole_read_at(queue->fd, bytes, length, at) == length;
}

static bool writes(const struct queue *queue, const void *bytes, size_t length, uint64_t at)
{
    return whole_write_at(queue->fd, bytes, length, at) == length;
}

static uint64_t copy_at(unsigned copy)
{
    return QUEUE_HEAD_BYTES + (uint64_t)copy * QUEUE_COPY_BYTES;
}

/* Most copies are shorter than a page. */
static bool read_copy(struct queue *queue, unsigned copy)
{
    enum { PAGE = 4096 };
    uint8_t *bytes = queue->copies[copy];
    uint64_t at = copy_at(copy);
    if (!reads(queue, bytes, PAGE, at))
        return false;
    size_t length = queue_state_length(bytes);
    return length <= PAGE || reads(queue, bytes + PAGE, length - PAGE, at + PAGE);
}

int queue_load(struct queue *queue, struct fault *fault)
{
    if (!read_copy(queue, 0) || !read_copy(queue, 1))
        return queue_damaged(queue, "its state cannot be read", fault);
    unsigned newer = load64(queue->copies[1] + 8) > load64(queue->copies[0] + 8);
    if (queue_state_decode(queue->copies[newer], &queue->state) ||
        queue_state_decode(queue->copies[!newer], &queue->state))
        return 0;
    return queue_damaged(queue, "its state makes no sense", fault);
}

int queue_save(struct queue *queue, struct fault *fault)
{
    unsigned older = (unsigned)(++queue->state.sequence & 1);
    size_t length = queue_state_encode(&queue->state, queue->copies[older]);
    if (writes(queue, queue->copies[older], length, copy_at(older)))
        return 0;
    return fault_errno(fault, queue->path, "its state cannot be written", errno);
}

int queue_begin(struct queue *queue, struct fault *fault)
{
    if (lock_take(queue->fd, LOCK_CHANGE, queue->waits, queue->waits_context) != 0)
        return fault_errno(fault, queue->path, "cannot be locked", errno);
    if (queue_load(queue, fault) == 0)
        return 0;
    queue_end(queue);
    return -1;
}

void queue_end(struct queue *queue)
{
    lock_drop(queue->fd, LOCK_CHANGE);
}

/* --- opening --- */

/* Lines must be taken off a full disk, too. Where a file system writes every change to a new place,
 * it is asked not to; others do not know the question. */
static void write_in_place(int fd)
{
#ifdef FS_NOCOW_FL
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0)
        return;
    flags |= FS_NOCOW_FL;
    (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
#else
    (void)fd;
#endif
}

/* Under the lock. The head comes last: without it there is no state yet. */
static int write_first_state(struct queue *queue, struct fault *fault)
{
    uint8_t head[QUEUE_HEAD_BYTES];
    write_in_place(queue->fd);
    int error = posix_fallocate(queue->fd, 0, QUEUE_STATE_BYTES);
    if (error != 0) {
        (void)!ftruncate(queue->fd, 0);
        return fault_errno(fault, queue->path, "its state cannot be made", error);
    }
    queue_head_encode(&queue->head, head);
    if (queue_save(queue, fault) != 0)
        return -1;
    if (!writes(queue, head, sizeof head, 0) || fsync(queue->fd) != 0)
        return fault_errno(fault, queue->path, "its state cannot be made", errno);
    return 0;
}

static int check_head(struct queue *queue, const uint8_t *bytes, struct fault *fault)
{
    struct queue_head head;
    if (queue_head_decode(bytes, queue->path, &head, fault) != 0)
        return -1;
    if (memcmp(head.uuid, queue->head.uuid, UUID_BYTES) != 0) {
        fault_set(fault, queue->path, "is the queue of another filter");
        return fault_way_out(fault, "put it back beside that one, or remove it");
    }
    queue->head = head;
    return 0;
}

/* Under the lock, if it is opened for writing. */
static int read_head(struct queue *queue, bool write, struct fault *fault)
{
    uint8_t bytes[QUEUE_HEAD_BYTES] = {0};
    static const uint8_t nothing[8];
    /* Only a file that is too short is a new one: what cannot be read may hold lines. */
    if (whole_read_at(queue->fd, bytes, sizeof bytes, 0) < sizeof bytes) {
        if (errno != 0)
            return fault_errno(fault, queue->path, NULL, errno);
        memset(bytes, 0, sizeof bytes);
    }
    if (memcmp(bytes, nothing, sizeof nothing) != 0)
        return check_head(queue, bytes, fault);
    if (write)
        return write_first_state(queue, fault);
    close(queue->fd);
    queue->fd = -1;
    return 0;
}

static int open_directory(struct queue *queue, struct fault *fault)
{
    queue->directory = open(queue->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (queue->directory >= 0)
        return 0;
    fault_errno(fault, queue->path, NULL, errno);
    if (errno == ENOENT)
        fault_way_out(fault, "to start with an empty queue: mkdir %s", queue->path);
    return -1;
}

static int open_state_file(const struct queue *queue, int flags)
{
    return openat(queue->directory, "state", flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
}

static int open_state(struct queue *queue, bool write, struct fault *fault)
{
    struct stat status;
    uint64_t start;
    queue->fd = open_state_file(queue, write ? O_RDWR : O_RDONLY);
    if (queue->fd < 0 && errno == ENOENT) {
        if (segment_first(queue->directory, 0, &start) != 0)
            return queue_damaged(queue, "it has lines, and no state", fault);
        if (!write)
            return 0;
        queue->fd = open_state_file(queue, O_RDWR | O_CREAT);
    }
    if (queue->fd < 0)
        return fault_errno(fault, queue->path, "its state", errno);
    if (fstat(queue->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return queue_damaged(queue, "its state is not a plain file", fault);
    if (!write)
        return read_head(queue, false, fault);
    if (lock_take(queue->fd, LOCK_CHANGE, NULL, NULL) != 0)
        return fault_errno(fault, queue->path, "cannot be locked", errno);
    int result = read_head(queue, true, fault);
    queue_end(queue);
    return result;
}

static struct queue *queue_new(const char *filter)
{
    char path[BESIDE_MAX];
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->directory = queue->fd = queue->notify = queue->read_fd = queue->write_fd = -1;
    queue->delimiter = '\n';
    beside_name(filter, ".queue", path);
    queue->path = strdup(path);
    if (queue->path != NULL)
        return queue;
    free(queue);
    return NULL;
}

struct queue *queue_open(const char *filter, const uint8_t uuid[UUID_BYTES], bool write,
                         uint64_t segment_bytes, struct fault *fault)
{
    struct queue *queue = queue_new(filter);
    if (queue == NULL) {
        fault_errno(fault, filter, NULL, ENOMEM);
        return NULL;
    }
    memcpy(queue->head.uuid, uuid, UUID_BYTES);
    queue->head.segment_bytes = segment_bytes;
    if (open_directory(queue, fault) == 0 && open_state(queue, write, fault) == 0)
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

void queue_set_waits(struct queue *queue, lock_waits *waits, void *context)
{
    queue->waits = waits;
    queue->waits_context = context;
}

int queue_set_delimiter(struct queue *queue, char delimiter, bool first, struct fault *fault)
{
    int result = 0;
    if (queue_begin(queue, fault) != 0)
        return -1;
    if (!queue->state.known && first) {
        queue->state.known = true;
        queue->state.delimiter = delimiter;
        result = queue_save(queue, fault);
    }
    bool other = queue->state.known && queue->state.delimiter != delimiter;
    queue_end(queue);
    queue->delimiter = delimiter;
    if (!other)
        return result;
    fault_set(fault, queue->path, "its lines end with a %s", delimiter == '\0' ? "newline" : "NUL");
    return fault_way_out(fault, delimiter == '\0' ? "leave -z out" : "add -z");
}

/* --- segments --- */

int queue_segment_length(const struct queue *queue, uint64_t *start, uint64_t *length,
                         struct fault *fault)
{
    if (segment_length(queue->directory, *start, length) == 0)
        return 0;
    int error = errno;
    if (error == ENOENT && segment_first(queue->directory, *start, start) > 0 &&
        *start <= queue->state.newest && segment_length(queue->directory, *start, length) == 0)
        return 0;
    if (error == ENOENT)
        return queue_damaged(queue, "a segment is missing", fault);
    return fault_errno(fault, queue->path, NULL, error);
}

void queue_drain(struct queue *queue)
{
    struct queue_state *state = &queue->state;
    struct fault ignored;
    uint64_t lowest = queue_state_lowest(state);
    uint64_t before = state->oldest;
    while (state->oldest < state->newest) {
        uint64_t length;
        if (queue_segment_length(queue, &state->oldest, &length, &ignored) != 0)
            return;
        if (state->oldest + length > lowest || state->oldest >= state->newest ||
            segment_remove(queue->directory, state->oldest) != 0)
            break;
        state->oldest += length;
    }
    if (state->oldest == state->newest && state->newest < state->tail && lowest == state->tail &&
        segment_remove(queue->directory, state->newest) == 0)
        state->oldest = state->newest = state->tail;
    /* If this is not written, the state names segments that are gone: see queue_segment_length, and
     * open_newest for the last one. */
    if (state->oldest != before)
        (void)queue_save(queue, &ignored);
}

/* --- putting in --- */

uint64_t queue_count_lines(const struct queue *queue, const char *bytes, size_t length)
{
    uint64_t count = 0;
    const char *end = bytes + length;
    for (const char *at = bytes; (at = memchr(at, queue->delimiter, (size_t)(end - at))) != NULL;
         at++)
        count++;
    return count;
}

static void use_to_write(struct queue *queue, int fd, uint64_t start)
{
    if (queue->write_fd >= 0) {
        if (queue->durable && fdatasync(queue->write_fd) != 0)
            queue->sync_error = errno;
        close(queue->write_fd);
    }
    queue->write_fd = fd;
    queue->write_start = start;
}

/* A writer that was killed can have left bytes behind the tail, which were never put in. */
static int cut_behind_tail(struct queue *queue, struct fault *fault)
{
    struct stat status;
    uint64_t length = queue->state.tail - queue->write_start;
    if (fstat(queue->write_fd, &status) != 0)
        return fault_errno(fault, queue->path, NULL, errno);
    if ((uint64_t)status.st_size < length)
        return queue_damaged(queue, "its newest segment is cut off", fault);
    if ((uint64_t)status.st_size > length && ftruncate(queue->write_fd, (off_t)length) != 0)
        return fault_errno(fault, queue->path, NULL, errno);
    return 0;
}

/* Returns 1 if it is open now, 0 if there is none, -1. */
static int open_newest(struct queue *queue, struct fault *fault)
{
    const struct queue_state *state = &queue->state;
    if (state->newest == state->tail)
        return 0;
    if (queue->write_fd < 0 || queue->write_start != state->newest) {
        int fd = segment_open_to_write(queue->directory, state->newest);
        if (fd < 0 && errno == ENOENT && queue_state_lowest(state) == state->tail)
            return 0;
        if (fd < 0)
            return fault_errno(fault, queue->path, "its newest segment", errno);
        use_to_write(queue, fd, state->newest);
    }
    return cut_behind_tail(queue, fault) == 0 ? 1 : -1;
}

/* Opens what is written to: the newest segment, or if there is none, or it is full, the next. */
static int open_to_append(struct queue *queue, struct fault *fault)
{
    struct queue_state *state = &queue->state;
    int open = open_newest(queue, fault);
    if (open < 0)
        return -1;
    if (open > 0 && state->tail - state->newest < queue->head.segment_bytes)
        return 0;
    int fd = segment_make(queue->directory, state->tail);
    if (fd < 0)
        return fault_errno(fault, queue->path, NULL, errno);
    use_to_write(queue, fd, state->tail);
    state->newest = state->tail;
    if (open == 0)
        state->oldest = state->tail;
    return 0;
}

/* Writes as much as there is room for, and gives back the room of a line that is not whole. */
static size_t write_lines(struct queue *queue, const char *bytes, size_t length,
                          struct fault *fault)
{
    uint64_t at = queue->state.tail - queue->write_start;
    size_t done = whole_write_at(queue->write_fd, bytes, length, at);
    if (done == length)
        return done;
    fault_errno(fault, queue->path, NULL, errno);
    const char *last = memrchr(bytes, queue->delimiter, done);
    done = last != NULL ? (size_t)(last - bytes) + 1 : 0;
    (void)!ftruncate(queue->write_fd, (off_t)(at + done));
    return done;
}

size_t queue_append_unsaved(struct queue *queue, const char *bytes, size_t length,
                            struct fault *fault)
{
    struct queue_state *state = &queue->state;
    if (open_to_append(queue, fault) != 0)
        return 0;
    size_t done = write_lines(queue, bytes, length, fault);
    state->tail += done;
    state->lines += queue_count_lines(queue, bytes, done);
    state->known = true;
    state->delimiter = queue->delimiter;
    return done;
}

size_t queue_append(struct queue *queue, const char *bytes, size_t length, struct fault *fault)
{
    struct fault later;
    if (queue_begin(queue, fault) != 0)
        return 0;
    size_t done = queue_append_unsaved(queue, bytes, length, fault);
    if (done > 0 && queue_save(queue, done < length ? &later : fault) != 0)
        done = 0;
    queue_end(queue);
    return done;
}

void queue_set_durable(struct queue *queue)
{
    queue->durable = true;
}

int queue_sync(struct queue *queue, struct fault *fault)
{
    /* The lines, the names of their files, then the state that tells of them. */
    if ((queue->write_fd >= 0 && fdatasync(queue->write_fd) != 0) || fsync(queue->directory) != 0 ||
        fdatasync(queue->fd) != 0)
        queue->sync_error = errno;
    if (queue->sync_error == 0)
        return 0;
    return fault_errno(fault, queue->path, "cannot be flushed to disk", queue->sync_error);
}

static size_t append_as_output(void *context, const char *bytes, size_t length, struct fault *fault)
{
    return queue_append(context, bytes, length, fault);
}

static int sync_as_output(void *context, struct fault *fault)
{
    return queue_sync(context, fault);
}

struct output queue_output(struct queue *queue)
{
    return (struct output){
        .fd = -1,
        .name = queue->path,
        .delimiter = queue->delimiter,
        .append = append_as_output,
        .sync = sync_as_output,
        .context = queue,
    };
}
