/*
 * command_line - options as they were typed, to be typed again.
 */
#ifndef UNSEEN_COMMANDS_COMMAND_LINE_H
#define UNSEEN_COMMANDS_COMMAND_LINE_H

#include "commands/options.h"

/* The command that makes the filter `name`: unseen, `maker` ("create"), those of the options given
 * that say what a new filter is to be, in the order of the table, and the name; quoted for a shell.
 * To be freed; NULL if memory is short. */
char *command_line_making(const char *maker, const struct options *options, const char *name);

#endif
