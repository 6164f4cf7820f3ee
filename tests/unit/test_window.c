/*
 * Windows: what is remembered and what is forgotten, by count and by time, in memory and in files;
 * several writers, writers that stood still or were killed, and damaged states.
 *
 * The program's clock is this file's own, see clock_gettime below.
 */
#include "filter/filter.h"

#include "chance.h"
#include "filter/generation.h"
#include "filter/probe.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- the clock --- */

enum { SECOND = 1000 };
#define NOON UINT64_C(1800000000000)

static uint64_t clock_milliseconds = NOON;

/* In place of libc's, whose header has its own names for these. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int clock_gettime(clockid_t id, struct timespec *time)
{
    if (id != CLOCK_REALTIME)
        return (int)syscall(SYS_clock_gettime, id, time);
    time->tv_sec = (time_t)(clock_milliseconds / SECOND);
    time->tv_nsec = (long)(clock_milliseconds % SECOND) * 1000000;
    return 0;
}

/* --- filters --- */

static struct filter *in_file(const struct filter_plan *plan)
{
    return sample_file(scratch_path("w.bf"), plan);
}

/* Without false positives to speak of. */
static struct filter_plan by_count(uint64_t lines)
{
    return (struct filter_plan){
        .rate = 1e-12,
        .capacity = lines,
        .window = true,
    };
}

static struct filter_plan by_time(uint64_t lines, uint64_t forget)
{
    return (struct filter_plan){
        .rate = 1e-12,
        .capacity = lines,
        .window = true,
        .forget = forget,
    };
}

/* Claims the key, and settles it if it is new. Returns whether it was. */
static bool take(struct filter *filter, uint64_t i)
{
    struct fault fault;
    struct key key = sample_key(i);
    uint8_t seen = 2;
    if (filter_claim(filter, &key, 1, UINT64_MAX, &seen, &fault) != 1)
        sample_fault("claim", &fault);
    else if (!seen && sample_settle(filter, 1, &fault) != 0)
        sample_fault("settle", &fault);
    return seen == 0;
}

static bool is_in(struct filter *filter, uint64_t i)
{
    struct fault fault;
    struct key key = sample_key(i);
    uint8_t seen = 2;
    if (probe(filter_store(filter), &key, 1, &seen, &fault) != 0)
        sample_fault("probe", &fault);
    return seen == 1;
}

static uint64_t count_in(struct filter *filter, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++)
        count += is_in(filter, i);
    return count;
}

static void take_all(struct filter *filter, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        tap_check(take(filter, i), "key %" PRIu64 " is not new", i);
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
    struct filter *filter = in_file(&plan);
    struct fault fault;
    struct key keys[8];
    uint8_t seen[8];
    if (filter == NULL)
        return;
    for (uint64_t i = 0; i < 2000; i += 8) {
        for (uint64_t j = 0; j < 8; j++)
            keys[j] = sample_key(i + j);
        tap_check(filter_claim(filter, keys, 8, UINT64_MAX, seen, &fault) == 8, "claim");
        tap_check(sample_settle(filter, 0, &fault) == 0, "settle");
    }
    take_all(filter, 5000, 5050);
    tap_check(count_in(filter, 5000, 5050) == 50, "they have pushed others out");
    filter_close(filter);
}

/* Two writers fill the same generation: it may be carried further, and never ends early. */
static void two_writers(void)
{
    struct filter_plan plan = by_count(400);
    struct filter *a, *b;
    struct fault fault;
    struct chance chance = {71};
    struct key keys[16];
    uint8_t seen[16];
    if (!sample_two(scratch_path("w.bf"), &plan, &a, &b))
        return;
    uint64_t settled[4000], count = 0, next = 0;
    while (count < 3000) {
        struct filter *one = chance_below(&chance, 2) != 0 ? a : b;
        struct filter *other = one == a ? b : a;
        /* One claims, the other settles some in between, or dies with its own in flight. */
        for (size_t i = 0; i < 8; i++)
            keys[i] = sample_key(next + i);
        ptrdiff_t n = filter_claim(one, keys, 8, UINT64_MAX, seen, &fault);
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
            tap_check(is_in(a, settled[i]), "one of the last 400 is forgotten");
    }
    for (unsigned i = 0; i < store_layers(filter_store(a)); i++)
        tap_check(store_layer_keys(filter_store(a), i) <= 100 + 8, "layer %u: %" PRIu64 " keys", i,
                  store_layer_keys(filter_store(a), i));
    filter_close(a);
    filter_close(b);
}

