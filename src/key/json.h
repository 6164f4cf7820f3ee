/*
 * json - takes members of a line of JSON as its key.
 *
 * A line is a JSON text (json_text.h) with blanks around it. A byte order mark may be before it,
 * and a comma after it; or, if it is none otherwise, one bracket of the array that all lines are.
 *
 * An item of the recipe's names is the name of a top-level member, or a JSON Pointer (RFC 6901) if
 * it begins with a slash. Null is missing. A line has no key if the first item is missing or an
 * empty string.
 *
 * The key has the values in the order of the items, joined by commas; nothing for one that is
 * missing. A string is in quotes, in its shortest form: only quotes, backslashes and bytes below
 * 0x20 are escaped. A number is as written; an array or object, too, but without blanks.
 */
#ifndef UNSEEN_KEY_JSON_H
#define UNSEEN_KEY_JSON_H

#include "key/json_text.h"
#include "key/without.h"

/* What a line is. */
enum json_line {
    JSON_KEY,       /* it has a key */
    JSON_NO_MEMBER, /* no value that can be the first of a key, or that --by takes; one too long */
    JSON_NO_TEXT    /* no JSON text */
};

/* The recipe's items. Each step has a byte of their names, at least. `without`, NULL at first,
 * leaves out of each string that is a value; not with a profile. */
struct json_items {
    unsigned n;
    unsigned nested; /* how many can be parts of one another */
    bool one_member; /* one item of one step, */
    bool as_written; /* and the key is its value as it is written, if that has no escapes */
    struct without *without;
    struct json_item item[RECIPE_NAMES_MAX];
    struct json_step step[RECIPE_NAMES_BYTES];
    char text[RECIPE_NAMES_BYTES + RECIPE_NAMES_MAX];
};

void json_split_items(const struct recipe *recipe, struct json_items *items);

/* The most bytes of a key of a line of so many: each byte of that is in `nested` items at most, and
 * commas are between them. */
static inline size_t json_key_room(const struct json_items *items, size_t length)
{
    return items->nested * length + items->n;
}

/* Room for such keys, and to make them. */
static inline size_t json_room(const struct json_items *items, size_t length)
{
    return json_key_room(items, length) + length;
}

/* Takes the key of the next of some lines, or one after it. *key points into the line if possible,
 * otherwise into `buffer`, which has json_room bytes. --trim and -i are applied to the contents of
 * strings. With a profile, which takes one item, the key is the string itself, not yet in lower
 * case. One pass over the line, and up to three more byte by byte if the first does not take it. */
enum json_line json_take_any(const struct recipe *recipe, const struct json_items *items,
                             struct json_lines *lines, struct span line, char *buffer,
                             struct span *key);

/* Most lines and recipes need no more than the first of these. */
static inline enum json_line json_take(const struct recipe *recipe, const struct json_items *items,
                                       struct json_lines *lines, struct span line, char *buffer,
                                       struct span *key)
{
    if (!items->as_written || !json_find_member(lines, line, items->step, key))
        return json_take_any(recipe, items, lines, line, buffer, key);
    return json_is_missing(*key) ? JSON_NO_MEMBER : JSON_KEY;
}

#endif
