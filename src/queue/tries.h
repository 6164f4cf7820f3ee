/*
 * tries - on which lines CMD has failed, and how often: the file FILTER.queue/tries.
 *
 * The lines that a CMD failed on go to the back, to a position where nothing was before, and a
 * record there says how many tries they have had. So a count belongs to a position, as a line does:
 * two lines that are the same have two, and a worker that dies with lines leaves theirs as they
 * were. The file is a list of records, in the order of their positions:
 *
 *   offset size meaning
 *        0    8  begin: the position of the first of these lines
 *        8    8  end of the last one
 *       16    8  checksum of the lines, of their first 256 KB
 *       24    4  how many tries they have had, at least 1
 *       28    4  checksum of bytes 0..27, the lower half
 *
 * Lines of which nothing is said have had none. Every failure counts, also those of runs without
 * --tries, so that a run with it, or with another N, knows what was before.
 *
 * When it is written, under the lock for changes: lines after the tail; their record; save, which
 * moves the tail and shortens the range that they came from.
 *
 *     killed before the record   the next push takes in the lines, as new ones; they are in front,
 *                                too, with their old count
 *     killed before the save     the same, but the copy has its count
 *     no room for the record     the lines after the tail are cut off again: the failure is not
 *                                counted, and they stay in front
 *     records after the tail     of a state that was put back, or that a power cut took back: are
 *                                cut off by the next record
 *     a segment goes             and before it the records of what is off: the others are written
 *                                to a new file, which takes the name
 *     lines that are given up    are in the file for them, and that is on disk, before they are off
 *
 * A record is believed only if its own checksum is right, it lies below the tail, and its lines are
 * those that it was written for. If not, all records go, and all tries begin from 0: positions
 * mean other lines now, as when files were put back, or the file is damaged. Half a record at the
 * end is none. What `mend` copies gets new positions, and begins from 0 as well.
 *
 * It costs a failure a search in the file, the lines of a record read once more, and a write of 32
 * bytes; where no CMD fails it costs nothing. Rejected: the count in a range of the state, of which
 * there are too few; segments with one count each, which are a file and a flush for each failure
 * between two pushes; a mark in the line, which would spoil `cat FILTER.queue/[0-9]*`.
 */
#ifndef UNSEEN_QUEUE_TRIES_H
#define UNSEEN_QUEUE_TRIES_H

#include "system/fault.h"

#include <stdint.h>

struct queue;
struct queue_lines;

/* All under the lock, and for the files of the queue only. */

/* Says that the lines, which are at `begin` now, after what was the tail, have had so many tries.
 * Returns 0, or -1 with the fault, and it is not said. */
int tries_note(struct queue *queue, uint64_t begin, const struct queue_lines *lines, uint32_t tries,
               struct fault *fault);

/* How many tries the line at `at` has had. So have the others up to *end, which is lowered if need
 * be. Reads lines into the queue's buffer. Records that cannot be believed are removed, and
 * queue->uncounted is set. Returns 0, or -1 with the fault if lines cannot be read. */
int tries_find(struct queue *queue, uint64_t at, uint64_t *end, uint32_t *tries,
               struct fault *fault);

/* Forgets the records of lines that end at or before `off`, if that can be done. */
void tries_forget(const struct queue *queue, uint64_t off);

#endif
