/*
 * drain - segments go when all their lines are off; see internal.h.
 *
 * Were a segment gone from the disk before the disk has it that its lines are off, a power cut
 * would make them lost lines. So the state is flushed first: without the lock, since that can take
 * as long as the disk likes. Meanwhile others change the state. But what is off stays off, so what
 * the flushed state has no need of can go under any later one, too.
 */
#include "queue/internal.h"

#include <unistd.h>

/* Whether there is a segment that ends at or before `off`. Says so of the state as it was. */
static bool is_drained(const struct queue *queue, uint64_t off)
{
    const struct queue_state *state = &queue->state;
    uint64_t start = state->oldest, length;
    if (start == state->newest)
        return start < queue_state_tail(state) && off == queue_state_tail(state);
    return segment_length(queue->directory, start, &length) != 0 || start + length <= off;
}

/* The last one, once all its lines are off. What may come after them is for the next push. */
static void drain_newest(struct queue *queue)
{
    struct queue_state *state = &queue->state;
    uint64_t length, tail = queue_state_tail(state);
    if (segment_length(queue->directory, state->newest, &length) == 0 &&
        length == tail - state->newest && segment_remove(queue->directory, state->newest) == 0)
        state->oldest = state->newest = tail;
}

/* Under the lock. */
static void drain_to(struct queue *queue, uint64_t off)
{
    struct queue_state *state = &queue->state;
    struct fault ignored;
    uint64_t length, before = state->oldest;
    tries_forget(queue, off);
    while (state->oldest < state->newest) {
        if (queue_segment_length(queue, &state->oldest, &length, &ignored) != 0)
            return;
        if (state->oldest >= state->newest || state->oldest + length > off ||
            segment_remove(queue->directory, state->oldest) != 0)
            break;
        state->oldest += length;
    }
    if (state->oldest == state->newest && state->newest < off && off == queue_state_tail(state))
        drain_newest(queue);
    /* If this is not written, the state names segments that are gone: see queue_segment_length, and
     * open_newest for the last one. */
    if (state->oldest != before)
        (void)queue_save(queue, &ignored);
}

void queue_drain(struct queue *queue)
{
    struct fault ignored;
    uint64_t off = queue_state_lowest(&queue->state);
    if (!is_drained(queue, off) || fdatasync(queue->fd) != 0 || queue_begin(queue, &ignored) != 0)
        return;
    drain_to(queue, off);
    queue_end(queue);
}
