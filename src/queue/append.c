/* append - putting in, at the back; see queue.h and internal.h. */
#include "queue/internal.h"

#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* --- the segment that is written to --- */

static uint64_t length_written(const struct queue *queue)
{
    return queue_state_tail(&queue->state) - queue->write_start;
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

/* Counts the lines in the `length` bytes after the tail; *end is where the last whole one ends. */
static int count_rest(const struct queue *queue, uint64_t length, uint64_t *lines, uint64_t *end,
                      struct fault *fault)
{
    char bytes[16384];
    uint64_t from = length_written(queue);
    *lines = *end = 0;
    for (uint64_t at = 0; at < length;) {
        size_t n = length - at < sizeof bytes ? (size_t)(length - at) : sizeof bytes;
        if (signals_pending())
            return fault_errno(fault, queue->path, NULL, EINTR);
        if (whole_read_at(queue->write_fd, bytes, n, from + at) != n)
            return fault_errno(fault, queue->path, "a file of lines", errno != 0 ? errno : EIO);
        size_t whole = queue_whole_lines(queue, bytes, n);
        *lines += queue_count_lines(queue, bytes, n);
        if (whole > 0)
            *end = at + whole;
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
    queue->state.ranges[0].end += bytes;
    queue->state.ranges[0].lines += lines;
}

/* Whole lines after the tail are put in, whatever left them there (state.c): the filter may
 * remember them, and at worst they come twice. */
static int take_in_rest(struct queue *queue, struct fault *fault)
{
    struct stat status;
    uint64_t lines, end, length = length_written(queue);
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
    uint64_t length = length_written(queue);
    return whole_read_at(queue->write_fd, &last, 1, length - 1) != 1 ||
           last == queue->state.delimiter;
}

/* Returns 1 if it is open now, 0 if there is none, -1. */
static int open_newest(struct queue *queue, struct fault *fault)
{
    const struct queue_state *state = &queue->state;
    uint64_t tail = queue_state_tail(state);
    if (state->newest == tail)
        return 0;
    if (queue->write_fd < 0 || queue->write_start != state->newest) {
        int fd = segment_open(queue->directory, state->newest, O_RDWR);
        if (fd < 0 && errno == ENOENT && queue_state_lowest(state) == tail)
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

/* Opens what is written to: the newest segment, or if there is none, or it is full, the next. */
static int open_to_append(struct queue *queue, struct fault *fault)
{
    struct queue_state *state = &queue->state;
    int open = open_newest(queue, fault);
    if (open < 0)
        return -1;
    if (open == 0)
        state->oldest = state->newest = queue_state_tail(state);
    for (; open == 0 || length_written(queue) >= queue->head.segment_bytes; open = 1) {
        uint64_t tail = queue_state_tail(state);
        int fd = segment_open(queue->directory, tail, O_RDWR | O_CREAT | O_EXCL);
        if (fd >= 0)
            queue_follow(queue, fd);
        else if (errno == EEXIST)
            fd = segment_open(queue->directory, tail, O_RDWR);
        if (fd < 0)
            return queue_fault_segment(queue, fault);
        use_to_write(queue, fd, tail);
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

/* Writes as much as there is room for, and gives back the room of a line that is not whole, and of
 * lines whose tries cannot be noted. */
static struct queue_lines write_lines(struct queue *queue, const char *bytes, size_t length,
                                      uint32_t tries, struct fault *fault)
{
    struct fault later;
    uint64_t at = length_written(queue);
    struct queue_lines done = {bytes, whole_write_at(queue->write_fd, bytes, length, at), 0};
    bool all = done.length == length;
    if (!all) {
        fault_errno(fault, queue->path, NULL, errno);
        done.length = queue_whole_lines(queue, bytes, done.length);
    }
    if (tries > 0 && done.length > 0 &&
        tries_note(queue, queue->write_start + at, &done, tries, all ? fault : &later) != 0)
        done.length = 0;
    if (done.length < length)
        (void)!ftruncate(queue->write_fd, (off_t)(at + done.length));
    done.count = queue_count_lines(queue, bytes, done.length);
    return done;
}

size_t queue_append_unsaved(struct queue *queue, const char *bytes, size_t length, uint32_t tries,
                            struct fault *fault)
{
    struct queue_state *state = &queue->state;
    if (open_to_append(queue, fault) != 0)
        return 0;
    struct queue_lines done = write_lines(queue, bytes, length, tries, fault);
    note_put_in(queue, done.length, done.count);
    if (state->newest != queue->write_start)
        give_up_segment(queue);
    state->known = true;
    return done.length;
}

/* Whether the segment that is written to is still what its name leads to. */
static int check_segment_name(const struct queue *queue, struct fault *fault)
{
    if (queue_names(queue, segment_name(queue->write_start).text, queue->write_fd))
        return 0;
    fault_set(fault, queue->path, "a file in it was removed or replaced during this run");
    fault_way_out(fault, "run it again, with the same input");
    return fault_may_pass(fault);
}

size_t queue_append(struct queue *queue, const char *bytes, size_t length, struct fault *fault)
{
    struct fault later = {.error = 0};
    if (queue_begin(queue, fault) != 0)
        return 0;
    uint64_t before = queue_state_tail(&queue->state);
    size_t done = queue_append_unsaved(queue, bytes, length, 0, fault);
    struct fault *first = done < length ? &later : fault;
    if (queue_state_tail(&queue->state) != before &&
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
        .delimiter = queue->state.delimiter,
        .append = append_as_output,
        .sync = sync_as_output,
        .context = queue,
    };
}
