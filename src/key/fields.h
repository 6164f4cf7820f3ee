/* fields - selects fields of a line: step 3 of making its key (recipe.h). */
#ifndef UNSEEN_KEY_FIELDS_H
#define UNSEEN_KEY_FIELDS_H

#include "key/columns.h"
#include "key/without.h"

/* Selects the recipe's fields of `line`, joined by its separator, or by one space if it has none;
 * with --trim, each without blanks at its ends. *fields points into the line if they are one piece
 * of it, otherwise to a copy in `buffer`, which has FIELDS_SPARE bytes more than the line. Returns
 * false if the first of them is missing or empty; later ones may be. One pass over the line, up to
 * the last field. Precondition: the recipe has ranges. */
enum { FIELDS_SPARE = 32 };
bool fields_select(const struct recipe *recipe, struct span line, char *buffer,
                   struct span *fields);

/* The same with each field by itself, always copied: without what `without` leaves out, unless it
 * is NULL. Returns false also if the first becomes empty, or one is too long for `without`. */
bool fields_select_each(const struct recipe *recipe, struct without *without, struct span line,
                        char *buffer, struct span *fields);

/* The same for columns that have names, in the order of the names; one that is missing is written
 * as an empty one. `buffer` has one byte more for each column. Precondition: the recipe has names
 * and a separator; `without` is NULL if there is one column alone. */
bool fields_take_columns(const struct recipe *recipe, const struct columns *columns,
                         struct without *without, struct span line, char *buffer,
                         struct span *fields);

#endif
