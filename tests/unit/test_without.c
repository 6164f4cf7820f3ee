/* What patterns leave of a value: each part of the grammar, beside pages that must not be touched;
 * limits; states that are forgotten. Random patterns and values: tests/key/oracle_without.py. */
#include "key/pattern.h"
#include "key/without.h"

#include "chance.h"
#include "guards.h"
#include "tap.h"

static const struct {
    char patterns[24]; /* as in a recipe */
    const char *value, *left;
} examples[] = {
    /* Of one set, all of its bytes go. */
    {"[0-9]+", "1a22b333", "ab"},
    {"\\s", " a\t\n\v\f\rb\b ", "ab\b"},
    {"x*?", "xaxx", "a"},
    {"(?:-|[._])", "-a.b_c", "abc"},
    {"\\xff", "a\xff\xfe", "a\xfe"},
    {"[0-9]{2}", "1 22 333", "1  3"},
    {"[^a]a", "bacaa", "a"},
    /* The first that matches counts, if it takes a byte. */
    {"a|ab", "abab", "bb"},
    {"z|ay", "aya", "a"},
    {"|a(?:|b)", "abca", "bc"},
    {"(|ab)+c|b", "ababcbc", ""},
    /* So many times, or as few. */
    {"a{2,3}?b?", "aaab", "ab"},
    {"xa{0,9}bc", "xbc xaaabc xac", "  xac"},
    {"q?a", "aqa", ""},
    {"a(?:bc)?b?", "abca", ""},
    {"a(?:bc)??b?", "abca", "c"},
    {"(?:ab){0,2}c", "abababc c", "ab "},
    {"(?:a|bc){2}d", "abcdaad", ""},
    {"(?:x{60}|y)a{0,9}b", "yb yaab", " "},
    {"(?:x{65}|y)(?:b|c?d)", "yb yd ycd y", "   y"},
    {"x(?:ab)*c", "xc xababc", " "},
    {"x(?:ab)+c", "xc xababc", "xc "},
    {"a.*?b", "a1b2b", "2b"},
    {"\\d{2,3}-", "1234-", "1"},
    {"x{0}y{0,0}a", "xya", "xy"},
    /* Loops that end after a round without a byte. */
    {"(a|b?)*c", "abcbbac", ""},
    {"(?:(?:a|b*)*c?)*d", "abcabdcd", ""},
    {"(?:^a|)*b", "aabab", "aaa"},
    {"(?:\\b|a)+-", "a-aa-", ""},
    /* Places see all of the value. */
    {"^a", "aaa", "aa"},
    {"^.+", "a\n", ""},
    {"ya(?=b)|c", "yac yab ya", "ya b ya"},
    {"a$", "a\na", "a\n"},
    {"\\ba", "aa a_a,a", "a _a,"},
    {"a(?=b|$)", "abaca", "bac"},
    {"a(?!b)", "abaca", "abc"},
    {"(?<=^|,)0*", "00,01,10", ",1,10"},
    {"(?<![a-c])d", "dadfd", "adf"},
    {"(?<=a)x|xy", "axyxy", "ay"},
    {"\\t\\n|\\r\\f\\v|\\x41", "\t\n\r\f\vA\t", "\t"},
    {"[^\\]\\-a-cx]+", "]-abcxyz\n", "]-abcx"},
    /* Each on what the one before has left. */
    {"a+\0x*\0^b\0$|b", "xaabbax", ""},
};

static struct without *made(const char patterns[24])
{
    struct recipe recipe = {.fold = false};
    memcpy(recipe.patterns, patterns, 24);
    struct without *without = without_new(&recipe);
    if (without == NULL)
        exit(1);
    return without;
}

static void check_left(struct without *without, const char *patterns, struct span value,
                       const char *wanted, size_t length)
{
    struct span left = value;
    bool fits = without_apply(without, &left);
    tap_check(fits && left.length == length && memcmp(left.bytes, wanted, length) == 0,
              "'%s' leaves '%.*s', %zu bytes", patterns, left.length < 64 ? (int)left.length : 64,
              left.bytes, left.length);
    tap_check(left.length < value.length || left.bytes == value.bytes, "'%s': a copy", patterns);
}

/* At both ends of what may be touched, and after another value. */
static void parts(void)
{
    char *room = guarded(GUARD_BYTES);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const char *left = examples[i].left;
        const size_t length = strlen(examples[i].value);
        struct without *without = made(examples[i].patterns);
        for (unsigned turn = 0; turn < 4; turn++) {
            struct span value = {turn % 2 == 0 ? room : room + GUARD_BYTES - length, length};
            memcpy((char *)value.bytes, examples[i].value, length);
            check_left(without, examples[i].patterns, value, left, strlen(left));
            without_apply(without, &(struct span){"~", 1});
        }
        without_free(without);
    }
}

static void limits(void)
{
    static const char patterns[][24] = {"a", "^a*$", "a*?$", "(?:a|b?)*", "a{9}\0a", "^.|a"};
    static const char most[24] = "(?:a{63}a){64}", larger[] = "(?:a{63}a){64}$";
    const char *wanted;
    size_t place;
    char *room = guarded(WITHOUT_MAX + GUARD_BYTES), *value = room + GUARD_BYTES;
    memset(room, 'a', WITHOUT_MAX + GUARD_BYTES);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct without *without = made(patterns[i]);
        check_left(without, patterns[i], (struct span){value, WITHOUT_MAX}, "", 0);
        struct span longer = {value - 1, WITHOUT_MAX + 1};
        tap_check(!without_apply(without, &longer), "'%s' takes one byte more", patterns[i]);
        without_free(without);
    }
    struct without *without = made(most);
    check_left(without, most, (struct span){value, 4095}, value, 4095);
    check_left(without, most, (struct span){value, 4097}, "a", 1);
    without_free(without);
    tap_check(pattern_check(larger, &place, &wanted) != NULL, "4097 nodes are taken");
}

/* This pattern has many states. Those of a long value leave no room, and what is remembered of them
 * must not be taken for others, whose bytes are as far from the end. */
static void forgotten(void)
{
    enum { LONG = 40000, PLAIN = LONG - 1200 };
    static const char pattern[24] = "b[acd]{20}(?:a|cc?)";
    static char value[WITHOUT_MAX], left[WITHOUT_MAX];
    struct without *without = made(pattern);
    struct chance chance = {1};
    for (unsigned turn = 0; turn < tap_cases(20); turn++) {
        const size_t length = turn % 2 == 0 ? WITHOUT_MAX : LONG;
        size_t n = 0;
        for (size_t i = 0; i < length; i++)
            value[i] = (length - i) % 24 == 0 ? 'b' : "acd"[chance_below(&chance, 3)];
        memset(value, 'a', length == LONG ? PLAIN : 0);
        for (size_t i = 0; i < length;) {
            const char *at = value + i;
            if (*at != 'b' || at[21] == 'd')
                left[n++] = value[i++];
            else
                i += at[21] == 'c' && at[22] == 'c' ? 23 : 22;
        }
        check_left(without, pattern, (struct span){value, length}, left, n);
    }
    without_free(without);
}

int main(void)
{
    tap_run("each part of the grammar", parts);
    tap_run("the longest values, the largest pattern", limits);
    tap_run("many values, whose states are forgotten", forgotten);
    return tap_end();
}
