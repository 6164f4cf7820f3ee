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
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <string.h>

struct splitting {
    struct job job;
    struct shard shard;         /* part 0: all of them */
    uint32_t part[BATCH_LINES]; /* of the lines at hand */
};

/* Into the file of its shard; or to the output, after its number and a TAB if all shards go there.
 * Part 0 is a header line, for all. */
static inline int hand_out(struct splitting *splitting, uint32_t part, const char *line,
                           size_t length, struct collect *to, struct fault *fault)
{
    if (splitting->job.shards != NULL)
        return shard_files_add(splitting->job.shards, part, line, length, fault);
    if (splitting->shard.number != 0 || part == 0)
        return collect_add(to, line, length, fault);
    char text[16], *end = text + sizeof text, *tag = end;
    *--tag = '\t';
    for (; part != 0; part /= 10)
        *--tag = (char)('0' + part % 10);
    return collect_add_tagged(to, tag, (size_t)(end - tag), line, length, fault);
}

static int hand_out_header(void *context, const struct batch *batch, const char *input,
                           struct collect *to, struct fault *fault)
{
    struct splitting *splitting = context;
    struct header_lines *lines = &splitting->job.header_lines;
    bool first = lines->line == NULL;
    if (header_lines_add(lines, batch->header_line, batch->header_length, input, fault) != 0)
        return -1;
    return first ? hand_out(splitting, 0, batch->header_line, batch->header_length, to, fault) : 0;
}

static int hand_out_lines(void *context, const struct batch *batch, struct collect *to,
                          struct fault *fault)
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
        splitting->job.counts.keyless[batch->no_key[i]].selected++;
        if (hand_out(splitting, part[i], batch->bytes + from, length, to, fault) != 0)
            return -1;
    }
    return 0;
}

int command_shard(const struct options *options)
{
    struct splitting splitting;
    struct job *job = &splitting.job;
    const struct pipeline_counts *counts = &job->counts;
    const char *pattern = options->files;
    char name[PATH_MAX], quoted[QUOTE_MAX];
    struct fault fault = FAULT_UNSET;
    int status = EXIT_TROUBLE;
    if (job_parse(job, options) != 0)
        return EXIT_TROUBLE;
    if (options->operand_count == 0)
        return message("shard: no shard given (unseen shard 1/4 [FILE...]; for all, with their "
                       "numbers: unseen shard 4)");
    if (pattern != NULL && strchr(options->operands[0], '/') != NULL)
        return message("--files: needs all shards (unseen shard N --files %s; for one: unseen "
                       "shard I/N)",
                       quote_word(pattern, quoted));
    if (options_read_shard("shard", options->operands[0], &splitting.shard) != 0)
        return EXIT_TROUBLE;
    if (pattern != NULL && shard_files_name(pattern, 1, name, &fault) != 0)
        return message_fault(&fault);
    if (options->like != NULL) {
        /* Lines are assigned to shards by the key of that filter. */
        struct filter *filter = filter_operand_open_to_read(options->like, options);
        if (filter == NULL)
            return EXIT_TROUBLE;
        job->recipe = filter_header(filter)->recipe;
        filter_close(filter);
    }
    job->inputs.all_or_none = job->recipe.syntax == SYNTAX_CSV ||
                              recipe_has_column_names(&job->recipe);
    job->plan.hashers = hashers_of_shards();
    job->plan.context = &splitting;
    job->plan.take_header = hand_out_header;
    job->plan.take_lines = hand_out_lines;

    if (job_open(job) != 0 || (pattern != NULL && inputs_check_readable(&job->inputs) != 0))
        goto close;
    /* Checks that no file is an input or a filter, then opens them all. */
    for (uint32_t i = 1; pattern != NULL && i <= splitting.shard.count; i++) {
        (void)shard_files_name(pattern, i, name, &fault);
        struct file_uses uses = {.inputs = job->inputs.names,
                                 .targets = {{"--files", name, false}}};
        if (file_uses_check(&uses) != 0)
            goto close;
    }
    if (pattern != NULL) {
        job->shards = shard_files_new(pattern, splitting.shard.count, &fault);
        if (job->shards == NULL) {
            message_fault(&fault);
            goto close;
        }
    }
    if (job_start(job) != 0)
        goto close;
    status = job_end(job, job_read(job));
    /* If an input could not be read, no files are kept: a shard that lacks lines could be mistaken
     * for a complete one. */
    if (pattern != NULL && status == EXIT_OK && shard_files_finish(job->shards, &fault) != 0)
        status = message_fault(&fault);
    else if (pattern != NULL && status != EXIT_OK && !signals_arrived())
        message("%s: no shards were kept, because not all lines could be read and written (new "
                "files were removed, older ones emptied)",
                pattern);
    struct told_lines told;
    job_tell_lines(job, &told);
    job_warn_of_no_key(job);
    figures_summary(options, {"shard ", "shard", TEXT(options->operands[0])},
                    {number_of(counts->read, "line read", "lines read"), "read",
                     COUNT(counts->read)},
                    {"printed", "printed", COUNT(counts->selected),
                     .absent = splitting.shard.number == 0},
                    TOLD_LINES(told));
close:
    job_close(job);
    shard_files_free(job->shards);
    return status;
}
