/*
 * pending - a file of keys that were delivered but not settled: a run with --pending writes it, and
 * `unseen commit` adds its keys.
 *
 * One file belongs to one task, that is, to one input that is run until the run ends well. A run
 * writes its flight to a temporary file with a hidden name in the same directory, and holds
 * LOCK_PENDING of that. When all lines are delivered and the keys are on disk, the file gets its
 * real name. So a file with the real name is complete. A second run finds the lock taken and
 * changes nothing; a run after one that was killed reuses its temporary file. A lock belongs to a
 * file, not to its name, so the holder checks that the name still leads to the file.
 *
 * For what a retry prints see writer.h, for the format format/key_file.h.
 */
#ifndef UNSEEN_FILTER_PENDING_H
#define UNSEEN_FILTER_PENDING_H

#include "filter/writer.h"

/* The lock of a file of pending keys (system/lock.h). */
enum { LOCK_PENDING = 0 };

struct pending;

/* Claims the file `path` for a run that will write it. The string must outlive the claim. Returns
 * NULL with the fault if something other than a file of pending keys is there, or another run has
 * claimed the file (a fault that may pass); nothing was changed then. */
struct pending *pending_claim(const char *path, struct fault *fault);

/* Its real name, symbolic links followed. */
const char *pending_target(const struct pending *pending);

/* Makes the filter hold its keys in the file, and expect the keys of an earlier run again
 * (writer.h). Returns 0, or -1 with the fault. */
int pending_begin(struct pending *pending, struct writer *writer, struct fault *fault);

/* Flushes the kept keys and gives the file its name. Returns 0, or -1 with the fault: then the name
 * leads to what it did before. */
int pending_finish(struct pending *pending, const struct writer *writer, struct fault *fault);

/* Opens a file for reading and checks its checksums, its keys included, and the filter's UUID. NULL
 * with the fault. */
struct pending *pending_open(const char *path, const struct filter *filter, struct fault *fault);

/* Whether an open file begins as a file of pending keys. */
bool pending_is(int fd);

/* Adds the keys of an open file to its filter, and to *added how many were not in. Returns 0, or -1
 * with the fault: some keys may have been added. */
int pending_add(const struct pending *pending, struct writer *writer, uint64_t *added,
                struct fault *fault);

/* Removes an unfinished file. NULL is allowed. */
void pending_free(struct pending *pending);

#endif
