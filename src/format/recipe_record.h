/*
 * recipe_record - a key recipe as the 128 bytes that stand for it in a file (header.c), and back.
 */
#ifndef UNSEEN_FORMAT_RECIPE_RECORD_H
#define UNSEEN_FORMAT_RECIPE_RECORD_H

#include "key/recipe.h"

enum { RECIPE_BYTES = 128 };

void recipe_encode(const struct recipe *recipe, uint8_t bytes[RECIPE_BYTES]);

enum recipe_found {
    RECIPE_GOOD,
    RECIPE_UNKNOWN, /* to this program: `name` says what, as in "surt/1" */
    RECIPE_DAMAGED,
};

/* Only with RECIPE_GOOD is the recipe set, and then encoding it gives these bytes again, but for
 * those without a meaning. */
enum { RECIPE_NAME = 32 };
enum recipe_found recipe_decode(const uint8_t bytes[RECIPE_BYTES], struct recipe *recipe,
                                char name[RECIPE_NAME]);

#endif
