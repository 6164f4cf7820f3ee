#include "key/pattern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const char *text, *at;
    bool fold;
    struct pattern *pattern;
    struct pattern_fault *fault;
};

/* --- sets of bytes --- */

static void add_byte(struct byte_set *set, unsigned byte)
{
    set->bits[byte / 64] |= UINT64_C(1) << byte % 64;
}

static void add_range(struct byte_set *set, unsigned first, unsigned last)
{
    for (unsigned byte = first; byte <= last; byte++)
        add_byte(set, byte);
}

static void negate(struct byte_set *set)
{
    for (unsigned i = 0; i < 4; i++)
        set->bits[i] = ~set->bits[i];
}

/* A-Z as a-z. Letters are bits 1 to 26, and 33 to 58, of the second word. */
static void fold_set(struct byte_set *set)
{
    const uint64_t upper = UINT64_C(0x07fffffe);
    set->bits[1] = (set->bits[1] & ~upper) | (set->bits[1] & upper) << 32;
}

/* Adds the set of \d, \w or \s. */
static void add_class(struct byte_set *set, char letter)
{
    if (letter != 's')
        add_range(set, '0', '9');
    if (letter == 'w') {
        add_range(set, 'a', 'z');
        add_range(set, 'A', 'Z');
        add_byte(set, '_');
    }
    if (letter == 's') {
        add_range(set, '\t', '\r');
        add_byte(set, ' ');
    }
}

/* --- nodes --- */

static int fails(struct parser *parser, const char *at, const char *reason, const char *wanted)
{
    const size_t place = at != NULL ? (size_t)(at - parser->text) : RECIPE_NO_PLACE;
    *parser->fault = (struct pattern_fault){reason, wanted, place};
    return -1;
}

static unsigned add_node(struct parser *parser, struct node node)
{
    parser->pattern->node[parser->pattern->nodes] = node;
    return parser->pattern->nodes++;
}

/* A node with a set of its own. */
static unsigned add_set(struct parser *parser, struct node node, const struct byte_set *set)
{
    node.set = (uint16_t)parser->pattern->sets;
    parser->pattern->set[parser->pattern->sets++] = *set;
    return add_node(parser, node);
}

/* --- bytes and classes --- */

static const char escapes[] = "\\ before a byte that is no letter or digit, \\t \\n \\r \\f \\v "
                              "\\xHH \\d \\w \\s \\D \\W \\S \\b \\B";

/* Reads an escape at parser->at, a backslash: adds what it means to the set. *byte is that, or -1
 * for a class. */
static int parse_escape(struct parser *parser, struct byte_set *set, bool in_class, int *byte)
{
    static const char letters[] = "tnrfv", meant[] = "\t\n\r\f\v";
    const char *from = parser->at, c = from[1], *letter;
    const char lower = (char)(c | 0x20);
    parser->at += 2;
    if (c == 'x' && ascii_is_hex(from[2]) && ascii_is_hex(from[3])) {
        *byte = (int)(ascii_hex_value(from[2]) * 16 + ascii_hex_value(from[3]));
        parser->at += 2;
    } else if (c != '\0' && (letter = strchr(letters, c)) != NULL) {
        *byte = (unsigned char)meant[letter - letters];
    } else if (ascii_is_letter(c) && strchr("dws", lower) != NULL && !(in_class && c != lower)) {
        *byte = -1;
        add_class(set, lower);
        if (c != lower)
            negate(set);
        return 0;
    } else if (c == '\0' || ascii_is_letter(c) || ascii_is_digit(c)) {
        return fails(parser, from, in_class ? "unknown escape in a class" : "unknown escape",
                     in_class ? "\\ before a byte that is no letter or digit, \\t \\n \\r \\f \\v "
                                "\\xHH \\d \\w \\s"
                              : escapes);
    } else {
        *byte = (unsigned char)c;
    }
    add_byte(set, (unsigned)*byte);
    return 0;
}

static const char no_names[] = "\\d, \\w, \\s or ranges as a-z; \\[ for the byte";

/* What names a class, as in [:alpha:]. */
static bool is_mark(char c)
{
    return c == ':' || c == '.' || c == '=';
}

/* Reads one byte or class within [ ]. */
static int parse_member(struct parser *parser, struct byte_set *set, int *byte)
{
    const char *at = parser->at;
    if (*at == '\\')
        return parse_escape(parser, set, true, byte);
    if (at[0] == '[' && is_mark(at[1]))
        return fails(parser, at, "a class by name", no_names);
    *byte = (unsigned char)*at;
    add_byte(set, (unsigned)*byte);
    parser->at++;
    return 0;
}

