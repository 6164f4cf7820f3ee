/*
 * child - a command that receives lines through a pipe.
 *
 * If a command exits with 0 before it has read its whole input, some lines were not processed. What
 * write(2) accepted does not show which, because the pipe may accept lines that the command never
 * reads. But unread bytes are still in the pipe when the command has ended (FIONREAD), so the
 * command has taken the lines that it has read completely. A command that reads nothing (`-x true`)
 * would then never take a line; it has taken what it was started with: the first line, and the
 * lines written with it within CHILD_GIVEN bytes.
 *
 * Where lines end is seen in what is left in the pipe. A row may have several lines, and what is
 * left may begin amid one, so the ends of rows are kept, with one bit for each of the last bytes
 * written. If the command has made the pipe larger than that, and left more, it has taken no row:
 * too many come again, none is lost.
 *
 * While lines are written, this process keeps no read end of the pipe open, so that the next write
 * fails with EPIPE if the command has closed its input. When all is written, it reopens the read
 * end by its name in /proc, and then closes the write end, which ends the command's input. Without
 * /proc, or if a descendant of the command still has the pipe open, it cannot be known what was
 * read; then everything that the pipe accepted counts as read.
 *
 * A signal that tells this process to end is passed on to the command before its input ends, so
 * that the command does not take a part of the lines for all of them; but not twice
 * (system/signals.h). This process then waits, however long it takes: only the command's exit
 * status says whether it succeeded.
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
    struct line_ends ends;
    bool header;        /* the first line written is a header line, which is not counted */
    bool failed;        /* the command could not be run */
    int error;          /* why, or 0 if this process failed before it tried */
    pid_t pid;          /* 0: not started, or ended */
    int fd;             /* the command's standard input */
    uint64_t written;   /* bytes */
    size_t header_line; /* bytes of the header line */
    size_t given;       /* bytes that the command was started with, the header line included */
    uint64_t *row_ends; /* of rows: the bits of the last `kept` bytes, in turn; else NULL */
    size_t kept;
    uint64_t rows;     /* that were written to their end, the header line included */
    bool cut_off;      /* a write failed other than by EPIPE */
    bool read_nothing; /* as far as is known, when the command has ended */
};

/* A command, with argv[0] looked up in PATH, as an output of lines with these ends. It is
 * started by the first write, unless a signal has come. From then on this process ignores SIGPIPE
 * and passes SIGINT, SIGTERM and SIGHUP on (signals_pass_to). */
struct output child_output(struct child *child, const char *const *argv, struct line_ends ends,
                           bool header);

enum child_end {
    CHILD_DONE,    /* it exited with 0, or was not started because nothing was written */
    CHILD_FAILED,  /* the fault says how */
    CHILD_NOT_RUN, /* it could not be started, which the first write has reported */
    CHILD_STOPPED, /* it failed, and a signal told this process to end */
};

/* Closes the command's input and waits for its end; once. *left is 0 except with CHILD_DONE:
 * then it is the number of lines, at the end of those written, that the command has not taken. */
enum child_end child_finish(struct child *child, uint64_t *left, struct fault *fault);

#endif
