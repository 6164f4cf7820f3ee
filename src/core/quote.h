/*
 * quote - text that somebody else chose, such as a file's name, as it can be shown.
 */
#ifndef UNSEEN_CORE_QUOTE_H
#define UNSEEN_CORE_QUOTE_H

#include <stddef.h>
#include <stdio.h>

/* Room for any path as a quoted word, unless it is full of quotes. What is too long becomes "...":
 * cut off, it would be another name. */
enum { QUOTE_MAX = 4096 + 272 };

/* One word for a shell: as it is where no byte means anything to one, else between single quotes,
 * and $'...' if it has control characters or bytes that are no UTF-8. Returns `quoted`. */
const char *quote_word(const char *text, char quoted[QUOTE_MAX]);

/* The same of a file's name that stands where an option may: "./" before a hyphen. */
const char *quote_file(const char *name, char quoted[QUOTE_MAX]);

/* The text with control characters (C0, DEL, C1) and bytes that are no UTF-8 as \n, \t, \r or \xHH,
 * which neither end a line nor speak to a terminal. All other bytes stay. Cut off at `size`, which
 * is at least 1; returns `shown`. */
const char *quote_controls(const char *text, char *shown, size_t size);

/* A string of JSON, in UTF-8: characters stay as they are, except controls (\u00XX). A byte that is
 * not UTF-8 becomes the four characters \xHH. */
void quote_json(FILE *to, const char *text);

/* How many bytes the first character of the text has, 1 to 4; 0 if they are not valid UTF-8. */
size_t quote_character(const char *text);

#endif
