/* queue_take - taking out; see queue.h. */
#include "queue/internal.h"

#include "queue/segment.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 * 1024 };

/* --- reading --- */

/* Which segment a position lies in, and where its lines end. From the one that was read last: a queue
 * can have very many. */
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
    *end = state->tail;
    return 0;
}

static int open_to_read(struct queue *queue, uint64_t start, struct fault *fault)
{
    if (queue->read_fd >= 0 && queue->read_start == start)
        return 0;
    int fd = segment_open(queue->directory, start);
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
    fault_set(fault, queue->path, "a line is longer than %zu bytes", queue->max_line - 1);
    fault->error = EFBIG;
    return fault_way_out(fault, "to allow it: --max-line");
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
    return queue_damaged(queue, "a segment is cut off", fault);
}

/* The first lines, at most `most`, of `length` bytes, up to one that is too long. */
static struct queue_lines first_lines(const struct queue *queue, size_t length, uint64_t most)
{
    struct queue_lines lines = {.bytes = queue->buffer};
    const char *at = queue->buffer, *end = at + length;
    const char *start = at;
    while (lines.count < most && (at = memchr(at, queue->delimiter, (size_t)(end - at))) != NULL) {
        at++;
        if ((size_t)(at - start) > queue->max_line)
            break;
        start = at;
        lines.count++;
        lines.length = (size_t)(at - queue->buffer);
    }
    return lines;
}

int queue_read_segment(struct queue *queue, uint64_t start, uint64_t begin, uint64_t end,
                       uint64_t most, struct queue_lines *lines, struct fault *fault)
{
    if (open_to_read(queue, start, fault) != 0)
        return -1;
    uint64_t all = end - begin;
    size_t have = 0, want = all < CHUNK_BYTES ? (size_t)all : CHUNK_BYTES;
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
        want = all / 2 < want ? (size_t)all : want * 2;
        if (want > queue->max_line)
            want = queue->max_line;
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
    uint64_t left = (end < segment_end ? end : segment_end) - begin;
    size_t length = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    if (fill(queue, begin, 0, length, fault) != 0)
        return -1;
    *lines = (struct queue_lines){queue->buffer, length,
                                  queue_count_lines(queue, queue->buffer, length)};
    if (length == left && queue->buffer[length - 1] != queue->delimiter)
        return queue_damaged(queue, "a line has no end", fault);
    return 0;
}

int queue_read_lines(struct queue *queue, uint64_t begin, uint64_t end, uint64_t most,
                     struct queue_lines *lines, struct fault *fault)
{
    uint64_t start, segment_end;
    if (find_segment(queue, begin, &start, &segment_end, fault) != 0)
        return -1;
    return queue_read_segment(queue, start, begin, end < segment_end ? end : segment_end, most,
                              lines, fault);
}

/* --- where the next lines are --- */

enum kind {
    NOWHERE,
    OWN,   /* what is left of a range of this process */
    DEAD,  /* the range of a worker that is gone: its slot is taken over */
    LIVE,  /* what a live worker has left of its range: goes to a slot of this process */
    FRONT, /* what nobody has taken */
};

struct source {
    enum kind kind;
    unsigned slot;
    uint64_t begin, end;
};

static void consider(struct source *best, struct source source)
{
    if (source.begin < source.end && (best->kind == NOWHERE || source.begin < best->begin))
        *best = source;
}

/* Where the oldest lines are that can be had, without a further slot if `slots` is false. */
static struct source find_source(const struct queue *queue, bool slots, bool *awaited)
{
    const struct queue_state *state = &queue->state;
    struct source best = {.kind = NOWHERE};
    *awaited = false;
    for (unsigned i = 0; i < state->highest; i++) {
        const struct queue_slot *slot = &state->slots[i];
        if (queue_slot_is_empty(slot))
            continue;
        if (queue->own[i]) {
            consider(&best, (struct source){OWN, i, slot->middle, slot->end});
        } else if (lock_is_held(queue->fd, LOCK_SLOT + i)) {
            *awaited |= slot->begin < slot->middle;
            if (slots)
                consider(&best, (struct source){LIVE, i, slot->middle, slot->end});
        } else {
            consider(&best, (struct source){DEAD, i, slot->begin, slot->end});
        }
    }
    if (slots)
        consider(&best, (struct source){FRONT, 0, state->front, state->tail});
    return best;
}

