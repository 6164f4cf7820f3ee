/*
 * queue_mend - after a power cut; see queue.h.
 *
 * The state and the lines reach the disk in any order. So the state can tell of lines that are not
 * there: the newest segment is too short, or it and some before it. What is left is copied to
 * segments behind the old tail, and then the state is changed in one step; a kill on the way leaves
 * all as it was, but for segments that nothing refers to.
 */
#include "file/queue_internal.h"

#include "file/segment.h"

#include <errno.h>

/* Whether each segment ends where the next begins, and all positions in use are in them. */
static bool is_whole(const struct queue *queue)
{
    const struct queue_state *state = &queue->state;
    struct fault ignored;
    uint64_t start = state->oldest, length = 0;
    uint64_t lowest = queue_state_lowest(state);
    if (lowest == state->tail)
        return true;
    while (start < state->newest) {
        if (queue_segment_length(queue, &start, &length, &ignored) != 0 || start > lowest ||
            length == 0)
            return false;
        start += length;
    }
    return start == state->newest && start < state->tail &&
           segment_length(queue->directory, start, &length) == 0 && length >= state->tail - start;
}

static bool anybody_has_lines(const struct queue *queue)
{
    for (unsigned i = 0; i < queue->state.highest; i++)
        if (!queue_slot_is_empty(&queue->state.slots[i]) && lock_is_held(queue->fd, LOCK_SLOT + i))
            return true;
    return false;
}

/* The first range at or behind `from` that waits, of the old state. */
static bool next_range(const struct queue_state *state, uint64_t from, uint64_t *begin,
                       uint64_t *end)
{
    *begin = state->front > from ? state->front : from;
    *end = state->tail;
    for (unsigned i = 0; i < state->highest; i++) {
        const struct queue_slot *slot = &state->slots[i];
        uint64_t first = slot->begin > from ? slot->begin : from;
        if (first < slot->end && first < *begin) {
            *begin = first;
            *end = slot->end;
        }
    }
    return *begin < *end;
}

/* Copies whole lines of begin..end, which lie in one segment, to the new tail. What has no end, or
 * cannot be read, is lost. Returns -1 if they cannot be written. */
static int copy_lines(struct queue *queue, uint64_t start, uint64_t begin, uint64_t end,
                      struct fault *fault)
{
    struct queue_lines lines;
    struct fault ignored;
    while (begin < end &&
           queue_read_segment(queue, start, begin, end, UINT64_MAX, &lines, &ignored) == 0) {
        if (queue_append_unsaved(queue, lines.bytes, lines.length, fault) != lines.length)
            return -1;
        begin += lines.length;
    }
    return 0;
}

static int copy_segment(struct queue *queue, const struct queue_state *old, uint64_t start,
                        struct fault *fault)
{
    uint64_t length, begin, end;
    if (segment_length(queue->directory, start, &length) != 0)
        return fault_errno(fault, queue->path, NULL, errno);
    uint64_t segment_end = start + length;
    for (uint64_t from = start; next_range(old, from, &begin, &end) && begin < segment_end;
         from = end)
        if (copy_lines(queue, start, begin, end < segment_end ? end : segment_end, fault) != 0)
            return -1;
    return 0;
}

/* A position behind all that there is. */
static uint64_t new_place(const struct queue *queue)
{
    uint64_t start, length, place = queue->state.tail;
    for (uint64_t from = 0; segment_first(queue->directory, from, &start) > 0; from = start + 1)
        if (segment_length(queue->directory, start, &length) == 0 && start + length > place)
            place = start + length;
    return place;
}

static uint64_t lines_told(const struct queue_state *state)
{
    uint64_t lines = state->lines;
    for (unsigned i = 0; i < state->highest; i++)
        lines += state->slots[i].lines_out + state->slots[i].lines_left;
    return lines;
}

static void remove_segments_before(const struct queue *queue, uint64_t place)
{
    uint64_t start, from = 0;
    while (segment_first(queue->directory, from, &start) > 0 && start < place) {
        (void)segment_remove(queue->directory, start);
        from = start + 1;
    }
}

/* Under the lock. */
static int make_anew(struct queue *queue, const struct queue_state *old, uint64_t *lost,
                     struct fault *fault)
{
    struct queue_state *state = &queue->state;
    uint64_t start, place = new_place(queue);
    state->front = state->tail = state->oldest = state->newest = place;
    state->lines = 0;
    state->highest = 0;
    for (uint64_t from = 0; segment_first(queue->directory, from, &start) > 0 && start < place;
         from = start + 1)
        if (copy_segment(queue, old, start, fault) != 0)
            return -1;
    *lost = lines_told(old) - state->lines;
    if (queue_save(queue, fault) != 0)
        return -1;
    remove_segments_before(queue, place);
    return 0;
}

int queue_mend(struct queue *queue, uint64_t *lost, struct fault *fault)
{
    int result = 0;
    *lost = 0;
    if (queue_begin(queue, fault) != 0)
        return -1;
    if (!is_whole(queue) && !anybody_has_lines(queue)) {
        struct queue_state old = queue->state;
        char delimiter = queue->delimiter;
        queue->delimiter = old.delimiter;
        result = make_anew(queue, &old, lost, fault);
        queue->delimiter = delimiter;
    }
    queue_end(queue);
    return result;
}
