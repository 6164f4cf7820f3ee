/*
 * lock - locks on single bytes far after the end of a file. Their numbers are in format/shared.h,
 * io/newfile.h, io/output.h, filter/pending.h and filter/flight.h.
 *
 * These are open file description locks: they belong to an open file, not to a process, and the
 * kernel drops them when this file is closed, whether by exit, exec or SIGKILL. So a free lock
 * proves that its last owner is gone. Taking and dropping a lock costs about 1 us.
 */
#ifndef UNSEEN_SYSTEM_LOCK_H
#define UNSEEN_SYSTEM_LOCK_H

#include <stdbool.h>

/* Called once, after about five seconds of waiting; `to_the_end` as below. */
typedef void lock_waits(void *context, bool to_the_end);

/* Takes a lock, however long that takes, and defers SIGTSTP (Ctrl-Z) until lock_drop. Returns 0, or
 * -1 with errno: EINTR if a signal told the process to end. With `to_the_end`, only SIGKILL ends
 * the wait. */
int lock_take(int fd, unsigned lock, bool to_the_end, lock_waits *waits, void *context);
void lock_drop(int fd, unsigned lock);

/* Takes a lock if it is free, without deferring SIGTSTP. Returns 1 if it took the lock, 0 if
 * somebody else holds it, -1 with errno. Such a lock is held until the file is closed, or until
 * lock_give_back. */
int lock_try(int fd, unsigned lock);
void lock_give_back(int fd, unsigned lock);

/* Whether somebody else holds a lock: 1 or 0, or -1 with errno. Only write locks count, because
 * anybody who may read the file can take a read lock. */
int lock_ask(int fd, unsigned lock);

/* Whether somebody else holds a lock; true, the safe side for its callers, if there is no
 * answer. */
bool lock_is_held(int fd, unsigned lock);

#endif
