/*
 * kernel_count_body - the loops under estimate.c, written once and compiled once for each
 * instruction set, as those of kernel_body.h; they read whole layers, so they are to be as fast as
 * memory.
 *
 * The file that includes this defines
 *   KERNEL_TARGET   function attribute that allows the instructions, or nothing
 *   count_four(lines)   the bits set in four lines, as four 16-bit numbers, the first one lowest
 */
#include "core/kernel.h"

#include <string.h>

/* Half a page: where one page ends and another begins, processors do not fetch ahead by themselves,
 * and reading a layer takes a third longer. What is fetched in vain after the last page may not
 * even be mapped; a prefetch does not mind. */
enum { COUNT_AHEAD = PAGE_BYTES / 2 };

/* A line is 512 bits, so its count fits, and four of them go on in one register. */
KERNEL_TARGET
static void kernel_count(const uint8_t *page, uint16_t set[PAGE_LINES])
{
    for (unsigned line = 0; line < PAGE_LINES; line += 4) {
        const uint8_t *four = page + (size_t)line * LINE_BYTES;
        for (unsigned i = 0; i < 4; i++)
            __builtin_prefetch(four + (size_t)i * LINE_BYTES + COUNT_AHEAD);
        uint64_t counts = count_four(four);
        set[line] = (uint16_t)counts;
        set[line + 1] = (uint16_t)(counts >> 16);
        set[line + 2] = (uint16_t)(counts >> 32);
        set[line + 3] = (uint16_t)(counts >> 48);
    }
}

/* A page a lane; the compiler makes of it what registers there are. */
typedef double lanes __attribute__((vector_size(8 * KERNEL_PAGES)));

/* The sums of products of j values, j = 0..g, grow by one value at a time: each choice either lacks
 * the new value or has it, e_j = e_j + value * e_(j-1). All terms are positive, so nothing cancels;
 * and there are at most C(64, 16) of them, so that sums of ones are exact. */
static inline __attribute__((always_inline)) KERNEL_TARGET
void sum_products(double values[PAGE_LINES][KERNEL_PAGES], unsigned lines,
                  double sums[KERNEL_PAGES])
{
    lanes sum[LINES_MAX + 1] = {{1, 1, 1, 1, 1, 1, 1, 1}};
    for (unsigned line = 0; line < PAGE_LINES; line++) {
        lanes value;
        memcpy(&value, values[line], sizeof value);
        for (unsigned j = lines; j > 0; j--)
            sum[j] += value * sum[j - 1];
    }
    memcpy(sums, &sum[lines], sizeof sum[lines]);
}

/* Where g is a constant, the sums stay in registers. */
KERNEL_TARGET
static void kernel_products(double values[PAGE_LINES][KERNEL_PAGES], unsigned lines,
                            double sums[KERNEL_PAGES])
{
    switch (lines) {
    case 1:
        sum_products(values, 1, sums);
        break;
    case 2:
        sum_products(values, 2, sums);
        break;
    case 3:
        sum_products(values, 3, sums);
        break;
    default:
        sum_products(values, lines, sums);
    }
}
