/* command_commit - `unseen commit FILTER FILE...`: settles the keys of runs with --pending. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/job.h"
#include "commands/message.h"
#include "text/number.h"

/* Adds the keys of a file, and to *added how many were new. If `added` is NULL, only checks the
 * file. */
static int add_pending(const struct pipeline_plan *plan, const char *path, uint64_t *added)
{
    struct fault fault = FAULT_UNSET;
    struct pending *pending = pending_open(path, plan->filter, &fault);
    int result = pending != NULL ? 0 : -1;
    if (result == 0 && added != NULL)
        result = pending_add(pending, plan->writer, added, &fault);
    pending_free(pending);
    return result == 0 ? EXIT_OK : message_fault(&fault);
}

int command_commit(const struct options *options)
{
    struct job job;
    struct fault fault = FAULT_UNSET;
    uint64_t total = 0;
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    /* The operands are no files of lines; they are checked when they are opened. */
    job.uses = (struct file_uses){.prints = false};
    if (options->operand_count < 2)
        return message("commit: FILE is missing (unseen commit FILTER FILE...)");

    if (job_open(&job) != 0 || job_start(&job) != 0)
        goto close;
    status = EXIT_OK;
    /* Checks all files before it adds any. */
    for (const char **path = job.inputs.names; *path != NULL; path++)
        if (add_pending(&job.plan, *path, NULL) != EXIT_OK)
            status = EXIT_TROUBLE;
    for (const char **path = job.inputs.names; *path != NULL && status == EXIT_OK; path++)
        status = add_pending(&job.plan, *path, &total);
    if (status != EXIT_OK)
        goto close;
    /* The files may be removed now. */
    if (filter_flush(job.plan.filter, &fault) != 0) {
        status = message_fault(&fault);
        goto close;
    }
    warn_of_filter(job.plan.filter);
    figures_summary(options, {"", "filter", TEXT(filter_path(job.plan.filter))},
                    {number_of(total, "new line", "new lines"), "new", COUNT(total)});
close:
    job_close(&job);
    return status;
}
