/*
 * take - taking out, from the front; see queue.h.
 *
 * The staircase, from the obvious queue to this one:
 *
 *   1. The state is one number, the front. To take is to move it on. A worker that dies with its
 *      lines takes them with it.
 *   2. So what was taken stays written down, as a range of its own, until it is removed; and the
 *      worker holds a lock on the range, which the kernel drops when it dies. Lines in a range that
 *      nobody locks wait: nothing has to be repaired, and nobody has to look for the dead.
 *   3. Then there are many ranges that wait, and the lowest comes first: lines come back to the
 *      place they had.
 *   4. A taker may want fewer lines than wait in that range. It cuts off what it takes at the front
 *      and puts that into another range, which it locks; the rest stays, for the next taker.
 *   5. A worker takes a large number of lines in many chunks. What begins where one of its ranges
 *      ends is added to that range, so most workers need one range, however much they take.
 *   6. Beside the front there are 1024 ranges. If none is free, a taker waits until a worker
 *      removes its lines. But if all are those of dead workers, nobody ever would. So it locks the
 *      whole range that it takes from, and remembers by itself which part it took. The rest waits
 *      again as soon as that is removed; until then the worker takes nothing else.
 *
 * Nothing of the state changes before it is known what was got, and all changes in one save.
 */
#include "queue/internal.h"

#include "system/signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

/* --- taking --- */

/* The range that waits and begins first, or NULL; *awaited says whether live workers have lines. */
static struct queue_range *find_waiting(struct queue *queue, bool *awaited)
{
    struct queue_range *ranges = queue->state.ranges, *best = NULL;
    *awaited = false;
    for (unsigned i = 0; i < queue->state.used; i++) {
        struct queue_range *range = &ranges[i];
        if (queue_range_is_empty(range) || queue->own[i])
            continue;
        if (i > 0 && lock_is_held(queue->fd, queue_lock(i)))
            *awaited = true;
        else if (best == NULL || range->begin < best->begin)
            best = range;
    }
    return best;
}

/* Locks a range. Returns 1, 0 if somebody has it, -1. */
static int try_lock(const struct queue *queue, unsigned range, struct fault *fault)
{
    int got = lock_try(queue->fd, queue_lock(range));
    return got < 0 ? fault_errno(fault, queue->path, "cannot be locked", errno) : got;
}

/* Finds and locks a range for what is taken off `from`: an own one that it goes on, or else one
 * that is empty, or `from`. Returns 1, 0 if there is none, -1. */
static int find_place(const struct queue *queue, const struct queue_range *from, unsigned *to,
                      struct fault *fault)
{
    const struct queue_state *state = &queue->state;
    for (*to = 1; *to < state->used; ++*to)
        if (queue->own[*to] && state->ranges[*to].end == from->begin)
            return 1;
    for (*to = 1; *to < QUEUE_RANGES; ++*to) {
        int got = queue_range_is_empty(&state->ranges[*to]) ? try_lock(queue, *to, fault) : 0;
        if (got != 0)
            return got;
    }
    *to = (unsigned)(from - state->ranges);
    return *to > 0 ? try_lock(queue, *to, fault) : 0;
}

/* Cuts lines off the front of a range. Its segments may hold more or fewer than the state tells
 * of. */
static void cut(struct queue_range *range, uint64_t bytes, uint64_t lines)
{
    range->begin += bytes;
    uint64_t left = range->lines > lines ? range->lines - lines : 0;
    uint64_t most = range->end - range->begin;
    range->lines = left < most ? left : most;
}

/* Moves the lines from their range to another. Returns what of that was not taken: nothing, or if
 * it is the same range, all that is left of it. */
static struct queue_range move_lines(struct queue_state *state, struct queue_range *from,
                                     unsigned to, const struct queue_lines *lines)
{
    struct queue_range *range = &state->ranges[to], left = *from;
    left.taken = false;
    cut(&left, lines->length, lines->count);
    if (range != from) {
        if (queue_range_is_empty(range))
            *range = (struct queue_range){from->begin, from->begin, 0, true};
        if (to >= state->used)
            state->used = to + 1;
        range->end += lines->length;
        range->lines += lines->count;
        *from = left;
        left.begin = left.end = range->end;
        left.lines = 0;
    }
    range->taken = true;
    return left;
}

