/*
 * terminal - how much fits on a line, and in which characters; and a line on standard error that is
 * drawn again and again.
 */
#ifndef UNSEEN_SYSTEM_TERMINAL_H
#define UNSEEN_SYSTEM_TERMINAL_H

#include <stdbool.h>

/* Columns, at least 20: as the terminal says, else 80. */
unsigned terminal_width(int fd);

/* Draws a line on standard error, a terminal, over the one before; `stays`: the last one, after
 * which a new line begins. Nothing from the background, where the terminal is somebody else's. */
void terminal_draw(const char *line, bool stays);

/* Before a write to `fd`: if that is a terminal, a line that is drawn is cleared. errno stays. Also
 * for a signal handler. */
void terminal_make_way(int fd);

/* Whether the locale that the environment asks for is one of UTF-8. The program itself stays in the
 * C locale: no line is ever read by any other rule. */
bool terminal_shows_utf8(void);

#endif
