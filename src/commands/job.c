#include "commands/job.h"

#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/filter_spec.h"
#include "commands/message.h"
#include "commands/warnings.h"
#include "filter/survey.h"
#include "queue/queue.h"
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- before --- */

/* Commands that print lines to standard output by default. */
enum { PRINTERS = FOR_FILTER | FOR_QUERY | FOR_KEY | FOR_SHARD | FOR_POP };

static int parse(struct job *job, const struct options *options)
{
    unsigned bit = options->asked->bit;
    enum operand_kind operands = options->asked->operands;
    bool in_memory = bit == FOR_FILTER && options->operand_count == 0;
    job->options = options;
    if (operands != OPERANDS_FILES && !in_memory) {
        job->path = filter_operand(options);
        if (job->path == NULL ||
            (operands == OPERANDS_FILTER && filter_operand_alone(options) != 0))
            return EXIT_TROUBLE;
    }
    inputs_parse(&job->inputs, options, job->path != NULL || bit == FOR_SHARD ? 1 : 0);
    for (const char **name = job->inputs.names; *name != NULL; name++)
        if (**name == '\0')
            return message("'': empty name for FILE (is a variable empty?)");
    if (operands == OPERANDS_FILES && filter_spec_key(options, &job->recipe) != 0)
        return EXIT_TROUBLE;
    if (operands == OPERANDS_FILES || in_memory)
        filter_spec_tell_dots(options);
    job->scan.recipe = &job->recipe;
    job->scan.context = job;
    job->scan.counts = &job->counts;
    job->plan.most = options_has(options, OPTION_max_count) ? options->max_count : UINT64_MAX;
    job->plan.durable = options->durable;
    job->names = (struct names){
        .filter = job->path,
        .inputs = operands == OPERANDS_FILTER ? NULL : job->inputs.names,
        .prints = (bit & PRINTERS) != 0 && options->append == NULL && options->files == NULL,
        .targets = {{options->spelled[OPTION_append], options->append, false},
                    {"--tee", options->tee, false},
                    {"--dropped", options->dropped, false},
                    {"--pending", options->pending, true}},
    };
    return 0;
}

/* --- opening --- */

/* Makes a filter in memory, and its writer. Returns 0, or EXIT_TROUBLE after a message. */
static int open_in_memory(const struct options *options, struct filter **filter,
                          struct writer **writer)
{
    struct header header;
    struct fault fault = FAULT_UNSET;
    if (filter_spec_header(options, &header) != 0)
        return EXIT_TROUBLE;
    header.plan.staged = false;
    *filter = filter_memory(&header, &warnings_watch, &fault);
    *writer = *filter != NULL ? writer_new(*filter, &fault) : NULL;
    return *writer != NULL ? 0 : message_fault(&fault);
}

/* First, because nothing may be changed if another run has claimed the file. */
static int claim_pending(struct job *job)
{
    struct fault fault = FAULT_UNSET;
    if (job->options->pending == NULL)
        return 0;
    job->plan.pending = pending_claim(job->options->pending, &fault);
    return job->plan.pending != NULL ? 0 : message_fault(&fault);
}

/* Before the filter is made: a list that is appended to has lines that the filter would not know.
 * With -a that is only told, because the filter may lie on a tmpfs, and the job must go on. */