/* Whether a [ at `at` begins what Perl and PCRE2 take for a class by name, as [:alpha:] is. */
static bool is_named(const char *at)
{
    const char mark = at[1];
    if (!is_mark(mark))
        return false;
    for (at += 2; at[0] != '\0' && at[1] != '\0'; at++) {
        if (at[0] == '\\' && (at[1] == ']' || at[1] == '\\'))
            at++;
        else if (at[0] == ']' || (at[0] == '[' && at[1] == mark))
            return false;
        else if (at[0] == mark && at[1] == ']')
            return true;
    }
    return false;
}

/* Reads [...] at parser->at. */
static int parse_class(struct parser *parser, struct byte_set *set)
{
    const char *from = parser->at++;
    const bool negated = *parser->at == '^';
    int first = -1, last = -1;
    parser->at += negated;
    if (is_named(from))
        return fails(parser, from, "a class by name", no_names);
    if (*parser->at == ']')
        return fails(parser, from, "an empty class", "\\] for the byte in it");
    while (*parser->at != ']') {
        const char *at = parser->at;
        if (*at == '\0')
            return fails(parser, from, "a class that is not closed",
                         "] after it; \\[ for the byte");
        if (parse_member(parser, set, &first) != 0)
            return -1;
        if (parser->at[0] != '-' || parser->at[1] == ']' || parser->at[1] == '\0')
            continue;
        parser->at++;
        if (parse_member(parser, set, &last) != 0)
            return -1;
        if (first < 0 || last < 0)
            return fails(parser, at, "a class at an end of a range", "\\- for the byte");
        if (first > last)
            return fails(parser, at, "a range that ends before it begins", "a-z; \\- for the byte");
        add_range(set, (unsigned)first, (unsigned)last);
    }
    parser->at++;
    if (parser->fold)
        fold_set(set);
    if (negated)
        negate(set);
    return 0;
}

/* Reads a byte or class at parser->at, which is not a byte with another meaning. */
static int parse_set(struct parser *parser, struct byte_set *set)
{
    const char c = *parser->at;
    int byte;
    memset(set, 0, sizeof *set);
    if (c == '[')
        return parse_class(parser, set);
    if (c == '\\') {
        if (parse_escape(parser, set, false, &byte) != 0)
            return -1;
    } else {
        parser->at++;
        add_byte(set, (unsigned char)c);
        if (c == '.')
            add_range(set, 0, 255);
    }
    if (parser->fold)
        fold_set(set);
    return 0;
}

/* --- places --- */

/* Reads (?=X) and its like at parser->at; *node is 0 if nothing of that kind is there. */
static int parse_look(struct parser *parser, unsigned *node)
{
    const char *from = parser->at;
    const bool before = from[2] == '=' || from[2] == '!';
    const bool behind = from[2] == '<' && (from[3] == '=' || from[3] == '!');
    const bool negated = from[behind ? 3 : 2] == '!';
    const char *const wanted = behind    ? negated ? "(?<!X) with X a byte or a class"
                                                   : "(?<=X) or (?<=^|X) with X a byte or a class"
                               : negated ? "(?!X) with X a byte or a class"
                                         : "(?=X) or (?=X|$) with X a byte or a class";
    struct byte_set set;
    *node = 0;
    if (!before && !behind)
        return 0;
    parser->at += behind ? 4 : 3;
    bool at_end = behind && !negated && strncmp(parser->at, "^|", 2) == 0;
    if (at_end)
        parser->at += 2;
    if (*parser->at == '\0' || strchr("^$()|*+?{]", *parser->at) != NULL ||
        (*parser->at == '\\' && (parser->at[1] == 'b' || parser->at[1] == 'B')))
        return fails(parser, from, "looks at more, or less, than one byte", wanted);
    if (parse_set(parser, &set) != 0)
        return -1;
    if (before && !negated && strncmp(parser->at, "|$", 2) == 0) {
        at_end = true;
        parser->at += 2;
    }
    if (*parser->at++ != ')')
        return fails(parser, from, "looks at more, or less, than one byte", wanted);
    if (negated) {
        negate(&set);
        at_end = true;
    }
    *node = add_set(parser,
                    (struct node){.kind = NODE_PLACE,
                                  .place = behind ? PLACE_AFTER : PLACE_BEFORE,
                                  .at_end = at_end},
                    &set);
    return 0;
}

/* --- parts --- */

static int parse_choice(struct parser *parser, unsigned *node);

/* Reads ( ) or (?: ) at parser->at. */
static int parse_group(struct parser *parser, unsigned *node)
{
    const char *from = parser->at++;
    if (*parser->at == '?') {
        if (parser->at[1] != ':')
            return fails(parser, from, "unknown group",
                         "( ), (?: ), (?=X), (?!X), (?<=X) or (?<!X)");
        parser->at += 2;
    }
    if (parse_choice(parser, node) != 0)
        return -1;
    if (*parser->at != ')')
        return fails(parser, from, "a group that is not closed", ") after it; \\( for the byte");
    parser->at++;
    return 0;
}