/* A writer that stood still while others went through the whole window several times. */
static void stood_still(void)
{
    struct filter_plan plan = by_count(100);
    struct filter *a, *b;
    struct fault fault;
    struct key keys[8];
    uint8_t seen[8];
    if (!sample_two(scratch_path("w.bf"), &plan, &a, &b))
        return;
    for (uint64_t i = 0; i < 8; i++)
        keys[i] = sample_key(i);
    tap_check(filter_claim(a, keys, 8, UINT64_MAX, seen, &fault) == 8, "claim");
    take_all(b, 100, 1100);
    tap_check(!take(b, 3), "what is in flight is new to another writer");
    tap_check(sample_settle(a, 8, &fault) == 0, "settle");
    tap_check(count_in(b, 0, 8) == 8, "what was settled late is not in");
    take_all(b, 2000, 2000 + 92);
    tap_check(count_in(b, 0, 8) == 8, "it is forgotten as if it were old");
    take_all(a, 3000, 3000 + 33);
    tap_check(count_in(b, 0, 8) == 0, "it is not forgotten");
    filter_close(a);
    filter_close(b);
}

/* Bytes of the file, as another process may leave them. */
static void poke64(const char *path, uint64_t at, uint64_t value)
{
    uint8_t bytes[8];
    int fd = open(path, O_WRONLY);
    store64(bytes, value);
    tap_check(fd >= 0 && pwrite(fd, bytes, 8, (off_t)at) == 8, "poke");
    close(fd);
}

static unsigned find_oldest(const struct filter *filter)
{
    unsigned oldest = 0;
    for (unsigned i = 0; i < store_layers(filter_store(filter)); i++)
        if (generation_of(filter_store(filter), i).number <
            generation_of(filter_store(filter), oldest).number)
            oldest = i;
    return oldest;
}

/* A writer was killed with a layer half emptied: the others are as they were, and the next one that
 * needs room empties it whole. */
static void killed_while_emptying(void)
{
    struct filter_plan plan = by_count(400);
    struct filter *filter = in_file(&plan);
    if (filter == NULL)
        return;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", store_path(filter_store(filter)));
    take_all(filter, 0, 500);
    unsigned oldest = find_oldest(filter);
    struct bits bits = *store_bits(filter_store(filter), oldest);
    memset(bits.bytes, 0, PAGE_BYTES);
    filter_close(filter);
    poke64(path, layer_state_at(oldest) + WINDOW_NUMBER, GENERATION_RETIRED);

    filter = sample_open(path, true);
    if (filter == NULL)
        return;
    tap_check(generation_of(filter_store(filter), oldest).retired, "not retired");
    tap_check(count_in(filter, 100, 500) == 400, "lines of other layers are gone");
    take_all(filter, 500, 501);
    struct generation generation = generation_of(filter_store(filter), oldest);
    tap_check(generation.filling && !generation.retired, "another layer was taken");
    tap_check(store_layer_keys(filter_store(filter), oldest) == 1, "%" PRIu64 " keys",
              store_layer_keys(filter_store(filter), oldest));
    uint64_t set = 0;
    const struct bits *now = store_bits(filter_store(filter), oldest);
    for (uint64_t bit = 0; bit < now->pages * PAGE_BITS; bit++)
        set += (uint64_t)bit_test(now->bytes, bit);
    tap_check(set > 0 && set <= geometry_hashes(now->geometry), "%" PRIu64 " bits are set", set);
    tap_check(count_in(filter, 101, 501) == 400, "one of the last 400 is gone");
    filter_close(filter);
}

