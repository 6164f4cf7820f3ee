/*
 * machine - what a program asks of its surroundings: memory, the time, random numbers, and the
 * terminal, with a line on standard error that is redrawn in place.
 */
#ifndef UNSEEN_SYSTEM_MACHINE_H
#define UNSEEN_SYSTEM_MACHINE_H

#include "system/fault.h"

#include <stdbool.h>
#include <stdint.h>

/* The bytes of memory that this process may use: the machine's, or if that is less, the limit of
 * its control group or of one around that. 0 if unknown. The first call takes 20 us, and must come
 * before the process is confined. */
uint64_t machine_memory(void);

/* What this thread had of the disk so far. 0.4 us. */
struct disk_reads {
    uint64_t waits; /* page faults that waited for it */
    uint64_t bytes; /* that it was asked to read; 0 if the system does not count them */
};
struct disk_reads machine_disk_reads(void);

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

/* 64 unpredictable bits, for salts and names. Never waits: early after boot, the time and the
 * process number have to do. */
uint64_t random_word(void);

/* 64 bits for secrets. Waits until the system has them. Returns 0, or -1 with the fault. */
int random_secret(uint64_t *word, struct fault *fault);

/* The columns of the terminal, at least 20; 80 if `fd` is not a terminal. */
unsigned terminal_width(int fd);

/* Draws a line on standard error, which must be a terminal, over the line drawn before. `stays`:
 * this is the last one, and ends with a newline. Does nothing in a background process. */
void terminal_draw(const char *line, bool stays);

/* To be called before a write to `fd`: if it is a terminal, clears the drawn line. Preserves errno;
 * safe in a signal handler. */
void terminal_clear(int fd);

/* Whether the environment asks for a UTF-8 locale. The program itself stays in the C locale,
 * because lines are only bytes. */
bool terminal_shows_utf8(void);

#endif
