/* Which bits belong to a key: the page, the walk over its blocks, the fields of a word. */

/* Without a 128-bit type the high half of a product is put together from four products of 32 bits.
 * This program tests that way; all others use the compiler's type, where it has one. */
#pragma GCC diagnostic ignored "-Wbuiltin-macro-redefined"
#undef __SIZEOF_INT128__
#include "core/geometry.h"

#include "chance.h"
#include "oracle.h"
#include "tap.h"

#include <inttypes.h>

/* Numbers at which products carry. */
/* clang-format off */
static const uint64_t edges[] = {
    0, 1, 2, 3, 63, 0xffff, 0x10000, 0xfffffffe, 0xffffffff, 0x100000000, 0x100000001,
    0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001, 0xffffffff00000000,
    0xffffffff00000001, 0xfffffffffffffffe, 0xffffffffffffffff};
/* clang-format on */
enum { EDGES = sizeof edges / sizeof *edges };

static void check_product(uint64_t a, uint64_t b)
{
    uint64_t product = hash_high_product(a, b);
    tap_check(product == oracle_high_product(a, b), "%016" PRIx64 " * %016" PRIx64 ": %016" PRIx64,
              a, b, product);
}

static void high_product(void)
{
    struct chance chance = {2};
    for (size_t i = 0; i < EDGES; i++)
        for (size_t j = 0; j < EDGES; j++)
            check_product(edges[i], edges[j]);
    for (unsigned i = 0; i < 1000000; i++) {
        uint64_t a = chance_next(&chance);
        check_product(a, chance_next(&chance) >> i % 64);
    }
    tap_check(hash_high_product(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1, "the largest");
}

/* A page is in range for every hi, all pages are reached, and a larger hi has no lower page. */
static void pages(void)
{
    static const uint64_t counts[] = {1, 2, 3, 7, 64, 1000, UINT64_C(1) << 30, UINT64_C(1) << 38};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t before = 0;
        for (size_t j = 0; j < EDGES; j++) {
            uint64_t page = geometry_page((struct key){.lo = 0, .hi = edges[j]}, counts[i]);
            tap_check(page < counts[i] && page >= before, "page %" PRIu64 " of %" PRIu64, page,
                      counts[i]);
            before = page;
        }
        tap_check(before == counts[i] - 1, "the highest hi is in page %" PRIu64, before);
        tap_check(geometry_page((struct key){.lo = UINT64_MAX, .hi = 0}, counts[i]) == 0,
                  "lo moves the page");
    }
}

/* The blocks that a walk comes to, as bits. */
static uint64_t visited(uint32_t start, uint32_t stride)
{
    struct walk walk = {.block = start, .stride = stride};
    uint64_t blocks = 0;
    for (unsigned j = 0; j < PAGE_BLOCKS; j++) {
        tap_check(walk.block < PAGE_BLOCKS, "block %u", walk.block);
        blocks |= UINT64_C(1) << walk.block;
        walk_next(&walk);
    }
    return blocks;
}

/* b is odd, so it has no factor in common with 64: the first 64 blocks of every walk differ. With
 * an even one they do not. */
static void distinct_blocks(void)
{
    for (uint32_t start = 0; start < PAGE_BLOCKS; start++)
        for (uint32_t stride = 0; stride < PAGE_BLOCKS; stride++)
            tap_check((visited(start, stride) == UINT64_MAX) == (stride % 2 == 1),
                      "start %u, stride %u: %016" PRIx64, start, stride, visited(start, stride));
}

int main(void)
{
    tap_run("the high half of a product, without a 128-bit type", high_product);
    tap_run("pages: in range, in order, for the edges of hi", pages);
    tap_run("the blocks of a walk are distinct, for every start and stride", distinct_blocks);
    return tap_end();
}
