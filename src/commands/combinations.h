/*
 * combinations - which options exclude each other, and which need another: one table.
 */
#ifndef UNSEEN_COMMANDS_COMBINATIONS_H
#define UNSEEN_COMMANDS_COMBINATIONS_H

#include "commands/options.h"

/* Beside the bits of commands: what is checked only when a filter is made, or planned. Of one that
 * exists, other things may be said. */
enum { FOR_NEW_FILTER = FOR_ALL + 1, FOR_PLANNED_FILTER = 2 * FOR_NEW_FILTER };

/* Whether the options given, and whether a FILTER is, go together where one of these bits says.
 * Returns 0, or EXIT_TROUBLE after a message. */
int combinations_check(const struct options *options, unsigned where);

#endif
