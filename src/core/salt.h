/*
 * salt - chooses a key's place in a hash table so that nobody can predict it.
 *
 * Keys look random, and any of their bits could choose the place. But anyone who knows the seed can
 * craft a line for any key (tests/tools/genchosen.c), and so thousands of lines whose keys agree in
 * these bits: the table becomes a list that is walked for each of them. So the place depends on all
 * of the key and on a random number, the salt, which the author of the lines does not know.
 */
#ifndef UNSEEN_CORE_SALT_H
#define UNSEEN_CORE_SALT_H

#include "core/geometry.h"

/* Combines both halves of the product: the lower bits of a product depend on lower bits alone, and
 * its upper bits hardly on them. */
static inline uint64_t salt_fold(uint64_t a, uint64_t b)
{
    return a * b ^ geometry_high_product(a, b);
}

/* 64 bits, any of which can choose a place. Folded twice: with one salt in 150, a single product
 * puts consecutive numbers in consecutive places. */
static inline uint64_t salt_key(struct key key, uint64_t salt)
{
    uint64_t once = salt_fold(key.lo ^ salt, key.hi ^ (salt << 32 | salt >> 32));
    return salt_fold(once ^ salt, UINT64_C(0x9e3779b97f4a7c15));
}

#endif
