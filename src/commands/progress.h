/*
 * progress - how far the inputs have been read, in one line on standard error.
 *
 * With --progress, on a terminal, the line is drawn there every second, and what it shows is looked
 * up only then: the loops that read and judge know nothing of it. Without, SIGUSR1 prints it, once,
 * wherever standard error goes. A line that cannot be written at once is left out.
 */
#ifndef UNSEEN_COMMANDS_PROGRESS_H
#define UNSEEN_COMMANDS_PROGRESS_H

#include "io/input.h"

#include <stdbool.h>

/* These inputs, "-" for standard input and NULL at the end, are about to be read. `draws`: on a
 * terminal. SIGUSR1 is answered from here on. */
void progress_start(const char *const *names, bool draws);

/* Where the lines read are counted, and those chosen of them, which are `what`: "new"; or NULL and
 * NULL. Both counts stay there until progress_end. */
void progress_count(const uint64_t *lines, const uint64_t *chosen, const char *what);

/* Reading begins. */
void progress_begin(void);

/* It is the turn of the first of these. */
void progress_turn(const char *const *names);

/* It is open; NULL: it is about to be closed. */
void progress_input(const struct input *input);

/* Reading has ended: the last line stays on the terminal. */
void progress_end(void);

#endif
