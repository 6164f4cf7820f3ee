/*
 * creation - FILTER, made if there is none.
 */
#ifndef UNSEEN_COMMANDS_CREATION_H
#define UNSEEN_COMMANDS_CREATION_H

#include "commands/options.h"
#include "filter/filter.h"

/* Makes the filter that the options describe, over an empty file, or with --force over a filter,
 * and says so in one line on stderr. Returns 0; 1 if something is there; -1 after a message. */
int creation_make(const char *path, const struct options *options);

/* Says that something is there, with the ways out if that is a filter. Returns EXIT_TROUBLE. */
int creation_taken(const char *path, const char *ways_out);

/* Opens FILTER; with --create it is made first if there is none, as above, but over nothing.
 * NULL after a message. */
struct filter *creation_open(const char *path, const struct options *options, bool write);

#endif
