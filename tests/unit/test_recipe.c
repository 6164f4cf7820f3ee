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
           recipe->range[0].last == 9 && recipe->names[0] == '\0' && !recipe->except;
}

/* NULL: it is no list, and nothing is changed. */
static void check_list(struct recipe recipe, const char *list, const char *canonical)
{
    char text[RECIPE_TEXT];
    const char *wanted = NULL;
    const char *fault = recipe_parse_fields(&recipe, list, &wanted);
    tap_check((fault == NULL) == (canonical != NULL) && wanted != NULL, "'%s': %s", list, fault);
    if (canonical == NULL) {
        recipe.syntax = SYNTAX_FIELDS;
        recipe.separated = false;
        tap_check(is_untouched(&recipe), "'%s' changed something", list);
        return;
    }
    tap_check(strcmp(recipe_fields_text(&recipe, text), canonical) == 0, "'%s': %s", list, text);
    tap_check((recipe.ranges > 0) != (recipe.names[0] != '\0') && recipe_has_list(&recipe) &&
                  (recipe.ranges > 0 || recipe_names_are_valid(&recipe)),
              "'%s': %u ranges and '%s'", list, recipe.ranges, recipe.names);
    for (unsigned i = recipe.ranges; i < RECIPE_RANGES_MAX; i++)
        tap_check(recipe.range[i].first == 0 && recipe.range[i].last == 0, "'%s': %u", list, i);
    /* What is shown says the same again, after whatever else was there. */
    struct recipe again = recipe;
    bool has_names = recipe.syntax == SYNTAX_JSONL || recipe.separated;
    const char *other = has_names ? "!zz" : "!7";
    tap_check(recipe_parse_fields(&again, other, &wanted) == NULL &&
                  !recipe_is_same(&recipe, &again) &&
                  recipe_parse_fields(&again, canonical, &wanted) == NULL &&
                  recipe_is_same(&recipe, &again),
              "'%s' again", canonical);
}

