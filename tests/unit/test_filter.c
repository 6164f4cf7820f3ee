/*
 * Filters in memory and in files: verdicts against the model, keys in flight, several writers,
 * growth, and the file that an older version has made.
 */
#include "filter/filter.h"

#include "chance.h"
#include "core/little.h"
#include "filter/flight.h"
#include "filter/probe.h"
#include "model.h"
#include "sample.h"
#include "scratch.h"
#include "system/lock.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANGE_MAX = 60000 };

static struct key keys[BATCH_KEYS];
static uint8_t seen[BATCH_KEYS];

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

/* The layers hold what they should, to the bit, and as many keys. */
static void check_layers(const struct filter *filter, const struct model *model, const char *name)
{
    if (!tap_check(store_layers(filter_store(filter)) == model->layers, "%s: %u layers, not %u",
                   name, store_layers(filter_store(filter)), model->layers))
        return;
    for (unsigned i = 0; i < model->layers; i++) {
        tap_check(store_layer_keys(filter_store(filter), i) == model->keys[i],
                  "%s: layer %u holds %" PRIu64 " keys, not %" PRIu64, name, i,
                  store_layer_keys(filter_store(filter), i), model->keys[i]);
        const struct bits *bits = store_bits(filter_store(filter), i);
        tap_check(bits->pages == model->layer[i].pages &&
                      memcmp(bits->bytes, model->bits[i], bits->pages * PAGE_BYTES) == 0,
                  "%s: layer %u has other bits", name, i);
    }
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
static void run(struct filter *filter, struct model *model, const struct cutting *cutting,
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
        ptrdiff_t judged = filter_claim(filter, keys, n, cutting->most_new, seen, &fault);
        if (judged < 0) {
            sample_fault(cutting->name, &fault);
            return;
        }
        size_t done = (size_t)judged, new = new_ones(done);
        tap_check(done <= n && new <= cutting->most_new &&done > 0,
                  "%s: %zu of %zu keys judged, %zu new", cutting->name, done, n, new);
        check_verdicts(model, store_path(filter_store(filter)) == NULL, numbers, done,
                       cutting->name);
        if (sample_settle(filter, new, &fault) != 0)
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
            tap_check(filters[i].fixed ? model.layers == 1
                                       : model.layers > 1 || cuttings[j].most == 1,
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

/* --- in flight --- */

/* What becomes of the new ones of a claim. With `kept` and `nothing` they are left in flight; only
 * what is kept may be followed by another claim. */
enum fate { SETTLED, DROPPED, KEPT, NOTHING };

/* Claims keys from..to, in as many batches as it takes. Returns how many were new. */
static uint64_t take(struct filter *filter, uint64_t from, uint64_t to, enum fate fate)
{
    struct fault fault;
    uint64_t total = 0;
    while (from < to) {
        size_t n = to - from < BATCH_KEYS ? (size_t)(to - from) : BATCH_KEYS;
        for (size_t i = 0; i < n; i++)
            keys[i] = sample_key(from + i);
        ptrdiff_t judged = filter_claim(filter, keys, n, UINT64_MAX, seen, &fault);
        if (judged <= 0) {
            sample_fault("claim", &fault);
            return total;
        }
        size_t new = new_ones((size_t)judged);
        if (fate != NOTHING)
            filter_keep(filter, fate == DROPPED ? 0 : new);
        if ((fate == SETTLED || fate == DROPPED) && filter_settle(filter, &fault) != 0)
            sample_fault("settle", &fault);
        total += new;
        from += (uint64_t)judged;
    }
    return total;
}

static uint64_t inside(const struct filter *filter, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t i = from; i < to; i++) {
        struct fault fault;
        struct key key = sample_key(i);
        if (probe(filter_store(filter), &key, 1, seen, &fault) != 0)
            sample_fault("probe", &fault);
        count += seen[0];
    }
    return count;
}

/* Each twice, at most BATCH_KEYS in all. Returns how many were not in. */
static uint64_t add(struct filter *filter, uint64_t from, uint64_t to, uint64_t step)
{
    struct fault fault;
    uint64_t added;
    size_t n = 0;
    for (uint64_t i = from; i < to; i += step, n += 2)
        keys[n] = keys[n + 1] = sample_key(i);
    if (filter_add(filter, keys, n, seen, &added, &fault) != (ptrdiff_t)n)
        sample_fault("add", &fault);
    tap_check(added == new_ones(n), "it counts %" PRIu64 " of %zu", added, new_ones(n));
    return added;
}

/* A filter without false positives to speak of. */
static const struct filter_plan exact = {.rate = 1e-12, .capacity = 100000};

static void undelivered(void)
{
    struct filter *filter = in_file(&exact), *reader = sample_open(scratch_path("f.bf"), false);
    struct fault fault;
    if (filter == NULL || reader == NULL)
        return;
    for (unsigned i = 0; i < 2; i++)
        tap_check(take(filter, 0, 10000, DROPPED) == 10000, "not all are new");
    tap_check(take(filter, 0, 100, NOTHING) == 100, "not all are new the third time");
    tap_check(inside(reader, 0, 10000) == 0, "undelivered keys are in");
    tap_check(sample_settle(filter, 30, &fault) == 0, "settle");
    tap_check(inside(reader, 0, 100) == 30 && inside(reader, 0, 30) == 30, "other keys are in");
    tap_check(store_keys(filter_store(filter)) == 30, "it counts others");
    tap_check(take(filter, 0, 110000, SETTLED) == 110000 - 30, "not just the others are new");
    tap_check(inside(reader, 0, 110000) == 110000, "a reader does not see a new layer");
    filter_close(reader);
    filter_close(filter);
}

/* What one holds the other takes for seen, and gets when it is dropped: in a slot, and in a file of
 * several levels. */
static void two_writers(void)
{
    static const uint64_t counts[] = {8, 200, 2048, 9000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t n = counts[i], half = n / 2;
        struct fault fault;
        struct filter *a, *b;
        if (!sample_two(scratch_path("f.bf"), &exact, &a, &b))
            return;
        filter_hold(a, false, &fault);
        tap_check(take(a, 0, n, KEPT) == n && take(a, 0, n, KEPT) == 0, "a: each once");
        tap_check(take(b, 0, n, SETTLED) == 0, "b takes what a holds");
        tap_check(take(b, half, 2 * n, SETTLED) == n, "b does not take what a has not");
        tap_check(inside(b, 0, n) == 0, "what is held is in");
        filter_drop(a, half);
        tap_check(filter_kept(a) == n - half, "%" PRIu64 " are kept", filter_kept(a));
        tap_check(take(b, 0, n, DROPPED) == half, "b does not find what a has dropped");
        tap_check(filter_settle(a, &fault) == 0 && inside(b, 0, n - half) == n - half, "settle");
        filter_hold(b, false, &fault);
        tap_check(take(b, 0, n, KEPT) == half, "others are seen");
        tap_check(take(a, 0, n, KEPT) == 0, "a takes what b holds");
        filter_close(b);
        tap_check(take(a, 0, n, KEPT) == half, "what b had is not free when b has closed");
        tap_check(filter_settle(a, &fault) == 0 && inside(a, 0, 2 * n) == 2 * n, "not all are in");
        tap_check(store_keys(filter_store(a)) == 2 * n, "one counts twice");
        filter_close(a);
    }
}

/* A child with a filter of its own: what is inherited would share the parent's locks. It does the
 * work, writes a byte to the pipe, and waits to be killed. */
static pid_t start(void work(struct filter *filter), int *done)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        struct filter *filter = sample_open(scratch_path("f.bf"), true);
        work(filter);
        if (write(ends[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ends[1]);
    *done = ends[0];
    return child;
}

static bool wait_done(int done, int milliseconds)
{
    struct pollfd poll_done = {.fd = done, .events = POLLIN};
    return poll(&poll_done, 1, milliseconds) == 1;
}

static void end(pid_t child, int done)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(done);
}

static void hold_many(struct filter *filter)
{
    struct fault fault;
    take(filter, 0, 100, SETTLED);
    filter_hold(filter, false, &fault);
    take(filter, 100, 4100, KEPT);
}

static ino_t inode(const char *name)
{
    struct stat status;
    return lstat(scratch_path(name), &status) == 0 ? status.st_ino : 0;
}

/* A writer that is killed leaves its keys to the others, and its file to the slot's next owner. */
static void killed_writer(void)
{
    struct filter *survivor = in_file(&exact);
    int done;
    if (survivor == NULL)
        return;
    pid_t child = start(hold_many, &done);
    tap_check(wait_done(done, -1), "the child failed");
    tap_check(take(survivor, 0, 4100, SETTLED) == 0, "its keys are taken while it lives");
    ino_t file = inode("f.bf.flight-1");
    end(child, done);
    tap_check(take(survivor, 0, 4100, SETTLED) == 4000, "what it had in flight is not free");
    tap_check(inside(survivor, 0, 4100) == 4100, "not all are in");
    tap_check(file != 0 && inode("f.bf.flight-1") == file, "its file is gone already");
    int held = open(scratch_path("f.bf.flight-1"), O_RDONLY); /* so that no other gets its number */
    struct filter *next = sample_open(scratch_path("f.bf"), true);
    tap_check(inode("f.bf.flight-1") != 0 && inode("f.bf.flight-1") != file, "it is used again");
    filter_close(next);
    tap_check(inode("f.bf.flight-1") == 0, "who ends leaves a file");
    close(held);
    filter_close(survivor);
}

/* What is in flight here and added elsewhere meanwhile counts once. */
static void counted_once(void)
{
    struct filter_plan plans[] = {exact, exact, exact};
    plans[1].geometry.counting = true;
    plans[2].window = true;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct fault fault;
        struct filter *a, *b;
        if (!sample_two(scratch_path("f.bf"), &plans[i], &a, &b))
            return;
        filter_hold(a, false, &fault);
        tap_check(take(a, 0, 3000, KEPT) == 3000, "not all are new");
        tap_check(add(b, 0, 4000, 4) == 1000, "not all are added, each once");
        tap_check(filter_settle(a, &fault) == 0 && inside(b, 0, 3000) == 3000, "not all are in");
        tap_check(store_keys(filter_store(b)) == 3000 + 250, "%zu: %" PRIu64 " keys", i,
                  store_keys(filter_store(b)));
        filter_close(a);
        filter_close(b);
    }
}

/* So many lines more. */
static void print_lines(struct filter *filter, uint64_t *next, uint64_t n)
{
    while (n > 0) {
        uint64_t from = *next;
        *next += n;
        n -= take(filter, from, from + n, SETTLED);
    }
}

/* Of a window with many false positives, what was settled late or added is remembered for as long
 * as any: what will be cleared before it does not vouch for it. */
static void nothing_vouches(void)
{
    enum { LINES = 40000, HELD = 3000, ADDED = 1000 };
    struct filter_plan plan = {.rate = 0.5, .capacity = LINES, .window = true};
    struct filter *a, *b;
    struct fault fault;
    static uint64_t new[HELD];
    uint64_t held = 0, next = 100000;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    print_lines(b, &next, LINES);
    filter_hold(a, false, &fault);
    for (uint64_t i = 0; i < HELD; i++)
        if (take(a, i, i + 1, KEPT) == 1)
            new[held++] = i;
    print_lines(b, &next, LINES / 2);
    tap_check(held > HELD / 4 && filter_settle(a, &fault) == 0, "settle");
    add(b, HELD, HELD + ADDED, 1);
    print_lines(b, &next, LINES - held - ADDED);
    for (uint64_t i = 0; i < held; i++)
        tap_check(inside(a, new[i], new[i] + 1) == 1, "what was settled late is forgotten");
    tap_check(inside(a, HELD, HELD + ADDED) == ADDED, "what was added is forgotten");
    filter_close(a);
    filter_close(b);
}

/* What is held is settled as a whole: who has LOCK_HELD, as a merge, comes before or after. */
static void settle_held(struct filter *filter)
{
    struct fault fault;
    filter_hold(filter, false, &fault);
    take(filter, 0, 5000, KEPT);
    filter_settle(filter, &fault);
}

static void settled_whole(void)
{
    struct filter *filter = in_file(&exact);
    int fd = open(scratch_path("f.bf"), O_RDWR), done;
    if (filter == NULL || !tap_check(lock_try(fd, LOCK_HELD) == 1, "no lock"))
        return;
    pid_t child = start(settle_held, &done);
    tap_check(!wait_done(done, 200) && inside(filter, 0, 5000) == 0, "some are settled");
    lock_let_go(fd, LOCK_HELD);
    tap_check(wait_done(done, -1) && inside(filter, 0, 5000) == 5000, "not all are settled");
    end(child, done);
    close(fd);
    filter_close(filter);
}

/* --- room --- */

/* A batch ends where the room does, beside what others have in flight. */
static void batch_ends_with_room(void)
{
    struct filter_plan plan = {.rate = 1e-12, .capacity = 1000};
    struct fault fault;
    struct filter *a, *b;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    tap_check(take(a, 0, 900, NOTHING) == 900, "not all are new");
    for (uint64_t i = 0; i < 300; i++)
        keys[i] = sample_key(1000 + i);
    tap_check(filter_claim(b, keys, 300, UINT64_MAX, seen, &fault) == 100, "it takes others");
    tap_check(store_layers(filter_store(b)) == 1 && sample_settle(b, 100, &fault) == 0,
              "it has grown");
    tap_check(take(b, 1000, 1300, SETTLED) == 200, "not all are new");
    tap_check(store_layers(filter_store(b)) == 2, "it has not grown");
    tap_check(sample_settle(a, 900, &fault) == 0 && inside(b, 0, 900) == 900, "settle");
    tap_check(store_layer_keys(filter_store(b), 0) == 1000, "the first layer is not full");
    filter_close(a);
    filter_close(b);
}

/* Beside a writer that is held up, a filter grows by what is written: it has room for all that is
 * in or in flight, and would not without its last layer. */
static void room_beside_a_holder(void)
{
    enum { HELD = 7000, WRITTEN = 120000, STEP = 400 };
    struct filter_plan plan = {.rate = 1e-12, .capacity = 1000};
    struct fault fault;
    struct filter *a, *b;
    if (!sample_two(scratch_path("f.bf"), &plan, &a, &b))
        return;
    filter_hold(a, false, &fault);
    tap_check(take(a, 0, HELD, KEPT) == HELD, "not all are new");
    const struct store *store = filter_store(b);
    for (uint64_t i = HELD; i < HELD + WRITTEN; i += STEP) {
        tap_check(take(b, i, i + STEP, SETTLED) == STEP, "not all are new");
        uint64_t last = store_plan(store, store_layers(store) - 1).capacity;
        tap_check(store_capacity(store) >= i + STEP && store_capacity(store) - last < i + STEP,
                  "%" PRIu64 " keys, room for %" PRIu64 " in %u layers", i + STEP,
                  store_capacity(store), store_layers(store));
    }
    uint64_t capacity = store_capacity(store);
    tap_check(filter_settle(a, &fault) == 0, "settle");
    tap_check(inside(a, 0, HELD + WRITTEN) == HELD + WRITTEN, "keys are lost");
    tap_check(store_capacity(store) == capacity, "settling has made room");
    for (unsigned i = 0; i < store_layers(store); i++)
        tap_check(store_layer_keys(store, i) <= store_plan(store, i).capacity, "layer %u", i);
    filter_close(a);
    filter_close(b);
}

/* --- slots and files of flights --- */

/* Every slot has its own owner, with room in it and without. */
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
        tap_check(take(writers[i], 0, 100 * (i + 1), NOTHING) == 100, "writer %" PRIu64, i);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        tap_check(sample_settle(writers[i], 100, &fault) == 0, "settle %u", i);
    tap_check(inside(writers[0], 0, 100 * WRITERS) == 100 * WRITERS, "not all are in");
    for (unsigned i = 0; i < WRITERS; i++)
        filter_close(writers[i]);
    tap_check(inode("f.bf.flight-20") == 0, "files are left");
}

