/* queue - opening, and putting in; see queue.h. */
#include "queue/internal.h"

#include "queue/segment.h"
#include "system/beside.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the state --- */

static bool reads(const struct queue *queue, void *bytes, size_t length, uint64_t at)
{
    return whole_read_at(queue->fd, bytes, length, at) == length;
}

static bool writes(const struct queue *queue, const void *bytes, size_t length, uint64_t at)
{
    return whole_write_at(queue->fd, bytes, length, at) == length;
}

enum { PAGE = 4096 };

/* Most copies are shorter than a page. */
static bool read_copy(struct queue *queue, unsigned copy)
{
    uint8_t *bytes = queue->copies[copy];
    uint64_t at = queue_copy_at(copy);
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
    if (!queue_state_decode(queue->copies[newer], &queue->state)) {
        newer = !newer;
        if (!queue_state_decode(queue->copies[newer], &queue->state))
            return queue_damaged(queue, "both copies of its state are damaged", fault);
    }
    queue->older = !newer;
    return 0;
}

/* Writes a copy. One of several pages is on disk before the other is touched, since the disk can have
 * some of its pages and not the others when the power is cut; a page it has, or has not. */
static bool write_copy(const struct queue *queue, unsigned copy, const uint8_t *bytes,
                       size_t length)
{
    return writes(queue, bytes, length, queue_copy_at(copy)) &&
           (length <= PAGE || fdatasync(queue->fd) == 0);
}

