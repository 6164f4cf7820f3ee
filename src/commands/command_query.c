/* command_query - `unseen query FILTER [FILE...]`: selects seen lines. Does not change the
 * filter. */
#include "commands/command.h"
#include "commands/job.h"
#include "commands/message.h"
#include "system/signals.h"

#include <inttypes.h>
#include <stdio.h>

static int check(struct job *job)
{
    const struct options *options = job->options;
    job->plan.verb = options->tag ? PIPELINE_TAG : PIPELINE_QUERY;
    job->plan.invert = options->invert_match;
    job->names.prints = !options->quiet && !options->count;
    if (options->quiet && !options->count && job->plan.most > 1)
        job->plan.most = 1;
    return 0;
}

static int finish(struct job *job, int status)
{
    const struct options *options = job->options;
    uint64_t selected = job->counts.selected;
    if (options->count && !options->quiet)
        printf("%" PRIu64 "\n", selected);
    if (message_finish_output() != EXIT_OK)
        status = EXIT_TROUBLE;
    if (status == EXIT_OK && selected == 0)
        status = EXIT_NOTHING;
    /* As grep -q: one selected line is enough, whatever else failed. */
    return options->quiet && selected > 0 && !signals_arrived() ? EXIT_OK : status;
}

int command_query(const struct options *options)
{
    struct job job;
    return job_run(&job, options, &(struct steps){.check = check, .finish = finish});
}
