/*
 * key_set - an exact set of keys in a file: those of lines that stay in flight longer than a batch.
 *
 * While CMD of -x works, or until output is durable, millions of keys may be in flight, and other
 * writers must find each of them. The staircase, from the obvious set to this one:
 *
 *   1. A hash table in memory, 16 bytes a key, open addressing. But memory is to stay bounded, and
 *      nobody else can look into it. So it is a file, FILTER.flight-SLOT, which its owner maps to
 *      write and others map to read. The filter's lock for changes, under which they judge new
 *      lines anyway, covers adding, removing and looking; so the set needs no lock of its own.
 *   2. A full table must grow. Moving its keys into a larger one would take as long as adding them
 *      all again, and under the lock. So keys never move: a segment that is three quarters full is
 *      followed by one of twice the size, and a key is looked for in all of them, newest first,
 *      since that holds half of the keys. A segment gets its blocks and its zeros before the lock
 *      is taken, so that adding cannot fail and waits for no disk.
 *      But nobody else looks into a set without a name, and no lock covers it. So there the keys do
 *      move, in the order of their places, and a key is looked for in one segment: of 10 million
 *      keys there would be twelve.
 *   3. Each look waits for memory. So keys are looked for in batches, and their places prefetched
 *      (as in core/kernel_body.h). This and moving make 1300 ns a line 110, for 10 million lines
 *      with --pending.
 *   4. A key that is removed leaves a mark, not an empty place: looking for a key that once had to
 *      make way for it must go on.
 *   5. Emptying it means zeros everywhere: up to 80 ms for 3 million keys, under the lock. So only
 *      the number of segments in use becomes 0, which hides them from everybody in 0.1 us. A
 *      segment is cleared when it is used again: without the lock, and only if it is needed.
 */
#ifndef UNSEEN_DELIVERY_KEY_SET_H
#define UNSEEN_DELIVERY_KEY_SET_H

#include "core/hash.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_set;

/* A new, empty set: at `path`, in place of what a dead writer may have left there, for whoever may
 * use the file open as `like`; or in a file without a name in the directory of `path`. NULL with
 * the fault: its error is EEXIST if what is at `path` cannot be removed. */
struct key_set *key_set_new(const char *path, int like, struct fault *fault);
struct key_set *key_set_nameless(const char *path, struct fault *fault);

/* What tells its file from any other while it is open: the inode number. The filter has it from the
 * writer itself, so nobody can pass off a file of his own as this one. */
uint64_t key_set_mark(const struct key_set *set);

/* Another writer's set, to look into, on the file system of the file open as `like`. NULL with the
 * fault if there is none with that mark. */
struct key_set *key_set_attach(const char *path, int like, uint64_t mark, struct fault *fault);

/* Closes it. A set at a path loses its name, unless key_set_leave was called. NULL is allowed. */
void key_set_free(struct key_set *set);
void key_set_leave(struct key_set *set);

/* Makes room on disk for `n` more keys, so that adding them cannot fail. It may take long: not to
 * be called under the lock. Returns 0 or -1. */
int key_set_reserve(struct key_set *set, uint64_t n, struct fault *fault);

/* Adds a key; returns whether it was not in yet. Only the newest segment is searched: all there is
 * of a set without a name, but in a set at a path, key_set_look must have missed the key once its
 * room was reserved. Precondition: that room. About 0.1 to 1 us, as are key_set_remove and
 * key_set_has; less after key_set_look for the same keys. */
bool key_set_add(struct key_set *set, struct key key);
void key_set_remove(struct key_set *set, struct key key);
bool key_set_has(const struct key_set *set, struct key key);

/* Makes seen[i] 1 if keys[i] is in. About 0.03 us a key. */
void key_set_look(const struct key_set *set, const struct key *keys, size_t n, uint8_t *seen);

/* Empties a set at a path, in 0.1 us. */
void key_set_clear(struct key_set *set);

uint64_t key_set_count(const struct key_set *set);
const char *key_set_path(const struct key_set *set);

/* In an attached set: maps what its owner has added since. Returns 0 or -1. */
int key_set_refresh(struct key_set *set, struct fault *fault);

#endif
