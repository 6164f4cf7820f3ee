/* command_push - `unseen push FILTER [FILE...]`: appends new lines to the filter's queue. */
#include "commands/command.h"
#include "commands/job.h"
#include "commands/message.h"
#include "queue/queue.h"

struct push {
    struct job job;
    struct queue *queue;
    struct output output; /* into the queue */
};

static int open_queue(struct job *job)
{
    struct push *push = (struct push *)job;
    const struct store *store = filter_store(job->plan.filter);
    struct queue_plan plan = {QUEUE_PUSH, job->inputs.delimiter, job->inputs.max_line,
                              message_waits};
    struct fault fault = FAULT_UNSET;
    /* No queue is made if the inputs are missing. */
    if (store_queue(store) == QUEUE_NONE && inputs_check_readable(&job->inputs) != 0)
        return EXIT_TROUBLE;
    job->queue = store_real_path(store);
    push->queue = queue_open(job->queue, &plan, &fault);
    if (push->queue == NULL)
        return message_fault(&fault);
    push->output = queue_output(push->queue);
    job->plan.output = &push->output;
    job->plan.output_headed = true; /* a queue has no header line */
    return 0;
}

int command_push(const struct options *options)
{
    struct push push = {.queue = NULL};
    int status = job_run(&push.job, options,
                         &(struct steps){.open = open_queue, .selected = "new", .seen = "seen"});
    queue_close(push.queue);
    return status;
}
