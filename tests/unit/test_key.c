/* What part of a line counts: fields and columns as the plainest way finds them, and what must hold
 * of any line. Examples are in tests/keys.bats and tests/header.bats. */
#include "key/columns.h"
#include "key/endpoint.h"
#include "key/keyer.h"
#include "key/without.h"

#include "chance.h"
#include "guards.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 4096 };

static struct recipe by(enum profile profile)
{
    return (struct recipe){.profile = profile, .version = profile_versions[profile]};
}

static struct recipe fields(const char *list, const char *separator)
{
    struct recipe recipe = {.trim = false};
    const char *wanted;
    const char *fault = NULL;
    if (separator != NULL)
        fault = recipe_parse_separator(&recipe, separator, &wanted);
    tap_check(fault == NULL, "-t %s: %s", separator, fault);
    fault = recipe_parse_fields(&recipe, list, &wanted);
    tap_check(fault == NULL, "-f %s: %s", list, fault);
    return recipe;
}

/* Of CSV; NULL: all columns. */
static struct recipe csv(const char *list, char separator)
{
    struct recipe recipe = {.syntax = SYNTAX_CSV, .separated = true, .separator = separator};
    const char *wanted;
    const char *fault = list != NULL ? recipe_parse_fields(&recipe, list, &wanted) : NULL;
    tap_check(fault == NULL, "--csv -f %s: %s", list, fault);
    return recipe;
}

/* Of members of JSON. */
static struct recipe jsonl(const char *list)
{
    struct recipe recipe = {.syntax = SYNTAX_JSONL};
    const char *wanted;
    const char *fault = recipe_parse_fields(&recipe, list, &wanted);
    tap_check(fault == NULL, "--jsonl -f %s: %s", list, fault);
    return recipe;
}

/* The recipe with one pattern. */
static struct recipe without(struct recipe recipe, const char *pattern)
{
    memcpy(recipe.patterns, pattern, strlen(pattern) + 1);
    return recipe;
}

static struct keyer *keyer_of(struct recipe recipe)
{
    struct keyer *keyer = keyer_new(&recipe);
    if (keyer == NULL)
        exit(1);
    return keyer;
}

static bool text_is(struct key_text text, const char *bytes, size_t length)
{
    return text.length == length && memcmp(text.bytes, bytes, length) == 0;
}

/* What keyer_hash makes of a line before others, which have only the byte `next`, is the hash of
 * what keyer_text makes of it. */
static void check_hash(struct keyer *keyer, const char *line, size_t length, struct key_text text,
                       char next)
{
    enum { BEHIND = 200 };
    const struct hashers hashers = hashers_of_keys(hasher_xxh3(0));
    const size_t starts[] = {0, length + 1, length + 1 + BEHIND};
    char *bytes = malloc(starts[2]);
    struct key wanted = hash_key(text.bytes, text.length,
                                 text.no_key == HAS_KEY ? hashers.key : hashers.line);
    struct key keys[2];
    uint8_t no_key[2];
    if (bytes == NULL || keyer_reserve(keyer, starts[2]) != 0)
        exit(1);
    memset(mempcpy(bytes, line, length), next, BEHIND + 1);
    keyer_hash(keyer, bytes, starts, NULL, 2, &(struct hashes){hashers, keys}, 1, no_key);
    tap_check(memcmp(&keys[0], &wanted, sizeof wanted) == 0 && no_key[0] == text.no_key,
              "'%.*s' has another hash than its key", (int)length, line);
    free(bytes);
}

/* Checks what counts of `line`; NULL: it has no key. */
static void check_bytes(struct recipe recipe, const char *line, size_t length, const char *key,
                        size_t key_length)
{
    char options[RECIPE_TEXT];
    struct keyer *keyer = keyer_of(recipe);
    struct key_text text = keyer_text(keyer, line, length, ROW_ODD);
    recipe_text(&recipe, options);
    tap_check((text.no_key != HAS_KEY) == (key == NULL), "%s: '%.*s' has no key: %d", options,
              (int)length, line, text.no_key);
    if (key == NULL)
        tap_check(text.bytes == line && text.length == length, "%s: '%s' is changed", options,
                  line);
    else
        tap_check(text_is(text, key, key_length), "%s: '%.*s' gives '%.*s', not '%s'", options,
                  (int)length, line, (int)text.length, text.bytes, key);
    struct keyer *second = keyer_of(recipe);
    check_hash(second, line, length, text, recipe.separated ? recipe.separator : '\n');
    keyer_free(second);
    keyer_free(keyer);
}

