/*
 * Filters in memory and in files: verdicts against the model, keys in flight, several writers,
 * growth, and the file that an older version has made.
 */
#include "filter/writer.h"

#include "chance.h"
#include "core/bytes.h"
#include "filter/flight.h"
#include "filter/internal.h"
#include "model.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANGE_MAX = 60000 };

static struct key keys[BATCH_KEYS];
static uint8_t seen[BATCH_KEYS];

/* --- making and opening --- */

static struct writer *in_file(const struct filter_plan *plan)
{
    return sample_file(scratch_path("f.bf"), plan);
}

/* A plan whose first layer is so small and so full that false positives are frequent and it soon
 * grows. */
static struct filter_plan crowded(double rate, uint64_t pages, bool fixed, bool counting)
{
    struct filter_plan plan = {.rate = rate, .capacity = 1, .pages = pages, .fixed = fixed};
    double share = growth_rate(&plan, 0);
    plan.geometry.counting = counting;
    struct geometry geometry = sizing_geometry(share, counting);
    plan.capacity = fixed ? sizing_capacity(geometry, pages, share)
                          : growth_capacity(geometry, pages, share);
    return plan;
}

/* --- against the model --- */

/* How a run cuts its keys: at most so many a claim, and at most so many new ones. */
struct cutting {
    const char *name;
    size_t most; /* SOME: at random */
    uint64_t most_new;
};
#define SOME SIZE_MAX

static size_t cut(const struct cutting *cutting, struct chance *chance, size_t left)
{
    size_t n = cutting->most == SOME ? 1 + (size_t)chance_below(chance, BATCH_KEYS) : cutting->most;
    return n < left ? n : left;
}

static size_t new_ones(size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !seen[i];
    return count;
}

/* A key is new if it is neither in nor, where bits are set only when all is settled, before it in
 * the same claim. */
static void check_verdicts(struct model *model, bool at_once, const uint32_t *numbers, size_t n,
                           const char *name)
{
    static uint32_t claims, new_in[RANGE_MAX];
    claims++;
    for (size_t i = 0; i < n; i++) {
        struct key key = sample_key(numbers[i]);
        bool new = !model_has(model, key) && new_in[numbers[i]] != claims;
        tap_check(seen[i] == !new, "%s: key %zu of %zu: %s", name, i, n, seen[i] ? "seen" : "new");
        if (new)
            new_in[numbers[i]] = claims;
        if (new &&at_once)
            model_put(model, key);
    }
    for (size_t i = 0; i < n && !at_once; i++)
        if (!seen[i])
            model_put(model, sample_key(numbers[i]));
}

/* Claims and settles `count` draws out of `range` keys; each verdict must be the model's. */
static void run(struct writer *writer, struct model *model, const struct cutting *cutting,
                uint64_t range, size_t count)
{
    static uint32_t numbers[BATCH_KEYS];
    struct chance chance = {50}, cuts = {51};
    struct fault fault;
    size_t waiting = 0; /* drawn, and not yet judged */
    while (count > 0 || waiting > 0) {
        size_t n = cut(cutting, &cuts, waiting + count);
        for (; waiting < n; waiting++, count--)
            numbers[waiting] = (uint32_t)chance_below(&chance, range);
        for (size_t i = 0; i < n; i++)
            keys[i] = sample_key(numbers[i]);
        ptrdiff_t judged = writer_claim(writer, keys, n, cutting->most_new, seen, &fault);
        if (judged < 0) {
            sample_fault(cutting->name, &fault);
            return;
        }
        size_t done = (size_t)judged, new = new_ones(done);
        tap_check(done <= n && new <= cutting->most_new &&done > 0,
                  "%s: %zu of %zu keys judged, %zu new", cutting->name, done, n, new);
        check_verdicts(model, filter_path(sample_filter(writer)) == NULL, numbers, done,
                       cutting->name);
        if (sample_settle(writer, new, &fault) != 0)
            sample_fault(cutting->name, &fault);
        waiting -= done;
        memmove(numbers, numbers + done, waiting * sizeof *numbers);
    }
}

static const struct cutting cuttings[] = {
    {"one at a time", 1, 1},
    {"full batches", BATCH_KEYS, UINT64_MAX},
    {"random batches", SOME, UINT64_MAX},
    {"at most 5 new", SOME, 5},
};

static const struct {
    double rate;
    uint64_t pages;
    bool fixed;
    size_t keys;
} filters[] = {
    {0.5, 1, false, 60000}, {0.5, 1, true, 40000},   {0.1, 1, false, 20000},
    {0.1, 4, true, 40000},  {1e-2, 1, false, 20000}, {1e-6, 2, false, 10000},
};

