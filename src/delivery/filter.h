/*
 * filter - a filter as one run uses it: claim what is new, settle what was delivered.
 *
 * A key on its way has one of these states:
 *
 *   new        filter_claim found it neither in the layers nor in flight anywhere;
 *   in flight  it was claimed, and its line is not delivered yet: all writers see it, and its bits
 *              are not set;
 *   settled    its line was delivered, and its bits are set;
 *   owed       an earlier run of the same task delivered its line, and this one will again.
 *
 * and these are the places where it may be meanwhile:
 *
 *   flight        the keys in flight of this run, in its own memory (flight.h)
 *   slot          this run's place in the filter file, where other writers see a batch of them
 *                 (slot.h)
 *   key set       a file beside the filter, for more keys than the slot has room for (key_set.h)
 *   hold          keeping keys in flight for longer than a batch: with -x, --durable (hold.h)
 *   pending file  keys that were delivered, and are settled by `unseen commit` (pending.h)
 *
 *
 * A retry
 *
 * A task whose run ended well, and left a whole pending file, may be run again all the same: it was
 * killed before anybody took note, perhaps in the midst of its commit, and its output is gone. Then
 * the layers may have some of its lines or all. So the keys of the pending file are *owed*: a claim
 * takes them for new whatever the layers say, and once, as it does all that it takes into flight.
 * Every other key is judged as ever. This gives the lines of the first run, no more and no fewer:
 * what was new then is owed now; and what was in then is in now, for layers only gain keys (but a
 * window forgets, remove does, and a stage that was emptied no longer drops a line by mistake: a
 * line that neither the layers nor the file have is new).
 * Nothing depends on what was committed meanwhile, by this task or by others. If at the end a key
 * is still owed, the input was not the same, and the pending file stays as it was: else its line,
 * if it was committed, would be in no output and never come again.
 *
 * A process that dies takes its keys in flight with it: the lock of its slot is gone, so the slot
 * counts as empty, and nothing need be repaired. A filter in memory has no such states
 * (store/memory.h).
 *
 *
 * Who writes what, under which lock, in which order
 *
 * LOCK_CHANGE  for bits, counters, slots: held for a batch of keys at a time.
 * LOCK_GROW    for making room: held for as long as the disk takes. If both are needed, it comes
 *              first.
 * LOCK_SLOT+i  for slot i, from opening to closing: it is what proves that the slot's owner lives.
 *
 *   claim      Tests without a lock. If anything is new: LOCK_CHANGE; tests again if the counter of
 *              settlings has moved since; looks at the slots and key sets of living others; puts
 *              what is still new into its flight, its slot (keys, then their number), or its key
 *              set.
 *   settle     LOCK_CHANGE; the name still leads to this file; bits and counter of each layer (in a
 *              stage: journal, mark, counter, bits, mark off), the counter of settlings, the slot's
 *              number to 0. Killed on the way: some keys are settled, and the rest comes again.
 *   hold       As claim, but into the key set; settled at the end of the run, or when the output is
 *              on disk: batch by batch, each as settle, then the key set is emptied.
 *   make room  LOCK_GROW. A layer is allocated and flushed after the end of the file, its record
 *              written and flushed, then the count of layers, flushed.
 *              Or a stage gets blocks for the keys that come next: before these are claimed, since
 *              after their delivery it would be too late.
 *   turn       LOCK_GROW, with LOCK_CHANGE for two moments: the layer is marked as retired; it is
 *              cleared and flushed without LOCK_CHANGE; it gets the next number (store/window.c).
 *   empty      LOCK_GROW, with LOCK_CHANGE for moments: the stage is marked; 512 keys at a time are
 *              set in its layer; flushed; given back and flushed; the counters change, the mark
 *              goes; flushed; the journal is given back (store/stage.c). Others who had keys in
 *              flight for it no longer count on blocks there, and set them in the layer.
 *   remove     LOCK_CHANGE, for at most 2048 keys: each with a journal of one page
 *              (store/removal.c).
 *   merge      Inputs are read without a lock. Only a merge over one of its inputs holds LOCK_GROW,
 *              LOCK_QUEUE and LOCK_CHANGE of that file, taken in this order, for as long as it
 *              takes, flushes included: what is settled there meanwhile would be missing in the
 *              file that takes its place. Writers wait, say so after five seconds, and then find
 *              that their file was replaced.
 *   queue      LOCK_QUEUE (queue/queue.h). But for that merge, who holds it waits for none of the
 *              others, and who waits for it holds none but that of a slot.
 *
 * A reader without a lock sees bits only ever appear, but where a layer is cleared: a retired
 * generation loses lines that are being forgotten; the keys of a stage are in the layer, and that
 * for others to see, before they leave the stage, and are looked for in the stage first. A key of a
 * counting filter that is being removed is seen as in or not in. A key that is settled while it is
 * looked for may be missed: hence the second look under the lock.
 *
 * What may wait for a disk under LOCK_CHANGE, since it must not be torn from what the lock
 * protects:
 *
 *   - a page of bits that is not in memory is read: a claim has tested the same pages just before,
 *     so few are; at most one read a key of a batch;
 *   - a page that is just being written to disk, or memory full of dirty pages, can make a store
 *     into the map wait, on file systems that need stable pages; so can the pwrite of a stage's
 *     journal (16 bytes a key) and of the first 512 pages of a run (store/pages.c);
 *   - the stat of the filter's name when settling: else a line would be settled in a file that was
 *     replaced a moment before;
 *   - two reads of a page, and a map, after another writer has added a layer;
 *   - opening the key set of another writer that has begun one; removing that of a dead one.
 *
 * Never, but for that merge: an fsync, an allocation of blocks, a read of input or a write of
 * output.
 *
 * How long it is held, measured with 2 million lines: 0.04 to 0.15 ms a batch on average, 0.3 ms
 * for the first keys in a layer of 400 MB, 0.8 ms for 2048 keys that are removed. The longest was
 * 27 ms (63 with remove), on two processors with four processes to run: the lock's owner may be
 * without a processor.
 *
 * One thread at a time uses a struct filter.
 */
