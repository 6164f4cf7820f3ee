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

/* `length`: without the delimiter, which follows the line. */
static int print_key(struct keys *keys, const char *line, size_t length, struct fault *fault)
{
    if (keyer_reserve(keys->keyer, length) != 0)
        return fault_errno(fault, "the key of a line", "does not fit into memory", ENOMEM);
    struct collect *collect = keys->job.scan.collect;
    struct key_text key = keyer_text(keys->keyer, line, length);
    const char *tag = key.no_key ? "none\t" : "key\t";
    const struct iovec pieces[] = {{(void *)tag, keys->job.options->tag ? strlen(tag) : 0},
                                   {(void *)key.bytes, key.length},
                                   {&keys->job.output.delimiter, 1}};
    return collect_add_pieces(collect, pieces, 3, fault);
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

static int read_header_line(void *context, const struct batch *batch, const char *input,
                            struct fault *fault)
{
    struct keys *keys = context;
    if (keyer_reserve(keys->keyer, batch->header_length) != 0)
        return fault_errno(fault, input, NULL, ENOMEM);
    return keyer_read_header(keys->keyer, batch->header_line, batch->header_length - 1, input,
                             fault);
}

static int check(struct job *job)
{
    job->scan.hashers = hashers_of_keys(hasher_xxh3(0));
    job->scan.header_line = read_header_line;
    job->scan.lines = print_keys;
    return 0;
}

static int open_keyer(struct job *job)
{
    struct keys *keys = (struct keys *)job;
    keys->keyer = keyer_new(&job->recipe);
    return keys->keyer != NULL ? 0 : message("%s", strerror(ENOMEM));
}

int command_key(const struct options *options)
{
    struct keys keys = {.keyer = NULL};
    int status = job_run(&keys.job, options, &(struct steps){.check = check, .open = open_keyer});
    keyer_free(keys.keyer);
    return status;
}
