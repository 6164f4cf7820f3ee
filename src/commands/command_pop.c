/*
 * command_pop - `unseen pop FILTER`: the oldest lines of its queue, off once they are handed on.
 *
 * Without -x, lines are off chunk by chunk, when they are written. With -x all of them are out
 * until CMD has ended: off if it exited with 0, whatever it has read, else at the back.
 */
#include "commands/command.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "commands/summary.h"
#include "io/child.h"
#include "io/output.h"
#include "system/signals.h"

#include <errno.h>

struct job {
    const struct options *options;
    const char *path;
    struct queue *queue;
    struct output output;
    struct child child; /* -x */
    uint64_t most;
    uint64_t max_line;
    uint64_t taken, delivered; /* lines */
    bool closed;               /* CMD reads no more */
};

/* Writes what was taken. A CMD that reads no more may still exit with 0, and be done with all of
 * its lines: that must not depend on how many were written before. Returns 0, or -1 with the
 * fault. */
static int deliver(struct job *job, const struct queue_lines *lines, struct fault *fault)
{
    size_t written = job->closed ? 0
                                 : output_write(&job->output, lines->bytes, lines->length, fault);
    if (written < lines->length && job->child.pid != 0 && (job->closed || fault->error == EPIPE)) {
        job->closed = true;
        written = lines->length;
    }
    job->delivered += queue_accept(job->queue, written);
    return written == lines->length ? 0 : -1;
}

/* The next lines. With --wait, until there are some, or none can come any more. Returns as
 * queue_take. */
static int take(struct job *job, struct queue_lines *lines, struct fault *fault)
{
    bool waits = job->taken == 0 && options_has(job->options, OPTION_WAIT);
    for (;;) {
        bool awaited;
        int result = queue_take(job->queue, job->most - job->taken, lines, &awaited, fault);
        if (result != 0 || !awaited || !waits)
            return result;
        queue_wait(job->queue);
    }
}

/* Returns 0, or -1 with the fault. What was not delivered waits again. */
static int pop(struct job *job, struct fault *fault)
{
    bool exec = job->options->command != NULL;
    while (job->taken < job->most && !signals_pending()) {
        struct queue_lines lines;
        struct fault later;
        int result = take(job, &lines, fault);
        if (result <= 0)
            return result;
        job->taken += lines.count;
        result = deliver(job, &lines, fault);
        bool removed = exec || queue_remove(job->queue, result == 0 ? fault : &later) == 0;
        if (!removed || result != 0)
            return -1;
    }
    return 0;
}

static int tell_failed(struct job *job, struct fault *fault)
{
    struct fault why_not;
    if (queue_put_back(job->queue, &why_not) == 0) {
        fault_way_out(fault, "its lines are at the back of the queue");
        message_fault(fault);
        return EXIT_COMMAND;
    }
    message_fault(fault);
    fault_way_out(&why_not, "the lines of %s stay at the front", job->options->command[0]);
    return message_fault(&why_not);
}

/* CMD has ended well, and is done with its lines. */
static int remove_taken(struct job *job, uint64_t left)
{
    struct fault fault;
    if (queue_remove(job->queue, &fault) != 0)
        return message_fault(&fault);
    if (left > 0 || job->closed)
        message("%s: exited with 0, and left lines unread (they are off the queue all the same)",
                job->options->command[0]);
    return EXIT_OK;
}

/* CMD has got its lines, as far as `status` says. */
static int finish_command(struct job *job, int status)
{
    struct fault fault;
    uint64_t left;
    if (job->taken == 0)
        return status;
    enum child_end end = child_finish(&job->child, &left, &fault);
    if (end == CHILD_FAILED)
        return tell_failed(job, &fault);
    if (end != CHILD_DONE)
        return end == CHILD_STOPPED ? status : message_not_run(job->child.error);
    int removed = remove_taken(job, left);
    return removed == EXIT_OK ? status : removed;
}

static int run(struct job *job)
{
    struct fault fault;
    int status = pop(job, &fault) == 0 ? EXIT_OK : message_fault(&fault);
    if (job->options->command != NULL)
        status = finish_command(job, status);
    else if (output_close(&job->output, &fault) != 0)
        status = message_fault(&fault);
    summary_numbers(job->options, job->path,
                    (struct summary_number[]){
                        {"popped", "", " lines popped", (double)job->delivered},
                        {NULL},
                    });
    return status == EXIT_OK && job->taken == 0 ? EXIT_NOTHING : status;
}

static int parse(struct job *job, const struct options *options)
{
    char delimiter = options_has(options, OPTION_NULL) ? '\0' : '\n';
    *job = (struct job){.options = options, .most = 1};
    job->output = options->command != NULL ? child_output(&job->child, options->command, delimiter)
                                           : output_standard(delimiter);
    if (options_whole(options, OPTION_MAX_COUNT, 1, UINT64_C(1) << 53, &job->most) != 0 ||
        inputs_parse_max_line(options, &job->max_line) != 0)
        return EXIT_TROUBLE;
    return options_check_exec(options);
}

int command_pop(const struct options *options)
{
    struct job job;
    const char *path = filter_operand(options);
    if (path == NULL || filter_operand_alone(options) != 0 || parse(&job, options) != 0)
        return EXIT_TROUBLE;
    struct store *store = filter_operand_look(path, options);
    if (store == NULL)
        return EXIT_TROUBLE;
    job.path = path;
    job.queue = queue_operand(store, job.output.delimiter, false, job.max_line);
    int status = job.queue != NULL ? run(&job) : EXIT_TROUBLE;
    queue_close(job.queue);
    store_leave(store);
    return status;
}
