/*
 * pattern - the grammar of --without: `without/1`. It is frozen, and works on bytes.
 */
#ifndef UNSEEN_KEY_PATTERN_H
#define UNSEEN_KEY_PATTERN_H

#include <stddef.h>

/* Checks one pattern. Returns NULL; or why it is none, in words, with the offset of the byte where
 * that shows in *place, and what to write instead in *wanted. */
const char *pattern_check(const char *pattern, size_t *place, const char **wanted);

#endif
