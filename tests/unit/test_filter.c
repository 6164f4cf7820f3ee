/*
 * Filters in memory and in files: verdicts against the model, lines in flight, several writers,
 * growth, and the file that an older version has made.
 */
#include "delivery/filter.h"

#include "chance.h"
#include "delivery/slot.h"
#include "model.h"
#include "sample.h"
#include "scratch.h"
#include "store/probe.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH_MAX = 4096 };

/* --- making and opening --- */

static struct filter *in_file(const struct filter_plan *plan)
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
    plan.capacity = sizing_capacity(sizing_geometry(share, counting), pages, share);
    return plan;
}

/* --- against the model --- */

/* How a run cuts its keys: at most so many a claim, and at most so many new ones. */
struct cutting {
    const char *name;
    size_t most;       /* 0: as many as the filter takes, 1 to that many at random: SOME */
    uint64_t most_new; /* 0: no limit */
};
#define SOME SIZE_MAX

static size_t cut(const struct cutting *cutting, struct chance *chance, size_t batch, size_t left)
{
    size_t n = cutting->most == 0      ? batch
               : cutting->most == SOME ? 1 + (size_t)chance_below(chance, batch)
                                       : cutting->most;
    return n < left ? n : left;
}

static size_t new_ones(const uint8_t *seen, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !seen[i];
    return count;
}

/* The layers hold what they should, to the bit, and as many keys. */
static void check_layers(const struct filter *filter, const struct model *model, const char *name)
{
    if (!tap_check(store_regions(filter_store(filter)) == model->layers, "%s: %u layers, not %u",
                   name, store_regions(filter_store(filter)), model->layers))
        return;
    for (unsigned i = 0; i < model->layers; i++) {
        tap_check(store_region_keys(filter_store(filter), i) == model->keys[i],
                  "%s: layer %u holds %" PRIu64 " keys, not %" PRIu64, name, i,
                  store_region_keys(filter_store(filter), i), model->keys[i]);
        const struct bits *bits = store_bits(filter_store(filter), i);
        tap_check(bits->pages == model->layer[i].pages &&
                      memcmp(bits->bytes, model->bits[i], bits->pages * PAGE_BYTES) == 0,
                  "%s: layer %u has other bits", name, i);
    }
}

/* Claims and settles `count` draws out of `range` keys; each verdict must be the model's. */
static void run(struct filter *filter, struct model *model, const struct cutting *cutting,
                uint64_t range, size_t count)
{
    static struct key keys[BATCH_MAX];
    static uint8_t seen[BATCH_MAX];
    struct chance chance = {50}, cuts = {51};
    struct fault fault;
    size_t waiting = 0; /* drawn, and not yet judged */
    while (count > 0 || waiting > 0) {
        size_t n = cut(cutting, &cuts, filter_batch(filter), waiting + count);
        for (; waiting < n; waiting++, count--)
            keys[waiting] = sample_key(chance_below(&chance, range));
        uint64_t most_new = cutting->most_new == 0 ? UINT64_MAX : cutting->most_new;
        ptrdiff_t judged = filter_claim(filter, keys, n, most_new, seen, &fault);
        if (judged < 0) {
            sample_fault(cutting->name, &fault);
            return;
        }
        size_t done = (size_t)judged, new = new_ones(seen, done);
        tap_check(done <= n && new <= most_new && (done == n || new > 0),
                  "%s: %zu of %zu keys judged, %zu new", cutting->name, done, n, new);
        for (size_t i = 0; i < done; i++)
            tap_check(seen[i] == !model_add(model, keys[i]), "%s: key %zu of %zu: %s",
                      cutting->name, i, n, seen[i] ? "seen" : "new");
        if (filter_settle(filter, new, &fault) != 0)
            sample_fault(cutting->name, &fault);
        waiting -= done;
        memmove(keys, keys + done, waiting * sizeof *keys);
    }
}