/* Page 2 is under no checksum: whatever its states say, new keys are new and the window is right
 * again once it was gone through; or it is refused, and nothing is lost. */
static void damaged_states(void)
{
    struct chance chance = {77};
    struct filter_plan plan = by_count(40);
    unsigned refused = 0;
    static const uint64_t kinds[] = {GENERATION_FREE,        GENERATION_RETIRED, 1, 2, 3,
                                     GENERATION_RETIRED - 1, UINT64_C(1) << 63};
    for (unsigned round = 0; round < 300; round++) {
        struct filter *filter = in_file(&plan);
        struct fault fault;
        if (filter == NULL)
            return;
        const char *path = store_path(filter_store(filter));
        take_all(filter, 0, 57);
        for (unsigned i = 0; i < store_layers(filter_store(filter)); i++) {
            uint64_t kind = kinds[chance_below(&chance, sizeof kinds / sizeof *kinds)];
            uint64_t at = layer_state_at(i);
            poke64(path, at + WINDOW_NUMBER,
                   chance_below(&chance, 8) != 0 ? kind : chance_next(&chance));
            poke64(path, at + WINDOW_BEGAN, chance_next(&chance));
            poke64(path, at + WINDOW_LAST, chance_next(&chance));
            if (chance_below(&chance, 4) == 0)
                poke64(path, at + LAYER_KEYS, chance_below(&chance, 20));
        }
        struct key key = sample_key(1000);
        uint8_t seen;
        uint64_t next = 1000;
        for (; next < 1200; next++) {
            key = sample_key(next);
            ptrdiff_t judged = filter_claim(filter, &key, 1, UINT64_MAX, &seen, &fault);
            if (judged < 0)
                break;
            tap_check(judged == 1 && !seen, "round %u: key %" PRIu64 " is not new", round, next);
            tap_check(sample_settle(filter, 1, &fault) == 0, "settle");
        }
        refused += next < 1200;
        tap_check(next == 1200 || strstr(fault.reason, "number of a generation") != NULL, "%s",
                  fault.reason);
        if (next == 1200)
            tap_check(count_in(filter, 1160, 1200) == 40 && count_in(filter, 1000, 1140) == 0,
                      "round %u: it does not come right again", round);
        filter_close(filter);
    }
    tap_check(refused > 10 && refused < 290, "%u of 300 refused", refused);
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
static void check_ages(struct filter *filter, const struct passing *passing, const uint64_t *times,
                       uint64_t count, struct chance *chance, bool at_most)
{
    for (unsigned j = 0; j < 20; j++) {
        uint64_t i = count - 1 - chance_below(chance, count < 1500 ? count : 1500);
        uint64_t age = passing->real - times[i];
        bool in = is_in(filter, i);
        if (age < passing->forget)
            tap_check(in, "forgotten after %" PRIu64 " ms of %" PRIu64, age, passing->forget);
        if (at_most && age > passing->forget + passing->period)
            tap_check(!in, "remembered after %" PRIu64 " ms of %" PRIu64, age, passing->forget);
    }
}

/* A key every second or so, with pauses and with bursts that bring more than was planned. */
static void time_passes(struct filter *filter, const struct filter_plan *plan, bool jumps)
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
        tap_check(take(filter, i), "a new key is not new");
        if (i % 10 == 0)
            check_ages(filter, &passing, times, i + 1, &chance, !jumps);
    }
    passing.behind = 0;
    passing.real += 10 * plan->forget;
    set_clock(&passing);
    tap_check(count_in(filter, 0, KEYS) == 0, "after ten times as long, %" PRIu64 " are in",
              count_in(filter, 0, KEYS));
    clock_milliseconds = NOON;
}

