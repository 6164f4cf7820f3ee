/* command_add - `unseen add FILTER [FILE...]`: remember lines, print nothing. */
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"

#include <inttypes.h>

int command_add(const struct options *options)
{
    struct inputs inputs;
    struct pipeline_counts counts;
    const char *path = inputs_after_filter(&inputs, options);
    if (path == NULL)
        return EXIT_TROUBLE;
    struct filter *filter = creation_open(path, options, options_has(options, OPTION_QUEUE));
    if (filter == NULL)
        return EXIT_TROUBLE;
    struct pipeline_plan plan = {.verb = PIPELINE_ADD, .filter = filter, .most = UINT64_MAX};
    int status = inputs_run(&inputs, &plan, &counts);
    filter_operand_warn(filter_store(filter));
    if (options_has(options, OPTION_VERBOSE))
        message("%" PRIu64 " lines read, %" PRIu64 " added", counts.read, counts.selected);
    filter_leave(filter);
    return status;
}
