/*
 * pending - a file of keys that were delivered but are not settled: what a run with --pending
 * leaves, and `unseen commit` settles.
 */
#ifndef UNSEEN_DELIVERY_PENDING_H
#define UNSEEN_DELIVERY_PENDING_H

#include "core/hash.h"
#include "format/header.h"
#include "system/fault.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct pending;

/* Starts a file for the filter with this UUID. A file that is there is overwritten, but only if it
 * is empty or such a file itself. Until pending_finish it is marked as unfinished. `settlings`:
 * store_settlings, before the first claim. `path` must stay where it is. NULL with the fault. */
struct pending *pending_create(const char *path, const uint8_t uuid[UUID_BYTES], uint64_t settlings,
                               struct fault *fault);

/* Appends keys. Returns 0 or -1. */
int pending_append(struct pending *pending, struct key key, struct fault *fault);

/* Writes what is left, and the header that makes the file valid, and flushes it to disk. */
int pending_finish(struct pending *pending, struct fault *fault);

/* Opens one for reading and checks all of it, keys too, against its checksums and the UUID. NULL
 * with the fault. */
struct pending *pending_open(const char *path, const uint8_t uuid[UUID_BYTES], struct fault *fault);

uint64_t pending_settlings(const struct pending *pending);

/* The next keys: how many, 0 at the end, -1 with the fault. */
ptrdiff_t pending_next(struct pending *pending, struct key *keys, size_t most, struct fault *fault);

void pending_free(struct pending *pending);

#endif
