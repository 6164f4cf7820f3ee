/*
 * header_lines - the header lines of the inputs of a run, and of the files it appends to.
 *
 * Lines of all inputs are printed below one header line, so all must have the same columns.
 */
#ifndef UNSEEN_PIPELINE_HEADER_LINES_H
#define UNSEEN_PIPELINE_HEADER_LINES_H

#include "system/fault.h"

#include <stddef.h>

struct header_lines {
    char *line; /* the last, with its delimiter; NULL: none yet */
    size_t length;
    const char *of; /* the file that had it */
};

/* Compares a header line, whose last byte is the delimiter, with the one before, except for a byte
 * order mark and one CR, and keeps it. `of` must outlive *lines. Returns 0, or -1 with a fault
 * about `of`. */
int header_lines_add(struct header_lines *lines, const char *line, size_t length, const char *of,
                     struct fault *fault);

void header_lines_free(struct header_lines *lines);

#endif
