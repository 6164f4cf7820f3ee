/* facts - what a queue holds, and whether it is sound, without the lock; see queue.h. */
#include "queue/internal.h"

#include <errno.h>

static void count_lines(const struct queue *queue, struct queue_facts *facts)
{
    for (unsigned i = 0; i < queue->state.used; i++) {
        const struct queue_range *range = &queue->state.ranges[i];
        if (i > 0 && !queue_range_is_empty(range) && lock_is_held(queue->fd, queue_lock(i))) {
            facts->out += range->lines;
        } else {
            facts->waiting += range->lines;
            facts->left_by_dead += range->taken ? range->lines : 0;
        }
    }
}

static int count_segments(const struct queue *queue, struct queue_facts *facts, struct fault *fault)
{
    struct segment_list list;
    uint64_t length;
    if (segment_list_read(&list, queue->directory) != 0)
        return queue_fault_segment(queue, fault);
    int result = 0;
    for (size_t i = 0; i < list.count && result == 0; i++)
        if (segment_length(queue->directory, list.starts[i], &length) == 0) {
            facts->segments++;
            facts->bytes += length;
        } else if (errno != ENOENT) {
            result = queue_fault_segment(queue, fault);
        }
    segment_list_free(&list);
    return result;
}

/* Both copies of the state may have been written while they were read, but not again and again. */
static int load_patiently(struct queue *queue, struct fault *fault)
{
    int result = queue_load(queue, fault);
    for (unsigned i = 0; i < 100 && result != 0; i++)
        result = queue_load(queue, fault);
    return result;
}

int queue_facts(struct queue *queue, struct queue_facts *facts, struct fault *fault)
{
    *facts = (struct queue_facts){0};
    if (queue->fd < 0)
        return 0;
    if (load_patiently(queue, fault) != 0)
        return -1;
    count_lines(queue, facts);
    if (queue_count_failed(queue, &facts->failed, fault) != 0)
        return -1;
    return count_segments(queue, facts, fault);
}

int queue_lines_beside(const char *filter, const uint8_t uuid[UUID_BYTES], uint64_t *lines,
                       struct fault *fault)
{
    struct queue_facts facts = {0};
    struct queue *queue = queue_open(filter, uuid, false, 0, fault);
    *lines = 0;
    if (queue == NULL)
        return fault->error == ENOENT ? 0 : -1;
    int result = queue->fd >= 0 ? load_patiently(queue, fault) : 0;
    if (queue->fd >= 0 && result == 0)
        count_lines(queue, &facts);
    queue_close(queue);
    *lines = facts.waiting + facts.out;
    return result;
}

/* The lines of all ranges. */
static int count_all(struct queue *queue, uint64_t *found, struct fault *fault)
{
    struct queue_lines some;
    *found = 0;
    for (unsigned i = 0; i < queue->state.used; i++) {
        struct queue_range left = queue->state.ranges[i];
        for (; !queue_range_is_empty(&left); left.begin += some.length) {
            if (queue_read_bytes(queue, left.begin, left.end, &some, fault) != 0)
                return -1;
            *found += some.count;
        }
    }
    return 0;
}

int queue_check(struct queue *queue, uint64_t *told, uint64_t *found, struct fault *fault)
{
    *told = *found = 0;
    if (queue->fd < 0)
        return 0;
    if (load_patiently(queue, fault) != 0)
        return -1;
    for (unsigned i = 0; i <= 100; i++) {
        struct fault later;
        uint64_t sequence = queue->state.sequence;
        *told = queue_state_lines(&queue->state);
        int result = count_all(queue, found, fault);
        if (load_patiently(queue, &later) != 0 || queue->state.sequence == sequence)
            return result;
    }
    fault_set(fault, queue->path, "is changing all the time: verify it when it is not in use");
    return fault_may_pass(fault);
}
