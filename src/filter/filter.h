/*
 * filter - a filter as one run uses it: claim what is new, settle what was delivered.
 *
 * A key on its way has one of these states:
 *
 *   new        filter_claim found it neither in the layers nor in flight anywhere;
 *   in flight  it was claimed, and its line is not delivered yet: all see it, and its bits are not
 *              set;
 *   settled    its line was delivered, and its bits are set;
 *   owed       an earlier run of the same task delivered its line, and this one will again.
 *
 * Keys in flight are in one container (flight.h), in the writer's slot of the filter file, or if
 * there are many in a file beside it (slot.h). How long they stay there is all that tells the kinds
 * of runs apart: until a batch is written; with --durable until the output is on disk; with -x
 * until CMD has ended. With --pending the file itself is what is left, and `unseen commit` adds its
 * keys.
 *
 * A process that dies takes its keys in flight with it: the lock of its slot is gone, so the slot
 * counts as empty, and nothing need be repaired. A filter in memory has no such states (memory.h).
 *
 *
 * A retry
 *
 * A task whose run ended well, and left a whole pending file, may be run again all the same: it was
 * killed before anybody took note, perhaps in the midst of its commit, and its output is gone. Then
 * the layers may have some of its lines or all. So the keys of the pending file are *owed*: a claim
 * takes them for new whatever the layers say, and once, as it does all that it takes into flight.
 * Every other key is judged as ever. If at the end a key is still owed, the input was not the same,
 * and the pending file stays as it was: else its line, if it was committed, would be in no output
 * and never come again.
 *
 *
 * Who writes what, under which lock, in which order
 *
 * LOCK_CHANGE  for bits, counters, and what others see of a flight: for a batch of keys at a time.
 * LOCK_GROW    for making room: for as long as the disk takes.
 * LOCK_HELD    for settling what was held, as long as that takes. If several are needed: this one,
 *              LOCK_GROW, LOCK_QUEUE, LOCK_CHANGE.
 * LOCK_SLOT+i  for slot i, from opening to closing: it is what proves that the slot's owner lives.
 * LOCK_WAITING while all slots are taken: who has it looks for a free one, the others wait for it.
 *
 *   open       LOCK_CHANGE to take a slot's lock and to clear what a dead owner left there; and to
 *              mend a counter that is far too low for the bits (counter.c).
 *   claim      Tests without a lock. If anything is new: LOCK_CHANGE; looks at the flights of
 *              living others; tests again if the counter of settlings has moved since; puts what is
 *              still new into its flight: the salt, then keys and places, then the count. Fewer
 *              than asked if the layers have no room for more, beside all that is in flight.
 *   keep       What was not delivered leaves the flight, under LOCK_CHANGE if that can be had.
 *   settle     LOCK_CHANGE; the name still leads to this file; each key tested, if others have
 *              settled since it was claimed; bits, the counter of each layer, that of settlings;
 *              the flight's count to 0. Killed on the way: some keys are settled, the rest comes
 *              again. What was held is settled a batch at a time under LOCK_HELD, so that a merge
 *              over the file comes before all of it or after.
 *   add        As claim and settle in one hold of LOCK_CHANGE; what others have in flight is no
 *              reason not to.
 *   enlarge    A flight's larger file or table is made without a lock; LOCK_CHANGE to show it.
 *   make room  LOCK_GROW. A layer is allocated and flushed after the end of the file, its record
 *              written and flushed, then the count of layers, flushed. Or a stage gets its blocks,
 *              then its era begins, flushed.
 *   turn       LOCK_GROW, with LOCK_CHANGE for two moments: the layer is marked as retired; it is
 *              cleared and flushed without LOCK_CHANGE; it gets the next number (window.c).
 *   empty      LOCK_GROW, with LOCK_CHANGE for moments: the stage is marked; its keys are set in
 *              the layer, 512 at a time; flushed; its era ends; its blocks are given back; the mark
 *              goes (stage.c). Meanwhile keys go into the layer at once.
 *   remove     LOCK_CHANGE, for at most 2048 keys: each with a journal of one page, by which
 *              whoever takes the lock next undoes what a killed one left (removal.c).
 *   merge      Inputs are read without a lock. Only a merge over one of its inputs holds all four
 *              locks of that file for as long as it takes, flushes included. Writers wait, say so
 *              after five seconds, and then find that their file was replaced.
 *   queue      LOCK_QUEUE (queue/queue.h). But for that merge, who holds it waits for none of the
 *              others, and who waits for it holds none but that of a slot.
 *
 * A reader without a lock sees bits only ever appear, but where a generation is cleared, which
 * loses lines that are being forgotten, and where a key of a counting filter is removed: that is
 * seen as in or not in. The keys of a stage are in the layer before they leave it, and are looked
 * for in the stage first; keys leave a flight after their bits are set, and whoever looks into
 * flights without a lock tests again if the counter of settlings has moved.
 *
 * What may wait for a disk under LOCK_CHANGE, since it must not be torn from what it protects:
 * pages of bits that are not in memory are read (a claim has tested the same pages just before; of
 * what was held they may be gone, at most one a key of a batch); a store into a map of a page that
 * is just being written; the stat of the filter's name; the table of layers, the map of a layer or
 * of a flight's file that another writer has added; looking at and removing the file of a dead one.
 * Never, but for that merge: an fsync, an allocation of blocks, a read of input or a write of
 * output.
 *
 * A signal ends neither settling nor a wait for its lock. One thread at a time uses a filter.
 */
