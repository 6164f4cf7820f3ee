/*
 * census - what the inputs hold: lines, and how many of them differ, counted in one pass.
 */
#ifndef UNSEEN_COMMANDS_CENSUS_H
#define UNSEEN_COMMANDS_CENSUS_H

#include "commands/inputs.h"
#include "key/recipe.h"

struct census {
    uint64_t lines;  /* all of them, but for headings */
    uint64_t bytes;  /* of the lines, without their ends */
    uint64_t itself; /* lines that count as themselves, as they have no such field or are no URL */
    uint64_t distinct; /* keys: an estimate, within 1 % (3.4 standard errors) */
};

/* Counts the lines of all inputs, keys made as the recipe says. 128 KB, and the time of reading.
 * Returns as inputs_read; what was counted before an input failed is in the census. */
int census_take(const struct inputs *inputs, const struct recipe *recipe, struct census *census);

#endif
