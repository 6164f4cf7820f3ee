/*
 * moment - something that is left to do may wait for a moment, while more input is likely to come.
 *
 * When the moment is over, a wait for input is broken off. A time limit for poll(2) would do that,
 * too, but costs as much as is saved: one more system call, and a timer set for each line. Here one
 * timer ticks while lines come, and stops by itself, so that nothing wakes an idle program.
 *
 * For the first thread alone.
 */
#ifndef UNSEEN_SYSTEM_MOMENT_H
#define UNSEEN_SYSTEM_MOMENT_H

#include <stdbool.h>

/* Something is left to do, and the caller waits for input next: until moment_interrupt or
 * moment_end no signal ends or stops the process in that wait. A moment that has begun already goes
 * on. Returns false if no timer can be had: then nothing has begun. */
bool moment_begin(void);

/* Input has come: the moment goes on, but signals act as ever. */
void moment_interrupt(void);

/* It is done. */
void moment_end(void);

/* Whether it is to be done now: a millisecond has passed since the moment began, or a signal is to
 * end or to stop the process. A wait for input (signals_read) fails with EINTR then, at most two
 * milliseconds after the moment began. */
bool moment_is_over(void);

#endif
