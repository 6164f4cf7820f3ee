/*
 * lines - distinct lines, as real as is cheap: URLs with a counter in them, about 15 ns each with
 * their key.
 *
 * A line's counter stands at the end of a path, and goes up by one from a line to the next of its
 * shape, so that neighbours differ in a digit: what a hash must take apart. Four shapes of
 * different length take turns. Lines of sources with another kind or run are different ones.
 */
#ifndef UNSEEN_TESTS_LINES_H
#define UNSEEN_TESTS_LINES_H

#include "core/hash.h"

#include <stdio.h>
#include <string.h>

enum { LINES_SHAPES = 4, LINES_COUNTER_AT = 100, LINES_TEXT = 160 };

/* The counter's last digit stands at LINES_COUNTER_AT; what is before it moves to the left when a
 * digit is added, which is seldom. */
struct lines_shape {
    char text[LINES_TEXT];
    size_t start, digits, end;
};

struct lines {
    struct lines_shape shapes[LINES_SHAPES];
    unsigned next;
};

static inline void lines_shape_start(struct lines_shape *shape, const char *before,
                                     const char *behind, uint64_t counter)
{
    char number[24];
    size_t length = strlen(before),
           digits = (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)counter);
    shape->digits = LINES_COUNTER_AT + 1 - digits;
    shape->start = shape->digits - length;
    shape->end = LINES_COUNTER_AT + 1 + strlen(behind);
    memcpy(shape->text + shape->start, before, length);
    memcpy(shape->text + shape->digits, number, digits);
    memcpy(shape->text + LINES_COUNTER_AT + 1, behind, strlen(behind));
}

/* kind: a short word. The counters of the lines begin with `first`. */
static inline void lines_start(struct lines *lines, const char *kind, unsigned run, uint64_t first)
{
    static const char *const shapes[LINES_SHAPES][2] = {
        {"https://www.example.org/", ""},
        {"https://en.wiki.example.net/index.php?title=", "&action=history"},
        {"http://example.com/", ".html"},
        {"https://shop.example.co.uk/catalog/item/", "/reviews/"},
    };
    memset(lines, 0, sizeof *lines);
    for (unsigned i = 0; i < LINES_SHAPES; i++) {
        char before[80];
        snprintf(before, sizeof before, "%s%.12s%u/", shapes[i][0], kind, run);
        lines_shape_start(&lines->shapes[i], before, shapes[i][1], first);
    }
}

static inline void lines_count_up(struct lines_shape *shape)
{
    size_t i = LINES_COUNTER_AT;
    while (i >= shape->digits && shape->text[i] == '9')
        shape->text[i--] = '0';
    if (i >= shape->digits) {
        shape->text[i]++;
        return;
    }
    memmove(shape->text + shape->start - 1, shape->text + shape->start,
            shape->digits - shape->start);
    shape->start--;
    shape->text[--shape->digits] = '1';
}

/* The keys of the next `n` lines. */
static inline void lines_keys(struct lines *lines, struct key *keys, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        struct lines_shape *shape = &lines->shapes[lines->next++ % LINES_SHAPES];
        keys[i] = hash_key(shape->text + shape->start, shape->end - shape->start,
                           hasher_xxh3(seed));
        lines_count_up(shape);
    }
}

#endif
