#include "commands/key_options.h"

#include "commands/message.h"
#include "key/span.h"
#include "text/number.h"

#include <inttypes.h>
#include <string.h>

typedef const char *recipe_parser(struct recipe *recipe, const char *text, const char **wanted);

/* Parses the value of an option, if it is given, into the recipe. */
static int parse_into(const struct options *options, enum option_id id, recipe_parser *parser,
                      struct recipe *recipe)
{
    const char *expected;
    const char *reason = options_has(options, id) ? parser(recipe, options->given[id], &expected)
                                                  : NULL;
    return reason == NULL ? 0 : options_bad_value(options, id, reason, expected);
}

/* Puts the patterns of --without, if it is given, in place of those of the recipe. */
static int parse_patterns(const struct options *options, struct recipe *recipe)
{
    char quoted[QUOTE_MAX], rest[QUOTE_MAX];
    const char *name = options->spelled[OPTION_without], *expected;
    size_t place;
    if (options->without.count > 0)
        memset(recipe->patterns, 0, sizeof recipe->patterns);
    for (unsigned i = 0; i < options->without.count; i++) {
        const char *pattern = options->without.text[i];
        const char *reason = recipe_add_pattern(recipe, pattern, &place, &expected);
        if (reason == NULL)
            continue;
        quote_word(pattern, quoted);
        if (*pattern == '\0')
            return message("%s '': %s (is a variable empty?)", name, reason);
        if (place == RECIPE_NO_PLACE)
            return message("%s %s: %s (expected %s)", name, quoted, reason, expected);
        if (pattern[place] == '\0')
            return message("%s %s: %s at its end (expected %s)", name, quoted, reason, expected);
        const char *quote = quote_word(pattern + place, rest)[0] == '\'' || *rest == '$' ? "" : "'";
        return message("%s %s: %s at %s%s%s (expected %s)", name, quoted, reason, quote, rest,
                       quote, expected);
    }
    return 0;
}

int key_options_check(const struct options *options, enum option_id id)
{
    struct recipe alone = {.ranges = 0};
    if (id == OPTION_without)
        return parse_patterns(options, &alone);
    recipe_parser *parser = id == OPTION_by ? recipe_parse_profile : recipe_parse_separator;
    return id == OPTION_fields ? 0 : parse_into(options, id, parser, &alone);
}

int key_options_apply(const struct options *options, struct recipe *recipe)
{
    recipe->trim |= options->trim;
    recipe->fold |= options->ignore_case;
    if (options->csv)
        recipe->syntax = SYNTAX_CSV;
    if (options->jsonl) {
        recipe->syntax = SYNTAX_JSONL;
        recipe->separated = false;
    }
    if (recipe->syntax == SYNTAX_CSV && !recipe->separated) {
        recipe->separated = true;
        recipe->separator = ',';
    }
    /* -f last: what it takes depends on the syntax. */
    if (parse_into(options, OPTION_separator, recipe_parse_separator, recipe) != 0 ||
        parse_into(options, OPTION_by, recipe_parse_profile, recipe) != 0 ||
        parse_into(options, OPTION_fields, recipe_parse_fields, recipe) != 0 ||
        parse_patterns(options, recipe) != 0)
        return EXIT_TROUBLE;
    char name[RECIPE_NAMES_BYTES + 1];
    const char *others = recipe->names;
    bool none = !recipe_has_list(recipe);
    recipe_next_name(&others, name);
    if (recipe->syntax == SYNTAX_FIELDS && recipe->separated && none)
        return message("%s: no fields selected (add -f LIST)", options->spelled[OPTION_separator]);
    if (recipe->syntax == SYNTAX_CSV && !recipe_separator_fits(recipe))
        return message("%s: cannot separate columns of CSV (leave it out for a comma)",
                       options->spelled[OPTION_separator]);
    if (recipe->syntax == SYNTAX_JSONL && none)
        return message("--jsonl: no members selected (add -f NAME)");
    if (recipe->syntax == SYNTAX_JSONL && recipe->profile != PROFILE_LINE && *others != '\0')
        return message("--by: takes one member of a line of JSON (give -f one name)");
    return 0;
}

/* What may be meant by a member's name with dots, as in request.id. */
struct dotted {
    struct span around; /* request */
    const char *last;   /* id */
    char path[RECIPE_NAMES_BYTES + 2];
};

/* Whether an item of -f, at `item` and decoded in `name`, may be meant as a path: perhaps as jq or
 * JSONPath have it, with . or $. before it. A name in quotes is meant as it is. */
