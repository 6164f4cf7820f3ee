/* command_push - `unseen push FILTER [FILE...]`: appends new lines to the filter's queue. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/job.h"
#include "commands/message.h"
#include "queue/queue.h"
#include "text/number.h"

/* Opens the queue, and makes it the output. Returns NULL after a message. */
static struct queue *open_to_push(struct job *job, struct output *output, uint64_t *again)
{
    const struct filter *filter = job->plan.filter;
    bool failed = job->options->failed;
    struct queue_plan plan = {QUEUE_PUSH, job->inputs.delimiter, job->inputs.max_line,
                              message_waits, failed};
    struct fault fault = FAULT_UNSET;
    /* No queue is made if the inputs are missing. */
    if (filter_queue(filter) == QUEUE_NONE && !failed && inputs_check_readable(&job->inputs) != 0)
        return NULL;
    job->queue = filter_real_path(filter);
    struct queue *queue = queue_open(job->queue, filter_descriptor(filter), &plan, &fault);
    /* --failed: before the process gives up the right to remove FILTER.failed. */
    if (queue == NULL || (failed && queue_retry(queue, again, &fault) != 0)) {
        message_fault(&fault);
        queue_close(queue);
        return NULL;
    }
    *output = queue_output(queue);
    job->plan.output = output;
    job->plan.output_headed = true; /* a queue has no header line */
    return queue;
}

int command_push(const struct options *options)
{
    struct job job;
    struct queue *queue = NULL;
    struct output output;
    uint64_t again; /* lines that were given up */
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    if (options->failed && options->operand_count > 1)
        return message("--failed: its lines come from FILTER.failed (leave out the operand %s)",
                       options->operands[1]);

    if (job_open(&job) != 0 || (queue = open_to_push(&job, &output, &again)) == NULL ||
        job_start(&job) != 0)
        goto close;
    if (options->failed) {
        status = EXIT_OK;
        figures_summary(options, {"", "filter", TEXT(job.path)},
                        {number_of(again, "line queued again", "lines queued again"), "again",
                         COUNT(again)});
    } else {
        status = job_end(&job, job_read(&job));
        job_summarize(&job, "new", "seen");
    }
close:
    job_close(&job);
    queue_close(queue);
    return status;
}
