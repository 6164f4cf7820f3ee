/*
 * file_uses - checks that no file of a command line is used for two things.
 *
 * The filter, inputs and outputs of a run must be different files, whatever names, links or
 * descriptors lead to them; and lines are not read from filters or written to them.
 */
#ifndef UNSEEN_COMMANDS_FILE_USES_H
#define UNSEEN_COMMANDS_FILE_USES_H

#include <stdbool.h>

/* A file that is written to, other than the filter. */
struct target {
    const char *role; /* "-a": its name in messages */
    const char *name; /* NULL: there is none */
    bool pending;     /* a file of keys, not lines */
};

enum { FILE_USES_TARGETS = 4 };

struct file_uses {
    const char *filter;                       /* NULL: none, or in memory */
    const char **inputs;                      /* "-" for standard input, NULL at the end; or NULL */
    bool prints;                              /* the command, or CMD, prints to standard output */
    struct target targets[FILE_USES_TARGETS]; /* the first gets the printed lines */
};

/* To be called before any file is made or changed; and again when all are open, because a dangling
 * link may lead to one of them by then. Returns 0, or EXIT_TROUBLE after a message. */
int file_uses_check(const struct file_uses *uses);

#endif
