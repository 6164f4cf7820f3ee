/* What part of a line counts: examples beyond those of tests/keys.bats, fields as the plainest way
 * finds them, and what must hold of any line. */
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
    if (recipe.syntax == SYNTAX_FIELDS)
        check_hash(second, line, length, text, recipe.separated ? recipe.separator : '\n');
    keyer_free(second);
    keyer_free(keyer);
}

static void check(struct recipe recipe, const char *line, const char *key)
{
    check_bytes(recipe, line, strlen(line), key, key != NULL ? strlen(key) : 0);
}

struct example {
    const char *line, *key;
};

static void check_all(struct recipe recipe, const struct example *examples)
{
    for (; examples->line != NULL; examples++)
        check(recipe, examples->line, examples->key);
}

/* --- examples --- */

static void profiles(void)
{
    static const struct example urls[] = {
        {"http://a/..", "http://a/"},
        {"http://a/../../b", "http://a/b"},
        {"HTTP://U@A.b:80/x/../%7e?c#d", "http://U@a.b/~?c"},
        {" \t\r\n\x01http://a/x\x1f ", "http://a/x"},
        {"http://a?#", "http://a/?"},
        {"Git+SSH.2-x://a", "git+ssh.2-x://a/"},
        {"1a://b/", NULL},
        {"a_b://c/", NULL},
        {"ht%74p://a/", NULL},
        {"http://U:P@A:8080", "http://U:P@a:8080/"},
        {"http://u[%41%5b]@a/", "http://u%5BA%5B%5D@a/"},
        {"wss://a:0443/", "wss://a/"},
        {"FTP://a:80/", "ftp://a:80/"},
        {"httpsx://a:443/", "httpsx://a:443/"},
        {"http://a:08/", "http://a:8/"},
        {"http://a:8 /", NULL},
        {"http://a:[1]/", NULL},
        {"http://[/", NULL},
        {"http://[::1]:/x", "http://[::1]/x"},
        {"http://[::1]:a/", NULL},
        {"http://[::1]:1:1/", NULL},
        {"http://[%3a]/", NULL},
        {"http://[:.a]@[::A]/", "http://%5B:.a%5D@[::a]/"},
        {"http://A.b./", "http://a.b./"},
        {"http://a%5b%3A%2fB/", "http://a%5B%3A%2Fb/"},
        {"http://%/", "http://%25/"},
        {"http://A\\B^/", "http://a/B%5E/"},
        {"HTTP://A B/", "http://a%20b/"},
        {"http://a/b/..c/.d/e./f../...", "http://a/b/..c/.d/e./f../..."},
        {"http://a/b/..?../x", "http://a/?../x"},
        {"http://a//..//..", "http://a/"},
        {"http://a/b/%2E/c", "http://a/b/c"},
        {"http://a/b/.%2e/c", "http://a/c"},
        {"http://a/%%41", "http://a/%%41"},
        {"http://a/%2d%2E%5f%7E%30%39%61%7a%5A", "http://a/-._~09azZ"},
        {"http://a/\"<>\\^{|}`\x7f[]", "http://a/%22%3C%3E/%5E%7B%7C%7D%60%7F%5B%5D"},
        {"http://a?b/../c??%3f", "http://a/?b/../c??%3F"},
        {"http://a/%c3%A9?%c3%A9", "http://a/%C3%A9?%C3%A9"},
        {NULL, NULL},
    };
    static const struct example hosts[] = {
        {"http://User@WWW.Example.com:80/x", "www.example.com"},
        {"http://[::1]:80/", "[::1]"},
        {"http://b\xfc/", "b%FC"},
        {" example.com\r", "example.com"},
        {"Example.com?x", "example.com"},
        {"example.com#x://y", "example.com"},
        {"a@b@c", "c"},
        {"b\xfc", "b%FC"},
        {"a%62", "ab"},
        {"u@:80", NULL},
        {"http://a:x/", NULL},
        {"a#://b", "a"},
        {NULL, NULL},
    };
    static const struct example endpoints[] = {
        {"HTTP://u@A:8080", "a:8080/"},
        {"http://a/20240101.csv/20240100/2024-13-01/2024-12-31", "a/{d}.csv/{0}/2024-13-01/{d}"},
        {"http://a/2024-0101/20240-1-01/2024-01-0a", "a/2024-0101/20240-1-01/2024-01-0a"},
        {"http://a/abcdefabcdefabcd/ABCDEFABCDEFABC9/abcdef12345678",
         "a/abcdefabcdefabcd/{h}/abcdef12345678"},
        {"http://a/550e8400e29b-41d4-a716-446655440000/550e8400-e29b-41d4-a716-44665544000g",
         "a/550e8400e29b-41d4-a716-446655440000/550e8400-e29b-41d4-a716-44665544000g"},
        {"http://a/%31%2F/12%7Bx", "a/1%2F/12%7Bx"},
        {"http://a//5/6.%C3/", "a//{0}/6.%C3/"},
        {"http://a/?=&=", "a/"},
        {"http://a/?b&a=?&A&ab&b%3d=1", "a/?A&a&ab&b&b%3D"},
        {NULL, NULL},
    };
    check_all(by(PROFILE_URL), urls);
    check_all(by(PROFILE_HOST), hosts);
    check_all(by(PROFILE_ENDPOINT), endpoints);
    check_bytes(by(PROFILE_URL), "http://a/\0b\0", 12, "http://a/%00b", 13);
    check_bytes(by(PROFILE_URL), "\0http://a/\xff", 11, "http://a/%FF", 12);
}

