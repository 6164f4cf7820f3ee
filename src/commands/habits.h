/*
 * habits - words that users bring from other tools, and what unseen has instead. They are looked up
 * before spelling is: a habit is no typo.
 */
#ifndef UNSEEN_COMMANDS_HABITS_H
#define UNSEEN_COMMANDS_HABITS_H

/* What those want who give this option to one of these commands (FOR_...), which do not take it, or
 * with FOR_ALL an option or a command that does not exist; NULL: unknown. */
const char *habit_find(const char *word, unsigned commands);

/* How many edits (text/edit_distance.h) make `name` of a word that may be a typo: one, or in long
 * words two. TOO_MANY: it is another word. */
enum { TOO_MANY = 3 };
unsigned habit_typo(const char *word, const char *name);

#endif
