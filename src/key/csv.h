/*
 * csv - takes columns of a CSV row as RFC 4180 has them, as the key of the line.
 *
 * A row is one line. A quote as the first byte of a field opens it; inside, two quotes are one.
 * After the closing quote only the separator or the end may follow. Elsewhere a quote is a byte
 * like others. A byte order mark at the beginning of a line, and a CR at its end, are not part of
 * it.
 *
 * The key is the value of the only column selected. Of several it is their values, joined by the
 * separator, each in quotes if it has a separator, quote, CR or LF: so `ab,cd` is not `a,bcd`.
 */
#ifndef UNSEEN_KEY_CSV_H
#define UNSEEN_KEY_CSV_H

#include "key/recipe.h"
#include "key/span.h"
#include "system/fault.h"

/* What a fault about a line that is not a row advises. */
#define CSV_WAY_OUT "fields with newlines: unseen-cookbook(7)"

/* The row of a line: without byte order mark and CR. */
struct span csv_row(struct span line);

/* The columns of an input that are selected by name. */
struct csv_columns {
    unsigned n;
    struct csv_column {
        size_t number;  /* from 1 on; ascending */
        unsigned place; /* of its value in the key, from 0 on */
    } column[RECIPE_NAMES_MAX];
};

/* Finds the recipe's names in a header line. `buffer` is as below. Returns 0, or -1 with a fault
 * about `input`. */
int csv_find_columns(const struct recipe *recipe, struct span header_line, char *buffer,
                     const char *input, struct csv_columns *columns, struct fault *fault);

/* Takes the key. *key points into the line if possible, otherwise into `buffer`, which has
 * SPAN_DECODED(line.length) bytes. `columns` is for a recipe with names. One pass over the line.
 * `kind` is what rows_find has told (core/rows.h). Returns false if the row has no key. */
bool csv_take(const struct recipe *recipe, const struct csv_columns *columns, struct span line,
              uint8_t kind, char *buffer, struct span *key);

#endif
