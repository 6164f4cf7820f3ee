/* Recipes: what their options say, and how they are said again. */
#include "key/recipe.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const struct recipe untouched = {.version = 77,
                                        .separator = '!',
                                        .ranges = 1,
                                        .range = {{9, 9}}};

static bool is_untouched(const struct recipe *recipe)
{
    return recipe->version == 77 && recipe->separator == '!' && !recipe->separated &&
           recipe->profile == PROFILE_LINE && recipe->ranges == 1 && recipe->range[0].first == 9 &&
           recipe->range[0].last == 9;
}

/* NULL: it is no list, and nothing is changed. */
static void check_fields(const char *list, const char *canonical)
{
    struct recipe recipe = untouched;
    char text[RECIPE_TEXT];
    const char *wanted = NULL;
    const char *fault = recipe_parse_fields(&recipe, list, &wanted);
    tap_check((fault == NULL) == (canonical != NULL) && wanted != NULL, "'%s': %s", list, fault);
    if (canonical == NULL)
        tap_check(is_untouched(&recipe), "'%s' changed something", list);
    else
        tap_check(strcmp(recipe_fields_text(&recipe, text), canonical) == 0, "'%s': %s", list,
                  text);
    for (unsigned i = recipe.ranges; i < RECIPE_RANGES_MAX && canonical != NULL; i++)
        tap_check(recipe.range[i].first == 0 && recipe.range[i].last == 0, "'%s': %u", list, i);
}