static void check_fields(const char *list, const char *canonical)
{
    check_list(untouched, list, canonical);
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

/* After "!", all fields but these. */
static void other_lists(void)
{
    static const char *const good[][2] = {
        {"!1", "2-"},
        {"!2", "1,3-"},
        {"!2,4-5", "1,3,6-"},
        {"!5,4,2", "1,3,6-"},
        {"!3-", "1-2"},
        {"!2-", "1"},
        {"!-2", "3-"},
        {"!1,3-", "2"},
        {"!2,2", "1,3-"},
        {"!2-65534", "1,65535-"},
        {"!65534", "1-65533,65535-"},
        {"!65535-", "1-65534"},
    };
    static const char *const bad[] = {
        "!",        "!0",     "!3-2", "!1-",  "!-",  "!2-,1", "!65535",
        "!2-65535", "!65536", "!!2",  "2,!3", "!2,", "! 2",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_fields(good[i][0], good[i][1]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_fields(bad[i], NULL);
    /* As many ranges as a recipe holds, of what is left. */
    char odd[256] = "!1", even[256] = "2";
    for (unsigned i = 3; i <= 31; i += 2) {
        snprintf(odd + strlen(odd), 8, ",%u", i);
        snprintf(even + strlen(even), 8, ",%u%s", i + 1, i == 31 ? "-" : "");
    }
    check_fields(odd, even);
    strcat(odd, ",33-");
    even[strlen(even) - 1] = '\0';
    check_fields(odd, even);
    even[0] = '!';
    snprintf(even + 1, sizeof even - 1, "2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32");
    check_fields(even, NULL);
    strcat(even, "-");
    check_fields(even, "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31");
}

/* --- names --- */

static struct recipe of_syntax(enum syntax syntax)
{
    struct recipe recipe = untouched;
    recipe.syntax = syntax;
    recipe.separated = syntax != SYNTAX_JSONL;
    return recipe;
}

/* The names of columns, and of members. "" stands for no list. */
static void names(void)
{
    static const char *const good[][3] = {
        {"id", "id", "id"},
        {"b,a", "b,a", "b,a"},
        {"b,a,b,a", "b,a", "b,a"},
        {"order-id", "order-id", "order-id"},
        {"1a,a b,\t,'", "1a,a b,\t,'", "1a,a b,\t,'"},
        {" id", " id", " id"},
        {" \"id\"", "\" \"\"id\"\"\"", "\" \"\"id\"\"\""},
        {"5\" disk", "\"5\"\" disk\"", "\"5\"\" disk\""},
        /* In quotes, as CSV has them; kept so only if that is needed. */
        {"\"id\"", "id", "id"},
        {"\"id\",id,n", "id,n", "id,n"},
        {"\"last, first\",id", "\"last, first\",id", "\"last, first\",id"},
        {"id,\"a\"\"b\"", "id,\"a\"\"b\"", "id,\"a\"\"b\""},
        {"\"\"\"\"", "\"\"\"\"", "\"\"\"\""},
        {"\",\"", "\",\"", "\",\""},
        {"a\nb,\"c\rd\"", "\"a\nb\",\"c\rd\"", "\"a\nb\",\"c\rd\""},
        {"\xc3\xa9,\xff", "\xc3\xa9,\xff", "\xc3\xa9,\xff"},
        /* Numbers, but for those of members. */
        {"\"2019\",\"-\",a", "\"2019\",\"-\",a", "2019,-,a"},
        {"2,1", "1-2", "2,1"},
        {"3-", "3-", "3-"},
        {"2019,a", "", "2019,a"},
        {"1,\"2\"", "", "1,2"},
        {"2019-01", "", "2019-01"},
        {"\"2019-01\"", "\"2019-01\"", "2019-01"},
        /* All but these. */
        {"!a", "!a", "!a"},
        {"!b,\"a\",b", "!a,b", "!b,a,b"},
        {"!\"last, first\",id", "!id,\"last, first\"", "\"!\"\"last\",\" first\"\"\",id"},
        {"!2", "1,3-", "!2"},
        {"!\"2\",1a", "!1a,\"2\"", "\"!\"\"2\"\"\",1a"},
        {"!2,a", "", "!2,a"},
        {"!!a", "!\"!a\"", "!!a"},
        {"\"!a\",b", "\"!a\",b", "!a,b"},
        {"b,!a", "b,!a", "b,!a"},
        {"!b,!a", "!\"!a\",b", "!b,!a"},
        {"!", "", "!"},
        {"!,a", "", "!,a"},
        /* Pointers to members. */
        {"/a,b", "/a,b", "/a,b"},
        {"\"/a,b\"", "\"/a,b\"", "\"/a,b\""},
        {"/a~2", "/a~2", ""},
        {"a~2,/~0~1", "a~2,/~0~1", "a~2,/~0~1"},
        {"\"/a,~\"", "\"/a,~\"", ""},
        /* Nothing, or no item. */
        {"", "", ""},
        {",", "", ""},
        {"a,", "", ""},
        {",a", "", ""},
        {"a,,b", "", ""},
        {"\"\"", "", ""},
        {"a,\"\"", "", ""},
        {"\"a", "", ""},
        {"\"", "", ""},
        {"\"a\"\"", "", ""},
        {"\"a\"b", "", ""},
        {"\"a\" ,b", "", ""},
        {"a,\"b\"\"c", "", ""},
        {"1,\"b", "", ""},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *column = good[i][1][0] != '\0' ? good[i][1] : NULL;
        check_list(of_syntax(SYNTAX_FIELDS), good[i][0], column);
        check_list(of_syntax(SYNTAX_CSV), good[i][0], column);
        check_list(of_syntax(SYNTAX_JSONL), good[i][0], good[i][2][0] != '\0' ? good[i][2] : NULL);
    }
    /* Without a separator, fields have no names. */
    check_fields("id", NULL);
    check_fields("\"2\"", NULL);
    check_fields("!id", NULL);
}

/* At most 16, however often they are given, and 1024 bytes as they are kept. */
static void many_names(void)
{
    enum { BYTES = RECIPE_NAMES_BYTES };
    const struct recipe csv = of_syntax(SYNTAX_CSV);
    char list[8 * BYTES] = "n0", wanted[8 * BYTES];
    for (unsigned i = 1; i < RECIPE_NAMES_MAX; i++)
        snprintf(list + strlen(list), 8, ",n%u", i);
    strcpy(wanted, list);
    for (unsigned i = 0; i < 1000; i++)
        strcat(list, ",n3");
    check_list(csv, list, wanted);
    strcat(list, ",n16");
    check_list(csv, list, NULL);
    /* One name of 1024 bytes; in quotes, of 1022. */
    memset(list, 'n', BYTES);
    list[BYTES] = '\0';
    check_list(csv, list, list);
    strcat(list, "n");
    check_list(csv, list, NULL);
    memset(list, ',', BYTES);
    list[0] = list[BYTES - 1] = '"';
    list[BYTES] = '\0';
    check_list(csv, list, list);
    wanted[0] = '!';
    strcpy(wanted + 1, list);
    check_list(csv, wanted, wanted);
    list[BYTES - 1] = ',';
    list[BYTES] = '"';
    list[BYTES + 1] = '\0';
    check_list(csv, list, NULL);
    /* Quotes that become two: 510 are kept as 1020. */
    memset(list, '"', BYTES);
    list[0] = 'a';
    list[511] = '\0';
    memset(wanted, '"', BYTES);
    wanted[1] = 'a';
    wanted[1023] = '\0';
    check_list(csv, list, wanted);
    strcat(list, "\"");
    check_list(csv, list, NULL);
    /* Sixteen names, 1025 bytes with their commas. */
    memset(list, 'n', BYTES + 1);
    list[BYTES + 1] = '\0';
    for (unsigned i = 0; i < RECIPE_NAMES_MAX - 1; i++) {
        list[2 * i] = (char)('a' + i);
        list[2 * i + 1] = ',';
    }
    check_list(csv, list, NULL);
    list[BYTES] = '\0';
    check_list(csv, list, list);
}

/* One after the other, as they are. */
static void names_one_by_one(void)
{
    static const char *const items[] = {"last, first", "a\"b", "2019", "id"};
    struct recipe recipe = of_syntax(SYNTAX_CSV);
    char name[RECIPE_NAMES_BYTES + 1];
    const char *wanted, *at = recipe.names;
    const char *fault = recipe_parse_fields(&recipe, "\"last, first\",a\"b,\"2019\",id", &wanted);
    tap_check(fault == NULL, "%s", fault);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        tap_check(*at != '\0', "only %zu names", i);
        size_t length = recipe_next_name(&at, name);
        tap_check(length == strlen(items[i]) && strcmp(name, items[i]) == 0, "%zu: '%s'", i, name);
    }
    tap_check(*at == '\0', "more: '%s'", at);
    /* The longest has room, and an end. */
    memset(recipe.names, 'n', RECIPE_NAMES_BYTES);
    at = recipe.names;
    tap_check(recipe_next_name(&at, name) == RECIPE_NAMES_BYTES && *at == '\0' &&
                  strcmp(name, recipe.names) == 0,
              "%zu bytes", strlen(name));
}

/* What must not stand in a file. */
static void canonical_names(void)
{
    static const struct {
        const char *names;
        bool except, columns, members;
    } some[] = {
        {"id", false, true, true},        {"id", true, true, false},
        {"b,a", false, true, true},       {"b,a", true, false, false},
        {"id,id", false, false, false},   {"\"id\"", false, false, false},
        {"2019", false, false, true},     {"\"2019\"", false, true, false},
        {"!a", false, false, true},       {"\"!a\"", false, true, false},
        {"!a", true, false, false},       {"\"!a\"", true, true, false},
        {"a\"b", false, false, false},    {"\"a\"\"b\"", false, true, true},
        {"a,", false, false, false},      {"", false, false, false},
        {"\"a", false, false, false},     {"\"a\"b", false, false, false},
        {"\"a,b\",c", false, true, true}, {"a\nb", false, false, false},
        {"/a~", false, true, false},      {"\"\"", false, false, false},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (enum syntax syntax = SYNTAX_FIELDS; syntax < SYNTAXES; syntax++) {
            struct recipe recipe = {.syntax = syntax, .except = some[i].except};
            strcpy(recipe.names, some[i].names);
            bool wanted = syntax == SYNTAX_JSONL ? some[i].members : some[i].columns;
            if (syntax != SYNTAX_JSONL || !recipe.except)
                tap_check(recipe_names_are_valid(&recipe) == wanted, "%s %s%s",
                          syntax_names[syntax], recipe.except ? "all but " : "", recipe.names);
            recipe.names[RECIPE_NAMES_BYTES - 1] = 'x';
            tap_check(!recipe_names_are_valid(&recipe), "%s, and more", recipe.names);
        }
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

static void check_added(struct recipe *recipe, const char *pattern, const char *fault)
{
    const struct recipe before = *recipe;
    const char *wanted = NULL, *said;
    size_t place = 77;
    said = recipe_add_pattern(recipe, pattern, &place, &wanted);
    tap_check(fault == NULL ? said == NULL : said != NULL && strcmp(said, fault) == 0, "'%s': %s",
              pattern, said);
    if (fault != NULL)
        tap_check(recipe_is_same(&before, recipe) && wanted != NULL &&
                      (place == RECIPE_NO_PLACE) == (*pattern != '\0'),
                  "'%s': changes something, or at %zu", pattern, place);
    tap_check(recipe_check_patterns(recipe) == 1, "'%s' is not kept", pattern);
}

/* In the order given, also twice; at most 16, and 1000 bytes. */
static void patterns(void)
{
    struct recipe recipe = {.ranges = 0};
    char longest[RECIPE_PATTERNS_BYTES + 2];
    check_added(&recipe, "b", NULL);
    check_added(&recipe, "", "empty pattern");
    check_added(&recipe, "a\xff", NULL);
    check_added(&recipe, "b", NULL);
    tap_check(memcmp(recipe.patterns, "b\0a\xff\0b\0", sizeof "b\0a\xff\0b\0") == 0, "'%s'",
              recipe.patterns);
    for (unsigned i = 3; i < RECIPE_PATTERNS_MAX; i++)
        check_added(&recipe, "c", NULL);
    check_added(&recipe, "c", "too many patterns");

    memset(longest, 'x', sizeof longest);
    longest[RECIPE_PATTERNS_BYTES + 1] = '\0';
    recipe = (struct recipe){.ranges = 0};
    check_added(&recipe, longest, "too long a pattern");
    check_added(&recipe, longest + 1, NULL);
    check_added(&recipe, "x", "too long with the patterns before it");
    recipe = (struct recipe){.ranges = 0};
    for (unsigned i = 1; i < RECIPE_PATTERNS_MAX; i++)
        check_added(&recipe, "c", NULL);
    check_added(&recipe, longest + 15, "too long with the patterns before it");
    check_added(&recipe, longest + 16, NULL);

    memset(recipe.patterns, 'x', sizeof recipe.patterns);
    tap_check(recipe_check_patterns(&recipe) == 0, "without an end");
    memset(recipe.patterns + RECIPE_PATTERNS_BYTES + 1, 0, 23);
    tap_check(recipe_check_patterns(&recipe) == 0, "of 1001 bytes");
}

/* Filters whose recipes differ in one thing have other keys, and are not taken for alike. */
static void differences(void)
{
    static const struct recipe whole_line,
        others[] = {
            {.profile = PROFILE_URL}, {.version = 1},     {.trim = true},   {.fold = true},
            {.separated = true},      {.separator = ','}, {.ranges = 1},    {.range = {{1, 1}}},
            {.syntax = SYNTAX_CSV},   {.names = "a"},     {.except = true}, {.patterns = "a"},
            {.patterns = "a\0b"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        tap_check(!recipe_is_same(&whole_line, &others[i]), "difference %zu", i);
    tap_check(!recipe_is_same(&others[11], &others[12]), "one pattern of two");
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
                            {.ranges = 1, .range = {{1, 0}}},
                            {.separated = true, .separator = ',', .names = "id"},
                            {.patterns = "a"},
                            {.syntax = SYNTAX_CSV}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        tap_check(!recipe_is_whole_line(&some[i]), "%zu is the whole line", i);
    for (unsigned i = 0; i < RECIPE_RANGES_MAX; i++)
        longest.range[i] = (struct field_range){(uint16_t)(60000 + 3 * i),
                                                (uint16_t)(60001 + 3 * i)};
    size_t length = strlen(recipe_text(&longest, text));
    tap_check(length == strlen("--trim -f ") + 16 * 12 - 1, "%zu: %s", length, text);
    recipe = (struct recipe){.separated = true, .separator = '\t'};
    recipe_parse_fields(&recipe, "!it's,\"last, first\"", &wanted);
    tap_check(strcmp(recipe_text(&recipe, text), "-f '!it'\\''s,\"last, first\"' -t '\\t'") == 0,
              "'%s'", text);
    recipe = (struct recipe){.syntax = SYNTAX_CSV, .except = true};
    memset(recipe.names, '\'', RECIPE_NAMES_BYTES);
    length = strlen(recipe_text(&recipe, text));
    tap_check(length == strlen("--csv -f '!'") + 4 * (size_t)RECIPE_NAMES_BYTES, "%zu: %s", length,
              text);
    recipe = (struct recipe){.fold = true, .patterns = "[0-9]+\0it's\0\n\0a"};
    tap_check(strcmp(recipe_text(&recipe, text),
                     "-i --without '[0-9]+' --without 'it'\\''s' --without $'\\012' --without a") ==
                  0,
              "'%s'", text);
    /* The longest: 1000 control bytes, in 16 patterns, beside the names. */
    recipe = (struct recipe){.syntax = SYNTAX_CSV, .trim = true, .fold = true, .except = true};
    recipe.profile = PROFILE_ENDPOINT;
    memset(recipe.names, '\'', RECIPE_NAMES_BYTES);
    memset(recipe.patterns, '\1', RECIPE_PATTERNS_BYTES + RECIPE_PATTERNS_MAX - 1);
    for (unsigned i = 1; i < RECIPE_PATTERNS_MAX; i++)
        recipe.patterns[2 * i - 1] = '\0';
    length = strlen(recipe_text(&recipe, text));
    tap_check(length == strlen("--csv --trim -f '!' --by endpoint -i") +
                            4 * ((size_t)RECIPE_NAMES_BYTES + RECIPE_PATTERNS_BYTES) +
                            RECIPE_PATTERNS_MAX * strlen(" --without $''"),
              "%zu: %s", length, text);
}

int main(void)
{
    tap_run("lists of fields", lists);
    tap_run("lists of many ranges", many_ranges);
    tap_run("lists of all but some fields", other_lists);
    tap_run("lists of names: plain, in quotes, all but these", names);
    tap_run("lists of many names, and of long ones", many_names);
    tap_run("names, one by one", names_one_by_one);
    tap_run("names that are kept", canonical_names);
    tap_run("separators: each byte, however it is written", separators);
    tap_run("patterns", patterns);
    tap_run("any difference", differences);
    tap_run("recipes as options", texts);
    return tap_end();
}
