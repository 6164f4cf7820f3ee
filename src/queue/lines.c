/* lines - the way of a line: pushed at the back, taken from the front, then removed, or after a
 * failure moved; see queue.h. */
#include "queue/internal.h"

#include "core/bytes.h"
#include "system/io.h"
#include "system/machine.h"
#include "system/path.h"
#include "system/signals.h"
#include "text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- push --- */

/* Under the lock: opens the segment to append to, and cuts off its rest. A segment that is not full
 * is the last one, so the one that this process appended to before is tried first. Returns a
 * descriptor with *end; or -1 with the fault. */
static int open_back(struct queue *queue, uint64_t *end, struct fault *fault)
{
    struct segments found;
    uint64_t size, number = queue->dirty_to;
    int fd = number > 0 ? segment_open(queue, number, O_RDWR, fault) : -1;
    if (fd < 0 && number > 0 && fault->error != ENOENT)
        return -1;
    for (;;) {
        if (fd >= 0) {
            if (segment_measure(fd, queue->plan.delimiter, &size, end, queue->path, fault) != 0)
                break;
            if (*end < size && ftruncate(fd, (off_t)*end) != 0) {
                fault_errno(fault, queue->path, NULL, errno);
                break;
            }
            if (*end < QUEUE_SEGMENT_BYTES) {
                queue->dirty_from = queue->dirty_from > 0 ? queue->dirty_from : number;
                queue->dirty_to = number;
                return fd;
            }
            close(fd);
        }
        if (segments_find(&found, queue->directory, queue->path, 0, fault) != 0)
            return -1;
        number = found.last > number ? found.last : number + 1;
        fd = segment_open(queue, number, O_RDWR | O_CREAT, fault);
        if (fd < 0)
            return -1;
    }
    close(fd);
    return -1;
}

/* Makes records of whole lines in the buffer. Returns their length, or 0 with the fault. */
static size_t make_records(struct queue *queue, const char *bytes, size_t length,
                           struct fault *fault)
{
    if (queue_reserve(queue, 2 * length, fault) != 0)
        return 0;
    char *to = queue->buffer;
    for (size_t at = 0, line; at < length; at += line) {
        line = first_line(bytes + at, length - at, queue->plan.delimiter);
        *to++ = ' ';
        to = mempcpy(to, bytes + at, line);
    }
    return (size_t)(to - queue->buffer);
}

/* Appends lines under the lock, and does not flush them. If the disk is full, cuts off the last
 * record that is not whole. */
static size_t push_lines(void *context, const char *bytes, size_t length, struct fault *fault)
{
    struct queue *queue = context;
    const char delimiter = queue->plan.delimiter;
    uint64_t end;
    size_t want = make_records(queue, bytes, length, fault), done = 0;
    if (want == 0 || queue_lock(queue, fault) < 0)
        return 0;
    int fd = open_back(queue, &end, fault);
    if (fd >= 0) {
        done = io_write_at(fd, queue->buffer, want, end);
        if (done < want) {
            fault_errno(fault, queue->path, NULL, errno);
            done = whole_lines(queue->buffer, done, delimiter);
            (void)!ftruncate(fd, (off_t)(end + done));
        }
        close(fd);
    }
    queue_unlock(queue);
    return done == want ? length : done - (size_t)lines_in(queue->buffer, done, delimiter);
}

/* By number: the records of a segment that is gone by now were all removed. */
static int flush_pushed(void *context, struct fault *fault)
{
    struct queue *queue = context;
    if (queue_find(queue, fault) < 0)
        return -1;
    int failed = fsync(queue->directory);
    for (uint64_t n = queue->dirty_from; n > 0 && n <= queue->dirty_to && failed == 0; n++) {
        int fd = segment_open(queue, n, O_RDWR, fault);
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
        .ends.delimiter = queue->plan.delimiter,
        .append = push_lines,
        .sync = flush_pushed,
        .context = queue,
    };
}

/* --- take --- */

static void close_segments(struct queue *queue)
{
    while (queue->open_count > 0)
        segment_close(&queue->open[--queue->open_count]);
}

