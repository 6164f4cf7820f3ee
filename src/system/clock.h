/* clock - the time, in milliseconds and as a date. */
#ifndef UNSEEN_SYSTEM_CLOCK_H
#define UNSEEN_SYSTEM_CLOCK_H

#include <stdint.h>

/* Milliseconds since 1970; 0 if the clock is set to an earlier time or cannot be read. */
uint64_t clock_now(void);

/* How long the machine has been running, sleep included: milliseconds in the lower
 * CLOCK_UPTIME_BITS, and above them a number of this boot, so that times of two boots are not
 * compared; 0 if it is not known. The first call reads a file, so it comes before confine_end. */
enum { CLOCK_UPTIME_BITS = 44 };
uint64_t clock_uptime(void);

/* Milliseconds since an arbitrary time, by a clock that never goes back. */
int64_t clock_monotonic(void);

/* Formats milliseconds since 1970 as "2026-11-26 15:13:35 UTC". Returns `text`. */
enum { CLOCK_DATE = 48 };
const char *clock_date(uint64_t milliseconds, char text[CLOCK_DATE]);

#endif
