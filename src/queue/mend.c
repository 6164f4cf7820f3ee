/*
 * mend - after a power cut; see queue.h.
 *
 * The state and the lines reach the disk in any order. So the state can tell of lines that are not
 * there: the newest segment is too short, or it and some before it. What is left is copied to
 * segments after the old tail, and then the state is changed in one step; a kill on the way leaves
 * all as it was, but for segments that nothing refers to. Or there are lines after the tail: they
 * are put in.
 */
#include "queue/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether each segment ends where the next begins, and all positions in use are in them: 1, 0, or
 * -1 if that cannot be found out. */
static int is_whole(const struct queue *queue, struct fault *fault)
{
    const struct queue_state *state = &queue->state;
    uint64_t start = state->oldest, length = 0;
    uint64_t lowest = queue_state_lowest(state), tail = queue_state_tail(state);
    if (lowest == tail)
        return 1;
    while (start < state->newest) {
        if (queue_segment_length(queue, &start, &length, fault) != 0)
            return fault->error == 0 ? 0 : -1;
        if (start > lowest || (start < state->newest && length == 0))
            return 0;
        /* Those before it may be gone: their lines are off, and whoever removed them was killed. */
        if (start >= state->newest)
            break;
        start += length;
    }
    if (start != state->newest || start >= tail)
        return 0;
    if (segment_length(queue->directory, start, &length) == 0)
        return length >= tail - start;
    return errno == ENOENT ? 0 : queue_fault_segment(queue, fault);
}

static bool anybody_has_lines(const struct queue *queue)
{
    for (unsigned i = 1; i < queue->state.used; i++)
        if (!queue_range_is_empty(&queue->state.ranges[i]) &&
            lock_is_held(queue->fd, queue_lock(i)))
            return true;
    return false;
}

/* The first range at or after `from` that waits, of the old state; if none, one after all. */
static struct queue_range next_range(const struct queue_state *state, uint64_t from)
{
    struct queue_range next = {.begin = UINT64_MAX};
    for (unsigned i = 0; i < state->used; i++) {
        struct queue_range range = state->ranges[i];
        if (range.begin < from)
            range.begin = from;
        if (range.begin < range.end && range.begin < next.begin)
            next = range;
    }
    return next;
}

/* Copies whole lines of begin..end, which lie in one segment, to the new tail. What has no end is
 * lost. Returns -1 if they cannot be read or written. */
static int copy_lines(struct queue *queue, uint64_t start, uint64_t begin, uint64_t end,
                      struct fault *fault)
{
    struct queue_lines lines;
    while (begin < end) {
        if (queue_read_segment(queue, start, begin, end, UINT64_MAX, &lines, fault) != 0)
            return fault->error == 0 ? 0 : -1;
        if (queue_append_unsaved(queue, lines.bytes, lines.length, 0, fault) != lines.length)
            return -1;
        begin += lines.length;
    }
    return 0;
}

static int copy_segment(struct queue *queue, const struct queue_state *old, uint64_t start,
                        struct fault *fault)
{
    uint64_t length;
    if (segment_length(queue->directory, start, &length) != 0)
        return queue_fault_segment(queue, fault);
    uint64_t end = start + length;
    struct queue_range range = next_range(old, start);
    for (; range.begin < end; range = next_range(old, range.end))
        if (copy_lines(queue, start, range.begin, range.end < end ? range.end : end, fault) != 0)
            return -1;
    return 0;
}

/* A position after all that there is. */
static int find_new_place(const struct queue *queue, const struct segment_list *list,
                          uint64_t *place, struct fault *fault)
{
    uint64_t length;
    *place = queue_state_tail(&queue->state);
    for (size_t i = 0; i < list->count; i++) {
        if (segment_length(queue->directory, list->starts[i], &length) != 0)
            return queue_fault_segment(queue, fault);
        if (list->starts[i] + length > *place)
            *place = list->starts[i] + length;
    }
    return 0;
}

/* Under the lock. */
static int rebuild(struct queue *queue, const struct queue_state *old,
                   const struct segment_list *list, uint64_t *lost, struct fault *fault)
{
    struct queue_state *state = &queue->state;
    uint64_t place, told = queue_state_lines(old);
    if (find_new_place(queue, list, &place, fault) != 0)
        return -1;
    state->oldest = state->newest = place;
    memset(state->ranges, 0, sizeof state->ranges);
    state->ranges[0].begin = state->ranges[0].end = place;
    state->used = 1;
    for (size_t i = 0; i < list->count; i++)
        if (copy_segment(queue, old, list->starts[i], fault) != 0)
            return -1;
    if (queue_save(queue, fault) != 0 || queue_sync(queue, fault) != 0)
        return -1;
    *lost = told > state->ranges[0].lines ? told - state->ranges[0].lines : 0;
    /* What was there, but for an empty file that is written to now. */
    for (size_t i = 0; i < list->count; i++)
        if (list->starts[i] < state->oldest)
            (void)segment_remove(queue->directory, list->starts[i]);
    return 0;
}

static int mend(struct queue *queue, uint64_t *lost, struct fault *fault)
{
    struct segment_list list;
    bool durable = queue->durable;
    if (segment_list_read(&list, queue->directory) != 0)
        return queue_fault_segment(queue, fault);
    struct queue_state *old = malloc(sizeof *old);
    int result = -1;
    if (old == NULL) {
        fault_errno(fault, queue->path, NULL, ENOMEM);
    } else {
        *old = queue->state;
        /* The copies are on disk before what they were made of goes. */
        queue->durable = true;
        result = rebuild(queue, old, &list, lost, fault);
    }
    queue->durable = durable;
    free(old);
    segment_list_free(&list);
    return result;
}

/* Under the lock. What there is after the tail, an append would take in, and so does an append of
 * no bytes. */
static int take_in(struct queue *queue, struct fault *fault)
{
    const struct queue_state *state = &queue->state;
    uint64_t length, tail = queue_state_tail(state);
    bool longer = state->newest < tail &&
                  segment_length(queue->directory, state->newest, &length) == 0 &&
                  length > tail - state->newest;
    if (!longer && segment_length(queue->directory, tail, &length) != 0)
        return 0;
    fault->reason[0] = '\0';
    (void)queue_append_unsaved(queue, "", 0, 0, fault);
    if (fault->reason[0] != '\0')
        return -1;
    return queue_state_tail(state) != tail ? queue_save(queue, fault) : 0;
}

int queue_mend(struct queue *queue, uint64_t *lost, struct fault *fault)
{
    *lost = 0;
    if (queue_begin(queue, fault) != 0)
        return -1;
    int result = is_whole(queue, fault);
    if (result == 0 && !anybody_has_lines(queue))
        result = mend(queue, lost, fault);
    else if (result > 0 && queue->state.known)
        result = take_in(queue, fault) == 0 ? 1 : -1;
    queue_end(queue);
    /* Whoever took the last lines off may have been killed before their segment was gone. */
    if (result > 0)
        queue_drain(queue);
    return result < 0 ? -1 : 0;
}
