/*
 * From lines to false positives: the rate of real layers, with the real hash and the real loops,
 * against the model that sizes them.
 *
 * A check that never fails proves nothing: the last tests plant the known faults of such
 * geometries, and the same check must find them.
 */
#include "core/estimate.h"
#include "core/shard.h"
#include "core/sizing.h"

#include "layer.h"
#include "lines.h"
#include "oracle.h"
#include "tap.h"

#include <inttypes.h>

enum { BATCH = 2048 };

struct measurement {
    double queries, hits;
    double model;    /* the rate that sizing expects */
    double estimate; /* the rate that the layer's own bits tell */
};

/* Is it the rate, but for the noise of counting, and 2 % for that of the one layer at hand? */
static bool agrees(const struct measurement *m, double rate)
{
    double expected = m->queries * rate;
    return fabs(m->hits - expected) < CHANCE_SIGMAS * sqrt(expected) + 0.02 * expected;
}

static void check(const struct measurement *m, const char *what)
{
    tap_check(agrees(m, m->model), "%s: %.0f hits of %.0f, %g; the model says %g", what, m->hits,
              m->queries, m->hits / m->queries, m->model);
    tap_check(fabs(chance_excess(m->hits, m->queries, m->estimate)) < CHANCE_SIGMAS,
              "%s: %.0f hits of %.0f, %g; the bits say %g", what, m->hits, m->queries,
              m->hits / m->queries, m->estimate);
}

static double layer_estimate(const struct bits *bits)
{
    struct estimate estimate;
    estimate_start(&estimate, bits->geometry);
    estimate_add(&estimate, bits->bytes, bits->pages);
    return estimate_rate(&estimate);
}

/* Moves keys to one page of 2^30, as if all others of a huge filter were not there: the top 30 bits
 * of hi are the page's number. */
#define ANY_PAGE UINT64_MAX

static void move_to_page(struct key *keys, size_t n, uint64_t page)
{
    for (size_t i = 0; page != ANY_PAGE && i < n; i++)
        keys[i].hi = page << 34 | keys[i].hi >> 30;
}

static void fill(const struct bits *bits, struct lines *lines, uint64_t count, uint64_t page)
{
    struct key keys[BATCH];
    for (uint64_t done = 0; done < count; done += BATCH) {
        size_t n = count - done < BATCH ? (size_t)(count - done) : BATCH;
        lines_keys(lines, keys, n, 0);
        move_to_page(keys, n, page);
        kernel_best()->set(bits, keys, n);
    }
}

static uint64_t hits_of(const struct bits *bits, struct lines *lines, uint64_t count, uint64_t page)
{
    struct key keys[BATCH];
    uint8_t seen[BATCH];
    uint64_t hits = 0;
    for (uint64_t done = 0; done < count; done += BATCH) {
        lines_keys(lines, keys, BATCH, 0);
        move_to_page(keys, BATCH, page);
        memset(seen, 0, sizeof seen);
        kernel_best()->test(bits, keys, BATCH, seen);
        for (size_t i = 0; i < BATCH; i++)
            hits += seen[i];
    }
    return hits;
}

/* --- the true rate --- */

struct task {
    uint8_t lines, fields;
    double rate;
    uint64_t queries;
};

static struct measurement measure(const struct task *task, uint64_t pages)
{
    struct geometry geometry = {.lines = task->lines, .fields = task->fields};
    struct bits bits = layer_bits(geometry, pages);
    uint64_t keys = sizing_capacity(geometry, pages, task->rate);
    struct lines lines;
    lines_start(&lines, "in", 1, 0);
    fill(&bits, &lines, keys, ANY_PAGE);
    lines_start(&lines, "out", 1, 0);
    uint64_t queries = (task->queries + BATCH - 1) / BATCH * BATCH;
    struct measurement m = {
        .queries = (double)queries,
        .hits = (double)hits_of(&bits, &lines, queries, ANY_PAGE),
        .model = sizing_rate(geometry, pages, (double)keys),
        .estimate = layer_estimate(&bits),
    };
    free(bits.bytes);
    return m;
}

