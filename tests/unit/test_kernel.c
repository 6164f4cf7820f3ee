/*
 * Every version of the inner loops against the plainest possible one: bytes compared one by one,
 * bits numbered by the oracle.
 */
#include "core/kernel.h"

#include "guards.h"
#include "layer.h"
#include "oracle.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct kernel *kernels[KERNELS_MAX];
static size_t kernel_count;

/* --- split --- */

enum { LENGTH_MAX = 300, ALIGNMENTS = 64, SIDE = 4096 };

/* Bytes of which one in `every` is the delimiter, and the others are near to it. */
static void fill(struct chance *chance, char *bytes, size_t length, char delimiter, unsigned every)
{
    for (size_t i = 0; i < length; i++) {
        uint64_t dice = chance_next(chance);
        int other = dice >> 32 & 1 ? delimiter ^ 1 << (dice >> 40) % 8 : (int)(dice >> 56);
        bytes[i] = dice % every == 0 ? delimiter : (char)other;
    }
}

static size_t plain_split(const char *bytes, size_t length, char delimiter, size_t *starts,
                          size_t most)
{
    size_t found = 0;
    for (size_t i = starts[0]; i < length && found < most; i++)
        if (bytes[i] == delimiter)
            starts[++found] = i + 1;
    return found;
}

#define CANARY ((size_t)0x5afe)

static void check_split(const char *bytes, size_t length, char delimiter, size_t from, size_t most)
{
    size_t wanted[LENGTH_MAX + 2] = {from};
    size_t lines = plain_split(bytes, length, delimiter, wanted, most);
    size_t room = most < LENGTH_MAX ? most : LENGTH_MAX;
    for (size_t i = 0; i < kernel_count; i++) {
        size_t starts[LENGTH_MAX + 2] = {from};
        starts[room + 1] = CANARY;
        size_t found = kernels[i]->split(bytes, length, delimiter, starts, most);
        tap_check(found == lines && memcmp(starts, wanted, (lines + 1) * sizeof *starts) == 0,
                  "%s: %zu of %zu lines in %zu bytes from %zu, delimiter %d, at most %zu",
                  kernels[i]->name, found, lines, length, from, delimiter, most);
        tap_check(starts[room + 1] == CANARY, "%s: wrote behind the starts", kernels[i]->name);
    }
}

static const char delimiters[] = {'\n', '\0', (char)0xff, (char)0x80};
static const unsigned densities[] = {1, 2, 10, 100, 1000000};

/* The buffer ends where the unreadable page begins, or begins where one ends. */
static void split_at_guards(void)
{
    struct chance chance = {5};
    char *page = guarded(SIDE);
    for (size_t length = 0; length <= LENGTH_MAX; length++)
        for (size_t i = 0; i < sizeof densities / sizeof *densities; i++) {
            char delimiter = delimiters[(length + i) % sizeof delimiters];
            fill(&chance, page, SIDE, delimiter, densities[i]);
            check_split(page + SIDE - length, length, delimiter, 0, LENGTH_MAX);
            check_split(page, length, delimiter, 0, LENGTH_MAX);
        }
}

/* Around the buffer lie delimiters, which must not be found. It stops at `most`, and begins
 * anywhere. */
static void split_alignments(void)
{
    static const size_t mosts[] = {0, 1, 2, 3, 7, 8, 63, 64, 65, LENGTH_MAX};
    struct chance chance = {6};
    static _Alignas(64) char memory[2 * ALIGNMENTS + LENGTH_MAX];
    for (size_t length = 0; length <= LENGTH_MAX; length++)
        for (size_t at = 0; at < ALIGNMENTS; at++) {
            char delimiter = delimiters[(length + at) % sizeof delimiters];
            memset(memory, delimiter, sizeof memory);
            fill(&chance, memory + at, length, delimiter, densities[1 + (length + at) % 4]);
            check_split(memory + at, length, delimiter, 0, LENGTH_MAX);
            check_split(memory + at, length, delimiter, chance_below(&chance, length + 1),
                        mosts[at % (sizeof mosts / sizeof *mosts)]);
        }
}