/* Reads a byte, class, group or place. Only the first three can be repeated. */
static int parse_atom(struct parser *parser, unsigned *node, bool *repeatable)
{
    const char *at = parser->at;
    struct byte_set set = {{0}};
    *repeatable = false;
    switch (*at) {
    case '*':
    case '+':
    case '?':
        return fails(parser, at, "nothing to repeat",
                     "a byte, a class or a group before it; \\ before it for the byte");
    case '{':
        return fails(parser, at, "a lone '{'",
                     "{2}, {2,} or {2,5} behind a byte, a class or a group; \\{ for the byte");
    case ']':
        return fails(parser, at, "a lone ']'", "\\] for the byte");
    case '^':
    case '$':
        parser->at++;
        *node = add_set(parser,
                        (struct node){.kind = NODE_PLACE,
                                      .place = *at == '^' ? PLACE_AFTER : PLACE_BEFORE,
                                      .at_end = true},
                        &set);
        return 0;
    case '(':
        if (at[1] == '?' && parse_look(parser, node) != 0)
            return -1;
        if (at[1] == '?' && *node != 0)
            return 0;
        *repeatable = true;
        return parse_group(parser, node);
    case '\\':
        if (at[1] == 'b' || at[1] == 'B') {
            parser->at += 2;
            add_class(&set, 'w');
            *node = add_set(parser,
                            (struct node){.kind = NODE_PLACE,
                                          .place = at[1] == 'b' ? PLACE_BORDER : PLACE_NO_BORDER},
                            &set);
            return 0;
        }
        break;
    default:
        break;
    }
    *repeatable = true;
    if (parse_set(parser, &set) != 0)
        return -1;
    *node = add_set(parser, (struct node){.kind = NODE_SET}, &set);
    return 0;
}

/* Reads a number up to 255; a larger one is 256, and -1 none at all. */
static int take_bound(const char **at)
{
    int number = ascii_is_digit(**at) ? 0 : -1;
    for (; ascii_is_digit(**at); (*at)++)
        number = number > PATTERN_REPEAT_MAX ? number : number * 10 + (**at - '0');
    return number > PATTERN_REPEAT_MAX ? PATTERN_REPEAT_MAX + 1 : number;
}

/* Reads what repeats `node`, if anything does, and puts it around. */
static int parse_repetition(struct parser *parser, unsigned *node, bool repeatable)
{
    const char *from = parser->at, *at = from;
    int least = *at == '+', most = *at == '?' ? 1 : PATTERN_ENDLESS;
    bool none = false; /* {0} */
    if (*at == '{') {
        at++;
        least = most = take_bound(&at);
        if (*at == ',') {
            at++;
            most = *at == '}' ? PATTERN_ENDLESS : take_bound(&at);
        }
        if (least < 0 || most < 0 || *at != '}')
            return fails(parser, from, "a lone '{'", "{2}, {2,} or {2,5}; \\{ for the byte");
        if (least > PATTERN_REPEAT_MAX || most > PATTERN_REPEAT_MAX)
            return fails(parser, from, "repeats too often", "at most {255}");
        const bool endless = at[-1] == ',';
        if (!endless && most < least)
            return fails(parser, from, "bounds out of order", "{2,5}");
        none = !endless && most == 0;
    } else if (*at == '\0' || strchr("*+?", *at) == NULL) {
        return 0;
    }
    if (!repeatable)
        return fails(parser, from, "nothing to repeat",
                     "a byte, a class or a group before it; \\ before it for the byte");
    const bool lazy = at[1] == '?';
    parser->at = at + 1 + lazy;
    if (*parser->at != '\0' && strchr("*+?{", *parser->at) != NULL)
        return fails(parser, parser->at, "repeats a repetition",
                     "a group around what is repeated: (?:a*)*; \\ before it for the byte");
    struct node around = {.kind = none ? NODE_NOTHING : NODE_REPEAT,
                          .least = (uint8_t)least,
                          .most = (uint8_t)most,
                          .lazy = lazy,
                          .child = (uint16_t)*node};
    *node = add_node(parser, around);
    return 0;
}

/* Reads parts up to | or ) or the end. */
static int parse_chain(struct parser *parser, unsigned *node)
{
    unsigned first = 0, last = 0, n = 0, part = 0;
    bool repeatable;
    while (*parser->at != '\0' && *parser->at != '|' && *parser->at != ')') {
        if (parse_atom(parser, &part, &repeatable) != 0 ||
            parse_repetition(parser, &part, repeatable) != 0)
            return -1;
        if (n++ == 0)
            first = part;
        else
            parser->pattern->node[last].next = (uint16_t)part;
        last = part;
    }
    if (n == 1)
        *node = first;
    else
        *node = add_node(parser, (struct node){.kind = n == 0 ? NODE_NOTHING : NODE_CHAIN,
                                               .child = (uint16_t)first});
    return 0;
}

