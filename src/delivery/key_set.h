/*
 * set - an exact set of keys in a file: lines that stay in flight longer than a batch.
 *
 * While CMD of -x works, or until output is durable, millions of keys may be in flight. They are
 * kept 16 bytes each in a mapped file, so that memory stays bounded, and other writers can look
 * into it. The file is a page with a count, then segments of open addressing, each twice the one
 * before; a key never moves, so looking needs no lock beyond that under which keys are added.
 */
#ifndef UNSEEN_DELIVERY_KEY_SET_H
#define UNSEEN_DELIVERY_KEY_SET_H

#include "core/hash.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_set;

/* A new, empty set at `path`, in place of what a dead writer may have left there, for whoever may use
 * the file open as `like`; or a file without a name in the directory of `path`. `mark` tells it from any
 * other one. NULL with the fault; its error is EEXIST if what is there cannot be removed. */
struct key_set *key_set_new(const char *path, int like, uint64_t mark, struct fault *fault);
struct key_set *key_set_nameless(const char *path, struct fault *fault);

/* Another writer's set, to look into. NULL with the fault: there is none, or one with another
 * mark. */
struct key_set *key_set_attach(const char *path, uint64_t mark, struct fault *fault);

/* Closes it; one made by key_set_new loses its name too. NULL is allowed. */
void key_set_free(struct key_set *set);

/* From now on key_set_free leaves it its name. */
void key_set_leave(struct key_set *set);

/* Makes room on disk for `n` more keys, so that adding them cannot fail. Returns 0 or -1. */
int key_set_reserve(struct key_set *set, uint64_t n, struct fault *fault);

/* Adds a key. Returns whether it was not in yet. Precondition: reserved. */
bool key_set_add(struct key_set *set, struct key key);

/* Takes a key out again. */
void key_set_remove(struct key_set *set, struct key key);

bool key_set_has(const struct key_set *set, struct key key);

/* For an attached one: maps what its owner has added since. Returns 0 or -1. */
int key_set_refresh(struct key_set *set, struct fault *fault);

uint64_t key_set_count(const struct key_set *set);

/* From now on it also keeps in which order keys came, as far as key_set_note tells, in a nameless file
 * beside it, for key_set_next. Returns 0 or -1. */
int key_set_keep_order(struct key_set *set, struct fault *fault);

/* These keys are in for good, and come behind all that were noted before. Nothing, if no order is
 * kept. Returns 0 or -1. */
int key_set_note(struct key_set *set, const struct key *keys, size_t n, struct fault *fault);

/* The last `n` keys noted count as not noted. */
void key_set_drop_noted(struct key_set *set, uint64_t n);

/* Empties it. */
void key_set_clear(struct key_set *set);

/* The next up to `most` keys that were noted, from where *at stands (0 to begin with). Returns how many; 0
 * at the end; -1 with the fault. */
ptrdiff_t key_set_next(const struct key_set *set, uint64_t *at, struct key *keys, size_t most,
                       struct fault *fault);

#endif
