#include "io/child.h"

#include "core/bytes.h"
#include "system/io.h"
#include "system/signals.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The ends of rows are kept for as many bytes as the pipe holds, or as a command without rights can
 * make it hold (by default; proc(5), pipe-max-size). */
enum { KEPT_LEAST = 1 << 20, WORD_BITS = 64 };

/* Makes room for the ends of rows. Returns 0 or -1. */
static int make_row_ends(struct child *child, int pipe_end)
{
    int size = fcntl(pipe_end, F_GETPIPE_SZ);
    child->kept = size > KEPT_LEAST ? (size_t)size : KEPT_LEAST;
    child->row_ends = calloc(child->kept / WORD_BITS + 2, sizeof *child->row_ends);
    return child->row_ends != NULL ? 0 : -1;
}

/* The word with the bit of a byte, and the bit. */
static uint64_t *row_end_word(const struct child *child, uint64_t byte)
{
    return &child->row_ends[byte / WORD_BITS % (child->kept / WORD_BITS + 2)];
}

static uint64_t row_end_bit(uint64_t byte)
{
    return UINT64_C(1) << byte % WORD_BITS;
}

/* The first byte written of which it is known whether a row ends with it. */
static uint64_t first_kept(const struct child *child)
{
    return child->written > child->kept ? child->written - child->kept : 0;
}

/* Keeps the ends of rows in the last `done` bytes written, which are the first ones of these whole
 * rows. */
static void keep_row_ends(struct child *child, const char *bytes, size_t length, size_t done)
{
    enum { SOME = 256 };
    size_t starts[SOME + 1] = {0}, n = SOME;
    uint8_t kinds[SOME];
    struct rows rows;
    const uint64_t from = child->written - done, first = first_kept(child);
    for (uint64_t byte = (from + WORD_BITS - 1) / WORD_BITS * WORD_BITS; byte < child->written;
         byte += WORD_BITS)
        *row_end_word(child, byte) = 0;
    rows_begin(&rows, child->ends, false);
    while (n == SOME) {
        n = rows_find(&rows, bytes, length, starts, kinds, SOME);
        for (size_t i = 1; i <= n && starts[i] <= done; i++) {
            uint64_t last = from + starts[i] - 1;
            if (last >= first)
                *row_end_word(child, last) |= row_end_bit(last);
            child->rows++;
        }
        starts[0] = starts[n];
    }
}

/* Starts the command, whose first write will be these bytes. Returns 0, or -1 with the fault. */
static int start_command(struct child *child, const char *bytes, size_t length, struct fault *fault)
{
    const char *name = child->argv[0];
    int ends[2];
    if (signals_arrived())
        return fault_errno(fault, name, NULL, EINTR);
    /* 1. What it is started with: the header line, and the lines that fit into CHILD_GIVEN bytes
     * with it, but at least one. */
    size_t header = child->header ? rows_first(child->ends, bytes, length) : 0;
    size_t most = header < CHILD_GIVEN ? CHILD_GIVEN - header : 0;
    size_t lines = rows_fitting(child->ends, bytes + header, length - header, most);
    child->header_line = header;
    child->given = lines > 0 ? header + lines : length;

    /* 2. Start it. exec resets signals that this process handles to their default, and leaves
     * ignored ones ignored; if SIGCHLD were ignored, the exit status of CMD would be lost. */
    child->failed = true;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fault_errno(fault, name, NULL, errno);
    if (child->ends.rows && make_row_ends(child, ends[1]) != 0) {
        close(ends[0]);
        close(ends[1]);
        return fault_errno(fault, name, NULL, ENOMEM);
    }
    signal(SIGCHLD, SIG_DFL);
    posix_spawn_file_actions_t actions;
    child->error = posix_spawn_file_actions_init(&actions);
    if (child->error == 0) {
        child->error = posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
        if (child->error == 0)
            child->error = posix_spawnp(&child->pid, name, &actions, NULL,
                                        (char *const *)child->argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[0]);
    if (child->error == 0) {
        child->failed = false;
        child->fd = ends[1];
        signal(SIGPIPE, SIG_IGN);
        signals_pass_to(child->pid);
        return 0;
    }

    /* It could not be run. A name with blanks or operators is a command line that was quoted by
     * mistake. */
    char quoted[QUOTE_MAX];
    child->pid = 0;
    close(ends[1]);
    if (child->error == ENOENT && strchr(name, '/') == NULL)
        fault_set(fault, name, "command not found");
    else
        fault_errno(fault, name, "cannot be run", child->error);
    if (child->error == ENOENT && child->argv[1] == NULL && strpbrk(name, " \t|<>;&") != NULL)
        fault_way_out(fault,
                      "give its words as separate arguments, or have a shell run it: -x sh -c %s",
                      quote_word(name, quoted));
    return -1;
}

/* How many bytes the command has read; `end` is either end of the pipe. All, if that is unknown. */
static uint64_t count_read(const struct child *child, int end)
{
    int unread;
    if (ioctl(end, FIONREAD, &unread) != 0 || (uint64_t)unread > child->written)
        return child->written;
    return child->written - (uint64_t)unread;
}

static size_t write_as_output(void *context, const char *bytes, size_t length, struct fault *fault)
{
    struct child *child = context;
    bool first = child->pid == 0;
    if (first && start_command(child, bytes, length, fault) != 0)
        return 0;
    size_t done = io_write(child->fd, bytes, length, false);
    child->written += done;
    if (child->ends.rows)
        keep_row_ends(child, bytes, length, done);
    if (done == length)
        return done;
    fault_errno(fault, child->argv[0], NULL, errno);
    child->cut_off = fault->error != EPIPE;
    bool took_given = first && fault->error == EPIPE && count_read(child, child->fd) == 0;
    return took_given && done < child->given ? child->given : done;
}

struct output child_output(struct child *child, const char *const *argv, struct line_ends ends,
                           bool header)
{
    *child = (struct child){.argv = argv, .ends = ends, .header = header};
    return (struct output){
        .fd = -1,
        .name = argv[0],
        .ends = ends,
        .append = write_as_output,
        .context = child,
    };
}

/* Opens an end of the pipe that `fd` is an end of. Returns -1 if that is not possible. */
static int open_pipe_end(int fd, int mode)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, mode | O_NONBLOCK | O_CLOEXEC);
}

