/*
 * csv - takes columns of a row of CSV as RFC 4180 has them, as the key of the row.
 *
 * The row has the bytes between two ends that core/rows.h found; its fields are as csv_fields.h
 * has them. A byte order mark at the beginning and CRs at the end are not part of it.
 *
 * The key is the value of the only column selected. Of several it is their values, joined by the
 * separator, each in quotes if it has a separator, quote, CR or LF: so `ab,cd` is not `a,bcd`. The
 * first of them must be there and not be empty. Later ones of numbers may be missing; those of
 * names are then written as empty ones.
 */
#ifndef UNSEEN_KEY_CSV_H
#define UNSEEN_KEY_CSV_H

#include "core/kernel.h"
#include "key/columns.h"
#include "key/without.h"

/* Takes the key. *key points into the row if possible, otherwise into `buffer`, which has
 * SPAN_DECODED(line.length) bytes, and one more for each column. `columns` is for a recipe with
 * names. `kind` is what rows_find has told (core/rows.h): it looks no further than it needs to;
 * with ROW_ODD, which any row may have, at each byte. Returns false if the row has no key, and for
 * ROW_ODD also if the bytes are no row; with another kind these are looked at without harm.
 * `without` is NULL, or leaves out of each of several values, before it is quoted; there is no key
 * either if the first becomes empty, or one is too long for it. */
bool csv_take(const struct recipe *recipe, const struct columns *columns, struct without *without,
              struct span line, uint8_t kind, char *buffer, struct span *key);

/* The number of the only column that the recipe takes; 0: it takes several. */
size_t csv_single_column(const struct recipe *recipe, const struct columns *columns);

/* The same as csv_take for this column alone, which a kernel has found in a row that is not
 * ROW_ODD; its offsets are from `bytes`. */
bool csv_take_field(const struct recipe *recipe, const char *bytes, const struct row_field *field,
                    char *buffer, struct span *key);

#endif
