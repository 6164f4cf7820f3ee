/*
 * child - a command that lines are handed to through a pipe.
 *
 * Which lines has a command taken that exits with 0 without having read all? What write(2) accepted
 * is no answer: whether the pipe took a line before the command was gone is a race. So:
 *
 * 1. The lines it starts with are its own, whatever it reads: the first one, and those written with
 *    it that lie within CHILD_GIVEN bytes. They are put into the pipe before it starts, where there
 *    is always room for as much. `-x true` has taken them.
 * 2. Of all others it has taken those that it has read whole. The pipe says so: when the command
 *    has ended, what it has left is still in there.
 *
 * Neither depends on who was faster. The second rule alone would do without the first, but a
 * command that looks at none of its lines would never be done with any.
 *
 * No end of the pipe for reading is open here while it is written to, so that a command that reads
 * no more shows as EPIPE at the next write. One is opened again, by its name in /proc, when all is
 * written and the end for writing must go, as the command waits for the end of its input. Without
 * /proc, and if a process that the command has left behind still reads, the second rule is: what
 * the pipe accepted.
 */
#ifndef UNSEEN_IO_CHILD_H
#define UNSEEN_IO_CHILD_H

#include "io/output.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The least that a pipe holds: one page, of the smallest size there is. */
enum { CHILD_GIVEN = 4096 };

struct child {
    const char *const *argv;
    char delimiter;
    bool failed;       /* it could not be run: */
    int error;         /* the errno of that, or 0 if this process had trouble before */
    pid_t pid;         /* 0: not started, or it has ended */
    int fd;            /* its standard input */
    uint64_t written;  /* bytes */
    uint64_t given;    /* of them, of the lines it starts with */
    bool exact;        /* set by the caller: rule 1 does not apply */
    bool read_nothing; /* as far as can be known, once it has ended */
};

/* A command, argv[0] looked up in PATH, as an output of lines that end with `delimiter`. It starts
 * at the first write. From then on this process ignores SIGPIPE; EPIPE says that the command reads
 * no more. */
struct output child_output(struct child *child, const char *const *argv, char delimiter);

enum child_end {
    CHILD_DONE,    /* it exited with 0, or nothing was written to it */
    CHILD_FAILED,  /* the fault says how */
    CHILD_NOT_RUN, /* it could not be started, as the first write has said */
    CHILD_STOPPED, /* by the signal that ends this process */
};

/* Closes its input and waits for it. CHILD_DONE: *left says how many of the lines written it has
 * not taken, the last ones. A signal that wants this process to end ends the command, too,
 * before its input ends if there is time: it must not take what it got for all there is. */
enum child_end child_finish(struct child *child, uint64_t *left, struct fault *fault);

#endif
