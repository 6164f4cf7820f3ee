/*
 * queue - lines that wait in FILTER.queue/, pushed at the back and popped from the front. Any
 * number of processes use it at once; one thread at a time uses a struct queue.
 *
 * The format:
 *
 *   FILTER, byte 8232   0: no queue; 1: its records end with a newline; 2: with NUL
 *   FILTER.queue/       a directory of segments
 *   FILTER.failed       lines that were given up, each with its delimiter
 *
 *   name    = ten decimal digits, the segment's number, from 1 on
 *   segment = *record [rest]
 *   record  = status line delimiter
 *   status  = ' '           the line waits
 *           | '1'..'9'      the line waits; how often CMD has failed on it (9: or more often)
 *           | '-'           the line is removed
 *   rest    = bytes without a delimiter, left by a push that was killed
 *
 *   1. Lines are in the order of the segment numbers, and of the records in a segment.
 *   2. A waiting record is held while another process has a lock on its bytes (of an open file
 *      description). If that process ends, the kernel drops the lock: the record waits, in place.
 *   3. Only the last segment is appended to, after its rest is cut off. When it has 4 MB, a new
 *      segment gets the next number. A segment whose records are all removed, unless it is the
 *      last, is deleted. So a number or offset never gets another meaning.
 *   4. NULs in place of a status are no record, but blocks that a power cut left empty. A record
 *      with any other status is skipped and kept.
 *
 * LOCK_QUEUE of FILTER covers all changes of records, segments and FILTER.failed:
 *
 *   push    lock { cut off the rest; append }
 *           killed in between: leaves a rest
 *   take    lock { look for waiting records; lock them }
 *   remove  lock { status '-', one byte each; drop the locks; delete segments }
 *   fail    lock { append to the back with one more try, or to FILTER.failed }; flush these;
 *           lock { status '-' }. If that fails, the digit is raised in place
 *           killed in between: leaves a line twice
 *
 *   retry   lock { append FILTER.failed to the back; flush it; remove FILTER.failed }
 *           killed in between: leaves lines twice
 *
 * No process reads input, writes output, waits for CMD or flushes a file under the lock, except in
 * the first push and in retry. stats and verify take no lock, and may see a change half made.
 *
 * A take reads all records from the first segment on (6 ns each), and locks waiting records until
 * it has enough, as many neighbours as possible with one lock (1 us, plus 2 ns for each that
 * exists).
 *
 * The caller has opened FILTER, and passes its descriptor `fd`, which stays the caller's. The
 * locks of the filter and of its queue are on different bytes, so they do not meet on one open file
 * description. The kernel would drop LOCK_QUEUE only when the last descriptor and the last map of
 * FILTER are gone, so each function here that takes it drops it before it returns.
 */
#ifndef UNSEEN_QUEUE_QUEUE_H
#define UNSEEN_QUEUE_QUEUE_H

#include "io/output.h"
#include "system/confine.h"
#include "system/lock.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct queue;

enum { QUEUE_SEGMENT_BYTES = 4 << 20, QUEUE_TRIES_MAX = 9 };

enum queue_use {
    QUEUE_LOOK, /* for queue_facts: writes and locks nothing */
    QUEUE_POP,
    QUEUE_PUSH, /* makes the queue if there is none */
};

struct queue_plan {
    enum queue_use use;
    char delimiter;    /* of this process's lines */
    uint64_t max_line; /* bytes; taking a longer line is a fault */
    lock_waits *waits; /* called with the queue's path after 5 s of waiting for the lock */
    bool takes_over;   /* a push that makes the queue may find lines of another filter there */
};

/* Opens the queue of a filter file, which is open for writing. The string `filter` must outlive it,
 * and the descriptor all uses of it but queue_close. A queue that was not made yet is empty. NULL
 * with the fault, whose error is ENOENT if the directory is missing. */
struct queue *queue_open(const char *filter, int fd, const struct queue_plan *plan,
                         struct fault *fault);
/* Lines that were taken and not removed wait again. NULL is allowed. */
void queue_close(struct queue *queue);

/* --- at the back --- */

/* The queue as an output of whole lines. Each write appends whole records to one segment; lines
 * that do not fit on the disk are not accepted. */
struct output queue_output(struct queue *queue);

/* Moves all lines of FILTER.failed to the back, as if they had never failed; *count: how many,
 * those taken over included. They are on disk before FILTER.failed is removed. Returns 0, or -1
 * with the fault: none was moved. */
int queue_retry(struct queue *queue, uint64_t *count, struct fault *fault);

/* --- at the front --- */

/* Lines as they were pushed, one after the other. */
struct queue_lines {
    const char *bytes; /* valid until the next call */
    size_t length;
    uint64_t count;
};

/* Why no more lines were taken. */
enum queue_why {
    QUEUE_EMPTY,   /* no lines are left */
    QUEUE_AWAITED, /* other processes hold all that are left */
    QUEUE_FULL,    /* this process holds as much as it may: 1,024 locks, or 128 segments */
};

/* Takes the next lines: at least one, at most `most` and about 256 KB. Starts at the front again
 * after it found none while none is held. If there is none, waits up to `wait` milliseconds, and
 * looks at least once a second; with `until_done`, only while another process holds lines that may
 * come back. A signal ends the wait. Returns 1; 0 with *why if there are no more; -1 with the
 * fault. */
int queue_take(struct queue *queue, uint64_t most, uint64_t wait, bool until_done,
               struct queue_lines *lines, enum queue_why *why, struct fault *fault);

/* Removes the lines that were taken, except the last `left`, which wait again. Returns 0, or -1
 * with the fault: they stay held. */
int queue_remove(struct queue *queue, uint64_t left, struct fault *fault);

/* Where lines went after CMD failed. */
struct queue_failed {
    uint64_t back;     /* to the back */
    uint64_t given_up; /* to FILTER.failed */
    unsigned failures; /* of the last one that was given up; 9: or more */
    char line[80 + 1]; /* its text, truncated */
};

/* To be called when CMD failed on the lines that were taken. Lines on which it failed `tries`
 * times, 1 to 9, are given up; with 0, none. Returns 0, or -1 with the fault: lines not moved wait
 * in place. */
int queue_fail(struct queue *queue, unsigned tries, struct queue_failed *what, struct fault *fault);

/* --- facts --- */

struct queue_facts {
    uint64_t waiting, held;     /* lines */
    uint64_t given_up;          /* lines of FILTER.failed */
    uint64_t removed;           /* records */
    uint64_t unknown;           /* records with an unknown status */
    uint64_t cut;               /* bytes of no record: rests, and runs of NULs */
    char foreign[NAME_MAX + 1]; /* a file in the directory that is no segment, or "" */
};

/* Reads all records of a filter's queue. Returns 0; or with the fault, 1 if the directory is
 * missing, else -1. */
int queue_facts(const char *filter, int fd, struct queue_facts *facts, struct fault *fault);

/* For whoever makes or replaces FILTER, or finds it without a queue: a fault if lines wait in
 * FILTER.queue, or were given up, of which a new filter would not know. FILTER need not exist; if
 * the caller has not opened it, `fd` is -1. A directory of a user who may not write to the filter
 * is no queue, nor is anything else of that name. Returns 0, or -1 with the fault, of the object
 * `filter` if there are such lines. */
int queue_check_left(const char *filter, int fd, struct fault *fault);

/* Allows the use of a filter's queue: to write to it, or for queue_facts, which reads the filter,
 * too. */
void queue_allow(const char *filter, bool writes, struct confine *confine);

#endif
