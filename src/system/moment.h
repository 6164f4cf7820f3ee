/*
 * moment - something is left to do, and has time until no input comes for a moment.
 *
 * Then a wait for input is broken off. A time limit for poll(2) would do that, too, but it costs as
 * much as what is saved by waiting: one more system call, and a timer set for each line. Here one
 * timer ticks while lines come, and stops by itself, so that nothing wakes a program that waits.
 *
 * For the first thread alone.
 */
#ifndef UNSEEN_SYSTEM_MOMENT_H
#define UNSEEN_SYSTEM_MOMENT_H

#include <stdbool.h>

/* Something is left to do, and input is waited for: until moment_interrupt or moment_end, no signal
 * ends or stops the process. Goes on with a moment that has begun. Returns false if there is no
 * timer to be had: then nothing has begun. */
bool moment_begin(void);

/* It is still left to do, but there is more to do than to wait. */
void moment_interrupt(void);

/* It is done. */
void moment_end(void);

/* Whether it is to be done now: a millisecond has passed, or a signal is to end or to stop the
 * process. If the process waits for input (signals_read), that fails with EINTR, at most two
 * milliseconds after moment_begin. */
bool moment_is_over(void);

#endif
