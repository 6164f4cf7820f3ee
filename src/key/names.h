/*
 * names - the names in a query, brought into order.
 *
 * A URL may have 32,767 of them, and who wrote it chose them all. Heapsort needs no memory and is
 * fast for every order, but a comparison waits for two names anywhere in the line: 28 times the
 * time of a list of ordinary URLs of as many bytes. So names are dealt out by their first byte,
 * then those that share it by their second one, and so on: each byte is looked at a few times,
 * whatever the names are. A few names are sorted by insertion.
 *
 * Source: radix sort from the first digit on, as in McIlroy, Bostic and McIlroy 1993, "Engineering
 * Radix Sort".
 */
#ifndef UNSEEN_KEY_NAMES_H
#define UNSEEN_KEY_NAMES_H

#include "key/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* As memcmp has it, a name before those that it begins. */
int names_compare(struct span a, struct span b);

static inline bool names_equal(struct span a, struct span b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* Sorts `n` names, at most 65535 bytes of them in all; `spare` has room for as many. Needs 12 KB of
 * the stack. */
void names_sort(struct span *names, size_t n, struct span *spare);

#endif