static const struct cutting cuttings[] = {
    {"one at a time", 1, 0},     {"three at a time", 3, 0}, {"full batches", 0, 0},
    {"random batches", SOME, 0}, {"at most 5 new", 0, 5},   {"at most 1 new", SOME, 1},
};

static const struct {
    double rate;
    uint64_t pages;
    bool fixed;
    size_t keys;
} filters[] = {
    {0.5, 1, false, 120000}, {0.5, 3, true, 150000},  {0.1, 2, false, 80000},
    {0.1, 4, true, 60000},   {1e-2, 1, false, 40000}, {1e-6, 2, false, 30000},
};

static void against_the_model(struct filter *make(const struct filter_plan *plan), bool counting)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        for (size_t j = 0; j < sizeof cuttings / sizeof *cuttings; j++) {
            struct filter_plan plan = crowded(filters[i].rate, filters[i].pages, filters[i].fixed,
                                              counting);
            struct filter *filter = make(&plan);
            struct model model;
            if (filter == NULL)
                return;
            size_t count = cuttings[j].most == 1 ? filters[i].keys / 4 : filters[i].keys;
            model_start(&model, &plan);
            run(filter, &model, &cuttings[j], filters[i].keys, count);
            check_layers(filter, &model, cuttings[j].name);
            tap_check(filters[i].fixed ? model.layers == 1 : model.layers > 1 || count < 40000,
                      "%u layers: the test is about nothing", model.layers);
            model_free(&model);
            filter_close(filter);
        }
}

static void memory_against_the_model(void)
{
    against_the_model(sample_memory, false);
}

static void file_against_the_model(void)
{
    against_the_model(in_file, false);
}

static void counting_file_against_the_model(void)
{
    against_the_model(in_file, true);
}

/* The key behind the last one that fits is the first of the next layer, in the middle of a
 * batch. */
static void layer_changes_at_capacity(void)
{
    struct filter_plan plan = {.rate = 1e-9, .capacity = 1000};
    for (unsigned i = 0; i < 2; i++) {
        struct filter *filter = i == 0 ? sample_memory(&plan) : in_file(&plan);
        struct fault fault;
        uint8_t seen = 1;
        for (uint64_t n = 0; filter != NULL && n < 1002; n++) {
            struct key key = sample_key(n);
            tap_check(store_regions(filter_store(filter)) == (n > 1000 ? 2 : 1),
                      "%u layers with %" PRIu64 " keys", store_regions(filter_store(filter)), n);
            tap_check(filter_claim(filter, &key, 1, 1, &seen, &fault) == 1 && !seen,
                      "key %" PRIu64 " is not new", n);
            filter_settle(filter, 1, &fault);
        }
        if (filter != NULL)
            tap_check(store_region_keys(filter_store(filter), 0) == 1000 &&
                          store_region_keys(filter_store(filter), 1) == 2,
                      "%" PRIu64 " and %" PRIu64 " keys",
                      store_region_keys(filter_store(filter), 0),
                      store_region_keys(filter_store(filter), 1));
        filter_close(filter);
    }
}

/* --- in flight --- */

/* Claims keys from..to, in as many batches as it takes; all that is new is delivered, or nothing.
 * Returns how many were new. */
static uint64_t pass(struct filter *filter, uint64_t from, uint64_t to, bool delivered)
{
    static struct key keys[BATCH_MAX];
    static uint8_t seen[BATCH_MAX];
    struct fault fault;
    uint64_t total = 0;
    while (from < to) {
        size_t n = filter_batch(filter) < to - from ? filter_batch(filter) : (size_t)(to - from);
        for (size_t i = 0; i < n; i++)
            keys[i] = sample_key(from + i);
        ptrdiff_t judged = filter_claim(filter, keys, n, UINT64_MAX, seen, &fault);
        if (judged <= 0) {
            sample_fault("claim", &fault);
            return total;
        }
        size_t new = new_ones(seen, (size_t)judged);
        if (filter_settle(filter, delivered ? new : 0, &fault) != 0)
            sample_fault("settle", &fault);
        total += new;
        from += (uint64_t)judged;
    }
    return total;
}

