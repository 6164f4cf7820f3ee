/*
 * creation - FILTER, made if there is none.
 */
#ifndef UNSEEN_COMMANDS_CREATION_H
#define UNSEEN_COMMANDS_CREATION_H

#include "commands/options.h"
#include "delivery/filter.h"

/* Makes the filter, and the directory of its queue if it is to have one. As create_filter; but with
 * a queue in the way, nothing is made. */
int creation_make(const char *path, struct header *header, bool replace, struct fault *fault);

/* Opens FILTER for writing, making it first if it was asked for and there is none, with one line
 * on stderr. With `queue` it is made with a queue, or must have been. NULL after a message. */
struct filter *creation_open(const char *path, const struct options *options, bool queue);

#endif
