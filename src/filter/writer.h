/*
 * writer - one run's use of a filter: claim new keys, settle those whose lines were delivered.
 *
 * The key of a line on its way is in one of these states:
 *
 *   new        neither the layers nor the flight of a living writer has the key;
 *   in flight  this run has claimed the key, and its line is not delivered yet. Other processes see
 *              the key in the run's flight (flight.h, slot.h), and its bits are not set;
 *   settled    the line was delivered, and the bits are set;
 *   expected   the pending file of an earlier run of the same task has the key (see "A retry").
 *
 * Keys stay in flight until their batch is written; with --durable, until the output is on disk;
 * with -x, until CMD has ended. With --pending the run itself never settles them: they go to a
 * file, and `unseen commit` adds them. When a process dies, its lock on its slot goes with it, and
 * other processes ignore the slot: nothing needs repair. A filter in memory has no such states.
 *
 * A retry. A run may end well and leave a pending file, and be killed before anybody took note,
 * even during its commit. Its output may be lost, so when the task runs again, each key of that
 * file counts as new once, whatever the layers say. If some of these keys do not come, the input
 * was a different one, and the pending file is left unchanged.
 *
 * Locks. Of the first four, a process takes each before those below it:
 *   LOCK_HELD    while held keys are settled, as long as that takes
 *   LOCK_GROW    while room is made, as long as the disk takes
 *   LOCK_QUEUE   for the queue (queue/queue.h): alone, except by merge
 *   LOCK_CHANGE  for bits, counters and flights: for one batch of keys at a time
 *   LOCK_SLOT+i  for slot i: proves that its owner is alive. The first 64 are held from open to
 *                close, the others while keys are in flight, so that idle writers block nobody
 *   LOCK_WAITING while all slots are taken: its holder looks for a free one, the others wait
 * Two more are of other files: LOCK_MAKING of a new file until it has its name (io/newfile.h),
 * and LOCK_FLIGHT of a side file with keys in flight (slot.h).
 *
 * What each operation does:
 *   open       LOCK_CHANGE to take a slot and clear what a dead owner left in it, and to raise a
 *              counter that is far too low for the bits (room.c).
 *   claim      Tests keys without a lock. If any are new, takes a slot, unless it has one, and
 *              LOCK_CHANGE, tests the flights of living writers, and the layers again if the
 *              counter of settlings has moved; then writes the new keys to its flight: salt, keys,
 *              places, then the count. Claims fewer keys than asked if the layers lack room for
 *              them beside all keys in flight.
 *   keep       Undelivered keys leave the flight, under LOCK_CHANGE if it can be had. (A larger
 *              flight is made without a lock, and published under LOCK_CHANGE.)
 *   settle     LOCK_CHANGE. The path must still name this file. Tests the keys again if another
 *              run has settled since the claim; sets bits, then counters; empties the flight. If
 *              it is killed, some keys are settled and the other lines come again. Held keys are
 *              settled under LOCK_HELD, so a merge over the file sees all of them or none.
 *   add        Claims and settles under one LOCK_CHANGE, whatever others have in flight.
 *   make room  LOCK_GROW. Allocates a layer after the end of the file, writes its record, then the
 *              count of layers, each flushed. Or allocates the staging area of a layer (stage.c),
 *              then begins its era, flushed.
 *   turn       LOCK_GROW, and LOCK_CHANGE for two moments: marks the oldest layer as retired,
 *              clears and flushes it without LOCK_CHANGE, gives it the next number (window.c).
 *   empty      LOCK_GROW, and LOCK_CHANGE for moments: marks a stage, sets its keys in the layer,
 *              512 at a time, flushes, ends the era, frees the blocks, clears the mark (stage.c).
 *   remove     LOCK_CHANGE for up to 2048 keys. A journal of one page lets the next holder of the
 *              lock undo a removal that was cut short (removal.c).
 *   merge      Reads its inputs without a lock. If it replaces one of them, it holds the first four
 *              locks of that file throughout; writers wait, then find their file replaced.
 *
 * Reading without a lock is safe because bits are only ever added, with two exceptions: a cleared
 * generation loses only lines that are being forgotten, and a key that is being removed is seen as
 * in or not in. A stage is tested before its layer, because keys reach the layer before they leave
 * the stage; the layers are tested again after flights, because bits are set before keys leave.
 *
 * Nobody holds LOCK_CHANGE during an fsync, an allocation of blocks, input or output, except that
 * merge. Its holder may wait for pages of bits that are read or written back, for the stat of the
 * filter's name, for the map of a new layer or flight, or to remove the file of a dead writer.
 *
 * No signal ends settling, or a wait for its lock. One thread at a time uses a filter.
 */
