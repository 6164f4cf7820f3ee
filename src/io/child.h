/*
 * child - a command that lines are handed to through a pipe.
 */
#ifndef UNSEEN_IO_CHILD_H
#define UNSEEN_IO_CHILD_H

#include "file/fault.h"

#include <sys/types.h>

struct child {
    pid_t pid; /* 0: not started */
    int fd;    /* its standard input */
};

/* Starts argv[0], looked up in PATH, and from then on ignores SIGPIPE, so that a
 * command that stops reading shows as EPIPE. Returns 0, or -1 with the fault. */
int child_start(struct child *child, const char *const *argv, struct fault *fault);

/* Ends it by the signal that ends this process, before its input ends: it must not take what it got
 * for all there is. */
void child_stop(struct child *child, int signal_number);

/* Closes its input and waits for it. Returns 0 if it exited with 0; else -1, and the fault says how
 * it ended; or fault->error is EINTR, and it is still running: a signal wants this process to end. A child that was not started has not failed. */
int child_finish(struct child *child, const char *name, struct fault *fault);

#endif
