/*
 * fuzz_key - keys of any lines, by any recipe.
 *
 * The first three bytes choose the recipe (recipes.h). The rest are lines, each ended by a newline
 * or the end, or rows of CSV; with names of columns the first one is the header line.
 *
 * What must hold: a key is no longer than keyer.h has room for; a line that counts as no_key is
 * left as it is; keyer_hash says what keyer_text says, whatever is known of a row. A URL in normal
 * form has legal bytes alone, is its own normal form, and has the host, if any, and the endpoint
 * of the line. (Whether it is the right key: tests/key/compare.)
 */
#include "key/columns.h"
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
static void check_line(struct keyer *keyer, const char *line, size_t length, uint8_t kind,
                       size_t most, struct hasher hasher, struct key hashed, uint8_t no_key)
{
    struct key_text text = keyer_text(keyer, line, length, kind);

    INSIST(no_key == text.no_key && text.length <= most);
    if (no_key)
        INSIST(text.length == length && memcmp(text.bytes, line, length) == 0);
    struct key key = hash_key(text.bytes, text.length,
                              hasher_in_domain(hasher, text.no_key ? DOMAIN_LINE : DOMAIN_KEY));
    INSIST(key.lo == hashed.lo && key.hi == hashed.hi);
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
    const struct hashes hashes = {hashers_of_keys(hasher), keys + i};
    keyer_hash(keyer, bytes, starts + i, recipe->syntax == SYNTAX_CSV ? kinds + i : NULL, n - i,
               &hashes, 1, no_key + i);
    for (; i < n; i++) {
        const struct span line = {bytes + starts[i], starts[i + 1] - starts[i] - 1};
        check_line(keyer, line.bytes, line.length, kinds[i], 9 * line.length + size + 64, hasher,
                   keys[i], no_key[i]);
        check_header(recipe, (struct span){bytes, starts[1] - 1}, line);
    }
    /* What follows may be no row. */
    if (starts[n] < size)
        for (unsigned kind = 0; kind <= (ROW_QUOTED | ROW_ODD); kind++)
            keyer_text(keyer, bytes + starts[n], size - 1 - starts[n], (uint8_t)kind);
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
