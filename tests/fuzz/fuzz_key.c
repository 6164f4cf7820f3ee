/*
 * fuzz_key - keys of any lines, by any recipe.
 *
 * The first three bytes choose the recipe: profile and switches, separator, list of fields. The
 * rest are lines, each ended by a newline or the end.
 *
 * What must hold: a key is no longer than keyer.h has room for; a line that counts as no_key is
 * left as it is; keyer_hash says what keyer_text says. A URL in normal form has legal bytes alone,
 * is its own normal form, and has the host and the endpoint of the line.
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

static void check_text(struct key_text text, const char *line, size_t length)
{
    INSIST(text.length <= 3 * length + 2);
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

static void check_lines(struct keyer *keyer, const char *bytes, size_t size)
{
    const uint64_t seed = 0x0123456789abcdef;
    const struct hasher hasher = {size % 2 ? HASH_SIPHASH : HASH_XXH3, seed, ~seed};
    size_t starts[LINES_MAX + 1];
    struct key keys[LINES_MAX];
    uint8_t no_key[LINES_MAX];
    size_t n = find_lines(bytes, size, starts);

    keyer_hash(keyer, bytes, starts, n, hashers_of_keys(hasher), keys, no_key);
    for (size_t i = 0; i < n; i++) {
        const char *line = bytes + starts[i];
        size_t length = starts[i + 1] - starts[i] - 1;
        struct key_text text = keyer_text(keyer, line, length);
        check_text(text, line, length);
        INSIST(no_key[i] == text.no_key);
        struct key key = hash_key(text.bytes, text.length,
                                  hasher_in_domain(hasher, text.no_key ? DOMAIN_LINE : DOMAIN_KEY));
        INSIST(key.lo == keys[i].lo && key.hi == keys[i].hi);
        check_url(line, length);
    }
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
    check_lines(keyer, bytes, size - 3);
    free(bytes);
    keyer_free(keyer);
    return 0;
}
