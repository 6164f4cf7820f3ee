/*
 * fuzz_key - keys of any lines, by any recipe.
 *
 * The first three bytes choose the recipe (recipes.h). The rest are lines, each ended by a newline
 * or the end, or rows of CSV; with names of columns the first one is the header line.
 *
 * What must hold: a key is no longer than keyer.h has room for; a line that counts as no_key is
 * left as it is; keyer_hash says what keyer_text says, whatever is known of a row. A URL in normal
 * form has legal bytes alone, is its own normal form, and has the host, if any, and the endpoint
 * of the line. A key made of columns or members is CSV or JSON again, and has itself as its key.
 * What may stand around a JSON text changes nothing. A key of one value is what patterns leave of
 * the key that it has without them.
 */
#include "key/columns.h"
#include "key/keyer.h"
#include "key/without.h"
#include "recipes.h"

#include <stdbool.h>
#include <string.h>

enum { LINES_MAX = 64, PROFILE_LENGTH_MAX = 65536 };

static struct keyer *new_keyer(const struct recipe *recipe, size_t length)
{
    struct keyer *keyer = keyer_new(recipe);

    INSIST(keyer && keyer_reserve(keyer, length) == 0);
    return keyer;
}

/* In an allocation of its own. Keyers take memory, which takes time: those of the profiles are made
 * once. */
static struct key_text text_by(enum profile profile, const char *line, size_t length)
{
    static struct keyer *keyers[PROFILES];
    struct recipe recipe = {.profile = profile, .version = profile_versions[profile]};

    if (!keyers[profile])
        keyers[profile] = new_keyer(&recipe, 3 * PROFILE_LENGTH_MAX);
    INSIST(length <= 3 * PROFILE_LENGTH_MAX || keyer_reserve(keyers[profile], length) == 0);
    struct key_text text = keyer_text(keyers[profile], line, length, ROW_ODD);
    char *copy = malloc(text.length + 1);
    INSIST(copy);
    text.bytes = memcpy(copy, text.bytes, text.length);
    return text;
}

static bool is_legal(struct key_text url)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~:/?@!$&'()*+,;=%[]#";

    /* Of fragments, only routes are left. */
    const char *route = memchr(url.bytes, '#', url.length);
    if (route && (url.bytes + url.length - route < 2 || !strchr("!/", route[1])))
        return false;
    for (size_t i = 0; i < url.length; i++)
        if (!url.bytes[i] || !strchr(legal, url.bytes[i]))
            return false;
    return true;
}

/* A profile makes the same of a line and of its normal form; which, encoded, may have become too
 * long for one. */
static void check_url(const char *line, size_t length)
{
    struct key_text normal = text_by(PROFILE_URL, line, length);

    INSIST(normal.no_key || is_legal(normal));
    for (enum profile profile = PROFILE_URL;
         !normal.no_key && normal.length <= PROFILE_LENGTH_MAX && profile < PROFILES; profile++) {
        struct key_text once = text_by(profile, line, length),
                        twice = text_by(profile, normal.bytes, normal.length);
        INSIST(once.no_key == twice.no_key);
        INSIST(once.no_key ||
               (once.length == twice.length && memcmp(once.bytes, twice.bytes, once.length) == 0));
        free((char *)once.bytes);
        free((char *)twice.bytes);
    }
    free((char *)normal.bytes);
}

/* How the key of columns or members is read again: by this keyer, which is NULL if it cannot be,
 * between these bytes. Another one for the same lines with more around them, if they are JSON. And
 * one without patterns, if there are some and they work on one value, and the patterns.
 */
struct again {
    struct keyer *keyer;
    const char *open, *close;
    struct keyer *around;
    const struct recipe *recipe;
    struct keyer *plain;
    struct without *without;
};

enum { AROUND_MAX = 16 };

/* How many names or members LIST has. */
static unsigned names_of(const struct recipe *recipe)
{
    char name[RECIPE_NAMES_BYTES + 1];
    unsigned n = 0;

    for (const char *at = recipe->names; *at != '\0'; n++)
        recipe_next_name(&at, name);
    return n;
}

static bool is_of_one_column(const struct recipe *recipe)
{
    if (recipe->names[0] != '\0')
        return names_of(recipe) == 1 && !recipe->except;
    return recipe->ranges == 1 && recipe->range[0].first == recipe->range[0].last;
}

/* Whether patterns work on all of the key. */
static bool is_of_one_value(const struct recipe *recipe)
{
    return recipe->profile != PROFILE_LINE ||
           (recipe->syntax == SYNTAX_FIELDS && !recipe_has_list(recipe)) ||
           (recipe->syntax != SYNTAX_JSONL && is_of_one_column(recipe));
}