static void against_the_model_in(struct writer *make(const struct filter_plan *plan), bool counting)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        for (size_t j = 0; j < sizeof cuttings / sizeof *cuttings; j++) {
            struct filter_plan plan = crowded(filters[i].rate, filters[i].pages, filters[i].fixed,
                                              counting);
            struct writer *writer = make(&plan);
            struct model model;
            if (writer == NULL)
                return;
            size_t count = cuttings[j].most == 1 ? filters[i].keys / 4 : filters[i].keys;
            model_start(&model, &plan);
            run(writer, &model, &cuttings[j], filters[i].keys, count);
            model_check(&model, writer, cuttings[j].name);
            tap_check(filters[i].fixed ? model.layers == 1
                                       : model.layers > 1 || cuttings[j].most == 1,
                      "%u layers: the test is about nothing", model.layers);
            model_free(&model);
            sample_close(writer);
        }
}

static void against_the_model(void)
{
    against_the_model_in(sample_memory, false);
    against_the_model_in(in_file, false);
    against_the_model_in(in_file, true);
}

/* --- in flight --- */

/* A filter without false positives to speak of. */
static const struct filter_plan exact = {.rate = 1e-12, .capacity = 100000};

static void undelivered(void)
{
    struct writer *writer = in_file(&exact), *reader = sample_open(scratch_path("f.bf"), false);
    struct fault fault;
    if (writer == NULL || reader == NULL)
        return;
    for (unsigned i = 0; i < 2; i++)
        tap_check(sample_take(writer, 0, 10000, DROPPED) == 10000, "not all are new");
    tap_check(sample_take(writer, 0, 100, NOTHING) == 100, "not all are new the third time");
    tap_check(sample_count(reader, 0, 10000) == 0, "undelivered keys are in");
    tap_check(sample_settle(writer, 30, &fault) == 0, "settle");
    tap_check(sample_count(reader, 0, 100) == 30 && sample_count(reader, 0, 30) == 30,
              "other keys are in");
    tap_check(filter_keys(sample_filter(writer)) == 30, "it counts others");
    tap_check(sample_take(writer, 0, 110000, SETTLED) == 110000 - 30,
              "not just the others are new");
    tap_check(sample_count(reader, 0, 110000) == 110000, "a reader does not see a new layer");
    sample_close(reader);
    sample_close(writer);
}

/* What one holds the other takes for seen, and gets when it is dropped: in a slot, and in a file of
 * several levels. */
static void two_writers(void)
{
    static const uint64_t counts[] = {8, 200, 2048, 9000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t n = counts[i], half = n / 2;
        struct fault fault;
        struct writer *a, *b;
        if (!sample_two(scratch_path("f.bf"), &exact, &a, &b))
            return;
        writer_hold(a, false, &fault);
        tap_check(sample_take(a, 0, n, KEPT) == n && sample_take(a, 0, n, KEPT) == 0,
                  "a: each once");
        tap_check(sample_take(b, 0, n, SETTLED) == 0, "b takes what a holds");
        tap_check(sample_take(b, half, 2 * n, SETTLED) == n, "b does not take what a has not");
        tap_check(sample_count(b, 0, n) == 0, "what is held is in");
        writer_drop(a, half);
        tap_check(writer_kept(a) == n - half, "%" PRIu64 " are kept", writer_kept(a));
        tap_check(sample_take(b, 0, n, DROPPED) == half, "b does not find what a has dropped");
        tap_check(writer_settle(a, &fault) == 0 && sample_count(b, 0, n - half) == n - half,
                  "settle");
        writer_hold(b, false, &fault);
        tap_check(sample_take(b, 0, n, KEPT) == half, "others are seen");
        tap_check(sample_take(a, 0, n, KEPT) == 0, "a takes what b holds");
        sample_close(b);
        tap_check(sample_take(a, 0, n, KEPT) == half, "what b had is not free when b has closed");
        tap_check(writer_settle(a, &fault) == 0 && sample_count(a, 0, 2 * n) == 2 * n,
                  "not all are in");
        tap_check(filter_keys(sample_filter(a)) == 2 * n, "one counts twice");
        sample_close(a);
    }
}

/* As unseen(5) has a slot in which nothing is in flight. */
static void check_slot_is_empty(const struct filter *filter, unsigned slot, const char *when)
{
    const struct flight flight = slot_flight(filter, slot);
    const struct slot_facts facts = slot_facts(filter, slot);
    tap_check(facts.keys == 0 && facts.file == 0 && facts.level == 0, "slot %u counts %s", slot,
              when);
    for (uint64_t i = 0; i < flight.places; i++)
        tap_check(flight.table[i] == 0, "a place of slot %u is taken %s", slot, when);
}

