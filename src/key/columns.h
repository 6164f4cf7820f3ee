/*
 * columns - header lines: finds columns by name, and compares the fields of two.
 *
 * Of CSV, or, with a separator and without quotes, of other lines. A line without fields is one
 * field. A byte order mark at the beginning, CRs at the end and, with --trim, blanks around a field
 * are not compared.
 */
#ifndef UNSEEN_KEY_COLUMNS_H
#define UNSEEN_KEY_COLUMNS_H

#include "key/recipe.h"

/* Whether two lines, without delimiters, have equal fields. Ends at the first that differs. */
bool columns_same(const struct recipe *recipe, struct span line, struct span other);

enum header_likeness {
    HEADER_SAME,
    HEADER_MOVED /* the same fields in another order */,
    HEADER_DIFFERS
};

/* The same, for a message. HEADER_DIFFERS, too, if memory is short. */
enum header_likeness columns_compare(const struct recipe *recipe, struct span line,
                                     struct span other);

#endif
