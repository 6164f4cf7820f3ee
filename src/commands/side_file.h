/*
 * side_file - a file that a run writes besides its output: of --dropped or --pending.
 */
#ifndef UNSEEN_COMMANDS_SIDE_FILE_H
#define UNSEEN_COMMANDS_SIDE_FILE_H

#include "commands/inputs.h"

/* What else a run uses. */
struct side_files {
    const struct options *options;
    const struct inputs *inputs;
    const char *filter; /* NULL: in memory */
    const char *output; /* NULL: standard output, unless no lines go there: */
    bool silent;
};

/* Before anything is made or changed: checks that each such file that was named can be one, and is
 * nothing else at the same time. Returns 0, or EXIT_TROUBLE after a message. */
int side_file_check(const struct side_files *files);

/* The file of --dropped, for lines to be appended; plan->dropped stays NULL if none was named. A
 * FIFO is waited for. Returns 0, or EXIT_TROUBLE after a message. */
int side_file_open_dropped(const struct options *options, char delimiter, struct output *dropped,
                           struct pipeline_plan *plan);

/* Closes it, if there is one. Returns `status`, or EXIT_TROUBLE after a message. */
int side_file_close_dropped(struct pipeline_plan *plan, int status);

#endif
