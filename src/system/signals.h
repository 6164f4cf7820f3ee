/*
 * signals - how the program ends when it is told to.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGPIPE, unless ignored from the start, set a flag. Normal code
 * finishes the batch at hand (what was written is remembered), restores the default and raises the
 * signal again, so that the caller sees how it ended. A system call that waits fails with EINTR;
 * if the signal comes just before the call, SIGALRM knocks a second later.
 *
 * SIGTSTP (Ctrl-Z) stops the process, but never while it holds a lock that others wait for.
 * SIGXFSZ becomes the error EFBIG.
 */
#ifndef UNSEEN_SYSTEM_SIGNALS_H
#define UNSEEN_SYSTEM_SIGNALS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/types.h>

void signals_start(void);

/* Between these two, SIGTSTP waits. */
void signals_hold_stop(void);
void signals_release_stop(void);

/* Whether it waits. */
bool signals_stop_pending(void);

/* SIGALRM in so many seconds, and then every second, which interrupts a system call and does
 * nothing else; 0: no more. */
void signals_alarm(unsigned seconds);

/* The signal that has come, the first one; or 0. */
int signals_pending(void);

/* From now on a child process gets them, too, at once, but each only the first time; also the one
 * that is pending. 0: no more; call this before the child is reaped. */
void signals_pass_to(pid_t pid);

/* Ends the process by the pending signal, if there is one. */
void signals_raise(void);

/* All is done, and the exit status is to say so: no signal that came, or comes, ends it. */
void signals_forget(void);

/* open(2), read(2) and poll(2), which may wait for others, and during which a signal ends the
 * process. */
int signals_open(const char *path, int flags, mode_t mode);
ssize_t signals_read(int fd, void *buffer, size_t length);

/* Waits at most so many milliseconds, or as long as it takes if negative. Returns 1 if there is
 * something to read or a signal wants the process to end, 0 if time ran out or another signal came,
 * -1 with errno. */
int signals_wait_readable(int fd, int milliseconds);

/* Starts a thread, whose end must be waited for with pthread_join. The first thread
 * gets the signals, since it knows what is in flight; except SIGBUS, which goes to the thread whose
 * map failed, and SIGURG, which wakes this one. Returns whether there is one. */
bool signals_start_thread(pthread_t *thread, void *(*work)(void *), void *context);

/* Waits for the end of a thread that was told to end. A system call in which it is blocked fails
 * with EINTR, however often it is blocked again: that something can be read, says poll(2), is no
 * promise where another process reads, too. */
void signals_end_thread(pthread_t thread);

/* Waits for another thread, as for input: at most so many milliseconds, or as long as it takes if
 * negative. Returns 1; 0 if time ran out, by a clock that may be set to another time meanwhile; -1
 * if a signal wants the process to end. */
int signals_wait_semaphore(sem_t *semaphore, int milliseconds);

/* Waits until a descriptor can be written, or a signal comes. */
int signals_wait_writable(int fd);

#endif
