/* take - takes lines from the front, and removes, returns or moves them; see queue.h. */
#include "queue/internal.h"

#include "system/clock.h"
#include "system/io.h"
#include "system/path.h"
#include "system/signals.h"
#include "text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The segment that is being read, or NULL. */
static struct segment *current(struct queue *queue)
{
    return queue->open_count > 0 ? &queue->open[queue->open_count - 1] : NULL;
}

/* Deletes a segment that is not the last, if all its records are removed. */
static void remove_if_done(const struct queue *queue, const struct segment *segment)
{
    char name[24];
    struct stat status;
    struct record record = {.end = 0};
    while (segment_next(segment, record.end, queue->plan.delimiter, &record))
        if (record.status != '-')
            return;
    /* Another file may have its name by now. */
    if (fstat(segment->fd, &status) != 0 || status.st_nlink == 0)
        return;
    snprintf(name, sizeof name, SEGMENT_NAME, segment->number);
    unlinkat(queue->directory, name, 0);
}

void queue_close_segments(struct queue *queue)
{
    while (queue->open_count > 0)
        segment_close(&queue->open[--queue->open_count]);
}

int queue_next_segment(const struct queue *queue, struct segment *segment, int flags,
                       struct fault *fault)
{
    struct segments found = {.next = segment->number + 1};
    /* Usually it has the next number. */
    for (bool look = segment->number == 0;; look = true) {
        if (look &&
            segments_find(&found, queue->directory, queue->path, segment->number, fault) != 0)
            return -1;
        if (found.next == 0)
            return 0;
        int fd = queue_open_segment(queue, found.next, flags, fault);
        if (fd < 0 && fault->error == ENOENT)
            continue;
        if (fd >= 0)
            *segment = (struct segment){.number = found.next, .fd = fd};
        return fd >= 0 ? 1 : -1;
    }
}

/* Opens the next segment. Returns 1, 0 if there is none or no more may be open, -1. */
static int open_next(struct queue *queue, enum queue_why *why, struct fault *fault)
{
    struct segment *last = current(queue), next = {.number = last != NULL ? last->number : 0};
    if (queue->open_count == QUEUE_OPEN && queue->run_count > 0) {
        *why = QUEUE_FULL;
        return 0;
    }
    int result = queue_next_segment(queue, &next, O_RDWR, fault);
    if (result <= 0)
        return result;
    if (last != NULL)
        remove_if_done(queue, last);
    if (queue->run_count == 0)
        queue_close_segments(queue);
    queue->open[queue->open_count++] = next;
    queue->at = 0;
    return 1;
}

/* Finds the next waiting records, at most `most`, and appends their lines to the buffer: at least
 * one, up to QUEUE_CHUNK bytes. Returns 1, 0 if there are none, -1. */
static int find_run(struct queue *queue, uint64_t most, size_t before, struct run *run,
                    enum queue_why *why, struct fault *fault)
{
    struct record record = {.end = queue->at};
    uint64_t longest = queue->plan.max_line;
    *run = (struct run){.segment = &queue->open[queue->open_count - 1]};
    while (run->lines < most &&
           segment_next(run->segment, record.end, queue->plan.delimiter, &record)) {
        size_t length = record.end - record.at - 1, all = before + run->bytes + length;
        uint64_t until = record.end;
        bool too_long = length - 1 > longest;
        if (!record_waits(&record))
            continue;
        if (run->lines > 0 && (all > QUEUE_CHUNK || too_long))
            break;
        if (too_long && segment_is_held(run->segment, record.at, &until)) {
            *why = QUEUE_AWAITED;
            continue;
        }
        if (too_long) {
            fault_set(fault, queue->path, "the next line is longer than %" PRIu64 " %s", longest,
                      number_of(longest, "byte", "bytes"));
            return fault_way_out(fault, "to allow it: --max-line SIZE");
        }
        if (queue_make_room(queue, all, fault) != 0)
            return -1;
        memcpy(queue->buffer + all - length, run->segment->bytes + record.at + 1, length);
        if (run->lines++ == 0)
            run->at = record.at;
        run->end = record.end;
        run->bytes += length;
    }
    if (run->lines == 0)
        queue->at = record.end;
    return run->lines > 0;
}

/* Another process has locked the single record of a run: skips all records under the same lock. */
static void pass_over(struct queue *queue, const struct run *run)
{
    uint64_t until = run->end;
    struct record record = {.at = 0};
    (void)segment_is_held(run->segment, run->at, &until);
    queue->at = run->end;
    while (segment_next(run->segment, queue->at, queue->plan.delimiter, &record) &&
           record.at < until)
        queue->at = record.end;
}

