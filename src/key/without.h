/*
 * without - leaves out of a value what the patterns of a recipe match.
 *
 * Each pattern works on what the one before it has left. Matches are left out from left to right.
 * At each place the first way to match counts that takes a byte or more, as in Perl.
 */
#ifndef UNSEEN_KEY_WITHOUT_H
#define UNSEEN_KEY_WITHOUT_H

#include "key/recipe.h"

/* The longest value; a line with a longer one has no key. */
enum { WITHOUT_MAX = 65536 };

struct without;

/* For the patterns of a recipe, which has some. For one thread at a time. Returns NULL if memory is
 * short. */
struct without *without_new(const struct recipe *recipe);
void without_free(struct without *without);

/* Steps 5 and 6 of the recipe: the value in lower case, if it says so, and without what its
 * patterns match. *value then points to where it pointed, or into `without` until the next call.
 * Returns false if it is too long. */
bool without_apply(struct without *without, struct span *value);

#endif
