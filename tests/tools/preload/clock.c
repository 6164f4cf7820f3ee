/*
 * clock - for LD_PRELOAD: the time of day is what the file FAKE_CLOCK says.
 *
 * The file holds seconds since 1970, which may have a fraction; it is read anew each time, so that a
 * running program's clock can be set. Without it, and for all other clocks, time is what it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int faked(struct timespec *time)
{
    const char *name = getenv("FAKE_CLOCK");
    FILE *file = name != NULL ? fopen(name, "re") : NULL;
    double seconds;
    int found = file != NULL && fscanf(file, "%lf", &seconds) == 1;
    if (file != NULL)
        fclose(file);
    if (!found)
        return 0;
    time->tv_sec = (time_t)seconds;
    time->tv_nsec = (long)((seconds - (double)time->tv_sec) * 1e9);
    return 1;
}

int clock_gettime(clockid_t id, struct timespec *time)
{
    if (id == CLOCK_REALTIME && faked(time))
        return 0;
    return (int)syscall(SYS_clock_gettime, id, time);
}
