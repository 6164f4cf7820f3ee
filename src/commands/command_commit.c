/* command_commit - `unseen commit FILTER FILE...`: settles the keys of runs with --pending. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/job.h"
#include "commands/message.h"
#include "commands/warnings.h"
#include "text/number.h"

/* The operands are no files of lines; they are checked when they are opened. */
static int check(struct job *job)
{
    job->names = (struct names){.prints = false};
    if (job->options->operand_count < 2)
        return message("commit: FILE is missing (unseen commit FILTER FILE...)");
    return 0;
}

/* Adds the keys of a file, and to *added how many were new. If `added` is NULL, only checks the
 * file. */
static int take(const struct pipeline_plan *plan, const char *path, uint64_t *added)
{
    struct fault fault = FAULT_UNSET;
    struct pending *pending = pending_open(path, plan->filter, &fault);
    int result = pending != NULL ? 0 : -1;
    if (result == 0 && added != NULL)
        result = pending_add(pending, plan->writer, added, &fault);
    pending_free(pending);
    return result == 0 ? EXIT_OK : message_fault(&fault);
}

/* Checks all files before it adds any. */
static int commit(struct job *job)
{
    const struct filter *filter = job->plan.filter;
    const char **paths = job->inputs.names;
    struct fault fault = FAULT_UNSET;
    uint64_t total = 0;
    int status = EXIT_OK;
    for (size_t i = 0; paths[i] != NULL; i++)
        if (take(&job->plan, paths[i], NULL) != EXIT_OK)
            status = EXIT_TROUBLE;
    for (size_t i = 0; paths[i] != NULL && status == EXIT_OK; i++)
        status = take(&job->plan, paths[i], &total);
    if (status != EXIT_OK)
        return status;
    /* The files may be removed now. */
    if (filter_flush(filter, &fault) != 0)
        return message_fault(&fault);
    warn_of_filter(filter);
    figures_summary(job->options, {"", "filter", TEXT(filter_path(filter))},
                    {number_of(total, "new line", "new lines"), "new", COUNT(total)});
    return EXIT_OK;
}

int command_commit(const struct options *options)
{
    struct job job;
    return job_run(&job, options, &(struct steps){.check = check, .read = commit});
}
