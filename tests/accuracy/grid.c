/*
 * grid - measures false-positive rates over the whole range of sizes and rates, as tables in
 * Markdown on stdout.
 *
 *     grid [--quick] [--jobs N]
 *
 * The filters are those of the program, in memory; keys and queries are lines (../unit/lines.h),
 * hashed as the program does. What is measured does not depend on the machine or on the number of
 * jobs. --quick: a twentieth of the queries, no filters above 10^6 keys.
 *
 * Exit: 0, or 1 if a cell fails, or 2.
 *
 * A cell fails if hits exceed those of p by more than 3 standard deviations of their number, twice,
 * the second time with another seed and other lines.
 */
#include "core/sizing.h"
#include "filter/filter.h"

#include "../unit/lines.h"
#include "filter/probe.h"
#include "filter/survey.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 2048, UNIT = 4 * BATCH, JOBS_MAX = 64 };

static struct {
    bool quick;
    unsigned jobs;
    unsigned failed;
    uint64_t *hits; /* of each job, in memory that all share */
} grid = {.jobs = 1};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "grid: %s\n", what);
    exit(2);
}

/* --- filters --- */

/* A filter under measurement, and where its lines come from. */
struct subject {
    struct filter *filter;
    struct lines lines;
    uint64_t given; /* distinct lines so far */
    unsigned run;
};

/* Runs differ in their lines; the second attempt at a cell in its seed, too. */
static struct subject subject_new(const struct filter_plan *plan, unsigned instance,
                                  unsigned attempt)
{
    struct fault fault;
    struct header header = {.plan = *plan, .hasher = hasher_xxh3(attempt)};
    struct subject subject = {.run = attempt * 1000 + instance};
    subject.filter = filter_memory(&header, NULL, &fault);
    if (subject.filter == NULL)
        die(fault.reason);
    lines_start(&subject.lines, "in", subject.run, 0);
    return subject;
}

/* Gives it up to `most` lines, until `inside` keys are in. */
static void subject_fill(struct subject *subject, uint64_t most, uint64_t inside)
{
    struct key keys[BATCH];
    uint8_t seen[BATCH];
    struct fault fault;
    uint64_t seed = store_header(filter_store(subject->filter))->hasher.k0;
    while (subject->given < most && store_keys(filter_store(subject->filter)) < inside) {
        uint64_t left = most - subject->given;
        size_t n = left < BATCH ? (size_t)left : BATCH;
        lines_keys(&subject->lines, keys, n, seed);
        uint64_t room = inside - store_keys(filter_store(subject->filter));
        if (filter_claim(subject->filter, keys, n, room, seen, &fault) < 0)
            die(fault.reason);
        subject->given += n;
    }
}

static uint64_t subject_pages(const struct subject *subject)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < store_layers(filter_store(subject->filter)); i++)
        pages += store_bits(filter_store(subject->filter), i)->pages;
    return pages;
}

/* --- measuring --- */

/* Counts hits among units from..to of lines that are not in the filter. */
static uint64_t count_hits(struct subject *subject, uint64_t from, uint64_t to)
{
    struct key keys[BATCH];
    uint8_t seen[BATCH];
    struct lines lines;
    struct fault fault;
    uint64_t seed = store_header(filter_store(subject->filter))->hasher.k0, hits = 0;
    lines_start(&lines, "out", subject->run, from * UNIT / LINES_SHAPES);
    for (uint64_t i = from * UNIT / BATCH; i < to * UNIT / BATCH; i++) {
        lines_keys(&lines, keys, BATCH, seed);
        if (probe(filter_store(subject->filter), keys, BATCH, seen, &fault) != 0)
            die(fault.reason);
        for (size_t j = 0; j < BATCH; j++)
            hits += seen[j];
    }
    return hits;
}

/* The same by all jobs together, each with its part of the lines. */
static uint64_t count_hits_together(struct subject *subject, uint64_t units)
{
    uint64_t total = 0;
    fflush(stdout);
    for (unsigned job = 0; job < grid.jobs; job++) {
        pid_t child = fork();
        if (child < 0)
            die("cannot fork");
        if (child == 0) {
            grid.hits[job] = count_hits(subject, units * job / grid.jobs,
                                        units * (job + 1) / grid.jobs);
            _exit(0);
        }
    }
    for (unsigned job = 0; job < grid.jobs; job++) {
        int status;
        if (wait(&status) < 0 || status != 0)
            die("a job failed");
    }
    for (unsigned job = 0; job < grid.jobs; job++)
        total += grid.hits[job];
    return total;
}

struct measurement {
    double queries, hits;
};

