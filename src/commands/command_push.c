/* command_push - `unseen push FILTER [FILE...]`: append what is new to the filter's queue. */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/creation.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "commands/side_file.h"
#include "commands/summary.h"

/* Lines stay in flight until they are on disk. */
static int hold(struct pipeline_plan *plan)
{
    struct fault fault;
    plan->holds = true;
    return filter_hold(plan->filter, true, &fault) == 0 ? 0 : message_fault(&fault);
}

/* The filter form, with the queue as its output. */
static int run(const struct options *options, const struct inputs *inputs,
               struct pipeline_plan *plan)
{
    struct output dropped;
    struct pipeline_counts counts;
    if (side_file_open_dropped(options, inputs->delimiter, &dropped, plan) != 0 ||
        (plan->durable && hold(plan) != 0) ||
        confinement_start(
            &(struct confinement){.inputs = inputs,
                                  .filter = plan->filter,
                                  .queue = store_real_path(filter_store(plan->filter))}) != 0)
        return EXIT_TROUBLE;
    int status = inputs_run(inputs, plan, &counts);
    status = side_file_close_dropped(plan, status);
    summary_tell(options, filter_store(plan->filter), &counts, "queued");
    return status;
}

int command_push(const struct options *options)
{
    struct inputs inputs;
    const char *path = inputs_after_filter(&inputs, options);
    if (path == NULL || combinations_check(options, FOR_PUSH) != 0)
        return EXIT_TROUBLE;
    struct pipeline_plan plan = {
        .verb = PIPELINE_NEW,
        .heading = HEADING_SKIPPED,
        .most = UINT64_MAX,
        .durable = options_has(options, OPTION_DURABLE),
    };
    struct side_files files = {options, &inputs, path, NULL, .silent = true};
    if (side_file_check(&files) != 0)
        return EXIT_TROUBLE;
    summary_prepare(options, &plan);
    plan.filter = creation_open(path, options, true);
    if (plan.filter == NULL)
        return EXIT_TROUBLE;
    const struct store *store = filter_store(plan.filter);
    struct queue *queue = NULL;
    /* No queue is made for inputs that are not there. */
    if (store_queue(store) != QUEUE_NONE || inputs_check_readable(&inputs) == 0)
        queue = queue_operand(store, QUEUE_PUSH, inputs.delimiter, inputs.max_line);
    int status = EXIT_TROUBLE;
    if (queue != NULL) {
        struct output output = queue_output(queue);
        plan.output = &output;
        status = run(options, &inputs, &plan);
    }
    queue_close(queue);
    filter_close(plan.filter);
    return status;
}
