/* command_add - `unseen add FILTER [FILE...]`: remembers lines, prints nothing. */
#include "commands/command.h"
#include "commands/job.h"

int command_add(const struct options *options)
{
    struct job job;
    return job_run(&job, options,
                   &(struct steps){.verb = PIPELINE_ADD, .selected = "new", .seen = "seen"});
}
