/*
 * guard - what happens when a mapped file fails under the program.
 *
 * Reading or writing a mapped page raises SIGBUS if the file was cut off by somebody else, if the
 * disk is full where blocks are given out late, or if the disk fails. There is nothing to return
 * an error from, so this is the one place below the commands that prints and exits: which file,
 * why, and status 2. Lines in flight are then not remembered, so nothing is lost.
 */
#ifndef UNSEEN_SYSTEM_GUARD_H
#define UNSEEN_SYSTEM_GUARD_H

#include <stddef.h>

/* Installs the handler, on a stack of its own. */
void guard_start(void);

/* Names a mapping; `name` must stay where it is. Up to 256; more are caught, but not by name. */
void guard_add(const void *address, size_t length, const char *name);
void guard_remove(const void *address);

#endif
