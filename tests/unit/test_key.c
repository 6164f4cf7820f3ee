/* What part of a line counts: each rule of a recipe, by example and by what must always hold. */
#include "key/keyer.h"

#include "chance.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIDE = 4096, LONG = 65536 };

static struct recipe by(enum profile profile)
{
    return (struct recipe){.profile = profile, .version = profile_versions[profile]};
}

static struct recipe fields(const char *list, const char *separator)
{
    struct recipe recipe = {.trim = false};
    const char *wanted;
    const char *fault = recipe_parse_fields(&recipe, list, &wanted);
    tap_check(fault == NULL, "-f %s: %s", list, fault);
    if (separator != NULL)
        fault = recipe_parse_separator(&recipe, separator, &wanted);
    tap_check(fault == NULL, "-t %s: %s", separator, fault);
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

/* Checks what counts of `line`; NULL: it counts as itself. */
static void check_bytes(struct recipe recipe, const char *line, size_t length, const char *key,
                        size_t key_length)
{
    char options[RECIPE_TEXT];
    struct keyer *keyer = keyer_of(recipe);
    struct key_text text = keyer_text(keyer, line, length);
    recipe_text(&recipe, options);
    tap_check(text.itself == (key == NULL), "%s: '%.*s' counts as itself: %d", options, (int)length,
              line, text.itself);
    if (key == NULL)
        tap_check(text.bytes == line && text.length == length, "%s: '%s' is changed", options,
                  line);
    else
        tap_check(text_is(text, key, key_length), "%s: '%.*s' gives '%.*s', not '%s'", options,
                  (int)length, line, (int)text.length, text.bytes, key);
    keyer_free(keyer);
}

static void check(struct recipe recipe, const char *line, const char *key)
{
    check_bytes(recipe, line, strlen(line), key, key != NULL ? strlen(key) : 0);
}

struct example {
    const char *line, *key;
};

static void check_all(struct recipe recipe, const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(recipe, examples[i].line, examples[i].key);
}

#define CHECK_ALL(recipe, examples)                                                                \
    check_all(recipe, examples, sizeof(examples) / sizeof *(examples))

/* --- url/1 --- */

static const struct example urls[] = {
    {"HTTP://User@WWW.Example.COM:80/%7efoo/../a/./b/%2e%2e/c?q=%c3%a9#x",
     "http://User@www.example.com/a/c?q=%C3%A9"},
    {"http://example.com", "http://example.com/"},
    {"https://example.com:443?x", "https://example.com/?x"},
    {"https://example.com:00080/", "https://example.com:80/"},
    {"http://example.com:/", "http://example.com/"},
    {"http://a/b c?d=[1]&e=100%", "http://a/b%20c?d=%5B1%5D&e=100%25"},
    {"http://a/%41%2f%zz", "http://a/A%2F%25zz"},
    {"http://a/%2f../x", "http://a/%2F../x"},
    {"http://a/%25%34%31", "http://a/%2541"},
    {"http://a//b/../../c", "http://a/c"},
    {"http://a//b/./c", "http://a//b/c"},
    {"http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"},
    {"http://%41%c3/", "http://a%C3/"},
    {"http://b\xc3\xbc"
     "cher.example/\xc3\xbc",
     "http://b%C3%BCcher.example/%C3%BC"},
    {"http://u@x@h/", "http://u@x@h/"},
    {"http://a/?", "http://a/?"},
    {"http://a/../../b", "http://a/b"},
    {"http:///x", NULL},
    {"http://u@/", NULL},
    {"mailto:a@b", NULL},
    {"example.com/x", NULL},
    {"http://a:b/", NULL},
    {"http://a:1:80/", NULL},
    {"http://a:%38/", NULL},
    {"http://a[b/", NULL},
    {"http://[v1.x]/", NULL},
    {"http://[::1]x/", NULL},
    /* Blanks at the ends, and what follows # */
    {"http://a/x #f", "http://a/x%20"},
    {" \t\r\n\x01http://a/x\x1f ", "http://a/x"},
    {"http://a#@b/", "http://a/"},
    {"http://a?#", "http://a/?"},
    {"#http://a/", NULL},
    {"", NULL},
    {" ", NULL},
    /* The scheme */
    {"Git+SSH.2-x://a", "git+ssh.2-x://a/"},
    {"1a://b/", NULL},
    {"a_b://c/", NULL},
    {"://c/", NULL},
    {"http:/a/", NULL},
    {"http:", NULL},
    {"http:/", NULL},
    {"http://", NULL},
    {"ht%74p://a/", NULL},
    /* The authority */
    {"http://@a/", "http://@a/"},
    {"http://U:P@A:8080", "http://U:P@a:8080/"},
    {"http://u[%41%5b]@a/", "http://u%5BA%5B%5D@a/"},
    {"http://a:000/", "http://a:0/"},
    {"ws://a:80/", "ws://a/"},
    {"wss://a:0443/", "wss://a/"},
    {"ftp://a:21/", "ftp://a/"},
    {"FTP://a:80/", "ftp://a:80/"},
    {"httpsx://a:443/", "httpsx://a:443/"},
    {"http://a:443/", "http://a:443/"},
    {"http://a:8/", "http://a:8/"},
    {"http://:80/", NULL},
    {"http://a:8 /", NULL},
    {"http://a]/", NULL},
    {"http://a:[1]/", NULL},
    {"http://[]/", NULL},
    {"http://[/", NULL},
    {"http://[::1/", NULL},
    {"http://[::1]:/x", "http://[::1]/x"},
    {"http://[::1]:a/", NULL},
    {"http://[::1]:1:1/", NULL},
    {"http://[%3a]/", NULL},
    {"http://[:.a]@[:.A]/", "http://%5B:.a%5D@[:.a]/"},
    {"http://A.b./", "http://a.b./"},
    {"http://a%5b%3A%2fB/", "http://a%5B%3A%2Fb/"},
    {"http://%/", "http://%25/"},
    {"http://A\\B^/", "http://a%5Cb%5E/"},
    {"HTTP://A B/", "http://a%20b/"},
    /* The path, the query, % */
    {"http://a/.", "http://a/"},
    {"http://a/..", "http://a/"},
    {"http://a/b/..", "http://a/"},
    {"http://a/b/c/..", "http://a/b/"},
    {"http://a/b/c/.", "http://a/b/c/"},
    {"http://a/b/..c/.d/e./f../...", "http://a/b/..c/.d/e./f../..."},
    {"http://a/b/..?../x", "http://a/?../x"},
    {"http://a//..//..", "http://a/"},
    {"http://a/b//..", "http://a/b/"},
    {"http://a/b/%2E/c", "http://a/b/c"},
    {"http://a/b/.%2e/c", "http://a/c"},
    {"http://a/%%41", "http://a/%25A"},
    {"http://a/%4%31", "http://a/%2541"},
    {"http://a/%", "http://a/%25"},
    {"http://a/%4", "http://a/%254"},
    {"http://a/%41", "http://a/A"},
    {"http://a/%2d%2E%5f%7E%30%39%61%7a%5A", "http://a/-._~09azZ"},
    {"http://a/\"<>\\^{|}`\x7f[]", "http://a/%22%3C%3E%5C%5E%7B%7C%7D%60%7F%5B%5D"},
    {"http://a/!$&'()*+,;=:@", "http://a/!$&'()*+,;=:@"},
    {"http://a?b/../c??%3f", "http://a/?b/../c??%3F"},
    {"http://a/%c3%A9?%c3%A9", "http://a/%C3%A9?%C3%A9"},
};

static void normal_urls(void)
{
    CHECK_ALL(by(PROFILE_URL), urls);
}

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
        "/", "//",   ".",  "..", "/.",  "/..", "%", "%2e", "%2F", "%4", "%25", "?",
        "&", "=",    "#",  ":",  "@",   "[",   "]", "::",  "80",  "0",  "A",   "z",
        " ", "\xff", "\t", "\\", "a.b", "%41", "{", "%c3", "~",   "-",  "123", "_",
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
    unsigned urls_seen = 0;
    for (unsigned i = 0; i < 300000; i++) {
        char line[256];
        size_t length = hostile(&chance, line, sizeof line);
        struct key_text once = keyer_text(first, line, length);
        if (once.itself)
            continue;
        struct key_text twice = keyer_text(second, once.bytes, once.length);
        urls_seen++;
        tap_check(!twice.itself && text_is(twice, once.bytes, once.length), "'%.*s' '%.*s' '%.*s'",
                  (int)length, line, (int)once.length, once.bytes, (int)twice.length, twice.bytes);
    }
    tap_check(urls_seen > 100000, "only %u URLs", urls_seen);
    keyer_free(first);
    keyer_free(second);
}

