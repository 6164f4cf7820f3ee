/*
 * queue - lines that wait in FILTER.queue/: put in at the back, taken from the front. Any number of
 * processes use it at once; one thread at a time uses a struct queue.
 *
 * The format:
 *
 *   FILTER, byte 8232   0: it has no queue; 1: its records end with a newline; 2: with NUL
 *   FILTER.queue/       a directory of segments
 *   FILTER.failed       lines that were given up, each with its delimiter
 *
 *   name    = ten decimal digits, the segment's number, from 1 on
 *   segment = *record [rest]
 *   record  = status line delimiter
 *   status  = ' '           it waits
 *           | '1'..'9'      it waits, and CMD has failed on it so often (9: or more often)
 *           | '-'           it is off
 *   rest    = bytes without a delimiter: what a killed push has left
 *
 *   1. Lines come in the order of the segments' numbers, and in a segment in that of its records.
 *   2. A record that waits is held if somebody else has a lock on its bytes (of an open file
 *      description). The kernel drops it with its owner: the record waits again, in its place.
 *   3. Only the last segment is appended to, after its rest is cut away. Once it has 4 MB, the next
 *      number is that of a new one. A segment that is all off, and not the last, is removed. So no
 *      number, and no offset, ever gets another meaning.
 *   4. NULs where a status should stand are no record: blocks that a power cut left empty. A record
 *      with another status than these is passed over, and kept.
 *
 * LOCK_QUEUE of FILTER covers whatever is done to records, segments and FILTER.failed:
 *
 *   push   lock { cut the rest away; append }
 *          killed between: a rest
 *   take   lock { look for records that wait; lock them }
 *   off    lock { status '-', a byte each; drop the locks; remove segments }
 *   fail   lock { append to the back with one try more, or to FILTER.failed }; flush these;
 *          lock { status '-' }. Where that fails, the digit rises in its place
 *          killed between: a line twice
 *
 * Nobody reads input, writes output, waits for CMD or flushes a file under it, but for the first
 * push. Who only looks (stats, verify) takes no lock, and may see half of what another is doing.
 *
 * A take goes over all records from the first segment on (6 ns each), and asks the kernel for those
 * that wait, many at once, until it has enough (1 us, and 2 ns for each lock that there is).
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
    QUEUE_LOOK, /* as queue_facts does: nothing is written or locked */
    QUEUE_POP,
    QUEUE_PUSH, /* makes it, if there is none */
};

/* How it is used. */
struct queue_plan {
    enum queue_use use;
    char delimiter;    /* that this process's lines end with */
    uint64_t max_line; /* bytes; one that is longer is not taken, but a fault */
    lock_waits *waits; /* is told, with the queue's path, when the lock has not come for 5 s */
};

/* Opens the queue of a filter file, whose name stays where it is. One that was not made yet is
 * empty. NULL with the fault, whose error is ENOENT if the directory is missing. */
struct queue *queue_open(const char *filter, const struct queue_plan *plan, struct fault *fault);
/* What was taken, and is not off, waits again. NULL is allowed. */
void queue_close(struct queue *queue);

/* --- at the back --- */

/* The queue as an output of whole lines. Each write is whole records in one segment; lines that do
 * not fit on the disk are not accepted. */
struct output queue_output(struct queue *queue);

/* --- at the front --- */

/* Lines as they were put in, one after the other. */
struct queue_lines {
    const char *bytes; /* until the next call */
    size_t length;
    uint64_t count;
};

/* Why no more were taken. */
enum queue_why {
    QUEUE_EMPTY,   /* there are no more */
    QUEUE_AWAITED, /* others hold all that is left */
    QUEUE_FULL,    /* this process holds as much as it may: 1,024 locks, or 128 segments */
};

/* Takes the next lines, at most `most`, and about 256 KB, but at least one. Starts at the front
 * again once nothing was found, and nothing is held. Returns 1; 0 and *why if there are no more; -1
 * with the fault. */
int queue_take(struct queue *queue, uint64_t most, struct queue_lines *lines, enum queue_why *why,
               struct fault *fault);

/* The same, but waits for the first line, so many milliseconds at most; with `until_done` only as
 * long as it can come back from a worker who holds it. A signal ends that, too. */
int queue_take_waiting(struct queue *queue, uint64_t most, uint64_t wait, bool until_done,
                       struct queue_lines *lines, enum queue_why *why, struct fault *fault);

/* What was taken is off, but for the last `left` lines, which wait again. Returns 0, or -1 with the
 * fault: it stays held. */
int queue_remove(struct queue *queue, uint64_t left, struct fault *fault);

/* What became of lines on which CMD has failed. */
struct queue_failed {
    uint64_t back;     /* wait at the back */
    uint64_t given_up; /* are in FILTER.failed */
};

/* CMD has failed on all that was taken. With `tries`, 1 to 9, lines that have had so many are given
 * up; with 0 none is. Returns 0, or -1 with the fault: the others wait in their place. */
int queue_fail(struct queue *queue, unsigned tries, struct queue_failed *what, struct fault *fault);

/* --- what is in it --- */

struct queue_facts {
    uint64_t waiting, held;     /* lines */
    uint64_t given_up;          /* lines of FILTER.failed */
    uint64_t unknown;           /* records with an unknown status */
    uint64_t cut;               /* bytes of no record: rests, and stretches of NULs */
    char foreign[NAME_MAX + 1]; /* the name of a file in it that is no segment, or "" */
};

/* Reads every record of a filter's queue. Returns 0; or with the fault 1, if its directory is
 * missing, or -1. */
int queue_facts(const char *filter, struct queue_facts *facts, struct fault *fault);

/* Allows what these uses of a filter's queue take: CONFINE_READ for queue_facts, the filter, too;
 * or CONFINE_READ | CONFINE_WRITE. */
void queue_allow(const char *filter, unsigned uses, struct confine *confine);

#endif