/* Finds the next waiting records, at most `most`, and appends their lines to the buffer: at least
 * one, up to QUEUE_CHUNK bytes. Returns 1, 0 if there are none, -1. */
static int find_waiting(struct queue *queue, uint64_t most, size_t before, struct holding *found,
                        enum queue_why *why, struct fault *fault)
{
    struct record record = {.end = queue->at};
    uint64_t longest = queue->plan.max_line;
    *found = (struct holding){.segment = &queue->open[queue->open_count - 1]};
    while (found->lines < most &&
           segment_next(found->segment, record.end, queue->plan.delimiter, &record)) {
        size_t length = record.end - record.at - 1, all = before + found->bytes + length;
        uint64_t until = record.end;
        bool too_long = length - 1 > longest;
        if (!record_waits(&record))
            continue;
        if (found->lines > 0 && (all > QUEUE_CHUNK || too_long))
            break;
        if (too_long && segment_is_held(found->segment, record.at, &until)) {
            *why = QUEUE_AWAITED;
            continue;
        }
        if (too_long) {
            fault_set(fault, queue->path, "the next line is longer than %" PRIu64 " %s", longest,
                      number_of(longest, "byte", "bytes"));
            return fault_way_out(fault, "to allow it: --max-line SIZE");
        }
        if (queue_reserve(queue, all, fault) != 0)
            return -1;
        memcpy(queue->buffer + all - length, found->segment->bytes + record.at + 1, length);
        if (found->lines++ == 0)
            found->at = record.at;
        found->end = record.end;
        found->bytes += length;
    }
    if (found->lines == 0)
        queue->at = record.end;
    return found->lines > 0;
}

/* Takes lines of the segment that was opened last. Tries to lock many records at a time; if another
 * process holds one of them, fewer. Returns 1 to continue with the next segment, 0 if done, -1. */
static int take_here(struct queue *queue, uint64_t most, struct queue_lines *lines,
                     enum queue_why *why, struct fault *fault)
{
    const char delimiter = queue->plan.delimiter;
    struct segment *segment = &queue->open[queue->open_count - 1];
    uint64_t step = most;
    if (segment_map(segment, true, delimiter, queue->path, fault) != 0)
        return -1;
    while (lines->count < most && lines->length < QUEUE_CHUNK) {
        struct holding next;
        uint64_t left = most - lines->count;
        int found = find_waiting(queue, step < left ? step : left, lines->length, &next, why,
                                 fault);
        if (found <= 0)
            return found == 0 ? 1 : -1;
        if (lines->count > 0 && lines->length + next.bytes > QUEUE_CHUNK)
            return 0;
        if (queue->holding_count == QUEUE_HOLDINGS) {
            *why = QUEUE_FULL;
            return 0;
        }
        int got = segment_lock(segment, F_WRLCK, next.at, next.end);
        if (got < 0)
            return fault_errno(fault, queue->path, "cannot be locked", errno);
        if (got > 0) {
            queue->holdings[queue->holding_count++] = next;
            queue->at = next.end;
            lines->length += next.bytes;
            lines->count += next.lines;
        } else if (next.lines == 1) {
            /* Another process holds it: all records under the same lock are skipped. */
            struct record record;
            uint64_t until = next.end;
            *why = QUEUE_AWAITED;
            (void)segment_is_held(segment, next.at, &until);
            queue->at = next.end;
            while (segment_next(segment, queue->at, delimiter, &record) && record.at < until)
                queue->at = record.end;
        }
        step = got == 0 ? 1 : step > most / 2 ? most : 2 * step;
    }
    return 0;
}

