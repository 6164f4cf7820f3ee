/*
 * recipe_word - a key recipe in one word, as --shard-by takes it: a profile ("host"), or recipe
 * options ("-f 2 -t ,").
 */
#ifndef UNSEEN_COMMANDS_RECIPE_WORD_H
#define UNSEEN_COMMANDS_RECIPE_WORD_H

#include "commands/options.h"
#include "key/recipe.h"

/* Reads the value of --shard-by. Options stand in it as in a shell: between blanks, and a blank
 * between quotes is none; but a backslash stays one, as in "-t \t". Returns 0, or EXIT_TROUBLE
 * after a message. */
int recipe_word_read(const char *text, struct recipe *recipe);

/* What is read back as that recipe, not quoted for a shell; it has RECIPE_TEXT bytes. Returns
 * `text`. */
char *recipe_word_text(const struct recipe *recipe, char *text);

#endif