/* --- keys --- */

enum { KEYS_MAX = 300 };

/* Around what is prefetched ahead, and around the length of a run; all, with two limits. */
static const size_t key_counts[] = {0, 1, 2, 31, 32, 33, 39, 40, 41, 100, KEYS_MAX, KEYS_MAX};

/* Keys of which some come twice, and others share a page, or differ in one half only. */
static void make_keys(struct chance *chance, struct key keys[KEYS_MAX])
{
    for (size_t i = 0; i < KEYS_MAX; i++) {
        keys[i] = chance_key(chance);
        uint64_t dice = chance_next(chance);
        if (i == 0 || dice % 4 != 0)
            continue;
        const struct key *other = &keys[chance_below(chance, i)];
        if (dice & 8)
            keys[i].lo = other->lo;
        if (dice & 16)
            keys[i].hi = other->hi;
    }
}

static void make_flags(struct chance *chance, uint8_t flags[KEYS_MAX], bool any)
{
    for (size_t i = 0; i < KEYS_MAX; i++)
        flags[i] = any && chance_below(chance, 4) == 0;
}

static void check_bits(const struct pair *pair, const struct kernel *kernel, const char *what)
{
    tap_check(pair_same(pair), "%s: %s: other bits (%u x %u, %" PRIu64 " pages)", kernel->name,
              what, pair->bits.geometry.blocks, pair->bits.geometry.fields, pair->bits.pages);
}

static void check_test(const struct pair *pair, const struct kernel *kernel, const struct key *keys,
                       size_t n, const uint8_t *flags)
{
    uint8_t seen[KEYS_MAX + 1];
    memcpy(seen, flags, KEYS_MAX);
    seen[n] = 0xee;
    kernel->test(&pair->bits, keys, n, seen);
    for (size_t i = 0; i < n; i++) {
        int has = flags[i] ||
                  oracle_has(pair->plain, keys[i], pair->bits.pages, pair->bits.geometry);
        tap_check(seen[i] == has, "%s: test: key %zu of %zu: %u (%u x %u)", kernel->name, i, n,
                  seen[i], pair->bits.geometry.blocks, pair->bits.geometry.fields);
    }
    tap_check(seen[n] == 0xee, "%s: test wrote behind the flags", kernel->name);
    check_bits(pair, kernel, "test");
}

static void check_set(struct pair *pair, const struct kernel *kernel, const struct key *keys,
                      size_t n)
{
    kernel->set(&pair->bits, keys, n);
    for (size_t i = 0; i < n; i++)
        oracle_add(pair->plain, keys[i], pair->bits.pages, pair->bits.geometry);
    check_bits(pair, kernel, "set");
}

static void check_insert(struct pair *pair, const struct kernel *kernel, const struct key *keys,
                         size_t n, const uint8_t *flags, uint64_t most)
{
    uint8_t seen[KEYS_MAX + 1], wanted[KEYS_MAX];
    uint64_t set = 1234, count = 0;
    size_t looked_at = n;
    memcpy(seen, flags, KEYS_MAX);
    memcpy(wanted, flags, KEYS_MAX);
    seen[n] = 0xee;
    for (size_t i = 0; i < n; i++) {
        if (flags[i])
            continue;
        wanted[i] = oracle_has(pair->plain, keys[i], pair->bits.pages, pair->bits.geometry) != 0;
        if (wanted[i])
            continue;
        if (count == most) {
            looked_at = i;
            break;
        }
        oracle_add(pair->plain, keys[i], pair->bits.pages, pair->bits.geometry);
        count++;
    }
    size_t done = kernel->insert(&pair->bits, keys, n, seen, most, &set);
    tap_check(done == looked_at && set == count && memcmp(seen, wanted, n) == 0,
              "%s: insert: %zu keys, %" PRIu64 " set; not %zu, %" PRIu64 " (%u x %u)", kernel->name,
              done, set, looked_at, count, pair->bits.geometry.blocks, pair->bits.geometry.fields);
    tap_check(seen[n] == 0xee, "%s: insert wrote behind the flags", kernel->name);
    check_bits(pair, kernel, "insert");
}

