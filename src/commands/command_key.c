/* command_key - `unseen key [FILE...]`: prints the key of each line. */
#include "commands/command.h"
#include "commands/job.h"
#include "commands/message.h"

#include <string.h>

static int print_keys(void *context, const struct batch *batch, struct collect *to,
                      struct fault *fault)
{
    const struct job *job = context;
    for (size_t i = 0; i < batch->n; i++) {
        struct key_text key = batch->texts[i];
        const char *tag = key.no_key ? "none\t" : "key\t";
        const struct iovec pieces[] = {{(void *)tag, job->options->tag ? strlen(tag) : 0},
                                       {(void *)key.bytes, key.length},
                                       {(void *)&job->output.ends.delimiter, 1}};
        if (collect_add_pieces(to, pieces, 3, fault) != 0)
            return -1;
    }
    return 0;
}

int command_key(const struct options *options)
{
    struct job job;
    int status = EXIT_TROUBLE;
    if (job_parse(&job, options) != 0)
        return EXIT_TROUBLE;
    job.plan.texts = true;
    job.plan.context = &job;
    job.plan.take_lines = print_keys;
    if (job_open(&job) == 0 && job_start(&job) == 0)
        status = job_end(&job, job_read(&job));
    job_close(&job);
    return status;
}
