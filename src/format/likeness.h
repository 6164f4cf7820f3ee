/*
 * likeness - were two filters made alike?
 *
 * A key has the same bits in two layers of equal pages and geometry only if it was hashed the same
 * way; and a filter has one promise, which those that become one must share. Pure.
 */
#ifndef UNSEEN_FORMAT_LIKENESS_H
#define UNSEEN_FORMAT_LIKENESS_H

#include "format/header.h"

enum { LIKENESS_TEXT = 2 * RECIPE_TEXT + 64 };

/* What two filters must agree in. */
enum likeness {
    LIKE_FOR_UNION, /* so that they can become one: not in their sizes, nor in the shard's I */
    LIKE_WHOLLY,
};

/* Returns NULL if they agree; else how `one` was made, "with --window 1000, not 2000", in `text`;
 * and the option that says so, by its letter if it has one, in *option; NULL: those of the key. */
const char *likeness_differs(const struct header *one, const struct header *other,
                             enum likeness likeness, const char **option, char text[LIKENESS_TEXT]);

#endif
