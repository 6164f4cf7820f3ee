/*
 * filter_spec - a filter as the options describe it: a new filter, or an existing one that must
 * agree.
 */
#ifndef UNSEEN_COMMANDS_FILTER_SPEC_H
#define UNSEEN_COMMANDS_FILTER_SPEC_H

#include "commands/options.h"
#include "filter/filter.h"

/* Works out the header of a new filter: any two of lines, rate and size determine the third; or
 * --like gives all of them. Returns 0, or EXIT_TROUBLE after a message. */
int filter_spec_header(const struct options *options, struct header *header);

/* Works out the key options alone. Returns as above. */
int filter_spec_key(const struct options *options, struct recipe *recipe);

/* With --jsonl, a name with a dot is that of a member, and no path: says so, once, if -f has one.
 * To be called where a filter or keys are made, not where a filter that exists is used. */
void filter_spec_tell_dots(const struct options *options);

/* Checks that an open filter was made as the given options say. Returns as above. */
int filter_spec_compare(const struct options *options, const struct filter *filter);

#endif
