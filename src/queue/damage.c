/* damage - what is said of a queue that is not sound; see internal.h. */
#include "queue/internal.h"

#include "core/quote.h"

#include <errno.h>

int queue_way_out(const struct queue *queue, struct fault *fault)
{
    char name[QUOTE_MAX];
    quote_file(queue->path, name);
    return fault_way_out(
        fault, "save its lines: cat %s/[0-9]*; then move it away, and make an empty one: mkdir %s",
        name, name);
}

int queue_damaged(const struct queue *queue, const char *what, struct fault *fault)
{
    fault_set(fault, queue->path, "damaged queue: %s", what);
    return queue_way_out(queue, fault);
}

int queue_fault_file(const struct queue *queue, const char *name, const char *what,
                     struct fault *fault)
{
    if (errno != EINVAL)
        return fault_errno(fault, queue->path, what, errno);
    return fault_set(fault, queue->path, "'%s' in it is not a plain file: move it away", name);
}

int queue_fault_segment(const struct queue *queue, struct fault *fault)
{
    if (errno == EINVAL)
        return queue_damaged(queue, "a file in it is named like a file of lines, but is not one",
                             fault);
    if (errno == ENOENT)
        return queue_damaged(queue, "a file of lines is missing", fault);
    return fault_errno(fault, queue->path, "a file of lines", errno);
}
