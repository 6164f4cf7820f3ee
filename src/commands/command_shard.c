/*
 * command_shard - `unseen shard I/N [FILE...]`: the lines of one part of a list; `unseen shard N`:
 * all lines, each after its part; with --files, in a file for each part.
 *
 * One heading goes to every part, so that each is a list as the whole was: the first one that the
 * inputs have. The others are left out.
 */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/part_files.h"
#include "commands/scan.h"
#include "commands/summary.h"
#include "commands/wish_recipe.h"
#include "core/quote.h"
#include "io/collect.h"
#include "pipeline/picked.h"
#include "system/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PART_TAG = 16 }; /* room for a part and a TAB */

struct job {
    struct shard shard; /* part 0: all of them */
    struct recipe recipe;
    struct output output;
    struct picked picked;    /* I/N: lines of the part in the chunk */
    struct collect *collect; /* N: lines with their parts */
    struct part_files *files;
    bool headed; /* there was a heading */
    uint64_t read, itself;
    uint64_t passed; /* of one part */
    /* Of the lines at hand: */
    uint32_t part[BATCH_LINES];
    uint8_t select[BATCH_LINES];
};

static void find_parts(struct job *job, const struct batch *batch)
{
    shard_parts(batch->keys, batch->n, job->shard.parts, job->part);
    job->read += batch->n;
    job->itself += marks_count(batch->itself, batch->n);
}

static int print_heading(void *context, const char *line, size_t length, struct fault *fault)
{
    struct job *job = context;
    bool first = !job->headed;
    job->headed = true;
    if (first && job->files != NULL)
        return part_files_add(job->files, 0, line, length, fault);
    return !first || output_write(&job->output, line, length, fault) == length ? 0 : -1;
}

/* --- one part --- */

static int pick_lines(void *context, const struct batch *batch, struct fault *fault)
{
    struct job *job = context;
    (void)fault;
    find_parts(job, batch);
    for (size_t i = 0; i < batch->n; i++)
        job->select[i] = job->part[i] == job->shard.part;
    if (job->picked.from == NULL)
        job->picked.from = job->picked.to = batch->bytes + batch->starts[0];
    job->passed += picked_add(&job->picked, batch, job->select);
    return 0;
}

static int print_picked(void *context, struct fault *fault)
{
    struct job *job = context;
    const char *from = job->picked.from;
    size_t length = (size_t)(job->picked.to - from);
    job->picked = (struct picked){NULL, NULL};
    return length == 0 || output_write(&job->output, from, length, fault) == length ? 0 : -1;
}

/* --- all parts --- */

/* The part and a TAB, which end at `end`; returns where they begin. */
static const char *write_tag(uint32_t part, char *end)
{
    char *at = end;
    *--at = '\t';
    for (; part != 0; part /= 10)
        *--at = (char)('0' + part % 10);
    return at;
}

static int tag_lines(void *context, const struct batch *batch, struct fault *fault)
{
    struct job *job = context;
    char text[PART_TAG], *end = text + PART_TAG;
    find_parts(job, batch);
    for (size_t i = 0; i < batch->n; i++) {
        const char *line = batch->bytes + batch->starts[i], *tag = write_tag(job->part[i], end);
        if (collect_add(job->collect, tag, (size_t)(end - tag), fault) != 0 ||
            collect_add(job->collect, line, batch->starts[i + 1] - batch->starts[i], fault) != 0)
            return -1;
    }
    return 0;
}

static int print_tagged(void *context, struct fault *fault)
{
    struct job *job = context;
    return collect_flush(job->collect, fault);
}

/* --- a file for each part --- */

static int file_lines(void *context, const struct batch *batch, struct fault *fault)
{
    struct job *job = context;
    find_parts(job, batch);
    for (size_t i = 0; i < batch->n; i++) {
        size_t length = batch->starts[i + 1] - batch->starts[i];
        if (part_files_add(job->files, job->part[i], batch->bytes + batch->starts[i], length,
                           fault) != 0)
            return -1;
    }
    return 0;
}

/* --- the command --- */

/* What becomes of lines; and what is done when all that have arrived were taken, if anything. */
struct form {
    int (*lines)(void *context, const struct batch *batch, struct fault *fault);
    int (*pause)(void *context, struct fault *fault);
};

static const struct form one_part = {pick_lines, print_picked};
static const struct form all_parts = {tag_lines, print_tagged};
static const struct form in_files = {file_lines, NULL};

