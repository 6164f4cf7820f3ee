/* command_key - `unseen key [FILE...]`: prints the key of each line. */
#include "commands/command.h"
#include "commands/job.h"
#include "commands/message.h"

#include <errno.h>
#include <string.h>

struct keys {
    struct job job;
    struct keyer *keyer;
};

static int print_keys(void *context, const struct batch *batch, struct collect *to,
                      struct fault *fault)
{
    struct keys *keys = context;
    bool tags = keys->job.options->tag;
    for (size_t i = 0; i < batch->n; i++) {
        const char *line = batch->bytes + batch->starts[i];
        size_t length = batch->starts[i + 1] - batch->starts[i] - 1;
        if (keyer_reserve(keys->keyer, length) != 0)
            return fault_errno(fault, "the key of a line", "does not fit into memory", ENOMEM);
        struct key_text key = keyer_text(keys->keyer, line, length);
        const char *tag = key.no_key ? "none\t" : "key\t";
        const struct iovec pieces[] = {{(void *)tag, tags ? strlen(tag) : 0},
                                       {(void *)key.bytes, key.length},
                                       {&keys->job.output.delimiter, 1}};
        if (collect_add_pieces(to, pieces, 3, fault) != 0)
            return -1;
    }
    return 0;
}

static int read_key_columns(void *context, const struct batch *batch, const char *input,
                            struct collect *to, struct fault *fault)
{
    struct keys *keys = context;
    (void)to;
    if (keyer_reserve(keys->keyer, batch->header_length) != 0)
        return fault_errno(fault, input, NULL, ENOMEM);
    return keyer_read_header(keys->keyer, batch->header_line, batch->header_length - 1, input,
                             fault);
}

int command_key(const struct options *options)
{
    struct keys keys;
    int status = EXIT_TROUBLE;
    if (job_parse(&keys.job, options) != 0)
        return EXIT_TROUBLE;
    keys.job.plan.hashers = hashers_of_keys(hasher_xxh3(0));
    keys.job.plan.context = &keys;
    keys.job.plan.take_header = read_key_columns;
    keys.job.plan.take_lines = print_keys;
    keys.keyer = keyer_new(&keys.job.recipe);
    if (keys.keyer == NULL)
        return message("%s", strerror(ENOMEM));

    if (job_open(&keys.job) == 0 && job_start(&keys.job) == 0)
        status = job_end(&keys.job, job_read(&keys.job));
    job_close(&keys.job);
    keyer_free(keys.keyer);
    return status;
}
