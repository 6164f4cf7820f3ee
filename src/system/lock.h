/*
 * lock - the locks of a filter file: byte-range locks far behind its end.
 *
 * Open-file-description locks: they belong to one open file, not to the process, and the kernel
 * drops them when that file is closed, by exit, exec or SIGKILL alike. So a lock that can be had
 * proves that its last owner is gone. A pair of calls costs about 1 us.
 */
#ifndef UNSEEN_SYSTEM_LOCK_H
#define UNSEEN_SYSTEM_LOCK_H

#include <stdbool.h>

/* Numbers of locks; a slot's is LOCK_SLOT + slot. */
enum { LOCK_CHANGE = 0, LOCK_SLOT = 1, LOCK_GROW = 4096 };
/* The lock of a file that lines are appended to. */
enum { LOCK_OUTPUT = 0 };

/* Called about once after five seconds of waiting. */
typedef void lock_waits(void *context);

/* Takes a lock, waiting for it as long as it takes; until lock_drop, Ctrl-Z waits. Returns 0, or -1 with errno; EINTR if a signal
 * that asks the process to stop has come. */
int lock_take(int fd, unsigned lock, lock_waits *waits, void *context);

/* Takes a lock if it is free. Returns 1 if it was, 0 if somebody holds it, -1 with errno. */
int lock_try(int fd, unsigned lock);

/* Drops what lock_take took, and what lock_try took: the latter may be while another is held. */
void lock_drop(int fd, unsigned lock);
void lock_let_go(int fd, unsigned lock);

/* Whether somebody else holds a lock: 1 or 0, or -1 with errno if that cannot be found out. Only those
 * who may write the file can: a read lock, which anybody who may read it can have, is none. */
int lock_held(int fd, unsigned lock);

/* The same where a doubt costs nothing: when in doubt, true. */
bool lock_is_held(int fd, unsigned lock);

#endif
