/*
 * confinement - what a command still needs of the file system once it has opened what it works on.
 * It gives up all else (system/confine.h) before it reads the first line.
 *
 * No command does that which runs a CMD, as CMD would be confined, too; nor does create, which
 * reads no lines.
 */
#ifndef UNSEEN_COMMANDS_CONFINEMENT_H
#define UNSEEN_COMMANDS_CONFINEMENT_H

#include "commands/inputs.h"
#include "commands/part_files.h"
#include "filter/pending.h"

/* All may be NULL. */
struct confinement {
    const struct inputs *inputs;
    const struct filter *filter; /* beside it are the key sets of other writers */
    const char *queue;           /* of this filter: it is written to */
    const struct pending *pending;
    const struct part_files *parts;
    const char *made;     /* a file that is made, or replaced */
    const char **read;    /* files; NULL at the end, as in the others */
    const char **queues;  /* filters: their queues are read */
    const char **filters; /* that are opened to be read; another one of nearly that name, too */
};

/* Returns 0, or EXIT_TROUBLE after a message. */
int confinement_start(const struct confinement *needed);

/* The same for a command whose operands are filters, at which it looks one after the other: comes
 * once the first of these is open, or has turned out not to be there. */
int confinement_of_filters(const struct options *options);

#endif