/* --- host/1 and endpoint/1 --- */

static void hosts(void)
{
    static const struct example examples[] = {
        {"http://User@WWW.Example.com:80/x", "www.example.com"},
        {"http://[::1]:80/", "[::1]"},
        {"http://b\xfc/", "b%FC"},
        {"example.com/r?u=http://b/", "example.com"},
        {"user@Host:8080", "host"},
        {"tel:5", "tel"},
        {"http:/a", "http"},
        {"[::1]:80", NULL},
        {" example.com\r", "example.com"},
        {"Example.com?x", "example.com"},
        {"example.com#x://y", "example.com"},
        {"a_b-c.9", "a_b-c.9"},
        {"a:1:80", NULL},
        {"a:", "a"},
        {"a@b@c", "c"},
        {"a:b", NULL},
        {"a b", NULL},
        {"b\xfc", NULL},
        {"a%62", NULL},
        {"@", NULL},
        {":80", NULL},
        {"u@:80", NULL},
        {"/x", NULL},
        {"//a/", NULL},
        {"://a/", NULL},
        {"1://a/", NULL},
        {"http:///x", NULL},
        {"http://a:x/", NULL},
        {"a#://b", "a"},
        {"", NULL},
    };
    CHECK_ALL(by(PROFILE_HOST), examples);
}

