/*
 * Stages: that no key is lost or wrongly found while keys gather in one, go on to its
 * layer, and writers are killed on the way; several writers; states that nobody wrote.
 */
#include "core/kernel.h"
#include "delivery/filter.h"

#include "chance.h"
#include "sample.h"
#include "scratch.h"
#include "store/probe.h"
#include "store/stage.h"
#include "tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without false positives to speak of; a stage of 64 pages (Makefile), some 11000 keys. */
static struct filter_plan staged(uint64_t keys)
{
    return (struct filter_plan){
        .rate = 1e-12,
        .capacity = keys,
        .staged = true,
    };
}

static struct filter *in_file(const struct filter_plan *plan)
{
    return sample_file(scratch_path("s.bf"), plan);
}

/* Judges keys from..to in batches and settles the new ones. Returns how many were new. */
static uint64_t take(struct filter *filter, uint64_t from, uint64_t to)
{
    enum { MOST = 700 };
    struct fault fault;
    struct key keys[MOST];
    uint8_t seen[MOST];
    uint64_t all = 0;
    while (from < to) {
        size_t n = to - from < MOST ? (size_t)(to - from) : MOST;
        for (size_t i = 0; i < n; i++)
            keys[i] = sample_key(from + i);
        ptrdiff_t judged = filter_claim(filter, keys, n, UINT64_MAX, seen, &fault);
        if (judged < 0) {
            sample_fault("claim", &fault);
            return all;
        }
        size_t new = 0;
        for (ptrdiff_t i = 0; i < judged; i++)
            new += !seen[i];
        if (filter_settle(filter, new, &fault) != 0)
            sample_fault("settle", &fault);
        from += (uint64_t)judged;
        all += new;
    }
    return all;
}

static uint64_t count_in(struct filter *filter, uint64_t from, uint64_t to)
{
    struct fault fault;
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++) {
        struct key key = sample_key(i);
        uint8_t seen = 2;
        if (probe(filter_store(filter), &key, 1, &seen, &fault) != 0)
            sample_fault("probe", &fault);
        count += seen == 1;
    }
    return count;
}

/* Changes the file as another process may have left it. */
static void poke64(uint64_t at, uint64_t value)
{
    uint8_t bytes[8];
    int fd = open(scratch_path("s.bf"), O_WRONLY);
    store64(bytes, value);
    tap_check(fd >= 0 && pwrite(fd, bytes, 8, (off_t)at) == 8, "poke");
    close(fd);
}

/* --- keys --- */

/* Many stages full, in a filter that has to grow, too: always all of them are in, and no others. */
static void nothing_is_lost(void)
{
    struct filter_plan plan = staged(50000);
    struct filter *filter = in_file(&plan);
    uint64_t emptied = 0, before = 0;
    if (filter == NULL)
        return;
    for (uint64_t to = 5000; to <= 200000; to += 5000) {
        tap_check(take(filter, to - 5000, to) == 5000, "keys before %" PRIu64 " are not new", to);
        uint64_t staged_now = store_region_keys(filter_store(filter),
                                                store_regions(filter_store(filter)) - 2);
        emptied += staged_now < before;
        before = staged_now;
        tap_check(store_keys(filter_store(filter)) == to, "%" PRIu64 " of %" PRIu64 " are counted",
                  store_keys(filter_store(filter)), to);
        uint64_t from = to > 15000 ? to - 15000 : 0;
        tap_check(count_in(filter, from, to) == to - from, "a key before %" PRIu64 " is not in",
                  to);
    }
    tap_check(count_in(filter, 0, 200000) == 200000, "keys are not in");
    tap_check(count_in(filter, 200000, 300000) == 0, "others are in");
    tap_check(take(filter, 0, 200000) == 0, "some came out again");
    tap_check(emptied >= 10, "emptied %" PRIu64 " times", emptied);
    tap_check(store_regions(filter_store(filter)) >= 4, "%u layers",
              store_regions(filter_store(filter)));
    filter_close(filter);
}

