/* read - lines of the segments that they lie in; see internal.h. */
#include "queue/internal.h"

#include "core/bytes.h"
#include "core/number.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- which segment --- */

/* The first there is from *start on, up to the one that is written to. If none, false and errno. */
static bool find_next(const struct queue *queue, uint64_t *start)
{
    struct segment_list list;
    size_t i = 0;
    if (segment_list_read(&list, queue->directory) != 0)
        return false;
    while (i < list.count && list.starts[i] < *start)
        i++;
    bool found = i < list.count && list.starts[i] <= queue->state.newest;
    if (found)
        *start = list.starts[i];
    segment_list_free(&list);
    errno = ENOENT;
    return found;
}

int queue_segment_length(const struct queue *queue, uint64_t *start, uint64_t *length,
                         struct fault *fault)
{
    if (segment_length(queue->directory, *start, length) == 0 ||
        (errno == ENOENT && find_next(queue, start) &&
         segment_length(queue->directory, *start, length) == 0))
        return 0;
    return queue_fault_segment(queue, fault);
}

/* Which segment a position lies in, and where its lines end. From the one that was read last: a
 * queue can have very many. */
static int find_segment(const struct queue *queue, uint64_t at, uint64_t *start, uint64_t *end,
                        struct fault *fault)
{
    const struct queue_state *state = &queue->state;
    bool known = queue->read_fd >= 0 && queue->read_start >= state->oldest &&
                 queue->read_start <= at;
    *start = known ? queue->read_start : state->oldest;
    while (at < state->newest) {
        uint64_t length;
        if (queue_segment_length(queue, start, &length, fault) != 0)
            return -1;
        *end = *start + length;
        if (at < *start || *start >= state->newest || length == 0)
            return queue_damaged(queue, "its segments do not fit together", fault);
        if (at < *end)
            return 0;
        *start = *end;
    }
    *start = state->newest;
    *end = queue_state_tail(state);
    return 0;
}

/* --- lines --- */

static int open_to_read(struct queue *queue, uint64_t start, struct fault *fault)
{
    if (queue->read_fd >= 0 && queue->read_start == start)
        return 0;
    int fd = segment_open(queue->directory, start, O_RDONLY);
    if (fd < 0)
        return queue_fault_segment(queue, fault);
    if (queue->read_fd >= 0)
        close(queue->read_fd);
    queue->read_fd = fd;
    queue->read_start = start;
    return 0;
}

static int make_room(struct queue *queue, size_t bytes, struct fault *fault)
{
    if (bytes <= queue->capacity)
        return 0;
    char *buffer = realloc(queue->buffer, bytes);
    if (buffer == NULL)
        return fault_errno(fault, queue->path, "a line does not fit into memory", ENOMEM);
    queue->buffer = buffer;
    queue->capacity = bytes;
    return 0;
}

static int too_long(const struct queue *queue, struct fault *fault)
{
    fault_set(fault, queue->path, "the next line has more than %" PRIu64 " %s", queue->max_line - 1,
              number_of(queue->max_line - 1, "byte", "bytes"));
    fault->error = EFBIG;
    return fault_way_out(fault, "to allow it: --max-line SIZE");
}

/* Fills the buffer from `have` to `want` bytes of what begins at `at` in the open segment. */
static int fill(struct queue *queue, uint64_t at, size_t have, size_t want, struct fault *fault)
{
    if (make_room(queue, want, fault) != 0)
        return -1;
    size_t length = want - have;
    if (whole_read_at(queue->read_fd, queue->buffer + have, length,
                      at - queue->read_start + have) == length)
        return 0;
    if (errno != 0)
        return fault_errno(fault, queue->path, NULL, errno);
    return queue_damaged(queue, "a file of lines is cut off", fault);
}

/* The first lines, at most `most`, of `length` bytes, up to one that is too long. */
static struct queue_lines first_lines(const struct queue *queue, size_t length, uint64_t most)
{
    struct queue_lines lines = {.bytes = queue->buffer};
    const char *at = queue->buffer, *end = at + length;
    const char *start = at;
    while (lines.count < most &&
           (at = memchr(at, queue->state.delimiter, (size_t)(end - at))) != NULL) {
        at++;
        if ((size_t)(at - start) > queue->max_line)
            break;
        start = at;
        lines.count++;
        lines.length = (size_t)(at - queue->buffer);
    }
    return lines;
}

size_t queue_whole_lines(const struct queue *queue, const char *bytes, size_t length)
{
    const char *last = memrchr(bytes, queue->state.delimiter, length);
    return last != NULL ? (size_t)(last - bytes) + 1 : 0;
}

uint64_t queue_count_lines(const struct queue *queue, const char *bytes, size_t length)
{
    return count_byte(bytes, length, queue->state.delimiter);
}

int queue_read_segment(struct queue *queue, uint64_t start, uint64_t begin, uint64_t end,
                       uint64_t most, struct queue_lines *lines, struct fault *fault)
{
    if (open_to_read(queue, start, fault) != 0)
        return -1;
    uint64_t all = end - begin;
    size_t have = 0, want = (size_t)lower(all, QUEUE_CHUNK);
    for (;;) {
        if (signals_pending())
            return fault_errno(fault, queue->path, NULL, EINTR);
        if (fill(queue, begin, have, want, fault) != 0)
            return -1;
        *lines = first_lines(queue, want, most);
        if (lines->count > 0)
            return 0;
        if (want >= queue->max_line)
            return too_long(queue, fault);
        if (want == all)
            return queue_damaged(queue, "a line has no end", fault);
        have = want;
        want = (size_t)lower(lower(all, queue->max_line), (uint64_t)want * 2);
    }
}

int queue_read_bytes(struct queue *queue, uint64_t begin, uint64_t end, struct queue_lines *lines,
                     struct fault *fault)
{
    uint64_t start, segment_end;
    if (signals_pending())
        return fault_errno(fault, queue->path, NULL, EINTR);
    if (find_segment(queue, begin, &start, &segment_end, fault) != 0 ||
        open_to_read(queue, start, fault) != 0)
        return -1;
    uint64_t left = lower(end, segment_end) - begin;
    size_t length = (size_t)lower(left, QUEUE_CHUNK);
    if (fill(queue, begin, 0, length, fault) != 0)
        return -1;
    *lines = (struct queue_lines){queue->buffer, length,
                                  queue_count_lines(queue, queue->buffer, length)};
    if (length == left && queue->buffer[length - 1] != queue->state.delimiter)
        return queue_damaged(queue, "a line has no end", fault);
    return 0;
}

int queue_read_lines(struct queue *queue, uint64_t begin, uint64_t end, uint64_t most,
                     struct queue_lines *lines, struct fault *fault)
{
    uint64_t start, segment_end;
    if (find_segment(queue, begin, &start, &segment_end, fault) != 0)
        return -1;
    return queue_read_segment(queue, start, begin, lower(end, segment_end), most, lines, fault);
}
