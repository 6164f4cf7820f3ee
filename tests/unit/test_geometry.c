/* Which bits belong to a key: the page, the walk over its lines, the fields of a word. */

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
static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 63,
                                 0xffff,
                                 0x10000,
                                 0xfffffffe,
                                 0xffffffff,
                                 0x100000000,
                                 0x100000001,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0x8000000000000001,
                                 0xffffffff00000000,
                                 0xffffffff00000001,
                                 0xfffffffffffffffe,
                                 0xffffffffffffffff};
enum { EDGES = sizeof edges / sizeof *edges };

static void check_product(uint64_t a, uint64_t b)
{
    uint64_t product = geometry_high_product(a, b);
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
    tap_check(geometry_high_product(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1, "the largest");
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

/* The lines that a walk comes to, as bits. */
static uint64_t visited(uint32_t start, uint32_t stride)
{
    struct walk walk = {.line = start, .stride = stride};
    uint64_t lines = 0;
    for (unsigned j = 0; j < PAGE_LINES; j++) {
        tap_check(walk.line < PAGE_LINES, "line %u", walk.line);
        lines |= UINT64_C(1) << walk.line;
        walk_next(&walk);
    }
    return lines;
}

/* b is odd, so it has no factor in common with 64: the first 64 lines of every walk differ. With an
 * even one they do not. */
static void distinct_lines(void)
{
    for (uint32_t start = 0; start < PAGE_LINES; start++)
        for (uint32_t stride = 0; stride < PAGE_LINES; stride++)
            tap_check((visited(start, stride) == UINT64_MAX) == (stride % 2 == 1),
                      "start %u, stride %u: %016" PRIx64, start, stride, visited(start, stride));
}

/* Every key gets such a walk, and it is the one that the comment of geometry.h describes. */
static void walks_of_keys(void)
{
    struct chance chance = {3};
    for (unsigned i = 0; i < 100000; i++) {
        struct geometry geometry = {.lines = LINES_MAX, .fields = FIELDS_MAX};
        struct key key = chance_key(&chance);
        uint64_t bits[ORACLE_BITS_MAX];
        oracle_bits(key, 5, geometry, bits);
        struct walk walk = walk_start(key);
        tap_check(walk.stride % 2 == 1 && walk.stride < PAGE_LINES, "stride %u", walk.stride);
        for (unsigned j = 0; j < LINES_MAX; j++) {
            for (unsigned t = 0; t < FIELDS_MAX; t++) {
                uint64_t bit = geometry_page(key, 5) * PAGE_BITS + (uint64_t)walk.line * LINE_BITS +
                               geometry_field(walk.word, t);
                tap_check(bit == bits[j * FIELDS_MAX + t], "key %u, line %u, field %u", i, j, t);
            }
            walk_next(&walk);
        }
    }
}

static void even(const char *what, const uint64_t *counts, size_t cells)
{
    double sigmas = chance_unevenness(counts, cells);
    tap_check(fabs(sigmas) < CHANCE_SIGMAS, "%s: chi square %.1f sigma off", what, sigmas);
}

/* Keys of lines that differ in a counter only spread evenly over pages, lines, pairs of lines,
 * strides and fields. */
static void distribution(void)
{
    unsigned lines = tap_cases(2000000);
    static uint64_t few[7], many[1000], first[64], second[64], third[64], pair[64 * 32],
        field0[512], field6[512], word_high[256];
    for (unsigned line = 0; line < lines; line++) {
        char text[64];
        int length = snprintf(text, sizeof text, "http://example.org/page/%u.html", line);
        struct key key = hash_key(text, (size_t)length, hasher_xxh3(0));
        struct walk walk = walk_start(key);
        few[geometry_page(key, 7)]++;
        many[geometry_page(key, 1000)]++;
        first[walk.line]++;
        uint32_t before = walk.line;
        walk_next(&walk);
        second[walk.line]++;
        /* They are an odd number of lines apart. */
        pair[before * 32 + (walk.line - before) % 64 / 2]++;
        walk_next(&walk);
        third[walk.line]++;
        field0[geometry_field(walk.word, 0)]++;
        field6[geometry_field(walk.word, 6)]++;
        word_high[walk.word >> 56]++;
    }
    even("7 pages", few, 7);
    even("1000 pages", many, 1000);
    even("first line", first, 64);
    even("second line", second, 64);
    even("third line", third, 64);
    even("first field of the third word", field0, 512);
    even("last field of the third word", field6, 512);
    even("top of the third word", word_high, 256);
    even("two neighbouring lines", pair, sizeof pair / sizeof *pair);
}

/* Within one page, too: its keys have the same top bits of hi, as many as the filter is large. */
static void distribution_in_a_page(void)
{
    enum { LINES = 2000000 };
    static uint64_t first[64], strides[64], both[64 * 32], field[512];
    for (unsigned line = 0; line < LINES; line++) {
        struct key key = hash_key(&line, sizeof line, hasher_xxh3(0));
        key.hi = UINT64_C(0x2f3c5a71) << 32 | key.hi >> 32; /* one page of 2^32 */
        struct walk walk = walk_start(key);
        first[walk.line]++;
        strides[walk.stride]++;
        both[walk.line * 32 + walk.stride / 2]++;
        walk_next(&walk);
        field[geometry_field(walk.word, 3)]++;
    }
    even("first line", first, 64);
    for (unsigned i = 0; i < 32; i++) {
        tap_check(strides[2 * i] == 0, "stride %u", 2 * i);
        strides[i] = strides[2 * i + 1];
    }
    even("stride", strides, 32);
    even("line and stride", both, sizeof both / sizeof *both);
    even("a field", field, 512);
}

int main(void)
{
    tap_run("the high half of a product, without a 128-bit type", high_product);
    tap_run("pages: in range, in order, for the edges of hi", pages);
    tap_run("the lines of a walk are distinct, for every start and stride", distinct_lines);
    tap_run("walks and words of keys are as specified", walks_of_keys);
    tap_run("pages, lines and fields are even (chi square)", distribution);
    tap_run("so they are inside a page of a huge filter", distribution_in_a_page);
    return tap_end();
}
