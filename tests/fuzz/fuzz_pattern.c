/*
 * fuzz_pattern - any patterns of --without, and what they leave of any values.
 *
 * The first byte says how many patterns there are, 1 to 4, and with its bit 4, that A-Z are a-z.
 * Patterns follow, then values, each ended by a NUL or the end.
 *
 * What must hold: a pattern that is none is so at one of its bytes, for a reason. What is left of a
 * value are bytes of it, in their order, and is where it was if it is all of it. A value is left
 * the same whether it is the only one, comes after others, or before them. (Whether it is the right
 * bytes that are left: tests/key/oracle_without.py.)
 */
#include "key/pattern.h"
#include "key/without.h"
#include "replay.h"

#include <string.h>

enum { MANY = 16, FOLDS = 4 };

static struct span copy_of(struct span span)
{
    char *copy = malloc(span.length + (span.length == 0));
    INSIST(copy);
    return (struct span){span.length > 0 ? memcpy(copy, span.bytes, span.length) : copy,
                         span.length};
}

static struct span left_by(struct without *without, struct span value)
{
    INSIST(without_apply(without, &value));
    return value;
}

static bool is_same(struct span one, struct span other)
{
    return one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
}

static void check_left(const struct recipe *recipe, struct span value, struct span left)
{
    size_t n = 0;
    for (size_t i = 0; i < value.length && n < left.length; i++) {
        const char c = recipe->fold ? ascii_lower(value.bytes[i]) : value.bytes[i];
        n += c == left.bytes[n];
    }
    INSIST(n == left.length && left.length <= value.length);
    INSIST(left.length < value.length || left.bytes == value.bytes || recipe->fold);
}

static void check_values(const struct recipe *recipe, const struct span *values, size_t n)
{
    struct without *without = without_new(recipe);
    struct span lefts[MANY];
    INSIST(without);
    for (size_t i = 0; i < n; i++) {
        const struct span left = left_by(without, values[i]);
        check_left(recipe, values[i], left);
        lefts[i] = copy_of(left);
        INSIST(is_same(left_by(without, values[i]), lefts[i]));
    }
    for (size_t i = n; i-- > 0;) {
        struct without *alone = without_new(recipe);
        INSIST(alone);
        INSIST(is_same(left_by(without, values[i]), lefts[i]));
        INSIST(is_same(left_by(alone, values[i]), lefts[i]));
        without_free(alone);
        free((char *)lefts[i].bytes);
    }
    without_free(without);
}

/* What is up to a NUL or the end, and goes behind that. */
static struct span next_span(const uint8_t **at, const uint8_t *end)
{
    const char *from = (const char *)*at;
    const uint8_t *to = *at < end ? memchr(*at, '\0', (size_t)(end - *at)) : NULL;
    if (to == NULL)
        to = end;
    *at = to < end ? to + 1 : NULL;
    return (struct span){from, (size_t)((const char *)to - from)};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recipe recipe = {.patterns = ""};
    struct span values[MANY];
    size_t n = 0, place, used = 0;
    const char *wanted = NULL;
    if (size < 2)
        return 0;
    const uint8_t *at = data + 1, *end = data + size;
    recipe.fold = (data[0] & FOLDS) != 0;
    for (unsigned i = 0; i <= data[0] % FOLDS && at != NULL; i++) {
        const struct span pattern = next_span(&at, end);
        if (used + pattern.length > RECIPE_PATTERNS_BYTES)
            return 0;
        memcpy(recipe.patterns + used + i, pattern.bytes, pattern.length);
        const char *reason = pattern_check(recipe.patterns + used + i, &place, &wanted);
        INSIST(reason == NULL || (place <= pattern.length && wanted && *wanted != '\0'));
        if (reason != NULL)
            return 0;
        used += pattern.length;
    }
    for (; n < MANY && at != NULL; n++)
        values[n] = copy_of(next_span(&at, end));
    check_values(&recipe, values, n);
    while (n-- > 0)
        free((char *)values[n].bytes);
    return 0;
}