/* Under the lock. Returns as queue_take; also -2 if there is no range for what would be taken. */
static int take_locked(struct queue *queue, uint64_t most, struct queue_lines *lines, bool *awaited,
                       struct fault *fault)
{
    unsigned to = 0;
    struct queue_range *from = find_waiting(queue, awaited);
    if (!queue_range_is_empty(&queue->rest))
        return -2;
    if (from == NULL)
        return 0;
    int got = find_place(queue, from, &to, fault);
    if (got <= 0)
        return got < 0 ? -1 : -2;
    if (queue_read_lines(queue, from->begin, from->end, most, lines, fault) == 0) {
        struct queue_range rest = move_lines(&queue->state, from, to, lines);
        if (queue_save(queue, fault) == 0) {
            queue->owned += !queue->own[to];
            queue->own[to] = true;
            queue->last = to;
            queue->rest = rest;
            queue->taken = *lines;
            return 1;
        }
    }
    if (!queue->own[to])
        lock_let_go(queue->fd, queue_lock(to));
    return -1;
}

int queue_take(struct queue *queue, uint64_t most, struct queue_lines *lines, bool *awaited,
               struct fault *fault)
{
    struct timespec doze = {0, 10000000};
    for (unsigned round = 1;; round++) {
        if (queue_begin(queue, fault) != 0)
            return -1;
        int result = take_locked(queue, most, lines, awaited, fault);
        queue_end(queue);
        if (result != -2)
            return result;
        *awaited = true;
        if (queue->owned > 0)
            return 0;
        if (round == 500 && queue->waits != NULL)
            queue->waits(queue, false);
        (void)nanosleep(&doze, NULL);
        if (signals_pending())
            return fault_errno(fault, queue->path, NULL, EINTR);
    }
}

uint64_t queue_accept(struct queue *queue, size_t bytes)
{
    struct queue_lines *taken = &queue->taken;
    size_t whole = queue_whole_lines(queue, taken->bytes, bytes);
    uint64_t lines = queue_count_lines(queue, taken->bytes, whole);
    queue->refused_bytes = taken->length - whole;
    queue->refused_lines = taken->count - lines;
    return lines;
}

/* --- removing --- */

/* Under the lock. All is off but what was refused, and what was not taken of the range. */
static int remove_locked(struct queue *queue, struct fault *fault)
{
    struct queue_range rest = queue->rest;
    rest.begin -= queue->refused_bytes;
    rest.lines += queue->refused_lines;
    for (unsigned i = 1; i < queue->state.used; i++)
        if (queue->own[i])
            queue->state.ranges[i] = i == queue->last ? rest : (struct queue_range){0};
    if (queue_save(queue, fault) != 0)
        return -1;
    for (unsigned i = 1; i < QUEUE_RANGES && queue->owned > 0; i++)
        if (queue->own[i]) {
            queue->own[i] = false;
            queue->owned--;
            lock_let_go(queue->fd, queue_lock(i));
        }
    queue->rest = (struct queue_range){0};
    queue->refused_bytes = queue->refused_lines = 0;
    return 0;
}

int queue_remove(struct queue *queue, struct fault *fault)
{
    if (queue->owned == 0)
        return 0;
    if (queue_begin(queue, fault) != 0)
        return -1;
    int result = remove_locked(queue, fault);
    queue_end(queue);
    if (result == 0)
        queue_drain(queue);
    return result;
}

/* --- to the back --- */

/* The own range that begins first, of those of which something is out; or NULL. */
static struct queue_range *first_out(struct queue *queue, uint64_t *end)
{
    struct queue_range *first = NULL;
    for (unsigned i = 1; i < queue->state.used; i++) {
        struct queue_range *range = &queue->state.ranges[i];
        uint64_t out_end = i == queue->last ? queue->rest.begin : range->end;
        if (queue->own[i] && !queue_range_is_empty(range) && range->begin < out_end &&
            (first == NULL || range->begin < first->begin)) {
            first = range;
            *end = out_end;
        }
    }
    return first;
}

/* Lines that are out, lie in one segment, and have had equally many tries. */
struct chunk {
    struct queue_lines lines;
    uint64_t begin;
    uint32_t tries;
};

/* Under the lock: reads the next one. Returns 1, 0 if there is none, -1. */
static int read_out(struct queue *queue, struct chunk *chunk, struct fault *fault)
{
    uint64_t end;
    const struct queue_range *range = first_out(queue, &end);
    if (range == NULL)
        return 0;
    chunk->begin = range->begin;
    if (tries_find(queue, range->begin, &end, &chunk->tries, fault) != 0 ||
        queue_read_lines(queue, range->begin, end, UINT64_MAX, &chunk->lines, fault) != 0)
        return -1;
    return 1;
}

