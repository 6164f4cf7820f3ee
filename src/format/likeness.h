/*
 * likeness - whether two filters were made alike. Pure.
 *
 * Filters can become one only if keys are made and hashed alike in both, and if both promise the
 * same.
 */
#ifndef UNSEEN_FORMAT_LIKENESS_H
#define UNSEEN_FORMAT_LIKENESS_H

#include "format/header.h"

enum { LIKENESS_TEXT = 2 * RECIPE_TEXT + 64 };

enum likeness {
    LIKE_FOR_UNION, /* enough to merge them: sizes, and I of a shard I/N, may differ */
    LIKE_WHOLLY,
};

/* Returns NULL if the filters agree. Otherwise returns `text`, which says how `one` was made, "with
 * --window 1000, not 2000", and sets *option to the option's short name, or long name if it has no
 * other; NULL: the options of the key. */
const char *likeness_difference(const struct header *one, const struct header *other,
                                enum likeness likeness, const char **option,
                                char text[LIKENESS_TEXT]);

#endif
