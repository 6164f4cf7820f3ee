/*
 * recipes - a recipe for three bytes: profile and switches, separator, list of fields.
 */
#ifndef UNSEEN_FUZZ_RECIPES_H
#define UNSEEN_FUZZ_RECIPES_H

#include "key/recipe.h"
#include "replay.h"

enum { SWITCH_TRIM = 4, SWITCH_FOLD = 8, SWITCH_SEPARATED = 16 };

static const char *const recipe_lists[] = {NULL,  "1",      "2",       "3",
                                           "1,3", "2-",     "-2",      "1-",
                                           "3-4", "2-3,5-", "2,4,6,8", "1,3,5,7,9,11,13,15",
                                           "100", "2-",     "1",       "65535"};

static inline struct recipe recipe_chosen(const uint8_t *choice)
{
    struct recipe recipe = {0};
    const char *list = recipe_lists[choice[2] % (sizeof recipe_lists / sizeof *recipe_lists)];
    const char *wanted;
    INSIST(!recipe_parse_profile(&recipe, profile_names[choice[0] % PROFILES], &wanted));
    recipe.trim = (choice[0] & SWITCH_TRIM) != 0;
    recipe.fold = (choice[0] & SWITCH_FOLD) != 0;
    if (list != NULL)
        INSIST(!recipe_parse_fields(&recipe, list, &wanted));
    if (list != NULL && (choice[0] & SWITCH_SEPARATED) != 0) {
        recipe.separated = true;
        recipe.separator = (char)choice[1];
    }
    return recipe;
}

#endif
