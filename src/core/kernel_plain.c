/* kernel_plain - the loops in plain C, for every machine; the others must equal it. */
#include "core/kernel_bytes.h"
#include "core/kernel_list.h"
#include "core/little.h"

#define KERNEL_NAME "plain"
#define KERNEL_STRUCT kernel_plain
#define KERNEL_TARGET

bool line_test(const uint8_t *line, uint64_t word, unsigned fields)
{
    bool all = true;
    for (unsigned t = 0; t < fields; t++)
        all &= bit_test(line, geometry_field(word, t));
    return all;
}

void line_set(uint8_t *line, uint64_t word, unsigned fields)
{
    for (unsigned t = 0; t < fields; t++)
        bit_set(line, geometry_field(word, t));
}

static inline unsigned line_has(struct fields fields, const uint8_t *line, uint64_t word)
{
    return line_test(line, word, fields.count);
}

static inline void line_add(struct fields fields, uint8_t *line, uint64_t word)
{
    line_set(line, word, fields.count);
}

static inline uint64_t count_four(const uint8_t *lines)
{
    uint64_t counts = 0;
    for (unsigned i = 0; i < 4 * LINE_BYTES / 8; i++)
        counts += (uint64_t)__builtin_popcountll(load64(lines + (size_t)i * 8)) << i / 8 * 16;
    return counts;
}

#include "core/kernel_body.h"
