/* clock - the program's clock is the test's own: it goes on when the test says so. */
#ifndef UNSEEN_TESTS_CLOCK_H
#define UNSEEN_TESTS_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000 };
#define NOON UINT64_C(1800000000000)

static uint64_t clock_milliseconds = NOON;

/* In place of libc's, whose header has its own names for these. Included once by a program. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int clock_gettime(clockid_t id, struct timespec *time)
{
    if (id != CLOCK_REALTIME && id != CLOCK_BOOTTIME)
        return (int)syscall(SYS_clock_gettime, id, time);
    time->tv_sec = (time_t)(clock_milliseconds / SECOND);
    time->tv_nsec = (long)(clock_milliseconds % SECOND) * 1000000;
    return 0;
}

#endif
