/*
 * filter_operand - the FILTER that a command names.
 */
#ifndef UNSEEN_COMMANDS_FILTER_OPERAND_H
#define UNSEEN_COMMANDS_FILTER_OPERAND_H

#include "commands/options.h"

/* The first operand, if it can be a filter's name: not missing, '' or '-'. NULL after a message. */
const char *filter_operand(const struct options *options);

/* For a command that takes nothing behind FILTER. Returns 0, or EXIT_TROUBLE after a message. */
int filter_operand_alone(const struct options *options);

#endif