static void check_tasks(const struct task *tasks, size_t n, uint64_t pages)
{
    for (size_t i = 0; i < n; i++) {
        char what[64];
        struct measurement m = measure(&tasks[i], pages);
        snprintf(what, sizeof what, "%u x %u at %g", tasks[i].lines, tasks[i].fields,
                 tasks[i].rate);
        check(&m, what);
    }
}

/* 10^5 hits and more. */
static void high_rates(void)
{
    static const struct task tasks[] = {
        {1, 1, 0.5, 400000},  {1, 2, 0.2, 600000},   {1, 3, 0.1, 1500000}, {1, 6, 1e-2, 11000000},
        {3, 6, 0.1, 1500000}, {16, 1, 0.1, 1500000}, {7, 5, 0.1, 1500000},
    };
    check_tasks(tasks, sizeof tasks / sizeof *tasks, 500);
}

static void low_rates(void)
{
    static const struct task tasks[] = {
        {2, 5, 1e-3, 8000000}, {4, 4, 1e-3, 5000000}, {8, 2, 1e-3, 5000000},
        {16, 7, 1e-2, 500000}, {3, 6, 1e-3, 8000000}, {2, 6, 1e-4, 20000000},
    };
    check_tasks(tasks, sizeof tasks / sizeof *tasks, 300);
}

/* What is chosen for 10^-9 and 10^-12 cannot be measured where it is used. But the same lines and
 * fields can, at a fill where hits are many: if lines and fields were not as good as random ones,
 * it would show here, where all of them must hit just as they must there. */
static void geometries_of_the_lowest_rates(void)
{
    static const double rates[] = {1e-9, 1e-12};
    for (size_t i = 0; i < 2; i++) {
        struct geometry geometry = sizing_geometry(rates[i], false);
        struct task tasks[] = {{geometry.lines, geometry.fields, 1e-3, 10000000},
                               {geometry.lines, geometry.fields, 1e-4, 20000000}};
        check_tasks(tasks, 2, 200);
    }
    static const struct task six = {6, 6, 1e-3, 10000000};
    check_tasks(&six, 1, 200);
}

static void few_pages(void)
{
    static const struct task tasks[] = {{1, 6, 1e-2, 2000000},
                                        {2, 5, 1e-2, 2000000},
                                        {3, 6, 1e-2, 2000000}};
    for (uint64_t pages = 1; pages <= 4; pages++)
        for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
            char what[64];
            struct measurement m = measure(&tasks[i], pages);
            snprintf(what, sizeof what, "%" PRIu64 " pages", pages);
            /* The model is a mean over layers; one of so few lines may be off by more. */
            tap_check(fabs(chance_excess(m.hits, m.queries, m.estimate)) < CHANCE_SIGMAS,
                      "%s: %g, the bits say %g", what, m.hits / m.queries, m.estimate);
            tap_check(fabs(m.estimate / m.model - 1) < 0.15, "%s: the bits say %g, the model %g",
                      what, m.estimate, m.model);
        }
}

/* In a filter of 2^30 pages (4 TB) all keys of a page have the same 30 top bits of hi. */
static void pages_of_a_huge_filter(void)
{
    static const struct geometry geometries[] = {{1, 6, false},
                                                 {3, 6, false},
                                                 {5, 6, false},
                                                 {7, 5, false}};
    enum { PAGES = 40, QUERIES = 40 * BATCH };
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++) {
        struct chance chance = {11 + i};
        struct bits bits = layer_bits(geometries[i], 1);
        struct measurement m = {0};
        uint64_t keys = sizing_capacity(geometries[i], 1, 1e-2);
        for (unsigned j = 0; j < PAGES; j++) {
            struct lines lines;
            uint64_t page = chance_next(&chance) >> 34;
            memset(bits.bytes, 0, PAGE_BYTES);
            lines_start(&lines, "in", j, 0);
            fill(&bits, &lines, keys, page);
            lines_start(&lines, "out", j, 0);
            m.hits += (double)hits_of(&bits, &lines, QUERIES, page);
            m.queries += QUERIES;
            m.estimate += layer_estimate(&bits) / PAGES;
        }
        m.model = sizing_rate(geometries[i], 1, (double)keys);
        char what[64];
        snprintf(what, sizeof what, "%u x %u", geometries[i].lines, geometries[i].fields);
        check(&m, what);
        free(bits.bytes);
    }
}

