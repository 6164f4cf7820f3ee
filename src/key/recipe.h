/*
 * recipe - how a line becomes its key. A filter stores it, so that keys are always made alike.
 *
 * The key is made by these steps, in this order; steps 2 to 6 only if their option was given:
 *
 *   1. line       the bytes of the line, without its delimiter
 *   2. trim       without a byte order mark at the beginning, and blanks at both ends
 *   3. fields     only the selected fields, joined, and each without blanks at its ends if step 2
 *                 applies; or, instead of steps 2 and 3, columns of CSV or members of JSON (csv.h,
 *                 json.h). Columns may have names, with --csv or -t SEP
 *   4. profile    reduced to a normalized URL, a host or an endpoint (url.h, endpoint.h)
 *   5. fold       with A-Z in lower case
 *   6. without    without what patterns match (without.h): of columns and members, of each of
 *                 several fields, each value by itself, before they are joined
 *
 * A line in which the first of the fields is missing or empty, or which is not a URL where step 4
 * needs one, has no key: the bytes of step 1 are compared, in a hash domain of their own
 * (core/hash.h). unseen(5) has all rules, and tests/key/vectors has examples. No rule may ever
 * change; other rules are a new version.
 */
#ifndef UNSEEN_KEY_RECIPE_H
#define UNSEEN_KEY_RECIPE_H

#include "core/rows.h"
#include "key/span.h"
#include "text/quote.h"

#include <stdint.h>
#include <string.h>

enum { RECIPE_RANGES_MAX = 16, RECIPE_FIELD_MAX = 65535 };
enum { RECIPE_NAMES_MAX = 16, RECIPE_NAMES_BYTES = 1024 };
enum { RECIPE_PATTERNS_MAX = 16, RECIPE_PATTERNS_BYTES = 1000 }; /* without their NULs */
enum { RECIPE_PATTERNS_ROOM = 1024 };

/* What a line is made of. */
enum syntax { SYNTAX_FIELDS, SYNTAX_CSV, SYNTAX_JSONL, SYNTAXES };

/* "fields", "csv", "jsonl". */
extern const char *const syntax_names[SYNTAXES];

enum profile { PROFILE_LINE, PROFILE_URL, PROFILE_HOST, PROFILE_ENDPOINT, PROFILES };

/* "line", "url", "host", "endpoint"; and the newest version of their rules, 0 for "line". */
extern const char *const profile_names[PROFILES];
extern const unsigned profile_versions[PROFILES];

/* Fields first..last, counted from 1; last 0: to the end of the line. */
struct field_range {
    uint16_t first, last;
};

/* All zeros: the key is the whole line. */
struct recipe {
    enum syntax syntax;
    enum profile profile;
    unsigned version; /* of the profile's rules; 0 for the line */
    bool trim;
    bool fold;
    bool separated;  /* fields end at `separator`; otherwise they are runs of non-blanks */
    char separator;  /* with SYNTAX_CSV always given */
    unsigned ranges; /* 0: all of the line, or those with names */
    /* In canonical form: ascending, no two overlapping or touching, zeros after the last. */
    struct field_range range[RECIPE_RANGES_MAX];
    /* Of columns, or members as names or JSON Pointers: in canonical form, with zeros after them;
     * "": none. In the order given, or with `except` in that of their bytes; each once, joined by
     * commas. Those that -f would read otherwise are in quotes, as CSV has them: recipe_next_name
     * reads them. */
    char names[RECIPE_NAMES_BYTES + 1];
    bool except; /* all columns but these; never with SYNTAX_JSONL */
    /* What does not count, in the order given: each with a NUL after it, then zeros. */
    char patterns[RECIPE_PATTERNS_ROOM];
};

bool recipe_is_whole_line(const struct recipe *recipe);
bool recipe_is_same(const struct recipe *recipe, const struct recipe *other);

