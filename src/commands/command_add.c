/* command_add - `unseen add FILTER [FILE...]`: remember lines, print nothing. */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/creation.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/side_file.h"
#include "commands/summary.h"

static int run(const struct options *options, const struct inputs *inputs,
               struct pipeline_plan *plan)
{
    struct pipeline_counts counts;
    struct output dropped;
    if (side_file_open_dropped(options, inputs->delimiter, &dropped, plan) != 0 ||
        confinement_start(&(struct confinement){.inputs = inputs, .filter = plan->filter}) != 0)
        return EXIT_TROUBLE;
    int status = inputs_run(inputs, plan, &counts);
    status = side_file_close_dropped(plan, status);
    summary_tell(options, filter_store(plan->filter), &counts, "added");
    return status;
}

int command_add(const struct options *options)
{
    struct inputs inputs;
    const char *path = inputs_after_filter(&inputs, options);
    if (path == NULL || combinations_check(options, FOR_ADD) != 0)
        return EXIT_TROUBLE;
    struct pipeline_plan plan = {.verb = PIPELINE_ADD, .most = UINT64_MAX};
    struct side_files files = {options, &inputs, path, NULL, .silent = true};
    if (side_file_check(&files) != 0)
        return EXIT_TROUBLE;
    summary_prepare(options, &plan);
    plan.filter = creation_open(path, options, true);
    if (plan.filter == NULL)
        return EXIT_TROUBLE;
    int status = run(options, &inputs, &plan);
    filter_close(plan.filter);
    return status;
}