static void endpoints(void)
{
    static const struct example examples[] = {
        {"https://shop.example/item/123.html?id=7&ref=x", "shop.example/item/{0}.html?id&ref"},
        {"http://shop.example/item/99.html?ref=&id=8&id=9", "shop.example/item/{0}.html?id&ref"},
        {"http://a/u/550E8400-e29b-41d4-a716-446655440000/2024-02-31/", "a/u/{u}/{d}/"},
        {"http://a/f/9f86d081884c7d65/20241301/1234567890123456", "a/f/{h}/{0}/{0}"},
        {"http://a/article-123/.html/1.2.3/123.tar.gz/1.5/123.",
         "a/article-123/.html/1.2.3/123.tar.gz/{0}.5/123."},
        {"http://a/x?&&a=1&&=y", "a/x?a"},
        {"HTTP://u@A:8080", "a:8080/"},
        {"http://a/20240101.csv/20240100/2024-13-01/2024-12-31", "a/{d}.csv/{0}/2024-13-01/{d}"},
        {"http://a/2024-0101/20240-1-01/2024-01-0a", "a/2024-0101/20240-1-01/2024-01-0a"},
        {"http://a/abcdefabcdefabcd/ABCDEFABCDEFABC9/abcdef12345678", /* 16, 16, 14 */
         "a/abcdefabcdefabcd/{h}/abcdef12345678"},
        {"http://a/550e8400e29b-41d4-a716-446655440000/550e8400-e29b-41d4-a716-44665544000g",
         "a/550e8400e29b-41d4-a716-446655440000/550e8400-e29b-41d4-a716-44665544000g"},
        {"http://a/%31%2F/12%7Bx", "a/1%2F/12%7Bx"},
        {"http://a//5/6.%C3/", "a//{0}/6.%C3/"},
        {"http://a/?", "a/"},
        {"http://a/?=&=", "a/"},
        {"http://a/?b&a=?&A&ab&b%3d=1", "a/?A&a&ab&b&b%3D"},
        {"a/b", NULL},
    };
    CHECK_ALL(by(PROFILE_ENDPOINT), examples);
}