/* A process claims n keys, and leaves or dies before it has settled them. */
static void end_in_flight(uint64_t n, bool dies)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        struct fault fault;
        struct writer *writer = sample_open(scratch_path("f.bf"), true);
        if (writer == NULL || writer_hold(writer, false, &fault) != 0 ||
            sample_take(writer, 0, n, KEPT) != n)
            _exit(1);
        if (!dies)
            sample_close(writer);
        _exit(0);
    }
    tap_check(waitpid(child, &status, 0) == child && status == 0, "not all are new");
}

/* Who left with keys in flight leaves an empty slot; of who died the next owner makes one. */
static void slots_are_emptied(void)
{
    static const uint64_t counts[] = {1, 8, 2048, 3000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned dies = 0; dies < 2; dies++) {
            if (!sample_create(scratch_path("f.bf"), &exact))
                return;
            end_in_flight(counts[i], dies);
            struct writer *writer = sample_open(scratch_path("f.bf"), dies);
            if (writer == NULL)
                return;
            check_slot_is_empty(sample_filter(writer), 0, dies ? "after a death" : "after an end");
            tap_check(sample_count(writer, 0, counts[i]) == 0, "keys in flight are in");
            sample_close(writer);
        }
}

/* Adds n keys, each twice. Returns how many were not in. */
static uint64_t add(struct writer *writer, uint64_t from, size_t n, uint64_t step)
{
    for (size_t i = 0; i < n; i++)
        keys[2 * i] = keys[2 * i + 1] = sample_key(from + i * step);
    return sample_add(writer, keys, 2 * n);
}

/* What is in flight here and added elsewhere meanwhile counts once. */
static void counted_once(void)
{
    struct filter_plan plans[] = {exact, exact, exact};
    plans[1].geometry.counting = true;
    plans[2].window = true;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct fault fault;
        struct writer *a, *b;
        if (!sample_two(scratch_path("f.bf"), &plans[i], &a, &b))
            return;
        writer_hold(a, false, &fault);
        tap_check(sample_take(a, 0, 3000, KEPT) == 3000, "not all are new");
        tap_check(add(b, 0, 1000, 4) == 1000, "not all are added, each once");
        tap_check(writer_settle(a, &fault) == 0 && sample_count(b, 0, 3000) == 3000,
                  "not all are in");
        tap_check(filter_keys(sample_filter(b)) == 3000 + 250, "%zu: %" PRIu64 " keys", i,
                  filter_keys(sample_filter(b)));
        sample_close(a);
        sample_close(b);
    }
}

/* So many lines more. */
static void print_lines(struct writer *writer, uint64_t *next, uint64_t n)
{
    while (n > 0) {
        uint64_t from = *next;
        *next += n;
        n -= sample_take(writer, from, from + n, SETTLED);
    }
}

/* Of a window with many false positives, what was settled late or added is remembered for as long
 * as any: what will be cleared before it does not vouch for it. */
static void nothing_vouches(void)
{
    enum { LINES = 40000, HELD = 3000, ADDED = 1000 };
    struct filter_plan plan = {.rate = 0.5, .capacity = LINES, .window = true};
    struct writer *a, *b;
    struct fault fault;
    static uint64_t new[HELD];
    uint64_t held = 0, next = 100000;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    print_lines(b, &next, LINES);
    writer_hold(a, false, &fault);
    for (uint64_t i = 0; i < HELD; i++)
        if (sample_take(a, i, i + 1, KEPT) == 1)
            new[held++] = i;
    print_lines(b, &next, LINES / 2);
    tap_check(held > HELD / 4 && writer_settle(a, &fault) == 0, "settle");
    add(b, HELD, ADDED, 1);
    print_lines(b, &next, LINES - held - ADDED);
    for (uint64_t i = 0; i < held; i++)
        tap_check(sample_count(a, new[i], new[i] + 1) == 1, "what was settled late is forgotten");
    tap_check(sample_count(a, HELD, HELD + ADDED) == ADDED, "what was added is forgotten");
    sample_close(a);
    sample_close(b);
}

/* --- room --- */

