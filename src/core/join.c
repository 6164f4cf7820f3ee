#include "core/join.h"

#include "core/cells.h"

#include <string.h>

bool join_is_possible(const struct bits *a, const struct bits *b)
{
    return a->pages == b->pages && memcmp(&a->geometry, &b->geometry, sizeof a->geometry) == 0;
}

enum { WORDS = PAGE_BYTES / 8 };

static void join_bits(uint64_t to[WORDS], const uint64_t from[WORDS])
{
    for (size_t i = 0; i < WORDS; i++)
        to[i] |= from[i];
}

/* Adds eight cells of 4 bits, each in a byte of its own; sums above 15 become 15. */
static uint64_t add_spread(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    uint64_t over = sum >> 4 & UINT64_C(0x0101010101010101);
    return (sum | over * CELL_MAX) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

/* Sixteen cells at once: the low nibbles, then the high ones. */
static void join_cells(uint64_t to[WORDS], const uint64_t from[WORDS])
{
    const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);
    for (size_t i = 0; i < WORDS; i++)
        to[i] = add_spread(to[i] & low, from[i] & low) |
                add_spread(to[i] >> 4 & low, from[i] >> 4 & low) << 4;
}

static void join_page(const struct bits *const *layers, size_t n, uint64_t page,
                      uint8_t to[PAGE_BYTES])
{
    uint64_t sum[WORDS], other[WORDS];
    bool counting = layers[0]->geometry.counting;
    memcpy(sum, layers[0]->bytes + page * PAGE_BYTES, PAGE_BYTES);
    for (size_t i = 1; i < n; i++) {
        memcpy(other, layers[i]->bytes + page * PAGE_BYTES, PAGE_BYTES);
        (counting ? join_cells : join_bits)(sum, other);
    }
    memcpy(to, sum, PAGE_BYTES);
}

void join_pages(const struct bits *const *layers, size_t n, uint64_t first, unsigned pages,
                uint8_t *to)
{
    for (unsigned i = 0; i < pages; i++)
        join_page(layers, n, first + i, to + (size_t)i * PAGE_BYTES);
}
