/*
 * json_text - finds members of a JSON text (RFC 8259), as writers write it: any byte from 0x20 up
 * may be in a string, a surrogate may be alone, and NaN, Infinity and -Infinity are numbers.
 *
 * There are two ways with the same results: one that takes a text byte by byte, and one over the
 * tokens that a kernel finds, 64 bytes at a time (core/kernel.h). The second only says yes: what it
 * does not take is left to the first one.
 */
#ifndef UNSEEN_KEY_JSON_TEXT_H
#define UNSEEN_KEY_JSON_TEXT_H

#include "core/kernel.h"
#include "key/recipe.h"
#include "key/span.h"

enum { JSON_DEPTH_MAX = 1000 }; /* of nested objects and arrays; deeper ones are no text */

/* A step from a value to one of its members. */
struct json_step {
    struct span name;         /* decoded; a NUL follows */
    uint64_t index;           /* of an array's element; UINT64_MAX: none */
    uint64_t word, word_mask; /* the first bytes of the name with a quote behind it, up to eight */
};

/* Makes a step; with `pointer`, one of a JSON Pointer, where a number is an element, too. */
struct json_step json_step_of(struct span name, bool pointer);

/* The steps that lead from a text to a value, one at least. */
struct json_item {
    const struct json_step *step;
    unsigned steps;
};

/* The values that are looked for. Of members with the same name the last one counts. */
struct json_search {
    unsigned n;
    const struct json_item *item;        /* n of them */
    struct span value[RECIPE_NAMES_MAX]; /* as they are written; NULL: not found */
    bool escapes;                        /* strings may have some */
    char *buffer;                        /* for a name, decoded: as many bytes as the text has */
};

/* Whether these bytes are a text, with blanks around it, and perhaps one comma after it. */
bool json_find(struct span text, struct json_search *search);

/* Lines, or parts of these, whose tokens are found together. */
enum { JSON_TOKENS = 1024 };
struct json_lines {
    const struct kernel *kernel;
    const char *bytes, *end;
    struct token_scan scan;
    size_t n, next;   /* tokens that were found; the next one */
    unsigned members; /* bit i: a key had the i-th item, of several; not set by json_lines_begin */
    uint32_t token[JSON_TOKENS + 1];
};

/* Begins with the bytes first..end, each line of which ends with the delimiter, but perhaps the
 * last. */
void json_lines_begin(struct json_lines *lines, const struct kernel *kernel, const char *first,
                      const char *end, char delimiter);

/* As json_find, for the next line, or one after it: true only if it is an array or object, and not
 * too deep, and all lines have less than 4 GB; a byte order mark may be before it. */
bool json_find_next(struct json_lines *lines, struct span line, struct json_search *search);

/* The same for the commonest lines and recipes alone: an object whose members are strings without
 * escapes, numbers and words, and one member of it that is wanted. *value: NULL if it has none. */
bool json_find_member(struct json_lines *lines, struct span line, const struct json_step *step,
                      struct span *value);

/* The contents of a string of a text, decoded: in place if it has no escapes, otherwise in
 * `buffer`, which has as many bytes as they have. */
struct span json_decode(struct span string, char *buffer);

/* An array or object of a text, without blanks, in `buffer`, which has as many bytes as it has. */
struct span json_compact(struct span value, char *buffer);

static inline bool json_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline bool json_is_string(struct span value)
{
    return value.bytes[0] == QUOTE;
}

/* Whether this value is an object or array; NULL is none. */
static inline bool json_is_container(struct span value)
{
    return value.length > 0 && (value.bytes[0] == '{' || value.bytes[0] == '[');
}

/* Whether a value is not there, or null; or "". */
static inline bool json_is_null(struct span value)
{
    return value.length == 0 || value.bytes[0] == 'n';
}

static inline bool json_is_missing(struct span value)
{
    return json_is_null(value) || (value.length == 2 && json_is_string(value));
}

#endif
