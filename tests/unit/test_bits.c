/*
 * The primitives on the worked example that textbooks use: m = 16 bits, k = 3 hashes, of which "a"
 * gives 2, 6, 13, "b" gives 4, 10, 11, and "c" gives 6, 11, 12.
 */
#include "core/kernel.h"

#include "chance.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>

enum { HASHES = 3 };

static const uint64_t a[HASHES] = {2, 6, 13};
static const uint64_t b[HASHES] = {4, 10, 11};
static const uint64_t c[HASHES] = {6, 11, 12};
/* Never added; its bits are some of those of "a" and some of "b". */
static const uint64_t stranger[HASHES] = {4, 6, 13};

static void add(uint8_t *filter, const uint64_t bits[HASHES])
{
    for (unsigned i = 0; i < HASHES; i++)
        bit_set(filter, bits[i]);
}

static bool has(const uint8_t *filter, const uint64_t bits[HASHES])
{
    bool all = true;
    for (unsigned i = 0; i < HASHES; i++)
        all = all && bit_test(filter, bits[i]);
    return all;
}

static void worked_example(void)
{
    uint8_t filter[2] = {0, 0};
    tap_check(!has(filter, a) && !has(filter, b) && !has(filter, c), "the empty filter has a key");
    add(filter, a);
    add(filter, b);
    /* 2 4 6 | 10 11 13: bit b is in byte b/8, with the mask 1 << b%8 */
    tap_check(filter[0] == 0x54 && filter[1] == 0x2c, "bytes %02x %02x", filter[0], filter[1]);
    tap_check(bit_test(filter, 6) && bit_test(filter, 11) && !bit_test(filter, 12), "bits of c");
    tap_check(!has(filter, c), "c should be absent: bit 12 is not set");
    tap_check(has(filter, stranger), "a stranger should be a false positive");
    tap_check(has(filter, a) && has(filter, b), "a and b should be present");
    add(filter, c);
    tap_check(filter[0] == 0x54 && filter[1] == 0x3c, "bytes %02x %02x", filter[0], filter[1]);
    tap_check(has(filter, a) && has(filter, b) && has(filter, c), "all three should be present");
}

/* Three fields of 9 bits make a word. */
static uint64_t word_of(const uint64_t bits[HASHES])
{
    return bits[0] | bits[1] << 9 | bits[2] << 18;
}

static void worked_example_in_a_line(void)
{
    uint8_t line[LINE_BYTES] = {0};
    tap_check(!line_test(line, word_of(a), HASHES), "the empty line has a");
    line_set(line, word_of(a), HASHES);
    line_set(line, word_of(b), HASHES);
    tap_check(line[0] == 0x54 && line[1] == 0x2c, "bytes %02x %02x", line[0], line[1]);
    tap_check(!line_test(line, word_of(c), HASHES), "c should be absent");
    tap_check(line_test(line, word_of(stranger), HASHES), "a stranger should be a false positive");
    tap_check(line_test(line, word_of(a), HASHES) && line_test(line, word_of(b), HASHES),
              "a and b should be present");
    tap_check(line_test(line, word_of(c), 2), "c without its third field should be present");
}

static void every_bit(void)
{
    static uint8_t region[PAGE_BYTES];
    for (uint64_t bit = 0; bit < PAGE_BITS; bit++) {
        memset(region, 0, sizeof region);
        bit_set(region, bit);
        tap_check(region[bit / 8] == 1U << bit % 8, "byte of bit %" PRIu64, bit);
        region[bit / 8] = 0;
        tap_check(region[0] == 0 && memcmp(region, region + 1, sizeof region - 1) == 0,
                  "bit %" PRIu64 " set something else, too", bit);
        memset(region, 0xff, sizeof region);
        bit_set(region, bit);
        tap_check(region[bit / 8] == 0xff, "setting bit %" PRIu64 " cleared another", bit);
        region[bit / 8] = (uint8_t) ~(1U << bit % 8);
        tap_check(!bit_test(region, bit) && bit_test(region, bit ^ 1), "bit %" PRIu64, bit);
    }
}

/* line_set and line_test against single bits, for random words and all numbers of fields. */
static void words(void)
{
    struct chance chance = {1};
    for (unsigned round = 0; round < 2000; round++) {
        uint8_t line[LINE_BYTES], plain[LINE_BYTES];
        for (unsigned i = 0; i < LINE_BYTES; i++)
            line[i] = plain[i] = (uint8_t)(chance_next(&chance) & 0xb7);
        for (unsigned fields = 1; fields <= FIELDS_MAX; fields++) {
            uint64_t word = chance_next(&chance);
            bool all = true;
            for (unsigned t = 0; t < fields; t++)
                all = all && bit_test(plain, word >> 9 * t & 511);
            tap_check(line_test(line, word, fields) == all, "%u fields of %016" PRIx64, fields,
                      word);
            line_set(line, word, fields);
            for (unsigned t = 0; t < fields; t++)
                bit_set(plain, word >> 9 * t & 511);
            tap_check(memcmp(line, plain, LINE_BYTES) == 0, "%u fields set", fields);
            tap_check(line_test(line, word, fields), "%u fields, just set", fields);
        }
    }
}

int main(void)
{
    tap_run("the worked example: absent, false positive, present", worked_example);
    tap_run("the worked example, as fields of a word in a line", worked_example_in_a_line);
    tap_run("every bit of a page alone", every_bit);
    tap_run("words of 1 to 7 fields", words);
    return tap_end();
}
