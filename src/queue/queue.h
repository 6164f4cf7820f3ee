/*
 * queue - lines that wait beside a filter, in FILTER.queue/: put in at the back, taken from the
 * front. Any number of processes use it at once; one thread at a time uses a struct queue.
 *
 * Lines that were taken are out until queue_remove: they are off only then. What is out with a
 * process that dies waits again, before everything else. Nothing has to be repaired for that:
 * whatever is out with nobody waits (state.h).
 *
 * Who writes what, in which order. There is one lock for changes, and one for each range that a
 * worker has taken. "Save" writes both copies of the state, one after the other (state.c).
 *
 *     push      lock { lines after the tail; save, which moves the tail }
 *               killed between: whole lines after the tail, which the next push puts in
 *     take      lock { lock a range; read its lines; save, which makes the range }
 *               killed at any time: nobody locks the range, so it waits
 *     remove    lock { save, without the ranges; drop their locks }; drain
 *     put back  for each chunk: lock { read; lines after the tail; their count of tries; save,
 *               which moves the tail and shortens the range }; remove
 *               killed between: a chunk that is there twice
 *     give up   for each chunk: lock { read }; lines to the file for them, flushed; lock { save,
 *               which shortens the range }; remove
 *               killed between: a chunk that is in the queue and in that file
 *     drain     flush the state; lock { remove segments that it does not need; save }
 *               killed between: segments that nobody needs, which the next to open it removes
 *     mend      if lines are missing, and nobody has any: lock { copy what is left to new segments;
 *               save; flush; remove the old segments }
 *               killed between: the state before, and segments that the next mend copies past
 *     make      a state without a name; a link, which is its name, unless there is one by now
 *
 * A reader without the lock (stats, verify) reads the state until a copy of it is sound, and verify
 * reads the lines until the state has not changed meanwhile. So they see each change whole or not
 * at all. A range that is locked is out; one that is not may be taken by the time it is counted.
 *
 * What can wait for a disk under the lock for changes:
 *
 *     lines that are read, 256 KB (a longer line up to --max-line), if memory does not have them
 *     lines that are written, a batch, if the system has too many dirty pages
 *     a save of more than 169 ranges, as when so many workers have lines: it flushes each copy,
 *     since a disk can have one of its pages and not the other
 *     push --durable, once a segment (16 MB): the flush of its last batch
 *     mend, once after a power cut: all that was copied is flushed before the old is removed
 *
 * A flush took 4 ms (median of 15) and 54 ms at most, on a virtual disk that others used, too. What
 * is flushed for a drain, which is whenever a queue runs empty, is not flushed under the lock.
 * Nobody waits for input, output or a command under it.
 */
#ifndef UNSEEN_QUEUE_QUEUE_H
#define UNSEEN_QUEUE_QUEUE_H

#include "format/header.h"
#include "io/output.h"
#include "system/beside.h"
#include "system/fault.h"
#include "system/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct queue;

enum { QUEUE_SEGMENT_BYTES = 16 << 20, QUEUE_FAILED_MAX = BESIDE_MAX + 8 };

/* Whether there is room beside `filter` for the queue of a new filter: nothing may be there, or an
 * empty directory, or a queue that was never used. Changes nothing. Returns 0, or -1 with the
 * fault. */
int queue_check_free(const char *filter, struct fault *fault);

/* Makes it, with owner, group and mode of `like`, or uses what is there: then uuid becomes that of
 * the filter that it is for. So the queue comes first, and then the filter. Any number of processes
 * may do so at once. Returns 0, or -1 with the fault. */
int queue_make(const char *filter, const struct stat *like, uint8_t uuid[UUID_BYTES],
               struct fault *fault);

/* Opens the queue of a filter with this UUID. If its directory is empty and it is opened for
 * writing, an empty queue is made, with segments of so many bytes. For reading, it can be asked for
 * facts and checked, no more. NULL with the fault. */
struct queue *queue_open(const char *filter, const uint8_t uuid[UUID_BYTES], bool write,
                         uint64_t segment_bytes, struct fault *fault);
/* What was taken and not removed waits again. NULL is allowed. */
void queue_close(struct queue *queue);

/* Is told, with the queue, when the lock, or a range to take lines into, has not come for five
 * seconds. */
void queue_set_waits(struct queue *queue, lock_waits *waits);

/* A line that is longer is not taken out, but a fault; 1 GB unless told. */
void queue_set_max_line(struct queue *queue, uint64_t bytes);

