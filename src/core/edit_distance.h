/* edit_distance - Levenshtein's distance: how many bytes must be changed, added or removed to turn
 * one word into another. */
#ifndef UNSEEN_CORE_EDIT_DISTANCE_H
#define UNSEEN_CORE_EDIT_DISTANCE_H

enum { EDIT_LONGEST = 32 };

/* `name` has at most EDIT_LONGEST bytes. */
unsigned edit_distance(const char *word, const char *name);

#endif