static void summarize(const struct options *options, const struct job *job)
{
    bool one = job->shard.part != 0;
    struct summary_number numbers[] = {
        {"read", "", job->read == 1 ? " line read" : " lines read", (double)job->read},
        {one ? "passed" : NULL, ", ", " passed", (double)job->passed},
        {.member = NULL},
    };
    summary_numbers_of(options, "shard", options->operands[0], numbers);
}

/* An input that could not be read lets the others go on; but a part with lines missing could be
 * taken for a whole one. Returns the exit status. */
static int finish_files(struct job *job, const struct options *options, int status)
{
    struct fault fault;
    if (status == EXIT_OK)
        return part_files_finish(job->files, &fault) == 0 ? EXIT_OK : message_fault(&fault);
    if (!signals_pending())
        message("%s: no part is left, as not all lines could be read and written",
                options->given[OPTION_FILES]);
    return status;
}

static int run(struct job *job, const struct options *options, const struct inputs *inputs)
{
    struct fault fault;
    const struct form *form = job->files != NULL     ? &in_files
                              : job->shard.part != 0 ? &one_part
                                                     : &all_parts;
    summary_prepare(options, NULL);
    int status = scan_inputs(&(struct scan){
        .inputs = inputs,
        .recipe = &job->recipe,
        .hashers = hashers_of_shards(),
        .context = job,
        .heading = print_heading,
        .lines = form->lines,
        .pause = form->pause,
    });
    if (job->files != NULL)
        status = finish_files(job, options, status);
    if (output_close(&job->output, &fault) != 0)
        status = message_fault(&fault);
    wish_recipe_warn(&job->recipe, "shard", job->read, job->itself);
    summarize(options, job);
    return status;
}

/* By what lines are given to parts. Returns 0, or EXIT_TROUBLE after a message. */
static int read_recipe(const struct options *options, struct recipe *recipe)
{
    const char *like = options->given[OPTION_LIKE];
    if (like == NULL)
        return wish_recipe_read(options, recipe);
    struct store *store = filter_operand_look(like, options);
    if (store == NULL)
        return EXIT_TROUBLE;
    *recipe = store_header(store)->recipe;
    store_close(store);
    return 0;
}

static int read_shard(const struct options *options, struct shard *shard)
{
    const char *text = options->operands[0];
    bool files = options_has(options, OPTION_FILES);
    char quoted[QUOTE_MAX];
    if (text == NULL)
        return message("shard: which part? (unseen shard 1/4 [FILE...]; or all, with their "
                       "numbers: unseen shard 4)");
    if (files && strchr(text, '/') != NULL)
        return message("--files: is for all parts (unseen shard N --files %s; for one: unseen "
                       "shard I/N)",
                       quote_word(options->given[OPTION_FILES], quoted));
    return options_read_part("shard", text, shard);
}

/* Returns 0, or EXIT_TROUBLE after a message. */
static int open_files(struct job *job, const struct options *options, const struct inputs *inputs)
{
    struct fault fault;
    const char *pattern = options->given[OPTION_FILES];
    if (pattern == NULL)
        return 0;
    if (inputs_check_readable(inputs) != 0 ||
        part_files_check(pattern, job->shard.parts, inputs) != 0)
        return EXIT_TROUBLE;
    job->files = part_files_new(pattern, job->shard.parts, &fault);
    return job->files != NULL ? 0 : message_fault(&fault);
}

/* Returns the exit status. */
static int prepare_and_run(struct job *job, const struct options *options,
                           const struct inputs *inputs)
{
    job->output = output_standard(inputs->delimiter);
    job->collect = collect_new(&job->output);
    if (job->collect == NULL)
        return message("%s", strerror(ENOMEM));
    if (open_files(job, options, inputs) != 0 ||
        confinement_start(&(struct confinement){.inputs = inputs, .parts = job->files}) != 0)
        return EXIT_TROUBLE;
    return run(job, options, inputs);
}

int command_shard(const struct options *options)
{
    struct job *job = calloc(1, sizeof *job);
    struct inputs inputs;
    const char *pattern = options->given[OPTION_FILES];
    int status = EXIT_TROUBLE;
    if (job == NULL)
        return message("%s", strerror(ENOMEM));
    inputs_parse(&inputs, options, 1);
    if (combinations_check(options, FOR_SHARD) == 0 && read_shard(options, &job->shard) == 0 &&
        (pattern == NULL || part_files_check_pattern(pattern) == 0) &&
        read_recipe(options, &job->recipe) == 0 && inputs_check(&inputs, NULL, NULL) == 0)
        status = prepare_and_run(job, options, &inputs);
    part_files_free(job->files);
    collect_free(job->collect);
    free(job);
    return status;
}
