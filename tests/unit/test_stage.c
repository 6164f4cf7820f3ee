/*
 * Stages: no key is lost or wrongly found while keys gather in one and go on to its layer; several
 * writers; writers killed on the way; states that nobody wrote.
 */
#include "filter/filter.h"

#include "chance.h"
#include "filter/internal.h"
#include "filter/probe.h"
#include "filter/stage.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>

/* Without false positives to speak of. A stage of 64 pages (Makefile) is full with some 15000. */
static const struct filter_plan staged = {.rate = 1e-12, .capacity = 50000, .staged = true};

static struct filter *in_file(void)
{
    return sample_file(scratch_path("s.bf"), &staged);
}

static struct filter *again(struct filter *filter, bool write)
{
    filter_close(filter);
    return sample_open(scratch_path("s.bf"), write);
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
        filter_keep(filter, new);
        if (filter_settle(filter, &fault) != 0)
            sample_fault("settle", &fault);
        from += (uint64_t)judged;
        all += new;
    }
    return all;
}

static bool is_in(struct filter *filter, struct key key)
{
    struct fault fault;
    uint8_t seen = 2;
    if (probe(filter_store(filter), &key, 1, &seen, &fault) != 0)
        sample_fault("probe", &fault);
    return seen == 1;
}

static uint64_t count_in(struct filter *filter, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++)
        count += is_in(filter, sample_key(i));
    return count;
}

static uint64_t *word(struct filter *filter, unsigned at)
{
    return (uint64_t *)(void *)(filter_store(filter)->fixed + layer_state_at(0) + at);
}

static struct key *table_of(struct filter *filter)
{
    return filter_store(filter)->layers[0].stage.table;
}

/* --- keys --- */

/* Several stages full, in a filter that grows, too: always all are in, counted, and no others. */
static void nothing_is_lost(void)
{
    struct filter *filter = in_file();
    if (filter == NULL)
        return;
    for (uint64_t to = 5000; to <= 200000; to += 5000) {
        tap_check(take(filter, to - 5000, to) == 5000, "keys before %" PRIu64 " are not new", to);
        tap_check(store_keys(filter_store(filter)) == to, "%" PRIu64 " of %" PRIu64 " are counted",
                  store_keys(filter_store(filter)), to);
        uint64_t from = to > 25000 ? to - 25000 : 0;
        tap_check(count_in(filter, from, to) == to - from, "a key before %" PRIu64 " is not in",
                  to);
    }
    tap_check(count_in(filter, 200000, 300000) == 0, "others are in");
    tap_check(*word(filter, LAYER_ERA) >= 5, "era %" PRIu64, *word(filter, LAYER_ERA));
    filter = again(filter, true);
    tap_check(take(filter, 0, 200000) == 0, "some came out again");
    filter_close(filter);
}

static void add(struct filter *filter, const struct key *keys, size_t n)
{
    static uint8_t seen[BATCH_KEYS];
    struct fault fault;
    uint64_t added;
    if (filter_add(filter, keys, n, seen, &added, &fault) != (ptrdiff_t)n)
        sample_fault("add", &fault);
}

/* Keys for one place, as lines may be chosen: they are in, and empty nothing. Nor does a key whose
 * first word is 0, or one that was torn by a kill, do harm. */
static void odd_keys(void)
{
    enum { KEYS = 2000 };
    struct key keys[KEYS];
    struct filter *filter = in_file();
    if (filter == NULL)
        return;
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = (struct key){sample_key(i).lo | 1, UINT64_MAX - i};
    add(filter, keys, KEYS);
    tap_check(*word(filter, LAYER_ERA) == 1, "it was emptied for chosen lines");
    struct key no_low = {0, 0}, torn = {7, 9};
    tap_check(!is_in(filter, no_low), "a key of zeros is in");
    add(filter, &no_low, 1);
    table_of(filter)[0].hi = 12345;
    tap_check(!is_in(filter, torn), "a torn key is in");
    add(filter, &torn, 1);
    tap_check(table_of(filter)[0].lo == 7, "the place of a torn key is not empty");
    for (unsigned round = 0; round < 2; round++) {
        size_t in = 0;
        for (size_t i = 0; i < KEYS; i++)
            in += is_in(filter, keys[i]);
        tap_check(in == KEYS && is_in(filter, no_low) && is_in(filter, torn), "%zu are in", in);
        filter = again(filter, true);
    }
    filter_close(filter);
}

/* What is read of parts of a layer is each key once, wherever the parts end. */
static void read_in_parts(void)
{
    struct chance chance = {40};
    struct filter *filter = in_file();
    if (filter == NULL)
        return;
    take(filter, 0, 10000);
    const struct store *store = filter_store(filter);
    uint64_t pages = store_plan(store, 0).pages, most = pages;
    for (unsigned round = 0; round < 50; round++, most = 1 + chance_below(&chance, pages)) {
        uint64_t all = 0, end;
        for (uint64_t from = 0; from < pages; from = end) {
            struct key keys[STAGE_PIECE];
            struct fault fault;
            uint64_t step = 1 + chance_below(&chance, most);
            end = step < pages - from ? from + step : pages;
            struct stage_reader reader = stage_begin(store, 0, from, end);
            for (ptrdiff_t n; (n = stage_read(&reader, keys, &fault)) > 0; all += (uint64_t)n)
                for (ptrdiff_t i = 0; i < n; i++) {
                    uint64_t page = geometry_page(keys[i], pages);
                    tap_check(page >= from && page < end && is_in(filter, keys[i]), "a wrong key");
                }
        }
        tap_check(all == 10000, "%" PRIu64 " keys in parts of %" PRIu64 " pages", all, most);
    }
    filter_close(filter);
}

