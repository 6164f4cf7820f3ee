/*
 * child - a command that lines are handed to through a pipe.
 *
 * Which lines has a command taken that exits with 0 without having read all? What write(2) accepted
 * is no answer: whether the pipe took a line before the command was gone is a race. What it has
 * read is one: what it left is still in the pipe when it has ended (FIONREAD). So it has taken the
 * lines that it has read whole. One that has read nothing would never be done with any line that
 * way; it has taken what it was started with (`-x true`): the first line, and those written with it
 * that lie within CHILD_GIVEN bytes.
 *
 * No end of the pipe for reading is open here while it is written to, so that a command that reads
 * no more shows as EPIPE at the next write. One is opened again, by its name in /proc, when all is
 * written and the end for writing must go, as the command waits for the end of its input. Without
 * /proc, and if a process that the command has left behind still has the pipe, nobody can tell: all
 * that the pipe accepted counts as read.
 *
 * The command alone says how it ends. A signal that wants this process to end is passed on as it
 * comes, so before the command's input ends: it must not take what it got for all there is. Then it
 * is waited for, however long it takes.
 */
#ifndef UNSEEN_IO_CHILD_H
#define UNSEEN_IO_CHILD_H

#include "io/output.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_GIVEN = 4096 };

struct child {
    const char *const *argv;
    char delimiter;
    bool header;        /* the first line written is a header line, and counts for nothing */
    bool failed;        /* it could not be run: */
    int error;          /* the errno of that, or 0 if this process had trouble before */
    pid_t pid;          /* 0: not started, or it has ended */
    int fd;             /* its standard input */
    uint64_t written;   /* bytes */
    size_t header_line; /* of them, of the header line */
    size_t given;       /* of them, what it is started with, the header line included */
    bool cut_off;       /* what it was to get could not all be written, though it might have read */
    bool read_nothing;  /* as far as can be known, once it has ended */
};

/* A command, argv[0] looked up in PATH, as an output of lines that end with `delimiter`. It starts
 * at the first write, unless a signal has come. From then on this process ignores SIGPIPE, and
 * passes SIGINT, SIGTERM and SIGHUP on; EPIPE says that the command reads no more. */
struct output child_output(struct child *child, const char *const *argv, char delimiter,
                           bool header);

enum child_end {
    CHILD_DONE,    /* it exited with 0, or was not started as there was nothing to write */
    CHILD_FAILED,  /* the fault says how */
    CHILD_NOT_RUN, /* it could not be started, as the first write has said */
    CHILD_STOPPED, /* it failed, and a signal wants this process to end */
};

/* Closes its input and waits for its end. CHILD_DONE: *left says how many of the lines whose
 * writing was reported it has not taken, the last ones; else 0. */
enum child_end child_finish(struct child *child, uint64_t *left, struct fault *fault);

#endif
