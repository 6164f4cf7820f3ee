/*
 * wish - a filter as the options describe it, and whether one that exists agrees with them.
 */
#ifndef UNSEEN_COMMANDS_WISH_H
#define UNSEEN_COMMANDS_WISH_H

#include "commands/options.h"
#include "format/header.h"

/* Works out plan, seed and asked of a header from -n, -p, --size and their like: any two of n, p
 * and size give the third. Or takes all from the filter that --like names. `assumed` is 0 if the
 * filter is to be made; else so many keys are assumed where --bits-per-key comes without a number.
 * Only a filter in a file (`in_file`) has stages that nobody asked for.
 * Returns 0, or EXIT_TROUBLE after a message. */
int wish_plan(const struct options *options, bool in_file, uint64_t assumed, struct header *header);

/* Whether the filter `path` was made as the options say, as far as they do. It is opened
 * for reading, so that one that is refused is not touched. Returns 0, or EXIT_TROUBLE after a
 * message. */
int wish_compare(const struct options *options, const char *path);

#endif
