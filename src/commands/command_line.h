/*
 * command_line - options as they were typed, to be typed again.
 */
#ifndef UNSEEN_COMMANDS_COMMAND_LINE_H
#define UNSEEN_COMMANDS_COMMAND_LINE_H

#include "commands/options.h"

#include <stdio.h>

/* Writes those options given that the command with this bit takes, in the order of the table, a
 * blank before each; in quotes wherever a shell might read a value otherwise. */
void command_line_write(FILE *to, const struct options *options, unsigned command);

#endif
