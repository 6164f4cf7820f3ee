/*
 * genchosen - prints lines whose keys were chosen, as a stranger can who knows the seed.
 *
 *     genchosen [-s SEED] [-d DRAW] same LINES
 *     genchosen [-s SEED] [-d DRAW] any LINES
 *     genchosen [-s SEED] [-d DRAW] page LINES PAGES FIRST [COUNT]
 *     genchosen [-s SEED] [-d DRAW] slot LINES
 *
 * Prints LINES different lines, without a newline in them, the same for the same arguments on every
 * machine; ten million a second. SEED is the filter's (0); DRAW (0) gives other lines. Exit: 0, or
 * 2 with a message.
 *
 *   same  lines of 320 bytes that all have one key
 *   any   lines of 16 bytes with random keys, to compare the others with
 *   page  of 16 bytes, all on COUNT (1) pages from FIRST on, in a layer of PAGES pages
 *   slot  of 16 bytes, whose keys have 24 zeros at each end of `lo`
 *
 * Both are plain reading of XXH3, 128-bit variant. From 241 bytes on it takes 64 bytes at a time,
 * in eight lanes of 64 bits. A lane is combined with a piece of the secret, which follows from the
 * seed: key = lane ^ secret. The product of the halves of `key` goes to one sum, the lane itself to
 * another. So if the lower half of a lane is that of its secret, the product is zero, and the upper
 * half is free; if what it adds is taken away by the same lane of the next 64 bytes, the hash is
 * the same, whatever it was.
 *
 * From 9 to 16 bytes each step can be undone: multiplications by odd numbers, and sums of what is
 * known by then. So there is a line of 16 bytes for each key, and it costs as much as hashing it.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__extension__ typedef unsigned __int128 wide;

enum { SAME_BYTES = 320, STRIPE_BYTES = 64, LINE_BYTES = 16, SECRET_STEP = 8 };

struct chooser {
    uint64_t seed;  /* the filter's */
    uint64_t state; /* of what is drawn */
    uint64_t pages, first, count;
};

