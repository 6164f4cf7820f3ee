/*
 * lock - the locks of a filter file: byte-range locks far past its end.
 *
 * They are locks of open file descriptions: they belong to one open file, not to the process, and
 * the kernel drops them when that file is closed, by exit, exec or SIGKILL alike. So a lock that
 * is free proves that its last owner is gone. Taking and dropping one costs about 1 us.
 */
#ifndef UNSEEN_SYSTEM_LOCK_H
#define UNSEEN_SYSTEM_LOCK_H

#include <stdbool.h>

/* Numbers of locks; a slot's is LOCK_SLOT + slot. */
enum {
    LOCK_CHANGE = 0,
    LOCK_SLOT = 1,
    LOCK_GROW = 4096,
    LOCK_QUEUE = 4097,
    LOCK_WAITING = 4098,
    LOCK_HELD = 4099
};
/* The lock of a file that lines are appended to; that of a file of pending keys. */
enum { LOCK_OUTPUT = 0, LOCK_PENDING = 0 };

/* Called once, after about five seconds of waiting; `to_the_end` as below. */
typedef void lock_waits(void *context, bool to_the_end);

/* Takes a lock, waiting for it as long as it takes. Until lock_drop, Ctrl-Z waits. Returns 0, or -1
 * with errno: EINTR if a signal that asks the process to end has come, unless `to_the_end`: then
 * only SIGKILL ends the wait. */
int lock_take(int fd, unsigned lock, bool to_the_end, lock_waits *waits, void *context);
void lock_drop(int fd, unsigned lock);

/* Takes a lock if it is free, and does not keep Ctrl-Z waiting. Returns 1 if it was free, 0 if
 * somebody holds it, -1 with errno. Both may be called while another lock is held. */
int lock_try(int fd, unsigned lock);
void lock_let_go(int fd, unsigned lock);

/* Asks whether somebody else holds a lock: 1 or 0, or -1 with errno if there is no answer. Only
 * locks of those who may write the file count: anybody who may read it can have a read lock. */
int lock_ask(int fd, unsigned lock);

/* The same for callers who are on the safe side with true, which is the answer if there is none. */
bool lock_is_held(int fd, unsigned lock);

#endif