enum obstacle { TEXT, PENDING, OTHER_FILTER, DIRECTORY, LINK, OBSTACLES };

/* Puts something that is no flight of this filter's where a flight's file would be. */
static void obstruct(const char *name, enum obstacle obstacle, const struct filter *filter)
{
    const char *path = scratch_path(name);
    struct key_file_head head = {.kind = obstacle == PENDING ? KEYS_PENDING : KEYS_IN_FLIGHT};
    memcpy(head.uuid, store_header(filter_store(filter))->uuid, UUID_BYTES);
    head.uuid[0] ^= obstacle == OTHER_FILTER;
    if (obstacle == DIRECTORY && mkdir(path, 0700) == 0)
        return;
    if (obstacle == LINK && symlink(path = scratch_path("elsewhere"), scratch_path(name)) != 0)
        exit(1);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 ||
        (obstacle == TEXT ? write(fd, "mine\n", 5) != 5 : flight_write_head(fd, &head) != 0))
        exit(1);
    close(fd);
}

/* Something else has the name: it stays as it is, and another name is taken. */
static void names_of_others(void)
{
    for (enum obstacle i = 0; i < OBSTACLES; i++) {
        struct filter *a = in_file(&exact);
        struct stat before, after;
        struct fault fault;
        if (a == NULL)
            return;
        obstruct("f.bf.flight-1", i, a);
        if (lstat(scratch_path("f.bf.flight-1"), &before) != 0)
            exit(1);
        struct filter *b = sample_open(scratch_path("f.bf"), true);
        tap_check(inode("f.bf.flight-129") != 0, "obstacle %u: no other name", i);
        filter_hold(b, false, &fault);
        tap_check(take(b, 0, 5000, KEPT) == 5000 && take(a, 0, 5000, KEPT) == 0, "it is not seen");
        filter_close(b);
        tap_check(inode("f.bf.flight-129") == 0, "obstacle %u: its own file stays", i);
        tap_check(lstat(scratch_path("f.bf.flight-1"), &after) == 0 &&
                      after.st_ino == before.st_ino && after.st_size == before.st_size &&
                      after.st_mtim.tv_nsec == before.st_mtim.tv_nsec,
                  "obstacle %u is not as it was", i);
        filter_close(a);
        remove(scratch_path("f.bf.flight-1"));
    }
}

