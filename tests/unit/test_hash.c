/* The key of a line: known results of XXH3-128, so that filters made elsewhere stay readable. */
#include "core/bytes.h"

#include "core/hash.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>

enum { BYTES_MAX = 4096 };

static uint8_t bytes[BYTES_MAX];

/* The input that the hash's author publishes results for: each byte is the top one of a number
 * that is multiplied again and again. */
static void make_input(void)
{
    uint64_t number = UINT64_C(2654435761);
    for (size_t i = 0; i < BYTES_MAX; i++) {
        bytes[i] = (uint8_t)(number >> 56);
        number *= UINT64_C(11400714785074694797);
    }
}

#define SEED32 UINT64_C(2654435761)
#define SEED64 UINT64_C(11400714785074694797)

/* His results: for each way that the function takes by length, with seed 0 and another. */
static const struct {
    size_t length;
    uint64_t seed;
    uint64_t lo, hi;
} known[] = {
    {0, 0, 0x6001c324468d497f, 0x99aa06d3014798d8},
    {0, SEED32, 0x5444f7869c671ab0, 0x92220ae55e14ab50},
    {1, 0, 0xc44bdff4074eecdb, 0xa6cd5e9392000f6a},
    {6, 0, 0x3e7039bdda43cfc6, 0x082afe0b8162d12a},
    {12, 0, 0x061a192713f69ad9, 0x6e3efd8fc7802b18},
    {24, 0, 0x1e7044d28b1b901d, 0x0ce966e4678d3761},
    {48, SEED32, 0x7ba3c3e453a1934e, 0x163adde36c072295},
    {81, 0, 0x5e8bafb9f95fb803, 0x4952f58181ab0042},
    {222, SEED32, 0xae995bb8af917a8d, 0x91820016621e97f1},
    {403, 0, 0xcdeb804d65c6dea4, 0x1b6de21e332dd73d},
    {403, SEED64, 0x6259f6ecfd6443fd, 0xbed311971e0be8f2},
    {512, 0, 0x617e49599013cb6b, 0x18d2d110dcc9bca1},
    {2048, SEED32, 0x230d43f30206260b, 0x7fb03f7e7186c3ea},
    {2367, 0, 0xcb37aeb9e5d361ed, 0xe89c0f6ff369b427},
};

static void known_keys(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct key key = hash_key(bytes, known[i].length, hasher_xxh3(known[i].seed));
        tap_check(key.lo == known[i].lo && key.hi == known[i].hi,
                  "%zu bytes, seed %" PRIu64 ": %016" PRIx64 " %016" PRIx64, known[i].length,
                  known[i].seed, key.lo, key.hi);
    }
}

/* What SipHash's authors publish: the results for the first 0, 1, .. 63 of the bytes 0, 1, 2..
 * under a secret of the same, least significant byte first; all of them by their checksum. */
static void known_siphashes(void)
{
    enum { RESULTS = 64 };
    const struct hasher hasher = {HASH_SIPHASH, UINT64_C(0x0706050403020100),
                                  UINT64_C(0x0f0e0d0c0b0a0908)};
    uint8_t line[RESULTS], results[RESULTS][16];
    for (unsigned i = 0; i < RESULTS; i++) {
        line[i] = (uint8_t)i;
        store_key(results[i], hash_key(line, i, hasher));
    }
    uint64_t sum = hash_checksum(results, sizeof results);
    tap_check(sum == UINT64_C(0xf713621c4f29b2af), "all 64: %016" PRIx64, sum);
}

/* Under the same secret: lines as keys (d = 0 in unseen(5)), and as lines that have none (1). */
static void lines_under_a_secret(void)
{
    const struct hasher hasher = {HASH_SIPHASH, UINT64_C(0x0706050403020100),
                                  UINT64_C(0x0f0e0d0c0b0a0908)};
    static const struct {
        const char *line;
        enum hash_domain d;
        uint64_t hi, lo;
    } vectors[] = {
        {"", DOMAIN_KEY, 0x930255c71472f66d, 0xe6a825ba047f81a3},
        {"", DOMAIN_LINE, 0xa67206852545e9d0, 0x7e9c2f9cc9d60f16},
        {"http://example.com/", DOMAIN_KEY, 0x88c0165ace09aaa4, 0x682be38b3c9c21a1},
        {"http://example.com/", DOMAIN_LINE, 0x0fd89ce556e72be4, 0x593d3f215def6810},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const char *line = vectors[i].line;
        struct key key = hash_key(line, strlen(line), hasher_in_domain(hasher, vectors[i].d));
        tap_check(key.hi == vectors[i].hi && key.lo == vectors[i].lo,
                  "'%s', d = %d: %016" PRIx64 " %016" PRIx64, line, vectors[i].d, key.hi, key.lo);
    }
}

static void known_checksums(void)
{
    static const struct {
        size_t length;
        uint64_t checksum;
    } sums[] = {
        {0, 0x2d06800538d394c2},   {1, 0xc44bdff4074eecdb},    {12, 0xa713daf0dfbb77e7},
        {80, 0xbcdefbbb2c47c90a},  {195, 0xcd94217ee362ec3a},  {403, 0xcdeb804d65c6dea4},
        {512, 0x617e49599013cb6b}, {2048, 0xdd59e2c3a5f038e0}, {2240, 0x6e73a90539cf2948},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        uint64_t checksum = hash_checksum(bytes, sums[i].length);
        tap_check(checksum == sums[i].checksum, "%zu bytes: %016" PRIx64, sums[i].length, checksum);
    }
}

/* A line's key is that of its bytes without the delimiter, wherever it lies. */
static void lines_of_a_buffer(void)
{
    static const size_t lengths[] = {0, 0, 1, 2, 3, 16, 17, 0, 128, 129, 240, 241, 1000, 0};
    enum { LINES = sizeof lengths / sizeof *lengths };
    size_t starts[LINES + 1] = {5};
    struct key keys[LINES + 1] = {{0, 0}};
    for (size_t i = 0; i < LINES; i++)
        starts[i + 1] = starts[i] + lengths[i] + 1;
    const struct hasher hashers[] = {hasher_xxh3(0), hasher_xxh3(2), {HASH_SIPHASH, 3, 4}};
    for (size_t h = 0; h < sizeof hashers / sizeof *hashers; h++) {
        hash_lines((const char *)bytes, starts, LINES, hashers[h], keys);
        for (size_t i = 0; i < LINES; i++) {
            struct key key = hash_key(bytes + starts[i], lengths[i], hashers[h]);
            tap_check(keys[i].lo == key.lo && keys[i].hi == key.hi, "line %zu, hash %zu", i, h);
        }
        tap_check(keys[LINES].lo == 0 && keys[LINES].hi == 0, "it wrote behind its keys");
    }
}

int main(void)
{
    make_input();
    tap_run("keys: published results for every length class, with and without a seed", known_keys);
    tap_run("keys under a secret: published results", known_siphashes);
    tap_run("keys under a secret: lines, with a key and without", lines_under_a_secret);
    tap_run("checksums: published results", known_checksums);
    tap_run("the lines of a buffer, empty ones too", lines_of_a_buffer);
    return tap_end();
}
