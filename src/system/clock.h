/*
 * clock - the time, in milliseconds; and as a date.
 */
#ifndef UNSEEN_SYSTEM_CLOCK_H
#define UNSEEN_SYSTEM_CLOCK_H

#include <stdint.h>

/* Since 1970; 0 before that, or if the system cannot tell. */
uint64_t clock_now(void);

/* Since some moment in the past. It is never set back. */
int64_t clock_monotonic(void);

/* A time since 1970 as "2026-11-26 15:13:35 UTC". Returns `text`. */
enum { CLOCK_DATE = 48 };
const char *clock_date(uint64_t milliseconds, char text[CLOCK_DATE]);

#endif
