/*
 * json - takes members of a JSON text (RFC 8259), which is one line, as its key.
 *
 * An item of the recipe's names is the name of a top-level member, or a JSON Pointer (RFC 6901) if
 * it begins with a slash. Of members with the same name the last one counts. A line has no key if
 * it is not valid JSON, or an item is missing, null, an object or an array.
 *
 * The key has the values in the order of the items, joined by commas. A string is in quotes, in its
 * shortest form: only quotes, backslashes and bytes below 0x20 are escaped. A number is as written.
 */
#ifndef UNSEEN_KEY_JSON_H
#define UNSEEN_KEY_JSON_H

#include "key/recipe.h"
#include "key/span.h"

enum { JSON_DEPTH_MAX = 1000 }; /* of nested objects and arrays; deeper ones are not valid */

/* What a line is. */
enum json_line {
    JSON_KEY,       /* it has a key */
    JSON_NO_MEMBER, /* no value that can be the first of a key, or that --by takes */
    JSON_NO_TEXT    /* no JSON text */
};

/* The recipe's items: each is `steps` strings that end with NUL, one after the other. */
struct json_items {
    unsigned n;
    struct json_item {
        struct span first; /* the first step */
        unsigned steps;
        bool pointer;
    } item[RECIPE_NAMES_MAX];
    char text[RECIPE_NAMES_BYTES + 2];
};

void json_split_items(const struct recipe *recipe, struct json_items *items);

/* Takes the key. *key points into the line if possible, otherwise into `buffer`, which has
 * SPAN_DECODED(line.length) bytes. --trim and -i are applied to the contents of strings. With a
 * profile, which takes one item, the key is the string itself, not yet in lower case. One pass over
 * the line to check it, and one for each step of each item. */
enum json_line json_take(const struct recipe *recipe, const struct json_items *items,
                         struct span line, char *buffer, struct span *key);

#endif
