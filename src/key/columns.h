/*
 * columns - header lines: finds columns by name, and compares the fields of two.
 *
 * Of CSV, or, with a separator and without quotes, of other lines. A line without a separator is
 * one field. A byte order mark at the beginning, CRs at the end and, with --trim, blanks around a
 * field are no part of it.
 */
#ifndef UNSEEN_KEY_COLUMNS_H
#define UNSEEN_KEY_COLUMNS_H

#include "key/csv_fields.h"
#include "system/fault.h"

/* The columns of an input that are selected by name. All zeros: none. */
struct columns {
    size_t n;
    size_t most; /* fields of the header line */
    struct column {
        size_t number; /* from 1 on; ascending */
        size_t place;  /* of its value in the key, from 0 on */
    } * column;
    struct csv_field *fields; /* room for n, by their places, while a key is made */
};

/* Finds the recipe's names, or all columns but these, in a header line, in place of those of the
 * input before. All columns but some have their places in byte order of their names; those of a
 * line that are beyond the header line's come after them, since they may differ. `buffer` has as
 * many bytes as the line. Returns 0, or -1 with a fault about `input`. */
int columns_find(const struct recipe *recipe, struct span header_line, char *buffer,
                 const char *input, struct columns *columns, struct fault *fault);

/* Returns 0, or -1 if memory is short. */
int columns_copy(struct columns *copy, const struct columns *columns);
void columns_free(struct columns *columns);

/* Whether two lines, without delimiters, have equal fields. Ends at the first that differs. */
bool columns_same(const struct recipe *recipe, struct span line, struct span other);

enum header_likeness {
    HEADER_SAME,
    HEADER_MOVED, /* the same fields in another order */
    HEADER_DIFFERS
};

/* The same, for a message. HEADER_DIFFERS, too, if memory is short. */
enum header_likeness columns_compare(const struct recipe *recipe, struct span line,
                                     struct span other);

#endif
