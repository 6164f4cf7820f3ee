/*
 * signals - how the program ends when a signal tells it to.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGPIPE, unless they were ignored from the start, set a flag. Normal
 * code then finishes its batch (written lines are remembered), restores the default and raises the
 * signal again, so that the parent process sees the cause of the end. A system call that waits
 * fails with EINTR; if the signal came just before the call, SIGALRM interrupts it a second later.
 *
 * SIGTSTP (Ctrl-Z) stops the process, but never while it holds a lock that others may wait for.
 * SIGXFSZ becomes the error EFBIG.
 */
#ifndef UNSEEN_SYSTEM_SIGNALS_H
#define UNSEEN_SYSTEM_SIGNALS_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/types.h>

void signals_start(void);

/* Between these two calls, which may be nested, SIGTSTP is deferred. */
void signals_hold_stop(void);
void signals_release_stop(void);
bool signals_stop_arrived(void);

/* Requests a SIGALRM after `seconds` and every second from then on, which interrupts system
 * calls and does nothing else. 0: no more. */
void signals_alarm(unsigned seconds);

/* Sets the time of an open file to now, within a second: in the handler of SIGALRM, so that it also
 * happens while the process waits for input, and costs a system call per second, not per change. To
 * be called after a change through a map, which the system does not time (filter/internal.h), for
 * one file at a time. Before signals_start, only signals_touch_now sets it. Errors are ignored. */
void signals_touch(int fd);
/* Sets the time now, if that is still to be done: before the file is closed. */
void signals_touch_now(void);

/* The first signal that told the process to end, or 0. */
int signals_arrived(void);

/* From now on these signals are passed on to a child process, each of them once, and not if the
 * child has it already: not if the terminal sent it to both, and only after a second (ten if
 * systemd sent it) if the child has a handler for it. So is the pending one, at once. 0: no more,
 * to be called before the child is reaped. */
void signals_pass_to(pid_t pid);

/* Whether a signal will be passed on within seconds; SIGALRM comes then. */
bool signals_due(void);

/* Ends the process by the pending signal, if there is one; where the system ignores that signal
 * (for process 1 of a container), by an exit status of 128 and its number. */
void signals_raise(void);

/* From now on, no signal, pending or new, ends the process: its work is done, and its exit status
 * must say so. */
void signals_forget(void);

/* open(2) and read(2), which fail with EINTR if a signal told the process to end. */
int signals_open(const char *path, int flags, mode_t mode);
ssize_t signals_read(int fd, void *buffer, size_t length);

/* Waits until poll(2) reports one of `events` for `fd` (-1: for no descriptor), for at most
 * `milliseconds`, or without limit if negative. Returns 1 if it did or a signal told the process to
 * end, 0 if time ran out or another signal came, -1 with errno. */
int signals_wait(int fd, short events, int milliseconds);

/* Starts a thread, which must be joined. The first thread gets all signals, because it knows what
 * is in flight, except for SIGBUS, which goes to the thread whose map failed, and SIGURG, which
 * wakes the new thread. Returns whether the thread was started. */
bool signals_start_thread(pthread_t *thread, void *(*work)(void *), void *context);

/* Waits for the end of a thread that was told to end. Any system call that blocks it fails with
 * EINTR, as often as needed: a read can block even after poll(2), if another process reads the same
 * input. */
void signals_end_thread(pthread_t thread);

/* Waits for another thread, for at most `milliseconds`, or without limit if negative. Returns
 * 1; 0 if time ran out, by a clock that may be changed meanwhile; -1 if a signal told the process
 * to end. */
int signals_wait_semaphore(sem_t *semaphore, int milliseconds);

#endif
