/* lock - see lock.h. */
#include "file/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* Where open-file-description locks are missing, locks of the process do for all but threads. */
#ifndef F_OFD_SETLK
#define F_OFD_SETLK F_SETLK
#define F_OFD_SETLKW F_SETLKW
#define F_OFD_GETLK F_GETLK
#endif

/* Behind the end of every file there is. */
#define LOCKS_AT (INT64_C(1) << 62)

static struct flock range(unsigned lock, short type)
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
    struct flock flock = range(lock, F_WRLCK);
    if (fcntl(fd, F_OFD_SETLK, &flock) == 0)
        return 1;
    return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

int lock_take(int fd, unsigned lock, lock_waits *waits, void *context)
{
    int got = lock_try(fd, lock);
    if (got != 0)
        return got > 0 ? 0 : -1;
    /* Held for memory work only, so almost always free again in microseconds: wait in the kernel,
     * with a helper clock only if it takes long. A blocking wait cannot time out by itself, so
     * doze instead, longer and longer, up to 10 ms. */
    struct timespec doze = {0, 20000};
    struct timespec start, now;
    bool said = waits == NULL;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        if (nanosleep(&doze, NULL) != 0 && errno == EINTR)
            return -1;
        got = lock_try(fd, lock);
        if (got != 0)
            return got > 0 ? 0 : -1;
        if (doze.tv_nsec < 10000000)
            doze.tv_nsec *= 2;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (!said && now.tv_sec - start.tv_sec >= 5) {
            waits(context);
            said = true;
        }
    }
}

void lock_drop(int fd, unsigned lock)
{
    struct flock flock = range(lock, F_UNLCK);
    (void)fcntl(fd, F_OFD_SETLK, &flock);
}

bool lock_is_held(int fd, unsigned lock)
{
    struct flock flock = range(lock, F_WRLCK);
    return fcntl(fd, F_OFD_GETLK, &flock) != 0 || flock.l_type != F_UNLCK;
}
