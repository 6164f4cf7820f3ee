#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t pending;
static volatile sig_atomic_t idle;
static volatile sig_atomic_t stop_held;
static volatile sig_atomic_t stop_pending;
static bool careful;

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

/* The system call that it comes to fails: with EINTR, or at a limit on file size with EFBIG. */
static void ignore(int signal_number)
{
    (void)signal_number;
}

void signals_hold_stop(void)
{
    stop_held++;
}

void signals_release_stop(void)
{
    if (--stop_held == 0 && stop_pending) {
        stop_pending = 0;
        raise(SIGSTOP);
    }
}

bool signals_stop_pending(void)
{
    return stop_pending;
}

void signals_alarm(unsigned seconds)
{
    /* A pending end keeps knocking. */
    alarm(pending && (seconds == 0 || seconds > 1) ? 1 : seconds);
}

static void install(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
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
    install(SIGXFSZ, ignore);
    install(SIGALRM, on_alarm);
    install(SIGURG, ignore);
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
    careful = true;
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

int signals_open(const char *path, int flags, mode_t mode)
{
    int fd;
    idle_begin();
    /* Ctrl-Z interrupts it, too. */
    do
        fd = open(path, flags, mode);
    while (fd < 0 && errno == EINTR && !pending);
    idle_end();
    return fd;
}

/* What never blocks is never interrupted: a signal would wait for the end of a file. */
static bool is_to_end(void)
{
    if (pending)
        errno = EINTR;
    return pending;
}

ssize_t signals_read(int fd, void *buffer, size_t length)
{
    idle_begin();
    if (is_to_end())
        return -1;
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
    sigdelset(&all, SIGURG);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread, NULL, work, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void signals_end_thread(pthread_t thread)
{
    enum { KNOCK_NANOSECONDS = 10000000 };
    struct timespec until;
    do {
        (void)pthread_kill(thread, SIGURG);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += KNOCK_NANOSECONDS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
    } while (pthread_timedjoin_np(thread, NULL, &until) != 0);
}

int signals_wait_semaphore(sem_t *semaphore)
{
    if (!pending && sem_trywait(semaphore) == 0)
        return 0;
    idle_begin();
    if (is_to_end())
        return -1;
    int result;
    do
        result = sem_wait(semaphore);
    while (result != 0 && !pending);
    idle_end();
    return result;
}

int signals_wait_writable(int fd)
{
    return wait_for(fd, POLLOUT, -1) < 0 ? -1 : 0;
}
