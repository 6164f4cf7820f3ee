/*
 * wish_part - the part of a list that a filter is for, as the options describe it: --shard,
 * --shard-by.
 */
#ifndef UNSEEN_COMMANDS_WISH_PART_H
#define UNSEEN_COMMANDS_WISH_PART_H

#include "commands/options.h"
#include "format/header.h"

/* Whether one of them was given. */
bool wish_part_given(const struct options *options);

/* Fills in part and part_recipe of a header that has its key recipe, and the part of --like, if
 * there is one. Returns 0, or EXIT_TROUBLE after a message. */
int wish_part_read(const struct options *options, struct header *header);

/* Reads --shard and --shard-by to compare them with those of a filter that exists: what is not
 * given is left as there. Returns 0, or EXIT_TROUBLE after a message. */
int wish_part_against(const struct options *options, const struct header *has,
                      struct header *wanted);

#endif