/* Takes lines without waiting for any. Returns as queue_take. */
static int take_now(struct queue *queue, uint64_t most, struct queue_lines *lines,
                    enum queue_why *why, struct fault *fault)
{
    *lines = (struct queue_lines){0};
    *why = QUEUE_EMPTY;
    int more = queue_lock(queue, fault);
    if (more < 0)
        return -1;
    int64_t start = clock_monotonic();
    while (more > 0) {
        struct segment next = {.number = 0};
        if (queue->open_count > 0) {
            more = take_here(queue, most, lines, why, fault);
            if (more <= 0)
                break;
            next.number = queue->open[queue->open_count - 1].number;
        }
        /* This segment has no more. It stays open if locks are held. */
        if (queue->open_count == QUEUE_OPEN && queue->holding_count > 0) {
            *why = QUEUE_FULL;
            more = 0;
            break;
        }
        more = segment_open_next(queue, &next, O_RDWR, fault);
        if (more <= 0)
            break;
        if (queue->open_count > 0)
            segment_remove_if_done(queue, &queue->open[queue->open_count - 1]);
        if (queue->holding_count == 0)
            close_segments(queue);
        queue->open[queue->open_count++] = next;
        queue->at = 0;
    }
    queue->held_for = (uint64_t)(clock_monotonic() - start);
    queue_unlock(queue);
    lines->bytes = queue->buffer;
    /* The next call will meet the fault again. */
    if (lines->count > 0)
        return 1;
    if (queue->holding_count == 0)
        close_segments(queue);
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
        (void)signals_wait(-1, 0, (int)(left < pause ? left : pause));
    }
}

/* --- remove, or move after a failure --- */

/* A position in the held records; {0, 0} is the first. */
struct cursor {
    unsigned holding;
    size_t at;
};

/* The status byte of the next held record that is not removed, from *cursor on, which moves after
 * that record; or NULL. */
static char *next_held(const struct queue *queue, struct cursor *cursor, struct record *record)
{
    for (; cursor->holding < queue->holding_count;
         *cursor = (struct cursor){cursor->holding + 1, 0}) {
        const struct holding *held = &queue->holdings[cursor->holding];
        record->end = cursor->at > held->at ? cursor->at : held->at;
        while (record->end < held->end &&
               segment_next(held->segment, record->end, queue->plan.delimiter, record))
            if (record_waits(record)) {
                cursor->at = record->end;
                return held->segment->bytes + record->at;
            }
    }
    return NULL;
}

/* Under the lock: releases all held records. */
static void release_held(struct queue *queue)
{
    unsigned last = queue->open_count - 1;
    if (queue->holding_count == 0)
        return;
    for (unsigned i = 0; i < queue->holding_count; i++)
        (void)segment_lock(queue->holdings[i].segment, F_UNLCK, queue->holdings[i].at,
                           queue->holdings[i].end);
    for (unsigned i = 0; i < last; i++) {
        segment_remove_if_done(queue, &queue->open[i]);
        segment_close(&queue->open[i]);
    }
    queue->open[0] = queue->open[last];
    queue->open_count = 1;
    queue->holding_count = 0;
}