/* After the command has ended: how many lines it has not taken; 0 if that cannot be known. Closes
 * `end`, the read end of the pipe, or -1. */
static uint64_t count_unread(struct child *child, int end)
{
    if (end < 0)
        return 0;
    /* 1. If a descendant of the command still has the pipe open, nothing is known. The read end is
     * closed for a moment, so that poll on a write end shows whether there is another. */
    struct pollfd writer = {.fd = open_pipe_end(end, O_WRONLY)};
    close(end);
    if (writer.fd < 0)
        return 0;
    bool has_other_readers = poll(&writer, 1, 0) < 0 || (writer.revents & POLLERR) == 0;
    end = has_other_readers ? -1 : open_pipe_end(writer.fd, O_RDONLY);
    close(writer.fd);
    if (has_other_readers)
        return 0;

    /* 2. What is in the pipe was not read; without a read end, nothing is. Lines that it was
     * started with, and the header line, are not left even then. */
    char bytes[4096];
    uint64_t lines = 0, at = count_read(child, end), taken = at;
    child->read_nothing = at == 0 && !child->cut_off;
    if (child->read_nothing)
        taken = child->given;
    else if (at < child->header_line)
        taken = child->header_line;
    for (ssize_t n; !child->ends.rows && (n = read(end, bytes, sizeof bytes)) > 0;
         at += (uint64_t)n) {
        size_t skip = taken <= at ? 0 : taken - at < (uint64_t)n ? (size_t)(taken - at) : (size_t)n;
        lines += lines_in(bytes + skip, (size_t)n - skip, child->ends.delimiter);
    }
    if (end >= 0)
        close(end);
    if (child->ends.rows && taken < first_kept(child))
        return child->rows - child->header;
    for (; child->ends.rows && taken < child->written; taken++)
        lines += (*row_end_word(child, taken) & row_end_bit(taken)) != 0;
    return lines;
}

enum child_end child_finish(struct child *child, uint64_t *left, struct fault *fault)
{
    const char *name = child->argv[0];
    siginfo_t end;
    int waited;
    *left = 0;
    if (child->failed)
        return CHILD_NOT_RUN;
    if (child->pid == 0)
        return CHILD_DONE;
    /* 1. End its input. A command that will get a signal must not take that for the end of all
     * lines. */
    int pipe_end = open_pipe_end(child->fd, O_RDONLY);
    while (signals_due() && waitid(P_PID, (id_t)child->pid, &end, WEXITED | WNOWAIT) != 0)
        continue;
    close(child->fd);
    /* 2. Wait, however long it takes. It is reaped only after signals are no longer passed on,
     * because then its number may belong to another process. */
    do
        waited = waitid(P_PID, (id_t)child->pid, &end, WEXITED | WNOWAIT);
    while (waited != 0 && errno == EINTR);
    if (waited != 0) {
        fault_errno(fault, name, "cannot be waited for", errno);
    } else {
        signals_pass_to(0);
        (void)waitpid(child->pid, NULL, 0);
        child->pid = 0;
        if (end.si_code == CLD_EXITED && end.si_status == 0) {
            *left = count_unread(child, pipe_end);
            free(child->row_ends);
            return CHILD_DONE;
        }
        if (end.si_code == CLD_EXITED)
            fault_set(fault, name, "exited with %d", end.si_status);
        else
            fault_set(fault, name, "was killed by signal %d, %s", end.si_status,
                      strsignal(end.si_status));
    }
    if (pipe_end >= 0)
        close(pipe_end);
    free(child->row_ends);
    return signals_arrived() ? CHILD_STOPPED : CHILD_FAILED;
}
