/* command_add - `unseen add FILTER [FILE...]`: remembers lines, prints nothing. */
#include "commands/command.h"
#include "commands/job.h"

static int check(struct job *job)
{
    job->plan.verb = PIPELINE_ADD;
    return 0;
}

int command_add(const struct options *options)
{
    struct job job;
    return job_run(&job, options,
                   &(struct steps){.check = check, .selected = "new", .seen = "seen"});
}