/* All three, on one layer that fills up. */
static void check_layer(const struct kernel *kernel, struct geometry geometry, uint64_t pages)
{
    static const uint64_t mosts[] = {0, 1, 100, UINT64_MAX};
    struct chance chance = {geometry.blocks * 100U + geometry.fields};
    struct pair pair = pair_new(pages, geometry);
    struct key keys[KEYS_MAX];
    uint8_t flags[KEYS_MAX];
    for (size_t i = 0; i < sizeof key_counts / sizeof *key_counts; i++) {
        size_t n = key_counts[i];
        make_keys(&chance, keys);
        make_flags(&chance, flags, i % 3 != 0);
        check_test(&pair, kernel, keys, n, flags);
        check_insert(&pair, kernel, keys, n, flags, mosts[i % 4]);
        check_test(&pair, kernel, keys, n, flags);
        make_keys(&chance, keys);
        check_set(&pair, kernel, keys, n);
        check_test(&pair, kernel, keys, n, flags);
    }
    pair_free(&pair);
}

/* All of a page is set but a single cell of the key: it is not in, whichever that cell is. */
static void check_each_cell(const struct kernel *kernel, struct geometry geometry)
{
    struct chance chance = {11};
    struct bits bits = layer_bits(geometry, 1);
    uint64_t cells[ORACLE_BITS_MAX];
    struct key key = chance_key(&chance);
    unsigned n = oracle_bits(key, 1, geometry, cells), size = geometry_cell_bits(geometry);
    memset(bits.bytes, 0xff, PAGE_BYTES);
    for (unsigned i = 0; i < n; i++) {
        uint8_t *byte = &bits.bytes[cells[i] * size / 8], seen = 0;
        *byte = (uint8_t)(0xff ^ ((1U << size) - 1) << cells[i] * size % 8);
        kernel->test(&bits, &key, 1, &seen);
        tap_check(seen == 0, "%s: %u x %u: cell %u is not looked at", kernel->name, geometry.blocks,
                  geometry.fields, i);
        *byte = 0xff;
    }
    free(bits.bytes);
}

static void check_kernel(const struct kernel *kernel, bool counting)
{
    static const uint64_t page_counts[] = {1, 3, 16};
    for (unsigned blocks = 1; blocks <= BLOCKS_MAX; blocks++)
        for (unsigned fields = 1; fields <= FIELDS_MAX; fields++) {
            struct geometry geometry = {(uint8_t)blocks, (uint8_t)fields, counting};
            check_each_cell(kernel, geometry);
            for (size_t j = tap_brief() ? 2 : 0; j < sizeof page_counts / sizeof *page_counts; j++)
                check_layer(kernel, geometry, page_counts[j]);
        }
}

/* Of layers of counters, too; on the way many of those come to 15. */
static void all_geometries(void)
{
    const struct kernel *cells = kernel_for((struct geometry){1, 1, true});
    tap_check(strcmp(kernels[0]->name, "plain") == 0 &&
                  kernel_for((struct geometry){1, 1, false}) == kernel_best(),
              "others are chosen");
    for (size_t i = 0; i < kernel_count; i++)
        check_kernel(kernels[i], false);
    check_kernel(cells, true);
}

/* A layer larger than 4 GB: neither pages nor bytes nor bits of it may be counted in 32 bits. Only
 * the pages of the keys become memory. */
