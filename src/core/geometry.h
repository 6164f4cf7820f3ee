/*
 * geometry - which bits of a layer belong to a key.
 *
 * The classic Bloom filter gives a key k bits anywhere in m. This costs k cache misses and, on a
 * mapped file, k TLB misses and k page faults. Putting all k bits into one cache line costs one
 * miss, but cache lines fill unevenly, and the extra bits this takes grow with 1/p (34% at 1e-6).
 * The layout here lies between the two:
 *
 *   1. The bit array is cut into pages of 4096 bytes, and a page into 64 blocks of 512 bits. A
 *      block is a cache line.
 *   2. A key has one page: the high 64 bits of hi * pages (a multiplication instead of a modulo,
 *      for any number of pages).
 *   3. In this page, double hashing picks g distinct blocks: block_j = (a + j*b) mod 64, with b
 *      odd, so that the first 64 all differ. a and b come from hi * (2^64 / golden ratio), whose
 *      top bits depend on all of hi; hi's own top bits are the same for all keys of a page.
 *   4. Double hashing again gives each block one 64-bit word: w_j = lo + j*d, d = hi | 1.
 *   5. A word is cut into f <= 7 fields of 9 bits: each is the number of a bit in the block, and
 *      k = g * f.
 *
 * A counting layer differs in two numbers: it has 128 cells of 4 bits per block, and fields of
 * 7 bits (cells.h).
 *
 * So a key costs one page (one TLB entry, one page fault or disk read) and g cache lines that can
 * be prefetched together. Steps 3 to 5 do as well as independent hashing (tests/unit/test_rate.c).
 * Double hashing of the 9-bit positions themselves does not: it leaves only 2^16 patterns in a
 * block, and 426 times the rate at 1e-6.
 *
 * Source: Bloom 1970; Kirsch and Mitzenmacher 2006 (double hashing); Putze, Sanders and Singler
 * 2007 (blocks); Lemire 2019 (the multiplication).
 */
#ifndef UNSEEN_CORE_GEOMETRY_H
#define UNSEEN_CORE_GEOMETRY_H

#include "core/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PAGE_BYTES = 4096,
    PAGE_BITS = 32768,
    PAGE_BLOCKS = 64,
    BLOCK_BYTES = 64,
    BLOCK_BITS = 512,
    BLOCKS_MAX = 16, /* g; 16 blocks of 7 fields reach rates far below any that can be asked for */
    FIELDS_MAX = 7,  /* f: seven times 9 bits fit into a 64-bit word */
    FIELD_BITS = 9,
    /* In counting layers: */
    BLOCK_CELLS = 128,
    CELL_FIELD_BITS = 7
};

struct geometry {
    uint8_t blocks; /* g: blocks per key, 1..BLOCKS_MAX */
    uint8_t fields; /* f: fields per block, 1..FIELDS_MAX */
    bool counting;  /* cells have 4 bits; otherwise a cell is a bit */
};

/* The bit array of one layer. Bit b of a region is byte b / 8, mask 1 << (b % 8). */
struct bits {
    uint8_t *bytes; /* pages * PAGE_BYTES, aligned to a page */
    uint64_t pages;
    struct geometry geometry;
};

/* The cells of a block and of a page, and the bits of a cell. */
static inline unsigned geometry_block_cells(struct geometry g)
{
    return g.counting ? BLOCK_CELLS : BLOCK_BITS;
}

static inline unsigned geometry_page_cells(struct geometry g)
{
    return PAGE_BLOCKS * geometry_block_cells(g);
}

static inline unsigned geometry_cell_bits(struct geometry g)
{
    return BLOCK_BITS / geometry_block_cells(g);
}

/* k: cells per key; a cell that is hit twice counts twice. */
static inline unsigned geometry_hashes(struct geometry g)
{
    return (unsigned)g.blocks * g.fields;
}

/* y: the chance that a key of a page sets a given cell of it. */
static inline double geometry_share(struct geometry g)
{
    double missed = 1;
    for (unsigned t = 0; t < g.fields; t++)
        missed *= 1 - 1.0 / geometry_block_cells(g);
    return (double)g.blocks / PAGE_BLOCKS * (1 - missed);
}

static inline uint64_t geometry_page(struct key key, uint64_t pages)
{
    return hash_high_product(key.hi, pages);
}

/* One bit of a region, by its number. */
static inline bool bit_test(const uint8_t *region, uint64_t bit)
{
    return region[bit / 8] >> (bit % 8) & 1;
}

static inline void bit_set(uint8_t *region, uint64_t bit)
{
    region[bit / 8] = (uint8_t)(region[bit / 8] | 1U << (bit % 8));
}

/* The walk over a key's blocks: walk_start gives the first, walk_next each further one. */
struct walk {
    uint64_t word;
    uint64_t step;
    uint32_t block;
    uint32_t stride;
};

static inline struct walk walk_start(struct key key)
{
    uint64_t remixed = key.hi * UINT64_C(0x9e3779b97f4a7c15);
    return (struct walk){
        .word = key.lo,
        .step = key.hi | 1,
        .block = (uint32_t)(remixed >> 58),
        .stride = (uint32_t)(remixed >> 52 & 63) | 1,
    };
}

static inline void walk_next(struct walk *w)
{
    w->word += w->step;
    w->block = (w->block + w->stride) % PAGE_BLOCKS;
}

/* Field t of a word: the number of a bit in its block. */
static inline uint32_t geometry_field(uint64_t word, unsigned t)
{
    return (uint32_t)(word >> (FIELD_BITS * t)) % BLOCK_BITS;
}

/* Field t of a word in a counting layer: the number of a cell in its block. */
static inline uint32_t geometry_cell(uint64_t word, unsigned t)
{
    return (uint32_t)(word >> (CELL_FIELD_BITS * t)) % BLOCK_CELLS;
}

#endif