static inline bool recipe_is_blank(const struct recipe *recipe, char c)
{
    return (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') &&
           !(recipe->separated && c == recipe->separator);
}

/* Step 2: without blanks at both ends, if the recipe says so. The separator may bound an empty
 * field, so it stays. */
static inline struct span recipe_trim(const struct recipe *recipe, struct span text)
{
    const char *first = text.bytes, *end = span_end(text);
    if (!recipe->trim)
        return text;
    while (first < end && recipe_is_blank(recipe, *first))
        first++;
    while (first < end && recipe_is_blank(recipe, end[-1]))
        end--;
    return span_between(first, end);
}

/* Whether some fields, columns or members are selected. */
static inline bool recipe_has_list(const struct recipe *recipe)
{
    return recipe->ranges > 0 || recipe->names[0] != '\0';
}

/* Whether columns are selected by name, so that each input begins with a header line. */
static inline bool recipe_has_column_names(const struct recipe *recipe)
{
    return recipe->syntax != SYNTAX_JSONL && recipe->names[0] != '\0';
}

/* How lines end that are made of rows, or of whatever the recipe takes. */
static inline struct line_ends recipe_line_ends(const struct recipe *recipe, char delimiter)
{
    if (recipe->syntax != SYNTAX_CSV)
        return (struct line_ends){.delimiter = delimiter};
    return (struct line_ends){delimiter, true, recipe->separator, recipe->trim};
}

/* Reads the name at *at, a place in recipe->names or in a list that recipe_parse_fields has taken,
 * and moves *at to the next one, or to the end of the string. Returns its length in bytes; a NUL
 * follows it. */
size_t recipe_next_name(const char **at, char name[RECIPE_NAMES_BYTES + 1]);

/* Whether the names are in canonical form, and whether --csv takes the separator. */
bool recipe_names_are_valid(const struct recipe *recipe);
bool recipe_separator_fits(const struct recipe *recipe);

/* Parse the values of -f, -t and --by, and set them in the recipe; -f for the syntax that it has,
 * with its separator or without. Each returns NULL, or an error in words, with the accepted form in
 * *wanted and the recipe unchanged. A profile gets the newest version of its rules. */
const char *recipe_parse_fields(struct recipe *recipe, const char *list, const char **wanted);
const char *recipe_parse_separator(struct recipe *recipe, const char *text, const char **wanted);
const char *recipe_parse_profile(struct recipe *recipe, const char *text, const char **wanted);

/* Adds a pattern of --without after the others. Returns as above; *place is the offset in the
 * pattern of what is wrong, or RECIPE_NO_PLACE if it is not the pattern but what there is with it:
 * there are too many, or they are too long together. */
#define RECIPE_NO_PLACE SIZE_MAX
const char *recipe_add_pattern(struct recipe *recipe, const char *pattern, size_t *place,
                               const char **wanted);

/* For all of them: for (at = recipe->patterns; *at != '\0'; at = recipe_next_pattern(at)). */
static inline const char *recipe_next_pattern(const char *at)
{
    return at + strlen(at) + 1;
}

/* Whether the patterns are such as recipe_add_pattern makes of them: 1 or 0, or -1 if memory is too
 * short to tell. */
int recipe_check_patterns(const struct recipe *recipe);

/* Format fields and separator as -f and -t accept them, "1,3-" or "!a,b" and "\t", and the profile
 * with its version, "url/2". Each returns `text`, which has RECIPE_TEXT bytes; RECIPE_WORD are
 * enough for the last two. */
enum {
    RECIPE_WORD = 32,
    RECIPE_PATTERNS_TEXT = 4 * RECIPE_PATTERNS_BYTES + 20 * RECIPE_PATTERNS_MAX, /* quoted */
    RECIPE_TEXT = QUOTE_MAX + 128 + RECIPE_PATTERNS_TEXT
};
char *recipe_fields_text(const struct recipe *recipe, char *text);
char *recipe_separator_text(const struct recipe *recipe, char *text);
char *recipe_profile_text(const struct recipe *recipe, char *text);

/* Formats the recipe as options for a shell: "--csv --trim -f 1,3- -t '\t' --by url -i
 * --without '/$'"; empty for the whole line. Returns `text`. */
char *recipe_text(const struct recipe *recipe, char *text);

/* The same for messages and reports, with "whole lines" for the whole line. */
const char *recipe_shown(const struct recipe *recipe, char *text);

#endif