/* --- fields --- */

static bool is_wanted(const struct recipe *recipe, unsigned field)
{
    for (unsigned i = 0; i < recipe->ranges; i++)
        if (field >= recipe->range[i].first &&
            (recipe->range[i].last == 0 || field <= recipe->range[i].last))
            return true;
    return false;
}

/* The plainest way: every byte is asked which field it is in. Returns the length of what is wanted,
 * or -1 if its first field is missing or empty. */
static int plain_fields(const struct recipe *recipe, const char *line, size_t length, char *out)
{
    unsigned field = recipe->separated;
    bool empty = true; /* the first of them */
    int n = 0, taken = 0;
    for (size_t i = 0; i <= length && recipe->separated; i++) {
        bool ends = i == length || line[i] == recipe->separator;
        if ((i == 0 || line[i - 1] == recipe->separator) && is_wanted(recipe, field) && taken++ > 0)
            out[n++] = recipe->separator;
        if (!ends && is_wanted(recipe, field))
            out[n++] = line[i];
        empty &= ends || field != recipe->range[0].first;
        field += ends && i < length;
    }
    for (size_t i = 0; i < length && !recipe->separated; i++) {
        bool blank = line[i] == ' ' || line[i] == '\t';
        bool begins = !blank && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t');
        field += begins;
        if (begins && is_wanted(recipe, field) && taken++ > 0)
            out[n++] = ' ';
        if (!blank && is_wanted(recipe, field))
            out[n++] = line[i];
        empty &= blank || field != recipe->range[0].first;
    }
    return empty ? -1 : n;
}

/* Lines of all lengths around a block of 64 bytes, of few fields and of many. */
static void fields_the_plain_way(void)
{
    static const char *const lists[] = {"1", "2", "3-", "-2", "2-3", "1,3", "2,4-5,9-", "6,20"};
    struct chance chance = {5};
    for (unsigned i = 0; i < tap_cases(60000); i++) {
        struct recipe recipe = fields(lists[i % 8], i / 8 % 3 == 0   ? NULL
                                                    : i / 8 % 3 == 1 ? ","
                                                                     : "\\0");
        char line[256], wanted[256];
        size_t length = chance_below(&chance, 200);
        uint64_t every = 1 + chance_below(&chance, 40);
        for (size_t at = 0; at < length; at++)
            line[at] = chance_below(&chance, every) == 0 ? " \t,\0"[chance_below(&chance, 4)] : 'a';
        int n = plain_fields(&recipe, line, length, wanted);
        check_bytes(recipe, line, length, n < 0 ? NULL : wanted, n < 0 ? 0 : (size_t)n);
    }
}

/* --- rows of CSV --- */

/* Many columns that a row does not have: each has a separator in the key. */
static void columns_that_are_missing(void)
{
    enum { COLUMNS = 65535 };
    static char header[2 * COLUMNS + 3], key[COLUMNS];
    memcpy(header, "id", 2);
    for (size_t i = 0; i < COLUMNS; i++)
        memcpy(header + 2 + 2 * i, ",c", 2);
    memset(key, ',', sizeof key);
    key[0] = 'x';
    key[1] = ',';
    struct fault fault;
    struct keyer *keyer = keyer_of(csv("!id", ','));
    if (keyer_reserve(keyer, sizeof header) != 0 ||
        keyer_read_header(keyer, header, sizeof header - 1, "input", &fault) != 0)
        exit(1);
    struct keyer *copy = keyer_copy(keyer);
    if (copy == NULL)
        exit(1);
    struct key_text text = keyer_text(copy, "7,x", 3, 0);
    tap_check(text_is(text, key, sizeof key), "%zu bytes", text.length);
    keyer_free(copy);
    keyer_free(keyer);
}

