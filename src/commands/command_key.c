/* command_key - `unseen key [FILE...]`: prints the key of each line. */
#include "commands/command.h"
#include "commands/job.h"
#include "commands/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Prints a key that has LF or CR: in CSV's quotes, and so that a key is a line; if lines end with
 * NUL, its newlines are as they are. Returns 0, or -1 with the fault. */
static int print_quoted(const struct job *job, const char *tag, const struct key_text *key,
                        struct collect *to, struct fault *fault)
{
    char delimiter = job->output.ends.delimiter;
    char *text = malloc(2 * key->length + sizeof "none\t\"\"\n"), *out = text;
    if (text == NULL)
        return fault_errno(fault, job->output.name, "a key does not fit into memory", ENOMEM);
    out = stpcpy(out, tag);
    *out++ = '"';
    for (const char *at = key->bytes; at < key->bytes + key->length; at++) {
        if (*at == '"')
            *out++ = '"';
        if (*at == '\n' && delimiter == '\n')
            out = stpcpy(out, "\\n");
        else
            *out++ = *at;
    }
    *out++ = '"';
    *out++ = delimiter;
    int result = collect_add(to, text, (size_t)(out - text), fault);
    free(text);
    return result;
}

static int print_keys(void *context, const struct batch *batch, struct collect *to,
                      struct fault *fault)
{
    const struct job *job = context;
    for (size_t i = 0; i < batch->n; i++) {
        struct key_text key = batch->texts[i];
        const char *tag = key.no_key != HAS_KEY ? "none\t" : "key\t";
        bool quoted = key.no_key == HAS_KEY && (memchr(key.bytes, '\n', key.length) != NULL ||
                                                memchr(key.bytes, '\r', key.length) != NULL);
        if (!job->options->tag)
            tag = "";
        if (quoted) {
            if (print_quoted(job, tag, &key, to, fault) != 0)
                return -1;
            continue;
        }
        const struct iovec pieces[] = {{(void *)tag, strlen(tag)},
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
