/*
 * parts - simulates lists that are split into parts, of up to 10^11 lines, as tables in Markdown on
 * stdout: are parts even; has a filter with the lines of one part its rate; have all filters
 * together, and the one that they are merged into?
 *
 *     parts [--quick] [--jobs N]
 *
 * Lines are numbers of 8 bytes, hashed and split as the program does it; the filters are those of
 * the program, in memory. Lines of one part are found by trying all, so a part of 10^8 of a
 * thousand needs a list of 10^11. What is measured does not depend on the machine or on the number
 * of jobs.
 * --quick: lists of at most 10^8 lines.
 *
 * Exit: 0, or 1 if a row fails, or 2.
 *
 * A row fails if a count is further from what chance gives than 6 standard deviations.
 */
#include "core/join.h"
#include "core/little.h"
#include "core/shard.h"
#include "core/sizing.h"
#include "delivery/filter.h"

#include "../unit/chance.h"
#include "store/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    BATCH = 2048,
    JOBS_MAX = 64,
    ROUND = 1 << 20, /* lines of a part that are looked for at a time */
    FEW = 256,
    CELLS = 4096, /* to which keys are counted */
    PARTS_MOST = 4096
};

/* Lines that are asked for are other ones. */
#define ASKED (UINT64_C(1) << 62)

/* What jobs tell, in memory that all share. */
struct told {
    uint64_t found;
    struct key keys[2 * ROUND];
};

static struct {
    bool quick;
    unsigned jobs;
    unsigned failed;
    struct told *told;
} parts = {.jobs = 1};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "parts: %s\n", what);
    exit(2);
}

static void *shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("out of memory");
    return memory;
}

static const char *verdict(bool pass)
{
    parts.failed += !pass;
    return pass ? "pass" : "**fail**";
}

#define CELL(format, value) printf(" " format " |", (double)(value))

/* --- lines --- */

static struct key key_of(uint64_t line, struct hasher hasher)
{
    uint8_t bytes[8];
    store64(bytes, line);
    return hash_key(bytes, sizeof bytes, hasher);
}

static struct key line_key(uint64_t line)
{
    return key_of(line, hashers_of_keys(hasher_xxh3(0)).key);
}

static struct key shard_key(uint64_t line)
{
    return key_of(line, hashers_of_shards().key);
}

/* What tells most lines of other parts in a fifth of the time: the same hash, inlined, of which the
 * first jump is enough, since buckets only go up; and that without its division. */
static bool may_be_in(uint64_t line, struct shard shard)
{
    uint8_t bytes[8];
    store64(bytes, line);
    uint64_t k = XXH3_128bits_withSeed(bytes, sizeof bytes, hashers_of_shards().key.k0).low64;
    uint64_t least = ((k * SHARD_FACTOR + 1) >> 33) + 1; /* the jump is 2^31 / least */
    return shard.part == 1 ? shard.parts * least <= UINT64_C(1) << 31
                           : shard.part * least > UINT64_C(1) << 31;
}

static bool is_in(uint64_t line, struct shard shard)
{
    return may_be_in(line, shard) && shard_part(shard_key(line), shard.parts) == shard.part;
}

/* Runs each job as a process, with its share of the lines from..to; and waits for them. */
static void together(void (*job)(unsigned job, uint64_t from, uint64_t to, const void *with),
                     uint64_t from, uint64_t to, const void *with)
{
    fflush(stdout);
    for (unsigned i = 0; i < parts.jobs; i++) {
        pid_t child = fork();
        if (child < 0)
            die("cannot fork");
        if (child == 0) {
            uint64_t share = (to - from) / parts.jobs;
            job(i, from + i * share, i + 1 == parts.jobs ? to : from + (i + 1) * share, with);
            _exit(0);
        }
    }
    for (unsigned i = 0; i < parts.jobs; i++) {
        int status;
        if (wait(&status) < 0 || status != 0)
            die("a job failed");
    }
}

/* --- are parts even? --- */

static const uint32_t splits[] = {8, 100, 1000, 4096};
enum { SPLITS = sizeof splits / sizeof *splits };

static uint64_t (*even_counts)[SPLITS][PARTS_MOST]; /* of each job */

