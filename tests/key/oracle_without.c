/*
 * oracle_without - what the program leaves of many values, in one process; oracle_without.py says
 * what it should be.
 *
 * Standard input has frames, integers little-endian: the bytes of the patterns, 2 bytes, and how
 * many values, 2 bytes; the patterns, a NUL after each; then each value's length, 4 bytes, and its
 * bytes. Standard output has for each frame one byte, and then:
 *
 *     0    for each value the length of what is left, 4 bytes, 0xffffffff if it is too long, and
 *          the bytes
 *     N    the Nth pattern is an error: its place, 2 bytes, the length of the reason, 2 bytes, and
 *          the reason
 *
 * Each value is taken three times: in turn, again right after, and in the end from last to first.
 * The answers must be the same. Exit: 0, or 1 if the input is no such frames; what must hold is
 * INSISTed on (abort).
 */
#include "key/pattern.h"
#include "key/without.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSIST(what)                                                                               \
    do                                                                                             \
        if (!(what)) {                                                                             \
            fprintf(stderr, "oracle_without.c:%d: %s\n", __LINE__, #what);                         \
            abort();                                                                               \
        }                                                                                          \
    while (0)

enum { VALUES_MAX = 1 << 16 };

static const uint32_t too_long = UINT32_MAX;

/* Values, and what is left of them, in allocations of their own, so that a sanitizer sees what is
 * read beyond them. */
static struct {
    struct span value, left;
} pairs[VALUES_MAX];

static void *copy_of(struct span span)
{
    void *copy = malloc(span.length + (span.length == 0));
    INSIST(copy != NULL);
    return span.length > 0 ? memcpy(copy, span.bytes, span.length) : copy;
}

static uint32_t number(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

static void put(uint32_t value, unsigned count)
{
    for (; count > 0; count--, value >>= 8)
        putchar((int)(value & 255));
}

static bool read_values(unsigned n)
{
    uint8_t head[4];
    for (unsigned i = 0; i < n; i++) {
        if (fread(head, 1, sizeof head, stdin) != sizeof head)
            return false;
        const size_t length = number(head, 4);
        char *bytes = malloc(length + (length == 0));
        if (bytes == NULL || fread(bytes, 1, length, stdin) != length)
            return false;
        pairs[i].value = (struct span){bytes, length};
    }
    return true;
}

/* What is left of what was given, if nothing else is, is where it was. */
static bool leave_out(struct without *without, struct span value, struct span *left)
{
    *left = value;
    if (!without_apply(without, left))
        return false;
    INSIST(left->length <= value.length);
    INSIST(left->length < value.length || left->bytes == value.bytes);
    return true;
}

static void insist_again(struct without *without, unsigned i)
{
    struct span left;
    const bool whole = leave_out(without, pairs[i].value, &left);
    INSIST(whole == (pairs[i].left.bytes != NULL));
    if (whole)
        INSIST(left.length == pairs[i].left.length &&
               memcmp(left.bytes, pairs[i].left.bytes, left.length) == 0);
}

static void answer_values(struct without *without, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct span left;
        pairs[i].left = (struct span){NULL, too_long};
        if (leave_out(without, pairs[i].value, &left))
            pairs[i].left = (struct span){copy_of(left), left.length};
        insist_again(without, i);
    }
    for (unsigned i = n; i-- > 0;)
        insist_again(without, i);
    for (unsigned i = 0; i < n; i++) {
        put((uint32_t)pairs[i].left.length, 4);
        if (pairs[i].left.bytes != NULL)
            (void)fwrite(pairs[i].left.bytes, 1, pairs[i].left.length, stdout);
        free((char *)pairs[i].left.bytes);
    }
}

static void answer_frame(const struct recipe *recipe, unsigned n)
{
    const char *wanted;
    size_t place;
    unsigned count = 1;
    for (const char *at = recipe->patterns; *at != '\0'; at += strlen(at) + 1, count++) {
        const char *reason = pattern_check(at, &place, &wanted);
        if (reason == NULL)
            continue;
        INSIST(place <= strlen(at) && wanted != NULL);
        putchar((int)count);
        put((uint32_t)place, 2);
        put((uint32_t)strlen(reason), 2);
        fputs(reason, stdout);
        return;
    }
    struct without *without = without_new(recipe);
    INSIST(without != NULL);
    putchar(0);
    answer_values(without, n);
    without_free(without);
}

int main(void)
{
    uint8_t head[4];
    size_t got;
    while ((got = fread(head, 1, sizeof head, stdin)) == sizeof head) {
        struct recipe recipe = {.patterns = ""};
        const unsigned length = number(head, 2), n = number(head + 2, 2);
        if (length > sizeof recipe.patterns - 1 ||
            fread(recipe.patterns, 1, length, stdin) != length || !read_values(n))
            return 1;
        answer_frame(&recipe, n);
        for (unsigned i = 0; i < n; i++)
            free((char *)pairs[i].value.bytes);
    }
    return got != 0;
}