int queue_remove(struct queue *queue, uint64_t left, struct fault *fault)
{
    struct cursor cursor = {0, 0};
    struct record record;
    uint64_t held = 0;
    if (queue_lock(queue, fault) < 0)
        return -1;
    for (unsigned i = 0; i < queue->holding_count; i++)
        held += queue->holdings[i].lines;
    for (char *status; held > left && (status = next_held(queue, &cursor, &record)); held--)
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

/* Moves the lines that are given up to FILTER.failed, or the others to the back. Returns 0 if all
 * were moved and flushed; or -1 with the fault. */
static int move_failed(struct queue *queue, unsigned tries, bool given_up, struct fault *fault)
{
    const char *name = given_up ? queue->failed_path : queue->path, *status;
    const char delimiter = queue->plan.delimiter;
    struct cursor cursor = {0, 0};
    struct record record;
    size_t length = 0;
    /* 1. Copy the lines, or their records with one more try, into the buffer. */
    while ((status = next_held(queue, &cursor, &record)) != NULL) {
        size_t n = record.end - record.at - given_up;
        if (gives_up(tries, *status) != given_up)
            continue;
        if (length + n > queue->capacity && queue_reserve(queue, 2 * (length + n), fault) != 0)
            return -1;
        memcpy(queue->buffer + length, status + given_up, n);
        if (!given_up)
            queue->buffer[length] = next_status(*status);
        length += n;
    }
    if (length == 0)
        return 0;
    /* 2. Append them under the lock, all or none. A user may have left the last line of
     * FILTER.failed unfinished: it is ended. */
    uint64_t end, whole;
    if (queue_lock(queue, fault) < 0)
        return -1;
    int fd = given_up ? side_file_open(name, O_RDWR | O_CREAT, &queue->filter_stat, fault)
                      : open_back(queue, &end, fault);
    bool done = fd >= 0 &&
                (!given_up || segment_measure(fd, delimiter, &end, &whole, name, fault) == 0);
    if (done) {
        if (given_up && whole < end)
            end += io_write_at(fd, &delimiter, 1, end);
        done = io_write_at(fd, queue->buffer, length, end) == length;
        if (!done) {
            fault_errno(fault, name, NULL, errno);
            (void)!ftruncate(fd, (off_t)end);
        }
    }
    queue_unlock(queue);
    /* 3. Flush them. */
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
    struct cursor cursor = {0, 0};
    struct record record;
    struct fault later;
    char *status;
    *what = (struct queue_failed){0};
    bool given_up = move_failed(queue, tries, true, fault) == 0;
    bool back = given_up && move_failed(queue, tries, false, fault) == 0;
    /* Under the lock: what was moved is removed here; the others have one more failure. */
    if (queue_lock(queue, back ? fault : &later) < 0)
        return -1;
    while ((status = next_held(queue, &cursor, &record)) != NULL) {
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

/* --- retry: lines that were given up --- */

int queue_retry(struct queue *queue, uint64_t *count, struct fault *fault)
{
    const char *name = queue->failed_path;
    char delimiter = queue->plan.delimiter, last;
    struct segment failed = {.number = 0};
    uint64_t size, whole, end;
    int back = -1, result = -1;
    *count = queue->taken_over;
    if (queue_lock(queue, fault) < 0)
        return -1;
    failed.fd = side_file_open(name, O_RDWR, &queue->filter_stat, fault);
    if (failed.fd < 0) {
        queue_unlock(queue);
        return fault->error == ENOENT ? 0 : -1;
    }
    /* 1. A user may have left its last line unfinished: it is ended. */
    if (segment_measure(failed.fd, delimiter, &size, &whole, name, fault) != 0)
        goto done;
    if (whole < size) {
        if (io_read_at(failed.fd, &last, 1, size - 1) == 1 && (last == '\0' || last == '\n')) {
            fault_set(fault, name, "its lines end with %s, those of the queue do not",
                      last == '\0' ? "NUL" : "a newline");
            goto done;
        }
        if (io_write_at(failed.fd, &delimiter, 1, size) != 1) {
            fault_errno(fault, name, NULL, errno);
            goto done;
        }
    }
    /* 2. Its lines are appended and flushed, or none of them. */
    if (segment_map(&failed, false, delimiter, name, fault) != 0)
        goto done;
    if (failed.length > 0 && (back = open_back(queue, &end, fault)) < 0)
        goto done;
    uint64_t at = back >= 0 ? end : 0;
    for (size_t from = 0, length; from < failed.length; from += length) {
        const char *lines = failed.bytes + from;
        length = fitting_lines(lines, failed.length - from, QUEUE_CHUNK, delimiter);
        size_t want = make_records(queue, lines, length, fault);
        if (want == 0)
            goto cut_off;
        if (io_write_at(back, queue->buffer, want, at) < want) {
            fault_errno(fault, queue->path, NULL, errno);
            goto cut_off;
        }
        at += want;
        *count += lines_in(lines, length, delimiter);
    }
    if (back >= 0 && (fdatasync(back) != 0 || fsync(queue->directory) != 0)) {
        fault_errno(fault, queue->path, "cannot be flushed to disk", errno);
        goto cut_off;
    }
    /* 3. It is removed; in a directory of another user it can only be emptied. */
    if (unlink(name) == 0 || ftruncate(failed.fd, 0) == 0)
        result = 0;
    else
        fault_errno(fault, name, NULL, errno);
    goto done;
cut_off:
    (void)!ftruncate(back, (off_t)end);
done:
    if (back >= 0)
        close(back);
    segment_close(&failed);
    queue_unlock(queue);
    return result;
}