static int check_list(const struct job *job)
{
    const struct options *options = job->options;
    const char *list = options->tee != NULL ? options->tee : options->append;
    char filter[QUOTE_MAX], file[QUOTE_MAX];
    struct stat status;
    if (list == NULL || stat(list, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return 0;
    bool goes_on = options->tee == NULL;
    char *words = goes_on ? NULL : options_words(options, FOR_CREATE);
    message("%s: has lines that %s %s: unseen add%s%s%s%s %s %s)", list, job->path,
            goes_on ? "does not know, and which may come again (to add them"
                    : "would not know (first",
            goes_on ? "" : " --create", words != NULL ? words : "",
            options->zero_terminated ? " -z" : "", options->header ? " --header" : "",
            quote_file(job->path, filter), quote_file(list, file));
    free(words);
    return goes_on ? 0 : EXIT_TROUBLE;
}

/* With --pending an existing filter is only read. */
static int open_filter(struct job *job)
{
    const struct options *options = job->options;
    unsigned bit = options->asked->bit;
    bool writes = bit != FOR_QUERY && job->plan.pending == NULL;
    if (options->asked->operands != OPERANDS_FILTER_FILES)
        return 0;
    /* No filter is made if the inputs are missing. */
    if (options->create && !options->failed && access(job->path, F_OK) != 0 &&
        (inputs_check_readable(&job->inputs) != 0 || check_list(job) != 0))
        return EXIT_TROUBLE;
    if (job->path != NULL) {
        job->plan.filter = filter_operand_open(job->path, options, writes,
                                               bit != FOR_QUERY ? &job->plan.writer : NULL);
        return job->plan.filter != NULL ? 0 : EXIT_TROUBLE;
    }
    if (open_in_memory(options, &job->plan.filter, &job->plan.writer) != 0)
        return EXIT_TROUBLE;
    return options->repeated ? open_in_memory(options, &job->repeats, &job->plan.repeats) : 0;
}

/* Opens a file to append to, or does nothing if `name` is NULL. Waits for the reader of a FIFO. */
static int open_target(struct job *job, struct output *output, const char *name)
{
    struct fault fault = FAULT_UNSET;
    if (name == NULL)
        return 0;
    int result = output_open(output, name, job->inputs.delimiter, &fault);
    return result == 0 ? 0 : message_fault(&fault);
}

/* If a file to append to has lines, all inputs must have its columns. */
static int read_header_of(struct job *job, const struct output *output)
{
    struct fault fault = FAULT_UNSET;
    if (output == NULL || !job->inputs.header)
        return 0;
    return header_lines_add_output(&job->plan.header_lines, output, &fault) >= 0
               ? 0
               : message_fault(&fault);
}

/* Last, because it makes files; but before keys are in flight, because it may wait for a reader. */
static int open_outputs(struct job *job)
{
    const struct options *options = job->options;
    bool named = options->append != NULL || options->tee != NULL || options->dropped != NULL ||
                 options->pending != NULL;
    char delimiter = job->inputs.delimiter;
    if (job->names.prints || options->append != NULL)
        job->plan.output = &job->output;
    if (options->tee != NULL)
        job->plan.tee = &job->tee;
    if (options->dropped != NULL)
        job->plan.dropped = &job->dropped;
    if (options->exec != NULL)
        job->output = child_output(&job->child, options->exec, delimiter, job->inputs.header);
    else if (job->names.prints)
        job->output = output_standard(delimiter);
    if (open_target(job, &job->output, options->append) != 0 ||
        open_target(job, &job->tee, options->tee) != 0 ||
        open_target(job, &job->dropped, options->dropped) != 0)
        return EXIT_TROUBLE;
    if (read_header_of(job, job->plan.output) != 0 || read_header_of(job, job->plan.tee) != 0 ||
        read_header_of(job, job->plan.dropped) != 0)
        return EXIT_TROUBLE;
    job->output.waits = job->tee.waits = job->dropped.waits = message_waits;
    job->tee.to_the_end = true; /* its lines were printed already */
    /* A link that was dangling when names were compared may lead to a file now. */
    return named ? names_check(&job->names) : 0;
}

/* If an earlier run of the task ended well, its lines are printed again. */
static int begin_pending(struct job *job, struct fault *fault)
{
    uint64_t expected;
    char filter[QUOTE_MAX], keys[QUOTE_MAX];
    if (pending_begin(job->plan.pending, job->plan.writer, fault) != 0)
        return -1;
    expected = writer_expected(job->plan.writer);
    if (expected > 0)
        message("%s: this task was run before; printing its %" PRIu64 " %s again (for another "
                "input, once the output of that run is safe: unseen commit %s %s && rm %s)",
                job->options->pending, expected, number_lines(expected),
                quote_file(job->path, filter), quote_file(job->options->pending, keys), keys);
    return 0;
}

/* Holds keys if lines are remembered only after CMD has ended, by `commit`, or when the output is
 * on disk. */
static int hold(struct job *job)
{
    struct fault fault = FAULT_UNSET;
    const struct options *options = job->options;
    bool later = options->exec != NULL || options->pending != NULL || options->durable;
    if (!later || job->plan.writer == NULL)
        return 0;
    job->plan.settles_later = true;
    int result = job->plan.pending != NULL
                     ? begin_pending(job, &fault)
                     : writer_hold(job->plan.writer, job->plan.durable, &fault);
    return result == 0 ? 0 : message_fault(&fault);
}

/* Gives up rights that are no longer needed; not with -x, because CMD would inherit that. */
static int confine(struct job *job)
{
    struct fault fault = FAULT_UNSET;
    struct confine confine;
    const struct pipeline_plan *plan = &job->plan;
    unsigned bit = job->options->asked->bit;
    if (job->options->exec != NULL)
        return 0;
    confine_begin(&confine);
    for (const char **name = job->inputs.names; *name != NULL; name++)
        if (!inputs_is_standard(*name) || bit == FOR_COMMIT)
            confine_allow(&confine, *name, CONFINE_OPEN);
    if (plan->writer != NULL)
        writer_allow(plan->writer, (bit & (FOR_ADD | FOR_COMMIT | FOR_REMOVE)) == 0, &confine);
    if (plan->pending != NULL)
        confine_allow_place(&confine, pending_target(plan->pending), CONFINE_RENAME);
    if (job->queue != NULL)
        queue_allow(job->queue, true, &confine);
    if (job->shards != NULL)
        shard_files_allow(job->shards, &confine);
    return confine_end(&confine, &fault) == 0 ? 0 : message_fault(&fault);
}

/* What the recipe says about the inputs. */
static int follow_recipe(struct job *job)
{
    const struct filter *filter = job->plan.filter;
    const struct recipe *recipe = filter != NULL ? &filter_header(filter)->recipe : &job->recipe;
    if (recipe->syntax == SYNTAX_JSONL && job->inputs.header)
        return message("--header: lines of JSON have no header line (leave it out)");
    job->inputs.header |= recipe_has_column_names(recipe);
    return 0;
}

static int prepare(struct job *job, const struct options *options, const struct steps *steps)
{
    if (parse(job, options) != 0 || (steps->check != NULL && steps->check(job) != 0) ||
        names_check(&job->names) != 0 || claim_pending(job) != 0 || open_filter(job) != 0 ||
        follow_recipe(job) != 0 || (steps->open != NULL && steps->open(job) != 0) ||
        open_outputs(job) != 0 || hold(job) != 0)
        return EXIT_TROUBLE;
    return confine(job);
}

/* --- after --- */

static int close_output(struct output *output, int status)
{
    struct fault fault = FAULT_UNSET;
    return output_close(output, &fault) == 0 ? status : message_fault(&fault);
}

/* The exit status if CMD was not started, by errno. A lack of processes, memory or descriptors is
 * an error of this program. */
static int status_of_failed_start(int error)
{
    bool ours = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
    if (error == ENOENT)
        return EXIT_NOT_FOUND;
    return ours || error == 0 ? EXIT_TROUBLE : EXIT_CANNOT_RUN;
}

/* Waits for CMD. After CMD exited with 0, a signal changes only the exit status, and only if it
 * came before the end of the input, as `status` tells. */
static int finish_command(struct job *job, const struct steps *steps, int status)
{
    struct fault fault = FAULT_UNSET;
    uint64_t left;
    enum child_end end = child_finish(&job->child, &left, &fault);
    if (end != CHILD_DONE)
        job->counts.selected = 0;
    if (end == CHILD_NOT_RUN)
        return status_of_failed_start(job->child.error);
    if (end == CHILD_STOPPED)
        return status;
    int done = end == CHILD_DONE ? steps->done(job, left) : steps->failed(job, &fault);
    if (end == CHILD_DONE && job->child.written > 0 && done == EXIT_OK && status == EXIT_OK)
        signals_forget();
    return done == EXIT_OK ? status : done;
}

static void summarize(const struct job *job, const struct steps *steps)
{
    const struct filter *filter = job->plan.filter;
    static struct survey survey; /* too large for some stacks */
    const struct pipeline_counts *counts = &job->counts;
    double seen = (double)counts->dropped, lost = fmin(round(counts->false_drops), seen);
    bool whole_lines = recipe_is_whole_line(&filter_header(filter)->recipe);
    warn_of_filter(filter);
    if (!job->options->summary)
        return; /* before the rate, which takes half as long as a run of one line */
    survey_sample(&survey, filter);
    figures_summary(job->options,
                    {job->path == NULL ? "filter in memory" : "", "filter", TEXT(job->path)},
                    {number_of(counts->read, "line read", "lines read"), "read",
                     COUNT(counts->read)},
                    {steps->selected, steps->selected, COUNT(counts->selected)},
                    {steps->seen, steps->seen, COUNT(seen)},
                    {whole_lines ? NULL : "without a key", "without_key", COUNT(counts->no_key)},
                    {"expected false drops", "false_drops", RATE(lost)},
                    {"rate now", "rate", RATE(survey.rate)});
}

static int run(struct job *job, const struct steps *steps)
{
    struct pipeline_plan *plan = &job->plan;
    plan->counts_drops = job->options->summary && steps->selected != NULL;
    int status = steps->read != NULL       ? steps->read(job)
                 : job->scan.lines != NULL ? inputs_scan(&job->inputs, &job->scan, &job->output)
                                           : inputs_run(&job->inputs, plan, &job->counts);
    if (job->options->exec != NULL)
        status = finish_command(job, steps, status);
    else if (plan->output == &job->output)
        status = close_output(&job->output, status);
    if (plan->tee != NULL)
        status = close_output(plan->tee, status);
    if (plan->dropped != NULL)
        status = close_output(plan->dropped, status);
    if (steps->finish != NULL)
        status = steps->finish(job, status);
    if (steps->selected != NULL)
        summarize(job, steps);
    return status;
}

int job_run(struct job *job, const struct options *options, const struct steps *steps)
{
    *job = (struct job){.options = options, .plan.verb = steps->verb};
    int status = prepare(job, options, steps);
    if (status == 0)
        status = run(job, steps);
    else
        header_lines_free(&job->plan.header_lines); /* which run leaves to the pipeline */
    pending_free(job->plan.pending);
    writer_free(job->plan.writer);
    filter_close(job->plan.filter);
    writer_free(job->plan.repeats);
    filter_close(job->repeats);
    return status;
}