/* Says how the lines of this process end. They all end the same way in a queue: -1 with the fault
 * if those in there end otherwise. With `first`, that is settled now, by this process. */
int queue_set_delimiter(struct queue *queue, char delimiter, bool first, struct fault *fault);

/* A power cut can take lines that were put in without queue_sync, though the state tells of them.
 * If so, and nobody has lines out, the queue is made again from those that are left, in their
 * order; *lost says how many are lost. Lines that the state does not tell of are put in, and
 * segments that a killed process did not come to remove are removed. Returns 0, or -1 with the
 * fault. */
int queue_mend(struct queue *queue, uint64_t *lost, struct fault *fault);

/* Puts whole lines in, at the back. Returns how many bytes went in, whole lines: all, or fewer with
 * the fault. */
size_t queue_append(struct queue *queue, const char *bytes, size_t length, struct fault *fault);

/* The queue as an output: writing to it appends. `name` is what faults call it. */
struct output queue_output(struct queue *queue);

/* Flushes to disk what was appended since queue_set_durable. Returns 0 or -1. */
void queue_set_durable(struct queue *queue);
int queue_sync(struct queue *queue, struct fault *fault);

struct queue_lines {
    const char *bytes; /* the queue's; until the next call */
    size_t length;
    uint64_t count;
};

/* Takes the oldest lines, at most `most` and about 256 KB of them, but at least one. Returns 1; 0
 * if there is none, and then *awaited says whether a live process has lines out, which may come
 * back; -1 with the fault. */
int queue_take(struct queue *queue, uint64_t most, struct queue_lines *lines, bool *awaited,
               struct fault *fault);

/* Of the lines taken last, only those that are whole in the first `bytes` were accepted. The others
 * wait again from queue_remove on, in their old place; nothing may be taken before that. Returns
 * how many were accepted. */
uint64_t queue_accept(struct queue *queue, size_t bytes);

/* What was taken is off. Returns 0, or -1 with the fault, and it waits again once this queue is
 * closed. */
int queue_remove(struct queue *queue, struct fault *fault);

struct queue_failed {
    uint64_t back, given_up; /* lines */
    bool uncounted;          /* counts of tries could not be believed, and begin from 0 again */
};

/* CMD failed on what was taken, accepted or not: that is one more try for each of the lines
 * (tries.h). Those that have had `most` tries by now, at least 1, are appended to `failed`, and
 * flushed, unless that is NULL; the others go to the back. Returns 0; or -1 with the fault, and
 * what did not fit, or had not come to its turn when a signal came, waits again in its old place
 * once this queue is closed. */
int queue_put_back(struct queue *queue, uint32_t most, struct output *failed,
                   struct queue_failed *what, struct fault *fault);

/* Opens FILTER.queue/failed, where lines that are given up go unless the user says otherwise: made,
 * with owner, group and mode as all that is in the queue, if it is not there. Returns a descriptor
 * to append to it, and its path; or -1 with the fault. */
int queue_failed_file(struct queue *queue, char path[QUEUE_FAILED_MAX], struct fault *fault);

/* Returns when something has changed since the call before it, or after `most` milliseconds, or
 * when it is time to look whether a worker died: after a quarter of a second at most. The first
 * call only begins to watch. */
void queue_wait(struct queue *queue, uint64_t most);

struct queue_facts {
    uint64_t waiting;         /* lines */
    uint64_t left_by_dead;    /* of them */
    uint64_t out;             /* lines with live workers */
    uint64_t segments, bytes; /* files, and their lengths in all */
    uint64_t failed; /* lines in FILTER.queue/failed, which are not in the queue any more */
};

/* What it is now. Returns 0 or -1. */
int queue_facts(struct queue *queue, struct queue_facts *facts, struct fault *fault);

/* How many lines wait beside the filter with this UUID or are out: 0 if it has no queue there.
 * Returns 0, or -1 with the fault. */
int queue_lines_beside(const char *filter, const uint8_t uuid[UUID_BYTES], uint64_t *lines,
                       struct fault *fault);

/* Reads all of it: how many lines its state tells of, and how many there are. Returns 0, or -1 with
 * the fault if it is damaged. */
int queue_check(struct queue *queue, uint64_t *told, uint64_t *found, struct fault *fault);

/* Its directory. */
const char *queue_path(const struct queue *queue);

#endif