/* Leaves one batch of keys in flight; returns how many. */
static uint64_t leave_in_flight(struct filter *filter, uint64_t from, size_t n)
{
    static struct key keys[BATCH_MAX];
    static uint8_t seen[BATCH_MAX];
    struct fault fault;
    for (size_t i = 0; i < n; i++)
        keys[i] = sample_key(from + i);
    ptrdiff_t judged = filter_claim(filter, keys, n, UINT64_MAX, seen, &fault);
    if (judged < 0)
        sample_fault("claim", &fault);
    return judged < 0 ? 0 : new_ones(seen, (size_t)judged);
}

static uint64_t inside(struct filter *filter, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++) {
        struct fault fault;
        struct key key = sample_key(i);
        uint8_t seen = 2;
        if (probe(filter_store(filter), &key, 1, &seen, &fault) != 0)
            sample_fault("probe", &fault);
        count += seen;
    }
    return count;
}

/* A filter without false positives to speak of. */
static const struct filter_plan exact = {.rate = 1e-12, .capacity = 100000};

static void undelivered(void)
{
    struct filter *filter = in_file(&exact);
    struct fault fault;
    if (filter == NULL)
        return;
    tap_check(pass(filter, 0, 10000, false) == 10000, "not all are new");
    tap_check(inside(filter, 0, 10000) == 0, "undelivered keys are in");
    tap_check(store_keys(filter_store(filter)) == 0, "undelivered keys are counted");
    tap_check(pass(filter, 0, 10000, false) == 10000, "not all are new the second time");
    /* Of 100 the first 30. */
    tap_check(leave_in_flight(filter, 0, 100) == 100, "not all are new the third time");
    tap_check(inside(filter, 0, 100) == 0, "keys in flight have their bits set");
    tap_check(filter_settle(filter, 30, &fault) == 0, "settle");
    tap_check(inside(filter, 0, 30) == 30 && inside(filter, 30, 100) == 0, "other keys are in");
    tap_check(store_keys(filter_store(filter)) == 30, "%" PRIu64 " keys",
              store_keys(filter_store(filter)));
    tap_check(leave_in_flight(filter, 0, 100) == 70, "not just the undelivered are new");
    tap_check(filter_settle(filter, 70, &fault) == 0, "settle");
    tap_check(inside(filter, 0, 100) == 100, "delivered keys are not in");
    tap_check(pass(filter, 0, 10000, true) == 9900, "not just the others are new");
    tap_check(inside(filter, 0, 10000) == 10000, "delivered keys are not in");
    filter_close(filter);
}

/* What one has in flight the other takes for seen, and gets when it is not delivered. */
static void two_writers(void)
{
    struct fault fault;
    struct filter *a, *b;
    if (!sample_two(scratch_path("f.bf"), &exact, &a, &b))
        return;
    tap_check(leave_in_flight(a, 0, 200) == 200, "a: not all are new");
    tap_check(pass(b, 0, 200, true) == 0, "b takes what a has in flight");
    tap_check(pass(b, 100, 500, true) == 300, "b does not take what a has not");
    tap_check(inside(b, 0, 200) == 0 && inside(a, 200, 500) == 300, "other bits are set");
    tap_check(filter_settle(a, 50, &fault) == 0, "settle");
    tap_check(pass(b, 0, 200, false) == 150, "b does not find what a did not deliver");
    tap_check(leave_in_flight(b, 0, 200) == 150, "b has lost them");
    tap_check(pass(a, 0, 200, true) == 0, "a takes back what b has in flight now");
    filter_close(b);
    tap_check(pass(a, 0, 200, true) == 150, "what b had in flight is not free when b has closed");
    tap_check(inside(a, 0, 500) == 500, "not all are in");
    filter_close(a);
}