/* The rate is p, with the stage as full as it gets. */
static void the_rate_is_true(void)
{
    struct filter_plan plan = {.rate = 0.01, .capacity = 300000, .fixed = true, .staged = true};
    struct filter *filter = in_file(&plan);
    const uint64_t queries = 2000000;
    if (filter == NULL)
        return;
    /* Up to its capacity, the stage not yet emptied for the last time. */
    uint64_t to = 0;
    while (store_keys(filter_store(filter)) < 300000 - 5 ||
           store_region_keys(filter_store(filter), 0) == 0) {
        take(filter, to, to + 1000);
        to += 1000;
        if (!tap_check(to < 400000, "it does not fill"))
            break;
    }
    uint64_t wrong = count_in(filter, 1000000, 1000000 + queries);
    double expected = plan.rate * (double)queries;
    tap_check((double)wrong < expected + 6 * sqrt(expected), "%" PRIu64 " of %" PRIu64, wrong,
              queries);
    filter_close(filter);
}

/* A key is judged by all before it, wherever a batch ends or a stage is emptied: with many false
 * positives the verdicts are the same for any batches. */
static void any_batches(void)
{
    enum { KEYS = 60000, MOST = 2000 };
    struct filter_plan plan = {.rate = 0.3, .capacity = 40000, .staged = true};
    uint8_t *first = calloc(1, KEYS);
    struct chance chance = {40};
    struct key keys[MOST];
    uint8_t seen[MOST];
    struct fault fault;
    for (unsigned round = 0; round < 8; round++) {
        struct filter *filter = in_file(&plan);
        uint64_t wrong = 0;
        if (filter == NULL || first == NULL)
            break;
        for (uint64_t at = 0; at < KEYS;) {
            size_t n = round == 0 ? 1 : 1 + (size_t)chance_below(&chance, MOST);
            if (n > KEYS - at)
                n = (size_t)(KEYS - at);
            for (size_t i = 0; i < n; i++)
                keys[i] = sample_key((at + i) % 45000);
            ptrdiff_t judged = filter_claim(filter, keys, n, UINT64_MAX, seen, &fault);
            size_t new = 0;
            if (!tap_check(judged > 0, "claim"))
                break;
            for (size_t i = 0; i < (size_t)judged; i++, at++) {
                if (round == 0)
                    first[at] = seen[i];
                wrong += first[at] != seen[i];
                new += !seen[i];
            }
            if (filter_settle(filter, new, &fault) != 0)
                sample_fault("settle", &fault);
        }
        tap_check(wrong == 0, "round %u: %" PRIu64 " verdicts differ", round, wrong);
        filter_close(filter);
    }
    free(first);
}

/* filter_add sets bits at once: its keys gather and go on just the same. */
static void added(void)
{
    enum { BATCH = 3000 };
    struct filter_plan plan = staged(100000);
    struct filter *filter = in_file(&plan);
    struct key keys[BATCH];
    uint8_t seen[BATCH];
    struct fault fault;
    uint64_t count;
    if (filter == NULL)
        return;
    for (uint64_t from = 0; from < 60000; from += BATCH) {
        /* Each batch has some keys twice, and some of the batch before. */
        for (size_t i = 0; i < BATCH; i++)
            keys[i] = sample_key(i < 100 && from > 0 ? from - 501 - i : from + i % 2500);
        if (filter_add(filter, keys, BATCH, seen, &count, &fault) != BATCH)
            sample_fault("add", &fault);
    }
    for (uint64_t from = 0; from < 60000; from += BATCH)
        tap_check(count_in(filter, from + 100, from + 2500) == 2400, "some of %" PRIu64 "...",
                  from);
    tap_check(store_keys(filter_store(filter)) == 60000 / BATCH * 2500, "%" PRIu64 " are counted",
              store_keys(filter_store(filter)));
    tap_check(store_region_keys(filter_store(filter), 1) > 0, "it was never emptied");
    filter_close(filter);
}

/* --- several writers --- */

/* Two writers, each with keys in flight while the other empties the stage. */
static void two_writers(void)
{
    enum { BATCH = 500 };
    struct filter_plan plan = staged(100000);
    struct filter *a, *b;
    struct fault fault;
    struct key keys[BATCH];
    uint8_t seen[BATCH];
    uint64_t delivered[400], rounds = 0;
    struct chance chance = {41};
    if (!sample_two(scratch_path("s.bf"), &plan, &a, &b))
        return;
    for (uint64_t next = 0; next < 90000; next += 3000) {
        struct filter *one = chance_below(&chance, 2) != 0 ? a : b;
        struct filter *other = one == a ? b : a;
        for (size_t i = 0; i < BATCH; i++)
            keys[i] = sample_key(next + i);
        ptrdiff_t n = filter_claim(one, keys, BATCH, UINT64_MAX, seen, &fault);
        tap_check(n > 0, "claim");
        tap_check(take(other, next, next + (uint64_t)n) == 0,
                  "what is in flight is new to another");
        tap_check(take(other, next + 500, next + 3000) == 2500, "keys are not new");
        tap_check(filter_settle(one, (size_t)n, &fault) == 0, "settle");
        delivered[rounds++] = next + (uint64_t)n;
        tap_check(count_in(other, next, next + (uint64_t)n) == (uint64_t)n,
                  "what was settled is not in");
    }
    for (uint64_t i = 0; i < rounds; i++)
        tap_check(count_in(a, i * 3000, delivered[i]) == delivered[i] - i * 3000 &&
                      count_in(b, i * 3000 + 500, i * 3000 + 3000) == 2500,
                  "keys of round %" PRIu64 " are gone", i);
    tap_check(store_region_keys(filter_store(a), 1) > 40000, "it was not emptied: %" PRIu64,
              store_region_keys(filter_store(a), 1));
    filter_close(a);
    filter_close(b);
}

