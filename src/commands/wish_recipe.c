#include "commands/wish_recipe.h"

#include "commands/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int bad_value(const struct options *options, enum option_id id, const char *reason,
                     const char *wanted)
{
    return message("%s '%s': %s (%s)", options->spelled[id], options->given[id], reason, wanted);
}

int wish_recipe_parse(const struct options *options, struct recipe *recipe)
{
    const char *wanted, *reason;
    *recipe = (struct recipe){
        .trim = options_has(options, OPTION_TRIM),
        .fold = options_has(options, OPTION_IGNORE_CASE),
    };
    if (options_has(options, OPTION_FIELDS)) {
        reason = recipe_parse_fields(recipe, options->given[OPTION_FIELDS], &wanted);
        if (reason != NULL)
            return bad_value(options, OPTION_FIELDS, reason, wanted);
    }
    if (options_has(options, OPTION_SEPARATOR)) {
        reason = recipe_parse_separator(recipe, options->given[OPTION_SEPARATOR], &wanted);
        if (reason != NULL)
            return bad_value(options, OPTION_SEPARATOR, reason, wanted);
    }
    if (options_has(options, OPTION_BY)) {
        reason = recipe_parse_profile(recipe, options->given[OPTION_BY], &wanted);
        if (reason != NULL)
            return bad_value(options, OPTION_BY, reason, wanted);
    }
    return 0;
}

static int no_fields(const struct options *options)
{
    return message("%s: which fields? (add -f LIST)", options->spelled[OPTION_SEPARATOR]);
}

int wish_recipe_read(const struct options *options, struct recipe *recipe)
{
    if (wish_recipe_parse(options, recipe) != 0)
        return EXIT_TROUBLE;
    return recipe->separated && recipe->ranges == 0 ? no_fields(options) : 0;
}

const char *wish_recipe_missing(const struct recipe *recipe)
{
    bool field = recipe->ranges > 0;
    if (recipe->profile == PROFILE_LINE)
        return field ? "such field" : NULL;
    if (recipe->profile == PROFILE_HOST)
        return field ? "host in that field" : "host";
    return field ? "URL in that field" : "URL";
}

void wish_recipe_warn(const struct recipe *recipe, const char *name, uint64_t lines,
                      uint64_t itself)
{
    enum { ENOUGH = 1000 };
    char text[RECIPE_TEXT];
    if (lines < ENOUGH || itself <= lines / 2)
        return;
    message("%s: %" PRIu64 " of %" PRIu64 " lines have no %s, and count as whole lines (to see "
            "what counts: unseen key %s FILE)",
            name, itself, lines, wish_recipe_missing(recipe), recipe_text(recipe, text));
}

/* Which of the options given does not hold for the filter; OPTIONS if all do. */
static enum option_id differs(const struct options *options, const struct recipe *has,
                              const struct recipe *wants)
{
    if (wants->trim && !has->trim)
        return OPTION_TRIM;
    if (options_has(options, OPTION_FIELDS) &&
        (has->ranges != wants->ranges || memcmp(has->range, wants->range, sizeof has->range) != 0))
        return OPTION_FIELDS;
    if (wants->separated && (!has->separated || has->separator != wants->separator))
        return OPTION_SEPARATOR;
    if (options_has(options, OPTION_BY) && has->profile != wants->profile)
        return OPTION_BY;
    return wants->fold && !has->fold ? OPTION_IGNORE_CASE : OPTIONS;
}

/* For the command that is advised, since -t alone makes no filter. */
static void take_fields(struct recipe *recipe, const struct recipe *from)
{
    recipe->ranges = from->ranges;
    memcpy(recipe->range, from->range, sizeof recipe->range);
}

int wish_recipe_compare(const struct options *options, const char *path, const struct recipe *has)
{
    struct recipe wants;
    char was[RECIPE_TEXT], wanted[RECIPE_TEXT];
    if ((options->set & RECIPE_OPTIONS) == 0)
        return 0;
    if (wish_recipe_parse(options, &wants) != 0)
        return EXIT_TROUBLE;
    enum option_id id = differs(options, has, &wants);
    if (id == OPTIONS)
        return 0;
    if (wants.separated && wants.ranges == 0)
        take_fields(&wants, has);
    if (wants.separated && wants.ranges == 0)
        return no_fields(options);
    recipe_shown(has, was);
    recipe_text(&wants, wanted);
    const char *option = options->spelled[id], *given = options->given[id];
    return message(
        "%s: was made for %s, not for %s%s%s (leave %s out, or make another filter: unseen "
        "create %s%sNEW)",
        path, was, option, given != NULL ? " " : "", given != NULL ? given : "", option, wanted,
        wanted[0] != '\0' ? " " : "");
}
