/* command_push - `unseen push FILTER [FILE...]`: appends new lines to the filter's queue. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/job.h"
#include "commands/message.h"
#include "queue/queue.h"
#include "text/number.h"

struct push {
    struct job job;
    struct queue *queue;
    struct output output; /* into the queue */
    uint64_t again;       /* lines that were given up */
};

static int check(struct job *job)
{
    if (job->options->failed && job->options->operand_count > 1)
        return message("--failed: its lines come from FILTER.failed (leave out the operand %s)",
                       job->options->operands[1]);
    return 0;
}

static int open_queue(struct job *job)
{
    struct push *push = (struct push *)job;
    const struct filter *filter = job->plan.filter;
    bool failed = job->options->failed;
    struct queue_plan plan = {QUEUE_PUSH, job->inputs.delimiter, job->inputs.max_line,
                              message_waits, failed};
    struct fault fault = FAULT_UNSET;
    /* No queue is made if the inputs are missing. */
    if (filter_queue(filter) == QUEUE_NONE && !failed && inputs_check_readable(&job->inputs) != 0)
        return EXIT_TROUBLE;
    job->queue = filter_real_path(filter);
    push->queue = queue_open(job->queue, filter_descriptor(filter), &plan, &fault);
    if (push->queue == NULL)
        return message_fault(&fault);
    /* Before the process gives up the right to remove FILTER.failed. */
    if (failed && queue_retry(push->queue, &push->again, &fault) != 0)
        return message_fault(&fault);
    push->output = queue_output(push->queue);
    job->plan.output = &push->output;
    job->plan.output_headed = true; /* a queue has no header line */
    return 0;
}

static int read_nothing(struct job *job)
{
    const struct push *push = (const struct push *)job;
    figures_summary(job->options, {"", "filter", TEXT(job->path)},
                    {number_of(push->again, "line queued again", "lines queued again"), "again",
                     COUNT(push->again)});
    return EXIT_OK;
}

int command_push(const struct options *options)
{
    struct push push = {.queue = NULL};
    struct steps lines = {.check = check, .open = open_queue, .selected = "new", .seen = "seen"};
    struct steps failed = {.check = check, .open = open_queue, .read = read_nothing};
    int status = job_run(&push.job, options, options->failed ? &failed : &lines);
    queue_close(push.queue);
    return status;
}
