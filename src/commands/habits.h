/*
 * habits - words that users bring from other tools, and what unseen has instead. They are looked up
 * before spelling is: a habit is no typo.
 */
#ifndef UNSEEN_COMMANDS_HABITS_H
#define UNSEEN_COMMANDS_HABITS_H

/* What those want who give `option` to one of these commands (FOR_...), which do not take it, or
 * FOR_ALL if no command does; NULL: unknown. */
const char *habit_option(const char *option, unsigned commands);

/* The same for a word that is no command: what follows "unknown command". */
const char *habit_command(const char *word);

/* How many edits (core/edit_distance.h) make `name` of a word that may be a typo: one, or in long
 * words two. TOO_MANY: it is another word. */
enum { TOO_MANY = 3 };
unsigned habit_typo(const char *word, const char *name);

#endif