static int compare_words(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* Many names in any order, many of them twice. */
static void many_names(void)
{
    static char line[LONG], wanted[LONG], words[5000][8];
    struct chance chance = {2};
    size_t length = (size_t)snprintf(line, sizeof line, "http://a/?");
    for (size_t i = 0; i < 5000; i++) {
        snprintf(words[i], sizeof *words, "%" PRIx64, chance_below(&chance, 3000));
        length += (size_t)snprintf(line + length, sizeof line - length, "%s=&", words[i]);
    }
    qsort(words, 5000, sizeof *words, compare_words);
    size_t at = (size_t)snprintf(wanted, sizeof wanted, "a/?%s", words[0]);
    for (size_t i = 1; i < 5000; i++)
        if (strcmp(words[i], words[i - 1]) != 0)
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "&%s", words[i]);
    check_bytes(by(PROFILE_ENDPOINT), line, length, wanted, at);
}

/* --- fields, trim, fold --- */

static void separated_fields(void)
{
    check(fields("2", ","), "a,b,c", "b");
    check(fields("1,3", ","), "a,b,c", "a,c");
    check(fields("3,1", ","), "a,b,c", "a,c");
    check(fields("2-", ","), "a,b,c,", "b,c,");
    check(fields("-2", ","), "a,b,c", "a,b");
    check(fields("2-4", ","), "a,b,c", "b,c");
    check(fields("1,2", ","), "a", "a");
    check(fields("1,3", ","), "a,b", NULL);
    check(fields("2", ","), "a", NULL);
    check(fields("2", ","), "a,", "");
    check(fields("1", ","), "", "");
    check(fields("2,4-", ","), "a,b,c,,", "b,,");
    check(fields("1,3-4,6", "|"), "a|b|c|d|e|f|g", "a|c|d|f");
    check(fields("2", "\\t"), "a b\tc d\te", "c d");
    check_bytes(fields("2", "\\0"), "a\0b\0c", 5, "b", 1);
    check_bytes(fields("1,3", "\\0"), "a\0b\0c", 5, "a\0c", 3);
    check_bytes(fields("2", "\\xff"), "a\xff\xfe\xff", 4, "\xfe", 1);
    check(fields("2", "\\\\"), "a\\b", "b");
    check(fields("3", " "), "a  b", "b");
}

static void fields_between_blanks(void)
{
    check(fields("1", NULL), " \ta b", "a");
    check(fields("2", NULL), "a \t b ", "b");
    check(fields("2-3", NULL), "a b c d", "b c");
    check(fields("2-3", NULL), "a b\tc d", "b c");
    check(fields("2-3", NULL), "a b  c d", "b c");
    check(fields("2-", NULL), "a b  c\t", "b c");
    check(fields("2-", NULL), "a b c \t ", "b c");
    check(fields("1,3-", NULL), "a b c  d", "a c d");
    check(fields("-2", NULL), " a\tb c", "a b");
    check(fields("1", NULL), "", NULL);
    check(fields("1-", NULL), " \t ", NULL);
    check(fields("2", NULL), "a ", NULL);
    check(fields("1,2", NULL), "a ", "a");
    check(fields("1,3", NULL), "a b ", NULL);
    check(fields("1", NULL), "a\r\vb", "a\r\vb");
}

static bool is_wanted(const struct recipe *recipe, unsigned field)
{
    for (unsigned i = 0; i < recipe->ranges; i++)
        if (field >= recipe->range[i].first &&
            (recipe->range[i].last == 0 || field <= recipe->range[i].last))
            return true;
    return false;
}

/* The plainest way: every byte is asked which field it is in. Returns the length of what is wanted,
 * or -1 if a field is missing. */