/* --- patterns --- */

/* What no pattern matches is the key that it is without any, and where it was in the line. */
static void nothing_left_out(void)
{
    static const char line[] = "http://a/,b,\"c\"", object[] = "{\"a\":\"b\",\"b\":7}";
    const struct recipe recipes[] = {{.fold = false},  by(PROFILE_URL),  fields("2", ","),
                                     csv("2", ','),    csv("1,2", ','),  fields("1-", ","),
                                     csv(NULL, ','),   jsonl("a"),       jsonl("b,a"),
                                     by(PROFILE_HOST), fields("1", NULL)};
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        const char *text = recipes[i].syntax == SYNTAX_JSONL ? object : line;
        struct keyer *plain = keyer_of(recipes[i]), *first = keyer_of(without(recipes[i], "[~^]x"));
        struct keyer *keyer = keyer_copy(first);
        if (keyer == NULL)
            exit(1);
        keyer_free(first);
        struct key_text all = keyer_text(plain, text, strlen(text), ROW_QUOTED);
        struct key_text some = keyer_text(keyer, text, strlen(text), ROW_QUOTED);
        tap_check(!all.no_key && !some.no_key && text_is(some, all.bytes, all.length),
                  "recipe %zu: '%.*s'", i, (int)some.length, some.bytes);
        /* Several values are copied. */
        tap_check(all.bytes < text || all.bytes > text + strlen(text) || some.bytes == all.bytes ||
                      (recipes[i].ranges > 0 && recipes[i].range[0].last == 0),
                  "recipe %zu: not in place", i);
        keyer_free(plain);
        keyer_free(keyer);
    }
}

/* A value may be as long as patterns work on, not longer: not even if it does not come first. */
static void values_too_long(void)
{
    static char line[WITHOUT_MAX + 64];
    static const struct {
        const char *before, *after;
    } around[] = {{"", ""}, {"a,", ",b"}, {"a,\"", "\""}, {"{\"a\":1,\"b\":\"", "\"}"}};
    const struct recipe recipes[] = {{.fold = true},
                                     fields("1,2", ","),
                                     csv("1,2", ','),
                                     jsonl("a,b")};
    for (size_t i = 0; i < 4; i++)
        for (size_t more = 0; more < 2; more++) {
            const size_t length = WITHOUT_MAX + more;
            char *end = stpcpy(line, around[i].before);
            end = (char *)memset(end, 'y', length) + length;
            end = stpcpy(end, around[i].after);
            struct keyer *keyer = keyer_of(without(recipes[i], "^x"));
            struct key_text text = keyer_text(keyer, line, (size_t)(end - line), ROW_ODD);
            tap_check(text.no_key == (more ? NO_KEY : HAS_KEY), "recipe %zu, %zu bytes: %d", i,
                      length, text.no_key);
            keyer_free(keyer);
        }
    /* What is no string is left as it is. */
    memset(line, '1', sizeof line);
    static const char begin[] = {'{', '"', 'b', '"', ':'};
    static const char end[] = {',', '"', 'a', '"', ':', '1', '}'};
    memcpy(line, begin, sizeof begin);
    memcpy(line + sizeof line - sizeof end, end, sizeof end);
    struct keyer *keyer = keyer_of(without(jsonl("a,b"), "1"));
    struct key_text text = keyer_text(keyer, line, sizeof line, ROW_ODD);
    tap_check(!text.no_key && text.length == sizeof line - 12 + 2, "a number: %d, %zu bytes",
              text.no_key, text.length);
    keyer_free(keyer);
}

/* --- any line --- */

/* Copies a text without the NUL at its end. Returns its length. */
static size_t put(char *out, const char *text)
{
    size_t n = 0;
    for (; text[n] != '\0'; n++)
        out[n] = text[n];
    return n;
}

