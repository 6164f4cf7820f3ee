/*
 * salt - where a key goes in a table, so that nobody can choose the place.
 *
 * Keys look random, and any of their bits would do. But who knows the seed can make a line for each
 * key (tests/tools/genchosen.c): thousands whose keys agree in these bits, and a table is a list
 * that is walked for each of them. So the place follows from all of the key and from a random
 * number, the salt, which whoever writes lines does not know.
 */
#ifndef UNSEEN_CORE_SALT_H
#define UNSEEN_CORE_SALT_H

#include "core/geometry.h"

/* Both halves of a product: its lower bits depend on lower bits alone, its upper ones hardly on
 * them. */
static inline uint64_t salt_fold(uint64_t a, uint64_t b)
{
    return a * b ^ geometry_high_product(a, b);
}

/* 64 bits, any of which will do for a place. Twice, since with one salt in 150 a single product
 * puts keys that count up into a row. */
static inline uint64_t salt_key(struct key key, uint64_t salt)
{
    uint64_t once = salt_fold(key.lo ^ salt, key.hi ^ (salt << 32 | salt >> 32));
    return salt_fold(once ^ salt, UINT64_C(0x9e3779b97f4a7c15));
}

#endif
