/* failed - FILTER.queue/failed: the lines that pop --tries gave up; see queue.h and internal.h. */
#include "queue/internal.h"

#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char name[] = "failed", what[] = "its file of failed lines";

int queue_failed_file(struct queue *queue, char path[QUEUE_FAILED_MAX], struct fault *fault)
{
    snprintf(path, QUEUE_FAILED_MAX, "%s/%s", queue->path, name);
    int fd = queue_open_file(queue, name, O_WRONLY | O_APPEND);
    return fd >= 0 ? fd : queue_fault_file(queue, name, what, fault);
}

/* Counts the lines of an open file of so many bytes; the last may have no end. */
static int count_lines(const struct queue *queue, int fd, uint64_t bytes, uint64_t *lines,
                       struct fault *fault)
{
    char some[16384];
    for (uint64_t at = 0; at < bytes;) {
        size_t n = bytes - at < sizeof some ? (size_t)(bytes - at) : sizeof some;
        if (signals_pending())
            return fault_errno(fault, queue->path, NULL, EINTR);
        if (whole_read_at(fd, some, n, at) != n)
            return errno == 0 ? 0 : queue_fault_file(queue, name, what, fault);
        at += n;
        *lines += queue_count_lines(queue, some, n);
        *lines += at == bytes && some[n - 1] != queue->state.delimiter;
    }
    return 0;
}

int queue_count_failed(const struct queue *queue, uint64_t *lines, struct fault *fault)
{
    struct stat status;
    *lines = 0;
    int fd = segment_open_named(queue->directory, name, O_RDONLY);
    if (fd < 0)
        return errno == ENOENT ? 0 : queue_fault_file(queue, name, what, fault);
    int result = fstat(fd, &status) == 0
                     ? count_lines(queue, fd, (uint64_t)status.st_size, lines, fault)
                     : queue_fault_file(queue, name, what, fault);
    close(fd);
    return result;
}
