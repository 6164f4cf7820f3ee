/*
 * writer - one run's use of a filter: claim new keys, settle those whose lines were delivered.
 *
 * The key of a line on its way is in one of these states:
 *
 *   new        neither the layers nor the flight of a living writer has the key;
 *   in flight  this run has claimed the key, and its bits are not set. Other processes see the key
 *              in the run's flight (flight.h), and take its line for seen;
 *   kept       the same, and the line was delivered;
 *   settled    the bits are set: the line is remembered;
 *   expected   the pending file of an earlier run of the same task has the key (see "A retry").
 *
 * Keys are in flight until their batch is written; or they are held: with --durable until the
 * output is on disk, with -x until CMD has ended. With --pending the run itself never settles them:
 * they go to a file, and `unseen commit` adds them. When a process dies, other processes ignore its
 * flight: nothing needs repair, and its lines are new again. A filter in memory has no such states:
 * a key is settled when it is claimed.
 *
 * A retry. A run may end well and leave a pending file, and be killed before anybody took note,
 * even during its commit. Its output may be lost, so when the task runs again, each key of that
 * file counts as new once, whatever the layers say. If some of these keys do not come, the input
 * was a different one, and the pending file is left unchanged.
 *
 * No lock is held between these calls, and no signal ends settling, or a wait for its lock. One
 * thread at a time uses a filter. (Who writes what, and under which lock, is in internal.h.)
 */
#ifndef UNSEEN_FILTER_WRITER_H
#define UNSEEN_FILTER_WRITER_H

#include "filter/filter.h"
#include "system/confine.h"

struct writer;
/* Begins to use an open filter, which is the caller's and is closed after the writer. If it is open
 * for writing, raises counters that are far too low, and waits while all slots are taken. NULL with
 * the fault. */
struct writer *writer_new(struct filter *filter, struct fault *fault);
/* Drops keys in flight without settling them. NULL is allowed. */
void writer_free(struct writer *writer);
/* Allows what this run will still do to side files: if it `claims` keys, read those of others,
 * which may be made later; remove its own. Both in the whole tree of their directory. */
void writer_allow(const struct writer *writer, bool claims, struct confine *confine);

/* From now on, keys are held. For a filter open for writing. `briefly`: as with --durable, no side
 * file can be made later, so it is made now; and in a window by lines no more keys are held than
 * its generation takes, so that it forgets in time. Returns 0, or -1 with the fault. */
int writer_hold(struct writer *writer, bool briefly, struct fault *fault);
/* Then: whether the kept keys fill the generation, and must be settled before the next claim. */
bool writer_fills(const struct writer *writer);

/* Judges up to BATCH_KEYS keys in order: seen[i] = 1 if the key is in, or in flight here or with a
 * living writer; else 0, and it is in flight here from now on. Stops after the most_new-th new key,
 * or before a key for which room must be made. Returns how many keys were judged, at least one; or
 * -1 with the fault, and then no more keys are in flight than before. */
ptrdiff_t writer_claim(struct writer *writer, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault);
/* The lines of the first `delivered` keys of the last claim were delivered; the rest leave the
 * flight, and are new again. Never fails. */
void writer_keep(struct writer *writer, uint64_t delivered);
/* Settles all kept keys; nothing is in flight then. If keys are not held, to be called after each
 * claim. Returns 0, or -1 with the fault: if the file was replaced, no held key is settled. */
int writer_settle(struct writer *writer, struct fault *fault);
uint64_t writer_kept(const struct writer *writer);     /* kept keys */
void writer_drop(struct writer *writer, uint64_t n);   /* the last n of these were not delivered */
uint64_t writer_expected(const struct writer *writer); /* expected keys that have not come yet */

/* Sets the bits of delivered keys and makes room as needed. Skips keys that are in (in a window: in
 * its newest generation). seen[i] = 1 if the key was in, else 0; *added: how many were not. Returns
 * how many keys were judged: fewer than n, with the fault, after a failure, or -1 if none was.
 * Preconditions: the filter is a file, open for writing, and nothing is in flight here. */
ptrdiff_t writer_add(struct writer *writer, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *added, struct fault *fault);

/* What a slot of the file says, for reports. It is a writer's place, with its keys in flight. */
struct slot_facts {
    uint64_t keys;     /* as the record says, which may be damaged */
    uint64_t capacity; /* how many keys fit */
    uint64_t file;     /* the inode number of its file; 0: there is none */
    uint32_t number, level;
};
struct slot_facts slot_facts(const struct filter *filter, unsigned slot);
/* Whether the owner of a slot that is not ours lives: 1 or 0, or -1 with the fault. */
int slot_lives(const struct filter *filter, unsigned slot, struct fault *fault);

#endif