/* Readers see what is settled, and nothing of what is in flight. */
static void readers(void)
{
    struct fault fault;
    struct filter *writer = in_file(&exact);
    struct filter *reader = writer != NULL ? sample_open(store_path(filter_store(writer)), false)
                                           : NULL;
    if (reader == NULL)
        return;
    tap_check(leave_in_flight(writer, 0, 100) == 100, "not all are new");
    tap_check(inside(reader, 0, 100) == 0, "a reader sees keys in flight");
    tap_check(filter_settle(writer, 60, &fault) == 0, "settle");
    tap_check(inside(reader, 0, 60) == 60 && inside(reader, 60, 100) == 0,
              "a reader does not see what was settled");
    /* Past the first layer: the reader finds the new ones by itself. */
    tap_check(pass(writer, 1000, 151000, true) == 150000, "not all are new");
    tap_check(store_regions(filter_store(writer)) == 2, "%u layers",
              store_regions(filter_store(writer)));
    tap_check(inside(reader, 1000, 151000) == 150000, "a reader does not see a new layer");
    filter_close(reader);
    filter_close(writer);
}

/* A writer that is killed leaves its keys to the others. */
static void killed_writer(void)
{
    struct filter *survivor = in_file(&exact);
    int ready[2];
    if (survivor == NULL || pipe(ready) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        /* A file of its own: what is inherited would share the parent's locks. */
        struct filter *filter = sample_open(store_path(filter_store(survivor)), true);
        uint64_t delivered = pass(filter, 0, 100, true);
        char report = delivered == 100 && leave_in_flight(filter, 100, 100) == 100 ? 'y' : 'n';
        if (write(ready[1], &report, 1) == 1)
            pause();
        _exit(1);
    }
    char report = 0;
    tap_check(child > 0 && read(ready[0], &report, 1) == 1 && report == 'y', "the child failed");
    tap_check(pass(survivor, 0, 200, true) == 0, "its keys are taken while it lives");
    bool alive, holds;
    tap_check(slot_keys(filter_store(survivor), 1, &alive, &holds) == 100 && alive,
              "its slot is not seen");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    tap_check(slot_keys(filter_store(survivor), 1, &alive, &holds) == 100 && !alive,
              "it is not dead");
    tap_check(pass(survivor, 0, 200, true) == 100, "what it had in flight is not free");
    tap_check(inside(survivor, 0, 200) == 200, "not all are in");
    close(ready[0]);
    close(ready[1]);
    filter_close(survivor);
}

/* Two writers take turns far past the first layers: each key comes out of one of them once. */
static void growth_with_two_writers(void)
{
    struct filter_plan plan = {.rate = 1e-12, .capacity = 2000};
    struct filter *a, *b;
    enum { KEYS = 200000, STEP = 700 };
    uint64_t new = 0;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    for (uint64_t from = 0; from < KEYS; from += STEP) {
        /* They overlap: b sees some that a has had, and a some that b has. */
        new += pass(a, from, from + STEP, true);
        new += pass(b, from + STEP / 2, from + STEP + STEP / 2, true);
    }
    uint64_t last = (KEYS + STEP - 1) / STEP * STEP + STEP / 2;
    tap_check(new == last, "%" PRIu64 " of %" PRIu64 " came out", new, last);
    tap_check(store_regions(filter_store(a)) >= 3, "%u layers", store_regions(filter_store(a)));
    tap_check(inside(a, 0, last) == last && inside(b, 0, last) == last, "keys are lost");
    tap_check(store_keys(filter_store(a)) == last, "%" PRIu64 " keys are counted",
              store_keys(filter_store(a)));
    struct filter *reader = sample_open(store_path(filter_store(a)), false);
    if (reader != NULL) {
        tap_check(store_regions(filter_store(reader)) == store_regions(filter_store(b)) ||
                      store_regions(filter_store(b)) < 3,
                  "%u layers in the file", store_regions(filter_store(reader)));
        tap_check(inside(reader, 0, last) == last, "keys are lost in the file");
    }
    filter_close(reader);
    filter_close(a);
    filter_close(b);
}

