/* command_filter - `unseen`, `unseen FILTER [FILE...]`: print what is new. */
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct job {
    const struct options *options;
    const char *path; /* NULL: in memory */
    const char *output_path;
    struct inputs inputs;
    struct output output;
    struct pipeline_plan plan;
};

static int check_combination(const struct job *job)
{
    const struct options *options = job->options;
    if (job->path == NULL && options_has(options, OPTION_CREATE))
        return message("--create: needs a name (unseen --create FILTER)");
    if (job->path != NULL && options_has(options, OPTION_REPEATED))
        return message("-d: works in memory only (unseen -d < FILE)");
    if (job->output_path != NULL && job->output_path[0] == '\0')
        return message("-o '': an empty name is not a file (is a variable empty?)");
    return 0;
}

static int parse(struct job *job, const struct options *options)
{
    *job = (struct job){.options = options, .output_path = options->given[OPTION_OUTPUT]};
    job->plan.most = UINT64_MAX;
    if (options->operand_count > 0) {
        job->path = filter_operand(options);
        if (job->path == NULL)
            return EXIT_TROUBLE;
    }
    if (inputs_parse(&job->inputs, options, job->path != NULL ? 1 : 0) != 0 ||
        options_count(options, OPTION_MAX_COUNT, 0, UINT64_C(1) << 53, &job->plan.most) != 0 ||
        check_combination(job) != 0)
        return EXIT_TROUBLE;
    job->plan.verb = options_has(options, OPTION_REPEATED) ? PIPELINE_REPEATED : PIPELINE_NEW;
    job->plan.delimiter = job->inputs.delimiter;
    return inputs_check(&job->inputs, job->path, job->output_path);
}

static struct filter *memory_filter(const struct options *options)
{
    struct header header;
    struct fault fault;
    if (creation_plan(options, &header) != 0)
        return NULL;
    struct filter *filter = filter_memory(&header, &fault);
    if (filter == NULL)
        message_fault(&fault);
    return filter;
}

/* Opens what is missing of filter, output and second filter; EXIT_TROUBLE after a message. The
 * output is looked at before a filter is made for it, and made after. */
static int acquire(struct job *job)
{
    struct fault fault;
    struct filter_watch watch = creation_watch();
    job->output = output_standard(job->plan.delimiter);
    if (job->output_path != NULL && output_check(job->output_path, &fault) != 0)
        return message_fault(&fault);
    job->plan.filter = job->path != NULL ? creation_open(job->path, job->options, &watch)
                                         : memory_filter(job->options);
    if (job->plan.filter == NULL)
        return EXIT_TROUBLE;
    if (job->plan.verb == PIPELINE_REPEATED) {
        job->plan.repeats = memory_filter(job->options);
        if (job->plan.repeats == NULL)
            return EXIT_TROUBLE;
    }
    if (job->output_path != NULL &&
        output_open(&job->output, job->output_path, job->plan.delimiter, &fault) != 0)
        return message_fault(&fault);
    job->plan.output = &job->output;
    return 0;
}

static int run(struct job *job)
{
    struct fault fault;
    struct pipeline *pipeline = pipeline_new(&job->plan);
    if (pipeline == NULL)
        return message("%s", strerror(ENOMEM));
    int status = inputs_run(&job->inputs, pipeline);
    if (output_close(&job->output, &fault) != 0)
        status = message_fault(&fault);
    creation_warn_if_over(job->plan.filter);
    if (options_has(job->options, OPTION_VERBOSE))
        message("%" PRIu64 " lines read, %" PRIu64 " printed", pipeline_read(pipeline),
                pipeline_selected(pipeline));
    if (status == EXIT_OK && options_has(job->options, OPTION_EXIT_STATUS) &&
        pipeline_selected(pipeline) == 0)
        status = EXIT_NOTHING;
    pipeline_free(pipeline);
    return status;
}

int command_filter(const struct options *options)
{
    struct job job;
    int status = parse(&job, options);
    if (status == 0)
        status = acquire(&job);
    if (status == 0)
        status = run(&job);
    filter_close(job.plan.filter);
    filter_close(job.plan.repeats);
    return status;
}