int queue_save(struct queue *queue, struct fault *fault)
{
    const uint8_t *bytes = queue->copies[0];
    queue->state.sequence++;
    size_t length = queue_state_encode(&queue->state, queue->copies[0]);
    if (!write_copy(queue, queue->older, bytes, length))
        return fault_errno(fault, queue->path, "its state cannot be written", errno);
    /* Now the state is the new one. In the other copy, too, so that one that is damaged takes nothing
     * with it. */
    (void)write_copy(queue, !queue->older, bytes, length);
    return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a name in the directory is that of the open file. */
static bool is_named(const struct queue *queue, const char *name, int fd)
{
    struct stat open, named;
    return fstatat(queue->directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstat(fd, &open) == 0 && same_file(&open, &named);
}

int queue_check_name(const struct queue *queue, struct fault *fault)
{
    struct stat open, named;
    int result = stat(queue->path, &named);
    if (result == 0 && fstat(queue->directory, &open) == 0 && same_file(&open, &named) &&
        is_named(queue, "state", queue->fd))
        return 0;
    fault_set(fault, queue->path, "was %s while this run used it",
              result == 0 ? "replaced by another" : "removed");
    return fault_way_out(fault, "run again, with the same input");
}

/* The same for the segment that is written to. */
static int check_segment_name(const struct queue *queue, struct fault *fault)
{
    char name[SEGMENT_NAME_BYTES];
    segment_name(queue->write_start, name);
    if (is_named(queue, name, queue->write_fd))
        return 0;
    fault_set(fault, queue->path, "a segment was removed or replaced while this run wrote to it");
    return fault_way_out(fault, "run again, with the same input");
}

int queue_begin(struct queue *queue, struct fault *fault)
{
    if (lock_take(queue->fd, LOCK_CHANGE, queue->waits, queue->waits_context) != 0)
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

/* --- opening --- */

void queue_follow(const struct queue *queue, int fd)
{
    if (queue->like.st_nlink != 0)
        beside_take_after(fd, &queue->like);
}

/* Whoever opened the filter to more users meant its lines. Whom the directory keeps out stays out. */
static void share_state(const struct queue *queue)
{
    struct stat now;
    mode_t more = queue->like.st_mode & 0666;
    if (queue->like.st_nlink != 0 && fstat(queue->fd, &now) == 0 && (more & ~now.st_mode) != 0)
        (void)fchmod(queue->fd, (now.st_mode & 0777) | more);
}

static int read_head(struct queue *queue, struct fault *fault)
{
    uint8_t bytes[QUEUE_HEAD_BYTES] = {0};
    if (whole_read_at(queue->fd, bytes, sizeof bytes, 0) < sizeof bytes && errno != 0)
        return fault_errno(fault, queue->path, NULL, errno);
    if (queue_head_decode(bytes, queue->path, &queue->head, fault) == 0)
        return 0;
    return fault->way_out[0] == '\0' ? queue_way_out(queue, fault) : -1;
}

int queue_open_directory(struct queue *queue, struct fault *fault)
{
    queue->directory = open(queue->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (queue->directory >= 0)
        return 0;
    fault_errno(fault, queue->path, NULL, errno);
    if (errno == ENOENT)
        fault_way_out(fault, "put it back; or, to start with an empty queue: mkdir %s",
                      queue->path);
    return -1;
}

static bool open_state_file(struct queue *queue, bool write)
{
    int access = write ? O_RDWR : O_RDONLY;
    queue->fd = openat(queue->directory, "state", access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return queue->fd >= 0;
}

/* Only a directory without lines can be without a state: none was made in it yet. */
static int look_for_lines(struct queue *queue, bool write, struct fault *fault)
{
    struct segment_list list;
    if (segment_list_read(&list, queue->directory) != 0)
        return queue_fault_segment(queue, fault);
    bool lines = list.count > 0;
    segment_list_free(&list);
    /* By now there may be both. */
    if (!lines || open_state_file(queue, write))
        return 0;
    return queue_damaged(queue, "it has lines, and no state", fault);
}

int queue_open_state(struct queue *queue, bool write, struct fault *fault)
{
    struct stat status;
    if (!open_state_file(queue, write) && errno == ENOENT) {
        if (look_for_lines(queue, write, fault) != 0)
            return -1;
        if (queue->fd < 0 && !write)
            return 0;
        if (queue->fd < 0 && queue_make_state(queue) < 0)
            return fault_errno(fault, queue->path, "its state cannot be made", errno);
        if (queue->fd < 0)
            (void)open_state_file(queue, write);
    }
    if (queue->fd < 0) {
        fault_errno(fault, queue->path, "its state", errno);
        if (errno == EACCES)
            fault_way_out(fault, "ask its owner to share it as the filter is shared: chmod");
        return -1;
    }
    if (fstat(queue->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return queue_damaged(queue, "its state is not a plain file", fault);
    if (status.st_size < QUEUE_STATE_BYTES)
        return queue_damaged(queue, "its state is cut off", fault);
    return read_head(queue, fault) == 0 ? 1 : -1;
}

struct queue *queue_new(const char *filter, struct fault *fault)
{
    char path[BESIDE_MAX];
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue != NULL) {
        queue->directory = queue->fd = queue->notify = queue->read_fd = queue->write_fd = -1;
        queue->delimiter = '\n';
        queue_set_max_line(queue, (size_t)1 << 30);
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

static int open_all(struct queue *queue, const uint8_t uuid[UUID_BYTES], bool write,
                    struct fault *fault)
{
    if (queue_open_directory(queue, fault) != 0)
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

void queue_set_waits(struct queue *queue, lock_waits *waits, void *context)
{
    queue->waits = waits;
    queue->waits_context = context;
}

void queue_set_max_line(struct queue *queue, size_t bytes)
{
    queue->max_line = bytes + 1;
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

int queue_fault_segment(const struct queue *queue, struct fault *fault)
{
    if (errno == EINVAL)
        return queue_damaged(queue, "a file in it has the name of a segment but is not one", fault);
    if (errno == ENOENT)
        return queue_damaged(queue, "a segment is missing", fault);
    return fault_errno(fault, queue->path, "a segment", errno);
}

/* The first there is from *start on, up to the one that is written to. */
static int find_next(const struct queue *queue, uint64_t *start)
{
    struct segment_list list;
    size_t i = 0;
    if (segment_list_read(&list, queue->directory) != 0)
        return -1;
    while (i < list.count && list.starts[i] < *start)
        i++;
    bool found = i < list.count && list.starts[i] <= queue->state.newest;
    if (found)
        *start = list.starts[i];
    segment_list_free(&list);
    errno = ENOENT;
    return found ? 0 : -1;
}

int queue_segment_length(const struct queue *queue, uint64_t *start, uint64_t *length,
                         struct fault *fault)
{
    if (segment_length(queue->directory, *start, length) == 0 ||
        (errno == ENOENT && find_next(queue, start) == 0 &&
         segment_length(queue->directory, *start, length) == 0))
        return 0;
    return queue_fault_segment(queue, fault);
}

/* The last one, once all its lines are off. What may be behind them is for the next push. */
static void drain_newest(struct queue *queue)
{
    struct queue_state *state = &queue->state;
    uint64_t length;
    if (segment_length(queue->directory, state->newest, &length) == 0 &&
        length == state->tail - state->newest &&
        segment_remove(queue->directory, state->newest) == 0)
        state->oldest = state->newest = state->tail;
}

void queue_drain(struct queue *queue)
{
    struct queue_state *state = &queue->state;
    struct fault ignored;
    uint64_t lowest = queue_state_lowest(state);
    uint64_t before = state->oldest;
    bool synced = false;
    while (state->oldest < state->newest) {
        uint64_t length;
        if (queue_segment_length(queue, &state->oldest, &length, &ignored) != 0)
            return;
        if (state->oldest + length > lowest || state->oldest >= state->newest)
            break;
        /* Were it gone from the disk before the disk has it that its lines are off, a power cut would
         * make them lost lines. */
        if (!synced && fdatasync(queue->fd) != 0)
            return;
        synced = true;
        if (segment_remove(queue->directory, state->oldest) != 0)
            break;
        state->oldest += length;
    }
    if (state->oldest == state->newest && state->newest < state->tail && lowest == state->tail &&
        (synced || fdatasync(queue->fd) == 0))
        drain_newest(queue);
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

/* Counts the lines of what is behind the tail, `length` bytes; *end is where the last whole one ends. */
static int count_rest(const struct queue *queue, uint64_t length, uint64_t *lines, uint64_t *end,
                      struct fault *fault)
{
    char bytes[16384];
    uint64_t from = queue->state.tail - queue->write_start;
    *lines = *end = 0;
    for (uint64_t at = 0; at < length;) {
        size_t n = length - at < sizeof bytes ? (size_t)(length - at) : sizeof bytes;
        if (signals_pending())
            return fault_errno(fault, queue->path, NULL, EINTR);
        if (whole_read_at(queue->write_fd, bytes, n, from + at) != n)
            return fault_errno(fault, queue->path, "a segment", errno != 0 ? errno : EIO);
        const char *last = memrchr(bytes, queue->delimiter, n);
        *lines += queue_count_lines(queue, bytes, n);
        if (last != NULL)
            *end = at + (uint64_t)(last - bytes) + 1;
        at += n;
        if (at - *end > queue->max_line)
            return queue_damaged(queue, "its newest segment has no end of a line", fault);
    }
    return 0;
}

/* Only a segment with lines in it counts as one. */
static void note_put_in(struct queue *queue, uint64_t bytes, uint64_t lines)
{
    if (bytes > 0)
        queue->state.newest = queue->write_start;
    queue->state.tail += bytes;
    queue->state.lines += lines;
}

/* A writer that was killed can have left lines after the tail, which he did not remember; or the state
 * is an older one, that somebody has put back, and they are remembered. So whole ones are put in: at
 * worst they come twice. */
static int take_in_rest(struct queue *queue, struct fault *fault)
{
    struct stat status;
    uint64_t lines, end, length = queue->state.tail - queue->write_start;
    if (fstat(queue->write_fd, &status) != 0)
        return fault_errno(fault, queue->path, NULL, errno);
    uint64_t size = (uint64_t)status.st_size;
    if (size < length)
        return queue_damaged(queue, "its newest segment is cut off", fault);
    if (size == length)
        return 0;
    if (size > SEGMENT_END_MAX - queue->write_start)
        return queue_damaged(queue, "its newest segment is too long", fault);
    if (count_rest(queue, size - length, &lines, &end, fault) != 0)
        return -1;
    if (size > length + end && ftruncate(queue->write_fd, (off_t)(length + end)) != 0)
        return fault_errno(fault, queue->path, NULL, errno);
    note_put_in(queue, end, lines);
    return 0;
}

/* Whether new lines would begin a line of their own. */
static bool tail_is_whole(const struct queue *queue)
{
    char last;
    uint64_t length = queue->state.tail - queue->write_start;
    return whole_read_at(queue->write_fd, &last, 1, length - 1) != 1 ||
           last == queue->state.delimiter;
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
            return queue_fault_segment(queue, fault);
        use_to_write(queue, fd, state->newest);
        if (!tail_is_whole(queue)) {
            use_to_write(queue, -1, state->newest);
            return queue_damaged(queue, "its last line has no end", fault);
        }
    }
    return take_in_rest(queue, fault) == 0 ? 1 : -1;
}

static bool is_full(const struct queue *queue)
{
    return queue->state.tail - queue->write_start >= queue->head.segment_bytes;
}

/* Opens what is written to: the newest segment, or if there is none, or it is full, the next. */
static int open_to_append(struct queue *queue, struct fault *fault)
{
    struct queue_state *state = &queue->state;
    int open = open_newest(queue, fault);
    if (open < 0)
        return -1;
    if (open == 0)
        state->oldest = state->newest = state->tail;
    for (bool next = open == 0 || is_full(queue); next; next = is_full(queue)) {
        int fd = segment_make(queue->directory, state->tail);
        if (fd >= 0)
            queue_follow(queue, fd);
        else if (errno == EEXIST)
            fd = segment_open_to_write(queue->directory, state->tail);
        if (fd < 0)
            return queue_fault_segment(queue, fault);
        use_to_write(queue, fd, state->tail);
        if (take_in_rest(queue, fault) != 0)
            return -1;
    }
    return 0;
}

/* One that was made, and got nothing. */
static void give_up_segment(struct queue *queue)
{
    (void)segment_remove(queue->directory, queue->write_start);
    close(queue->write_fd);
    queue->write_fd = -1;
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
    note_put_in(queue, done, queue_count_lines(queue, bytes, done));
    if (state->newest != queue->write_start)
        give_up_segment(queue);
    state->known = true;
    state->delimiter = queue->delimiter;
    return done;
}

size_t queue_append(struct queue *queue, const char *bytes, size_t length, struct fault *fault)
{
    struct fault later = {.error = 0};
    if (queue_begin(queue, fault) != 0)
        return 0;
    uint64_t before = queue->state.tail;
    size_t done = queue_append_unsaved(queue, bytes, length, fault);
    struct fault *first = done < length ? &later : fault;
    if (queue->state.tail != before &&
        (queue_save(queue, first) != 0 || queue_check_name(queue, first) != 0 ||
         check_segment_name(queue, first) != 0))
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
        return queue_check_name(queue, fault);
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
