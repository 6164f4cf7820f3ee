/*
 * Windows: what is remembered and what is forgotten, by count and by time, in memory and in files;
 * several writers, and writers that stood still. (test_damage has damaged states.)
 */
#include "chance.h"
#include "clock.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <inttypes.h>

/* --- filters --- */

static struct writer *in_file(const struct filter_plan *plan)
{
    return sample_file(scratch_path("w.bf"), plan);
}

/* Without false positives to speak of. */
static struct filter_plan by_count(uint64_t lines)
{
    return (struct filter_plan){.rate = 1e-12, .capacity = lines, .window = true};
}

static struct filter_plan by_time(uint64_t lines, uint64_t forget)
{
    return (struct filter_plan){1e-12, lines, .window = true, .forget = forget};
}

/* Whether the key was new. */
static bool take(struct writer *writer, uint64_t i)
{
    return sample_take(writer, i, i + 1, SETTLED) == 1;
}

static void take_all(struct writer *writer, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        tap_check(take(writer, i), "key %" PRIu64 " is not new", i);
}

/* All layers at their capacity: the rate is p still. */
static void sizes(void)
{
    static const double rates[] = {0.5, 0.1, 1e-2, 1e-6, 1e-12};
    static const uint64_t lines[] = {100, 10000, 1000000, 30000000};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 4; j++) {
            struct filter_plan plan = by_count(lines[j]);
            struct layer_plan layer;
            plan.rate = rates[i];
            if (!tap_check(growth_first(&plan, &layer) == 0, "p = %g", rates[i]))
                continue;
            double rate = sizing_rate(layer.geometry, layer.pages, (double)layer.capacity);
            double part = rates[i] / (GENERATIONS + 1);
            tap_check(layer.capacity == (lines[j] + 3) / 4 && rate <= part * 1.05,
                      "p = %g, %" PRIu64 " lines: %g of %g", rates[i], lines[j], rate, part);
            tap_check(lines[j] < 1000000 || rate > part / 2, "p = %g: %g of %g", rates[i], rate,
                      part);
        }
}

/* --- by count --- */

/* What is not delivered takes no room, and does not end a generation. */
static void undelivered(void)
{
    struct filter_plan plan = by_count(40);
    struct writer *writer = in_file(&plan);
    struct fault fault;
    struct key keys[8];
    uint8_t seen[8];
    if (writer == NULL)
        return;
    for (uint64_t i = 0; i < 2000; i += 8) {
        for (uint64_t j = 0; j < 8; j++)
            keys[j] = sample_key(i + j);
        tap_check(writer_claim(writer, keys, 8, UINT64_MAX, seen, &fault) == 8, "claim");
        tap_check(sample_settle(writer, 0, &fault) == 0, "settle");
    }
    take_all(writer, 5000, 5050);
    tap_check(sample_count(writer, 5000, 5050) == 50, "they have pushed others out");
    sample_close(writer);
}

/* Two writers fill the same generation: it may be carried further, and never ends early. */
static void two_writers(void)
{
    struct filter_plan plan = by_count(400);
    struct writer *a, *b;
    struct fault fault;
    struct chance chance = {71};
    struct key keys[16];
    uint8_t seen[16];
    if (!sample_two(scratch_path("w.bf"), &plan, &a, &b))
        return;
    uint64_t settled[4000], count = 0, next = 0;
    while (count < 3000) {
        struct writer *one = chance_below(&chance, 2) != 0 ? a : b;
        struct writer *other = one == a ? b : a;
        /* One claims, the other settles some in between, or dies with its own in flight. */
        for (size_t i = 0; i < 8; i++)
            keys[i] = sample_key(next + i);
        ptrdiff_t n = writer_claim(one, keys, 8, UINT64_MAX, seen, &fault);
        tap_check(n >= 0, "claim");
        uint64_t between = chance_below(&chance, 30);
        for (uint64_t i = 0; i < between; i++) {
            take(other, next + 100 + i);
            settled[count++] = next + 100 + i;
        }
        size_t delivered = chance_below(&chance, 3) != 0 ? (size_t)n : 0;
        for (size_t i = 0; i < delivered; i++)
            settled[count++] = next + i;
        tap_check(sample_settle(one, delivered, &fault) == 0, "settle");
        next += 1000;
        for (uint64_t i = count > 400 ? count - 400 : 0; i < count; i++)
            tap_check(sample_has(a, sample_key(settled[i])), "one of the last 400 is forgotten");
    }
    for (unsigned i = 0; i < filter_layers(sample_filter(a)); i++)
        tap_check(filter_layer_keys(sample_filter(a), i) <= 100 + 8, "layer %u: %" PRIu64 " keys",
                  i, filter_layer_keys(sample_filter(a), i));
    sample_close(a);
    sample_close(b);
}

