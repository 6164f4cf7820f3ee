/* edit_distance - how many edits turn one word into another: a byte is changed, added or removed,
 * or two neighbours are swapped (Levenshtein's distance, with Damerau's swap). */
#ifndef UNSEEN_TEXT_EDIT_DISTANCE_H
#define UNSEEN_TEXT_EDIT_DISTANCE_H

enum { EDIT_LONGEST = 32 };

/* `name` has at most EDIT_LONGEST bytes. */
unsigned edit_distance(const char *word, const char *name);

#endif