/* Where no file can be made (here all names are taken; a directory may be read-only), the room of
 * the slot must do, which slots from 16 on have not. */
static void no_file(void)
{
    enum { WRITERS = 16, NAMES = 64 };
    struct filter *writers[WRITERS] = {in_file(&exact)};
    struct fault fault;
    char name[32];
    if (writers[0] == NULL)
        return;
    for (unsigned i = 1; i <= WRITERS; i++)
        for (unsigned j = 0; j < NAMES; j++) {
            snprintf(name, sizeof name, "f.bf.flight-%u", i + j * SLOTS_MAX);
            obstruct(name, TEXT, writers[0]);
        }
    for (unsigned i = 1; i < WRITERS; i++)
        writers[i] = sample_open(scratch_path("f.bf"), true);
    tap_check(take(writers[1], 0, 8, NOTHING) == 8, "it has no room for 8");
    tap_check(take(writers[2], 0, 100, SETTLED) == 92, "it does not go on");
    tap_check(sample_settle(writers[1], 8, &fault) == 0 && inside(writers[0], 0, 100) == 100,
              "settle");
    tap_check(filter_open(scratch_path("f.bf"), true, NULL, &fault) == NULL &&
                  strstr(fault.object, ".flight-") != NULL,
              "a slot without room will do");
    filter_hold(writers[1], false, &fault);
    tap_check(filter_claim(writers[1], keys + 200, 9, UINT64_MAX, seen, &fault) == 8 &&
                  filter_claim(writers[1], keys + 208, 1, UINT64_MAX, seen, &fault) == -1,
              "keys are held for which there is no room");
    for (unsigned i = 0; i < WRITERS; i++)
        filter_close(writers[i]);
}