static void even_job(unsigned job, uint64_t from, uint64_t to, const void *with)
{
    struct key keys[BATCH];
    uint32_t part[BATCH];
    (void)with;
    for (uint64_t line = from; line < to; line += BATCH) {
        size_t n = to - line < BATCH ? (size_t)(to - line) : BATCH;
        for (size_t i = 0; i < n; i++)
            keys[i] = shard_key(line + i);
        for (size_t s = 0; s < SPLITS; s++) {
            shard_parts(keys, n, splits[s], part);
            for (size_t i = 0; i < n; i++)
                even_counts[job][s][part[i] - 1]++;
        }
    }
}

static void even_row(uint64_t *counts, uint32_t count, double keys)
{
    double mean = keys / count, sigma = sqrt(mean * (1 - 1.0 / count));
    double least = keys, most = 0, uneven = chance_unevenness(counts, count);
    for (uint32_t i = 0; i < count; i++) {
        least = fmin(least, (double)counts[i]);
        most = fmax(most, (double)counts[i]);
    }
    printf("|");
    CELL("%.0f", count);
    CELL("%.0f", mean);
    CELL("%.0f", least);
    CELL("%.0f", most);
    CELL("%.5f", most / mean);
    CELL("%.5f", 1 + 6 * sigma / mean);
    CELL("%+.1f", uneven);
    printf(" %s |\n",
           verdict(most <= mean + CHANCE_SIGMAS * sigma && least >= mean - CHANCE_SIGMAS * sigma &&
                   fabs(uneven) <= CHANCE_SIGMAS));
}

static void section_even(void)
{
    uint64_t keys = parts.quick ? 10000000 : 1000000000;
    even_counts = shared(parts.jobs * sizeof *even_counts);
    together(even_job, 0, keys, NULL);
    printf("\n## Parts of a list: are they even?\n\n"
           "%" PRIu64 " lines. *uneven* is chi square over all parts, in standard deviations.\n"
           "From here on a row fails by 6 standard deviations: from chance, above p, or below\n"
           "0.7 p. Lines are numbers; those of a part are found by trying all of the list.\n\n"
           "| parts | lines in one, mean | smallest | largest | largest / mean | 6 sigma are | "
           "uneven | |\n|--:|--:|--:|--:|--:|--:|--:|---|\n",
           keys);
    for (size_t s = 0; s < SPLITS; s++) {
        for (unsigned job = 1; job < parts.jobs; job++)
            for (uint32_t i = 0; i < splits[s]; i++)
                even_counts[0][s][i] += even_counts[job][s][i];
        even_row(even_counts[0][s], splits[s], (double)keys);
    }
}

/* --- filters --- */

static struct filter *filter_new(uint64_t capacity, double rate, bool fixed)
{
    struct fault fault;
    struct header header = {.plan = {.capacity = capacity, .rate = rate, .fixed = fixed},
                            .hasher = hasher_xxh3(0)};
    struct filter *filter = filter_memory(&header, NULL, &fault);
    if (filter == NULL)
        die(fault.reason);
    return filter;
}

static void give(struct filter *filter, const struct key *keys, size_t n)
{
    uint8_t seen[BATCH];
    struct fault fault;
    for (size_t i = 0; i < n; i += BATCH)
        if (filter_claim(filter, keys + i, n - i < BATCH ? n - i : BATCH, UINT64_MAX, seen,
                         &fault) < 0)
            die(fault.reason);
}

static uint64_t ask(struct filter *filter, const struct key *keys, size_t n)
{
    uint8_t seen[BATCH];
    struct fault fault;
    uint64_t hits = 0;
    for (size_t i = 0; i < n; i += BATCH) {
        size_t count = n - i < BATCH ? n - i : BATCH;
        if (probe(filter_store(filter), keys + i, count, seen, &fault) != 0)
            die(fault.reason);
        for (size_t j = 0; j < count; j++)
            hits += seen[j];
    }
    return hits;
}

static bool is_true(double hits, double queries, double rate)
{
    return chance_excess(hits, queries, rate) <= CHANCE_SIGMAS &&
           chance_excess(hits, queries, 0.7 * rate) >= -CHANCE_SIGMAS;
}

static void print_rate(double hits, double queries, double rate)
{
    CELL("%.0f", queries);
    CELL("%.0f", hits);
    CELL("%.3g", hits / queries);
    CELL("%.3f", hits / queries / rate);
    CELL("%.1f", chance_excess(hits, queries, rate));
}