/* --- killed --- */

/* As a writer killed in each step of emptying leaves it: what was settled is in, and the next one
 * that needs room does it again. `cleared`: how many pages of the stage are zeros already. */
static void killed_at(bool set, uint64_t cleared, bool counted)
{
    struct filter_plan plan = staged(50000);
    struct filter *filter = in_file(&plan);
    if (filter == NULL)
        return;
    tap_check(take(filter, 0, 8000) == 8000, "not new");
    struct bits stage = *store_bits(filter_store(filter), 0),
                layer = *store_bits(filter_store(filter), 1);
    tap_check(cleared <= stage.pages, "%" PRIu64 " pages", stage.pages);
    /* A layer that has a part of the keys, or all. */
    for (uint64_t i = 0; i < (set ? 8000 : 3000); i++) {
        struct key key = sample_key(i);
        kernel_best()->set(&layer, &key, 1);
    }
    memset(stage.bytes, 0, (size_t)(cleared * PAGE_BYTES));
    filter_close(filter);
    poke64(STAGE_EMPTYING_AT, 1);
    if (counted)
        poke64(staged_at(0), 0);

    filter = sample_open(scratch_path("s.bf"), false);
    if (filter == NULL)
        return;
    tap_check(stage_left(filter_store(filter)), "nobody says it");
    tap_check(count_in(filter, 0, 8000) == 8000, "keys are not in for a reader");
    filter_close(filter);
    filter = sample_open(scratch_path("s.bf"), true);
    if (filter == NULL)
        return;
    tap_check(take(filter, 0, 8000) == 0, "keys come out again");
    tap_check(stage_left(filter_store(filter)), "it was emptied for nothing");
    tap_check(take(filter, 8000, 8100) == 100, "not new");
    tap_check(!stage_left(filter_store(filter)), "nobody did it again");
    tap_check(store_region_keys(filter_store(filter), 0) == 100, "%" PRIu64 " keys in the stage",
              store_region_keys(filter_store(filter), 0));
    tap_check(count_in(filter, 0, 8100) == 8100, "keys are gone");
    filter_close(filter);
}

static void killed_while_emptying(void)
{
    killed_at(false, 0, false);
    killed_at(true, 0, false);
    killed_at(true, 7, false);
    killed_at(true, 12, false);
    killed_at(true, 12, true);
}

/* Killed between the journal and the bits: the next writer sets them. */
static void killed_before_the_bits(void)
{
    struct filter_plan plan = staged(50000);
    struct filter *filter = in_file(&plan);
    if (filter == NULL)
        return;
    tap_check(take(filter, 0, 700) == 700, "not new");
    uint8_t *copy = malloc((size_t)(store_bits(filter_store(filter), 0)->pages * PAGE_BYTES));
    struct bits stage = *store_bits(filter_store(filter), 0);
    if (copy == NULL)
        return;
    memcpy(copy, stage.bytes, (size_t)(stage.pages * PAGE_BYTES));
    tap_check(take(filter, 700, 1200) == 500, "not new");
    memcpy(stage.bytes, copy, (size_t)(stage.pages * PAGE_BYTES));
    tap_check(count_in(filter, 0, 1200) == 700, "the bits are there");
    filter_close(filter);
    free(copy);
    poke64(STAGE_SET_IN_AT, 0);
    poke64(STAGE_SETTING_AT, 701);
    filter = sample_open(scratch_path("s.bf"), true);
    if (filter == NULL)
        return;
    tap_check(count_in(filter, 0, 1200) == 1200, "the bits are not set again");
    tap_check(take(filter, 0, 1200) == 0 && store_keys(filter_store(filter)) == 1200,
              "keys come out again");
    filter_close(filter);
}

