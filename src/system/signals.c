#include "system/signals.h"

#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t pending;
static volatile sig_atomic_t stop_held;
static volatile sig_atomic_t stop_pending;
static volatile sig_atomic_t receiver; /* the child that signals are passed on to; 0: none */
static volatile sig_atomic_t passed;   /* signals passed on: a bit for each number */
static volatile sig_atomic_t due; /* a bit for each signal to be passed on in `patience` seconds */
static volatile sig_atomic_t patience;
static volatile sig_atomic_t repeats;      /* SIGALRM is wanted every second */
static volatile sig_atomic_t touched = -1; /* the file whose time is to be set, or -1 */
static bool alarms;                        /* SIGALRM has its handler */

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { ENDS = sizeof ends / sizeof *ends };

/* --- handlers --- */

static void pass_on(int signal_number)
{
    int bit = 1 << signal_number;
    if (receiver != 0 && (passed & bit) == 0) {
        passed |= bit;
        (void)kill(receiver, signal_number);
    }
}

/* Reads /proc/PID/name, of at most 8 bytes, as a string, empty if that is not possible. Makes the
 * path by hand, because a signal handler must not call snprintf. */
static void read_process(pid_t pid, const char *name, char *text, size_t size)
{
    char path[40], *at = path + sizeof path - 10;
    strcpy(at, "/");
    strcat(at, name);
    do
        *--at = (char)('0' + pid % 10);
    while ((pid /= 10) > 0);
    at -= strlen("/proc/");
    memcpy(at, "/proc/", strlen("/proc/"));
    io_read_text(at, text, size);
}

/* A signal that tells the process to end. It is passed on to the receiver, unless that has it
 * already: programs that handle a signal often abort when it comes a second time. */
static void on_end(int signal_number, const siginfo_t *info)
{
    int bit = 1 << signal_number;
    if (!pending)
        pending = signal_number;
    /* The terminal sends it to the whole foreground group, but a hangup only to the leader of the
     * session. */
    bool of_group = info->si_code == SI_KERNEL && getpgid(receiver) == getpgrp() &&
                    (signal_number != SIGHUP || getsid(0) != getpid());
    if (receiver != 0 && !of_group) {
        /* Nothing shows whether another process sent it to a group or to this process alone. A
         * receiver without a handler is not harmed by a second signal; one with a handler has a
         * second to end, ten if systemd sent it, which usually signals a service. */
        char text[4096], sender[16];
        read_process(receiver, "status", text, sizeof text);
        const char *caught = strstr(text, "SigCgt:\t");
        if (caught == NULL || (strtoull(caught + 8, NULL, 16) >> (signal_number - 1) & 1) == 0) {
            pass_on(signal_number);
        } else if ((due & bit) == 0) {
            read_process(info->si_pid, "comm", sender, sizeof sender);
            due |= bit;
            patience = strcmp(sender, "systemd\n") == 0 ? 10 : 1;
        }
    }
    /* If the flag was set just before a system call that blocks, SIGALRM interrupts it. */
    alarm(1);
}

static void on_signal(int signal_number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)context;
    switch (signal_number) {
    case SIGURG:  /* the interrupted system call fails with EINTR, */
    case SIGXFSZ: /* or with EFBIG at a limit on file size */
        break;
    case SIGTSTP:
        if (stop_held)
            stop_pending = 1;
        else
            raise(SIGSTOP);
        break;
    case SIGALRM:
        signals_touch_now();
        /* Repeated, because a system call may begin just after this signal, too. */
        if (repeats || pending)
            alarm(1);
        if (due != 0 && --patience <= 0) {
            for (size_t i = 0; i < ENDS; i++)
                if ((due & 1 << ends[i]) != 0)
                    pass_on(ends[i]);
            due = 0;
        }
        break;
    default:
        on_end(signal_number, info);
    }
    errno = error;
}