static void lists(void)
{
    static const char *const good[][2] = {
        {"2", "2"},           {"1,3", "1,3"},       {"3,1", "1,3"},        {"2-4", "2-4"},
        {"3-", "3-"},         {"-2", "1-2"},        {"1-3", "1-3"},        {"1,2,3", "1-3"},
        {"3,1-2", "1-3"},     {"1-4,2-3", "1-4"},   {"2-3,1-2", "1-3"},    {"5-,2-7", "2-"},
        {"5-,9", "5-"},       {"1-,3-", "1-"},      {"2,2", "2"},          {"2-2", "2"},
        {"65535", "65535"},   {"65535-", "65535-"}, {"-65535", "1-65535"}, {"007", "7"},
        {"1-65535,2-", "1-"}, {"1,3,5", "1,3,5"},   {"4-,-2", "1-2,4-"},   {"3-,-2", "1-"},
    };
    static const char *const bad[] = {
        "",   "0",     "3-2",  "1-0", "0-1",   "-",       "-0",
        "1,", ",1",    "1,,2", "a",   "1a",    "1 ",      " 1",
        "+1", "1-2-3", "1--2", "--1", "65536", "1-65536", "99999999999999999999",
        "0-", "2-1,5", "1;2",  "1.5",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_fields(good[i][0], good[i][1]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_fields(bad[i], NULL);
}

/* Sixteen ranges are kept, however many numbers they came from. */
static void many_ranges(void)
{
    char list[4096] = "1";
    for (unsigned i = 3; i <= 31; i += 2)
        snprintf(list + strlen(list), 8, ",%u", i);
    check_fields(list, list);
    char more[sizeof list + 16];
    snprintf(more, sizeof more, "%s,33", list);
    check_fields(more, NULL);
    snprintf(more, sizeof more, "%s,33,-40", list);
    check_fields(more, "1-40");
    list[0] = '\0';
    for (unsigned i = 200; i >= 1; i--)
        snprintf(list + strlen(list), 8, "%u%s", i, i > 1 ? "," : "");
    check_fields(list, "1-200");
    for (unsigned i = 0; i < 1000; i++)
        snprintf(list + strlen(list), 8, ",%u", 7 + i % 2);
    check_fields(list, NULL);
}

static void check_separator(const char *written, int byte, const char *canonical)
{
    struct recipe recipe = untouched;
    char text[RECIPE_TEXT];
    const char *wanted = NULL;
    const char *fault = recipe_parse_separator(&recipe, written, &wanted);
    tap_check((fault == NULL) == (byte >= 0) && wanted != NULL, "'%s': %s", written, fault);
    if (byte < 0) {
        tap_check(is_untouched(&recipe), "'%s' changed something", written);
        return;
    }
    tap_check(recipe.separated && (unsigned char)recipe.separator == byte, "'%s': %d", written,
              recipe.separator);
    tap_check(strcmp(recipe_separator_text(&recipe, text), canonical) == 0, "'%s': %s", written,
              text);
}

static void separators(void)
{
    static const char *const bad[] = {"",      "ab",   "\\",     "\\x9",   "\\x", "\\n",  "\\xg0",
                                      "\\x0g", "\\t ", "\\x011", "\\\\\\", "é",   "\\x 1"};
    check_separator(",", ',', ",");
    check_separator(" ", ' ', " ");
    check_separator("\t", '\t', "\\t");
    check_separator("\\t", '\t', "\\t");
    check_separator("\\0", 0, "\\0");
    check_separator("\\\\", '\\', "\\\\");
    check_separator("\\x1F", 0x1f, "\\x1f");
    check_separator("\\xfF", 0xff, "\\xff");
    check_separator("\\x2c", ',', ",");
    check_separator("\\x00", 0, "\\0");
    check_separator("\\x7f", 0x7f, "\\x7f");
    check_separator("\xff", 0xff, "\\xff");
    check_separator("'", '\'', "'");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_separator(bad[i], -1, NULL);
}

/* What is written of each byte gives that byte again. */
static void every_separator(void)
{
    for (int byte = 0; byte < 256; byte++) {
        struct recipe recipe = {.separated = true, .separator = (char)byte};
        char text[RECIPE_TEXT], again[RECIPE_TEXT];
        strcpy(again, recipe_separator_text(&recipe, text));
        check_separator(again, byte, text);
    }
}

static void profiles(void)
{
    static const char *const bad[] = {"", "urls", "ur", "URL", "url/", "url/1", "/1", " url"};
    const char *wanted = NULL;
    for (unsigned i = 0; i < PROFILES; i++) {
        struct recipe recipe = {.version = 77};
        tap_check(recipe_parse_profile(&recipe, profile_names[i], &wanted) == NULL, "%s",
                  profile_names[i]);
        tap_check(recipe.profile == i && recipe.version == profile_versions[i], "%s: %u/%u",
                  profile_names[i], recipe.profile, recipe.version);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct recipe recipe = untouched;
        const char *fault = recipe_parse_profile(&recipe, bad[i], &wanted);
        tap_check(fault != NULL && wanted != NULL && is_untouched(&recipe), "'%s'", bad[i]);
    }
}

static void whole_recipes(void)
{
    struct recipe recipe = {.trim = false};
    char text[RECIPE_TEXT];
    const char *wanted;
    tap_check(recipe_is_whole_line(&recipe), "not the whole line");
    tap_check(strcmp(recipe_text(&recipe, text), "") == 0, "'%s'", text);
    recipe_parse_separator(&recipe, "\\t", &wanted);
    recipe_parse_fields(&recipe, "3-,1", &wanted);
    recipe_parse_profile(&recipe, "url", &wanted);
    recipe.trim = recipe.fold = true;
    tap_check(strcmp(recipe_text(&recipe, text), "--trim -f 1,3- -t '\\t' --by url -i") == 0,
              "'%s'", text);
    struct recipe some[] = {{.trim = true},
                            {.fold = true},
                            {.profile = PROFILE_HOST, .version = 1},
                            {.ranges = 1, .range = {{1, 0}}}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        tap_check(!recipe_is_whole_line(&some[i]), "%zu is the whole line", i);
}

/* The longest one has room, and a shell reads each separator as it was. */
static void in_a_shell(void)
{
    static const char *const shown[][2] = {
        {":", "-t :"},         {",", "-t ,"},     {" ", "-t ' '"}, {"'", "-t ''\\'''"},
        {"\\t", "-t '\\t'"},   {"|", "-t '|'"},   {"$", "-t '$'"}, {"\\x01", "-t '\\x01'"},
        {"\\\\", "-t '\\\\'"}, {"\"", "-t '\"'"}, {"!", "-t '!'"}, {"~", "-t '~'"},
        {"#", "-t '#'"},
    };
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        struct recipe recipe = {.trim = false};
        char text[RECIPE_TEXT];
        const char *wanted;
        recipe_parse_separator(&recipe, shown[i][0], &wanted);
        tap_check(strcmp(recipe_text(&recipe, text), shown[i][1]) == 0, "%s", text);
    }
    struct recipe longest = {.ranges = RECIPE_RANGES_MAX, .trim = true, .fold = true};
    char text[RECIPE_TEXT];
    for (unsigned i = 0; i < RECIPE_RANGES_MAX; i++)
        longest.range[i] = (struct field_range){(uint16_t)(60000 + 3 * i),
                                                (uint16_t)(60001 + 3 * i)};
    size_t length = strlen(recipe_text(&longest, text));
    tap_check(length == strlen("--trim -f ") + 16 * 12 - 1 + strlen(" -i"), "%zu: %s", length,
              text);
}

int main(void)
{
    tap_run("lists of fields", lists);
    tap_run("lists of many ranges", many_ranges);
    tap_run("separators", separators);
    tap_run("each byte as a separator", every_separator);
    tap_run("profiles", profiles);
    tap_run("whole recipes", whole_recipes);
    tap_run("recipes for a shell", in_a_shell);
    return tap_end();
}
