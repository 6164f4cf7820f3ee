/*
 * killed - runs a command and kills it at a chosen moment of its work.
 *
 *     killed BYTES MICROSECONDS[:SIGNAL...] COMMAND [ARGUMENT...]
 *
 * Once COMMAND has written BYTES to its standard output, a regular file, and so much time has then
 * passed, it gets SIGKILL, or the signals of these numbers, unless it has ended by itself. With
 * BYTES 0 the time runs from its start. Moments are what matters, so this polls, every 20
 * microseconds or so. Exit: as a shell says it, COMMAND's own status or 128 and the number of the
 * signal (137: it was killed); 126 if it could not be run.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fail(const char *what)
{
    fprintf(stderr, "killed: %s: %s\n", what, strerror(errno));
    return 126;
}

static long long microseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static long long output_bytes(void)
{
    struct stat status;
    return fstat(STDOUT_FILENO, &status) == 0 ? (long long)status.st_size : 0;
}

/* Looking without a pause would take the processor from the process that is watched; who sleeps is
 * let in at once when he wakes. */
static void doze(void)
{
    struct timespec moment = {0, 20000};
    nanosleep(&moment, NULL);
}

/* `size`: of the output by then, or 0 for at once. Returns whether it ended by itself, with its
 * status. */
static bool ends_before(pid_t pid, long long size, long long microseconds, int *status)
{
    while (size > 0 && output_bytes() < size) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return true;
        doze();
    }
    long long end = microseconds_now() + microseconds;
    while (microseconds_now() < end) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return true;
        if (end - microseconds_now() > 20000)
            usleep(10000);
        else
            doze();
    }
    return false;
}

int main(int argc, char **argv)
{
    int status;
    if (argc < 4) {
        fprintf(stderr, "usage: killed BYTES MICROSECONDS[:SIGNAL...] COMMAND [ARGUMENT...]\n");
        return 126;
    }
    char *end;
    long long bytes = strtoll(argv[1], NULL, 10), microseconds = strtoll(argv[2], &end, 10);
    /* It may have written all before this process runs again. */
    long long size = bytes > 0 ? output_bytes() + bytes : 0;
    pid_t pid = fork();
    if (pid < 0)
        return fail("fork");
    if (pid == 0) {
        execvp(argv[3], argv + 3);
        _exit(fail(argv[3]));
    }
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    if (!ends_before(pid, size, microseconds, &status)) {
        do
            kill(pid, *end == ':' ? (int)strtol(end + 1, &end, 10) : SIGKILL);
        while (*end == ':');
        while (waitpid(pid, &status, 0) < 0)
            if (errno != EINTR)
                return fail("waitpid");
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