/* A key that was set is found, whatever else was: not one of 10^6 is lost. */
static void no_false_negative(void)
{
    struct geometry geometry = {.lines = 3, .fields = 6};
    struct bits bits = layer_bits(geometry, 914);
    struct lines lines;
    enum { KEYS = 489 * BATCH };
    lines_start(&lines, "in", 2, 0);
    fill(&bits, &lines, KEYS, ANY_PAGE);
    lines_start(&lines, "in", 2, 0);
    uint64_t hits = hits_of(&bits, &lines, KEYS, ANY_PAGE);
    tap_check(hits == KEYS, "%" PRIu64 " of %d are found", hits, KEYS);
    free(bits.bytes);
}

/* --- planted faults --- */

/* What is wrong with a scheme: */
struct fault {
    const char *name;
    bool no_stride; /* all words of a key in one line: the walk stands still */
    bool no_step;   /* all words of a key are alike */
    bool nine_bits; /* double hashing on the positions themselves: few different patterns */
    bool top_bits;  /* the same in 64 bits, of which the top 9 are taken: hardly more */
};

/* Position t of the present line. */
static uint32_t faulty_position(const struct fault *fault, struct key key, const struct walk *walk,
                                unsigned t)
{
    if (fault->nine_bits)
        return (geometry_field(walk->word, 0) + t * (geometry_field(walk->word, 1) | 1)) %
               LINE_BITS;
    if (fault->top_bits)
        return (uint32_t)((walk->word + t * (key.hi | 1)) >> 55);
    return geometry_field(walk->word, t);
}

/* Which bits of a page a key has. */
static void faulty_bits(const struct fault *fault, struct key key, struct geometry geometry,
                        uint32_t bits[ORACLE_BITS_MAX])
{
    struct walk walk = walk_start(key);
    if (fault->no_stride)
        walk.stride = 0;
    if (fault->no_step)
        walk.step = 0;
    for (unsigned j = 0; j < geometry.lines; j++) {
        for (unsigned t = 0; t < geometry.fields; t++)
            *bits++ = walk.line * LINE_BITS + faulty_position(fault, key, &walk, t);
        walk_next(&walk);
    }
}

static struct measurement measure_fault(const struct fault *fault, struct geometry geometry,
                                        double rate)
{
    enum { PAGES = 30, QUERIES = 1000 * BATCH };
    struct bits bits = layer_bits(geometry, PAGES);
    uint64_t keys = sizing_capacity(geometry, PAGES, rate);
    struct measurement m = {.queries = QUERIES,
                            .model = sizing_rate(geometry, PAGES, (double)keys)};
    struct lines lines;
    uint32_t at[ORACLE_BITS_MAX];
    lines_start(&lines, "in", 3, 0);
    for (uint64_t i = 0; i < keys + QUERIES; i++) {
        struct key key;
        bool all = true;
        if (i == keys)
            lines_start(&lines, "out", 3, 0);
        lines_keys(&lines, &key, 1, 0);
        uint8_t *page = bits.bytes + geometry_page(key, PAGES) * PAGE_BYTES;
        faulty_bits(fault, key, geometry, at);
        for (unsigned t = 0; t < geometry_hashes(geometry); t++) {
            if (i < keys)
                bit_set(page, at[t]);
            all = all && bit_test(page, at[t]);
        }
        m.hits += i >= keys && all;
    }
    free(bits.bytes);
    return m;
}