/* --- one part --- */

static void find_job(unsigned job, uint64_t from, uint64_t to, const void *with)
{
    const struct shard *shard = with;
    struct told *told = &parts.told[job];
    told->found = 0;
    for (uint64_t line = from; line < to; line++)
        if (is_in(line, *shard)) {
            if (told->found == 2 * ROUND)
                _exit(1);
            told->keys[told->found++] = line_key(line);
        }
}

/* How evenly bits of keys are spread that choose page, lines, and fields. */
struct spread {
    uint64_t page[CELLS], lines[CELLS], fields[CELLS];
};

static void spread_add(struct spread *spread, const struct key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct walk walk = walk_start(keys[i]);
        spread->page[geometry_page(keys[i], CELLS)]++;
        spread->lines[walk.line * PAGE_LINES + walk.stride]++;
        spread->fields[walk.word % CELLS]++;
    }
}

/* Strides are odd: half of the cells stay empty. */
static double spread_of_lines(struct spread *spread)
{
    for (size_t i = 0; i < CELLS / 2; i++)
        spread->lines[i] = spread->lines[2 * i + 1];
    return chance_unevenness(spread->lines, CELLS / 2);
}

enum { FILTERS_MAX = 3 };

/* What is asked of one part: filters for `lines` of its lines, one of each rate, get `times` as
 * many, and are then asked for others. */
struct part_task {
    struct shard shard;
    double lines, times, queries;
    double rates[FILTERS_MAX];
};

struct part_state {
    struct filter *filters[FILTERS_MAX];
    uint64_t hits[FILTERS_MAX];
    struct spread spread;
};

/* Gives all filters `wanted` lines of the part, or asks them. Returns how many lines of the list
 * that took, in rounds. */
static double feed(const struct part_task *task, struct part_state *state, uint64_t first,
                   uint64_t wanted)
{
    uint64_t line = first, from;
    for (uint64_t have = 0; have < wanted;) {
        uint64_t round = wanted - have < ROUND ? wanted - have + FEW : ROUND;
        from = line, line += round * task->shard.parts;
        together(find_job, from, line, &task->shard);
        for (unsigned job = 0; job < parts.jobs && have < wanted; job++) {
            const struct told *told = &parts.told[job];
            size_t n = told->found < wanted - have ? (size_t)told->found : (size_t)(wanted - have);
            for (size_t f = 0; f < FILTERS_MAX && task->rates[f] != 0; f++)
                if (first == 0)
                    give(state->filters[f], told->keys, n);
                else
                    state->hits[f] += ask(state->filters[f], told->keys, n);
            if (first == 0)
                spread_add(&state->spread, told->keys, n);
            have += n;
        }
    }
    return (double)(line - first);
}

static void part_rows(const struct part_task *task)
{
    struct part_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        die("out of memory");
    for (size_t f = 0; f < FILTERS_MAX && task->rates[f] != 0; f++)
        state->filters[f] = filter_new((uint64_t)task->lines, task->rates[f], task->times == 1);
    double tried = feed(task, state, 0, (uint64_t)(task->lines * task->times));
    feed(task, state, ASKED, (uint64_t)task->queries);
    double page = chance_unevenness(state->spread.page, CELLS);
    double lines = spread_of_lines(&state->spread);
    double fields = chance_unevenness(state->spread.fields, CELLS);
    bool even = fmax(fabs(page), fmax(fabs(lines), fabs(fields))) <= CHANCE_SIGMAS;
    for (size_t f = 0; f < FILTERS_MAX && task->rates[f] != 0; f++) {
        printf("| %" PRIu32 " of %" PRIu32 " |", task->shard.part, task->shard.parts);
        CELL("%.0e", tried);
        CELL("%.0f", task->lines);
        CELL("%.0f", task->lines * task->times);
        CELL("%.0f", store_regions(filter_store(state->filters[f])));
        printf(" %+.1f, %+.1f, %+.1f |", page, lines, fields);
        CELL("%g", task->rates[f]);
        print_rate((double)state->hits[f], task->queries, task->rates[f]);
        printf(" %s |\n",
               verdict(even && is_true((double)state->hits[f], task->queries, task->rates[f])));
        filter_close(state->filters[f]);
    }
    free(state);
}