/* If even the mark is lost, the keys are not found, but come with the next emptying. */
static void killed_behind_the_journal(void)
{
    struct filter_plan plan = staged(50000);
    struct filter *filter = in_file(&plan);
    if (filter == NULL)
        return;
    tap_check(take(filter, 0, 8000) == 8000, "not new");
    struct bits stage = *store_bits(filter_store(filter), 0);
    memset(stage.bytes, 0, (size_t)(stage.pages * PAGE_BYTES));
    tap_check(count_in(filter, 0, 8000) == 0, "keys are in nowhere");
    take(filter, 10000, 16000);
    tap_check(store_region_keys(filter_store(filter), 1) >= 8000, "it was not emptied");
    tap_check(count_in(filter, 0, 8000) == 8000 && count_in(filter, 10000, 16000) == 6000,
              "keys are gone");
    filter_close(filter);
}

/* --- what nobody wrote --- */

/* Page 2 and journals are not believed: whatever they say, new keys are new, and are in once they
 * are settled. */
static void damaged_states(void)
{
    static const uint64_t values[] = {0, 1, 2, 3, 4, 48, 49, UINT32_MAX, UINT64_MAX, 8000, 11000};
    struct chance chance = {42};
    struct filter_plan plan = staged(20000);
    for (unsigned round = 0; round < 150; round++) {
        struct filter *filter = in_file(&plan);
        if (filter == NULL)
            return;
        take(filter, 0, 3000 + chance_below(&chance, 9000));
        uint64_t journal = store_header(filter_store(filter))->layers_at +
                           store_plan(filter_store(filter), 0).pages * PAGE_BYTES;
        filter_close(filter);
        poke64(STAGE_EMPTYING_AT, values[chance_below(&chance, 11)]);
        poke64(STAGE_EMPTIED_AT, values[chance_below(&chance, 11)]);
        poke64(STAGE_SETTING_AT, values[chance_below(&chance, 11)]);
        poke64(STAGE_SET_IN_AT, values[chance_below(&chance, 11)]);
        if (chance_below(&chance, 2) != 0)
            poke64(staged_at(0), values[chance_below(&chance, 11)]);
        for (unsigned i = 0; i < 50; i++)
            poke64(journal + 8 * chance_below(&chance, 20000), chance_next(&chance));
        filter = sample_open(scratch_path("s.bf"), true);
        if (filter == NULL)
            return;
        uint64_t new = take(filter, 100000, 115000);
        tap_check(new == 15000 && count_in(filter, 100000, 115000) == 15000,
                  "round %u: %" PRIu64 " new", round, new);
        filter_close(filter);
    }
}

/* A journal that cannot be written: the layer takes the keys at once. */
static void no_journal(void)
{
    struct filter_plan plan = staged(50000);
    struct filter *filter = in_file(&plan);
    if (filter == NULL)
        return;
    struct layer_plan layer;
    (void)growth_first(&plan, &layer), (void)growth_stage(&plan, &layer);
    uint64_t room = layer.stage.journal * (PAGE_BYTES / KEY_BYTES);
    tap_check(take(filter, 0, 1000) == 1000, "not new");
    filter_close(filter);
    /* It says that its journal is full, and it is, but for 100 keys. */
    poke64(staged_at(0), room - 100);
    filter = sample_open(scratch_path("s.bf"), true);
    if (filter == NULL)
        return;
    tap_check(take(filter, 2000, 6000) == 4000, "not new");
    tap_check(count_in(filter, 0, 1000) == 1000 && count_in(filter, 2000, 6000) == 4000,
              "keys are gone");
    filter_close(filter);
}

int main(void)
{
    scratch_make();
    tap_run_long("nothing is lost, while it is emptied many times and the filter grows",
                 nothing_is_lost);
    tap_run("the rate is true", the_rate_is_true);
    tap_run_long("any batches, the same verdicts", any_batches);
    tap_run("what is added gathers, too", added);
    tap_run("two writers", two_writers);
    tap_run("killed while it is emptied", killed_while_emptying);
    tap_run("killed before the bits are set", killed_before_the_bits);
    tap_run("killed between the journal and the bits", killed_behind_the_journal);
    tap_run_long("damaged states", damaged_states);
    tap_run("a journal without room", no_journal);
    return tap_end();
}