static void large_layer(void)
{
    struct geometry geometry = {.blocks = 3, .fields = 6};
    struct bits bits = {.pages = 3000000, .geometry = geometry};
    struct chance chance = {9};
    struct key keys[KEYS_MAX];
    if (bits.pages > SIZE_MAX / PAGE_BYTES) {
        tap_skip("this machine has addresses of 32 bits");
        return;
    }
    size_t bytes = (size_t)bits.pages * PAGE_BYTES;
    bits.bytes = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bits.bytes == MAP_FAILED) {
        tap_skip("12 GB of address space cannot be had (ulimit -v unlimited)");
        return;
    }
    for (size_t i = 0; i < kernel_count; i++) {
        uint8_t seen[KEYS_MAX] = {0};
        uint64_t set;
        madvise(bits.bytes, bytes, MADV_DONTNEED);
        for (size_t j = 0; j < KEYS_MAX; j++)
            keys[j] = chance_key(&chance);
        if (i % 2 == 0)
            kernels[i]->set(&bits, keys, KEYS_MAX);
        else
            kernels[i]->insert(&bits, keys, KEYS_MAX, seen, UINT64_MAX, &set);
        for (size_t j = 0; j < KEYS_MAX; j++)
            tap_check(oracle_has(bits.bytes, keys[j], bits.pages, geometry),
                      "%s: key %zu is not where it belongs", kernels[i]->name, j);
        memset(seen, 0, sizeof seen);
        kernels[i]->test(&bits, keys, KEYS_MAX, seen);
        tap_check(memchr(seen, 0, KEYS_MAX) == NULL, "%s: not all are found", kernels[i]->name);
    }
    munmap(bits.bytes, bytes);
}

/* The bits of each block, or its cells that are not zero, one by one. */
static void check_count(const struct kernel *kernel, const uint8_t *page, bool counting,
                        unsigned round)
{
    const struct geometry geometry = {1, 1, counting};
    unsigned cells = oracle_cells(geometry);
    uint16_t wanted[PAGE_BLOCKS] = {0}, set[PAGE_BLOCKS + 1] = {[PAGE_BLOCKS] = 0xcafe};
    for (unsigned cell = 0; cell < PAGE_BLOCKS * cells; cell++)
        wanted[cell / cells] = (uint16_t)(wanted[cell / cells] +
                                          (oracle_value(page, cell, geometry) != 0));
    unsigned sum = kernel->count(page, set), in_all = 0;
    for (unsigned block = 0; block < PAGE_BLOCKS; block++)
        in_all += wanted[block];
    tap_check(memcmp(set, wanted, sizeof wanted) == 0 && sum == in_all, "%s: page %u", kernel->name,
              round);
    tap_check(set[PAGE_BLOCKS] == 0xcafe, "%s: wrote behind the counts", kernel->name);
}

static void count(void)
{
    static _Alignas(PAGE_BYTES) uint8_t room[PAGE_BYTES + BLOCK_BYTES];
    struct chance chance = {12};
    for (unsigned round = 0; round < 200; round++) {
        uint8_t *page = room + round % BLOCK_BYTES;
        for (unsigned i = 0; i < PAGE_BYTES; i++) {
            uint64_t dice = chance_next(&chance);
            /* Sparse, dense, empty and full ones. */
            page[i] = (uint8_t)(i / BLOCK_BYTES % 3 == 0 ? dice & dice >> 8 & dice >> 16 : dice);
            page[i] = round % 4 == 0 ? 0 : round % 4 == 1 ? 0xff : page[i];
        }
        bit_set(page, chance_below(&chance, PAGE_BITS));
        for (size_t i = 0; i < kernel_count; i++)
            check_count(kernels[i], page, false, round);
        check_count(kernel_for((struct geometry){1, 1, true}), page, true, round);
    }
}

int main(void)
{
    kernel_count = kernel_all(kernels);
    for (size_t i = 0; i < kernel_count; i++)
        printf("# kernel %s\n", kernels[i]->name);
    tap_run("split: nothing is read beyond either end, lengths 0 to 300", split_at_guards);
    tap_run("split: all alignments and lengths, at most so many, from anywhere", split_alignments);
    tap_run("test, set, insert: all g and f, repeats, flags, stops, counters", all_geometries);
    tap_run("count: all bits and cells of a page, block by block", count);
    tap_run("a layer of 12 GB", large_layer);
    return tap_end();
}
