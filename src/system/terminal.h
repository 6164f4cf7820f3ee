/*
 * terminal - the width and character set of the terminal, and a line on standard error that is
 * redrawn in place.
 */
#ifndef UNSEEN_SYSTEM_TERMINAL_H
#define UNSEEN_SYSTEM_TERMINAL_H

#include <stdbool.h>

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