/* An empty slot, now owned. Returns 1, 0 if there is none, -1. */
static int find_free_slot(struct queue *queue, unsigned *slot, struct fault *fault)
{
    struct queue_state *state = &queue->state;
    for (unsigned i = 0; i < QUEUE_SLOTS; i++) {
        if (i < state->highest && !queue_slot_is_empty(&state->slots[i]))
            continue;
        int got = lock_try(queue->fd, LOCK_SLOT + i);
        if (got < 0)
            return fault_errno(fault, queue->path, "cannot be locked", errno);
        if (got == 0)
            continue;
        if (i >= state->highest)
            state->highest = i + 1;
        *slot = i;
        return 1;
    }
    return 0;
}

/* A slot that ends where nobody has taken anything yet can go on. */
static bool ends_at_front(const struct queue *queue, unsigned *slot)
{
    const struct queue_state *state = &queue->state;
    for (unsigned i = 0; queue->owned > 0 && i < state->highest; i++)
        if (queue->own[i] && !queue_slot_is_empty(&state->slots[i]) &&
            state->slots[i].middle == state->slots[i].end && state->slots[i].end == state->front) {
            *slot = i;
            return true;
        }
    return false;
}

static void own(struct queue *queue, unsigned slot)
{
    if (!queue->own[slot])
        queue->owned++;
    queue->own[slot] = true;
}

static void disown(struct queue *queue, unsigned slot)
{
    if (queue->own[slot])
        queue->owned--;
    queue->own[slot] = false;
    lock_let_go(queue->fd, LOCK_SLOT + slot);
}

/* Makes the source a slot of this process, of which nothing new is out yet. Returns 1 and the slot;
 * 0 if there is no slot left; -1. */
static int occupy(struct queue *queue, const struct source *source, unsigned *slot,
                  struct fault *fault)
{
    struct queue_slot *slots = queue->state.slots;
    int got = 1;
    *slot = source->slot;
    if (source->kind == OWN || (source->kind == FRONT && ends_at_front(queue, slot)))
        return 1;
    if (source->kind == DEAD) {
        got = lock_try(queue->fd, LOCK_SLOT + *slot);
        if (got < 0)
            return fault_errno(fault, queue->path, "cannot be locked", errno);
        slots[*slot].middle = slots[*slot].begin;
        slots[*slot].lines_left += slots[*slot].lines_out;
        slots[*slot].lines_out = 0;
    } else {
        got = find_free_slot(queue, slot, fault);
        if (got <= 0)
            return got;
        slots[*slot] = (struct queue_slot){source->begin, source->begin, source->begin, 0, 0};
        if (source->kind == LIVE) {
            slots[*slot].end = source->end;
            slots[*slot].lines_left = slots[source->slot].lines_left;
            slots[source->slot].end = source->begin;
            slots[source->slot].lines_left = 0;
        }
    }
    if (got > 0)
        own(queue, *slot);
    return got;
}

/* Lines that are left of a range when some are taken out. The segments may hold more or fewer than the
 * state tells of. */
static uint64_t fewer(uint64_t lines, uint64_t taken, uint64_t bytes_left)
{
    uint64_t left = lines > taken ? lines - taken : 0;
    return left < bytes_left ? left : bytes_left;
}

static void note_taken(struct queue *queue, const struct source *source, unsigned slot,
                       const struct queue_lines *lines)
{
    struct queue_state *state = &queue->state;
    struct queue_slot *taken = &state->slots[slot];
    if (source->kind == FRONT) {
        state->front += lines->length;
        state->lines = fewer(state->lines, lines->count, state->tail - state->front);
        taken->end += lines->length;
    } else {
        taken->lines_left = fewer(taken->lines_left, lines->count,
                                  taken->end - taken->middle - lines->length);
    }
    taken->middle += lines->length;
    taken->lines_out += lines->count;
}

/* --- taking --- */

/* Under the lock. Returns as queue_take; also -2 if all slots are taken by live workers. */
static int take_locked(struct queue *queue, uint64_t most, struct queue_lines *lines, bool *awaited,
                       struct fault *fault)
{
    unsigned slot = 0;
    struct source source = find_source(queue, true, awaited);
    if (source.kind == NOWHERE)
        return 0;
    bool before[QUEUE_SLOTS];
    memcpy(before, queue->own, sizeof before);
    int got = occupy(queue, &source, &slot, fault);
    if (got == 0) {
        source = find_source(queue, false, awaited);
        got = source.kind != NOWHERE ? occupy(queue, &source, &slot, fault) : 0;
    }
    if (got <= 0)
        return got < 0 ? -1 : -2;
    if (queue_read_lines(queue, source.begin, source.end, most, lines, fault) == 0) {
        note_taken(queue, &source, slot, lines);
        if (queue_save(queue, fault) == 0) {
            queue->taken = *lines;
            queue->taken_slot = slot;
            return 1;
        }
    }
    if (!before[slot])
        disown(queue, slot);
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
            queue->waits(queue->waits_context);
        (void)nanosleep(&doze, NULL);
        if (signals_pending())
            return fault_errno(fault, queue->path, NULL, EINTR);
    }
}