/* A batch ends where the room does, beside what others have in flight. */
static void batch_ends_with_room(void)
{
    struct filter_plan plan = {.rate = 1e-12, .capacity = 1000};
    struct fault fault;
    struct writer *a, *b;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    tap_check(sample_take(a, 0, 900, NOTHING) == 900, "not all are new");
    for (uint64_t i = 0; i < 300; i++)
        keys[i] = sample_key(1000 + i);
    tap_check(writer_claim(b, keys, 300, UINT64_MAX, seen, &fault) == 100, "it takes others");
    tap_check(filter_layers(sample_filter(b)) == 1 && sample_settle(b, 100, &fault) == 0,
              "it has grown");
    tap_check(sample_take(b, 1000, 1300, SETTLED) == 200, "not all are new");
    tap_check(filter_layers(sample_filter(b)) == 2, "it has not grown");
    tap_check(sample_settle(a, 900, &fault) == 0 && sample_count(b, 0, 900) == 900, "settle");
    tap_check(filter_layer_keys(sample_filter(b), 0) == 1000, "the first layer is not full");
    sample_close(a);
    sample_close(b);
}

/* Beside a writer that is held up, a filter grows by what is written: it has room for all that is
 * in or in flight, and would not without its last layer. */
static void room_beside_a_holder(void)
{
    enum { HELD = 7000, WRITTEN = 120000, STEP = 400 };
    struct filter_plan plan = {.rate = 1e-12, .capacity = 1000};
    struct fault fault;
    struct writer *a, *b;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    writer_hold(a, false, &fault);
    tap_check(sample_take(a, 0, HELD, KEPT) == HELD, "not all are new");
    const struct filter *filter = sample_filter(b);
    for (uint64_t i = HELD; i < HELD + WRITTEN; i += STEP) {
        tap_check(sample_take(b, i, i + STEP, SETTLED) == STEP, "not all are new");
        uint64_t last = filter_plan(filter, filter_layers(filter) - 1).capacity;
        tap_check(filter_capacity(filter) >= i + STEP && filter_capacity(filter) - last < i + STEP,
                  "%" PRIu64 " keys, room for %" PRIu64 " in %u layers", i + STEP,
                  filter_capacity(filter), filter_layers(filter));
    }
    uint64_t capacity = filter_capacity(filter);
    tap_check(writer_settle(a, &fault) == 0, "settle");
    tap_check(sample_count(a, 0, HELD + WRITTEN) == HELD + WRITTEN, "keys are lost");
    tap_check(filter_capacity(filter) == capacity, "settling has made room");
    for (unsigned i = 0; i < filter_layers(filter); i++)
        tap_check(filter_layer_keys(filter, i) <= filter_plan(filter, i).capacity, "layer %u", i);
    sample_close(a);
    sample_close(b);
}

/* What was handed on is remembered, though a counter was mended meanwhile, no layer has room for
 * all of it, and none can be added. */
static void settled_without_room(void)
{
    struct filter_plan plan = {.rate = 1e-12, .capacity = 1000};
    struct writer *writer = in_file(&plan);
    struct fault fault;
    struct rlimit limit;
    if (writer == NULL)
        return;
    writer_hold(writer, false, &fault);
    tap_check(sample_take(writer, 0, 600, KEPT) == 600, "not all are new");
    struct filter *filter = sample_filter(writer);
    put64(filter, layer_state_at(0) + LAYER_KEYS, 700);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    const struct rlimit as_it_is = {filter_file_bytes(filter), limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &as_it_is);
    tap_check(writer_settle(writer, &fault) == 0 && filter_layers(filter) == 1, "settle");
    setrlimit(RLIMIT_FSIZE, &limit);
    tap_check(sample_count(writer, 0, 600) == 600 && filter_keys(filter) == 1300, "keys are lost");
    sample_close(writer);
}

/* --- a retry --- */

/* Expected keys are new once, whatever the layers say; all other keys are tested as usual; the
 * file has all of them, in order. */
