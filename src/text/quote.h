/*
 * quote - makes text of unknown origin, such as a file's name, safe to show.
 */
#ifndef UNSEEN_TEXT_QUOTE_H
#define UNSEEN_TEXT_QUOTE_H

#include <stddef.h>
#include <stdio.h>

/* Space for any path as a quoted word, unless it is full of quotes. A word that is too long becomes
 * "...", because a truncated one would be another name. */
enum { QUOTE_MAX = 4096 + 272 };

/* Quotes one word for a shell: unchanged if no byte is special, $'...' if it has control characters
 * or bytes that are not UTF-8, otherwise in single quotes. Returns `quoted`. */
const char *quote_word(const char *text, char quoted[QUOTE_MAX]);

/* The same for a file's name where an option could stand: "./" goes before a hyphen. */
const char *quote_file(const char *name, char quoted[QUOTE_MAX]);

/* Replaces control characters (C0, DEL, C1) and bytes that are not UTF-8 by \n, \t, \r or \xHH, so
 * that they neither end a line nor reach a terminal. Truncates the result to `size` bytes, at least
 * 1. Returns `shown`. */
const char *quote_controls(const char *text, char *shown, size_t size);

/* Writes a JSON string in UTF-8: control characters become \u00XX, and a byte that is not UTF-8
 * becomes the four characters \xHH. */
void quote_json(FILE *to, const char *text);

/* How many bytes the first character of the text has, 1 to 4; 0 if it is not valid UTF-8. */
size_t quote_character(const char *text);

#endif