#ifndef UNSEEN_FILTER_WRITER_H
#define UNSEEN_FILTER_WRITER_H

#include "core/hash.h"
#include "filter/filter.h"
#include "system/confine.h"

struct writer;
/* Begins to use an open filter, which is the caller's and is closed after the writer. If it is open
 * for writing, takes a slot for now or for longer, and waits while all are taken. NULL with the
 * fault. */
struct writer *writer_new(struct filter *filter, struct fault *fault);
/* Drops keys in flight without settling them. NULL is allowed. If the writer keeps a slot, its lock
 * goes when the filter is closed. */
void writer_free(struct writer *writer);
/* Allows what this run will still do to side files: if it `claims` keys, read those of others,
 * which may be made later; remove its own. Both in the whole tree of their directory. */
void writer_allow(const struct writer *writer, bool claims, struct confine *confine);

/* Keeps keys in flight for longer than a batch. For a filter open for writing; `briefly`: as with
 * --durable, no side file can be made later, so it is made now; and in a window by lines no more
 * keys are held than its generation takes, so that it forgets in time. Returns 0, or -1 with the
 * fault. */
int writer_hold(struct writer *writer, bool briefly, struct fault *fault);
/* Then: whether the kept keys fill the generation, and must be settled before the next claim. */
bool writer_fills(const struct writer *writer);
/* The same for a filter open for reading: keys go to the file `fd`, called `path`, after a head
 * (format/key_file.h), and are not settled. The caller closes `fd` after the filter. */
int writer_hold_in(struct writer *writer, int fd, const char *path, struct fault *fault);
/* Before the first claim: these keys, at most BATCH_KEYS, are expected. 0.1 us per key. */
int writer_expect_again(struct writer *writer, const struct key *keys, size_t n,
                        struct fault *fault);
uint64_t writer_expected(const struct writer *writer); /* how many of them have not come yet */

/* Judges up to BATCH_KEYS keys in order: seen[i] = 1 if the key is in, or in flight here or with a
 * living writer; else 0, and it is in flight here from now on. Stops after the most_new-th new key,
 * or before a key for which room must be made. Returns how many keys were judged, at least one; or
 * -1 with the fault, and then no more keys are in flight than before. */
ptrdiff_t writer_claim(struct writer *writer, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault);
/* The lines of the first `delivered` keys of the last claim were delivered; the rest leave. */
void writer_keep(struct writer *writer, uint64_t delivered);
/* Settles all kept keys; nothing is in flight then. Without writer_hold, to be called after each
 * claim. Returns 0, or -1 with the fault: if the file was replaced, no held key is settled. */
int writer_settle(struct writer *writer, struct fault *fault);
uint64_t writer_kept(const struct writer *writer);   /* kept keys that are not settled */
void writer_drop(struct writer *writer, uint64_t n); /* the last n of these were not delivered */

/* Sets the bits of delivered keys and makes room as needed. Skips keys that are in (in a window: in
 * its newest generation). seen[i] = 1 if the key was in, else 0; *added: how many were not. Returns
 * how many keys were judged: fewer than n, with the fault, after a failure, or -1 if none was.
 * Precondition: nothing is in flight here. */
ptrdiff_t writer_add(struct writer *writer, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *added, struct fault *fault);

#endif