static uint64_t draw(struct chooser *chooser)
{
    uint64_t x = chooser->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static bool has_newline(const void *bytes, size_t length)
{
    return memchr(bytes, '\n', length) != NULL;
}

/* --- lines with one key --- */

/* A lane whose lower half, in the first two stripes, gives no newline. */
static unsigned find_lane(const uint8_t *secret)
{
    unsigned lane = 0;
    while (lane < 7 &&
           (has_newline(secret + 8 * lane, 4) || has_newline(secret + 8 * lane + SECRET_STEP, 4)))
        lane++;
    return lane;
}

static bool print_same(struct chooser *chooser, uint64_t lines)
{
    uint8_t secret[XXH_SECRET_DEFAULT_SIZE], line[SAME_BYTES + 1];
    XXH3_generateSecret_fromSeed(secret, chooser->seed);
    unsigned lane = find_lane(secret);
    uint8_t *first = line + (size_t)8 * lane, *second = first + STRIPE_BYTES;
    memset(line, 'x', SAME_BYTES);
    line[SAME_BYTES] = '\n';
    memcpy(first, secret + (size_t)8 * lane, 4);
    memcpy(second, secret + (size_t)8 * lane + SECRET_STEP, 4);
    XXH128_hash_t hash = XXH3_128bits_withSeed(line, 0, 0);
    for (uint64_t n = 0; n < lines;) {
        uint32_t upper = (uint32_t)draw(chooser), rest = UINT32_MAX - upper;
        memcpy(first + 4, &upper, 4);
        memcpy(second + 4, &rest, 4);
        if (has_newline(line, SAME_BYTES))
            continue;
        XXH128_hash_t this = XXH3_128bits_withSeed(line, SAME_BYTES, chooser->seed);
        if (n++ == 0)
            hash = this;
        if (!XXH128_isEqual(hash, this))
            return false;
        fwrite(line, 1, sizeof line, stdout);
    }
    return true;
}

/* --- a line for a key --- */

/* The number whose product with odd `n` is 1: each step doubles the bits that are right. */
static uint64_t inverse(uint64_t n)
{
    uint64_t x = n;
    for (unsigned i = 0; i < 6; i++)
        x *= 2 - n * x;
    return x;
}

static uint64_t high_product(uint64_t a, uint64_t b)
{
    return (uint64_t)((wide)a * b >> 64);
}

static uint64_t undo_avalanche(uint64_t x)
{
    x ^= x >> 32;
    x *= inverse(UINT64_C(0x165667919e3779f9));
    return x ^ x >> 37;
}

static uint64_t secret_word(unsigned at)
{
    return XXH_readLE64(XXH3_kSecret + at);
}

/* XXH3_len_9to16_128b, from its end to its beginning; little-endian machines only. */
static void make_line(XXH128_hash_t key, uint64_t seed, uint8_t line[LINE_BYTES])
{
    uint64_t low = undo_avalanche(key.low64), high = undo_avalanche(key.high64);
    uint64_t flip_low = (secret_word(32) ^ secret_word(40)) - seed;
    uint64_t flip_high = (secret_word(48) ^ secret_word(56)) + seed;
    low *= inverse(XXH_PRIME64_2);
    high = (high - high_product(low, XXH_PRIME64_2)) * inverse(XXH_PRIME64_2);
    low = (low ^ XXH_swap64(high)) - ((uint64_t)(LINE_BYTES - 1) << 54);
    low *= inverse(XXH_PRIME64_1);
    high -= high_product(low, XXH_PRIME64_1);
    /* Now it is upper * 2^32 + lower * PRIME32_2 of the second word. */
    uint64_t lower = (uint32_t)(high * inverse(XXH_PRIME32_2));
    uint64_t second = ((high - lower * XXH_PRIME32_2) | lower) ^ flip_high;
    uint64_t first = low ^ second ^ flip_low;
    memcpy(line, &first, 8);
    memcpy(line + 8, &second, 8);
}

static XXH128_hash_t any_key(struct chooser *chooser)
{
    uint64_t low = draw(chooser);
    return (XXH128_hash_t){low, draw(chooser)};
}

static XXH128_hash_t key_on_page(struct chooser *chooser)
{
    XXH128_hash_t key = any_key(chooser);
    uint64_t page = chooser->first + key.low64 % chooser->count;
    uint64_t width = UINT64_MAX / chooser->pages;
    do {
        uint64_t begin = (uint64_t)(((wide)page << 64) / chooser->pages);
        key.high64 = begin + draw(chooser) % width;
    } while (high_product(key.high64, chooser->pages) != page);
    return key;
}

static XXH128_hash_t key_in_slot(struct chooser *chooser)
{
    XXH128_hash_t key = any_key(chooser);
    key.low64 &= UINT64_C(0x000000ffff000000);
    return key;
}

static bool print_chosen(struct chooser *chooser, uint64_t lines,
                         XXH128_hash_t (*choose)(struct chooser *chooser))
{
    uint8_t line[LINE_BYTES + 1];
    for (uint64_t n = 0; n < lines;) {
        XXH128_hash_t key = choose(chooser);
        make_line(key, chooser->seed, line);
        if (!XXH128_isEqual(key, XXH3_128bits_withSeed(line, LINE_BYTES, chooser->seed)))
            return false;
        if (has_newline(line, LINE_BYTES))
            continue;
        line[LINE_BYTES] = '\n';
        fwrite(line, 1, sizeof line, stdout);
        n++;
    }
    return true;
}

/* --- all of it --- */

static int complain(const char *reason)
{
    fprintf(stderr, "genchosen: %s\n", reason);
    return 2;
}

int main(int argc, char **argv)
{
    struct chooser chooser = {0};
    int option;
    while ((option = getopt(argc, argv, "s:d:")) != -1)
        *(option == 's' ? &chooser.seed : &chooser.state) = strtoull(optarg, NULL, 10);
    chooser.state <<= 32;
    const char *form = optind < argc ? argv[optind] : "";
    uint64_t numbers[4] = {0, 0, 0, 1};
    for (int i = optind + 1, n = 0; i < argc && n < 4; i++, n++)
        numbers[n] = strtoull(argv[i], NULL, 10);
    chooser.pages = numbers[1];
    chooser.first = numbers[2];
    chooser.count = numbers[3];
    bool made;
    if (strcmp(form, "same") == 0)
        made = print_same(&chooser, numbers[0]);
    else if (strcmp(form, "any") == 0)
        made = print_chosen(&chooser, numbers[0], any_key);
    else if (strcmp(form, "slot") == 0)
        made = print_chosen(&chooser, numbers[0], key_in_slot);
    else if (strcmp(form, "page") == 0 && chooser.count > 0 && chooser.count <= chooser.pages &&
             chooser.first <= chooser.pages - chooser.count)
        made = print_chosen(&chooser, numbers[0], key_on_page);
    else
        return complain("usage: genchosen [-s SEED] [-d DRAW] same|any|slot|page LINES "
                        "[PAGES FIRST [COUNT]]");
    if (!made || fflush(stdout) != 0 || ferror(stdout))
        return complain("the library hashes otherwise, or nothing can be written");
    return 0;
}
