/*
 * edit_distance - how many letters make the difference between two words: changed, added, left out.
 *
 * Levenshtein's distance, row by row. Pure.
 */
#ifndef UNSEEN_CORE_EDIT_DISTANCE_H
#define UNSEEN_CORE_EDIT_DISTANCE_H

enum { EDIT_LONGEST = 32 };

/* `name` has at most EDIT_LONGEST bytes. */
unsigned edit_distance(const char *word, const char *name);

#endif
