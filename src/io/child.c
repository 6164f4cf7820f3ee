#include "io/child.h"

#include "system/io.h"
#include "system/signals.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* exec resets signals that this process handles to their default, and leaves ignored ones
 * ignored. */
static int spawn(pid_t *pid, int input, const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (error == 0)
        error = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The offset after the line that begins at `from`. */
static size_t line_end(const struct child *child, const char *bytes, size_t from, size_t length)
{
    const char *end = memchr(bytes + from, child->delimiter, length - from);
    return end != NULL ? (size_t)(end - bytes) + 1 : length;
}

/* Sets what the command is started with, from the first write. */
static void measure(struct child *child, const char *bytes, size_t length)
{
    size_t most = length < CHILD_GIVEN ? length : CHILD_GIVEN;
    const char *last = memrchr(bytes, child->delimiter, most);
    child->header_line = child->header ? line_end(child, bytes, 0, length) : 0;
    child->given = line_end(child, bytes, child->header_line, length);
    if (last != NULL && (size_t)(last - bytes) >= child->given)
        child->given = (size_t)(last - bytes) + 1;
}

/* A name with blanks or operators is a command line that was quoted by mistake. */
static int cannot_run(const struct child *child, struct fault *fault)
{
    char quoted[QUOTE_MAX];
    const char *name = child->argv[0];
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

static int start(struct child *child, const char *bytes, size_t length, struct fault *fault)
{
    int ends[2];
    if (signals_arrived())
        return fault_errno(fault, child->argv[0], NULL, EINTR);
    measure(child, bytes, length);
    child->failed = true;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fault_errno(fault, child->argv[0], NULL, errno);
    /* If the parent had ignored it, the exit status of CMD would be lost. */
    signal(SIGCHLD, SIG_DFL);
    child->error = spawn(&child->pid, ends[0], child->argv);
    close(ends[0]);
    if (child->error != 0) {
        child->pid = 0;
        close(ends[1]);
        return cannot_run(child, fault);
    }
    child->failed = false;
    child->fd = ends[1];
    signal(SIGPIPE, SIG_IGN);
    signals_pass_to(child->pid);
    return 0;
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
    if (first && start(child, bytes, length, fault) != 0)
        return 0;
    size_t done = io_write(child->fd, bytes, length, false);
    child->written += done;
    if (done == length)
        return done;
    fault_errno(fault, child->argv[0], NULL, errno);
    child->cut_off = fault->error != EPIPE;
    bool took_given = first && fault->error == EPIPE && count_read(child, child->fd) == 0;
    return took_given && done < child->given ? child->given : done;
}

struct output child_output(struct child *child, const char *const *argv, char delimiter,
                           bool header)
{
    *child = (struct child){.argv = argv, .delimiter = delimiter, .header = header};
    return (struct output){
        .fd = -1,
        .name = argv[0],
        .delimiter = delimiter,
        .append = write_as_output,
        .context = child,
    };
}

/* Opens an end of the pipe that `fd` is an end of. Returns -1 if that is not possible. */
static int open_end(int fd, int mode)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, mode | O_NONBLOCK | O_CLOEXEC);
}

/* Whether a descendant of the command still has the pipe open. `fd` is our read end; it is closed
 * for a moment, so that poll on a write end shows whether there is another, and reopened. */
static bool has_other_readers(int *fd)
{
    struct pollfd end = {.fd = open_end(*fd, O_WRONLY)};
    if (end.fd < 0)
        return true;
    close(*fd);
    bool has = poll(&end, 1, 0) < 0 || (end.revents & POLLERR) == 0;
    *fd = open_end(end.fd, O_RDONLY);
    close(end.fd);
    return has;
}

/* How many lines the command has not taken; `end` is the read end of the pipe. */
static uint64_t count_left(struct child *child, int end)
{
    char bytes[4096];
    uint64_t lines = 0, at = count_read(child, end), taken = at;
    ssize_t n;
    child->read_nothing = at == 0 && !child->cut_off;
    if (child->read_nothing)
        taken = child->given;
    else if (at < child->header_line)
        taken = child->header_line;
    while ((n = read(end, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++, at++)
            lines += bytes[i] == child->delimiter && at >= taken;
    return lines;
}

/* Waits for the command, however long it takes. It is reaped only after signals are no longer
 * passed on, because then its number may belong to another process. Returns 0 if it exited with 0,
 * else -1 with the fault. */
static int wait_for_end(struct child *child, struct fault *fault)
{
    const char *name = child->argv[0];
    siginfo_t end;
    int result;
    do
        result = waitid(P_PID, (id_t)child->pid, &end, WEXITED | WNOWAIT);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        return fault_errno(fault, name, "cannot be waited for", errno);
    signals_pass_to(0);
    (void)waitpid(child->pid, NULL, 0);
    child->pid = 0;
    if (end.si_code != CLD_EXITED)
        return fault_set(fault, name, "was killed by signal %d, %s", end.si_status,
                         strsignal(end.si_status));
    return end.si_status == 0 ? 0 : fault_set(fault, name, "exited with %d", end.si_status);
}

static int end_input(struct child *child, uint64_t *left, struct fault *fault)
{
    siginfo_t ended;
    int end = open_end(child->fd, O_RDONLY);
    /* A command that will get a signal must not take the end of its input for that of all lines. */
    while (signals_due() && waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT) != 0)
        continue;
    close(child->fd);
    int result = wait_for_end(child, fault);
    if (result == 0 && end >= 0 && !has_other_readers(&end))
        *left = count_left(child, end);
    if (end >= 0)
        close(end);
    return result;
}

enum child_end child_finish(struct child *child, uint64_t *left, struct fault *fault)
{
    *left = 0;
    if (child->failed)
        return CHILD_NOT_RUN;
    if (child->pid == 0 || end_input(child, left, fault) == 0)
        return CHILD_DONE;
    return signals_arrived() ? CHILD_STOPPED : CHILD_FAILED;
}