void signals_start(void)
{
    static const int others[] = {SIGTSTP, SIGXFSZ, SIGALRM, SIGURG};
    enum { OTHERS = sizeof others / sizeof *others };
    /* Without SA_RESTART, so that blocked system calls return. */
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, before;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < ENDS + OTHERS; i++) {
        int number = i < ENDS ? ends[i] : others[i - ENDS];
        bool stays_ignored = i < ENDS || number == SIGTSTP;
        if (!stays_ignored ||
            (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN))
            sigaction(number, &action, NULL);
    }
    alarms = true;
}

/* --- the end of the process --- */

int signals_arrived(void)
{
    return pending;
}

void signals_pass_to(pid_t pid)
{
    receiver = pid;
    if (pid == 0)
        due = 0;
    if (pending)
        pass_on(pending);
}

bool signals_due(void)
{
    return due != 0;
}

void signals_raise(void)
{
    if (pending) {
        signal(pending, SIG_DFL);
        raise(pending);
        /* Process 1 of a container survives it: the exit status that a shell would show says it. */
        _exit(128 + pending);
    }
}

void signals_forget(void)
{
    for (size_t i = 0; i < ENDS; i++)
        signal(ends[i], SIG_IGN);
    pending = 0;
}

/* --- stops and alarms --- */

void signals_hold_stop(void)
{
    stop_held++;
}

void signals_release_stop(void)
{
    if (--stop_held == 0 && stop_pending) {
        stop_pending = 0;
        raise(SIGTSTP);
    }
}

bool signals_stop_arrived(void)
{
    return stop_pending;
}

void signals_alarm(unsigned seconds)
{
    signals_touch_now(); /* this replaces its alarm */
    repeats = seconds > 0;
    alarm(seconds);
    /* If the process was told to end, by now, too, SIGALRM must come within a second. */
    if (pending)
        alarm(1);
}

void signals_touch(int fd)
{
    if (touched == fd)
        return;
    signals_touch_now();
    touched = fd;
    if (alarms && !pending)
        alarm(1);
}

void signals_touch_now(void)
{
    int fd = touched;
    touched = -1;
    if (fd >= 0)
        (void)!futimens(fd, NULL);
}

/* --- calls that wait --- */

int signals_open(const char *path, int flags, mode_t mode)
{
    int fd;
    /* Ctrl-Z interrupts open, too. */
    do
        fd = open(path, flags, mode);
    while (fd < 0 && errno == EINTR && !pending);
    return fd;
}

/* A read that never blocks is never interrupted, so without this test a signal would have no effect
 * before the end of a file. */
ssize_t signals_read(int fd, void *buffer, size_t length)
{
    if (pending) {
        errno = EINTR;
        return -1;
    }
    return read(fd, buffer, length);
}

int signals_wait(int fd, short events, int milliseconds)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    int n = poll(&poll_fd, 1, milliseconds);
    return n < 0 && errno == EINTR ? pending != 0 : n;
}

/* --- threads --- */

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

/* The time in `milliseconds`, by the clock of sem_timedwait and pthread_timedjoin_np. */
static struct timespec time_after(int milliseconds)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

void signals_end_thread(pthread_t thread)
{
    enum { RETRY_MILLISECONDS = 10 };
    struct timespec until;
    do {
        (void)pthread_kill(thread, SIGURG);
        until = time_after(RETRY_MILLISECONDS);
    } while (pthread_timedjoin_np(thread, NULL, &until) != 0);
}

int signals_wait_semaphore(sem_t *semaphore, int milliseconds)
{
    if (pending)
        return -1;
    if (sem_trywait(semaphore) == 0)
        return 1;
    struct timespec until = time_after(milliseconds);
    int result;
    do
        result = milliseconds < 0 ? sem_wait(semaphore) : sem_timedwait(semaphore, &until);
    while (result != 0 && errno == EINTR && !pending);
    return result == 0 ? 1 : errno == ETIMEDOUT ? 0 : -1;
}
