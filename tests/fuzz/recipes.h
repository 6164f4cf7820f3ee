/*
 * recipes - a recipe for three bytes: syntax, profile and switches; separator; list of fields,
 * columns or members, and patterns.
 */
#ifndef UNSEEN_FUZZ_RECIPES_H
#define UNSEEN_FUZZ_RECIPES_H

#include "key/recipe.h"
#include "replay.h"

#include <string.h>

/* SWITCH_CSV with SWITCH_JSONL is --jsonl; the latter alone is nothing. */
enum {
    SWITCH_TRIM = 4,
    SWITCH_FOLD = 8,
    SWITCH_SEPARATED = 16,
    SWITCH_JSONL = 64,
    SWITCH_CSV = 128
};

enum { RECIPE_LISTS = 16 };

static const char *const recipe_lists[][RECIPE_LISTS] = {
    [SYNTAX_FIELDS] = {NULL, "1", "2", "3", "1,3", "2-", "a", "b,a,\"1\"", "3-4", "2-3,5-",
                       "2,4,6,8", "1,3,5,7,9,11,13,15", "100", "!2,4-5", "!a", "65535"},
    [SYNTAX_CSV] = {"1-", "1", "2", "3", "1,3", "2-", "!1,3", "2-3,5-", "65535", "a", "!a,b", "a,b",
                    "b,a", "\"1\",\"a,\"\"b\"", "c,b,a", "!b"},
    [SYNTAX_JSONL] = {"a", "/a", "b,a", "a,/a", "/0", "/0,/2,/1", "/a/b", "/a/0", "/", "/~0/~1",
                      "/a/b,b,/b/a/0", "a~", "0", "/1/a", "id", "\"/a,b\",b"},
};

/* Each with a NUL after it. None for digits, which choose a list in inputs that were typed. */
static const char *const recipe_patterns[16] = {
    "",
    "[0-9]+\0",
    "\\s|x\0a\0", /* sets */
    "",
    "^.|.$\0", /* places */
    "\\b\\w*?\\B\0(?<=^|,)[^,](?=,|$)\0",
    "(?!a).(?<!b)\0",
    "(a|b?)*?\"\0", /* idle loops */
    "((?:a*)*b?|c{2,3})+\0",
    ".{1,2}?,\0", /* lazy */
    "x{2,}?|[b-]{0,3}c\0",
    "ab|a|bc\0",                                /* the first one counts */
    "/$\0(?<=[?&])utm_[^&#]*&?\0[?&](?=#|$)\0", /* of URLs */
    "\\x00|\\xef\xbb|[^ -~]\0",                 /* bytes */
    "[\",\\r\\n]\0",                            /* what asks for quotes */
    ".*\0",                                     /* nothing is left */
};

static inline struct recipe recipe_chosen(const uint8_t *choice)
{
    struct recipe recipe = {.trim = (choice[0] & SWITCH_TRIM) != 0,
                            .fold = (choice[0] & SWITCH_FOLD) != 0};
    const char *wanted;
    size_t place;
    if ((choice[0] & SWITCH_CSV) != 0)
        recipe.syntax = (choice[0] & SWITCH_JSONL) != 0 ? SYNTAX_JSONL : SYNTAX_CSV;
    const char *list = recipe_lists[recipe.syntax][choice[2] % RECIPE_LISTS];
    if (recipe.syntax != SYNTAX_JSONL && list != NULL && (choice[0] & SWITCH_SEPARATED) != 0) {
        recipe.separated = true;
        recipe.separator = (char)choice[1];
    }
    if (recipe.syntax == SYNTAX_CSV && (!recipe.separated || !recipe_separator_fits(&recipe))) {
        recipe.separated = true;
        recipe.separator = ',';
    }
    /* Names of columns are for lines with a separator. */
    if (list != NULL && recipe.syntax == SYNTAX_FIELDS && !recipe.separated)
        list = strpbrk(list, "!ab") != NULL ? "2" : list;
    if (list != NULL)
        INSIST(!recipe_parse_fields(&recipe, list, &wanted));
    if (recipe.syntax != SYNTAX_JSONL || strchr(list, ',') == NULL)
        INSIST(!recipe_parse_profile(&recipe, profile_names[choice[0] % PROFILES], &wanted));
    for (const char *at = recipe_patterns[choice[2] / RECIPE_LISTS]; *at != '\0';
         at = recipe_next_pattern(at))
        INSIST(!recipe_add_pattern(&recipe, at, &place, &wanted));
    return recipe;
}

#endif
