/* fields - selects fields of a line: step 3 of making its key (recipe.h). */
#ifndef UNSEEN_KEY_FIELDS_H
#define UNSEEN_KEY_FIELDS_H

#include "key/recipe.h"

/* Selects the recipe's fields of `line`, joined by its separator, or by one space if it has none;
 * with --trim, each without blanks at its ends. *fields points into the line if they are one piece
 * of it, otherwise to a copy in `buffer`, which has FIELDS_SPARE bytes more than the line. Returns
 * false if the line lacks the first field of a range. One pass over the line, up to the last field.
 * Precondition: the recipe has ranges. */
enum { FIELDS_SPARE = 32 };
bool fields_select(const struct recipe *recipe, struct span line, char *buffer,
                   struct span *fields);

#endif
