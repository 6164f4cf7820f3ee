/*
 * progress - how far the inputs have been read, in one line on standard error.
 *
 * On a terminal only. Whoever reads calls progress_look once a chunk, between two system calls that
 * take far longer, and about once a second the line is drawn. So nothing is told while an input
 * pauses.
 */
#ifndef UNSEEN_COMMANDS_PROGRESS_H
#define UNSEEN_COMMANDS_PROGRESS_H

#include "io/input.h"

/* These inputs, "-" for standard input and NULL at the end, are read from now on. The lines read
 * are counted in *lines, and in *chosen those of them that are `what`: "new"; or NULL and NULL.
 * Both counts stay there until progress_end. Without this call the others do nothing. */
void progress_begin(const char *const *names, const uint64_t *lines, const uint64_t *chosen,
                    const char *what);

/* An input is open; NULL: it is about to be closed. */
void progress_input(const struct input *input);

void progress_look(void);

/* Reading has ended: the last line stays on the terminal. */
void progress_end(void);

#endif
