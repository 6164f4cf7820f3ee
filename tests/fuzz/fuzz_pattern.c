/*
 * fuzz_pattern - any patterns of --without, and what they leave of any values.
 *
 * The first byte says how many patterns there are, 1 to 4, and with its bit 4, that A-Z are a-z.
 * Patterns follow, then values, each ended by a NUL or the end.
 *
 * What must hold: a pattern that is none is so at one of its bytes, for a reason. What is left of a
 * value are bytes of it, in their order, and is where it was if it is all of it. A value is left
 * the same whether it is the only one, comes after others, or before them. If it is short, the
 * obvious way to match, which tries and goes back, says the same.
 */
#include "key/pattern.h"
#include "key/without.h"
#include "replay.h"

#include <string.h>

enum { MANY = 16, SHORT_MAX = 24, TRIES_MAX = 20000, FOLDS = 4 };

/* --- the obvious way --- */

/* What is to be matched behind a node: the next ones in its chain; or, if it is an iteration, what
 * may follow that in the repetition. */
struct rest {
    const struct node *repeat; /* NULL: of a chain */
    unsigned next;             /* in the chain */
    unsigned taken;            /* iterations, with this one */
    size_t from;               /* where it began */
    const struct rest *up;
};

struct attempt {
    const struct pattern *pattern;
    struct span value;
    size_t from, to;
    unsigned tries;
};

static bool try_rest(struct attempt *attempt, const struct rest *rest, size_t at);

static bool stands(const struct attempt *attempt, const struct node *node, size_t at)
{
    const struct byte_set *set = &attempt->pattern->set[node->set];
    const struct span value = attempt->value;
    const bool before = at < value.length ? byte_set_has(set, (uint8_t)value.bytes[at])
                                          : node->at_end;
    const bool after = at > 0 ? byte_set_has(set, (uint8_t)value.bytes[at - 1]) : node->at_end;
    return node->place == PLACE_AFTER    ? after
           : node->place == PLACE_BEFORE ? before
                                         : (before != after) == (node->place == PLACE_BORDER);
}

static bool try_node(struct attempt *attempt, unsigned number, const struct rest *rest, size_t at);

/* Another iteration, or what follows the repetition. */
static bool try_repeat(struct attempt *attempt, const struct node *node, unsigned taken,
                       const struct rest *up, size_t at)
{
    const struct rest rest = {.repeat = node, .taken = taken + 1, .from = at, .up = up};
    if (taken < node->least)
        return try_node(attempt, node->child, &rest, at);
    return (node->lazy && try_rest(attempt, up, at)) ||
           ((node->most == PATTERN_ENDLESS || taken < node->most) &&
            try_node(attempt, node->child, &rest, at)) ||
           (!node->lazy && try_rest(attempt, up, at));
}

static bool try_chain(struct attempt *attempt, unsigned number, const struct rest *up, size_t at)
{
    if (number == 0)
        return try_rest(attempt, up, at);
    const struct rest rest = {.next = attempt->pattern->node[number].next, .up = up};
    return try_node(attempt, number, &rest, at);
}

static bool try_rest(struct attempt *attempt, const struct rest *rest, size_t at)
{
    if (rest == NULL) {
        attempt->to = at;
        return at > attempt->from;
    }
    const struct node *repeat = rest->repeat;
    if (repeat == NULL)
        return try_chain(attempt, rest->next, rest->up, at);
    /* An endless loop ends with an iteration that takes nothing. */
    if (repeat->most == PATTERN_ENDLESS && at == rest->from && rest->taken >= repeat->least)
        return try_rest(attempt, rest->up, at);
    return try_repeat(attempt, repeat, rest->taken, rest->up, at);
}

static bool try_node(struct attempt *attempt, unsigned number, const struct rest *rest, size_t at)
{
    const struct pattern *pattern = attempt->pattern;
    const struct node *node = &pattern->node[number];
    if (++attempt->tries > TRIES_MAX)
        return false;
    switch (node->kind) {
    case NODE_SET:
        return at < attempt->value.length &&
               byte_set_has(&pattern->set[node->set], (uint8_t)attempt->value.bytes[at]) &&
               try_rest(attempt, rest, at + 1);
    case NODE_PLACE:
        return stands(attempt, node, at) && try_rest(attempt, rest, at);
    case NODE_CHOICE:
        for (unsigned child = node->child; child != 0; child = pattern->node[child].next)
            if (try_node(attempt, child, rest, at))
                return true;
        return false;
    case NODE_CHAIN:
        return try_chain(attempt, node->child, rest, at);
    case NODE_REPEAT:
        return try_repeat(attempt, node, 0, rest, at);
    default:
        return try_rest(attempt, rest, at);
    }
}

/* What one pattern leaves, in `left`. Returns false if it takes too long. */
static bool leave_out(const struct pattern *pattern, struct span value, struct span *left)
{
    char *out = (char *)left->bytes;
    for (size_t at = 0; at <= value.length;) {
        struct attempt attempt = {.pattern = pattern, .value = value, .from = at};
        const bool matches = try_node(&attempt, pattern->root, NULL, at);
        if (attempt.tries > TRIES_MAX)
            return false;
        if (matches)
            at = attempt.to;
        else if (at < value.length)
            *out++ = value.bytes[at++];
        else
            break;
    }
    left->length = (size_t)(out - left->bytes);
    return true;
}

static void check_obvious(const struct recipe *recipe, struct span value, struct span left)
{
    static struct pattern pattern;
    char bytes[2][SHORT_MAX] = {{0}};
    unsigned turn = 0;
    struct pattern_fault fault;
    for (const char *at = recipe->patterns; *at != '\0'; at += strlen(at) + 1, turn ^= 1) {
        struct span next = {bytes[turn], 0};
        INSIST(pattern_parse(at, recipe->fold, &pattern, &fault) == 0);
        if (!leave_out(&pattern, value, &next))
            return;
        value = next;
    }
    INSIST(left.length == value.length && memcmp(left.bytes, value.bytes, value.length) == 0);
}

/* --- ours --- */

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
        if (values[i].length <= SHORT_MAX && !recipe->fold)
            check_obvious(recipe, values[i], lefts[i]);
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