static void measure(struct subject *subject, double queries, struct measurement *m)
{
    uint64_t units = (uint64_t)ceil(queries / UNIT);
    m->hits += (double)count_hits_together(subject, units);
    m->queries += (double)(units * UNIT);
}

/* Enough for 10^4 hits at rate p, for 10^3 below 1e-4; never fewer than a million. */
static double queries_for(double p)
{
    double queries = (p >= 0.99e-4 ? 1e4 : 1e3) / p;
    if (grid.quick)
        queries /= 20;
    return queries < 1e6 ? 1e6 : queries;
}

static double sigmas_above(const struct measurement *m, double rate)
{
    return (m->hits - m->queries * rate) / sqrt(m->queries * rate);
}

static const char *verdict(bool pass, bool again)
{
    grid.failed += !pass;
    return !pass ? "**fail**" : again ? "pass, second attempt" : "pass";
}

#define CELL(format, value) printf(" " format " |", (double)(value))

/* --- fixed and default --- */

static const double rates[] = {0.5, 1e-1, 1e-2, 1e-4, 1e-6};
static const double sizes[] = {100, 1e4, 1e6, 1e7};
enum { RATES = sizeof rates / sizeof *rates, SIZES = sizeof sizes / sizeof *sizes };

static void grid_head(void)
{
    printf("| n | p | lines inside | layers | bits per key | classic | queries | hits | measured | "
           "measured / p | sigma above p | |\n"
           "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
}

/* What is measured of a plan at `times` its capacity: means over several filters where they are so
 * small that one may be unlike another. */
struct row {
    struct measurement m;
    double keys, bits_per_key;
    unsigned layers;
};

static struct row measure_row(const struct filter_plan *plan, double times, unsigned attempt)
{
    struct row row = {.keys = 0};
    double instances = 1e6 / (double)plan->capacity;
    unsigned count = instances > 64 ? 64 : instances < 1 ? 1 : (unsigned)instances;
    for (unsigned i = 0; i < count; i++) {
        struct subject subject = subject_new(plan, i, attempt);
        uint64_t n = (uint64_t)((double)plan->capacity * times);
        subject_fill(&subject, plan->fixed ? n : UINT64_MAX, plan->fixed ? UINT64_MAX : n);
        measure(&subject, queries_for(plan->rate) / count, &row.m);
        row.keys = (double)n;
        row.bits_per_key = sizing_bits_per_key(subject_pages(&subject), row.keys);
        row.layers = store_layers(filter_store(subject.filter));
        filter_close(subject.filter);
    }
    return row;
}

static void print_row(const struct filter_plan *plan, const struct row *row)
{
    double p = plan->rate;
    printf("|");
    CELL("%.0f", (double)plan->capacity);
    CELL("%g", p);
    CELL("%.0f", row->keys);
    CELL("%.0f", row->layers);
    CELL("%.2f", row->bits_per_key);
    CELL("%.2f", sizing_classic_bits_per_key(p));
    CELL("%.0f", row->m.queries);
    CELL("%.0f", row->m.hits);
    CELL("%.3g", row->m.hits / row->m.queries);
    CELL("%.3f", row->m.hits / row->m.queries / p);
    CELL("%.1f", sigmas_above(&row->m, p));
}

/* At most p; with --fixed, from 10^6 keys on, at least 0.7 p, and at most 6 % larger than the
 * classic filter. */
static bool row_passes(const struct filter_plan *plan, const struct row *row)
{
    if (sigmas_above(&row->m, plan->rate) > 3)
        return false;
    return !plan->fixed || plan->capacity < 1000000 ||
           (sigmas_above(&row->m, 0.7 * plan->rate) >= -3 &&
            row->bits_per_key <= 1.06 * sizing_classic_bits_per_key(plan->rate));
}

static void run_row(const struct filter_plan *plan, double times)
{
    unsigned attempt = 0;
    struct row row = measure_row(plan, times, attempt);
    if (!row_passes(plan, &row))
        row = measure_row(plan, times, ++attempt);
    print_row(plan, &row);
    printf(" %s |\n", verdict(row_passes(plan, &row), attempt != 0));
}

static bool too_large(double n)
{
    return grid.quick && n > 1e6;
}

static void section_fixed(void)
{
    printf(
        "\n## --fixed, full\n\n"
        "Inside are n distinct lines, counting those that were taken for seen when they came.\n\n");
    grid_head();
    for (size_t i = 0; i < SIZES; i++)
        for (size_t j = 0; j < RATES && !too_large(sizes[i]); j++) {
            struct filter_plan plan = {.rate = rates[j],
                                       .capacity = (uint64_t)sizes[i],
                                       .fixed = true};
            run_row(&plan, 1);
        }
}

static void section_default(void)
{
    printf(
        "\n## -n, full and grown to 3 n\n\n"
        "Inside are n distinct lines, not counting those that were taken for seen: layers change\n"
        "by this number.\n\n");
    grid_head();
    for (size_t i = 1; i < SIZES; i += 2)
        for (size_t j = 0; j < RATES && !too_large(sizes[i]); j++) {
            struct filter_plan plan = {.rate = rates[j], .capacity = (uint64_t)sizes[i]};
            run_row(&plan, 1);
            run_row(&plan, 3);
        }
}

/* --- the lowest rates --- */

/* What the bits say of a filter that no number of queries could measure. */
static void lowest_estimate(double p)
{
    struct filter_plan plan = {.rate = p, .capacity = 1000000, .fixed = true};
    struct subject subject = subject_new(&plan, 0, 0);
    struct survey survey;
    subject_fill(&subject, UINT64_MAX, plan.capacity);
    survey_make(&survey, filter_store(subject.filter));
    double bits_per_key = sizing_bits_per_key(survey.pages, (double)plan.capacity);
    double classic = sizing_classic_bits_per_key(p);
    struct geometry geometry = survey.layer[0].plan.geometry;
    printf("| %u x %u |", geometry.lines, geometry.fields);
    CELL("%g", p);
    CELL("%.0f", (double)store_keys(filter_store(subject.filter)));
    CELL("%.2f", bits_per_key);
    CELL("%.2f", classic);
    printf(" from the bits | |");
    CELL("%.3g", survey.rate);
    CELL("%.3f", survey.rate / p);
    printf(" | %s |\n",
           verdict(survey.rate <= p && survey.rate >= 0.7 * p && bits_per_key <= 1.06 * classic,
                   false));
    filter_close(subject.filter);
}

/* The same lines and fields where hits can be counted: is the rate that of the model? */
static void lowest_proof(struct geometry geometry, double p)
{
    struct filter_plan plan = {.rate = p, .capacity = 1000000, .geometry = geometry, .fixed = true};
    struct subject subject = subject_new(&plan, 0, 0);
    struct measurement m = {0, 0};
    subject_fill(&subject, UINT64_MAX, plan.capacity);
    measure(&subject, queries_for(p) * (p < 1e-4 ? 5 : 1), &m);
    double model = sizing_rate(geometry, subject_pages(&subject), (double)plan.capacity);
    double off = sigmas_above(&m, model);
    printf("| %u x %u |", geometry.lines, geometry.fields);
    CELL("%g", p);
    CELL("%.0f", (double)store_keys(filter_store(subject.filter)));
    CELL("%.2f", sizing_bits_per_key(subject_pages(&subject), (double)plan.capacity));
    printf(" |");
    CELL("%.0f", m.queries);
    CELL("%.0f", m.hits);
    CELL("%.3g", m.hits / m.queries);
    CELL("%.3f", m.hits / m.queries / p);
    CELL("%.1f", off);
    /* A percent for the one filter at hand. */
    printf(" %s |\n", verdict(fabs(off) <= 3 + 0.01 * sqrt(m.hits), false));
    filter_close(subject.filter);
}

static void section_lowest(void)
{
    static const double lowest[] = {1e-9, 1e-12};
    static const double measurable[] = {1e-2, 1e-3, 1e-4, 1e-5};
    printf(
        "\n## 1e-9 and 1e-12\n\n"
        "What cannot be measured is read off the bits, page by page; and the same lines and\n"
        "fields are measured at rates where they can be, against the model that sizes them.\n\n"
        "| g x f | p | keys inside | bits per key | classic | queries | hits | rate | rate / p | "
        "sigma off the model | |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    for (size_t i = 0; i < 2; i++) {
        lowest_estimate(lowest[i]);
        for (size_t j = 0; j < sizeof measurable / sizeof *measurable; j++)
            lowest_proof(sizing_geometry(lowest[i], false), measurable[j]);
    }
}

/* --- stats --- */

/* Keys within 1 % while fill is below 99 %, rate within 10 % or 3 sigma of what was counted. */
static void stats_row(struct subject *subject, const struct filter_plan *plan, double times)
{
    struct survey survey;
    struct measurement m = {0, 0};
    subject_fill(subject, (uint64_t)((double)plan->capacity * times), UINT64_MAX);
    survey_make(&survey, filter_store(subject->filter));
    double queries = survey.rate > 0 ? 1e4 / survey.rate : 1e7;
    double most = grid.quick ? 1e6 : 2e7;
    measure(subject, queries < 1e6 ? 1e6 : queries > most ? most : queries, &m);
    double rate = m.hits / m.queries, given = (double)subject->given;
    double error = 3 * sqrt(m.hits + 1) / m.queries;
    bool keys_pass = survey.fill >= 0.99 || fabs(survey.keys / given - 1) <= 0.01;
    bool rate_passes = fabs(survey.rate - rate) <= fmax(0.1 * rate, error);
    printf("|");
    CELL("%.0f", (double)plan->capacity);
    CELL("%g", plan->rate);
    CELL("%g", times);
    CELL("%.0f", given);
    CELL("%.0f", survey.keys);
    CELL("%.4f", survey.keys / given);
    CELL("%.4f", survey.fill);
    CELL("%.0f", m.queries);
    CELL("%.0f", m.hits);
    CELL("%.4g", rate);
    CELL("%.4g", survey.rate);
    printf(" %s |\n", verdict(keys_pass && rate_passes, false));
}

static void section_stats(void)
{
    static const double stats_rates[] = {1e-1, 1e-2, 1e-4, 1e-6};
    static const double stats_sizes[] = {1e5, 1e7};
    static const double parts[] = {0.5, 1, 5};
    printf(
        "\n## What stats says, with --fixed\n\n"
        "| n | p | times n | lines given | keys by stats | keys / lines | fill | queries | hits | "
        "measured | rate by stats | |\n"
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 4 && !too_large(stats_sizes[i]); j++) {
            struct filter_plan plan = {.rate = stats_rates[j],
                                       .capacity = (uint64_t)stats_sizes[i],
                                       .fixed = true};
            struct subject subject = subject_new(&plan, 0, 0);
            for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
                stats_row(&subject, &plan, parts[k]);
            filter_close(subject.filter);
        }
}

/* --- growth --- */

/* Without -n, at each point where all layers are full, which is when the rate is at its worst. */
static void growth_of(double rate, double most)
{
    struct filter_plan plan = {.rate = rate, .pages = GROWTH_FILE_PAGES};
    struct subject subject = subject_new(&plan, 0, 0);
    double keys, first = (double)store_capacity(filter_store(subject.filter));
    while ((keys = (double)store_capacity(filter_store(subject.filter))) <= most * first) {
        struct measurement m = {0, 0};
        subject_fill(&subject, UINT64_MAX, (uint64_t)keys);
        measure(&subject, queries_for(rate), &m);
        printf("|");
        CELL("%g", rate);
        CELL("%.1f", keys / first);
        CELL("%.0f", keys);
        CELL("%.0f", store_layers(filter_store(subject.filter)));
        CELL("%.1f", (double)subject_pages(&subject) * PAGE_BYTES / (1 << 20));
        CELL("%.0f", m.queries);
        CELL("%.0f", m.hits);
        CELL("%.3g", m.hits / m.queries);
        CELL("%.3f", m.hits / m.queries / rate);
        CELL("%.1f", sigmas_above(&m, rate));
        printf(" %s |\n", verdict(sigmas_above(&m, rate) <= 3, false));
        /* The next key makes the next layer. */
        subject_fill(&subject, UINT64_MAX, (uint64_t)keys + 1);
    }
    filter_close(subject.filter);
}

static void section_growth(void)
{
    printf("\n## Growth of a file without -n\n\n"
           "Its first layer has 1 MB. The rate is at its worst when all layers are full.\n\n"
           "| p | times the first layer | keys | layers | MB | queries | hits | measured | "
           "measured / p | sigma above p | |\n"
           "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    growth_of(1e-6, grid.quick ? 10 : 1000);
    growth_of(1e-3, grid.quick ? 10 : 1000);
}

/* --- all of it --- */

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--quick") == 0)
            grid.quick = true;
        else if (strcmp(argv[i], "--jobs") == 0 && i + 1 < argc)
            grid.jobs = (unsigned)strtoul(argv[++i], NULL, 10);
        else
            die("usage: grid [--quick] [--jobs N]");
    if (grid.jobs < 1 || grid.jobs > JOBS_MAX)
        die("--jobs: 1 to 64");
    grid.hits = mmap(NULL, JOBS_MAX * sizeof *grid.hits, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (grid.hits == MAP_FAILED)
        die("out of memory");
    section_fixed();
    section_default();
    section_lowest();
    section_stats();
    section_growth();
    if (fflush(stdout) != 0 || ferror(stdout))
        die("stdout: cannot write");
    return grid.failed != 0;
}