/* Fields, then the rest. */
static void steps(void)
{
    struct recipe tab = fields("2", "\\t"), comma = fields("2", ",");
    tab.trim = comma.trim = true;
    check((struct recipe){.trim = true}, " \t\r\v\fa b\r ", "a b");
    check((struct recipe){.trim = true}, " \r", "");
    check((struct recipe){.trim = true}, "\xef\xbb\xbf\xef\xbb\xbf a", "\xef\xbb\xbf a");
    check((struct recipe){.trim = true}, " \xef\xbb\xbf", "\xef\xbb\xbf");
    check((struct recipe){.trim = true}, "\xef\xbb\xbf \r", "");
    check((struct recipe){.trim = true}, "\na\x1f", "\na\x1f");
    check(tab, "a\t\r", NULL);
    check(tab, "\t b", "b");
    check(tab, "x\t\v b \f\ty", "b");
    check(tab, " \ta", "a");
    check(comma, "a,b\r", "b");
    check(comma, "a, b\r", "b");
    check(comma, " a\r", NULL);
    struct recipe recipe = {.fold = true}, url = by(PROFILE_URL), point = by(PROFILE_ENDPOINT);
    url.fold = point.fold = true;
    check(recipe, "AZaz@[`{\xc3\x9c", "azaz@[`{\xc3\x9c");
    check(url, "http://a/B%c3?C", "http://a/b%c3?c");
    check(url, "http://A:B/C", NULL);
    check(point, "http://a/?b&B&a&A", "a/?a&b&a&b");
    check_bytes((struct recipe){.fold = true}, "A\0B", 3, "a\0b", 3);
    check_bytes((struct recipe){.trim = true}, "\0 ", 2, "\0", 1);
    recipe = fields("2,4", "\\t");
    recipe.trim = recipe.fold = true;
    check(recipe, " x\tAb\ty\tCd\r", "ab\tcd");
    recipe = fields("2", NULL);
    recipe.profile = PROFILE_HOST;
    check(recipe, "GET HTTP://Example.com/x 200", "example.com");
    check(recipe, "GET /x 200", NULL);
    check(recipe, "GET", NULL);
    recipe = fields("1,3", NULL);
    recipe.profile = PROFILE_URL;
    recipe.fold = true;
    check(recipe, "http://a/X y Z", "http://a/x%20z");
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
    for (unsigned i = 0; i < 60000; i++) {
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

/* Checks the key of a line, with the columns of a header line, as check() does. */
static void check_named(struct recipe recipe, const char *header, const char *line, const char *key)
{
    char options[RECIPE_TEXT];
    struct fault fault;
    struct keyer *keyer = keyer_of(recipe);
    recipe_text(&recipe, options);
    if (tap_check(keyer_read_header(keyer, header, strlen(header), "input", &fault) == 0, "%s: %s",
                  options, fault.reason)) {
        struct keyer *copy = keyer_copy(keyer);
        struct key_text text = keyer_text(copy, line, strlen(line), ROW_ODD);
        tap_check(text.no_key ? key == NULL : key != NULL && text_is(text, key, strlen(key)),
                  "%s: '%s' below '%s' gives '%.*s', not '%s'", options, line, header,
                  (int)text.length, text.bytes, key);
        keyer_free(copy);
    }
    keyer_free(keyer);
}

/* The program never asks for a key of these (core/rows.h). */
static void broken_rows(void)
{
    static const struct example examples[] = {
        {"x,1,\"unfin", NULL}, {"x,1,\"a\"b", NULL}, {"x,1,\"", NULL},
        {"\"x\" ,1", NULL},    {NULL, NULL},
    };
    check_all(csv("2", ','), examples);
}

static void names_of_columns(void)
{
    static const char header[] = "\xef\xbb\xbfid,\"last, first\",2019,\"a\"\"b\"\r\r";
    const struct recipe two = csv("\"2019\",id", ','), one = csv("\"last, first\"", ',');
    check_named(two, header, "7,x,\"a,b\"", "\"a,b\",7");
    check_named(two, header, ",x,2", "2,");
    check_named(two, header, "7,x,", NULL);
    check_named(two, header, "7,x", NULL);
    check_named(csv("id,\"2019\"", ','), header, "7,x", "7,");
    check_named(one, header, "7,\"a\nb\"", "a\nb");
    check_named(csv("\"a\"\"b\"", ','), header, "7,,,8,9", "8");
    /* All but some: in byte order of the names, wherever the columns are. */
    check_named(csv("!id", ','), header, "7,x,y,z", "y,z,x");
    check_named(csv("!id,\"2019\"", ','), header, "7,x,,z", "z,x");
    check_named(csv("!id", ','), "id,b,c,a", "7,1", NULL);
    check_named(csv("!id", ','), "id,a,c,b", "7,1", "1,,");
    check_named(csv("!id", ','), "id,\"x\"", "7,\"a,b\"", "\"a,b\"");
    check_named(csv("!id", ','), "id", "7", NULL);
    check_named(csv("!id", ','), "b,id,b,a", "1,2,3,4", "4,1,3");
    /* Of other lines, where quotes are bytes. */
    check_named(fields("b\",id", "\\t"), "\xef\xbb\xbfid\tb\"\r\r", "7\t\"x", "\"x\t7");
    check_named(fields("id", "\\t"), "x\tid", "\"a\t7\r", "7\r");
    check_named(fields("id,x,y", "\\t"), "x\tid\ty", "\t7", "7\t\t");
    check_named(fields("x,id", "\\t"), "x\tid", "\t7", NULL);
    check_named(fields("!id", ","), "id,b,a", "7,1", NULL);
    check_named(fields("!id", ","), "id,b,a", "7,1,2", "2,1");
    struct recipe trim = fields("b,id", "\\t");
    trim.trim = true;
    check_named(trim, "id \t b\r", "\xef\xbb\xbf 7 \t x \r", "x\t7");
    check_named(trim, "id \t b\r", "7 \t \r", NULL);
}

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

static void wrong_columns(void)
{
    static const struct {
        const char *list, *header, *reason, *way_out;
    } examples[] = {
        {"no", "id,\"last, first\",2019,x y,!a,,-,\"a\"\"b\"", "no column 'no'",
         "columns: id, \"last, first\", \"2019\", 'x y', \"!a\", '', \"-\", \"a\"\"b\""},
        {"a,\"b, c\"", "a,b,\" c\"", "no column '\"b, c\"'", "columns: a, b, ' c'"},
        {"!no", "", "no column 'no'", "columns: ''"},
        {"!a", "a,b,a", "two columns are named 'a'",
         "rename one, or make a filter with -f and its number"},
        {"\"1\"", "1,1", "two columns are named '\"1\"'",
         "rename one, or make a filter with -f and its number"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct fault fault;
        struct keyer *keyer = keyer_of(csv(examples[i].list, ','));
        const char *header = examples[i].header;
        tap_check(keyer_read_header(keyer, header, strlen(header), "input", &fault) != 0 &&
                      strcmp(fault.reason, examples[i].reason) == 0 &&
                      strcmp(fault.way_out, examples[i].way_out) == 0,
                  "'%s': %s (%s)", header, fault.reason, fault.way_out);
        keyer_free(keyer);
    }
    /* Many names, and long ones, are cut. */
    char header[4000];
    struct fault fault;
    struct keyer *keyer = keyer_of(csv("no", ','));
    for (size_t i = 0; i < sizeof header; i++)
        header[i] = "\"\"\"\"\"\"x"[i % 8 == 7 ? 6 : i % 8 % 6];
    tap_check(keyer_read_header(keyer, header, sizeof header, "input", &fault) != 0 &&
                  strcmp(fault.reason, "no column 'no'") == 0,
              "%s", fault.reason);
    memset(header, 'x', sizeof header);
    for (size_t i = 100; i < sizeof header; i += 3)
        header[i] = ',';
    tap_check(keyer_read_header(keyer, header, sizeof header, "input", &fault) != 0 &&
                  strncmp(fault.way_out, "columns: xxxxxxxx", 17) == 0 &&
                  strcmp(fault.way_out + strlen(fault.way_out) - 9, ", xx, ...") == 0,
              "%s", fault.way_out);
    keyer_free(keyer);
}

static void likeness_of_header_lines(void)
{
    static const struct {
        const char *a, *b;
        enum header_likeness likeness;
    } examples[] = {
        {"id,n", "\xef\xbb\xbf\"id\",\"n\"\r\r", HEADER_SAME},
        {"5\" disk,a", "\"5\"\" disk\",a", HEADER_SAME},
        {"\"a\"\"\"\"b\",c", "a\"\"b,c", HEADER_SAME},
        {"a\"\"b,c", "\"a\"\"b\",c", HEADER_DIFFERS},
        {"\"a\"\"\"", "a", HEADER_DIFFERS},
        {"a", "\"a\"\"\"", HEADER_DIFFERS},
        {"id,n", "n,id", HEADER_MOVED},
        {"a,\"b,\"\"c\",\"b,\"\"c\"", "\"b,\"\"c\",a,\"b,\"\"c\"", HEADER_MOVED},
        {"a,b,b", "a,a,b", HEADER_DIFFERS},
        {"id,n", "id,n,", HEADER_DIFFERS},
        {"id,n", "id", HEADER_DIFFERS},
        {"id, n", "id,n", HEADER_DIFFERS},
        {"", "\r", HEADER_SAME},
        {"", "a", HEADER_DIFFERS},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct recipe recipe = csv("1", ',');
        struct span a = {examples[i].a, strlen(examples[i].a)};
        struct span b = {examples[i].b, strlen(examples[i].b)};
        enum header_likeness likeness = columns_compare(&recipe, a, b);
        tap_check(likeness == examples[i].likeness && columns_compare(&recipe, b, a) == likeness,
                  "'%s' and '%s': %d", a.bytes, b.bytes, likeness);
    }
    struct recipe trim = csv("1", ','), tab = fields("1", "\\t"), words = fields("1", NULL);
    trim.trim = true;
    struct span blanks = {" id,\t\"n \" \r", 11}, none = {"id,n", 4};
    tap_check(columns_compare(&trim, blanks, none) == HEADER_SAME, "blanks are compared");
    struct span quoted = {"\"a\"\tb\r", 6}, other = {"a\tb", 3}, bytes = {"b\t\"a\"", 5};
    tap_check(columns_compare(&tab, quoted, other) == HEADER_DIFFERS, "quotes of other lines");
    tap_check(columns_compare(&tab, quoted, bytes) == HEADER_MOVED, "fields of other lines");
    tap_check(columns_compare(&words, quoted, bytes) == HEADER_DIFFERS, "lines without fields");
}

/* A value that needs quotes or not, in a row; with blanks around it if these are no data. Adds it
 * to `value`, too. Returns its bytes in the row. */
static size_t add_field(struct chance *chance, char *row, char *value, size_t *length, bool trim,
                        unsigned *kind)
{
    static const char *const blanks[] = {"", "", " ", "\t\r"};
    size_t n = 0, size = chance_below(chance, 8) == 0 ? chance_below(chance, 150)
                                                      : chance_below(chance, 9);
    bool quoted = chance_below(chance, 2) == 0;
    if (trim)
        n += (size_t)sprintf(row + n, "%s", blanks[chance_below(chance, 4)]);
    if (quoted)
        row[n++] = '"';
    *length = 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t dice = chance_below(chance, 12);
        char c = quoted && dice < 3 ? ",\n\""[dice] : !quoted && i > 0 && dice == 3 ? '"' : 'a';
        if (!quoted && i > 0 && i + 1 < size && dice == 4)
            c = '\r';
        *kind |= c == '"' && !quoted ? ROW_ODD : 0;
        if (c == '"' && quoted)
            row[n++] = c;
        row[n++] = value[(*length)++] = c;
    }
    if (quoted)
        row[n++] = '"';
    *kind |= quoted ? ROW_QUOTED : 0;
    if (trim)
        n += (size_t)sprintf(row + n, "%s", blanks[chance_below(chance, 4)]);
    return n;
}

/* Each way to take a column gives the value that the row was made with: whatever is known of the
 * row, and whichever columns are taken besides. */
static void columns_each_way(void)
{
    enum { FIELDS = 8, ROOM = 4096 };
    static char row[ROOM], values[FIELDS][ROOM], wanted[ROOM];
    struct keyer *keyers[2][FIELDS + 1] = {
        {NULL}}; /* [trim][column]; 0: all from the second one on */
    struct chance chance = {6};
    for (unsigned i = 0; i < 2 * (FIELDS + 1); i++) {
        char list[8];
        snprintf(list, sizeof list, i / 2 == 0 ? "2-" : "%u", i / 2);
        struct recipe recipe = csv(list, ',');
        recipe.trim = i % 2 != 0;
        keyers[i % 2][i / 2] = keyer_of(recipe);
    }
    for (unsigned round = 0; round < 60000; round++) {
        size_t n = 1 + (size_t)chance_below(&chance, FIELDS), length = 0, lengths[FIELDS];
        bool trim = round % 4 == 0;
        unsigned kind = 0;
        for (size_t i = 0; i < n; i++) {
            if (i > 0)
                row[length++] = ',';
            length += add_field(&chance, row + length, values[i], &lengths[i], trim, &kind);
        }
        unsigned column = 1 + (unsigned)chance_below(&chance, n);
        for (unsigned known = 0; known < 2; known++) {
            struct key_text text = keyer_text(keyers[trim][column], row, length,
                                              known ? (uint8_t)kind : ROW_ODD);
            tap_check(text.no_key ? lengths[column - 1] == 0
                                  : text_is(text, values[column - 1], lengths[column - 1]),
                      "'%.*s', column %u, kind %u: '%.*s'", (int)length, row, column,
                      known ? kind : ROW_ODD, (int)text.length, text.bytes);
        }
        size_t at = 0;
        for (size_t i = 1; i < n; i++) {
            bool special = false;
            for (size_t k = 0; k < lengths[i]; k++)
                special |= values[i][k] != 'a';
            if (i > 1)
                wanted[at++] = ',';
            if (special)
                wanted[at++] = '"';
            for (size_t k = 0; k < lengths[i]; k++) {
                if (values[i][k] == '"')
                    wanted[at++] = '"';
                wanted[at++] = values[i][k];
            }
            if (special)
                wanted[at++] = '"';
        }
        struct key_text text = keyer_text(keyers[trim][0], row, length, (uint8_t)kind);
        tap_check(text.no_key ? n == 1 || lengths[1] == 0 : text_is(text, wanted, at),
                  "'%.*s', from column 2 on: '%.*s'", (int)length, row, (int)text.length,
                  text.bytes);
    }
    for (unsigned i = 0; i < 2 * (FIELDS + 1); i++)
        keyer_free(keyers[i % 2][i / 2]);
}

/* --- patterns --- */

/* One value: the line, a field, a column, or what --by makes. Several: each of them. */
static void values_without(void)
{
    struct recipe recipe = without(fields("1,3", NULL), "^x+"),
                  url = without(by(PROFILE_URL), "/$");
    check(without((struct recipe){.trim = true}, "[0-9]+"), " 1a2 b33 ", "a b");
    check(without((struct recipe){.fold = false}, "a+"), "aa", "");
    check(without((struct recipe){.fold = true}, "B+"), "aBbC", "ac");
    check(without(by(PROFILE_HOST), "^.*$"), "http://a/", "");
    check(url, "HTTP://A/x/", "http://a/x");
    check(url, "http://a/x/", "http://a/x");
    check(url, "x/", NULL);
    url = fields("2", NULL);
    url.profile = PROFILE_HOST;
    check(without(url, "^.*$"), "x http://a/", NULL);
    check(without(fields("2", ","), "^x+"), "x,xxb,x", "b");
    check(without(fields("2", ","), "^x+"), "b,xx,b", NULL);
    check(recipe, "xa xb  xxc", "a c");
    check(recipe, "a b x", "a ");
    check(recipe, "x b c", NULL);
    check(recipe, "b", "b");
    recipe = without(fields("1-", ","), "^x+");
    recipe.trim = true;
    check(recipe, " xa, x ,,xb\r", "a,,,b");
    recipe.trim = false;
    recipe.fold = true;
    check(recipe, "XA,X,xB", "a,,b");
    check_named(without(fields("b,a", "\\t"), "x"), "a\tb", "xax\tbx", "b\ta");
    check_named(without(fields("b,a", "\\t"), "x"), "a\tb", "a\tx", NULL);
    check_named(without(fields("!id", ","), "x"), "id,a", "1,xa,x,b", "a,,b");
    check_named(without(fields("a", ","), "x"), "id,a", "1,x", NULL);
    /* Decoded, and in quotes only if what is left needs them. */
    check(without(csv("2", ','), "\""), "x,\"a\"\"b\"", "ab");
    check(without(csv("1,3", ','), "\""), "\"a\"\"b\",c,\"d,\"\"e\"\"\"", "ab,\"d,e\"");
    check(without(csv("1,2", ','), ","), "\"a,\"\"b\",c", "\"a\"\"b\",c");
    check(without(csv(NULL, ','), "^a$"), "a,a", NULL);
    check(without(csv(NULL, ','), "^a$"), "b,a,\"a\",b", "b,,,b");
    check_named(without(csv("b,a", ','), "x"), "a,b", "x,\"xb\"", "b,");
    check_named(without(csv("b,a", ','), "x"), "a,b", "a,x", NULL);
    check_named(without(csv("!id", ','), "x"), "id,a", "1,xa,\"x,\"", "a,\",\"");
    /* Strings alone. */
    check(without(jsonl("id"), "[0-9]"), "{\"id\":\"a1\\n\"}", "\"a\\n\"");
    check(without(jsonl("id"), "\\n"), "{\"id\":\"a\\nb\"}", "\"ab\"");
    check(without(jsonl("id"), "[0-9]"), "{\"id\":12}", "12");
    check(without(jsonl("id"), "1"), "{\"id\":[\"1\", 1]}", "[\"1\",1]");
    check(without(jsonl("id"), "x+"), "{\"id\":\"xx\"}", NULL);
    check(without(jsonl("a,b,c"), "x+"), "{\"a\":\"xa\",\"b\":\"x\"}", "\"a\",\"\",");
    check(without(jsonl("a,b"), "x+"), "{\"a\":\"x\",\"b\":\"b\"}", NULL);
    check(without(jsonl("a,b"), "x+"), "{\"a\":true,\"b\":\"\\\"x\"}", "true,\"\\\"\"");
    recipe = without(jsonl("a"), "/$");
    recipe.profile = PROFILE_URL;
    check(recipe, "{\"a\":\"HTTP:\\/\\/B\\/\"}", "http://b");
    /* Several patterns, each on what the one before has left. */
    recipe = without((struct recipe){.fold = false}, "b");
    memcpy(recipe.patterns + 2, "ac", 3);
    check(recipe, "abcd", "d");
}

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

/* Twice is as good as once. */
static void url_of_url(void)
{
    struct chance chance = {1};
    struct keyer *first = keyer_of(by(PROFILE_URL)), *second = keyer_of(by(PROFILE_URL));
    unsigned urls = 0;
    for (unsigned i = 0; i < 100000; i++) {
        char line[256];
        size_t length = hostile(&chance, line, sizeof line);
        struct key_text once = keyer_text(first, line, length, ROW_ODD);
        if (once.no_key)
            continue;
        struct key_text twice = keyer_text(second, once.bytes, once.length, ROW_ODD);
        tap_check(!twice.no_key && text_is(twice, once.bytes, once.length), "'%.*s'", (int)length,
                  line);
        urls++;
    }
    tap_check(urls > 30000, "only %u URLs", urls);
    keyer_free(first);
    keyer_free(second);
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
        for (unsigned i = 0; i < 20000; i++) {
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
    tap_run("profiles: examples", profiles);
    tap_run("blanks at the ends, letters of either case, several steps", steps);
    tap_run("fields as the plainest way finds them", fields_the_plain_way);
    tap_run("rows of CSV that are none have no key", broken_rows);
    tap_run("columns by their names", names_of_columns);
    tap_run("columns that a row lacks: as many as the header line has", columns_that_are_missing);
    tap_run("names of columns that are missing, or there twice", wrong_columns);
    tap_run("header lines: same, in another order, others", likeness_of_header_lines);
    tap_run("columns: whatever is known of the row", columns_each_way);
    tap_run("two quotes for one, at each place of a block", pairs_of_quotes);
    tap_run("without: one value, or each of several", values_without);
    tap_run("without: what nothing matches stays where it is", nothing_left_out);
    tap_run("without: values of more than 65,536 bytes have no key", values_too_long);
    tap_run("url: twice is as good as once", url_of_url);
    tap_run("no byte beside the line is read", nothing_beside_the_line);
    tap_run("no name beside those of the query is read", names_beside_the_query);
    tap_run("keys of a batch are those of the texts", keys_of_texts);
    return tap_end();
}