/* A writer that stood still while others went through the whole window several times. */
static void stood_still(void)
{
    struct filter_plan plan = by_count(100);
    struct writer *a, *b;
    struct fault fault;
    struct key keys[8];
    uint8_t seen[8];
    if (!sample_two(scratch_path("w.bf"), &plan, &a, &b))
        return;
    for (uint64_t i = 0; i < 8; i++)
        keys[i] = sample_key(i);
    tap_check(writer_claim(a, keys, 8, UINT64_MAX, seen, &fault) == 8, "claim");
    take_all(b, 100, 1100);
    tap_check(!take(b, 3), "what is in flight is new to another writer");
    tap_check(sample_settle(a, 8, &fault) == 0, "settle");
    tap_check(sample_count(b, 0, 8) == 8, "what was settled late is not in");
    take_all(b, 2000, 2000 + 92);
    tap_check(sample_count(b, 0, 8) == 8, "it is forgotten as if it were old");
    take_all(a, 3000, 3000 + 33);
    tap_check(sample_count(b, 0, 8) == 0, "it is not forgotten");
    sample_close(a);
    sample_close(b);
}

/* --- by time --- */

/* Real time goes on; the clock may be behind it. Lines are remembered for T of real time at least,
 * and if the clock is right, for 1.25 T at most. */
struct passing {
    uint64_t real, behind, since;
    uint64_t forget, period;
};

static void set_clock(const struct passing *passing)
{
    clock_milliseconds = NOON + passing->real - passing->behind;
}

/* times[i]: when key i came, or UINT64_MAX: not at all. */
static void check_ages(struct writer *writer, const struct passing *passing, const uint64_t *times,
                       uint64_t count, struct chance *chance, bool at_most)
{
    for (unsigned j = 0; j < 20; j++) {
        uint64_t i = count - 1 - chance_below(chance, count < 1500 ? count : 1500);
        uint64_t age = passing->real - times[i];
        bool in = sample_has(writer, sample_key(i));
        if (age < passing->forget)
            tap_check(in, "forgotten after %" PRIu64 " ms of %" PRIu64, age, passing->forget);
        if (at_most && age > passing->forget + passing->period)
            tap_check(!in, "remembered after %" PRIu64 " ms of %" PRIu64, age, passing->forget);
    }
}

/* A key every second or so, with pauses and with bursts that bring more than was planned. */
static void time_passes(struct writer *writer, const struct filter_plan *plan, bool jumps)
{
    enum { KEYS = 12000 };
    static uint64_t times[KEYS];
    struct chance chance = {81};
    struct passing passing = {.forget = plan->forget, .period = growth_generation(plan->forget)};
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t kind = chance_below(&chance, 1000);
        if (kind == 0 && passing.behind == 0)
            passing.real += chance_below(&chance, 3 * plan->forget);
        else if (i / 500 % 8 != 0)
            passing.real += chance_below(&chance, 2 * SECOND);
        /* Set back, often while it is so already, and right again before it has caught up. */
        if (jumps && kind % 250 == 1 && passing.behind == 0)
            passing.since = passing.real;
        if (jumps && kind % 250 == 1)
            passing.behind += plan->forget / 10 + chance_below(&chance, 3 * plan->forget);
        if (kind % 100 == 2 || passing.real - passing.since > passing.behind / 2)
            passing.behind = 0;
        set_clock(&passing);
        times[i] = passing.real;
        tap_check(take(writer, i), "a new key is not new");
        if (i % 10 == 0)
            check_ages(writer, &passing, times, i + 1, &chance, !jumps);
    }
    passing.behind = 0;
    passing.real += 10 * plan->forget;
    set_clock(&passing);
    tap_check(sample_count(writer, 0, KEYS) == 0, "after ten times as long, %" PRIu64 " are in",
              sample_count(writer, 0, KEYS));
    clock_milliseconds = NOON;
}