/* Bytes that mean something in a URL, more often than others. */
static size_t hostile(struct chance *chance, char *bytes, size_t most)
{
    static const char *const pieces[] = {
        "/",  "//", ".",   "..",  "/.", "/..", "%",  "%2e", "%2F", "%4", "%25", "?",  "&",
        "=",  "#",  ":",   "@",   "[",  "]",   "::", "80",  "0",   "A",  "z",   " ",  "\xff",
        "\t", "\\", "a.b", "%41", "{",  "%c3", "~",  "-",   "123", "_",  ":4",  "\"", "/\"",
    };
    enum { PIECES = sizeof pieces / sizeof *pieces };
    static const char *const fronts[] = {"", "http://", "HTTPS://", "http://a/", "ftp://b:21", " "};
    enum { FRONTS = sizeof fronts / sizeof *fronts };
    size_t n = (size_t)snprintf(bytes, most, "%s", fronts[chance_below(chance, FRONTS)]);
    for (uint64_t left = chance_below(chance, 24); left > 0 && n + 4 < most; left--) {
        const char *piece = pieces[chance_below(chance, PIECES)];
        n += put(bytes + n, piece);
    }
    if (chance_below(chance, 8) == 0 && n < most)
        bytes[n++] = (char)chance_next(chance);
    return n;
}

/* Recipes of each kind. */
static size_t some_recipes(struct recipe *recipes)
{
    size_t n = 0;
    recipes[n++] = (struct recipe){.trim = true};
    recipes[n++] = (struct recipe){.fold = true};
    recipes[n++] = fields("2", NULL);
    recipes[n++] = fields("1,3-", "/");
    recipes[n++] = fields("2-3", ".");
    recipes[n++] = csv("1", '/');
    recipes[n++] = csv("3", '/');
    recipes[n++] = csv("2,4-", '/');
    recipes[n++] = csv(NULL, '/');
    recipes[n - 1].trim = recipes[n - 3].trim = true;
    recipes[n++] = without((struct recipe){.fold = true}, "[0-9]+");
    recipes[n++] = without(by(PROFILE_URL), "/$");
    recipes[n++] = without(fields("2", "/"), "[a-z]+$");
    recipes[n++] = without(fields("1,3-", "/"), "%");
    recipes[n++] = without(csv("2", '/'), "\\.");
    recipes[n++] = without(csv(NULL, '/'), "[\"a]");
    for (enum profile profile = PROFILE_LINE; profile < PROFILES; profile++)
        recipes[n++] = by(profile);
    return n;
}
enum { RECIPES_MAX = 24 };

/* A line that begins, or ends, where no memory is. */
static void nothing_beside_the_line(void)
{
    char *page = guarded(SIDE);
    struct recipe recipes[RECIPES_MAX];
    size_t n = some_recipes(recipes);
    for (size_t r = 0; r < n; r++) {
        struct chance chance = {3};
        struct keyer *keyer = keyer_of(recipes[r]);
        for (unsigned i = 0; i < tap_cases(20000); i++) {
            char line[256];
            size_t length = hostile(&chance, line, sizeof line);
            for (unsigned end = 0; end < 2; end++) {
                char *place = end ? page + SIDE - length : page;
                memcpy(place, line, length);
                /* What is told of a row may be wrong. */
                for (unsigned kind = 0; kind <= (ROW_QUOTED | ROW_ODD); kind++) {
                    struct key_text text = keyer_text(keyer, place, length, (uint8_t)kind);
                    tap_check(!text.no_key || text.bytes == place, "elsewhere");
                }
            }
        }
        keyer_free(keyer);
    }
}

/* Before the names of a query lie others, which are none of it. */
static void names_beside_the_query(void)
{
    static const char line[] = "http://a/?c=1&b&c&&a#d";
    struct span names[] = {{"", 0}, {"z", 1}, {"", 0}, {"", 0}, {"", 0}, {"", 0}, {"", 0}};
    struct url url;
    static char room[URL_ROOM];
    if (!tap_check(url_split((struct span){line, sizeof line - 1}, room, &url), "no URL"))
        return;
    struct span made = endpoint_write(&url, room, names + 2);
    tap_check(made.length == 8 && memcmp(made.bytes, "a/?a&b&c", 8) == 0, "'%.*s'",
              (int)made.length, made.bytes);
}