/* All columns of a record; a single one in quotes; a member of an object; the items of an array. */
static struct again again_of(const struct recipe *recipe, size_t longest)
{
    struct again again = {.open = "", .close = "", .recipe = recipe};
    struct recipe second = *recipe;
    char list[4 * RECIPE_NAMES_MAX + 1] = "1-";
    const char *wanted;
    bool patterns = recipe->patterns[0] != '\0';
    /* A letter that separates becomes lower case, too, and then does not; with patterns it does not
     * become so. */
    bool folded = recipe->fold && recipe->separator >= 'A' && recipe->separator <= 'Z' && !patterns;

    memset(second.patterns, 0, sizeof second.patterns);
    if (recipe->syntax == SYNTAX_JSONL)
        again.around = new_keyer(recipe, longest + AROUND_MAX);
    if (patterns && is_of_one_value(recipe)) {
        again.plain = new_keyer(&second, longest);
        again.without = without_new(recipe);
        INSIST(again.without);
    }
    /* What patterns leave may begin with blanks. */
    second.trim &= !patterns;
    second.fold &= !patterns;
    if (recipe->profile != PROFILE_LINE || recipe->syntax == SYNTAX_FIELDS)
        return again;
    if (recipe->syntax == SYNTAX_JSONL && names_of(recipe) == 1) {
        again.open = "{\"id\":", again.close = "}";
        strcpy(list, "id");
    } else if (recipe->syntax == SYNTAX_JSONL) {
        again.open = "[", again.close = "]";
        char *end = list + sprintf(list, "/0");
        for (unsigned items = 1; items < names_of(recipe); items++)
            end += sprintf(end, ",/%u", items);
    } else if (is_of_one_column(recipe)) {
        again.open = again.close = "\"";
        list[1] = '\0';
    } else if (folded) {
        return again;
    }
    memset(second.names, 0, sizeof second.names);
    second.except = false;
    INSIST(!recipe_parse_fields(&second, list, &wanted));
    again.keyer = new_keyer(&second, 0);
    return again;
}

static void check_again(const struct again *again, struct key_text key)
{
    bool column = again->open[0] == '"', members = again->open[0] == '[', quoted = false;
    char *line = malloc(5 * key.length + 16);

    INSIST(line);
    char *end = stpcpy(line, again->open);
    for (size_t i = 0; i < key.length; i++) {
        char c = *end++ = key.bytes[i];
        if (column && c == '"')
            *end++ = '"';
        if (!members)
            continue;
        if (quoted && c == '\\')
            *end++ = key.bytes[++i];
        quoted ^= c == '"';
        /* A member that is missing is nothing in a key. */
        if (!quoted && c == ',' && (i + 1 == key.length || key.bytes[i + 1] == ','))
            end = stpcpy(end, "null");
    }
    size_t length = (size_t)(stpcpy(end, again->close) - line);
    /* A byte order mark is data, but at the beginning of a line. */
    if (length < 3 || memcmp(line, "\xef\xbb\xbf", 3) != 0) {
        INSIST(keyer_reserve(again->keyer, length) == 0);
        struct key_text same = keyer_text(again->keyer, line, length, ROW_ODD);
        INSIST(!same.no_key && same.length == key.length &&
               memcmp(same.bytes, key.bytes, key.length) == 0);
    }
    free(line);
}

/* Of a line from brace to brace: with a comma, or a bracket at one end, blanks, a byte order
 * mark. */
static void check_around(struct keyer *keyer, const char *line, size_t length, struct key_text text)
{
    static const char *const around[][2] = {
        {"", ""},       {"", "\r"}, {"\xef\xbb\xbf", ""}, {"\t", " \r, "},
        {"[", " \r, "}, {"", " ]"}, {" ", ",]"},          {"\xef\xbb\xbf [ ", ""},
    };
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        size_t before = strlen(around[i][0]), after = strlen(around[i][1]);
        char *more = malloc(before + length + after);
        INSIST(more);
        memcpy(more, around[i][0], before);
        memcpy(more + before, line, length);
        memcpy(more + before + length, around[i][1], after);
        struct key_text same = keyer_text(keyer, more, before + length + after, ROW_ODD);
        INSIST(same.no_key == text.no_key);
        if (!text.no_key)
            INSIST(same.length == text.length && memcmp(same.bytes, text.bytes, text.length) == 0);
        free(more);
    }
}

/* What patterns leave of one value. If that is nothing, or it is too long, there is none. */
static void check_left(const struct again *again, struct span line, uint8_t kind,
                       struct key_text text)
{
    struct key_text plain = keyer_text(again->plain, line.bytes, line.length, kind);
    struct span left = {plain.bytes, plain.length};