static void times(void)
{
    for (unsigned round = 0; round < 8; round++) {
        struct filter_plan plan = by_time(round & 1 ? 100 : 2000, 100 * SECOND);
        struct writer *writer = round & 2 ? in_file(&plan) : sample_memory(&plan);
        if (writer == NULL)
            return;
        time_passes(writer, &plan, (round & 4) != 0);
        unsigned layers = filter_layers(sample_filter(writer));
        tap_check(layers < 15 && (layers > 5 || !(round & 1)), "%u layers", layers);
        sample_close(writer);
    }
}

/* Under the same load for ever, it does not grow for ever, and the rates add up to p at most. */
static void steady_load(void)
{
    for (unsigned load = 1; load <= 8; load *= 2) {
        struct filter_plan plan = by_time(16000, 100 * SECOND);
        struct writer *writer = sample_memory(&plan);
        if (writer == NULL)
            return;
        unsigned half = 0;
        uint64_t next = 0, pages = 0;
        for (unsigned step = 0; step < 1200; step++) {
            clock_milliseconds += SECOND;
            sample_take(writer, next, next + 150 * (uint64_t)load, SETTLED);
            next += 150 * (uint64_t)load;
            if (step == 600)
                half = filter_layers(sample_filter(writer));
        }
        double rates = 0;
        for (unsigned i = 0; i < filter_layers(sample_filter(writer)); i++) {
            rates += filter_plan(sample_filter(writer), i).rate;
            pages += filter_plan(sample_filter(writer), i).pages;
        }
        uint64_t least = 5 * sizing_pages(filter_plan(sample_filter(writer), 0).geometry,
                                          150 * 25 * load, 2e-13);
        tap_check(filter_layers(sample_filter(writer)) == half, "load %u: %u layers, then %u", load,
                  half, filter_layers(sample_filter(writer)));
        tap_check(load > 1 || half == 5, "as planned, and yet %u layers", half);
        tap_check(pages < 3 * least, "load %u: %" PRIu64 " pages, and %" PRIu64 " would do", load,
                  pages, least);
        tap_check(rates <= plan.rate * (1 + 1e-9), "rates add up to %g", rates);
        sample_close(writer);
    }
    clock_milliseconds = NOON;
}

/* A reader forgets by itself, though no writer comes; and a writer that delivers after its
 * generation has ended remembers from then on. */
static void nobody_writes(void)
{
    struct filter_plan plan = by_time(1000, 100 * SECOND);
    struct writer *writer = in_file(&plan);
    struct writer *reader = writer != NULL ? sample_open(filter_path(sample_filter(writer)), false)
                                           : NULL;
    struct fault fault;
    struct key key = sample_key(7);
    uint8_t seen;
    if (reader == NULL)
        return;
    take_all(writer, 0, 5);
    clock_milliseconds += 100 * SECOND - 1;
    tap_check(sample_count(reader, 0, 5) == 5, "forgotten too early");
    clock_milliseconds += 1;
    tap_check(sample_count(reader, 0, 5) == 0, "not forgotten");
    tap_check(writer_claim(writer, &key, 1, UINT64_MAX, &seen, &fault) == 1 && !seen, "claim");
    clock_milliseconds += 1000 * SECOND;
    tap_check(sample_settle(writer, 1, &fault) == 0, "settle");
    clock_milliseconds += 99 * SECOND;
    tap_check(sample_has(reader, sample_key(7)), "what was delivered late is forgotten");
    clock_milliseconds += 26 * SECOND;
    tap_check(!sample_has(reader, sample_key(7)), "what was delivered late is not forgotten");
    sample_close(reader);
    sample_close(writer);
    clock_milliseconds = NOON;
}

int main(void)
{
    scratch_make();
    tap_run("layers are large enough for their keys", sizes);
    tap_run("what is not delivered ends no generation", undelivered);
    tap_run("two writers: the last N are in", two_writers);
    tap_run("a writer that stood still", stood_still);
    tap_run_long("by time, in memory and in a file: not before T, not after 1.25 T", times);
    tap_run_long("by time: a steady load", steady_load);
    tap_run("by time: readers, and late deliveries", nobody_writes);
    return tap_end();
}
