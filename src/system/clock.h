/*
 * clock - the time, in milliseconds.
 */
#ifndef UNSEEN_SYSTEM_CLOCK_H
#define UNSEEN_SYSTEM_CLOCK_H

#include <stdint.h>

/* Since 1970; 0 before that, or if the system cannot tell. */
uint64_t clock_now(void);

/* Since some moment in the past. It is never set back. */
int64_t clock_monotonic(void);

#endif
