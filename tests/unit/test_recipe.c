/* Recipes: what their options say, and how they are said again. */
#include "key/recipe.h"

#include "tap.h"

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

/* What is written of each byte gives that byte again. */
static void separators(void)
{
    static const char *const bad[] = {"",      "ab",   "\\",     "\\x9",   "\\x", "\\n",  "\\xg0",
                                      "\\x0g", "\\t ", "\\x011", "\\\\\\", "é",   "\\x 1"};
    for (int byte = 0; byte < 256; byte++) {
        struct recipe recipe = {.separated = true, .separator = (char)byte};
        char text[RECIPE_TEXT], again[RECIPE_TEXT];
        strcpy(again, recipe_separator_text(&recipe, text));
        check_separator(again, byte, text);
    }
    check_separator("\\t", '\t', "\\t");
    check_separator("\\0", 0, "\\0");
    check_separator("\\\\", '\\', "\\\\");
    check_separator("\\xfF", 0xff, "\\xff");
    check_separator("\\x2c", ',', ",");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_separator(bad[i], -1, NULL);
}

/* Each with its newest version. */
static void profiles(void)
{
    static const char *const bad[] = {"", "URL", "urls", "url/1"};
    const char *wanted;
    for (unsigned i = 0; i < PROFILES; i++) {
        struct recipe recipe = untouched;
        tap_check(recipe_parse_profile(&recipe, profile_names[i], &wanted) == NULL &&
                      recipe.profile == i && recipe.version == profile_versions[i],
                  "%s: %u/%u", profile_names[i], recipe.profile, recipe.version);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct recipe recipe = untouched;
        tap_check(recipe_parse_profile(&recipe, bad[i], &wanted) != NULL && is_untouched(&recipe),
                  "'%s' passes", bad[i]);
    }
}

/* Filters whose recipes differ in one thing have other keys, and are not taken for alike. */
static void differences(void)
{
    static const struct recipe whole_line,
        others[] = {
            {.profile = PROFILE_URL}, {.version = 1},     {.trim = true}, {.fold = true},
            {.separated = true},      {.separator = ','}, {.ranges = 1},  {.range = {{1, 1}}}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        tap_check(!recipe_is_same(&whole_line, &others[i]), "difference %zu", i);
    tap_check(recipe_is_same(&others[0], &others[0]), "not the same as itself");
}

/* As options, for a shell; the longest has room. */
static void texts(void)
{
    struct recipe recipe = {.trim = false}, longest = {.ranges = RECIPE_RANGES_MAX, .trim = true};
    char text[RECIPE_TEXT];
    const char *wanted;
    tap_check(recipe_is_whole_line(&recipe) && recipe_text(&recipe, text)[0] == '\0', "'%s'", text);
    text[0] = '1';
    tap_check(recipe_fields_text(&recipe, text)[0] == '\0', "no field: '%s'", text);
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
    for (unsigned i = 0; i < RECIPE_RANGES_MAX; i++)
        longest.range[i] = (struct field_range){(uint16_t)(60000 + 3 * i),
                                                (uint16_t)(60001 + 3 * i)};
    size_t length = strlen(recipe_text(&longest, text));
    tap_check(length == strlen("--trim -f ") + 16 * 12 - 1, "%zu: %s", length, text);
}

int main(void)
{
    tap_run("lists of fields", lists);
    tap_run("lists of many ranges", many_ranges);
    tap_run("separators: each byte, however it is written", separators);
    tap_run("profiles", profiles);
    tap_run("any difference", differences);
    tap_run("recipes as options", texts);
    return tap_end();
}
