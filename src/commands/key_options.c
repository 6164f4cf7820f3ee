#include "commands/key_options.h"

#include "commands/message.h"
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

int key_options_check(const struct options *options, enum option_id id)
{
    struct recipe alone = {.ranges = 0};
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
        parse_into(options, OPTION_fields, recipe_parse_fields, recipe) != 0)
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

void key_options_tell_dots(const struct options *options)
{
    char name[RECIPE_NAMES_BYTES + 1], path[RECIPE_NAMES_BYTES + 1];
    const char *item = options->jsonl && options->fields != NULL ? options->fields : "";
    while (*item != '\0') {
        /* A name in quotes is meant as it is. */
        bool quoted = *item == QUOTE;
        int length = (int)recipe_next_name(&item, name);
        const char *dot = strrchr(name, '.');
        if (quoted || dot == NULL || dot[1] == '\0' || strpbrk(name, "/~") != NULL)
            continue;
        int within = (int)(dot - name);
        for (int i = 0; i <= length; i++)
            path[i] = (char)(name[i] == '.' ? '/' : name[i]);
        message("%s %s: means a member of that name (for %s%s%.*s: %s%s; to avoid this note: /%s)",
                options->spelled[OPTION_fields], name, dot + 1, within > 0 ? " within " : "",
                within, name, within > 0 ? "/" : "", path, name);
        return;
    }
}

const char *key_options_lacking(const struct recipe *recipe)
{
    bool json = recipe->syntax == SYNTAX_JSONL;
    bool field = recipe_has_list(recipe) || recipe->syntax == SYNTAX_CSV;
    if (recipe->profile == PROFILE_LINE)
        return json ? "such member" : field ? "value in that field" : NULL;
    if (recipe->profile == PROFILE_HOST)
        return json ? "host in that member" : field ? "host in that field" : "host";
    return json ? "URL in that member" : field ? "URL in that field" : "URL";
}

void warn_of_no_key(const struct recipe *recipe, const char *name,
                    const struct pipeline_counts *counts)
{
    enum { ENOUGH = 1000 };
    char text[RECIPE_TEXT];
    bool all = counts->no_key == counts->read, most = counts->no_key > counts->read / 2;
    if (counts->no_key == 0 || !(all || (most && counts->read >= ENOUGH)))
        return;
    message("%s: %" PRIu64 " of %" PRIu64 " %s no %s, so whole lines are compared; the first is "
            "line %" PRIu64 " of %s (to see the keys: unseen key %s FILE)",
            name, counts->no_key, counts->read, number_of(counts->read, "line has", "lines have"),
            key_options_lacking(recipe), counts->no_key_line, counts->no_key_input,
            recipe_text(recipe, text));
}
