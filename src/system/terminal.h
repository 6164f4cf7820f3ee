/*
 * terminal - whether somebody is looking, how much fits on a line, and in which characters.
 */
#ifndef UNSEEN_SYSTEM_TERMINAL_H
#define UNSEEN_SYSTEM_TERMINAL_H

#include <stdbool.h>

/* Whether the descriptor is a terminal; all else, a pipe or a file, gets plain lines. */
bool terminal_is(int fd);

/* Columns, at least 20: as the terminal says, else as COLUMNS says, else 80. */
unsigned terminal_width(int fd);

/* Whether the locale that the environment asks for is one of UTF-8. The program itself stays in the
 * C locale: no line is ever read by any other rule. */
bool terminal_shows_utf8(void);

#endif
