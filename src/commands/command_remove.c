/* command_remove - `unseen remove FILTER [FILE...]`: removes lines from a counting filter. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/job.h"
#include "commands/message.h"
#include "text/number.h"

#include <inttypes.h>

int command_remove(const struct options *options)
{
    struct job job;
    const struct pipeline_counts *counts = &job.counts;
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    job.plan.verb = PIPELINE_REMOVE;
    /* Opened for reading first, so that a filter that is refused is not changed. */
    struct filter *filter = filter_operand_open_to_read(job.path, options);
    if (filter == NULL)
        return EXIT_TROUBLE;
    bool counting = filter_header(filter)->plan.geometry.counting;
    filter_close(filter);
    if (!counting)
        return message("%s: is not a counting filter, so lines cannot be removed from it (to "
                       "make one: unseen create --counting NEW)",
                       job.path);

    if (job_open(&job) != 0 || job_start(&job) != 0)
        goto close;
    status = job_end(&job, job_read(&job));
    const char *lines = number_of(counts->read, "line was", "lines were");
    if (counts->absent > 0)
        message("%s: %" PRIu64 " of %" PRIu64 " %s not in the filter", job.path, counts->absent,
                counts->read, lines);
    if (counts->ambiguous > 0)
        message("%s: %" PRIu64 " of %" PRIu64 " %s not removed (several layers seem to hold %s)",
                job.path, counts->ambiguous, counts->read, lines,
                number_of(counts->ambiguous, "it", "them"));
    struct told_lines told;
    job_tell_lines(&job, &told);
    figures_summary(options, {"", "filter", TEXT(job.path)},
                    {number_of(counts->read, "line read", "lines read"), "read",
                     COUNT(counts->read)},
                    {"removed", "removed", COUNT(counts->selected)},
                    {"not in the filter", "absent", COUNT(counts->absent)},
                    {"ambiguous", "ambiguous", COUNT(counts->ambiguous)}, TOLD_LINES(told));
close:
    job_close(&job);
    return status;
}
