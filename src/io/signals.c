/* signals - see signals.h. */
#include "io/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t pending;
static volatile sig_atomic_t idle;
static volatile sig_atomic_t stop_held;
static volatile sig_atomic_t stop_pending;
static int careful;

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { ENDS = sizeof ends / sizeof *ends };

static void on_end(int signal_number)
{
    if (idle) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* comes when the handler returns */
        return;
    }
    pending = signal_number;
    /* The flag may have been set just before a system call that blocks: wake it again. */
    alarm(1);
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
    if (pending)
        alarm(1);
}

static void on_stop(int signal_number)
{
    (void)signal_number;
    if (stop_held)
        stop_pending = 1;
    else
        raise(SIGSTOP);
}

static void on_file_limit(int signal_number)
{
    (void)signal_number; /* the system call fails with EFBIG */
}

void signals_hold_stop(void)
{
    stop_held++;
}

void signals_release_stop(void)
{
    if (--stop_held > 0)
        return;
    if (stop_pending) {
        stop_pending = 0;
        raise(SIGSTOP);
    }
}

void signals_alarm(unsigned seconds)
{
    /* A pending end keeps knocking. */
    alarm(pending && (seconds == 0 || seconds > 1) ? 1 : seconds);
}

static void install(int signal_number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL); /* no SA_RESTART: blocked calls return */
}

static void install_unless_ignored(int signal_number, void (*handler)(int))
{
    struct sigaction before;
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        install(signal_number, handler);
}

void signals_start(void)
{
    for (size_t i = 0; i < ENDS; i++)
        install_unless_ignored(ends[i], on_end);
    install_unless_ignored(SIGTSTP, on_stop);
    install(SIGXFSZ, on_file_limit);
    install(SIGALRM, on_alarm);
}

int signals_pending(void)
{
    return pending;
}

void signals_raise(void)
{
    int signal_number = pending;
    if (signal_number == 0)
        return;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void signals_be_careful(void)
{
    careful = 1;
}

/* From here to idle_end a signal ends the process; one that came before does so now. */
static void idle_begin(void)
{
    if (careful)
        return;
    idle = 1;
    signals_raise();
}

static void idle_end(void)
{
    idle = 0;
}

ssize_t signals_read(int fd, void *buffer, size_t length)
{
    idle_begin();
    ssize_t n = read(fd, buffer, length);
    idle_end();
    return n;
}

static int wait_for(int fd, short events, int milliseconds)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    int n = poll(&poll_fd, 1, milliseconds);
    return n < 0 && errno == EINTR ? 1 : n;
}

int signals_wait_readable(int fd, int milliseconds)
{
    idle_begin();
    int result = wait_for(fd, POLLIN, milliseconds);
    idle_end();
    return result;
}

bool signals_start_thread(pthread_t *thread, void *(*work)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread, NULL, work, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int signals_wait_semaphore(sem_t *semaphore)
{
    if (sem_trywait(semaphore) == 0)
        return 0;
    idle_begin();
    int result = sem_wait(semaphore);
    while (result != 0 && !pending)
        result = sem_wait(semaphore);
    idle_end();
    return result;
}

int signals_wait_writable(int fd)
{
    return wait_for(fd, POLLOUT, -1) < 0 ? -1 : 0;
}
