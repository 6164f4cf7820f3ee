/*
 * pattern - the grammar of --without, `without/1`: reads a pattern as a tree.
 *
 *   branches    A|B, perhaps empty, in groups ( ) or (?: )
 *   a byte      itself; \ before one that is no letter or digit; \t \n \r \f \v \xHH
 *   a class     . (any byte), [...] with ranges and ^, \d \w \s \D \W \S, of ASCII
 *   repetition  * + ? {m} {m,} {m,n}, up to 255, lazy with a ? behind it
 *   a place     ^ and $, the ends of the value; \b \B; by one byte or class beside it: (?=X)
 *               (?!X) (?<=X) (?<!X) (?=X|$) (?<=^|X)
 *
 * All else is an error, so that no pattern is read otherwise by other programs. The grammar is
 * frozen, and works on bytes.
 */
#ifndef UNSEEN_KEY_PATTERN_H
#define UNSEEN_KEY_PATTERN_H

#include "key/recipe.h"

enum {
    PATTERN_REPEAT_MAX = 255,
    PATTERN_NODES_MAX = 4096, /* after repetition */
    PATTERN_ENDLESS = 0,      /* for `most` */
    PATTERN_TREE_MAX = 2 * RECIPE_PATTERNS_BYTES + 4
};

struct byte_set {
    uint64_t bits[4];
};

static inline bool byte_set_has(const struct byte_set *set, unsigned byte)
{
    return (set->bits[byte / 64] >> byte % 64 & 1) != 0;
}

enum node_kind {
    NODE_NOTHING,
    NODE_SET,    /* one byte of a set */
    NODE_PLACE,  /* no byte, but a condition on those beside it */
    NODE_CHAIN,  /* its children, one after another */
    NODE_CHOICE, /* one of its children; earlier ones are tried first */
    NODE_REPEAT  /* its child, `least` to `most` times */
};

enum place_kind { PLACE_AFTER, PLACE_BEFORE, PLACE_BORDER, PLACE_NO_BORDER };

struct node {
    uint8_t kind;
    uint8_t least, most; /* of NODE_REPEAT; PATTERN_ENDLESS: any number */
    bool lazy;           /* as few times as possible */
    uint8_t place;       /* of NODE_PLACE: after or before a byte of the set, or \b, \B */
    bool at_end;         /* or at the beginning, or at the end, of the value */
    uint16_t set;        /* of NODE_SET and NODE_PLACE */
    uint16_t child;      /* the first one */
    uint16_t next;       /* the next child of the same node; 0: there is none */
};

struct pattern {
    unsigned nodes, sets;
    uint16_t root;
    struct node node[PATTERN_TREE_MAX]; /* the first is not used */
    struct byte_set set[RECIPE_PATTERNS_BYTES + 1];
};

/* Where a pattern is wrong. */
struct pattern_fault {
    const char *reason;
    const char *wanted; /* what to write instead */
    size_t place;       /* offset of the byte that shows it, or RECIPE_NO_PLACE: all of it */
};

/* Reads a pattern of up to RECIPE_PATTERNS_BYTES; with `fold`, A-Z in it are a-z. Returns 0, or -1
 * with a fault. */
int pattern_parse(const char *text, bool fold, struct pattern *pattern,
                  struct pattern_fault *fault);

/* Checks one pattern. Returns NULL or the reason why it is none, with the fault's parts; or
 * pattern_no_memory, which says nothing of the pattern. */
extern const char pattern_no_memory[];
const char *pattern_check(const char *text, size_t *place, const char **wanted);

/* Whether a part can match nothing, wherever it stands. */
bool pattern_may_be_empty(const struct pattern *pattern, unsigned node);

/* Whether it repeats, without end, what can match nothing. What is within has one more node for
 * each such loop around it, since it matters whether bytes were taken in an iteration. */
static inline bool node_is_idle_loop(const struct pattern *pattern, const struct node *node)
{
    return node->kind == NODE_REPEAT && node->most == PATTERN_ENDLESS &&
           pattern_may_be_empty(pattern, node->child);
}

#endif