/* --- a retry --- */

/* What is owed is new whatever the layers say, once; all other keys are judged as ever; and the
 * file has all of it, in order. */
static void owed(void)
{
    enum { OWED = 3000, COMMITTED = 1000, OTHERS = 4000, END = 5000 };
    static uint8_t bytes[END * KEY_BYTES];
    struct filter *writer = in_file(&exact), *task = sample_open(scratch_path("f.bf"), false);
    struct fault fault;
    int fd = open(scratch_path("pending"), O_RDWR | O_CREAT, 0600);
    if (writer == NULL || task == NULL || filter_hold_in(task, fd, "pending", &fault) != 0)
        return;
    for (uint64_t i = 0; i < OWED; i += 1000) {
        for (uint64_t j = 0; j < 1000; j++)
            keys[j] = sample_key(i + j);
        tap_check(filter_owe(task, keys, 1000, &fault) == 0, "owe");
    }
    take(writer, 0, COMMITTED, SETTLED);
    take(writer, OTHERS, OTHERS + 100, SETTLED);
    take(writer, OTHERS + 100, OTHERS + 200, NOTHING);
    tap_check(filter_owed(task) == OWED && take(task, 0, 500, KEPT) == 500, "not all are new");
    tap_check(filter_owed(task) == OWED - 500, "%" PRIu64 " are owed", filter_owed(task));
    tap_check(take(task, 0, END, KEPT) == END - 500 - 200, "it judges others as new");
    tap_check(filter_owed(task) == 0 && filter_kept(task) == END - 200, "not all came");
    tap_check(pread(fd, bytes, sizeof bytes, FLIGHT_HEAD_BYTES) == sizeof bytes, "the file");
    for (uint64_t i = 0; i < END - 200; i++) {
        struct key key = sample_key(i < OTHERS ? i : i + 200);
        tap_check(load64(bytes + i * KEY_BYTES) == key.lo, "key %" PRIu64 " of the file", i);
    }
    filter_close(task);
    filter_close(writer);
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

static void golden_opens(void)
{
    struct filter *filter = sample_open(GOLDEN, false);
    if (filter == NULL)
        return;
    const struct header *header = store_header(filter_store(filter));
    tap_check(header->plan.capacity == 1000 && header->plan.rate == 1e-6 && header->plan.fixed &&
                  header->hasher.k0 == 0 && store_layers(filter_store(filter)) == 1,
              "it is another filter");
    tap_check(store_keys(filter_store(filter)) == GOLDEN_KEYS, "it counts others");
    for (unsigned i = 0; i < 100 * GOLDEN_KEYS; i++) {
        struct fault fault;
        struct key key = golden_key(i);
        if (probe(filter_store(filter), &key, 1, seen, &fault) != 0)
            sample_fault("probe", &fault);
        tap_check(seen[0] == (i < GOLDEN_KEYS), "line %u", i);
    }
    filter_close(filter);
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
    memset(bytes + FLIGHT_AT, 0, fixed_bytes(false) - FLIGHT_AT);
    return n > 0 ? (size_t)n : 0;
}

static void golden_is_made_again(void)
{
    static uint8_t made[1 << 20], golden[1 << 20];
    const struct filter_plan plan = {.rate = 1e-6, .capacity = 1000, .fixed = true};
    struct fault fault;
    struct filter *filter = in_file(&plan);
    for (unsigned i = 0; filter != NULL && i < GOLDEN_KEYS; i++) {
        struct key key = golden_key(i);
        filter_claim(filter, &key, 1, 1, seen, &fault);
        sample_settle(filter, 1, &fault);
    }
    filter_close(filter);
    size_t n = slurp(scratch_path("f.bf"), made, sizeof made);
    tap_check(slurp(GOLDEN, golden, sizeof golden) == n, "it has other than %zu bytes", n);
    for (size_t i = 0; i < n; i++)
        tap_check(made[i] == golden[i], "byte %zu: %02x, not %02x", i, made[i], golden[i]);
}

int main(void)
{
    scratch_make();
    tap_run_long("in memory: the model's verdicts and bits, however keys are cut",
                 memory_against_the_model);
    tap_run_long("in a file: the model's verdicts and bits, however keys are cut",
                 file_against_the_model);
    tap_run_long("a counting file answers as the model", counting_file_against_the_model);
    tap_run("what was not delivered is not remembered, nor seen by readers", undelivered);
    tap_run("two writers see what the other one holds", two_writers);
    tap_run("a killed writer's keys in flight are free, and its file goes", killed_writer);
    tap_run("in flight here and added elsewhere: counted once", counted_once);
    tap_run("what a window will clear does not vouch", nothing_vouches);
    tap_run("what is held is settled before a merge or after it", settled_whole);
    tap_run("a batch ends where the room does", batch_ends_with_room);
    tap_run("beside a writer that is held up, growth by what is written", room_beside_a_holder);
    tap_run("40 writers", many_writers);
    tap_run("a user's file has the name of a flight", names_of_others);
    tap_run("no file can be made for a flight", no_file);
    tap_run("a retry: what is owed comes once more", owed);
    tap_run("the golden file opens and answers", golden_opens);
    tap_run("a filter made today has the golden file's bytes", golden_is_made_again);
    return tap_end();
}