static void by_time_with(struct filter *make(const struct filter_plan *plan))
{
    for (unsigned jumps = 0; jumps < 2; jumps++)
        for (unsigned i = 0; i < 2; i++) {
            struct filter_plan plan = by_time(i == 0 ? 2000 : 100, 100 * SECOND);
            struct filter *filter = make(&plan);
            if (filter == NULL)
                return;
            time_passes(filter, &plan, jumps);
            tap_check(i == 0 || store_layers(filter_store(filter)) > 5, "it was to grow");
            tap_check(store_layers(filter_store(filter)) < 15, "%u layers",
                      store_layers(filter_store(filter)));
            filter_close(filter);
        }
}

static void memory_by_time(void)
{
    by_time_with(sample_memory);
}

static void file_by_time(void)
{
    by_time_with(in_file);
}

/* Under the same load for ever, it does not grow for ever, and the rates add up to p at most. */
static void steady_load(void)
{
    for (unsigned load = 1; load <= 8; load *= 2) {
        struct filter_plan plan = by_time(16000, 100 * SECOND);
        struct filter *filter = sample_memory(&plan);
        if (filter == NULL)
            return;
        unsigned half = 0;
        uint64_t next = 0, pages = 0;
        for (unsigned step = 0; step < 1200; step++) {
            clock_milliseconds += SECOND;
            for (unsigned i = 0; i < 150 * load; i++)
                take(filter, next++);
            if (step == 600)
                half = store_layers(filter_store(filter));
        }
        double rates = 0;
        for (unsigned i = 0; i < store_layers(filter_store(filter)); i++) {
            rates += store_plan(filter_store(filter), i).rate;
            pages += store_plan(filter_store(filter), i).pages;
        }
        uint64_t least = 5 * sizing_pages(store_plan(filter_store(filter), 0).geometry,
                                          150 * 25 * load, 2e-13);
        tap_check(store_layers(filter_store(filter)) == half, "load %u: %u layers, then %u", load,
                  half, store_layers(filter_store(filter)));
        tap_check(load > 1 || half == 5, "as planned, and yet %u layers", half);
        tap_check(pages < 3 * least, "load %u: %" PRIu64 " pages, and %" PRIu64 " would do", load,
                  pages, least);
        tap_check(rates <= plan.rate * (1 + 1e-9), "rates add up to %g", rates);
        filter_close(filter);
    }
    clock_milliseconds = NOON;
}

/* A reader forgets by itself, though no writer comes; and a writer that delivers after its
 * generation has ended remembers from then on. */
static void nobody_writes(void)
{
    struct filter_plan plan = by_time(1000, 100 * SECOND);
    struct filter *filter = in_file(&plan);
    struct filter *reader = filter != NULL ? sample_open(store_path(filter_store(filter)), false)
                                           : NULL;
    struct fault fault;
    struct key key = sample_key(7);
    uint8_t seen;
    if (reader == NULL)
        return;
    take_all(filter, 0, 5);
    clock_milliseconds += 100 * SECOND - 1;
    tap_check(count_in(reader, 0, 5) == 5, "forgotten too early");
    clock_milliseconds += 1;
    tap_check(count_in(reader, 0, 5) == 0, "not forgotten");
    tap_check(filter_claim(filter, &key, 1, UINT64_MAX, &seen, &fault) == 1 && !seen, "claim");
    clock_milliseconds += 1000 * SECOND;
    tap_check(sample_settle(filter, 1, &fault) == 0, "settle");
    clock_milliseconds += 99 * SECOND;
    tap_check(is_in(reader, 7), "what was delivered late is forgotten");
    clock_milliseconds += 26 * SECOND;
    tap_check(!is_in(reader, 7), "what was delivered late is not forgotten");
    filter_close(reader);
    filter_close(filter);
    clock_milliseconds = NOON;
}

/* A repeat does not make a line younger. */
static void no_refresh(void)
{
    struct filter_plan plan = by_time(1000, 100 * SECOND);
    struct filter *filter = sample_memory(&plan);
    if (filter == NULL)
        return;
    unsigned printed = 0;
    for (unsigned i = 0; i < 1250; i++, clock_milliseconds += SECOND) {
        printed += take(filter, 1);
        take(filter, 1000 + i);
    }
    tap_check(printed >= 10 && printed <= 13, "printed %u times", printed);
    filter_close(filter);
    clock_milliseconds = NOON;
}

