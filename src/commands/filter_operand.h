/*
 * filter_operand - the FILTER that a command names, and what is said while it is open.
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

/* Opens one that exists: to look at it, or to use it. NULL after a message. */
struct store *filter_operand_look(const char *path, const struct options *options);
struct filter *filter_operand_open(const char *path, const struct options *options, bool write);

/* Says why a filter could not be opened, with a way out that fits the command: how to make one
 * where that is what it would have written to, a filter of nearly that name if there is one.
 * Returns EXIT_TROUBLE. */
int filter_operand_refuse(struct fault *fault, const struct options *options, const char *path);

/* The command that makes the filter `name`, quoted for a shell: unseen, `maker` ("create"), those
 * options given that say what a new filter is to be, and the name. To be freed; NULL if memory is
 * short. */
char *filter_operand_making(const char *maker, const struct options *options, const char *name);

/* What growth and waiting say on stderr. */
extern const struct store_watch filter_operand_watch;

/* At the end of a run that writes: says so if a filter that does not grow holds more than it was
 * made for, if the layers of a merged one have a higher rate than was asked for, or if the clock
 * was once so far ahead that a window will not forget. */
void filter_operand_warn(const struct store *store);

/* The second of these, for one that a merge has made; says nothing where the rate is not above. */
void filter_operand_warn_of_rate(const char *name, double rate, double asked);

#endif
