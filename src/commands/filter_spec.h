/*
 * filter_spec - a filter as the options describe it: one that is to be made, or one that is there
 * and should agree.
 */
#ifndef UNSEEN_COMMANDS_FILTER_SPEC_H
#define UNSEEN_COMMANDS_FILTER_SPEC_H

#include "commands/options.h"
#include "format/header.h"

/* Works out the header of a new filter: any two of lines, rate and size give the third; or all is
 * that of the filter that --like names. Returns 0, or EXIT_TROUBLE after a message. */
int filter_spec_header(const struct options *options, struct header *header);

/* The key of the lines alone. Returns as above. */
int filter_spec_key(const struct options *options, struct recipe *recipe);

/* Whether the filter `path` was made as the options say, as far as they do. It is opened for
 * reading, so that one that is refused is not touched. Returns as above. */
int filter_spec_compare(const struct options *options, const char *path);

#endif
