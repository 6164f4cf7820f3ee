/*
 * spill - an exact set of keys in a file: lines that stay in flight longer than a batch.
 *
 * While CMD of -x works, or until output is durable, millions of keys may be in flight. They are
 * kept 16 bytes each in a mapped file, so that memory stays bounded, and other writers can look
 * into it. The file is a page with a count, then segments of open addressing, each twice the one
 * before; a key never moves, so looking needs no lock beyond that under which keys are added.
 */
#ifndef UNSEEN_FILE_SPILL_H
#define UNSEEN_FILE_SPILL_H

#include "core/hash.h"
#include "file/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill;

/* A new, empty set at `path`, in place of what a dead writer may have left there, for whoever may use
 * the file open as `like`; or a file without a name in the directory of `path`. `mark` tells it from any
 * other one. NULL with the fault; its error is EEXIST if what is there cannot be removed. */
struct spill *spill_new(const char *path, int like, uint64_t mark, struct fault *fault);
struct spill *spill_nameless(const char *path, struct fault *fault);

/* Another writer's set, to look into. NULL with the fault: there is none, or one with another
 * mark. */
struct spill *spill_attach(const char *path, uint64_t mark, struct fault *fault);

/* Closes it; one made by spill_new loses its name too. NULL is allowed. */
void spill_free(struct spill *spill);

/* From now on spill_free leaves it its name. */
void spill_leave(struct spill *spill);

/* Makes room on disk for `n` more keys, so that adding them cannot fail. Returns 0 or -1. */
int spill_reserve(struct spill *spill, uint64_t n, struct fault *fault);

/* Adds a key. Returns whether it was not in yet. Precondition: reserved. */
bool spill_add(struct spill *spill, struct key key);

/* Takes a key out again. */
void spill_remove(struct spill *spill, struct key key);

bool spill_has(const struct spill *spill, struct key key);

/* For an attached one: maps what its owner has added since. Returns 0 or -1. */
int spill_refresh(struct spill *spill, struct fault *fault);

uint64_t spill_count(const struct spill *spill);

/* From now on it also keeps in which order keys came, as far as spill_note tells, in a nameless file
 * beside it, for spill_next. Returns 0 or -1. */
int spill_keep_order(struct spill *spill, struct fault *fault);

/* These keys are in for good, and come behind all that were noted before. Nothing, if no order is
 * kept. Returns 0 or -1. */
int spill_note(struct spill *spill, const struct key *keys, size_t n, struct fault *fault);

/* The last `n` keys noted count as not noted. */
void spill_drop_noted(struct spill *spill, uint64_t n);

/* Empties it. */
void spill_clear(struct spill *spill);

/* The next up to `most` keys that were noted, from where *at stands (0 to begin with). Returns how many; 0
 * at the end; -1 with the fault. */
ptrdiff_t spill_next(const struct spill *spill, uint64_t *at, struct key *keys, size_t most,
                     struct fault *fault);

#endif
