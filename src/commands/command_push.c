/* command_push - `unseen push FILTER [FILE...]`: appends new lines to the filter's queue. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/job.h"
#include "commands/message.h"
#include "queue/queue.h"
#include "text/number.h"

#include <inttypes.h>

int command_push(const struct options *options)
{
    struct job job;
    struct queue *queue = NULL;
    struct output output;
    struct fault fault = FAULT_UNSET;
    uint64_t again; /* lines that were given up */
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    if (options->failed && options->operand_count > 1)
        return message("--failed: its lines come from FILTER.failed (leave out the operand %s)",
                       options->operands[1]);
    struct queue_plan plan = {QUEUE_PUSH, job.inputs.ends.delimiter, job.inputs.max_line,
                              message_waits, options->failed};

    /* No queue is made if the inputs are missing. */
    if (job_open(&job) != 0 || (filter_queue(job.plan.filter) == QUEUE_NONE && !options->failed &&
                                inputs_check_readable(&job.inputs) != 0))
        goto close;
    job.queue = filter_real_path(job.plan.filter);
    queue = queue_open(job.queue, filter_descriptor(job.plan.filter), &plan, &fault);
    /* --failed: before the process gives up the right to remove FILTER.failed. */
    if (queue == NULL || (options->failed && queue_retry(queue, &again, &fault) != 0)) {
        message_fault(&fault);
        goto close;
    }
    output = queue_output(queue);
    job.plan.output = &output;
    job.plan.output_headed = true; /* a queue has no header line, */
    job.plan.one_line = true;      /* and lines that pop hands out one by one */
    if (job_start(&job) != 0)
        goto close;

    if (options->failed) {
        status = EXIT_OK;
        figures_summary(options, {"", "filter", TEXT(job.path)},
                        {number_of(again, "line queued again", "lines queued again"), "again",
                         COUNT(again)});
    } else {
        status = job_end(&job, job_read(&job));
        const struct pipeline_counts *counts = &job.counts;
        if (counts->unfit > 0)
            status = message("%s: line %" PRIu64 ": a row of several lines, which the queue cannot "
                             "hold (%" PRIu64 " such %s left out; the other rows are queued)",
                             counts->several_input, counts->several_line, counts->unfit,
                             number_of(counts->unfit, "row was", "rows were"));
        job_summarize(&job, "new", "seen");
    }
close:
    job_close(&job);
    queue_close(queue);
    return status;
}
