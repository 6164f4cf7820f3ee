/* command_push - `unseen push FILTER [FILE...]`: append what is new to the filter's queue. */
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "system/signals.h"

#include <inttypes.h>

/* The filter form, with the queue as its output. */
static int run(const struct options *options, const struct inputs *inputs, struct filter *filter,
               struct queue *queue)
{
    struct output output = queue_output(queue);
    struct pipeline_plan plan = {
        .verb = PIPELINE_NEW,
        .filter = filter,
        .output = &output,
        .most = UINT64_MAX,
        .durable = options_has(options, OPTION_DURABLE),
    };
    struct fault fault;
    if (plan.durable) {
        signals_be_careful();
        queue_set_durable(queue);
        if (filter_hold(filter, HOLD_AS_SET, NULL, &fault) != 0)
            return message_fault(&fault);
    }
    struct pipeline_counts counts;
    int status = inputs_run(inputs, &plan, &counts);
    filter_operand_warn(filter_store(filter));
    if (options_has(options, OPTION_VERBOSE))
        message("%" PRIu64 " lines read, %" PRIu64 " queued", counts.read, counts.selected);
    return status;
}

int command_push(const struct options *options)
{
    struct inputs inputs;
    const char *path = inputs_after_filter(&inputs, options);
    if (path == NULL)
        return EXIT_TROUBLE;
    /* A filter that is made here gets a queue; one that exists must have it. */
    struct filter *filter = creation_open(path, options, true);
    if (filter == NULL)
        return EXIT_TROUBLE;
    struct queue *queue = queue_operand(filter_store(filter), inputs.delimiter, true,
                                        inputs.max_line);
    int status = queue != NULL ? run(options, &inputs, filter, queue) : EXIT_TROUBLE;
    queue_close(queue);
    filter_leave(filter);
    return status;
}