/* Keys of a batch are those of the texts, each in its domain. */
static void keys_of_texts(void)
{
    enum { LINES = 2048 };
    static char bytes[LINES * 256];
    static size_t starts[LINES + 1];
    static struct key keys[LINES], others[LINES], twice[2][LINES], none[LINES];
    static uint8_t no_key[LINES];
    const struct hashers two[] = {hashers_of_keys(hasher_xxh3(99)),
                                  hashers_of_keys(hasher_xxh3(98))};
    const struct hashes places[] = {{two[0], twice[0]}, {two[1], twice[1]}};
    const struct hasher other = hasher_xxh3(99 ^ UINT64_C(0x9e3779b97f4a7c15));
    struct chance chance = {4};
    for (size_t i = 0; i < LINES; i++)
        starts[i + 1] = starts[i] + hostile(&chance, bytes + starts[i], 250) + 1;
    struct recipe recipes[RECIPES_MAX];
    size_t n = some_recipes(recipes);
    for (size_t r = 0; r < n; r++) {
        struct keyer *keyer = keyer_of(recipes[r]);
        memset(no_key, 7, sizeof no_key);
        keyer_hash(keyer, bytes, starts, NULL, LINES, &(struct hashes){two[0], keys}, 1, no_key);
        for (size_t i = 0; i < LINES; i++) {
            size_t length = starts[i + 1] - 1 - starts[i];
            struct key_text text = keyer_text(keyer, bytes + starts[i], length, ROW_ODD);
            struct key key = hash_key(text.bytes, text.length,
                                      text.no_key ? other : hasher_xxh3(99));
            tap_check(no_key[i] == text.no_key && keys[i].lo == key.lo && keys[i].hi == key.hi,
                      "recipe %zu, line %zu: no_key %d", r, i, no_key[i]);
        }
        /* Two for each line, of the first half alone. */
        memset(twice, 0, sizeof twice);
        keyer_hash(keyer, bytes, starts, NULL, LINES, &(struct hashes){two[1], others}, 1, no_key);
        keyer_hash(keyer, bytes, starts, NULL, LINES / 2, places, 2, no_key);
        tap_check(memcmp(twice[0], keys, sizeof keys / 2) == 0 &&
                      memcmp(twice[1], others, sizeof others / 2) == 0 &&
                      memcmp(twice[0] + LINES / 2, none, sizeof none / 2) == 0 &&
                      memcmp(twice[1] + LINES / 2, none, sizeof none / 2) == 0,
                  "recipe %zu: two keys a line", r);
        keyer_free(keyer);
    }
}

/* Two quotes for one at each place of a block of 64 bytes, and at its end. */
static void pairs_of_quotes(void)
{
    char row[256];
    struct keyer *keyer = keyer_of(csv("1", ','));
    for (size_t length = 0; length < 200; length++) {
        memset(row, 'a', sizeof row);
        row[0] = '"';
        memcpy(row + 1 + length, "\"\"b\",c", sizeof "\"\"b\",c");
        struct key_text text = keyer_text(keyer, row, length + 7, ROW_QUOTED);
        tap_check(text.length == length + 2 && text.bytes[length] == '"' &&
                      text.bytes[length + 1] == 'b',
                  "after %zu bytes: '%.*s'", length, (int)text.length, text.bytes);
    }
    keyer_free(keyer);
}

int main(void)
{
    tap_run("fields as the plainest way finds them", fields_the_plain_way);
    tap_run("columns that a row lacks: as many as the header line has", columns_that_are_missing);
    tap_run("two quotes for one, at each place of a block", pairs_of_quotes);
    tap_run("without: what nothing matches stays where it is", nothing_left_out);
    tap_run("without: values of more than 65,536 bytes have no key", values_too_long);
    tap_run("no byte beside the line is read", nothing_beside_the_line);
    tap_run("no name beside those of the query is read", names_beside_the_query);
    tap_run("keys of a batch are those of the texts", keys_of_texts);
    return tap_end();
}
