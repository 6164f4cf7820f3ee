/* command_filter - `unseen`, `unseen FILTER [FILE...]`: print what is new. */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/side_file.h"
#include "commands/summary.h"
#include "commands/wish.h"
#include "core/number.h"
#include "filter/pending.h"
#include "io/child.h"
#include "system/path.h"
#include "system/signals.h"

#include <inttypes.h>
#include <unistd.h>

struct job {
    const struct options *options;
    const char *path; /* NULL: in memory */
    const char *output_path;
    struct inputs inputs;
    struct output output, dropped;
    struct child child; /* -x */
    struct pipeline_plan plan;
};

static int check_side_files(const struct job *job)
{
    struct side_files files = {job->options, &job->inputs, job->path, job->output_path,
                               .silent = job->options->command != NULL};
    return side_file_check(&files);
}

static int parse(struct job *job, const struct options *options)
{
    *job = (struct job){.options = options, .output_path = options->given[OPTION_APPEND]};
    job->plan.most = options_whole(options, OPTION_MAX_COUNT, UINT64_MAX);
    if (options->operand_count > 0) {
        job->path = filter_operand(options);
        if (job->path == NULL)
            return EXIT_TROUBLE;
    }
    inputs_parse(&job->inputs, options, job->path != NULL ? 1 : 0);
    if (combinations_check(options, FOR_FILTER) != 0 || check_side_files(job) != 0)
        return EXIT_TROUBLE;
    summary_prepare(options, &job->plan);
    if (options->command != NULL)
        job->plan.heading = HEADING_WITH_LINES;
    job->plan.verb = options_has(options, OPTION_REPEATED) ? PIPELINE_REPEATED : PIPELINE_NEW;
    return inputs_check(&job->inputs, job->path, job->output_path);
}

static struct filter *memory_filter(const struct options *options)
{
    struct header header;
    struct fault fault;
    if (wish_plan(options, false, 0, &header) != 0)
        return NULL;
    struct filter *filter = filter_memory(&header, &filter_operand_watch, &fault);
    if (filter == NULL)
        message_fault(&fault);
    return filter;
}

/* With --pending the filter is only read, once it is there. */
static struct filter *file_filter(const struct job *job)
{
    const struct options *options = job->options;
    return creation_open(job->path, options, job->plan.pending == NULL);
}

/* What a run that ended well has printed is printed again. */
static int begin_pending(struct job *job, struct fault *fault)
{
    uint64_t owed;
    if (pending_begin(job->plan.pending, job->plan.filter, fault) != 0)
        return -1;
    owed = filter_owed(job->plan.filter);
    if (owed > 0)
        message("%s: this task was run before, and prints its %" PRIu64 " %s again (another task "
                "needs another file)",
                job->options->given[OPTION_PENDING], owed, number_lines(owed));
    return 0;
}

/* When lines are remembered later than batch by batch: prepares for it. */
static int prepare_hold(struct job *job)
{
    struct fault fault;
    const struct options *options = job->options;
    bool pending = job->plan.pending != NULL;
    if (options->command == NULL && !pending && !job->plan.durable)
        return 0;
    if (options->command != NULL) {
        job->output = child_output(&job->child, options->command, job->inputs.delimiter,
                                   job->inputs.header);
        job->plan.may_close = true;
    }
    job->plan.holds = true;
    int result = pending ? begin_pending(job, &fault)
                         : filter_hold(job->plan.filter, job->plan.durable, &fault);
    return result == 0 ? 0 : message_fault(&fault);
}

/* Whether the output is likely to do, before anything is made. */
static int check_output(const struct job *job)
{
    const char *path = job->output_path;
    if (job->plan.durable && !output_is_file(path))
        return message("--durable: %s is not a regular file (use -a FILE, or > FILE)",
                       path != NULL ? path : "standard output");
    return 0;
}

/* First, as nothing else may be touched if another run has it. It is there from now on: a link to
 * it may turn out to be one to something else that was named. */
static int claim_pending(struct job *job)
{
    struct fault fault;
    const char *path = job->options->given[OPTION_PENDING];
    if (path == NULL)
        return 0;
    job->plan.pending = pending_claim(path, &fault);
    return job->plan.pending != NULL ? check_side_files(job) : message_fault(&fault);
}

/* Opens what is missing of filter, output and second filter; EXIT_TROUBLE after a message. The
 * output is looked at before a filter is made for it, and opened after: that may wait for a reader,
 * and nothing is in flight yet. */