/* Takes lines of the current segment. Tries to lock many records at a time; if another process
 * holds one of them, fewer. Returns 1 to continue with the next segment, 0 if done, -1. */
static int take_here(struct queue *queue, uint64_t most, struct queue_lines *lines,
                     enum queue_why *why, struct fault *fault)
{
    uint64_t step = most;
    if (segment_map(current(queue), true, queue->plan.delimiter, queue->path, fault) != 0)
        return -1;
    while (lines->count < most && lines->length < QUEUE_CHUNK) {
        struct run run;
        uint64_t left = most - lines->count;
        int found = find_run(queue, step < left ? step : left, lines->length, &run, why, fault);
        if (found <= 0)
            return found == 0 ? 1 : -1;
        if (lines->count > 0 && lines->length + run.bytes > QUEUE_CHUNK)
            return 0;
        if (queue->run_count == QUEUE_RUNS) {
            *why = QUEUE_FULL;
            return 0;
        }
        int got = segment_lock(run.segment, F_WRLCK, run.at, run.end);
        if (got < 0)
            return fault_errno(fault, queue->path, "cannot be locked", errno);
        if (got > 0) {
            queue->runs[queue->run_count++] = run;
            queue->at = run.end;
            lines->length += run.bytes;
            lines->count += run.lines;
        } else if (run.lines == 1) {
            *why = QUEUE_AWAITED;
            pass_over(queue, &run);
        }
        step = got == 0 ? 1 : step > most / 2 ? most : 2 * step;
    }
    return 0;
}

static int take_now(struct queue *queue, uint64_t most, struct queue_lines *lines,
                    enum queue_why *why, struct fault *fault)
{
    *lines = (struct queue_lines){0};
    *why = QUEUE_EMPTY;
    int more = queue_lock(queue, fault);
    if (more < 0)
        return -1;
    int64_t start = clock_monotonic();
    if (more > 0 && current(queue) == NULL)
        more = open_next(queue, why, fault);
    while (more > 0 && (more = take_here(queue, most, lines, why, fault)) > 0)
        more = open_next(queue, why, fault);
    queue->held_for = (uint64_t)(clock_monotonic() - start);
    queue_unlock(queue);
    lines->bytes = queue->buffer;
    /* The next call will meet the fault again. */
    if (lines->count > 0)
        return 1;
    if (queue->run_count == 0)
        queue_close_segments(queue);
    return more;
}

int queue_take(struct queue *queue, uint64_t most, uint64_t wait, bool until_done,
               struct queue_lines *lines, enum queue_why *why, struct fault *fault)
{
    enum { PAUSE_MAX = 1000 };
    int64_t start = clock_monotonic();
    for (;;) {
        int result = take_now(queue, most, lines, why, fault);
        uint64_t waited = (uint64_t)(clock_monotonic() - start);
        if (result != 0 || waited >= wait || (until_done && *why == QUEUE_EMPTY) ||
            signals_arrived())
            return result;
        /* A pause, so that many waiting processes do not keep the lock from working ones. */
        uint64_t pause = 50 + 20 * queue->held_for, left = wait - waited;
        pause = pause < PAUSE_MAX ? pause : PAUSE_MAX;
        (void)signals_wait_readable(-1, (int)(left < pause ? left : pause));
    }
}

/* A position in the held records; {0, 0} is the first. */
struct place {
    unsigned run;
    size_t at;
};

/* The status byte of the next held record that is not removed, from *place on, which moves after
 * that record; or NULL. */
static char *next_held(const struct queue *queue, struct place *place, struct record *record)
{
    for (; place->run < queue->run_count; *place = (struct place){place->run + 1, 0}) {
        const struct run *run = &queue->runs[place->run];
        record->end = place->at > run->at ? place->at : run->at;
        while (record->end < run->end &&
               segment_next(run->segment, record->end, queue->plan.delimiter, record))
            if (record_waits(record)) {
                place->at = record->end;
                return run->segment->bytes + record->at;
            }
    }
    return NULL;
}

/* Under the lock: releases all held records. */
static void release_held(struct queue *queue)
{
    unsigned last = queue->open_count - 1;
    if (queue->run_count == 0)
        return;
    for (unsigned i = 0; i < queue->run_count; i++)
        (void)segment_lock(queue->runs[i].segment, F_UNLCK, queue->runs[i].at, queue->runs[i].end);
    for (unsigned i = 0; i < last; i++) {
        remove_if_done(queue, &queue->open[i]);
        segment_close(&queue->open[i]);
    }
    queue->open[0] = queue->open[last];
    queue->open_count = 1;
    queue->run_count = 0;
}