/* --- every bit --- */

/* A file's bytes. */
static struct {
    uint8_t bytes[256 * 1024];
    size_t length;
} whole;

static void read_whole(const char *path)
{
    int fd = open(path, O_RDONLY);
    ssize_t length = fd >= 0 ? read(fd, whole.bytes, sizeof whole.bytes) : -1;
    tap_check(length > 0 && (size_t)length < sizeof whole.bytes, "%s cannot be read", path);
    whole.length = length > 0 ? (size_t)length : 0;
    close(fd);
}

/* The same file, but for a bit. */
static void write_whole_but(const char *path, unsigned bit)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    whole.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    ssize_t length = write(fd, whole.bytes, whole.length);
    tap_check(length == (ssize_t)whole.length, "%s cannot be written", path);
    whole.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    close(fd);
}

/* Takes keys of one and a half times the window, as time passes. Each is new, and in as soon as it
 * came. */
static void go_on(struct filter *filter, unsigned bit)
{
    for (uint64_t i = 1000; i < 1060; i++) {
        clock_milliseconds += SECOND;
        if (!tap_check(take(filter, i) && is_in(filter, i), "bit %u of byte %u: key %" PRIu64,
                       bit % 8, bit / 8, i))
            return;
    }
}

/* From the state of a file in use, each bit of `from`..`to` is flipped in turn. What it leads to
 * has an end (a test that has none is ended from outside), and forgets no line that comes now. */
static void flip_bits(const char *copy, unsigned from, unsigned to)
{
    for (unsigned bit = from * 8; bit < to * 8; bit++) {
        clock_milliseconds = NOON + 60 * (uint64_t)SECOND;
        write_whole_but(copy, bit);
        struct fault fault;
        struct filter *filter = filter_open(copy, true, NULL, &fault);
        if (filter == NULL)
            continue;
        go_on(filter, bit);
        filter_close(filter);
    }
}

static void every_bit(const struct filter_plan *plan)
{
    char copy[PATH_MAX + 8];
    clock_milliseconds = NOON;
    struct filter *filter = in_file(plan);
    if (filter == NULL)
        return;
    for (uint64_t i = 0; i < 57; i++) {
        clock_milliseconds += SECOND;
        take(filter, i);
    }
    unsigned layers = store_layers(filter_store(filter));
    read_whole(store_path(filter_store(filter)));
    snprintf(copy, sizeof copy, "%s.copy", store_path(filter_store(filter)));
    filter_close(filter);
    flip_bits(copy, COUNTER_SETTLED_AT, COUNTER_SETTLED_AT + 8);
    flip_bits(copy, SLOTS_AT, SLOTS_AT + 2 * FLIGHT_RECORD_BYTES);
    flip_bits(copy, layer_state_at(0), layer_state_at(layers));
    clock_milliseconds = NOON;
}

static void every_bit_by_count(void)
{
    struct filter_plan plan = by_count(40);
    every_bit(&plan);
}

static void every_bit_by_time(void)
{
    struct filter_plan plan = by_time(40, 40 * SECOND);
    every_bit(&plan);
}

int main(void)
{
    scratch_make();
    tap_run("layers are large enough for their keys", sizes);
    tap_run("what is not delivered ends no generation", undelivered);
    tap_run("two writers: the last N are in", two_writers);
    tap_run("a writer that stood still", stood_still);
    tap_run("killed while it emptied a layer", killed_while_emptying);
    tap_run_long("damaged states", damaged_states);
    tap_run("by time, in memory: not before T, not after 1.25 T", memory_by_time);
    tap_run_long("by time, in a file", file_by_time);
    tap_run_long("by time: a steady load", steady_load);
    tap_run("by time: readers, and late deliveries", nobody_writes);
    tap_run("a repeat refreshes nothing", no_refresh);
    tap_run_long("by count: each bit of the states, flipped", every_bit_by_count);
    tap_run_long("by time: each bit of the states, flipped", every_bit_by_time);
    return tap_end();
}