#ifndef UNSEEN_FILTER_FILTER_H
#define UNSEEN_FILTER_FILTER_H

#include "core/hash.h"
#include "filter/store.h"
#include "system/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;

/* A new filter in memory (memory_new). NULL with the fault. */
struct filter *filter_memory(const struct header *header, const struct store_watch *watch,
                             struct fault *fault);

/* Opens a filter file (store_open). For writing, takes a slot, and waits while all are taken. */
struct filter *filter_open(const char *path, bool write, const struct store_watch *watch,
                           struct fault *fault);

/* Keys in flight are dropped, unsettled. NULL is allowed. */
void filter_close(struct filter *filter);

/* Allows what this writer will still do beside the filter: look into files in flight of others, and
 * remove its own. */
void filter_allow(const struct filter *filter, struct confine *confine);

/* Its layers. */
struct store *filter_store(const struct filter *filter);

/* From now on keys stay in flight for longer than a batch. `confined`: no file can be made later.
 * For a filter that is open for writing. Returns 0, or -1 with the fault. */
int filter_hold(struct filter *filter, bool confined, struct fault *fault);

/* The same for one that is open for reading: keys go to the file `fd`, named `path`, behind a head
 * (format/key_file.h), and are never settled here. The caller closes it, after the filter. */
int filter_hold_in(struct filter *filter, int fd, const char *path, struct fault *fault);

/* After filter_hold_in, before the first claim: these keys are owed (see above), at most BATCH_KEYS
 * a call; 0.1 us each. And how many of them have not come. */
int filter_expect_again(struct filter *filter, const struct key *keys, size_t n,
                        struct fault *fault);
uint64_t filter_expected(const struct filter *filter);

/*
 * Judges keys in order: seen[i] = 1 if it is in, or in flight here or with another live writer;
 * else 0, and it is now in flight here. Judges at most BATCH_KEYS; stops after the most_new-th new
 * key, or before one for which room has to be made. Returns how many keys were judged, at least
 * one, or -1 with the fault, and then none is newly in flight.
 */
ptrdiff_t filter_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault);

/* Of what the last claim took into flight, the lines of the first `delivered` keys were handed on;
 * the others are in flight no longer. */
void filter_keep(struct filter *filter, uint64_t delivered);

/* Settles all that was kept, whatever signal comes; nothing is in flight then. Without filter_hold,
 * after each claim; else whenever the lines are where they are to be. Returns 0, or -1 with the
 * fault: what was held is in as a whole, or none of it, if another file has the filter's name. */
int filter_settle(struct filter *filter, struct fault *fault);

/* How many keys were kept, and are not settled. The last `n` count as not delivered after all. */
uint64_t filter_kept(const struct filter *filter);
void filter_drop(struct filter *filter, uint64_t n);

/* Sets the bits of keys that are known to be delivered, growing as needed, in flight somewhere or
 * not; those that are in change nothing (of a window, in its newest generation). seen[i] = 1 if it
 * was in, else 0; *added: how many were not. Returns how many of the keys were judged: fewer than
 * n, with the fault, if one of the others failed; -1 if none was. Precondition: nothing is in
 * flight here. */
ptrdiff_t filter_add(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *added, struct fault *fault);

#endif
