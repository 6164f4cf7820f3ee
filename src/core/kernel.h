/*
 * kernel - the inner loops: find the lines of a buffer, test keys, set keys, count bits.
 *
 * Each exists in several versions that give the same answers: a plain one, which every machine has
 * and against which the others are tested (tests/unit/test_kernel.c), and vector versions, chosen
 * once when the program runs, so that one package serves every CPU. How they become fast is told in
 * kernel_body.h.
 *
 * None allocates or fails. `seen` holds one byte a key, 0 or 1.
 */
#ifndef UNSEEN_CORE_KERNEL_H
#define UNSEEN_CORE_KERNEL_H

#include "core/geometry.h"

enum { KERNEL_PAGES = 8 };

struct kernel {
    const char *name;

    /* Finds lines in `length` bytes. starts[0] must be the offset of the first; puts the offset
     * after each delimiter into starts[1], starts[2]...; returns the number of whole lines found,
     * at most `most`. starts needs room for most + 1. */
    size_t (*split)(const char *bytes, size_t length, char delimiter, size_t *starts, size_t most);

    /* For each of `n` keys with seen[i] == 0: seen[i] = 1 if all its bits are set. */
    void (*test)(const struct bits *bits, const struct key *keys, size_t n, uint8_t *seen);

    /* Sets the bits of `n` keys. */
    void (*set)(const struct bits *bits, const struct key *keys, size_t n);

    /* Test and set, one key after the other, of those with seen[i] == 0: seen[i] = 1 if all its
     * bits are set already, by an earlier one of these keys too; else sets them. Stops before a
     * key that would be set as number most + 1. Returns how many keys were looked at, and in *set
     * how many were set. */
    size_t (*insert)(const struct bits *bits, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t most, uint64_t *set);

    /* How many bits are set in each line of a page, which may lie anywhere. */
    void (*count)(const uint8_t *page, uint16_t set[PAGE_BLOCKS]);

    /* For each page p, of KERNEL_PAGES at once: sums[p] is the sum of the products of all choices
     * of `lines` (1..BLOCKS_MAX) of the 64 values values[...][p], which are within 0..1. */
    void (*products)(double values[PAGE_BLOCKS][KERNEL_PAGES], unsigned blocks,
                     double sums[KERNEL_PAGES]);
};

/* The fastest version that this machine runs. */
const struct kernel *kernel_best(void);

/* The one for layers of this kind: the fastest for bits, or that for counting cells, where `set`
 * raises a key's cells, `count` counts those that are not zero, and so on (cells.h). */
const struct kernel *kernel_for(struct geometry geometry);

/* The versions that this machine runs for bits, the plain one first. Returns how many. */
enum { KERNELS_MAX = 3 };
size_t kernel_all(const struct kernel *kernels[KERNELS_MAX]);

/* Does line `line` (64 bytes) have the bits of `word` set? For callers with a line of their own. */
bool block_test(const uint8_t *block, uint64_t word, unsigned fields);
void block_set(uint8_t *block, uint64_t word, unsigned fields);

/* The same for a line of a layer of either kind. */
bool kernel_block_test(const uint8_t *block, uint64_t word, struct geometry geometry);
void kernel_block_set(uint8_t *block, uint64_t word, struct geometry geometry);

#endif
