/* push - appending at the back; see queue.h. */
#include "queue/internal.h"

#include "core/bytes.h"
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Cuts off the bytes after the last delimiter. Returns 0 with *end, or -1 with the fault. */
static int cut_rest(const struct queue *queue, int fd, uint64_t *end, struct fault *fault)
{
    uint64_t size;
    if (segment_measure(fd, queue->plan.delimiter, &size, end, queue->path, fault) != 0)
        return -1;
    if (*end < size && ftruncate(fd, (off_t)*end) != 0)
        return fault_errno(fault, queue->path, NULL, errno);
    return 0;
}

/* A segment that is not full is the last one. */
int queue_open_back(struct queue *queue, uint64_t *end, struct fault *fault)
{
    struct segments found;
    uint64_t number = queue->dirty_to;
    int fd = number > 0 ? queue_open_segment(queue, number, O_RDWR, fault) : -1;
    bool gone = fd < 0 && (number == 0 || fault->error == ENOENT);
    while (gone || (fd >= 0 && cut_rest(queue, fd, end, fault) == 0)) {
        if (!gone && *end < QUEUE_SEGMENT_BYTES) {
            queue->dirty_from = queue->dirty_from > 0 ? queue->dirty_from : number;
            queue->dirty_to = number;
            return fd;
        }
        if (!gone)
            close(fd);
        gone = false;
        if (segments_find(&found, queue->directory, queue->path, 0, fault) != 0)
            return -1;
        number = found.last > number ? found.last : number + 1;
        fd = queue_open_segment(queue, number, O_RDWR | O_CREAT, fault);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Makes records of whole lines in the buffer. Returns their length, or 0 with the fault. */
static size_t make_records(struct queue *queue, const char *bytes, size_t length,
                           struct fault *fault)
{
    if (queue_make_room(queue, 2 * length, fault) != 0)
        return 0;
    char *to = queue->buffer;
    for (const char *end = bytes + length, *next; bytes < end; bytes = next) {
        next = (const char *)memchr(bytes, queue->plan.delimiter, (size_t)(end - bytes)) + 1;
        *to++ = ' ';
        to = mempcpy(to, bytes, (size_t)(next - bytes));
    }
    return (size_t)(to - queue->buffer);
}

/* If the disk is full, cuts off the last record that is not whole. */
static size_t append_as_output(void *context, const char *bytes, size_t length, struct fault *fault)
{
    struct queue *queue = context;
    size_t want = make_records(queue, bytes, length, fault);
    uint64_t end;
    if (want == 0 || queue_lock(queue, fault) < 0)
        return 0;
    int fd = queue_open_back(queue, &end, fault);
    size_t done = fd >= 0 ? io_write_at(fd, queue->buffer, want, end) : 0;
    if (fd >= 0 && done < want) {
        fault_errno(fault, queue->path, NULL, errno);
        const char *last = memrchr(queue->buffer, queue->plan.delimiter, done);
        done = last != NULL ? (size_t)(last - queue->buffer) + 1 : 0;
        (void)!ftruncate(fd, (off_t)(end + done));
    }
    if (fd >= 0)
        close(fd);
    queue_unlock(queue);
    return done == want ? length
                        : done - (size_t)count_byte(queue->buffer, done, queue->plan.delimiter);
}

/* By number: the records of a segment that is gone by now were all removed. */
static int sync_as_output(void *context, struct fault *fault)
{
    struct queue *queue = context;
    if (queue_find(queue, fault) < 0)
        return -1;
    int failed = fsync(queue->directory);
    for (uint64_t n = queue->dirty_from; n > 0 && n <= queue->dirty_to && failed == 0; n++) {
        int fd = queue_open_segment(queue, n, O_RDWR, fault);
        if (fd < 0 && fault->error != ENOENT)
            return -1;
        failed = fd >= 0 ? fdatasync(fd) : 0;
        if (fd >= 0)
            close(fd);
    }
    queue->dirty_from = 0;
    return failed == 0 ? 0 : fault_errno(fault, queue->path, "cannot be flushed to disk", errno);
}

struct output queue_output(struct queue *queue)
{
    return (struct output){
        .fd = -1,
        .name = queue->path,
        .delimiter = queue->plan.delimiter,
        .append = append_as_output,
        .sync = sync_as_output,
        .context = queue,
    };
}

/* --- lines that were given up --- */

/* Appends the lines of a mapped file to the segment `fd`, from `end` on, and flushes it. Returns 0,
 * or -1 with the fault. */
static int append_lines(struct queue *queue, const struct segment *lines, int fd, uint64_t end,
                        struct fault *fault)
{
    const char delimiter = queue->plan.delimiter;
    for (size_t from = 0, length; from < lines->length; from += length) {
        const char *bytes = lines->bytes + from, *last;
        length = lines->length - from < QUEUE_CHUNK ? lines->length - from : QUEUE_CHUNK;
        last = memrchr(bytes, delimiter, length);
        if (last == NULL)
            last = memchr(bytes, delimiter, lines->length - from);
        length = (size_t)(last - bytes) + 1;
        size_t want = make_records(queue, bytes, length, fault);
        if (want == 0)
            return -1;
        if (io_write_at(fd, queue->buffer, want, end) < want)
            return fault_errno(fault, queue->path, NULL, errno);
        end += want;
    }
    return fdatasync(fd) == 0 && fsync(queue->directory) == 0
               ? 0
               : fault_errno(fault, queue->path, "cannot be flushed to disk", errno);
}

/* Under the lock, with FILTER.failed open. Its last line may be unfinished. */
static int retry_locked(struct queue *queue, struct segment *failed, uint64_t *count,
                        struct fault *fault)
{
    const char *name = queue->failed_path;
    char delimiter = queue->plan.delimiter, last;
    uint64_t size, end;
    if (segment_measure(failed->fd, delimiter, &size, &end, name, fault) != 0)
        return -1;
    if (end < size) {
        if (io_read_at(failed->fd, &last, 1, size - 1) == 1 && (last == '\0' || last == '\n'))
            return fault_set(fault, name, "its lines end with %s, those of the queue do not",
                             last == '\0' ? "NUL" : "a newline");
        if (io_write_at(failed->fd, &delimiter, 1, size) != 1)
            return fault_errno(fault, name, NULL, errno);
    }
    if (segment_map(failed, false, delimiter, name, fault) != 0)
        return -1;
    if (failed->length > 0) {
        int fd = queue_open_back(queue, &end, fault);
        int result = fd >= 0 ? append_lines(queue, failed, fd, end, fault) : -1;
        if (fd >= 0 && result != 0)
            (void)!ftruncate(fd, (off_t)end);
        if (fd >= 0)
            close(fd);
        if (result != 0)
            return -1;
        *count += count_byte(failed->bytes, failed->length, delimiter);
    }
    /* In a directory of another user it can only be emptied. */
    return unlink(name) == 0 || ftruncate(failed->fd, 0) == 0
               ? 0
               : fault_errno(fault, name, NULL, errno);
}

int queue_retry(struct queue *queue, uint64_t *count, struct fault *fault)
{
    struct segment failed = {.number = 0};
    int result;
    *count = queue->taken_over;
    if (queue_lock(queue, fault) < 0)
        return -1;
    failed.fd = side_file_open(queue->failed_path, O_RDWR, &queue->filter_stat, fault);
    if (failed.fd >= 0) {
        result = retry_locked(queue, &failed, count, fault);
        segment_close(&failed);
    } else {
        result = fault->error == ENOENT ? 0 : -1;
    }
    queue_unlock(queue);
    return result;
}