static void expected(void)
{
    enum { EXPECTED = 3000, COMMITTED = 1000, OTHERS = 4000, END = 5000 };
    static uint8_t bytes[END * KEY_BYTES];
    struct writer *writer = in_file(&exact), *task = sample_open(scratch_path("f.bf"), false);
    struct fault fault;
    int fd = open(scratch_path("pending"), O_RDWR | O_CREAT, 0600);
    if (writer == NULL || task == NULL || writer_hold_in(task, fd, "pending", &fault) != 0)
        return;
    for (uint64_t i = 0; i < EXPECTED; i += 1000) {
        for (uint64_t j = 0; j < 1000; j++)
            keys[j] = sample_key(i + j);
        tap_check(writer_expect_again(task, keys, 1000, &fault) == 0, "expect_again");
    }
    sample_take(writer, 0, COMMITTED, SETTLED);
    sample_take(writer, OTHERS, OTHERS + 100, SETTLED);
    sample_take(writer, OTHERS + 100, OTHERS + 200, NOTHING);
    tap_check(writer_expected(task) == EXPECTED && sample_take(task, 0, 500, KEPT) == 500,
              "not all are new");
    tap_check(writer_expected(task) == EXPECTED - 500, "%" PRIu64 " are expected",
              writer_expected(task));
    tap_check(sample_take(task, 0, END, KEPT) == END - 500 - 200, "it judges others as new");
    tap_check(writer_expected(task) == 0 && writer_kept(task) == END - 200, "not all came");
    tap_check(pread(fd, bytes, sizeof bytes, FLIGHT_HEAD_BYTES) == sizeof bytes, "the file");
    for (uint64_t i = 0; i < END - 200; i++) {
        struct key key = sample_key(i < OTHERS ? i : i + 200);
        tap_check(load64(bytes + i * KEY_BYTES) == key.lo, "key %" PRIu64 " of the file", i);
    }
    sample_close(task);
    sample_close(writer);
    close(fd);
}

/* --- the golden file --- */

/* unseen create -n 1000 --fixed, and 1000 lines: what any machine makes must equal it. */
#define GOLDEN "tests/data/golden.bf"
enum { GOLDEN_KEYS = 1000 };

static struct key golden_key(unsigned i)
{
    char line[64];
    int length = snprintf(line, sizeof line, "http://example.org/page/%u", i);
    return hash_key(line, (size_t)length, hasher_xxh3(0));
}

/* The whole file; what differs from day to day, and what means nothing, is 0: the UUID, time and
 * checksum, the count of batches, and keys in flight. */
static size_t slurp(const char *path, uint8_t *bytes, size_t most)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, bytes, most);
    close(fd);
    tap_check(n > FLIGHT_AT && (size_t)n < most, "%s: %zd bytes", path, n);
    memset(bytes + 32, 0, 24);
    memset(bytes + HEADER_BYTES - 8, 0, 8);
    memset(bytes + COUNTER_SETTLED_AT, 0, 8);
    memset(bytes + FLIGHT_AT, 0, metadata_bytes(false) - FLIGHT_AT);
    return n > 0 ? (size_t)n : 0;
}

/* It opens and answers; and what is made today has its bytes. */
static void golden_file(void)
{
    static uint8_t made[1 << 20], golden[1 << 20];
    const struct filter_plan plan = {.rate = 1e-6, .capacity = GOLDEN_KEYS, .fixed = true};
    struct writer *old = sample_open(GOLDEN, false), *writer = in_file(&plan);
    if (old == NULL || writer == NULL)
        return;
    tap_check(filter_keys(sample_filter(old)) == GOLDEN_KEYS &&
                  filter_header(sample_filter(old))->plan.fixed,
              "it is another filter");
    for (unsigned i = 0; i < 100 * GOLDEN_KEYS; i++) {
        struct key key = golden_key(i);
        tap_check(sample_has(old, key) == (i < GOLDEN_KEYS), "line %u", i);
        if (i < GOLDEN_KEYS)
            sample_add(writer, &key, 1);
    }
    sample_close(old);
    sample_close(writer);
    size_t n = slurp(scratch_path("f.bf"), made, sizeof made);
    tap_check(slurp(GOLDEN, golden, sizeof golden) == n, "it has other than %zu bytes", n);
    for (size_t i = 0; i < n; i++)
        tap_check(made[i] == golden[i], "byte %zu: %02x, not %02x", i, made[i], golden[i]);
}

int main(void)
{
    scratch_make();
    tap_run_long("the model's verdicts and bits, in memory, in files, counting ones, too",
                 against_the_model);
    tap_run("what was not delivered is not remembered, nor seen by readers", undelivered);
    tap_run("two writers see what the other one holds", two_writers);
    tap_run("who ends or dies with keys in flight: the slot is empty after it", slots_are_emptied);
    tap_run("in flight here and added elsewhere: counted once", counted_once);
    tap_run("what a window will clear does not vouch", nothing_vouches);
    tap_run("a batch ends where the room does", batch_ends_with_room);
    tap_run("beside a writer that is held up, growth by what is written", room_beside_a_holder);
    tap_run("what was handed on is settled without room, too", settled_without_room);
    tap_run("a retry: expected lines come once more", expected);
    tap_run("the golden file opens and answers, and is made again, byte for byte", golden_file);
    tap_run("nothing that was closed stays mapped", sample_nothing_is_mapped);
    return tap_end();
}
