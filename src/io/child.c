/* child - see child.h. */
#include "io/child.h"

#include "io/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
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

int child_start(struct child *child, const char *const *argv, struct fault *fault)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fault_errno(fault, argv[0], NULL, errno);
    /* Ignored by our parent, it would take CMD's exit code away before we can ask for it. */
    signal(SIGCHLD, SIG_DFL);
    int error = spawn(&child->pid, ends[0], argv);
    close(ends[0]);
    if (error != 0) {
        child->pid = 0;
        close(ends[1]);
        return fault_errno(fault, argv[0], "cannot be run", error);
    }
    child->fd = ends[1];
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

void child_stop(struct child *child, int signal_number)
{
    if (child->pid > 0)
        kill(child->pid, signal_number);
}

int child_finish(struct child *child, const char *name, struct fault *fault)
{
    int status;
    if (child->pid == 0)
        return 0;
    close(child->fd);
    while (waitpid(child->pid, &status, 0) < 0)
        if (errno != EINTR || signals_pending())
            return fault_errno(fault, name, "cannot be waited for", errno);
    child->pid = 0;
    if (WIFSIGNALED(status))
        return fault_set(fault, name, "was killed by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return fault_set(fault, name, "exited with %d", WEXITSTATUS(status));
    return 0;
}