/* Under the lock: its first `length` bytes are not out any more. */
static int cut_out(struct queue *queue, const struct chunk *chunk, size_t length,
                   struct fault *fault)
{
    uint64_t end;
    struct queue_range *range = first_out(queue, &end);
    if (range == NULL || range->begin != chunk->begin || end - chunk->begin < length)
        return queue_damaged(queue, "its state was written by something else", fault);
    cut(range, length, queue_count_lines(queue, chunk->lines.bytes, length));
    return queue_save(queue, fault);
}

/* Under the lock: the range and the tail change in one save. Returns how many bytes went to the
 * back: all, or fewer with the fault. */
static size_t move_to_back(struct queue *queue, const struct chunk *chunk, struct fault *fault)
{
    struct fault later;
    size_t length = chunk->lines.length;
    size_t put = queue_append_unsaved(queue, chunk->lines.bytes, length,
                                      chunk->tries + (chunk->tries < UINT32_MAX), fault);
    return put > 0 && cut_out(queue, chunk, put, put == length ? fault : &later) != 0 ? 0 : put;
}

/* Without the lock: nobody else takes or moves what is out here. Returns as move_to_back. */
static size_t give_up(struct queue *queue, const struct chunk *chunk, struct output *failed,
                      struct fault *fault)
{
    struct fault later = {0};
    const struct queue_lines *lines = &chunk->lines;
    size_t done = output_write(failed, lines->bytes, lines->length, fault);
    done = queue_whole_lines(queue, lines->bytes, done);
    struct fault *first = done < lines->length ? &later : fault;
    if (done == 0 || output_sync(failed, first) != 0 || queue_begin(queue, first) != 0)
        return 0;
    int result = cut_out(queue, chunk, done, first);
    queue_end(queue);
    return result == 0 ? done : 0;
}

/* Does away with the next chunk. Returns 1 if there may be more, 0 if all is done, -1. */
static int fail_chunk(struct queue *queue, uint32_t most, struct output *failed,
                      struct queue_failed *what, struct fault *fault)
{
    struct chunk chunk;
    size_t done = 0;
    if (queue_begin(queue, fault) != 0)
        return -1;
    int read = read_out(queue, &chunk, fault);
    int result = read == 0 ? remove_locked(queue, fault) : read;
    bool gives_up = read > 0 && failed != NULL && chunk.tries >= most - 1;
    if (read > 0 && !gives_up)
        done = move_to_back(queue, &chunk, fault);
    queue_end(queue);
    if (read <= 0)
        return result;
    if (gives_up)
        done = give_up(queue, &chunk, failed, fault);
    *(gives_up ? &what->given_up : &what->back) += queue_count_lines(queue, chunk.lines.bytes,
                                                                     done);
    return done == chunk.lines.length ? 1 : -1;
}

int queue_put_back(struct queue *queue, uint32_t most, struct output *failed,
                   struct queue_failed *what, struct fault *fault)
{
    int result = 1;
    *what = (struct queue_failed){0};
    queue->refused_bytes = queue->refused_lines = 0;
    while (result > 0) {
        if (signals_pending())
            return fault_errno(fault, queue->path, NULL, EINTR);
        result = fail_chunk(queue, most, failed, what, fault);
    }
    what->uncounted = queue->uncounted;
    queue->uncounted = false;
    if (result == 0)
        queue_drain(queue);
    return result;
}

/* --- waiting --- */

static bool watch(struct queue *queue)
{
    char state[64];
    queue->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (queue->notify < 0)
        return false;
    snprintf(state, sizeof state, "/proc/self/fd/%d", queue->fd);
    if (inotify_add_watch(queue->notify, state, IN_MODIFY) >= 0)
        return true;
    close(queue->notify);
    queue->notify = -1;
    return false;
}

void queue_wait(struct queue *queue, uint64_t most)
{
    enum { MILLISECONDS = 250, WITHOUT_NOTICE = 50 };
    char events[4096];
    if (queue->notify < 0) {
        /* Nobody tells of what changed before: the caller looks once more. */
        if (!watch(queue))
            (void)signals_wait_readable(-1, most < WITHOUT_NOTICE ? (int)most : WITHOUT_NOTICE);
        return;
    }
    (void)signals_wait_readable(queue->notify, most < MILLISECONDS ? (int)most : MILLISECONDS);
    while (read(queue->notify, events, sizeof events) > 0)
        continue;
}