static void planted_faults(void)
{
    static const struct {
        struct fault fault;
        struct geometry geometry;
    } cases[] = {
        {{.name = "none"}, {3, 6, false}},
        {{.name = "none, one line"}, {1, 7, false}},
        {{.name = "no stride between lines", .no_stride = true}, {3, 6, false}},
        {{.name = "no step between words", .no_step = true}, {3, 6, false}},
        {{.name = "9-bit arithmetic", .nine_bits = true}, {1, 7, false}},
        {{.name = "top bits of sums", .top_bits = true}, {3, 6, false}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fault *fault = &cases[i].fault;
        struct measurement m = measure_fault(fault, cases[i].geometry, 1e-3);
        printf("# %s: %.2f of the model's rate\n", fault->name, m.hits / m.queries / m.model);
        tap_check(agrees(&m, m.model) == (i < 2), "%s: %g, the model says %g", fault->name,
                  m.hits / m.queries, m.model);
    }
}

/* Sized by the textbook's formula, as if bits fell anywhere, a layer is above its rate; sized by
 * ours it is not. */
static void planted_textbook_size(void)
{
    static const struct task tasks[] = {{1, 6, 1e-2, 2000000}, {2, 6, 1e-3, 5000000}};
    enum { PAGES = 300 };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        struct geometry geometry = {.lines = tasks[i].lines, .fields = tasks[i].fields};
        unsigned k = geometry_hashes(geometry);
        /* (1 - e^(-k/b))^k = p, solved for b bits a key. */
        double bits_per_key = -(double)k / log1p(-pow(tasks[i].rate, 1.0 / k));
        uint64_t keys = (uint64_t)(PAGES * (double)PAGE_BITS / bits_per_key);
        struct bits bits = layer_bits(geometry, PAGES);
        struct lines lines;
        lines_start(&lines, "in", 4, 0);
        fill(&bits, &lines, keys, ANY_PAGE);
        lines_start(&lines, "out", 4, 0);
        uint64_t queries = tasks[i].queries / BATCH * BATCH;
        double hits = (double)hits_of(&bits, &lines, queries, ANY_PAGE);
        printf("# %u x %u by the textbook: %.2f of the rate asked for\n", geometry.lines,
               geometry.fields, hits / (double)queries / tasks[i].rate);
        tap_check(chance_excess(hits, (double)queries, tasks[i].rate) > CHANCE_SIGMAS,
                  "the textbook's size of %u x %u passes for the right one", geometry.lines,
                  geometry.fields);
        free(bits.bytes);
        struct measurement m = measure(&tasks[i], PAGES);
        tap_check(chance_excess(m.hits, m.queries, tasks[i].rate) < CHANCE_SIGMAS,
                  "our size of %u x %u: %g", geometry.lines, geometry.fields, m.hits / m.queries);
    }
}

/* --- filters for a part of a list --- */

/* Keys of the lines of a part. What chooses it must have nothing to do with what chooses the
 * page. */
struct part_source {
    struct lines lines, again; /* the same, for the two hashes of each */
    uint32_t parts;
    bool planted; /* the fault: the part comes from the bits that choose the page */
};

static void part_start(struct part_source *source, const char *kind)
{
    lines_start(&source->lines, kind, 5, 0);
    lines_start(&source->again, kind, 5, 0);
}

/* Those of the last part among the next BATCH lines. */
static size_t part_keys(struct part_source *source, struct key keys[BATCH])
{
    struct key made[BATCH], chosen_by[BATCH];
    size_t n = 0;
    lines_keys(&source->lines, made, BATCH, 0);
    lines_keys(&source->again, chosen_by, BATCH, hashers_of_shards().key.k0);
    for (size_t i = 0; i < BATCH; i++) {
        uint32_t part = source->planted ? (uint32_t)((made[i].hi >> 32) * source->parts >> 32) + 1
                                        : shard_part(chosen_by[i], source->parts);
        keys[n] = made[i];
        n += part == source->parts;
    }
    return n;
}

struct part_task {
    uint32_t parts;
    double rate;
    uint64_t pages, queries;
};