/* With a batch in flight in one, the other one's keys still go where there is room, and no layer
 * gets more than it may hold. */
static void capacity_with_two_writers(void)
{
    struct filter_plan plan = {.rate = 1e-12, .capacity = 1000};
    struct fault fault;
    struct filter *a, *b;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    uint64_t in_flight = leave_in_flight(a, 0, filter_batch(a));
    tap_check(in_flight == filter_batch(a), "not all are new");
    tap_check(pass(b, 10000, 13000, true) == 3000, "not all are new");
    tap_check(filter_settle(a, in_flight, &fault) == 0, "settle");
    tap_check(store_regions(filter_store(b)) == 2, "%u layers", store_regions(filter_store(b)));
    tap_check(store_region_keys(filter_store(b), 0) <= 1000, "%" PRIu64 " keys in a layer for 1000",
              store_region_keys(filter_store(b), 0));
    tap_check(store_keys(filter_store(b)) == 3000 + in_flight, "%" PRIu64 " keys",
              store_keys(filter_store(b)));
    tap_check(inside(b, 0, in_flight) == in_flight && inside(b, 10000, 13000) == 3000, "keys lost");
    filter_close(a);
    filter_close(b);
}

/* A batch that begins in one layer and goes on in the next, because that is there already: the keys
 * of its first part, when they come again in the second, are not new. */
static void batch_over_two_layers(void)
{
    struct filter_plan plan = {.rate = 1e-12, .capacity = 1000};
    struct fault fault;
    struct filter *a, *b;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    size_t batch = filter_batch(a);
    static uint8_t seen[BATCH_MAX];
    static struct key keys[BATCH_MAX];
    for (size_t i = 0; i < batch; i++)
        keys[i] = sample_key(i % (batch - batch / 4));
    /* What a has in flight makes b add a layer; then a does not deliver it. */
    tap_check(leave_in_flight(a, 0, batch) == batch, "not all are new");
    tap_check(pass(b, 10000, 11000 - batch / 2, true) == 1000 - batch / 2, "not all are new");
    tap_check(filter_settle(a, 0, &fault) == 0, "settle");
    tap_check(store_regions(filter_store(b)) == 2 &&
                  store_region_keys(filter_store(b), 0) == 1000 - batch / 2,
              "%u layers, %" PRIu64 " keys in the first", store_regions(filter_store(b)),
              store_region_keys(filter_store(b), 0));
    tap_check(filter_claim(a, keys, batch, UINT64_MAX, seen, &fault) == (ptrdiff_t)batch,
              "it does not take the batch as a whole");
    tap_check(new_ones(seen, batch) == batch - batch / 4, "%zu of %zu are new",
              new_ones(seen, batch), batch - batch / 4);
    tap_check(filter_settle(a, batch - batch / 4, &fault) == 0, "settle");
    tap_check(store_region_keys(filter_store(a), 0) == 1000 &&
                  inside(a, 0, batch - batch / 4) == batch - batch / 4,
              "not all are in");
    filter_close(a);
    filter_close(b);
}

/* Every slot has its own owner, from the largest to the smallest. */
static void many_writers(void)
{
    enum { WRITERS = 40 };
    struct filter *writers[WRITERS];
    struct fault fault;
    if (!sample_create(scratch_path("f.bf"), &exact))
        return;
    for (uint64_t i = 0; i < WRITERS; i++) {
        writers[i] = sample_open(scratch_path("f.bf"), true);
        if (writers[i] == NULL)
            return;
        tap_check(leave_in_flight(writers[i], 8 * i, 8) == 8, "writer %" PRIu64, i);
    }
    for (uint64_t i = 0; i < WRITERS; i++) {
        /* All that others have is seen; its own it would have to settle first. */
        tap_check(filter_settle(writers[i], 8, &fault) == 0, "settle %" PRIu64, i);
        tap_check(pass(writers[i], 0, 8 * WRITERS, true) == 0, "writer %" PRIu64 " takes others'",
                  i);
    }
    tap_check(inside(writers[0], 0, 8 * WRITERS) == 8 * WRITERS, "not all are in");
    for (unsigned i = 0; i < WRITERS; i++)
        filter_close(writers[i]);
}

