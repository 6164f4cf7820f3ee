/*
 * wish_recipe - the key recipe as the options describe it: -f, -t, --trim, --by, -i.
 */
#ifndef UNSEEN_COMMANDS_WISH_RECIPE_H
#define UNSEEN_COMMANDS_WISH_RECIPE_H

#include "commands/options.h"
#include "format/header.h"

/* Fills in the recipe; without any of these options, it is that of the whole line. Returns
 * 0, or EXIT_TROUBLE after a message. */
int wish_recipe_parse(const struct options *options, struct recipe *recipe);

/* The same of a whole recipe, in which no separator is without fields. */
int wish_recipe_read(const struct options *options, struct recipe *recipe);

/* Whether the filter `path`, which was made with the recipe `has`, agrees with what was given.
 * Returns 0, or EXIT_TROUBLE after a message. */
int wish_recipe_compare(const struct options *options, const char *path, const struct recipe *has);

/* What a line that counts as itself does not have: "such field", "URL"; NULL if none does. */
const char *wish_recipe_missing(const struct recipe *recipe);

/* Warns if most of the lines counted as themselves: it may be the wrong recipe. */
void wish_recipe_warn(const struct recipe *recipe, const char *name, uint64_t lines,
                      uint64_t itself);

#endif