int queue_remove(struct queue *queue, uint64_t left, struct fault *fault)
{
    struct place place = {0, 0};
    struct record record;
    uint64_t held = 0;
    if (queue_lock(queue, fault) < 0)
        return -1;
    for (unsigned i = 0; i < queue->run_count; i++)
        held += queue->runs[i].lines;
    for (char *status; held > left && (status = next_held(queue, &place, &record)); held--)
        *status = '-';
    release_held(queue);
    queue_unlock(queue);
    return 0;
}

static char next_status(char status)
{
    return status == ' ' ? '1' : status < '0' + QUEUE_TRIES_MAX ? (char)(status + 1) : status;
}

static bool gives_up(unsigned tries, char status)
{
    return tries > 0 && (unsigned)(next_status(status) - '0') >= tries;
}

/* Copies the lines that are given up, or else the records that go to the back, into the buffer.
 * Returns 0 with their length, or -1 with the fault. */
static int collect_failed(struct queue *queue, unsigned tries, bool given_up, size_t *length,
                          struct fault *fault)
{
    struct place place = {0, 0};
    struct record record;
    const char *status;
    *length = 0;
    while ((status = next_held(queue, &place, &record)) != NULL) {
        size_t n = record.end - record.at - given_up;
        if (gives_up(tries, *status) != given_up)
            continue;
        if (*length + n > queue->capacity && queue_make_room(queue, 2 * (*length + n), fault) != 0)
            return -1;
        memcpy(queue->buffer + *length, status + given_up, n);
        if (!given_up)
            queue->buffer[*length] = next_status(*status);
        *length += n;
    }
    return 0;
}

/* Opens FILTER.failed, and ends its last line if a user left that unfinished. */
static int open_failed(const struct queue *queue, uint64_t *end, struct fault *fault)
{
    uint64_t whole;
    char delimiter = queue->plan.delimiter;
    int fd = side_file_open(queue->failed_path, O_RDWR | O_CREAT, &queue->filter_stat, fault);
    if (fd >= 0 && segment_measure(fd, delimiter, end, &whole, queue->failed_path, fault) != 0) {
        close(fd);
        return -1;
    }
    if (fd >= 0 && whole < *end)
        *end += io_write_at(fd, &delimiter, 1, *end);
    return fd;
}

/* Returns 0 if all lines of a kind were moved and flushed; or -1 with the fault. */
static int move_failed(struct queue *queue, unsigned tries, bool given_up, struct fault *fault)
{
    const char *name = given_up ? queue->failed_path : queue->path;
    size_t length;
    uint64_t end;
    int result = collect_failed(queue, tries, given_up, &length, fault);
    if (result != 0 || length == 0 || queue_lock(queue, fault) < 0)
        return length == 0 ? result : -1;
    int fd = given_up ? open_failed(queue, &end, fault) : queue_open_back(queue, &end, fault);
    bool done = fd >= 0 && io_write_at(fd, queue->buffer, length, end) == length;
    if (fd >= 0 && !done) {
        fault_errno(fault, name, NULL, errno);
        (void)!ftruncate(fd, (off_t)end);
    }
    queue_unlock(queue);
    if (done && fdatasync(fd) != 0)
        done = fault_errno(fault, name, "cannot be flushed to disk", errno) == 0;
    if (done && given_up)
        path_sync_directory(name);
    else if (done)
        (void)!fsync(queue->directory);
    if (fd >= 0)
        close(fd);
    return done ? 0 : -1;
}

int queue_fail(struct queue *queue, unsigned tries, struct queue_failed *what, struct fault *fault)
{
    struct place place = {0, 0};
    struct record record;
    struct fault later;
    char *status;
    *what = (struct queue_failed){0};
    bool given_up = move_failed(queue, tries, true, fault) == 0;
    bool back = given_up && move_failed(queue, tries, false, fault) == 0;
    if (queue_lock(queue, back ? fault : &later) < 0)
        return -1;
    while ((status = next_held(queue, &place, &record)) != NULL) {
        bool gives = gives_up(tries, *status), moved = gives ? given_up : back;
        if (gives && moved) {
            what->failures = (unsigned)(next_status(*status) - '0');
            size_t length = record.end - record.at - 2, most = sizeof what->line - 1;
            snprintf(what->line, sizeof what->line, length <= most ? "%.*s" : "%.*s...",
                     (int)(length <= most ? length : most - 3), status + 1);
        }
        *status = moved ? '-' : next_status(*status);
        *(gives ? &what->given_up : &what->back) += moved;
    }
    release_held(queue);
    queue_unlock(queue);
    return back ? 0 : -1;
}