/* --- files --- */

static void refused_files(void)
{
    static const struct {
        const char *name, *content;
        int error;
        const char *says;
    } cases[] = {
        {"missing", NULL, ENOENT, "No such file"},
        {"empty", "", 0, "empty"},
        {"text", "hello\n", 0, "not a filter"},
        {"magic", "\x89unseen\n", 0, "older unseen"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = scratch_path(cases[i].name);
        if (cases[i].content != NULL) {
            FILE *file = fopen(path, "w");
            if (file == NULL || fputs(cases[i].content, file) == EOF || fclose(file) != 0)
                exit(1);
        }
        for (int write = 0; write < 2; write++) {
            struct fault fault;
            struct filter *filter = filter_open(path, write, NULL, &fault);
            tap_check(filter == NULL && fault.error == cases[i].error &&
                          strstr(fault.reason, cases[i].says) != NULL,
                      "%s: %s", cases[i].name, filter == NULL ? fault.reason : "it opens");
            filter_close(filter);
        }
    }
    struct fault fault;
    struct filter *filter = filter_open(scratch_directory, false, NULL, &fault);
    tap_check(filter == NULL && fault.error == EISDIR, "a directory");
}

static void creation(void)
{
    struct fault fault;
    struct header header = {.plan = {.rate = 1e-3, .capacity = 1000}};
    const char *path = scratch_path("c.bf");
    tap_check(create_filter(path, &header, OVER_EMPTY, &fault) == 0, "it is not made");
    uint8_t first[UUID_BYTES];
    memcpy(first, header.uuid, UUID_BYTES);
    tap_check(create_filter(path, &header, OVER_EMPTY, &fault) == 1, "what exists is made anew");
    struct filter *filter = sample_open(path, true);
    if (filter != NULL) {
        tap_check(memcmp(store_header(filter_store(filter))->uuid, first, UUID_BYTES) == 0,
                  "it was replaced");
        tap_check((first[6] & 0xf0) == 0x40 && (first[8] & 0xc0) == 0x80, "no UUID of version 4");
        tap_check(store_header(filter_store(filter))->plan.rate == 1e-3 &&
                      store_header(filter_store(filter))->plan.capacity == 1000 &&
                      store_regions(filter_store(filter)) == 1,
                  "it is another one");
        tap_check(store_end(filter_store(filter)) == store_file_bytes(filter_store(filter)),
                  "it is longer than its layers");
        pass(filter, 0, 10, true);
    }
    filter_close(filter);
    tap_check(create_filter(path, &header, OVER_EMPTY | OVER_FILTER, &fault) == 0,
              "it is not replaced");
    filter = sample_open(path, false);
    tap_check(filter != NULL && inside(filter, 0, 10) == 0, "the new one is not empty");
    filter_close(filter);
    struct header large = {.plan = {.rate = 1e-6, .pages = SIZING_PAGES_MAX + 1}};
    tap_check(create_filter(scratch_path("l.bf"), &large, OVER_EMPTY, &fault) == -1,
              "2^38 + 1 pages");
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

/* The whole file in memory; NULL if it cannot be had. */
static uint8_t *slurp(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *content = malloc(1 << 20);
    if (file == NULL || content == NULL) {
        tap_check(false, "%s: %s", path, strerror(errno));
        free(content);
        return NULL;
    }
    *bytes = fread(content, 1, 1 << 20, file);
    fclose(file);
    return content;
}

static void golden_opens(void)
{
    struct filter *filter = sample_open(GOLDEN, false);
    if (filter == NULL)
        return;
    const struct header *header = store_header(filter_store(filter));
    tap_check(header->plan.capacity == 1000 && header->plan.rate == 1e-6 && header->plan.fixed &&
                  header->hasher.k0 == 0 && store_regions(filter_store(filter)) == 1,
              "it is another filter");
    tap_check(store_keys(filter_store(filter)) == GOLDEN_KEYS, "%" PRIu64 " keys",
              store_keys(filter_store(filter)));
    uint64_t found = 0, strange = 0;
    for (unsigned i = 0; i < 100 * GOLDEN_KEYS; i++) {
        struct fault fault;
        struct key key = golden_key(i);
        uint8_t seen = 0;
        if (probe(filter_store(filter), &key, 1, &seen, &fault) != 0)
            sample_fault("probe", &fault);
        *(i < GOLDEN_KEYS ? &found : &strange) += seen;
    }
    tap_check(found == GOLDEN_KEYS && strange == 0, "%" PRIu64 " keys and %" PRIu64 " strangers",
              found, strange);
    filter_close(filter);
}

static void golden_is_made_again(void)
{
    struct fault fault;
    struct header header = {
        .plan = {.rate = 1e-6, .capacity = 1000, .fixed = true},
    };
    const char *path = scratch_path("golden.bf");
    if (create_filter(path, &header, OVER_EMPTY | OVER_FILTER, &fault) != 0) {
        sample_fault("create", &fault);
        return;
    }
    struct filter *filter = sample_open(path, true);
    for (unsigned i = 0; filter != NULL && i < GOLDEN_KEYS; i++) {
        struct key key = golden_key(i);
        uint8_t seen;
        filter_claim(filter, &key, 1, 1, &seen, &fault);
        filter_settle(filter, 1, &fault);
    }
    filter_close(filter);
    size_t made_bytes, golden_bytes;
    uint8_t *made = slurp(path, &made_bytes), *golden = slurp(GOLDEN, &golden_bytes);
    if (made != NULL && golden != NULL &&
        tap_check(made_bytes == golden_bytes, "%zu bytes, not %zu", made_bytes, golden_bytes)) {
        /* Another UUID, time and checksum; counts of batches and keys in flight mean nothing. */
        memcpy(made + 32, golden + 32, 24);
        memcpy(made + HEADER_BYTES - 8, golden + HEADER_BYTES - 8, 8);
        memcpy(made + COUNTER_SETTLED_AT, golden + COUNTER_SETTLED_AT, 8);
        memcpy(made + FLIGHT_AT, golden + FLIGHT_AT, header.layers_at - FLIGHT_AT);
        for (size_t i = 0; i < made_bytes; i++)
            tap_check(made[i] == golden[i], "byte %zu: %02x, not %02x", i, made[i], golden[i]);
    }
    free(made);
    free(golden);
}

int main(void)
{
    scratch_make();
    tap_run_long("in memory: the model's verdicts and bits, however keys are cut",
                 memory_against_the_model);
    tap_run_long("in a file: the model's verdicts and bits, however keys are cut",
                 file_against_the_model);
    tap_run_long("a counting file answers as the model", counting_file_against_the_model);
    tap_run("a layer changes after exactly its capacity", layer_changes_at_capacity);
    tap_run("what was not delivered is not remembered", undelivered);
    tap_run("two writers see each other's keys in flight", two_writers);
    tap_run("readers see what is settled, and new layers", readers);
    tap_run("a killed writer's keys in flight are free", killed_writer);
    tap_run_long("growth with two writers", growth_with_two_writers);
    tap_run("two writers fill a layer to its capacity and no further", capacity_with_two_writers);
    tap_run("a batch over two layers: what comes again in it is not new", batch_over_two_layers);
    tap_run("40 writers", many_writers);
    tap_run("what is no filter is refused", refused_files);
    tap_run("creation: once, replaced, impossible", creation);
    tap_run("the golden file opens and answers", golden_opens);
    tap_run("a filter made today has the golden file's bytes", golden_is_made_again);
    return tap_end();
}
