/*
 * progress - shows how far the inputs have been read, in one line on a terminal at standard error.
 *
 * A reader calls progress_update after each chunk; once per second this draws the line. So the line
 * does not change while an input pauses.
 */
#ifndef UNSEEN_COMMANDS_PROGRESS_H
#define UNSEEN_COMMANDS_PROGRESS_H

#include "io/input.h"

/* Begins: the inputs `names` ("-" is standard input, NULL the end) will be read. *lines counts
 * lines, and *chosen those that are `what` ("new"); or NULL and NULL. Both must stay valid until
 * progress_end. Without this call the other functions do nothing. */
void progress_begin(const char *const *names, const uint64_t *lines, const uint64_t *chosen,
                    const char *what);

/* An input was opened; NULL: it will be closed. */
void progress_input(const struct input *input);

void progress_update(void);

/* Draws the line a last time, to stay on the terminal. */
void progress_end(void);

#endif