uint64_t queue_accept(struct queue *queue, size_t bytes)
{
    struct queue_lines *taken = &queue->taken;
    const char *last = memrchr(taken->bytes, queue->delimiter, bytes);
    size_t whole = last != NULL ? (size_t)(last - taken->bytes) + 1 : 0;
    uint64_t lines = queue_count_lines(queue, taken->bytes, whole);
    queue->refused_bytes = taken->length - whole;
    queue->refused_lines = taken->count - lines;
    return lines;
}

/* Under the lock. */
static void give_up_refused(struct queue *queue)
{
    struct queue_slot *slot = &queue->state.slots[queue->taken_slot];
    slot->middle -= queue->refused_bytes;
    slot->lines_out -= queue->refused_lines;
    slot->lines_left += queue->refused_lines;
}

/* Under the lock, when all is saved. */
static void disown_all(struct queue *queue)
{
    for (unsigned i = 0; i < QUEUE_SLOTS && queue->owned > 0; i++)
        if (queue->own[i])
            disown(queue, i);
    queue->refused_bytes = queue->refused_lines = 0;
}

static int remove_locked(struct queue *queue, struct fault *fault)
{
    give_up_refused(queue);
    for (unsigned i = 0; i < queue->state.highest; i++)
        if (queue->own[i]) {
            queue->state.slots[i].begin = queue->state.slots[i].middle;
            queue->state.slots[i].lines_out = 0;
        }
    if (queue_save(queue, fault) != 0)
        return -1;
    disown_all(queue);
    queue_drain(queue);
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
    return result;
}

/* --- to the back --- */

/* The own range that is out and begins first. */
static bool first_out(const struct queue *queue, unsigned *first)
{
    const struct queue_slot *slots = queue->state.slots;
    bool found = false;
    for (unsigned i = 0; i < queue->state.highest; i++)
        if (queue->own[i] && slots[i].begin < slots[i].middle &&
            (!found || slots[i].begin < slots[*first].begin)) {
            *first = i;
            found = true;
        }
    return found;
}

/* Moves a chunk of it. The slot and the tail change at once. A kill before that leaves whole lines behind
 * the tail, which the next push takes in: they are there twice, and none is lost. Returns 1 if there may be more, 0 if not, -1. */
static int put_back_chunk(struct queue *queue, struct fault *fault)
{
    unsigned i = 0;
    struct queue_lines lines;
    if (!first_out(queue, &i))
        return 0;
    struct queue_slot *slot = &queue->state.slots[i];
    if (queue_read_lines(queue, slot->begin, slot->middle, UINT64_MAX, &lines, fault) != 0)
        return -1;
    size_t put = queue_append_unsaved(queue, lines.bytes, lines.length, fault);
    slot->begin += put;
    slot->lines_out = fewer(slot->lines_out, queue_count_lines(queue, lines.bytes, put),
                            slot->middle - slot->begin);
    if (put == 0)
        return -1;
    struct fault later;
    bool whole = put == lines.length;
    return queue_save(queue, whole ? fault : &later) == 0 && whole ? 1 : -1;
}

int queue_put_back(struct queue *queue, struct fault *fault)
{
    int result = 1;
    queue->refused_bytes = queue->refused_lines = 0;
    while (result > 0) {
        if (signals_pending())
            return fault_errno(fault, queue->path, NULL, EINTR);
        if (queue_begin(queue, fault) != 0)
            return -1;
        result = put_back_chunk(queue, fault);
        if (result == 0)
            result = remove_locked(queue, fault) == 0 ? 0 : -1;
        queue_end(queue);
    }
    return result;
}

/* --- waiting --- */

void queue_watch(struct queue *queue)
{
    char state[64];
    queue->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (queue->notify < 0)
        return;
    snprintf(state, sizeof state, "/proc/self/fd/%d", queue->fd);
    if (inotify_add_watch(queue->notify, state, IN_MODIFY) >= 0)
        return;
    close(queue->notify);
    queue->notify = -1;
}

void queue_wait(const struct queue *queue)
{
    enum { MILLISECONDS = 250, WITHOUT_NOTICE = 50 };
    char events[4096];
    if (queue->notify < 0) {
        (void)signals_wait_readable(-1, WITHOUT_NOTICE);
        return;
    }
    (void)signals_wait_readable(queue->notify, MILLISECONDS);
    while (read(queue->notify, events, sizeof events) > 0)
        continue;
}
