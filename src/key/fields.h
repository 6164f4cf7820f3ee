/* fields - some of the fields of a line: step 3 of a recipe. */
#ifndef UNSEEN_KEY_FIELDS_H
#define UNSEEN_KEY_FIELDS_H

#include "key/recipe.h"
#include "key/span.h"

/* The fields of `line` that the recipe wants (it wants some), joined by its separator, or by one
 * space if it has none. They lie in the line wherever they are one piece of it; else they are
 * copied to `room`, which has FIELDS_SPARE bytes more than the line. Returns false if the first
 * field of one of the ranges is not there. One pass over the line, up to the last field that is
 * wanted. */
enum { FIELDS_SPARE = 32 };
bool fields_take(const struct recipe *recipe, struct span line, char *room, struct span *fields);

#endif