    if (plain.no_key) {
        INSIST(text.no_key == plain.no_key);
        return;
    }
    bool whole = again->recipe->syntax == SYNTAX_FIELDS && !recipe_has_list(again->recipe);
    bool none = !without_apply(again->without, &left) || (left.length == 0 && !whole);
    INSIST(none == (text.no_key != HAS_KEY));
    if (!none)
        INSIST(text.length == left.length && memcmp(text.bytes, left.bytes, left.length) == 0);
}

/* starts[] as hash_lines has it; returns how many lines or rows there are. */
static size_t find_lines(const struct recipe *recipe, const char *bytes, size_t size,
                         size_t *starts, uint8_t *kinds)
{
    struct rows rows;

    starts[0] = 0;
    rows_begin(&rows, recipe_line_ends(recipe, '\n'), true);
    return rows_find(&rows, bytes, size, starts, kinds, LINES_MAX);
}

/* `most` is what its key may have. */
static void check_line(struct keyer *keyer, const struct again *again, const char *line,
                       size_t length, uint8_t kind, size_t most, struct hasher hasher,
                       struct key hashed, uint8_t no_key)
{
    struct key_text text = keyer_text(keyer, line, length, kind);

    INSIST(no_key == text.no_key && text.length <= most);
    if (no_key)
        INSIST(text.length == length && memcmp(text.bytes, line, length) == 0);
    struct key key = hash_key(text.bytes, text.length,
                              hasher_in_domain(hasher, text.no_key ? DOMAIN_LINE : DOMAIN_KEY));
    INSIST(key.lo == hashed.lo && key.hi == hashed.hi);
    if (again->plain)
        check_left(again, (struct span){line, length}, kind, text);
    if (again->keyer && !text.no_key)
        check_again(again, text);
    if (again->around && length > 0 && line[0] == '{' && line[length - 1] == '}')
        check_around(again->around, line, length, text);
    text = keyer_text(keyer, line, length, ROW_ODD);
    key = hash_key(text.bytes, text.length,
                   hasher_in_domain(hasher, text.no_key ? DOMAIN_LINE : DOMAIN_KEY));
    INSIST(key.lo == hashed.lo && key.hi == hashed.hi);
    check_url(line, length);
}

/* A header line is like itself, whatever it is like otherwise. */
static void check_header(const struct recipe *recipe, struct span header, struct span line)
{
    INSIST(columns_compare(recipe, header, header) == HEADER_SAME);
    INSIST(columns_compare(recipe, header, line) == columns_compare(recipe, line, header));
}

/* Up to a row that is none. */
static void check_lines(const struct recipe *recipe, struct keyer *keyer, const char *bytes,
                        size_t size)
{
    const uint64_t seed = 0x0123456789abcdef;
    const struct hasher hasher = {size % 2 ? HASH_SIPHASH : HASH_XXH3, seed, ~seed};
    size_t starts[LINES_MAX + 1];
    struct key keys[LINES_MAX];
    uint8_t no_key[LINES_MAX], kinds[LINES_MAX];
    size_t n = find_lines(recipe, bytes, size, starts, kinds), i = 0;
    struct fault fault;

    if (recipe_has_column_names(recipe) &&
        (n == 0 || keyer_read_header(keyer, bytes, starts[++i] - 1, "input", &fault) != 0))
        return;
    struct again again = again_of(recipe, size);
    if (again.plain && recipe_has_column_names(recipe))
        INSIST(keyer_read_header(again.plain, bytes, starts[1] - 1, "input", &fault) == 0);
    const struct hashes hashes = {hashers_of_keys(hasher), keys + i};
    keyer_hash(keyer, bytes, starts + i, recipe->syntax == SYNTAX_CSV ? kinds + i : NULL, n - i,
               &hashes, 1, no_key + i);
    for (; i < n; i++) {
        const struct span line = {bytes + starts[i], starts[i + 1] - starts[i] - 1};
        check_line(keyer, &again, line.bytes, line.length, kinds[i], 9 * line.length + size + 64,
                   hasher, keys[i], no_key[i]);
        check_header(recipe, (struct span){bytes, starts[1] - 1}, line);
    }
    /* What follows may be no row. */
    if (starts[n] < size)
        for (unsigned kind = 0; kind <= (ROW_QUOTED | ROW_ODD); kind++)
            keyer_text(keyer, bytes + starts[n], size - 1 - starts[n], (uint8_t)kind);
    keyer_free(again.keyer);
    keyer_free(again.around);
    keyer_free(again.plain);
    without_free(again.without);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct recipe recipe = recipe_chosen(data);
    struct keyer *keyer = new_keyer(&recipe, size);
    /* With the last delimiter, which a chunk of lines has. */
    char *bytes = malloc(size - 2);
    INSIST(bytes);
    memcpy(bytes, data + 3, size - 3);
    bytes[size - 3] = '\n';
    check_lines(&recipe, keyer, bytes, size - 2);
    free(bytes);
    keyer_free(keyer);
    return 0;
}
