/* command_key - `unseen key [FILE...]`: print what counts in each line. */
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/scan.h"
#include "commands/wish_recipe.h"
#include "io/collect.h"

#include <errno.h>
#include <string.h>

struct job {
    struct recipe recipe;
    bool tag;
    struct output output;
    struct keyer *keyer;
    struct collect *collect;
};

/* `length`: without the delimiter, which follows. */
static int print_key(struct job *job, const char *line, size_t length, struct fault *fault)
{
    if (keyer_reserve(job->keyer, length) != 0)
        return fault_errno(fault, "the key of a line", "does not fit into memory", ENOMEM);
    struct key_text key = keyer_text(job->keyer, line, length);
    const char *tag = key.itself ? "none\t" : "key\t";
    if (job->tag && collect_add(job->collect, tag, strlen(tag), fault) != 0)
        return -1;
    if (collect_add(job->collect, key.bytes, key.length, fault) != 0)
        return -1;
    return collect_add(job->collect, &job->output.delimiter, 1, fault);
}

static int print_keys(void *context, const struct batch *batch, struct fault *fault)
{
    for (size_t i = 0; i < batch->n; i++) {
        const char *line = batch->bytes + batch->starts[i];
        if (print_key(context, line, batch->starts[i + 1] - batch->starts[i] - 1, fault) != 0)
            return -1;
    }
    return 0;
}

static int print_heading(void *context, const char *line, size_t length, struct fault *fault)
{
    struct job *job = context;
    return collect_add(job->collect, line, length, fault);
}

static int flush(void *context, struct fault *fault)
{
    struct job *job = context;
    return collect_flush(job->collect, fault);
}

/* The batches are made of whole lines: their hashes are of no interest here. */
static int run(struct job *job, const struct inputs *inputs)
{
    static const struct recipe whole_line = {.ranges = 0};
    struct fault fault;
    int status = scan_inputs(&(struct scan){
        .inputs = inputs,
        .recipe = &whole_line,
        .hashers = hashers_of_keys(hasher_xxh3(0)),
        .context = job,
        .heading = print_heading,
        .lines = print_keys,
        .pause = flush,
    });
    return output_close(&job->output, &fault) == 0 ? status : message_fault(&fault);
}

int command_key(const struct options *options)
{
    struct job job = {.tag = options_has(options, OPTION_TAG)};
    struct inputs inputs;
    inputs_parse(&inputs, options, 0);
    if (wish_recipe_read(options, &job.recipe) != 0 || inputs_check(&inputs, NULL, NULL) != 0)
        return EXIT_TROUBLE;
    job.output = output_standard(inputs.delimiter);
    job.keyer = keyer_new(&job.recipe);
    job.collect = collect_new(&job.output);
    int status = job.keyer == NULL || job.collect == NULL
                     ? message("%s", strerror(ENOMEM))
                     : confinement_start(&(struct confinement){.inputs = &inputs});
    if (status == 0)
        status = run(&job, &inputs);
    keyer_free(job.keyer);
    collect_free(job.collect);
    return status;
}
