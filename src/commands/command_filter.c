/*
 * command_filter - what looks each line up in the filter: `unseen [FILTER [FILE...]]` prints new
 * lines, `unseen add` only remembers them, `unseen query` selects seen ones and remembers nothing.
 */
#include "commands/command.h"
#include "commands/job.h"
#include "commands/message.h"
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <inttypes.h>
#include <stdio.h>

/* After CMD: remembers the lines that it took, if it exited with 0. Returns the exit status. */
static int end_command(struct job *job, int status)
{
    uint64_t left;
    struct fault fault = FAULT_UNSET;
    struct pipeline_counts *counts = &job->counts;
    enum child_end end = job_wait(job, &status, &left, &fault);
    if (end == CHILD_FAILED) {
        fault_way_out(&fault, "its lines are not remembered");
        message_fault(&fault);
        return EXIT_COMMAND;
    }
    if (end != CHILD_DONE)
        return status;
    counts->selected -= left;
    writer_drop(job->plan.writer, left);
    if (writer_settle(job->plan.writer, &fault) != 0)
        return message_fault(&fault);
    /* The rest cannot be counted, because the input is not read to its end. */
    if (left + counts->refused > 0)
        message("%s: exited with 0, but took only %" PRIu64 " %s (the rest will come again)",
                job->options->exec[0], counts->selected, number_lines(counts->selected));
    else
        job_tell_unread(job, counts->selected);
    if (job->child.written > 0 && status == EXIT_OK)
        signals_forget();
    return status;
}

int command_filter(const struct options *options)
{
    struct job job;
    struct fault fault = FAULT_UNSET;
    char filter[QUOTE_MAX], keys[QUOTE_MAX];
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    job.plan.verb = options->tag        ? PIPELINE_TAG_NEW
                    : options->repeated ? PIPELINE_REPEATED
                                        : PIPELINE_NEW;
    job.plan.may_close = options->exec != NULL;
    if (options->tag && options_has(options, OPTION_max_count)) /* query takes both */
        return message("--tag and %s: cannot be given together (--tag prints every line)",
                       options->spelled[OPTION_max_count]);
    if (options->tag && (options->durable || options->pending != NULL))
        return message("--tag and %s: cannot be given together (with --tag, lines are remembered "
                       "as soon as they are printed)",
                       options->spelled[options->durable ? OPTION_durable : OPTION_pending]);
    if (options->tee != NULL && !output_is_file(options->tee))
        return message("--tee: %s is not a regular file (name another; for several outputs: | tee)",
                       options->tee);
    if (options->durable && options->tee == NULL && !output_is_file(options->append))
        return message("--durable: %s is not a regular file (use -a FILE, or > FILE)",
                       options->append != NULL ? options->append : "standard output");

    if (job_open(&job) != 0 || job_start(&job) != 0)
        goto close;
    status = job_read(&job);
    if (options->exec != NULL)
        status = end_command(&job, status);
    status = job_end(&job, status);
    if (options->pending != NULL && status == EXIT_OK) {
        /* All lines were delivered. Those that are still expected were not in the input, or else
         * another run had them in flight. */
        uint64_t expected = writer_expected(job.plan.writer);
        if (expected > 0)
            status = message("%s: %" PRIu64 " of its lines %s missing from the input, so the file "
                             "is unchanged, and no new line is in it (repeat a task with the same "
                             "input; or, once its output is safe: unseen commit %s %s && rm %s, "
                             "and run this again)",
                             options->pending, expected, number_of(expected, "is", "are"),
                             quote_file(job.path, filter), quote_file(options->pending, keys),
                             keys);
        else if (filter_check_name(job.plan.filter, &fault) != 0 ||
                 pending_finish(job.plan.pending, job.plan.writer, &fault) != 0)
            status = message_fault(&fault);
    }
    if (options->exit_status && status == EXIT_OK && job.counts.selected == 0)
        status = EXIT_NOTHING;
    job_summarize(&job, options->tag ? "new" : "printed", options->tag ? "seen" : "dropped");
close:
    job_close(&job);
    return status;
}

int command_add(const struct options *options)
{
    struct job job;
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    job.plan.verb = PIPELINE_ADD;
    if (job_open(&job) == 0 && job_start(&job) == 0) {
        status = job_end(&job, job_read(&job));
        job_summarize(&job, "new", "seen");
    }
    job_close(&job);
    return status;
}

int command_query(const struct options *options)
{
    struct job job;
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    job.plan.verb = options->tag ? PIPELINE_TAG : PIPELINE_QUERY;
    job.plan.invert = options->invert_match;
    job.uses.prints = !options->quiet && !options->count;
    if (options->quiet && !options->count && job.plan.most > 1)
        job.plan.most = 1;

    if (job_open(&job) == 0 && job_start(&job) == 0) {
        status = job_end(&job, job_read(&job));
        uint64_t selected = job.counts.selected;
        if (options->count && !options->quiet)
            printf("%" PRIu64 "\n", selected);
        if (message_finish_output() != EXIT_OK)
            status = EXIT_TROUBLE;
        if (status == EXIT_OK && selected == 0)
            status = EXIT_NOTHING;
        /* As grep -q: one selected line is enough, whatever else failed. */
        if (options->quiet && selected > 0 && !signals_arrived())
            status = EXIT_OK;
    }
    job_close(&job);
    return status;
}
