/* command_add - `unseen add FILTER [FILE...]`: remembers lines, prints nothing. */
#include "commands/command.h"
#include "commands/job.h"
#include "commands/message.h"

int command_add(const struct options *options)
{
    struct job job;
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    job.plan.verb = PIPELINE_ADD;
    if (job_open(&job) == 0 && job_start(&job) == 0) {
        status = job_end(&job, job_read(&job));
        job_summarize(&job, "new", "seen");
    }
    job_close(&job);
    return status;
}
