/*
 * csv_find - finds one field of a CSV row, 64 bytes at a time.
 *
 * In a usual row each quote opens or closes a field, or is one of two for one. So a byte is inside
 * quotes if an odd number of quotes precedes it, which a few operations tell for 64 bytes. Whether
 * the row is usual shows in the neighbors of its quotes: what opens follows a separator or a quote,
 * and what closes precedes one. Other rows, right or wrong, are left to csv.c.
 */
#ifndef UNSEEN_KEY_CSV_FIND_H
#define UNSEEN_KEY_CSV_FIND_H

#include "key/finder.h"

/* Bit i: an odd number of bits is set in bits 0..i. */
static inline uint64_t csv_find_parity(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

struct csv_find {
    struct finder quotes, separators;
    uint64_t inside;   /* all bits, if the last chunk ended inside quotes; else 0 */
    uint64_t closed;   /* 1, if its last byte closed a field; else 0 */
    uint64_t doubled;  /* not 0: two quotes for one were found */
    size_t left;       /* separators before the end of the field */
    const char *first; /* of the field */
    const char *end;   /* NULL: not yet found */
};

/* Whether the quotes of a chunk of `n` bytes are usual. Clears the bits of separators inside. */
static inline bool csv_find_quotes(struct csv_find *find, const char *at, size_t n)
{
    uint64_t quotes = find->quotes.found, last = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
    uint64_t inside = csv_find_parity(quotes) ^ find->inside;
    uint64_t opens = quotes & inside, closes = quotes & ~inside;
    uint64_t ends = find->separators.found & ~inside;
    uint64_t may_open = (ends | closes) << 1 | find->closed;
    may_open |= at == find->quotes.line.bytes || at[-1] == find->separators.a;
    if ((opens & ~may_open) != 0 || ((closes << 1 | find->closed) & ~(ends | opens) & last) != 0)
        return false;
    find->doubled |= opens & (closes << 1 | find->closed);
    find->inside = (uint64_t)0 - (inside >> 63);
    find->closed = closes >> 63;
    find->separators.found = ends;
    return true;
}

/* Takes one chunk. Returns false if the row is not usual. */
static inline bool csv_find_chunk(struct csv_find *find, const char *at, size_t n)
{
    finder_ask(&find->quotes, at);
    bool plain = (find->quotes.found | find->inside | find->closed) == 0;
    if (plain && find->end != NULL)
        return true;
    finder_ask(&find->separators, at);
    if (!plain && !csv_find_quotes(find, at, n))
        return false;
    for (uint64_t ends = find->separators.found; ends != 0 && find->end == NULL; ends &= ends - 1) {
        const char *separator = at + __builtin_ctzll(ends);
        if (--find->left == 0)
            find->end = separator;
        else if (find->left == 1)
            find->first = separator + 1;
    }
    return true;
}

/* Finds field `number`, from 1 on, with its quotes. If the row lacks it, field->bytes is NULL.
 * *doubled: the row has two quotes for one. Returns false if the row is not usual. */
static inline bool csv_find(struct span row, char separator, size_t number, struct span *field,
                            bool *doubled)
{
    struct csv_find find = {.quotes = {.line = row, .a = '"', .b = '"'},
                            .separators = {.line = row, .a = separator, .b = separator},
                            .left = number,
                            .first = number == 1 ? row.bytes : NULL};
    for (size_t at = 0; at < row.length; at += 64)
        if (!csv_find_chunk(&find, row.bytes + at, row.length - at))
            return false;
    if (find.end == NULL)
        find.end = find.first != NULL ? span_end(row) : NULL;
    *field = span_between(find.first, find.end);
    *doubled = find.doubled != 0;
    return find.inside == 0;
}

#endif
