/*
 * Stages: no key is lost or wrongly found while keys gather in one and go on to its layer; writers
 * killed on the way. (test_damage has states that nobody wrote.)
 */
#include "filter/writer.h"

#include "chance.h"
#include "filter/internal.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>

/* Without false positives to speak of. A stage of 64 pages (programs.mk) is full with about 15,000
 * keys. */
static const struct filter_plan staged = {.rate = 1e-12, .capacity = 50000, .staged = true};

static struct writer *in_file(void)
{
    return sample_file(scratch_path("s.bf"), &staged);
}

static struct writer *again(struct writer *writer, bool write)
{
    sample_close(writer);
    return sample_open(scratch_path("s.bf"), write);
}

static uint64_t *word(struct writer *writer, unsigned at)
{
    return (uint64_t *)(void *)(sample_filter(writer)->metadata + layer_state_at(0) + at);
}

static struct key *table_of(struct writer *writer)
{
    return sample_filter(writer)->layers[0].stage.table;
}

/* --- keys --- */

/* Several stages full, in a filter that grows, too: always all are in, counted, and no others. */
static void nothing_is_lost(void)
{
    struct writer *writer = in_file();
    if (writer == NULL)
        return;
    for (uint64_t to = 5000; to <= 200000; to += 5000) {
        tap_check(sample_take(writer, to - 5000, to, SETTLED) == 5000,
                  "keys before %" PRIu64 " are not new", to);
        tap_check(filter_keys(sample_filter(writer)) == to,
                  "%" PRIu64 " of %" PRIu64 " are counted", filter_keys(sample_filter(writer)), to);
        uint64_t from = to > 25000 ? to - 25000 : 0;
        tap_check(sample_count(writer, from, to) == to - from, "a key before %" PRIu64 " is not in",
                  to);
    }
    tap_check(sample_count(writer, 200000, 300000) == 0, "others are in");
    tap_check(*word(writer, LAYER_ERA) >= 5, "era %" PRIu64, *word(writer, LAYER_ERA));
    writer = again(writer, true);
    tap_check(sample_take(writer, 0, 200000, SETTLED) == 0, "some came out again");
    sample_close(writer);
}

/* Keys for one place, as lines may be chosen: they are in, and empty nothing. Nor does a key whose
 * first word is 0, or one that was torn by a kill, do harm. */
static void odd_keys(void)
{
    enum { KEYS = 2000 };
    struct key keys[KEYS];
    struct writer *writer = in_file();
    if (writer == NULL)
        return;
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = (struct key){sample_key(i).lo | 1, UINT64_MAX - i};
    sample_add(writer, keys, KEYS);
    tap_check(*word(writer, LAYER_ERA) == 1, "it was emptied for chosen lines");
    struct key no_low = {0, 0}, torn = {7, 9};
    tap_check(!sample_has(writer, no_low), "a key of zeros is in");
    sample_add(writer, &no_low, 1);
    table_of(writer)[0].hi = 12345;
    tap_check(!sample_has(writer, torn), "a torn key is in");
    sample_add(writer, &torn, 1);
    tap_check(table_of(writer)[0].lo == 7, "the place of a torn key is not empty");
    for (unsigned round = 0; round < 2; round++) {
        size_t in = 0;
        for (size_t i = 0; i < KEYS; i++)
            in += sample_has(writer, keys[i]);
        tap_check(in == KEYS && sample_has(writer, no_low) && sample_has(writer, torn),
                  "%zu are in", in);
        writer = again(writer, true);
    }
    sample_close(writer);
}

/* What is read of parts of a layer is each key once, wherever the parts end. */
static void read_in_parts(void)
{
    struct chance chance = {40};
    struct writer *writer = in_file();
    if (writer == NULL)
        return;
    sample_take(writer, 0, 10000, SETTLED);
    const struct filter *filter = sample_filter(writer);
    uint64_t pages = filter_plan(filter, 0).pages, most = pages;
    for (unsigned round = 0; round < 50; round++, most = 1 + chance_below(&chance, pages)) {
        uint64_t all = 0, end;
        for (uint64_t from = 0; from < pages; from = end) {
            struct key keys[STAGE_PIECE];
            struct fault fault;
            uint64_t step = 1 + chance_below(&chance, most);
            end = step < pages - from ? from + step : pages;
            struct stage_reader reader = filter_stage_reader(filter, 0, from, end);
            for (ptrdiff_t n; (n = filter_read_stage(&reader, keys, &fault)) > 0;
                 all += (uint64_t)n)
                for (ptrdiff_t i = 0; i < n; i++) {
                    uint64_t page = geometry_page(keys[i], pages);
                    tap_check(page >= from && page < end && sample_has(writer, keys[i]),
                              "a wrong key");
                }
        }
        tap_check(all == 10000, "%" PRIu64 " keys in parts of %" PRIu64 " pages", all, most);
    }
    sample_close(writer);
}

/* --- killed --- */

/* As a writer killed in each step of emptying leaves it: the layer has `set` of the 8000 keys, and
 * `cleared` of the stage's 64 pages are zeros. */
static void killed_at(uint64_t set, bool era, size_t cleared)
{
    struct writer *writer = in_file();
    if (writer == NULL)
        return;
    tap_check(sample_take(writer, 0, 8000, SETTLED) == 8000, "not new");
    *word(writer, LAYER_EMPTYING) = *word(writer, LAYER_HAS_BITS) = 1;
    for (uint64_t i = 0; i < set; i++) {
        struct key key = sample_key(i);
        kernel_best()->set(filter_bits(sample_filter(writer), 0), &key, 1);
    }
    *word(writer, LAYER_ERA) += era;
    memset(table_of(writer), 0, cleared * PAGE_BYTES);
    writer = again(writer, false);
    tap_check(filter_is_half_emptied(sample_filter(writer), 0), "nobody says it");
    tap_check(sample_count(writer, 0, 8000) == 8000, "keys are not in for a reader");
    writer = again(writer, true);
    tap_check(sample_take(writer, 0, 8000, SETTLED) == 0, "keys come out again");
    tap_check(sample_take(writer, 8000, 30000, SETTLED) == 22000, "not new");
    tap_check(!filter_is_half_emptied(sample_filter(writer), 0), "nobody went on");
    tap_check(sample_count(writer, 0, 30000) == 30000, "keys are gone");
    tap_check(filter_keys(sample_filter(writer)) == 30000, "some are counted twice");
    sample_close(writer);
}

static void killed_while_emptying(void)
{
    killed_at(0, false, 0);
    killed_at(3000, false, 0);
    killed_at(8000, false, 0);
    killed_at(8000, true, 0);
    killed_at(8000, true, 7);
    killed_at(8000, true, 64);
}

int main(void)
{
    scratch_make();
    tap_run_long("nothing is lost, while it is emptied many times and the filter grows",
                 nothing_is_lost);
    tap_run("keys for one place, with no first word, torn", odd_keys);
    tap_run("read in parts of its layer", read_in_parts);
    tap_run("killed while it is emptied", killed_while_emptying);
    tap_run("nothing that was closed stays mapped", sample_nothing_is_mapped);
    return tap_end();
}
