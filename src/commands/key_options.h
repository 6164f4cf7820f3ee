/*
 * key_options - the options that say how a line becomes its key: -f, -t, --csv, --jsonl, --by,
 * --trim, -i and --without.
 *
 * They stay as they were given until a recipe is made of them: a new one, or that of a filter that
 * exists as they would have it, to be compared with its own.
 */
#ifndef UNSEEN_COMMANDS_KEY_OPTIONS_H
#define UNSEEN_COMMANDS_KEY_OPTIONS_H

#include "commands/options.h"
#include "key/recipe.h"

/* Checks the value of one of them, as far as that can be done without the others: not that of -f.
 * Returns 0, or EXIT_TROUBLE after a message. */
int key_options_check(const struct options *options, enum option_id id);

/* Changes a recipe to what those that are given say; all zeros: makes a new one. Returns as
 * above. */
int key_options_apply(const struct options *options, struct recipe *recipe);

/* With --jsonl, a name with a dot is that of a member, and no path; and blanks at its ends are part
 * of it. Says so, once, if -f has such a name: if the member is not the first, nothing else would.
 * To be called where a filter or keys are made, not where a filter that exists is used. */
void key_options_tell_names(const struct options *options);

enum { KEY_OPTIONS_WORDS = RECIPE_TEXT + RECIPE_NAMES_BYTES + 64 };

/* What a line without a key lacks: "value in that field", "URL in 'id'", "'id' after --without";
 * NULL if every line has a key. Of several columns or members with names the first is what it
 * lacks. Returns `words`. */
const char *key_options_lacking(const struct recipe *recipe, char words[KEY_OPTIONS_WORDS]);

/* What to try if no line has the first of these members, whose name has a dot: "for id within
 * request: -f /request/id". Returns `words`; empty if that is no member's name, or has no dot. */
const char *key_options_path(const struct recipe *recipe, char words[KEY_OPTIONS_WORDS]);

#endif