static struct measurement measure_part(const struct part_task *task, bool planted, double *uneven)
{
    struct part_source source = {.parts = task->parts, .planted = planted};
    struct geometry geometry = sizing_geometry(task->rate, false);
    struct bits bits = layer_bits(geometry, task->pages);
    uint64_t wanted = sizing_capacity(geometry, task->pages, task->rate), have = 0;
    uint64_t *counts = calloc(task->pages, sizeof *counts);
    struct measurement m = {.model = sizing_rate(geometry, task->pages, (double)wanted)};
    struct key keys[BATCH];
    uint8_t seen[BATCH];
    part_start(&source, "in");
    for (size_t n; have < wanted && counts != NULL; have += n) {
        n = part_keys(&source, keys);
        n = n < wanted - have ? n : (size_t)(wanted - have);
        kernel_best()->set(&bits, keys, n);
        for (size_t i = 0; i < n; i++)
            counts[geometry_page(keys[i], task->pages)]++;
    }
    *uneven = counts != NULL ? chance_unevenness(counts, task->pages) : HUGE_VAL;
    part_start(&source, "out");
    while (m.queries < (double)task->queries) {
        size_t n = part_keys(&source, keys);
        memset(seen, 0, sizeof seen);
        kernel_best()->test(&bits, keys, n, seen);
        m.queries += (double)n;
        for (size_t i = 0; i < n; i++)
            m.hits += seen[i];
    }
    free(counts);
    free(bits.bytes);
    return m;
}

static const struct part_task part_tasks[] = {
    {2, 1e-2, 300, 1000000}, {2, 1e-4, 300, 4000000}, {16, 1e-2, 100, 400000},
    {16, 1e-4, 100, 400000}, {1000, 1e-2, 3, 4000},   {1000, 1e-4, 4, 2000},
};
enum { PART_TASKS = sizeof part_tasks / sizeof *part_tasks };

/* Full of lines of one part, and asked for others of it. */
static void parts_of_a_list(void)
{
    for (size_t i = 0; i < PART_TASKS; i++) {
        const struct part_task *task = &part_tasks[i];
        double uneven;
        struct measurement m = measure_part(task, false, &uneven);
        tap_check(chance_excess(m.hits, m.queries, task->rate) < CHANCE_SIGMAS &&
                      fabs(chance_excess(m.hits, m.queries, m.model)) < CHANCE_SIGMAS,
                  "1 of %" PRIu32 " at %g: %.0f hits of %.0f", task->parts, task->rate, m.hits,
                  m.queries);
        tap_check(fabs(uneven) < CHANCE_SIGMAS, "1 of %" PRIu32 ": pages are uneven by %g",
                  task->parts, uneven);
        printf("# part of %" PRIu32 " at %g: %.2f of the rate, pages %+.1f sigma\n", task->parts,
               task->rate, m.hits / m.queries / task->rate, uneven);
    }
}

static void planted_parts(void)
{
    for (size_t i = 0; i < PART_TASKS; i += 2) {
        const struct part_task *task = &part_tasks[i];
        double uneven;
        struct measurement m = measure_part(task, true, &uneven);
        printf("# planted, of %" PRIu32 ": %.0f times the rate, pages %+.0f sigma\n", task->parts,
               m.hits / m.queries / task->rate, uneven);
        tap_check(chance_excess(m.hits, m.queries, task->rate) > CHANCE_SIGMAS &&
                      uneven > CHANCE_SIGMAS,
                  "parts by the bits of the page pass for good ones: 1 of %" PRIu32, task->parts);
    }
}

int main(void)
{
    tap_run_long("rates of 0.5 to 1e-2, 10^5 hits each", high_rates);
    tap_run_long("rates of 1e-3 and 1e-4", low_rates);
    tap_run_long("the geometries of 1e-9 and 1e-12, at 1e-3 and 1e-4",
                 geometries_of_the_lowest_rates);
    tap_run_long("1 to 4 pages", few_pages);
    tap_run_long("pages of a filter of 2^30 pages", pages_of_a_huge_filter);
    tap_run("no false negative among 10^6", no_false_negative);
    tap_run_long("planted faults of the geometry are found", planted_faults);
    tap_run("the planted textbook size is found", planted_textbook_size);
    tap_run("filters that are full of one part of 2, 16, 1000", parts_of_a_list);
    tap_run("parts by the bits that choose the page are found", planted_parts);
    return tap_end();
}
