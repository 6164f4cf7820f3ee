/*
 * pending - a file of keys that were delivered but are not settled: what a run with --pending
 * leaves, and `unseen commit` adds.
 *
 * One file belongs to one task: a run over some input that is run again until it ends well. A run
 * writes a new file beside it, under a hidden name, and holds LOCK_PENDING of that; it is the log
 * of its flight, and takes the real name once all is delivered and the keys are on disk. So what
 * stands there is whole, and was left by a run that ended well. A second run finds the lock taken,
 * and changes nothing; the next run after one that was killed finds its file, and begins it anew. A
 * lock holds a file, not its name: so whoever has it looks whether the name still leads there.
 *
 * What a retry prints is said in filter.h, the format in format/key_file.h.
 */
#ifndef UNSEEN_FILTER_PENDING_H
#define UNSEEN_FILTER_PENDING_H

#include "filter/filter.h"

struct pending;

/* Claims the file `path`, whose name must stay where it is, for a run that will write it. Refuses
 * what is there and is no file of pending keys. NULL with the fault, which may pass if another run
 * has claimed it; nothing was changed then. */
struct pending *pending_claim(const char *path, struct fault *fault);

/* Its real name, symbolic links followed. */
const char *pending_target(const struct pending *pending);

/* Has the filter hold its keys there; those of an earlier run, if it left a file, are owed. Returns
 * 0 or -1. */
int pending_begin(struct pending *pending, struct filter *filter, struct fault *fault);

/* Puts what the filter has kept under the name, flushed. Returns 0, or -1: the name has what it
 * had. */
int pending_finish(struct pending *pending, const struct filter *filter, struct fault *fault);

/* Opens one for reading and checks all of it, keys too, against its checksums and the filter's
 * UUID. NULL with the fault. */
struct pending *pending_open(const char *path, const struct store *store, struct fault *fault);

/* Whether an open file begins as one does. */
bool pending_is(int fd);

/* Adds the keys of one that is open to its filter; some may be in by now. *added rises by how many
 * were not. Returns 0, or -1 with the fault: some of them may have been added. */
int pending_add(const struct pending *pending, struct filter *filter, uint64_t *added,
                struct fault *fault);

/* Removes what was not finished. NULL is allowed. */
void pending_free(struct pending *pending);

#endif