static int plain_fields(const struct recipe *recipe, const char *line, size_t length, char *out)
{
    unsigned field = recipe->separated;
    int n = 0, taken = 0;
    for (size_t i = 0; i <= length && recipe->separated; i++) {
        bool ends = i == length || line[i] == recipe->separator;
        if ((i == 0 || line[i - 1] == recipe->separator) && is_wanted(recipe, field) && taken++ > 0)
            out[n++] = recipe->separator;
        if (!ends && is_wanted(recipe, field))
            out[n++] = line[i];
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
    }
    return recipe->range[recipe->ranges - 1].first <= field ? n : -1;
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

static void trimmed_lines(void)
{
    struct recipe tab = fields("2", "\\t"), comma = fields("2", ",");
    tab.trim = comma.trim = true;
    check((struct recipe){.trim = true}, " \t\r\v\fa b\r ", "a b");
    check((struct recipe){.trim = true}, " \r", "");
    check((struct recipe){.trim = true}, "\na\x1f", "\na\x1f");
    check(tab, "a\t\r", "");
    check(tab, "\t b", " b");
    check(tab, " \ta", "a");
    check(comma, "a,b\r", "b");
    check(comma, "a, b\r", " b");
    check(comma, " a\r", NULL);
}

static void folded_lines(void)
{
    struct recipe recipe = {.fold = true}, url = by(PROFILE_URL), point = by(PROFILE_ENDPOINT);
    url.fold = point.fold = true;
    check(recipe, "AZaz@[`{\xc3\x9c", "azaz@[`{\xc3\x9c");
    check(url, "http://a/B%c3?C", "http://a/b%c3?c");
    check(url, "http://A:B/C", NULL);
    check(point, "http://a/?b&B&a&A", "a/?a&b&a&b");
}

/* Fields, then the rest. */
static void steps_together(void)
{
    struct recipe recipe = fields("2,4", "\\t");
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

/* --- all bytes, all lengths --- */

static void long_lines(void)
{
    static char line[LONG + 1], key[LONG * 3];
    static const char front[] = "http://a/", host[] = "a";
    memset(line, 0xff, sizeof line);
    memcpy(line, front, sizeof front - 1);
    memcpy(key, front, sizeof front - 1);
    size_t length = sizeof front - 1;
    for (size_t i = sizeof front - 1; i < LONG; i++, length += 3)
        put(key + length, "%FF");
    check_bytes(by(PROFILE_URL), line, LONG, key, length);
    check_bytes(by(PROFILE_ENDPOINT), line, LONG, key + 7, length - 7);
    check_bytes(by(PROFILE_HOST), line, LONG, host, 1);
    for (enum profile profile = PROFILE_URL; profile < PROFILES; profile++)
        check_bytes(by(profile), line, LONG + 1, NULL, 0);
    line[LONG] = ' ';
    check_bytes(by(PROFILE_URL), line, LONG + 1, NULL, 0);
    struct recipe trimmed = by(PROFILE_URL);
    trimmed.trim = true;
    check_bytes(trimmed, line, LONG + 1, key, length);
}

static void short_segments(void)
{
    static char line[LONG], key[LONG * 3];
    size_t length = 1;
    put(line, "b://a");
    key[0] = 'a';
    for (size_t i = 5; i + 1 < LONG; i += 2, length += 4) {
        put(line + i, "/5");
        put(key + length, "/{0}");
    }
    check_bytes(by(PROFILE_ENDPOINT), line, LONG - 1, key, length);
}

static void room_for_longer_lines(void)
{
    enum { LENGTH = 1000000 };
    char *line = malloc(LENGTH), *key = malloc(LENGTH);
    struct keyer *keyer = keyer_of((struct recipe){.fold = true});
    if (line == NULL || key == NULL || keyer_reserve(keyer, LENGTH) != 0)
        exit(1);
    memset(line, 'Q', LENGTH);
    memset(key, 'q', LENGTH);
    tap_check(text_is(keyer_text(keyer, line, LENGTH), key, LENGTH), "another text");
    keyer_free(keyer);
    free(line);
    free(key);
}

static void any_byte(void)
{
    check_bytes(by(PROFILE_URL), "http://a/\0b\0", 12, "http://a/%00b", 13);
    check_bytes((struct recipe){.fold = true}, "A\0B", 3, "a\0b", 3);
    check_bytes((struct recipe){.trim = true}, "\0 ", 2, "\0", 1);
    check_bytes(by(PROFILE_URL), "\0http://a/\xff", 11, "http://a/%FF", 12);
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
    for (enum profile profile = PROFILE_LINE; profile < PROFILES; profile++)
        recipes[n++] = by(profile);
    return n;
}
enum { RECIPES_MAX = 16 };

/* A line that begins, or ends, where no memory is. */
static void nothing_beside_the_line(void)
{
    char *pages = mmap(NULL, 3 * SIDE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + SIDE, SIDE, PROT_READ | PROT_WRITE) != 0)
        exit(1);
    struct recipe recipes[RECIPES_MAX];
    size_t n = some_recipes(recipes);
    for (size_t r = 0; r < n; r++) {
        struct chance chance = {3};
        struct keyer *keyer = keyer_of(recipes[r]);
        for (unsigned i = 0; i < 20000; i++) {
            char line[256];
            size_t length = hostile(&chance, line, sizeof line);
            for (unsigned end = 0; end < 2; end++) {
                char *place = end ? pages + 2 * SIDE - length : pages + SIDE;
                memcpy(place, line, length);
                struct key_text text = keyer_text(keyer, place, length);
                tap_check(!text.itself || text.bytes == place, "elsewhere");
            }
        }
        keyer_free(keyer);
    }
    munmap(pages, 3 * SIDE);
}

/* --- keys --- */

/* Keys of a batch are those of the texts, each in its domain. */
static void keys_of_texts(void)
{
    enum { LINES = 2048 };
    static char bytes[LINES * 256];
    static size_t starts[LINES + 1];
    static struct key keys[LINES];
    static uint8_t itself[LINES];
    const struct hashers hashers = hashers_of_keys(hasher_xxh3(99));
    const struct hasher other = hasher_xxh3(99 ^ UINT64_C(0x9e3779b97f4a7c15));
    struct chance chance = {4};
    for (size_t i = 0; i < LINES; i++)
        starts[i + 1] = starts[i] + hostile(&chance, bytes + starts[i], 250) + 1;
    struct recipe recipes[RECIPES_MAX];
    size_t n = some_recipes(recipes);
    for (size_t r = 0; r < n; r++) {
        struct keyer *keyer = keyer_of(recipes[r]);
        memset(itself, 7, sizeof itself);
        keyer_hash(keyer, bytes, starts, LINES, hashers, keys, itself);
        for (size_t i = 0; i < LINES; i++) {
            size_t length = starts[i + 1] - 1 - starts[i];
            struct key_text text = keyer_text(keyer, bytes + starts[i], length);
            struct key key = hash_key(text.bytes, text.length,
                                      text.itself ? other : hasher_xxh3(99));
            tap_check(itself[i] == text.itself && keys[i].lo == key.lo && keys[i].hi == key.hi,
                      "recipe %zu, line %zu: itself %d", r, i, itself[i]);
        }
        keyer_free(keyer);
    }
}

/* Seeds and keys of the domains: made by the library itself, whose header is what hashes here. */
static void domains(void)
{
    static const struct {
        enum hash_domain domain;
        uint64_t seed, mixed, lo, hi;
    } known[] = {
        {DOMAIN_KEY, 0x0000000000000000, 0x0000000000000000, 0xeb5933d9b1d45b44,
         0x93bb22ccf568b3d0},
        {DOMAIN_ITSELF, 0x0000000000000000, 0x9e3779b97f4a7c15, 0x2f86ad8e47514d24,
         0x8fdfeba76cab8e12},
        {DOMAIN_SHARD, 0x0000000000000000, 0x3c6ef372fe94f82a, 0x283ee8388f614221,
         0x699a5c03e4eb20ce},
        {DOMAIN_KEY, 0x0000000000000001, 0x0000000000000001, 0x017af221ca81fba8,
         0xc11aed4e7d534762},
        {DOMAIN_ITSELF, 0x0000000000000001, 0x9e3779b97f4a7c14, 0xfa51f049c32f39a3,
         0xae36692ef49d8851},
        {DOMAIN_SHARD, 0x0000000000000001, 0x3c6ef372fe94f82b, 0x5bcb03ad39da029f,
         0x5ab5057c4884de2c},
        {DOMAIN_KEY, 0x0123456789abcdef, 0x0123456789abcdef, 0x1ad756ea19908715,
         0x9beb661feec6e33b},
        {DOMAIN_ITSELF, 0x0123456789abcdef, 0x9f143cdef6e1b1fa, 0x730a1e9108f70d2e,
         0x5f69cef60ceb49af},
        {DOMAIN_SHARD, 0x0123456789abcdef, 0x3d4db615773f35c5, 0x1dc805ac13b8f877,
         0xef5747e6d2f52cef},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct hasher mixed = hasher_in_domain(hasher_xxh3(known[i].seed), known[i].domain);
        struct key key = hash_key("http://a/", 9, mixed);
        tap_check(mixed.k0 == known[i].mixed, "%zu: seed %016" PRIx64, i, mixed.k0);
        tap_check(key.lo == known[i].lo && key.hi == known[i].hi, "%zu: %016" PRIx64 " %016" PRIx64,
                  i, key.lo, key.hi);
    }
}

/* The same under the secret 00 01 .. 0f, by libsodium: the table of unseen(5). */
static void domains_of_secrets(void)
{
    static const struct {
        const char *line;
        enum hash_domain domain;
        uint64_t lo, hi;
    } known[] = {
        {"", DOMAIN_KEY, 0xe6a825ba047f81a3, 0x930255c71472f66d},
        {"", DOMAIN_ITSELF, 0x7e9c2f9cc9d60f16, 0xa67206852545e9d0},
        {"http://example.com/", DOMAIN_KEY, 0x682be38b3c9c21a1, 0x88c0165ace09aaa4},
        {"http://example.com/", DOMAIN_ITSELF, 0x593d3f215def6810, 0x0fd89ce556e72be4},
    };
    const struct hasher hasher = {HASH_SIPHASH, 0x0706050403020100, 0x0f0e0d0c0b0a0908};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct key key = hash_key(known[i].line, strlen(known[i].line),
                                  hasher_in_domain(hasher, known[i].domain));
        tap_check(key.lo == known[i].lo && key.hi == known[i].hi, "%zu: %016" PRIx64 " %016" PRIx64,
                  i, key.lo, key.hi);
    }
}

int main(void)
{
    tap_run("url/1: examples", normal_urls);
    tap_run("url/1: twice is as good as once", url_of_url);
    tap_run("host/1: examples", hosts);
    tap_run("endpoint/1: examples", endpoints);
    tap_run("endpoint/1: thousands of names", many_names);
    tap_run("fields with a separator", separated_fields);
    tap_run("fields between blanks", fields_between_blanks);
    tap_run("fields as the plainest way finds them", fields_the_plain_way);
    tap_run("blanks at the ends of a line", trimmed_lines);
    tap_run("letters of either case", folded_lines);
    tap_run("several steps", steps_together);
    tap_run("lines as long as a profile takes, and longer", long_lines);
    tap_run("a key longer than its line", short_segments);
    tap_run("room for lines that are longer still", room_for_longer_lines);
    tap_run("NUL and other bytes", any_byte);
    tap_run("no byte beside the line is read", nothing_beside_the_line);
    tap_run("keys of a batch are those of the texts", keys_of_texts);
    tap_run("hash domains", domains);
    tap_run("domains of the hash under a secret", domains_of_secrets);
    return tap_end();
}