static void section_part(void)
{
    static const struct part_task quick_tasks[] = {
        {{1, 8}, 1e6, 1, 1e6, {1e-2, 1e-4}},
        {{8, 8}, 3e5, 3, 1e6, {1e-2}},
        {{1, 100}, 2e5, 1, 2e5, {1e-2}},
    };
    static const struct part_task tasks[] = {
        {{1, 8}, 1e7, 1, 1e7, {1e-2, 1e-4}},
        {{8, 8}, 1e7, 1, 1e7, {1e-2, 1e-4}},
        {{100, 100}, 1e6, 1, 1e6, {1e-2}},
        {{517, 1000}, 3e5, 1, 3e5, {1e-2}},
        {{4096, 4096}, 1e5, 1, 1e5, {1e-2}},
        {{3, 8}, 3e6, 3, 1e7, {1e-2, 1e-4}},
        {{1, 1000}, 3e5, 3, 1e6, {1e-2}},
        {{1, 1000}, 1e7, 1, 1e6, {1e-2}},
        {{1, 100}, 1e8, 1, 2e7, {1e-2, 1e-4, 1e-6}},
        {{1, 1000}, 1e8, 1, 2e7, {1e-2, 1e-4, 1e-6}},
    };
    size_t count = parts.quick ? sizeof quick_tasks / sizeof *quick_tasks
                               : sizeof tasks / sizeof *tasks;
    parts.told = shared(parts.jobs * sizeof *parts.told);
    printf("\n## The filter of one part\n\n"
           "Full of lines of that part, and asked for other lines of it. *uneven*: how far page,\n"
           "cache lines and fields of its keys are from what chance gives, in standard deviations\n"
           "of chi square. With more lines inside than n, the filter has grown.\n\n"
           "| part | lines of the list | n | lines inside | layers | uneven | p | queries | hits | "
           "measured | measured / p | sigma above p | |\n"
           "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    for (size_t i = 0; i < count; i++)
        part_rows(parts.quick ? &quick_tasks[i] : &tasks[i]);
}

/* --- all parts --- */

/* A list of `lines` lines in `parts` parts. */
struct list_task {
    double lines, rate;
    uint32_t parts;
    double queries;
};

/* A filter for each part, full of its lines; each made for `capacity`. */
static struct filter **all_parts(const struct list_task *task, uint64_t capacity)
{
    struct filter **filters = calloc(task->parts, sizeof(struct filter *));
    if (filters == NULL)
        die("out of memory");
    for (uint32_t i = 0; i < task->parts; i++)
        filters[i] = filter_new(capacity, task->rate, true);
    for (uint64_t line = 0; line < (uint64_t)task->lines; line++) {
        struct key key = line_key(line);
        give(filters[shard_part(shard_key(line), task->parts) - 1], &key, 1);
    }
    return filters;
}

static void close_all(const struct list_task *task, struct filter **filters)
{
    for (uint32_t i = 0; i < task->parts; i++)
        filter_close(filters[i]);
    free(filters);
}

/* As unseen plan --shards says: for the largest part there may be. */
static uint64_t share_of(const struct list_task *task)
{
    double mean = task->lines / task->parts;
    return (uint64_t)ceil(mean + CHANCE_SIGMAS * sqrt(mean * (1 - 1.0 / task->parts)) + 6);
}

/* Each new line asks the part that it belongs to; some also all others. */
static void all_row(const struct list_task *task)
{
    struct filter **filters = all_parts(task, share_of(task));
    double hits = 0, anywhere = 0, asked_all = ceil(task->queries / task->parts);
    for (double i = 0; i < task->queries; i++) {
        uint64_t line = ASKED + (uint64_t)i;
        struct key key = line_key(line);
        hits += (double)ask(filters[shard_part(shard_key(line), task->parts) - 1], &key, 1);
        bool any = false;
        for (uint32_t part = 0; i < asked_all && part < task->parts && !any; part++)
            any = ask(filters[part], &key, 1) != 0;
        anywhere += any;
    }
    printf("|");
    CELL("%.0f", task->lines);
    CELL("%.0f", task->parts);
    CELL("%.0f", share_of(task));
    CELL("%g", task->rate);
    print_rate(hits, task->queries, task->rate);
    CELL("%.1f", anywhere / asked_all / task->rate);
    printf(" %s |\n", verdict(is_true(hits, task->queries, task->rate)));
    close_all(task, filters);
}

/* The layer that all of them are together, in `into`, which is empty. */
static void merge_into(struct filter *into, const struct list_task *task, struct filter **filters)
{
    const struct bits *to = store_bits(filter_store(into), 0);
    const struct bits **layers = calloc(task->parts, sizeof(struct bits *));
    if (layers == NULL)
        die("out of memory");
    for (uint32_t i = 0; i < task->parts; i++) {
        layers[i] = store_bits(filter_store(filters[i]), 0);
        if (!join_is_possible(to, layers[i]))
            die("layers of different shapes");
    }
    for (uint64_t page = 0; page < to->pages; page++)
        join_pages(layers, task->parts, page, 1, to->bytes + page * PAGE_BYTES);
    free(layers);
}

static void merged_row(const struct list_task *task)
{
    uint64_t lines = (uint64_t)task->lines;
    struct filter **filters = all_parts(task, lines);
    struct filter *merged = filter_new(lines, task->rate, true);
    struct filter *single = filter_new(lines, task->rate, true);
    merge_into(merged, task, filters);
    close_all(task, filters);
    double hits = 0;
    for (uint64_t line = 0; line < lines; line++) {
        struct key key = line_key(line);
        give(single, &key, 1);
    }
    for (double i = 0; i < task->queries; i++) {
        struct key key = line_key(ASKED + (uint64_t)i);
        hits += (double)ask(merged, &key, 1);
    }
    const struct bits *a = store_bits(filter_store(merged), 0);
    const struct bits *b = store_bits(filter_store(single), 0);
    bool same = a->pages == b->pages && memcmp(a->bytes, b->bytes, a->pages * PAGE_BYTES) == 0;
    printf("|");
    CELL("%.0f", task->lines);
    CELL("%.0f", task->parts);
    CELL("%g", task->rate);
    print_rate(hits, task->queries, task->rate);
    printf(" %s | %s |\n", same ? "the same" : "others",
           verdict(same && is_true(hits, task->queries, task->rate)));
    filter_close(merged);
    filter_close(single);
}

static void section_all(void)
{
    static const struct list_task tasks[] = {
        {1e6, 1e-2, 8, 1e6},   {1e7, 1e-2, 8, 1e7},   {1e7, 1e-4, 8, 1e7},
        {1e7, 1e-2, 100, 1e7}, {1e7, 1e-4, 100, 1e7},
    };
    size_t count = parts.quick ? 1 : sizeof tasks / sizeof *tasks;
    printf("\n## All parts of a list\n\n"
           "Each filter is made for its share, and full; a new line asks the filter of its part.\n"
           "*asked of all* is measured / p if it had to ask every part.\n\n"
           "| lines | parts | n of each | p | queries | hits | measured | measured / p | "
           "sigma above p | asked of all | |\n"
           "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    for (size_t i = 0; i < count; i++)
        all_row(&tasks[i]);
}

static void section_merged(void)
{
    static const struct list_task tasks[] = {
        {1e5, 1e-2, 100, 1e6}, {1e7, 1e-2, 8, 1e7},   {1e7, 1e-4, 8, 1e7},
        {1e6, 1e-2, 100, 1e7}, {1e6, 1e-4, 100, 1e7}, {1e5, 1e-2, 1000, 1e7},
    };
    size_t count = parts.quick ? 1 : sizeof tasks / sizeof *tasks;
    printf(
        "\n## All parts, merged\n\n"
        "Each filter is made for all lines, has those of its part, and they become one.\n"
        "*bits*: against those of one filter that got all lines.\n\n"
        "| lines | parts | p | queries | hits | measured | measured / p | sigma above p | bits | "
        "|\n|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n");
    for (size_t i = 0; i < count; i++)
        merged_row(&tasks[i]);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--quick") == 0)
            parts.quick = true;
        else if (strcmp(argv[i], "--jobs") == 0 && i + 1 < argc)
            parts.jobs = (unsigned)strtoul(argv[++i], NULL, 10);
        else
            die("usage: parts [--quick] [--jobs N]");
    if (parts.jobs < 1 || parts.jobs > JOBS_MAX)
        die("--jobs: 1 to 64");
    section_even();
    section_part();
    section_all();
    section_merged();
    if (fflush(stdout) != 0 || ferror(stdout))
        die("stdout: cannot write");
    return parts.failed != 0;
}
