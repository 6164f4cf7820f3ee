/*
 * From lines to false positives: the rate of real layers, with the real hash and the real loops,
 * against the model that sizes them.
 *
 * A check that never fails proves nothing: parts of a list that are told apart by the bits of the
 * page are such a fault, and the same check must find it.
 */
#include "core/estimate.h"
#include "core/shard.h"
#include "core/sizing.h"

#include "layer.h"
#include "lines.h"
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

/* --- keys --- */

#define ANY_PAGE UINT64_MAX

/* Keys of lines. Those of the last of so many parts of the list; what chooses the part must have
 * nothing to do with what chooses the page. Or keys that are moved to one page of 2^30, as if all
 * others of a huge filter were not there: the top 30 bits of hi are the page's number. */
struct source {
    struct lines lines, again; /* the same, for the two hashes of each */
    uint32_t parts;
    bool planted; /* the fault: the part comes from the bits that choose the page */
    uint64_t page;
};

static void source_start(struct source *source, const char *kind, unsigned run)
{
    lines_start(&source->lines, kind, run, 0);
    lines_start(&source->again, kind, run, 0);
}

/* Those among the next BATCH lines. */
static size_t source_keys(struct source *source, struct key keys[BATCH])
{
    struct key chosen_by[BATCH];
    size_t n = 0;
    lines_keys(&source->lines, keys, BATCH, 0);
    for (size_t i = 0; source->page != ANY_PAGE && i < BATCH; i++)
        keys[i].hi = source->page << 34 | keys[i].hi >> 30;
    if (source->parts == 1)
        return BATCH;
    lines_keys(&source->again, chosen_by, BATCH, hashers_of_shards().key.k0);
    for (size_t i = 0; i < BATCH; i++) {
        uint32_t part = source->planted ? (uint32_t)((keys[i].hi >> 32) * source->parts >> 32) + 1
                                        : shard_of_key(chosen_by[i], source->parts);
        keys[n] = keys[i];
        n += part == source->parts;
    }
    return n;
}

static void fill(const struct bits *bits, struct source *source, uint64_t count)
{
    struct key keys[BATCH];
    while (count > 0) {
        size_t n = source_keys(source, keys);
        n = n < count ? n : (size_t)count;
        kernel_best()->set(bits, keys, n);
        count -= n;
    }
}

static void ask(const struct bits *bits, struct source *source, uint64_t count,
                struct measurement *m)
{
    struct key keys[BATCH];
    uint8_t seen[BATCH];
    for (double end = m->queries + (double)count; m->queries < end;) {
        size_t n = source_keys(source, keys);
        memset(seen, 0, n);
        kernel_best()->test(bits, keys, n, seen);
        m->queries += (double)n;
        for (size_t i = 0; i < n; i++)
            m->hits += seen[i];
    }
}

/* --- the true rate --- */

struct task {
    uint8_t blocks, fields;
    double rate;
    uint64_t queries;
    uint32_t parts;
};

static struct measurement measure(const struct task *task, bool planted)
{
    uint64_t pages = task->parts == 1 ? 300 : 8;
    struct geometry geometry = {.blocks = task->blocks, .fields = task->fields};
    struct bits bits = layer_bits(geometry, pages);
    uint64_t keys = sizing_capacity(geometry, pages, task->rate);
    struct source source = {.parts = task->parts, .planted = planted, .page = ANY_PAGE};
    struct measurement m = {.model = sizing_rate(geometry, pages, (double)keys)};
    source_start(&source, "in", 1);
    fill(&bits, &source, keys);
    source_start(&source, "out", 1);
    ask(&bits, &source, task->queries, &m);
    m.estimate = layer_estimate(&bits);
    free(bits.bytes);
    return m;
}

/* Each task has thousands of hits, enough to find the planted faults. The geometries chosen for
 * 10^-9 and 10^-12 have too few hits to measure at those rates. They are measured at a fill where
 * hits are many: blocks and fields that are less than random would show there, too. */
static void true_rates(void)
{
    struct geometry nine = sizing_geometry(1e-9, false), twelve = sizing_geometry(1e-12, false);
    const struct task tasks[] = {
        {1, 1, 0.5, 200000, 1},
        {1, 2, 0.2, 200000, 1},
        {1, 3, 0.1, 400000, 1},
        {1, 6, 1e-2, 2000000, 1},
        {16, 1, 0.1, 400000, 1},
        {7, 5, 0.1, 400000, 1},
        {2, 5, 1e-3, 4000000, 1},
        {8, 2, 1e-3, 4000000, 1},
        {16, 7, 1e-2, 500000, 1},
        {3, 6, 1e-3, 4000000, 1},
        {1, 6, 1e-2, 300000, 2},
        {1, 6, 1e-2, 100000, 16},
        {1, 6, 1e-2, 30000, 100},
        {nine.blocks, nine.fields, 1e-3, 4000000, 1},
        {twelve.blocks, twelve.fields, 1e-3, 4000000, 1},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        char what[64];
        struct measurement m = measure(&tasks[i], false);
        snprintf(what, sizeof what, "%u x %u at %g, 1 of %" PRIu32, tasks[i].blocks,
                 tasks[i].fields, tasks[i].rate, tasks[i].parts);
        check(&m, what);
        if (tasks[i].parts == 1)
            continue;
        m = measure(&tasks[i], true);
        tap_check(!agrees(&m, m.model), "%s: parts by the bits of the page pass for good ones",
                  what);
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
            struct source source = {.parts = 1, .page = chance_next(&chance) >> 34};
            memset(bits.bytes, 0, PAGE_BYTES);
            source_start(&source, "in", j);
            fill(&bits, &source, keys);
            source_start(&source, "out", j);
            ask(&bits, &source, QUERIES, &m);
            m.estimate += layer_estimate(&bits) / PAGES;
        }
        m.model = sizing_rate(geometries[i], 1, (double)keys);
        char what[64];
        snprintf(what, sizeof what, "%u x %u", geometries[i].blocks, geometries[i].fields);
        check(&m, what);
        free(bits.bytes);
    }
}

int main(void)
{
    tap_run_long("rates of 0.5 to 1e-3, the geometries of 1e-9 and 1e-12, parts of a list",
                 true_rates);
    tap_run_long("pages of a filter of 2^30 pages", pages_of_a_huge_filter);
    return tap_end();
}
