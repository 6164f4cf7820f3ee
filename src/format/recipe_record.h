/*
 * recipe_record - encodes and decodes a recipe, 1152 bytes of a filter file (header.c).
 */
#ifndef UNSEEN_FORMAT_RECIPE_RECORD_H
#define UNSEEN_FORMAT_RECIPE_RECORD_H

#include "key/recipe.h"

enum { RECIPE_BYTES = 1152 };

void recipe_encode(const struct recipe *recipe, uint8_t bytes[RECIPE_BYTES]);

enum recipe_found {
    RECIPE_GOOD,
    RECIPE_UNKNOWN, /* rules that this program does not have; `name` is as in "url/2", "csv/2" */
    RECIPE_DAMAGED,
};

/* *recipe is set only if the result is RECIPE_GOOD; then encoding it gives these bytes again,
 * except for bytes without a name. */
enum { RECIPE_NAME = 32 };
enum recipe_found recipe_decode(const uint8_t bytes[RECIPE_BYTES], struct recipe *recipe,
                                char name[RECIPE_NAME]);

#endif