#ifndef UNSEEN_DELIVERY_FILTER_H
#define UNSEEN_DELIVERY_FILTER_H

#include "core/hash.h"
#include "store/store.h"
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

/* What a killed writer may have left half done: for store_open. */
extern const struct repair filter_repairs[];

/* Keys in flight are dropped, unsettled. NULL is allowed. The second as store_leave. */
void filter_close(struct filter *filter);
void filter_leave(struct filter *filter);

/* Allows what this writer will still do beside the filter: look into key sets of others, and remove
 * its own. */
void filter_allow(const struct filter *filter, struct confine *confine);

/* Its layers. */
struct store *filter_store(const struct filter *filter);

/* How many keys to hand to claim at a time. */
size_t filter_batch(const struct filter *filter);

/*
 * Judges keys in order: seen[i] = 1 if it is in, or in flight here or with another live writer;
 * else 0, and it is now in flight here. Stops after the most_new-th new key, or when the flight is
 * full, or before a key for which a window or a stage has to make room. Returns how many keys were
 * judged (fewer than n only if at least one was, and without these is in flight), or -1 with the
 * fault, and then none is newly in flight.
 * Precondition: all that was in flight has been settled, or keys are held.
 */
ptrdiff_t filter_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault);

/* Settles the first `delivered` keys in flight, which were handed on; the others are forgotten.
 * Returns 0, or -1 with the fault: none is settled. */
int filter_settle(struct filter *filter, size_t delivered, struct fault *fault);

/*
 * From now on keys stay in flight until filter_settle_held, not for a batch: in a key set beside
 * the filter, where other writers see them (filter opened for writing), or in a nameless one beside
 * the file `beside` (opened for reading: then nothing is ever settled here). filter_settle only
 * says which of the last claim's keys were not delivered; these are no longer in flight.
 *
 * HOLD_EXACTLY   A key is new if it is neither in nor one of those in flight, however many.
 * HOLD_AS_SET    Keys are judged as if those in flight were set, so that it makes no difference
 *                when they are. Once there are too many, or room has to be made, filter_claim
 *                returns 0: filter_settle_held is next. Only for a filter opened for writing.
 */
enum hold_kind { HOLD_EXACTLY, HOLD_AS_SET };
int filter_hold(struct filter *filter, enum hold_kind kind, const char *beside,
                struct fault *fault);

/* `n` keys will be owed (see above): makes room for them, on disk, not in memory. Before the first
 * claim, and once. Precondition: keys are held exactly, in a filter opened for reading. Returns 0
 * or -1. Then filter_owe names them, in any order, at most BATCH_KEYS at a time; 0.1 us a key. */
int filter_expect(struct filter *filter, uint64_t n, struct fault *fault);
void filter_owe(struct filter *filter, const struct key *keys, size_t n);

/* How many of them have not come. Precondition: keys are held. */
uint64_t filter_owed(const struct filter *filter);

uint64_t filter_held(const struct filter *filter);
int filter_settle_held(struct filter *filter, struct fault *fault);

/* Of keys that are held exactly, the last `n` that were delivered count as not delivered. */
void filter_drop_held(struct filter *filter, uint64_t n);

/* filter_settle_keys settles keys that were claimed, in order and growing as needed, whatever they
 * are found in by now; if another process claimed them, filter_set_claimed says when that was, as
 * store_settlings was then. Returns 0, or -1 with the fault: some may have been settled.
 * filter_settle_alone stops where others have settled any since: what follows may be in by now.
 * Returns how many are settled. */
void filter_set_claimed(struct filter *filter, uint64_t settlings);
int filter_settle_keys(struct filter *filter, const struct key *keys, size_t n,
                       struct fault *fault);
ptrdiff_t filter_settle_alone(struct filter *filter, const struct key *keys, size_t n,
                              struct fault *fault);

/* Sets the bits of keys that are known to be delivered, growing as needed, in flight somewhere or
 * not; those that are in change nothing. seen[i] = 1 if it was in, else 0; *added: how many were
 * not. Returns how many of the keys were judged: fewer than n, with the fault, if one of the others
 * failed; -1 if none was. Precondition: nothing is in flight here. */
ptrdiff_t filter_add(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *added, struct fault *fault);

#endif
