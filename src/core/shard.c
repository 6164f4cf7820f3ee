#include "core/shard.h"

#include "core/number.h"

bool shard_parse(const char *text, bool all, struct shard *shard)
{
    *shard = (struct shard){0};
    if (!all) {
        text = number_digits(text, &shard->part);
        if (text == NULL || *text++ != '/')
            return false;
    }
    text = number_digits(text, &shard->parts);
    return text != NULL && *text == '\0';
}

_Static_assert(SHARD_PARTS_MAX <= 1 << 20, "which the proof of jump needs");

/* The obvious way is shard_part for one key after the other. Most of its time goes into wrong
 * guesses of the processor, since how many steps a key takes cannot be foretold. So many keys take
 * a step together; those that have further to go move up over those that are done, and so on until
 * none is left: no branch depends on a key. That takes 0.4 of the time, with 2 parts as with a
 * million.
 *
 * The division is one of doubles, which is faster: 0.85 of the time where the processor divides
 * integers quickly, far less where it does not. Rounded down, it is the same as shard_jump. Both
 * numbers, a and d, are exact: a is at most 2^51, and d at most 2^31. If a/d is not an integer, let
 * m be the next one above: md is at least a + 1, so a/d is less than m by at least 1/d, which is m
 * divided by md, and md is less than a + d, so below 2^52. That is more than 2^-52 of m; rounding
 * moves a/d by at most 2^-53 of it, so not up to m. */
static inline uint64_t jump(uint64_t bucket, uint64_t k)
{
    double a = (double)(int64_t)((bucket + 1) << 31), d = (double)(int64_t)((k >> 33) + 1);
    return (uint64_t)(int64_t)(a / d);
}

enum { TOGETHER = 256 };

/* The parts of `n` keys, TOGETHER at most. */
static void find_together(const struct key *keys, size_t n, uint32_t parts, uint32_t *part)
{
    struct {
        uint64_t k;
        uint32_t bucket, i;
    } way[TOGETHER];
    for (size_t i = 0; i < n; i++)
        way[i].k = keys[i].lo, way[i].bucket = 0, way[i].i = (uint32_t)i;
    for (size_t going = 0; n > 0; n = going, going = 0)
        for (size_t i = 0; i < n; i++) {
            uint64_t k = way[i].k * SHARD_FACTOR + 1, next = jump(way[i].bucket, k);
            part[way[i].i] = way[i].bucket + 1;
            way[going].k = k;
            way[going].bucket = (uint32_t)next;
            way[going].i = way[i].i;
            going += next < parts;
        }
}

void shard_parts(const struct key *keys, size_t n, uint32_t parts, uint32_t *part)
{
    for (size_t i = 0; i < n; i += TOGETHER)
        find_together(keys + i, n - i < TOGETHER ? n - i : TOGETHER, parts, part + i);
}
