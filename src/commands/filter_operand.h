/*
 * filter_operand - opens and makes the FILTER that a command names.
 */
#ifndef UNSEEN_COMMANDS_FILTER_OPERAND_H
#define UNSEEN_COMMANDS_FILTER_OPERAND_H

#include "commands/options.h"
#include "filter/writer.h"

/* The first operand, if it can name a filter: not missing, '' or '-'. NULL after a message. */
const char *filter_operand(const struct options *options);

/* Whether a name can be that of a filter: not '' or '-'. False after a message. */
bool filter_operand_is_name(const char *name, const struct options *options);

/* For a command that takes nothing after FILTER. Returns 0, or EXIT_TROUBLE after a message. */
int filter_operand_alone(const struct options *options);

/* Opens an existing filter for reading. NULL after a message. */
struct filter *filter_operand_open_to_read(const char *path, const struct options *options);

/* Opens each operand in turn for reading and calls `visit`; `before`: how many filters came before.
 * After the first was opened, the process is confined. Returns the highest status. */
typedef int filter_visitor(const struct options *options, size_t before,
                           const struct filter *filter);
int filter_operand_each(const struct options *options, filter_visitor *visit);

/* Opens FILTER, if it agrees with the options that describe it. With --create, makes it if nothing
 * is there. *writer becomes one that uses it, unless `writer` is NULL. NULL after a message. */
struct filter *filter_operand_open(const char *path, const struct options *options, bool write,
                                   struct writer **writer);

/* Makes the filter that the options describe, in place of an empty file, or with --force of a
 * filter, and says so. Returns the exit status. */
int filter_operand_create(const char *path, const struct options *options);

/* Says that the path exists, with the ways out if it is a filter. Returns EXIT_TROUBLE. */
int filter_operand_taken(const char *path, const char *ways_out);

/* Says why a filter could not be opened, with a way out that fits the command. Returns
 * EXIT_TROUBLE. */
int filter_operand_refuse(struct fault *fault, const struct options *options, const char *path);

#endif
