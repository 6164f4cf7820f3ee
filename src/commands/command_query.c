/* command_query - `unseen query FILTER [FILE...]`: selects seen lines. Does not change the
 * filter. */
#include "commands/command.h"
#include "commands/job.h"
#include "commands/message.h"
#include "system/signals.h"

#include <inttypes.h>
#include <stdio.h>

int command_query(const struct options *options)
{
    struct job job;
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    job.plan.verb = options->tag ? PIPELINE_TAG : PIPELINE_QUERY;
    job.plan.invert = options->invert_match;
    job.uses.prints = !options->quiet && !options->count;
    if (options->quiet && !options->count && job.plan.most > 1)
        job.plan.most = 1;

    if (job_open(&job) == 0 && job_start(&job) == 0) {
        status = job_end(&job, job_read(&job));
        uint64_t selected = job.counts.selected;
        if (options->count && !options->quiet)
            printf("%" PRIu64 "\n", selected);
        if (message_finish_output() != EXIT_OK)
            status = EXIT_TROUBLE;
        if (status == EXIT_OK && selected == 0)
            status = EXIT_NOTHING;
        /* As grep -q: one selected line is enough, whatever else failed. */
        if (options->quiet && selected > 0 && !signals_arrived())
            status = EXIT_OK;
    }
    job_close(&job);
    return status;
}
