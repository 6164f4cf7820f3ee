/*
 * likeness - were two filters made alike, so that they can become one?
 *
 * A key has the same bits in two layers of equal pages and geometry only if it was hashed the same
 * way; and a filter has one promise, which those that become one must share.
 */
#ifndef UNSEEN_FORMAT_LIKENESS_H
#define UNSEEN_FORMAT_LIKENESS_H

#include "format/header.h"

/* Returns NULL if they agree in all that matters; else the name of the first thing in which they
 * differ, and how it reads for each. */
enum { LIKENESS_TEXT = RECIPE_TEXT };
const char *likeness_differs(const struct header *one, const struct header *other,
                             char one_has[LIKENESS_TEXT], char other_has[LIKENESS_TEXT]);

#endif