/* --- several writers --- */

/* Two writers, each with keys in flight while the other empties the stage. */
static void two_writers(void)
{
    enum { BATCH = 500, STEP = 3000, KEYS = 90000 };
    struct filter *a, *b;
    struct fault fault;
    struct key keys[BATCH];
    uint8_t seen[BATCH];
    struct chance chance = {41};
    if (!sample_two(scratch_path("s.bf"), &staged, &a, &b))
        return;
    for (uint64_t next = 0; next < KEYS; next += STEP) {
        struct filter *one = chance_below(&chance, 2) != 0 ? a : b;
        struct filter *other = one == a ? b : a;
        for (size_t i = 0; i < BATCH; i++)
            keys[i] = sample_key(next + i);
        ptrdiff_t n = filter_claim(one, keys, BATCH, UINT64_MAX, seen, &fault);
        tap_check(n > 0, "claim");
        tap_check(take(other, next, next + (uint64_t)n) == 0,
                  "what is in flight is new to another");
        tap_check(take(other, next + (uint64_t)n, next + STEP) == STEP - (uint64_t)n, "not new");
        filter_keep(one, (uint64_t)n);
        tap_check(filter_settle(one, &fault) == 0, "settle");
        tap_check(count_in(other, next, next + STEP) == STEP, "what was settled is not in");
    }
    tap_check(count_in(a, 0, KEYS) == KEYS && count_in(b, 0, KEYS) == KEYS, "keys are gone");
    tap_check(*word(a, LAYER_ERA) > 1, "it was not emptied");
    filter_close(a);
    filter_close(b);
}

/* --- killed --- */

/* As a writer killed in each step of emptying leaves it: the layer has `set` of the 8000 keys, and
 * `cleared` of the stage's 64 pages are zeros. */
static void killed_at(uint64_t set, bool era, size_t cleared)
{
    struct filter *filter = in_file();
    if (filter == NULL)
        return;
    tap_check(take(filter, 0, 8000) == 8000, "not new");
    *word(filter, LAYER_EMPTYING) = *word(filter, LAYER_HAS_BITS) = 1;
    for (uint64_t i = 0; i < set; i++) {
        struct key key = sample_key(i);
        kernel_best()->set(store_bits(filter_store(filter), 0), &key, 1);
    }
    *word(filter, LAYER_ERA) += era;
    memset(table_of(filter), 0, cleared * PAGE_BYTES);
    filter = again(filter, false);
    tap_check(stage_is_left(filter_store(filter), 0), "nobody says it");
    tap_check(count_in(filter, 0, 8000) == 8000, "keys are not in for a reader");
    filter = again(filter, true);
    tap_check(take(filter, 0, 8000) == 0, "keys come out again");
    tap_check(take(filter, 8000, 30000) == 22000, "not new");
    tap_check(!stage_is_left(filter_store(filter), 0), "nobody went on");
    tap_check(count_in(filter, 0, 30000) == 30000, "keys are gone");
    tap_check(store_keys(filter_store(filter)) == 30000, "some are counted twice");
    filter_close(filter);
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

/* --- what nobody wrote --- */

/* Page 2 and tables are not believed: whatever they say, new keys are new, and are in once they are
 * settled. */
static void damaged_states(void)
{
    static const uint64_t values[] = {0, 1, 2, 3, 48, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX, 8000};
    static const unsigned words[] = {LAYER_KEYS, LAYER_ERA, LAYER_HAS_BITS, LAYER_EMPTYING};
    struct chance chance = {42};
    for (unsigned round = 0; round < 100; round++) {
        struct filter *filter = in_file();
        if (filter == NULL)
            return;
        take(filter, 0, 3000 + chance_below(&chance, 9000));
        for (unsigned i = 0; i < 4; i++)
            if (chance_below(&chance, 2) != 0)
                *word(filter, words[i]) = values[chance_below(&chance, 9)];
        for (unsigned i = 0; i < 5000; i++)
            table_of(filter)[chance_below(&chance, 16384)] = (struct key){chance_next(&chance),
                                                                          chance_next(&chance)};
        filter = again(filter, true);
        uint64_t new = take(filter, 100000, 120000);
        tap_check(new == 20000 && count_in(filter, 100000, 120000) == 20000,
                  "round %u: %" PRIu64 " new", round, new);
        filter_close(filter);
    }
}

int main(void)
{
    scratch_make();
    tap_run_long("nothing is lost, while it is emptied many times and the filter grows",
                 nothing_is_lost);
    tap_run("keys for one place, with no first word, torn", odd_keys);
    tap_run("read in parts of its layer", read_in_parts);
    tap_run("two writers", two_writers);
    tap_run("killed while it is emptied", killed_while_emptying);
    tap_run_long("damaged states", damaged_states);
    return tap_end();
}
