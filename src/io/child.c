#include "io/child.h"

#include "core/quote.h"
#include "system/signals.h"
#include "system/whole.h"

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

/* A signal that this process handles is at its default in the child, one that it ignores is
 * ignored: that is what exec does. */
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

/* Of the lines written first: the bytes of those that it starts with. */
static size_t given(const struct child *child, const char *bytes, size_t length)
{
    size_t most = length < CHILD_GIVEN ? length : CHILD_GIVEN;
    const char *last = memrchr(bytes, child->delimiter, most);
    if (last == NULL)
        last = memchr(bytes, child->delimiter, length);
    return last != NULL ? (size_t)(last - bytes) + 1 : length;
}

/* A whole line of words in one is a slip; no program has such a name. */
static void cannot_run(const struct child *child, int error, struct fault *fault)
{
    char quoted[QUOTE_MAX];
    const char *name = child->argv[0];
    fault_errno(fault, name, "cannot be run", error);
    if (error == ENOENT && child->argv[1] == NULL && strpbrk(name, " \t|<>;&") != NULL)
        fault_way_out(fault, "write its words one by one, or have a shell run it: -x sh -c %s",
                      quote_word(name, quoted));
}

/* The lines that it starts with, as far as a pipe surely holds them, are in there before it can
 * end. Returns how many bytes that is, or 0 with the fault. */
static size_t start(struct child *child, const char *bytes, size_t length, struct fault *fault)
{
    int ends[2];
    child->failed = true;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fault_errno(fault, child->argv[0], NULL, errno);
        return 0;
    }
    child->given = given(child, bytes, length);
    size_t first = child->given < CHILD_GIVEN ? child->given : CHILD_GIVEN;
    size_t done = whole_write(ends[1], bytes, first);
    int error = done == first ? 0 : errno;
    /* Ignored by our parent, it would take CMD's exit code away before we can ask for it. */
    signal(SIGCHLD, SIG_DFL);
    if (error == 0)
        error = child->error = spawn(&child->pid, ends[0], child->argv);
    close(ends[0]);
    if (error != 0) {
        child->pid = 0;
        close(ends[1]);
        cannot_run(child, error, fault);
        return 0;
    }
    child->failed = false;
    child->fd = ends[1];
    signal(SIGPIPE, SIG_IGN);
    return done;
}

/* As output_write. */
static size_t write_as_output(void *context, const char *bytes, size_t length, struct fault *fault)
{
    struct child *child = context;
    bool first = child->pid == 0;
    size_t done = first ? start(child, bytes, length, fault) : 0;
    if (child->pid == 0)
        return 0;
    done += whole_write(child->fd, bytes + done, length - done);
    child->written += done;
    if (done == length)
        return done;
    fault_errno(fault, child->argv[0], NULL, errno);
    bool own = first && !child->exact && done < child->given;
    return own && fault->error == EPIPE ? (size_t)child->given : done;
}

struct output child_output(struct child *child, const char *const *argv, char delimiter)
{
    *child = (struct child){.argv = argv, .delimiter = delimiter};
    return (struct output){
        .fd = -1,
        .name = argv[0],
        .delimiter = delimiter,
        .append = write_as_output,
        .context = child,
    };
}

/* An end of the pipe that `fd` is an end of; -1 if it cannot be had. */
static int open_end(int fd, int mode)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, mode | O_NONBLOCK | O_CLOEXEC);
}

/* Whether a descendant of the command still has the pipe: `fd` is its end for reading here, and is
 * opened again. It goes for a moment, so that an end for writing can tell. */
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

/* How many lines the command has not read whole, of those that are not its own in any case. */
static uint64_t count_left(struct child *child, int fd)
{
    char bytes[4096];
    int unread = 0;
    uint64_t lines = 0;
    if (fd < 0 || ioctl(fd, FIONREAD, &unread) != 0 || (uint64_t)unread > child->written)
        return 0;
    uint64_t at = child->written - (uint64_t)unread;
    ssize_t n;
    child->read_nothing = at == 0;
    uint64_t own = child->exact ? 0 : child->given;
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++, at++)
            lines += bytes[i] == child->delimiter && at >= own;
    return lines;
}

/* A signal that ends this process is passed on, and the end of the command not waited for. But if
 * it has ended by then, that counts. */
static int wait_for_end(struct child *child, struct fault *fault)
{
    const char *name = child->argv[0];
    int status, told;
    pid_t ended;
    do {
        told = signals_pending();
        if (told)
            kill(child->pid, told);
        ended = waitpid(child->pid, &status, told ? WNOHANG : 0);
    } while (ended < 0 && errno == EINTR && !told);
    if (ended <= 0)
        return fault_errno(fault, name, "cannot be waited for", ended == 0 ? EINTR : errno);
    child->pid = 0;
    if (WIFSIGNALED(status))
        return fault_set(fault, name, "was killed by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return fault_set(fault, name, "exited with %d", WEXITSTATUS(status));
    return 0;
}

/* Returns 0 if it exited with 0, else -1 with the fault. */
static int end_input(struct child *child, uint64_t *left, struct fault *fault)
{
    int other = open_end(child->fd, O_RDONLY);
    if (!signals_pending())
        close(child->fd);
    int result = wait_for_end(child, fault);
    if (result == 0 && other >= 0 && !has_other_readers(&other))
        *left = count_left(child, other);
    if (other >= 0)
        close(other);
    return result;
}

enum child_end child_finish(struct child *child, uint64_t *left, struct fault *fault)
{
    int result = 0;
    *left = 0;
    if (child->failed)
        return CHILD_NOT_RUN;
    if (child->pid != 0)
        result = end_input(child, left, fault);
    if (result == 0)
        return CHILD_DONE;
    return signals_pending() ? CHILD_STOPPED : CHILD_FAILED;
}