/* Makes one set of branches that are sets, which is faster, and the same. */
static bool join_sets(struct pattern *pattern, unsigned first)
{
    for (unsigned at = first; at != 0; at = pattern->node[at].next)
        if (pattern->node[at].kind != NODE_SET)
            return false;
    struct byte_set *set = &pattern->set[pattern->node[first].set];
    for (unsigned at = first; at != 0; at = pattern->node[at].next)
        for (unsigned i = 0; i < 4; i++)
            set->bits[i] |= pattern->set[pattern->node[at].set].bits[i];
    pattern->node[first].next = 0;
    return true;
}

/* Reads branches up to ) or the end. */
static int parse_choice(struct parser *parser, unsigned *node)
{
    unsigned first = 0, last = 0, n = 0, branch;
    for (;; parser->at++) {
        if (parse_chain(parser, &branch) != 0)
            return -1;
        if (n++ == 0)
            first = branch;
        else
            parser->pattern->node[last].next = (uint16_t)branch;
        last = branch;
        if (*parser->at != '|')
            break;
    }
    *node = first;
    if (n > 1 && !join_sets(parser->pattern, first))
        *node = add_node(parser, (struct node){.kind = NODE_CHOICE, .child = (uint16_t)first});
    return 0;
}

/* --- all of it --- */

bool pattern_may_be_empty(const struct pattern *pattern, unsigned number)
{
    const struct node *node = &pattern->node[number];
    if (node->kind == NODE_SET)
        return false;
    if (node->kind == NODE_NOTHING || node->kind == NODE_PLACE ||
        (node->kind == NODE_REPEAT && node->least == 0))
        return true;
    for (unsigned at = node->child; at != 0; at = pattern->node[at].next)
        if (pattern_may_be_empty(pattern, at) != (node->kind == NODE_CHAIN))
            return node->kind == NODE_CHOICE || node->kind == NODE_REPEAT;
    return node->kind == NODE_CHAIN;
}

/* Nodes after repetition, in so many idle loops; more than allowed, if there are more. */
static unsigned weigh(const struct pattern *pattern, unsigned number, unsigned loops)
{
    const struct node *node = &pattern->node[number];
    unsigned sum = 0, copies = 1;
    if (node->kind == NODE_SET || node->kind == NODE_NOTHING || node->kind == NODE_PLACE)
        return 1 + loops;
    if (node->kind == NODE_REPEAT) {
        copies = node->most != PATTERN_ENDLESS ? node->most : node->least > 1 ? node->least : 1;
        if (pattern->node[node->child].kind != NODE_SET && node->least != node->most)
            sum = 1 + loops;
    }
    loops += node_is_idle_loop(pattern, node);
    for (unsigned at = node->child; at != 0 && sum <= PATTERN_NODES_MAX;
         at = pattern->node[at].next)
        sum += copies * weigh(pattern, at, loops);
    return sum <= PATTERN_NODES_MAX ? sum : PATTERN_NODES_MAX + 1;
}

int pattern_parse(const char *text, bool fold, struct pattern *pattern, struct pattern_fault *fault)
{
    /* cppcheck-suppress ctuuninitvar ; it is filled in here */
    struct parser parser = {text, text, fold, pattern, fault};
    unsigned root;
    pattern->nodes = 1;
    pattern->sets = 0;
    if (*text == '\0')
        return fails(&parser, text, "empty pattern", "what is to be left out, as in '[0-9]+'");
    assert(strlen(text) <= RECIPE_PATTERNS_BYTES);
    if (parse_choice(&parser, &root) != 0)
        return -1;
    if (*parser.at == ')')
        return fails(&parser, parser.at, "a lone ')'", "\\) for the byte");
    pattern->root = (uint16_t)root;
    if (weigh(pattern, root, 0) > PATTERN_NODES_MAX)
        return fails(&parser, NULL, "too large",
                     "at most 4096 nodes after repetition, of which a{9} has nine");
    return 0;
}

const char pattern_no_memory[] = "no memory";

const char *pattern_check(const char *text, size_t *place, const char **wanted)
{
    struct pattern *pattern = malloc(sizeof *pattern);
    struct pattern_fault fault = {pattern_no_memory, "more of it", RECIPE_NO_PLACE};
    bool is_right = pattern != NULL && pattern_parse(text, false, pattern, &fault) == 0;
    free(pattern);
    *place = fault.place;
    *wanted = fault.wanted;
    return is_right ? NULL : fault.reason;
}
