/*
 * command_shard - `unseen shard I/N [FILE...]`: prints the lines of one shard of a list; `unseen
 * shard N`: prints all lines, each after its shard; with --files, writes a file for each shard.
 *
 * Every shard gets the header line of the inputs, once.
 */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/job.h"
#include "commands/message.h"
#include "commands/warnings.h"
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <string.h>

struct splitting {
    struct job job;
    struct shard shard; /* part 0: all of them */
    struct header_lines header_lines;
    uint32_t part[BATCH_LINES]; /* of the lines at hand */
};

/* Adds a line after the number of its shard and a TAB. */
static inline int add_tagged(struct collect *collect, uint32_t part, const char *line,
                             size_t length, struct fault *fault)
{
    char text[16], *end = text + sizeof text, *tag = end;
    *--tag = '\t';
    for (; part != 0; part /= 10)
        *--tag = (char)('0' + part % 10);
    return collect_add_tagged(collect, tag, (size_t)(end - tag), line, length, fault);
}

/* Into the file of its shard; or to the output, after its number if all shards go there. Part 0 is
 * a header line, for all. */
static inline int hand_on(struct splitting *splitting, uint32_t part, const char *line,
                          size_t length, struct fault *fault)
{
    if (splitting->job.shards != NULL)
        return shard_files_add(splitting->job.shards, part, line, length, fault);
    struct collect *collect = splitting->job.scan.collect;
    return splitting->shard.number == 0 && part != 0
               ? add_tagged(collect, part, line, length, fault)
               : collect_add(collect, line, length, fault);
}

static int print_header_line(void *context, const struct batch *batch, const char *input,
                             struct fault *fault)
{
    struct splitting *splitting = context;
    bool first = splitting->header_lines.line == NULL;
    if (header_lines_add(&splitting->header_lines, batch->header_line, batch->header_length, input,
                         fault) != 0)
        return -1;
    return first ? hand_on(splitting, 0, batch->header_line, batch->header_length, fault) : 0;
}

static int split_lines(void *context, const struct batch *batch, struct fault *fault)
{
    struct splitting *splitting = context;
    const uint32_t *part = splitting->part;
    uint32_t only = splitting->shard.number;
    shards_of_keys(batch->keys, batch->n, splitting->shard.count, splitting->part);
    for (size_t i = 0; i < batch->n; i++) {
        size_t from = batch->starts[i], length = batch->starts[i + 1] - from;
        if (only != 0 && part[i] != only)
            continue;
        splitting->job.counts.selected++;
        if (hand_on(splitting, part[i], batch->bytes + from, length, fault) != 0)
            return -1;
    }
    return 0;
}

/* With --like, lines are assigned to shards by the key of that filter. */
static int read_key(struct job *job)
{
    const char *like = job->options->like;
    if (like == NULL)
        return 0;
    struct filter *filter = filter_operand_open_to_read(like, job->options);
    if (filter == NULL)
        return EXIT_TROUBLE;
    job->recipe = filter_header(filter)->recipe;
    filter_close(filter);
    return 0;
}

static int read_shard(const struct options *options, struct shard *shard)
{
    const char *text = options->operands[0];
    char quoted[QUOTE_MAX];
    if (text == NULL)
        return message("shard: no shard given (unseen shard 1/4 [FILE...]; for all, with their "
                       "numbers: unseen shard 4)");
    if (options->files != NULL && strchr(text, '/') != NULL)
        return message("--files: needs all shards (unseen shard N --files %s; for one: unseen "
                       "shard I/N)",
                       quote_word(options->files, quoted));
    return option_value_shard("shard", text, shard);
}

static int check(struct job *job)
{
    struct splitting *splitting = (struct splitting *)job;
    const char *pattern = job->options->files;
    char name[PATH_MAX];
    struct fault fault = FAULT_UNSET;
    if (read_shard(job->options, &splitting->shard) != 0)
        return EXIT_TROUBLE;
    if (pattern != NULL && shard_files_name(pattern, 1, name, &fault) != 0)
        return message_fault(&fault);
    job->scan.hashers = hashers_of_shards();
    job->scan.header_line = print_header_line;
    job->scan.lines = split_lines;
    int result = read_key(job);
    job->inputs.all_or_none = job->recipe.syntax == SYNTAX_CSV;
    return result;
}

/* Checks that no file is an input or a filter, then opens them all. */
static int open_files(struct job *job)
{
    struct splitting *splitting = (struct splitting *)job;
    struct fault fault = FAULT_UNSET;
    const char *pattern = job->options->files;
    char name[PATH_MAX];
    if (pattern == NULL)
        return 0;
    if (inputs_check_readable(&job->inputs) != 0)
        return EXIT_TROUBLE;
    for (uint32_t shard = 1; shard <= splitting->shard.count; shard++) {
        (void)shard_files_name(pattern, shard, name, &fault);
        struct names names = {.inputs = job->inputs.names, .targets = {{"--files", name, false}}};
        if (names_check(&names) != 0)
            return EXIT_TROUBLE;
    }
    job->shards = shard_files_new(pattern, splitting->shard.count, &fault);
    return job->shards != NULL ? 0 : message_fault(&fault);
}

/* If an input could not be read, no files are kept: a shard that lacks lines could be mistaken for
 * a complete one. */
static int finish_files(struct splitting *splitting, int status)
{
    struct fault fault = FAULT_UNSET;
    if (status == EXIT_OK)
        return shard_files_finish(splitting->job.shards, &fault) == 0 ? EXIT_OK
                                                                      : message_fault(&fault);
    if (!signals_arrived())
        message("%s: no shards were kept, because not all lines could be read and written (new "
                "files were removed, older ones emptied)",
                splitting->job.options->files);
    return status;
}

static int finish(struct job *job, int status)
{
    struct splitting *splitting = (struct splitting *)job;
    const struct pipeline_counts *counts = &job->counts;
    if (job->shards != NULL)
        status = finish_files(splitting, status);
    warn_of_no_key(&job->recipe, "shard", counts);
    figures_summary(job->options, {"shard ", "shard", TEXT(job->options->operands[0])},
                    {number_of(counts->read, "line read", "lines read"), "read",
                     COUNT(counts->read)},
                    {"printed", "printed", COUNT(counts->selected),
                     .absent = splitting->shard.number == 0});
    return status;
}

int command_shard(const struct options *options)
{
    struct splitting splitting = {.header_lines = {.line = NULL}};
    int status = job_run(&splitting.job, options,
                         &(struct steps){.check = check, .open = open_files, .finish = finish});
    header_lines_free(&splitting.header_lines);
    shard_files_free(splitting.job.shards);
    return status;
}
