/*
 * filter_operand - opens and makes the FILTER that a command names, and tells what its user should
 * know about it. `unseen create`, which does no more, is here, too.
 */
#ifndef UNSEEN_COMMANDS_FILTER_OPERAND_H
#define UNSEEN_COMMANDS_FILTER_OPERAND_H

#include "commands/options.h"
#include "filter/writer.h"

/* The first operand, if it can name a filter (not missing, '' or '-') and is the only one where the
 * command takes no other. NULL after a message. */
const char *filter_operand(const struct options *options);

/* Whether a name can be that of a filter: not '' or '-'. False after a message. */
bool filter_operand_is_name(const char *name, const struct options *options);

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

/* Says that the path exists, with the ways out if it is a filter. Returns EXIT_TROUBLE. */
int filter_operand_taken(const char *path, const char *ways_out);

/* Says why a filter could not be opened, with a way out that fits the command. Returns
 * EXIT_TROUBLE. */
int filter_operand_refuse(struct fault *fault, const struct options *options, const char *path);

/* --- messages about a filter and its lines that do not end the run --- */

/* For filter_open: about growth and waiting. */
extern const struct filter_watch filter_operand_watch;

/* For the end of a run that writes. Warns if a filter that does not grow holds more lines than it
 * was made for, if the rate of a merged filter is above the one asked for, or if the clock was so
 * far ahead that a window does not forget. */
void warn_of_filter(const struct filter *filter);

/* Warns if the rate of a merged filter is above the one asked for. */
void warn_of_rate(const char *name, double rate, double asked);

/* --- filter_spec.c: a filter as the options describe it --- */

/* Works out the header of a new filter: any two of lines, rate and size determine the third; or
 * --like gives all of them. Returns 0, or EXIT_TROUBLE after a message. */
int filter_spec_header(const struct options *options, struct header *header);

/* Checks that an open filter was made as the given options say. Returns as above. */
int filter_spec_compare(const struct options *options, const struct filter *filter);

#endif