static bool may_be_path(const char *item, const char *name, struct dotted *dotted)
{
    char *path = dotted->path;
    const char *dot = strrchr(name, '.');
    if (*item == QUOTE || dot == NULL || dot[1] == '\0' || strpbrk(name, "/~") != NULL)
        return false;
    name += name[0] == '$' && name[1] == '.';
    name += name[0] == '.';
    dotted->last = dot + 1;
    dotted->around = (struct span){name, dot > name ? (size_t)(dot - name) : 0};
    *path++ = '/';
    for (; *name != '\0'; name++)
        *path++ = (char)(*name == '.' ? '/' : *name);
    *path = '\0';
    return true;
}

/* "id within request", or "id". */
enum { MEANING = RECIPE_NAMES_BYTES + 16 };
static void write_meaning(const struct dotted *dotted, char words[MEANING])
{
    const int length = (int)dotted->around.length;
    snprintf(words, MEANING, "%s%s%.*s", dotted->last, length > 0 ? " within " : "", length,
             dotted->around.bytes);
}

/* Whether a name that is not in quotes has blanks at an end, as in "id, name". */
static bool has_blanks(const char *item, const char *name)
{
    size_t length = strlen(name);
    return *item != QUOTE && length > 0 && (name[0] == ' ' || name[length - 1] == ' ');
}

void key_options_tell_names(const struct options *options)
{
    char name[RECIPE_NAMES_BYTES + 1], meaning[MEANING];
    struct dotted dotted = {.last = NULL};
    const char *item = options->jsonl && options->fields != NULL ? options->fields : "", *next;
    for (next = item; *item != '\0'; item = next) {
        recipe_next_name(&next, name);
        const char *odd = item == options->fields && *item == '!' ? "of that name, not all but some"
                          : has_blanks(item, name)                ? "with blanks in its name"
                                                                  : NULL;
        if (odd != NULL) {
            message("%s '%s': means a member %s (to avoid this note: '\"%s\"')",
                    options->spelled[OPTION_fields], name, odd, name);
            return;
        }
        if (!may_be_path(item, name, &dotted))
            continue;
        write_meaning(&dotted, meaning);
        message("%s %s: means a member of that name (for %s: %s; to avoid this note: /%s)",
                options->spelled[OPTION_fields], name, meaning, dotted.path, name);
        return;
    }
}

const char *key_options_path(const struct recipe *recipe, char words[KEY_OPTIONS_WORDS])
{
    struct dotted dotted = {.last = NULL};
    char name[RECIPE_NAMES_BYTES + 1], list[2 * sizeof dotted.path], meaning[MEANING];
    char quoted[QUOTE_MAX];
    const char *next = recipe->names;
    words[0] = '\0';
    if (recipe->syntax != SYNTAX_JSONL)
        return words;
    recipe_next_name(&next, name);
    if (!may_be_path(recipe->names, name, &dotted))
        return words;
    write_meaning(&dotted, meaning);
    snprintf(list, sizeof list, "%s%s%s", dotted.path, *next != '\0' ? "," : "", next);
    snprintf(words, KEY_OPTIONS_WORDS, "for %s: -f %s", meaning, quote_word(list, quoted));
    return words;
}

const char *key_options_lacking(const struct recipe *recipe, char words[KEY_OPTIONS_WORDS])
{
    static const char *const values[PROFILES] = {"value", "URL", "host", "URL"};
    const char *value = values[recipe->profile], *next = recipe->names;
    bool line = recipe->profile == PROFILE_LINE;
    bool field = recipe_has_list(recipe) || recipe->syntax == SYNTAX_CSV;
    char name[RECIPE_NAMES_BYTES + 1];
    if (line && !field)
        return recipe->patterns[0] == '\0' ? NULL : "key, as --without takes up to 65536 bytes";
    /* It may be there, and patterns may leave nothing of it. */
    const char *after = line && recipe->patterns[0] != '\0' ? " after --without" : "";
    if (*next != '\0' && !recipe->except) {
        recipe_next_name(&next, name);
        int length = (int)(next - recipe->names) - (*next != '\0'); /* as it stands in the list */
        snprintf(words, KEY_OPTIONS_WORDS, "%s%s'%.*s'%s", line ? "" : value, line ? "" : " in ",
                 length, recipe->names, after);
    } else {
        snprintf(words, KEY_OPTIONS_WORDS, "%s%s%s", value, field ? " in that field" : "", after);
    }
    return words;
}
