/*
 * header_lines - the header lines of the inputs of a run, and of the files it appends to.
 *
 * Lines of all inputs are printed below one header line, so all must have the same columns.
 */
#ifndef UNSEEN_PIPELINE_HEADER_LINES_H
#define UNSEEN_PIPELINE_HEADER_LINES_H

#include "io/output.h"
#include "key/recipe.h"

#include <stdbool.h>
#include <stddef.h>

struct header_lines {
    const struct recipe *recipe; /* how they are compared; set by the owner */
    char *line;                  /* the last, with its delimiter; NULL: none yet */
    size_t length;
    const char *of;  /* the file that had it */
    bool unfinished; /* that file has nothing else, and no delimiter */
};

/* Compares the fields of a header line, whose last byte is the delimiter, with those of the one
 * before (key/columns.h), and keeps it. `of` must outlive *lines. Returns 0, or -1 with a fault
 * about `of`; or about an unfinished file, if the other header line begins with that of the
 * file. */
int header_lines_add(struct header_lines *lines, const char *line, size_t length, const char *of,
                     struct fault *fault);

/* Does this for the first line, or row, of an output that is a regular file with bytes in it. Any
 * other output is to begin with the last header line: sets *bytes and *length, NULL and 0 if there
 * is none yet. Returns 0; or -1 as above, or if the file cannot be read. A callback of struct
 * output, whose `context` is a struct header_lines. */
int header_lines_begin(void *context, const struct output *output, const char **bytes,
                       size_t *length, struct fault *fault);

void header_lines_free(struct header_lines *lines);

#endif
