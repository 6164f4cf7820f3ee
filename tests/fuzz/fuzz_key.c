/*
 * fuzz_key - keys of any lines, by any recipe.
 *
 * The first three bytes choose the recipe (recipes.h). The rest are lines, each ended by a newline
 * or the end; with names of columns the first one is the header line.
 *
 * What must hold: a key is no longer than keyer.h has room for; a line that counts as no_key is
 * left as it is; keyer_hash says what keyer_text says. A URL in normal form has legal bytes alone,
 * is its own normal form, and has the host and the endpoint of the line. A key made of columns or
 * members is CSV or JSON again, and has itself as its key.
 */
#include "key/keyer.h"
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
    struct key_text text = keyer_text(keyers[profile], line, length);
    char *copy = malloc(text.length + 1);
    INSIST(copy);
    text.bytes = memcpy(copy, text.bytes, text.length);
    return text;
}

static bool is_legal(struct key_text url)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~:/?@!$&'()*+,;=%[]";

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
        INSIST(once.no_key == twice.no_key && once.length == twice.length &&
               memcmp(once.bytes, twice.bytes, once.length) == 0);
        free((char *)once.bytes);
        free((char *)twice.bytes);
    }
    free((char *)normal.bytes);
}

/* How the key of columns or members is read again: by this keyer, which is NULL if it cannot be,
 * between these bytes. */
struct again {
    struct keyer *keyer;
    char open, close; /* NUL: none */
};

static bool is_of_one_column(const struct recipe *recipe)
{
    if (recipe->names[0] != '\0')
        return strchr(recipe->names, ',') == NULL;
    return recipe->ranges == 1 && recipe->range[0].first == recipe->range[0].last;
}

/* All columns of a record; a single one in quotes; the items of an array. */
static struct again again_of(const struct recipe *recipe)
{
    struct again again = {0};
    struct recipe second = *recipe;
    char list[4 * RECIPE_NAMES_MAX + 1] = "1-";
    const char *wanted;
    /* A letter that separates becomes lower case, too, and then does not. */
    bool folded = recipe->fold && recipe->separator >= 'A' && recipe->separator <= 'Z';

    if (recipe->profile != PROFILE_LINE || recipe->syntax == SYNTAX_FIELDS)
        return again;
    if (recipe->syntax == SYNTAX_JSONL) {
        again.open = '[', again.close = ']';
        char *end = list + sprintf(list, "/0");
        unsigned items = 1;
        for (const char *at = recipe->names; (at = strchr(at, ',')) != NULL; at++)
            end += sprintf(end, ",/%u", items++);
    } else if (is_of_one_column(recipe)) {
        again.open = again.close = '"';
        list[1] = '\0';
    } else if (folded) {
        return again;
    }
    memset(second.names, 0, sizeof second.names);
    INSIST(!recipe_parse_fields(&second, list, &wanted));
    again.keyer = new_keyer(&second, 0);
    return again;
}

static void check_again(const struct again *again, struct key_text key)
{
    char *line = malloc(2 * key.length + 2);
    size_t length = 0;

    INSIST(line);
    line[length] = again->open;
    length += again->open != '\0';
    for (size_t i = 0; i < key.length; i++) {
        if (again->open == '"' && key.bytes[i] == '"')
            line[length++] = '"';
        line[length++] = key.bytes[i];
    }
    line[length] = again->close;
    length += again->close != '\0';
    /* A byte order mark is data, but at the beginning of a line. */
    if (length < 3 || memcmp(line, "\xef\xbb\xbf", 3) != 0) {
        INSIST(keyer_reserve(again->keyer, length) == 0);
        struct key_text same = keyer_text(again->keyer, line, length);
        INSIST(!same.no_key && !keyer_wrong(again->keyer) && same.length == key.length &&
               memcmp(same.bytes, key.bytes, key.length) == 0);
    }
    free(line);
}

static void check_text(struct key_text text, const char *line, size_t length)
{
    INSIST(text.length <= 9 * length + 64);
    if (text.no_key)
        INSIST(text.length == length && memcmp(text.bytes, line, length) == 0);
}

/* starts[] as hash_lines has it; returns how many lines there are. */
static size_t find_lines(const char *bytes, size_t size, size_t *starts)
{
    size_t n = 0;

    starts[0] = 0;
    while (n < LINES_MAX && starts[n] <= size) {
        const char *end = memchr(bytes + starts[n], '\n', size - starts[n]);
        starts[n + 1] = (end ? (size_t)(end - bytes) : size) + 1;
        n++;
    }
    return n;
}

static void check_line(struct keyer *keyer, const struct again *again, const char *line,
                       size_t length, struct hasher hasher, struct key hashed, bool no_key)
{
    struct key_text text = keyer_text(keyer, line, length);

    INSIST(!keyer_wrong(keyer) && no_key == text.no_key);
    check_text(text, line, length);
    struct key key = hash_key(text.bytes, text.length,
                              hasher_in_domain(hasher, text.no_key ? DOMAIN_LINE : DOMAIN_KEY));
    INSIST(key.lo == hashed.lo && key.hi == hashed.hi);
    if (again->keyer && !text.no_key)
        check_again(again, text);
    check_url(line, length);
}

/* Up to a line that is not CSV. */
static void check_lines(const struct recipe *recipe, struct keyer *keyer, const char *bytes,
                        size_t size)
{
    const uint64_t seed = 0x0123456789abcdef;
    const struct hasher hasher = {size % 2 ? HASH_SIPHASH : HASH_XXH3, seed, ~seed};
    size_t starts[LINES_MAX + 1];
    struct key keys[LINES_MAX];
    uint8_t no_key[LINES_MAX];
    size_t n = find_lines(bytes, size, starts), i = 0;
    struct fault fault;

    if (recipe_has_column_names(recipe) &&
        keyer_read_header(keyer, bytes, starts[++i] - 1, "input", &fault) != 0)
        return;
    struct again again = again_of(recipe);
    const struct hashes hashes = {hashers_of_keys(hasher), keys + i};
    size_t end = i + keyer_hash(keyer, bytes, starts + i, n - i, &hashes, 1, no_key + i);
    for (; i < end; i++)
        check_line(keyer, &again, bytes + starts[i], starts[i + 1] - starts[i] - 1, hasher, keys[i],
                   no_key[i]);
    if (end < n) {
        keyer_text(keyer, bytes + starts[end], starts[end + 1] - starts[end] - 1);
        INSIST(recipe->syntax == SYNTAX_CSV && keyer_wrong(keyer));
    }
    keyer_free(again.keyer);
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
    check_lines(&recipe, keyer, bytes, size - 3);
    free(bytes);
    keyer_free(keyer);
    return 0;
}