static int acquire(struct job *job)
{
    struct fault fault;
    job->plan.durable = options_has(job->options, OPTION_DURABLE);
    if (check_output(job) != 0 || claim_pending(job) != 0)
        return EXIT_TROUBLE;
    job->plan.filter = job->path != NULL ? file_filter(job) : memory_filter(job->options);
    if (job->plan.filter == NULL)
        return EXIT_TROUBLE;
    if (job->plan.verb == PIPELINE_REPEATED) {
        job->plan.repeats = memory_filter(job->options);
        if (job->plan.repeats == NULL)
            return EXIT_TROUBLE;
    }
    job->output = output_standard(job->inputs.delimiter);
    if (job->output_path != NULL &&
        output_open(&job->output, job->output_path, job->inputs.delimiter, &fault) != 0)
        return message_fault(&fault);
    if (job->output_path != NULL && job->path != NULL && path_is_same(job->output_path, job->path))
        return message("%s: is both FILTER and output (name another file)", job->output_path);
    job->output.waits = message_waits;
    job->plan.output = &job->output;
    if (side_file_open_dropped(job->options, job->inputs.delimiter, &job->dropped, &job->plan) != 0)
        return EXIT_TROUBLE;
    return prepare_hold(job);
}

/* CMD has ended well: what it has taken is remembered. Only that can be counted: lines that it left
 * in the input were not read. */
static int settle_command(struct job *job, uint64_t left, const struct pipeline_counts *counts)
{
    struct fault fault;
    filter_drop(job->plan.filter, left);
    if (filter_settle(job->plan.filter, &fault) != 0)
        return message_fault(&fault);
    if (left + counts->refused > 0)
        message("%s: exited with 0 and took only %" PRIu64 " %s (the others come again)",
                job->options->command[0], counts->selected, number_lines(counts->selected));
    return EXIT_OK;
}

/* Once CMD has exited with 0 a signal changes nothing but the exit status, and that only if it came
 * before the input had ended, which `status` says. */
static int finish_command(struct job *job, int status, struct pipeline_counts *counts)
{
    struct fault fault;
    uint64_t left;
    enum child_end end = child_finish(&job->child, &left, &fault);
    if (end == CHILD_FAILED) {
        fault_way_out(&fault, "its lines are not remembered");
        message_fault(&fault);
    }
    counts->selected = end == CHILD_DONE ? counts->selected - left : 0;
    if (end == CHILD_NOT_RUN)
        return message_not_run(job->child.error);
    if (end != CHILD_DONE)
        return end == CHILD_STOPPED ? status : EXIT_COMMAND;
    int settled = settle_command(job, left, counts);
    if (settled == EXIT_OK && status == EXIT_OK)
        signals_forget();
    return settled == EXIT_OK ? status : settled;
}

/* It vouches for the lines: hence last. */
static int finish_pending(struct job *job)
{
    struct fault fault;
    uint64_t owed = filter_owed(job->plan.filter);
    if (owed > 0)
        return message("%s: %" PRIu64 " of its lines did not come again, so it stays as it was "
                       "(the same task needs the same input, another task another file)",
                       job->options->given[OPTION_PENDING], owed);
    return pending_finish(job->plan.pending, job->plan.filter, &fault) == 0 ? EXIT_OK
                                                                            : message_fault(&fault);
}

/* A CMD would be confined, too. */
static int confine(const struct job *job)
{
    if (job->options->command != NULL)
        return 0;
    return confinement_start(&(struct confinement){
        .inputs = &job->inputs,
        .filter = job->plan.filter,
        .pending = job->plan.pending,
    });
}

static int run(struct job *job)
{
    struct fault fault;
    struct pipeline_counts counts;
    int status = inputs_run(&job->inputs, &job->plan, &counts);
    if (job->options->command != NULL)
        status = finish_command(job, status, &counts);
    else if (output_close(&job->output, &fault) != 0)
        status = message_fault(&fault);
    status = side_file_close_dropped(&job->plan, status);
    if (job->plan.pending != NULL && status == EXIT_OK)
        status = finish_pending(job);
    summary_tell(job->options, filter_store(job->plan.filter), &counts, "printed");
    if (status == EXIT_OK && options_has(job->options, OPTION_EXIT_STATUS) && counts.selected == 0)
        status = EXIT_NOTHING;
    return status;
}

int command_filter(const struct options *options)
{
    struct job job;
    int status = parse(&job, options);
    if (status == 0)
        status = acquire(&job);
    if (status == 0)
        status = confine(&job);
    if (status == 0)
        status = run(&job);
    pending_free(job.plan.pending);
    filter_close(job.plan.filter);
    filter_close(job.plan.repeats);
    return status;
}
