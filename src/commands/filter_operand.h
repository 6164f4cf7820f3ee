/*
 * filter_operand - the FILTER that a command names: looked at, opened, made.
 */
#ifndef UNSEEN_COMMANDS_FILTER_OPERAND_H
#define UNSEEN_COMMANDS_FILTER_OPERAND_H

#include "commands/options.h"
#include "filter/filter.h"

/* The first operand, if it can be a filter's name: not missing, '' or '-'. NULL after a message. */
const char *filter_operand(const struct options *options);

/* Whether a name can be that of a FILTER: not '' or '-'. Else says so. */
bool filter_operand_is_name(const char *name, const struct options *options);

/* For a command that takes nothing after FILTER. Returns 0, or EXIT_TROUBLE after a message. */
int filter_operand_alone(const struct options *options);

/* Opens one that exists, to look at it. NULL after a message. */
struct store *filter_operand_open_to_read(const char *path, const struct options *options);

/* Looks at each operand, a filter, in turn; `before` is how many came before. Once the first is
 * open, or has turned out not to be there, all else is given up. Returns the highest status. */
typedef int filter_visitor(const struct options *options, size_t before, const struct store *store);
int filter_operand_each(const struct options *options, filter_visitor *look);

/* Opens FILTER to use it, if it agrees with the options that describe it; with --create it is made
 * first if nothing is there. NULL after a message. */
struct filter *filter_operand_open(const char *path, const struct options *options, bool write);

/* Makes the filter that the options describe, over an empty file, or with --force over a filter,
 * and says so in one line on stderr. Returns the exit status. */
int filter_operand_create(const char *path, const struct options *options);

/* Says that something is there, with the ways out if that is a filter. Returns EXIT_TROUBLE. */
int filter_operand_taken(const char *path, const char *ways_out);

/* Says why a filter could not be opened, with a way out that fits the command: how to make one
 * where that is what it would have written to. Returns EXIT_TROUBLE. */
int filter_operand_refuse(struct fault *fault, const struct options *options, const char *path);

#endif
