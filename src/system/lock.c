#include "system/lock.h"

#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Process locks are no substitute: closing any descriptor of the file would drop them. */
#ifndef F_OFD_SETLK
#error "unseen needs locks of open file descriptions: F_OFD_SETLK, in Linux since 3.15"
#endif

/* After the end of any file. */
#define LOCKS_AT (INT64_C(1) << 62)

static struct flock lock_range(unsigned lock, short type)
{
    return (struct flock){
        .l_type = type,
        .l_whence = SEEK_SET,
        .l_start = (off_t)(LOCKS_AT + lock),
        .l_len = 1,
    };
}

int lock_try(int fd, unsigned lock)
{
    struct flock flock = lock_range(lock, F_WRLCK);
    if (fcntl(fd, F_OFD_SETLK, &flock) == 0)
        return 1;
    return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

int lock_take(int fd, unsigned lock, bool to_the_end, lock_waits *waits, void *context)
{
    signals_hold_stop();
    int got = lock_try(fd, lock);
    if (got > 0)
        return 0;
    int result = -1;
    if (got == 0) {
        /* It is usually free again in less than a millisecond. A wait of five seconds is reported,
         * because the lock's owner may be stopped. */
        struct flock flock = lock_range(lock, F_WRLCK);
        time_t start = time(NULL);
        signals_alarm(5);
        while ((result = fcntl(fd, F_OFD_SETLKW, &flock)) != 0 && errno == EINTR &&
               (to_the_end || !signals_arrived())) {
            /* Ctrl-Z interrupts the wait, too. It takes effect here, unless another lock is
             * held. */
            signals_release_stop();
            signals_hold_stop();
            if (waits == NULL || time(NULL) - start < 4)
                continue;
            waits(context, to_the_end);
            waits = NULL;
        }
        signals_alarm(0);
    }
    if (result == 0)
        return 0;
    int error = errno;
    signals_release_stop();
    errno = error;
    return -1;
}

void lock_give_back(int fd, unsigned lock)
{
    struct flock flock = lock_range(lock, F_UNLCK);
    (void)fcntl(fd, F_OFD_SETLK, &flock);
}

void lock_drop(int fd, unsigned lock)
{
    lock_give_back(fd, lock);
    signals_release_stop();
}

int lock_ask(int fd, unsigned lock)
{
    struct flock flock = lock_range(lock, F_RDLCK);
    if (fcntl(fd, F_OFD_GETLK, &flock) != 0)
        return -1;
    return flock.l_type != F_UNLCK;
}

bool lock_is_held(int fd, unsigned lock)
{
    return lock_ask(fd, lock) != 0;
}
