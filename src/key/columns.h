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

/* The fields of a header line as their values. It may come again, so each line of its input is
 * compared with it: at the cost of that line, however long the header line is. All zeros: none. */
struct header_values {
    size_t n;
    struct span *value;
    char *text; /* their bytes */
};

/* Lines are without their delimiters, here and below. Returns 0; or -1 if memory is short, and
 * there are none. */
int columns_values(const struct recipe *recipe, struct span line, struct header_values *values);
void columns_values_free(struct header_values *values);

/* Whether a line has these fields. Ends at the first that differs. */
bool columns_same(const struct recipe *recipe, struct span line,
                  const struct header_values *header);

enum header_likeness {
    HEADER_SAME,
    HEADER_MOVED, /* the same fields in another order */
    HEADER_DIFFERS,
    HEADER_NO_MEMORY
};
enum header_likeness columns_compare(const struct recipe *recipe, struct span line,
                                     struct span other);

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
 * line that are beyond the header line's come after them, since they may differ. Returns 0, or -1
 * with a fault about `input`. */
int columns_find(const struct recipe *recipe, struct span line, const char *input,
                 struct columns *columns, struct fault *fault);

/* Returns 0, or -1 if memory is short. */
int columns_copy(struct columns *copy, const struct columns *columns);
void columns_free(struct columns *columns);

#endif
