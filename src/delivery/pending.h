/*
 * pending - a file of keys that were delivered but are not settled: what a run with --pending
 * leaves, and `unseen commit` settles.
 *
 * One file belongs to one task: a run over some input that is run again until it ends well. Under
 * its name stands
 *
 *   nothing      no run has begun;
 *   an empty     a run is under way, which holds LOCK_PENDING of it, or did not end well;
 *   a whole one  a run has ended well. If LOCK_PENDING is held, a retry is under way.
 *
 * A run writes a new file, which has no name (store/newfile.h) and takes that of the old one once
 * all is delivered and the keys are on disk. So what stands there was never half written, and a
 * kill at any moment leaves one of the three. Where the new file must have a name for a while, a
 * kill leaves that, too, and the next run removes it; but not on a network file system, where the
 * lock may not tell whether another run, through another mount, is still writing it.
 *
 * A second run finds the lock taken, and has changed nothing. A lock holds a file, not its name: so
 * whoever has it looks whether the name still leads there, at the start, as the owner before may
 * just have replaced it, and before it replaces it itself, as somebody may have moved it away.
 *
 * What a retry prints is said in filter.h.
 */
#ifndef UNSEEN_DELIVERY_PENDING_H
#define UNSEEN_DELIVERY_PENDING_H

#include "core/hash.h"
#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct pending;

/* Claims the file `path`, which must stay where it is, for a run that will write it; makes it,
 * empty, if there is none. Refuses what is neither empty nor a file of pending keys. NULL with the
 * fault, which may pass if another run has claimed it; nothing was changed then. */
struct pending *pending_claim(const char *path, struct fault *fault);

/* Its real name, symbolic links followed. */
const char *pending_target(const struct pending *pending);

/* Starts writing, for the filter with this UUID. `settlings`: store_settlings, before the first
 * claim of a key. Until then pending_free removes a file that pending_claim has made. Returns 1 if
 * there is a whole file of an earlier run, with the keys that pending_next will give; 0 if there is
 * none; -1. */
int pending_begin(struct pending *pending, const uint8_t uuid[UUID_BYTES], uint64_t settlings,
                  struct fault *fault);

/* Appends a key, after all of the earlier ones were read. Returns 0 or -1. */
int pending_append(struct pending *pending, struct key key, struct fault *fault);

/* Puts what was written under the name, flushed. Returns 0, or -1: the name has what it had. */
int pending_finish(struct pending *pending, struct fault *fault);

/* Opens one for reading and checks all of it, keys too, against its checksums and the UUID. NULL
 * with the fault. */
struct pending *pending_open(const char *path, const uint8_t uuid[UUID_BYTES], struct fault *fault);

/* Whether an open file begins as one does. */
bool pending_is(int fd);

/* Of the file that is read: how many keys, and store_settlings when its first run began. */
uint64_t pending_count(const struct pending *pending);
uint64_t pending_settlings(const struct pending *pending);

/* The next keys: how many; 0 at the end, if the checksum is right; -1 with the fault, of which a
 * signal is one. */
ptrdiff_t pending_next(struct pending *pending, struct key *keys, size_t most, struct fault *fault);

/* NULL is allowed. */
void pending_free(struct pending *pending);

#endif
