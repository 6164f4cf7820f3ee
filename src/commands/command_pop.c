/*
 * command_pop - `unseen pop FILTER`: delivers the oldest lines of the queue and removes them.
 *
 * Without -x, lines are removed chunk by chunk, after they are written. With -x all lines are held
 * until CMD has ended: if CMD exits with 0, the lines it read are removed, else all lines go to the
 * back. With --tries a failure of CMD is handled, so pop exits with 0, and a loop runs until the
 * queue is empty or another error occurs.
 */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/job.h"
#include "commands/message.h"
#include "core/bytes.h"
#include "io/side_file.h"
#include "queue/queue.h"
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct pop {
    struct job job;
    struct filter *filter;
    struct queue *queue;
    uint64_t taken, unwritten, delivered; /* lines */
    struct queue_failed failed;           /* where they went after CMD failed */
    enum queue_why end;                   /* why no more were taken */
    bool closed;                          /* CMD has closed its input */
};

/* Writes the lines that were taken. If CMD has closed its input, it may still exit with 0; then it
 * has the lines that it read, or all if it read none. Returns 0, or -1 with the fault. */
static int deliver(struct pop *pop, const struct queue_lines *lines, struct fault *fault)
{
    size_t written = pop->closed
                         ? 0
                         : output_write(&pop->job.output, lines->bytes, lines->length, fault);
    pop->taken += lines->count;
    pop->unwritten += lines->count - count_byte(lines->bytes, written, pop->job.output.delimiter);
    if (!pop->closed && written < lines->length)
        pop->closed = pop->job.child.pid != 0 && fault->error == EPIPE;
    return written == lines->length || pop->closed ? 0 : -1;
}

/* Removes all lines taken but the last `left`, which wait again. */
static int remove_delivered(struct pop *pop, uint64_t left, struct fault *fault)
{
    if (queue_remove(pop->queue, left, fault) != 0)
        return -1;
    pop->delivered = pop->taken - left;
    return 0;
}

/* Waits for the first line: as long as --wait says, or with --until-done while a worker may return
 * lines. Returns 0, or -1 with the fault. */
static int pop_lines(struct pop *pop, struct fault *fault)
{
    const struct options *options = pop->job.options;
    uint64_t most = pop->job.plan.most;
    bool to_the_end = options->until_done && !options_has(options, OPTION_wait);
    uint64_t wait = to_the_end ? UINT64_MAX : options->wait;
    while (pop->taken < most && !signals_arrived()) {
        struct queue_lines lines;
        struct fault later = FAULT_UNSET;
        int result = queue_take(pop->queue, most - pop->taken, pop->taken == 0 ? wait : 0,
                                options->until_done, &lines, &pop->end, fault);
        if (result <= 0)
            return result;
        result = deliver(pop, &lines, fault);
        if (options->exec == NULL &&
            remove_delivered(pop, pop->unwritten, result == 0 ? fault : &later) != 0)
            return -1;
        if (result != 0)
            return -1;
    }
    return 0;
}

/* --- after CMD --- */

/* Says where the lines went. With --tries, nothing if all are only tried again. */
static void tell_failed(const struct pop *pop, struct fault *fault)
{
    const struct queue_failed *what = &pop->failed;
    const char *path = pop->job.path, *zero = pop->job.options->zero_terminated ? " -z" : "";
    uint64_t lines = what->given_up;
    char name[SIDE_FILE_NAME_MAX], quoted[QUOTE_MAX], gone[128];
    if (pop->job.options->tries == 0) {
        fault_way_out(fault, "its lines were moved to the back of the queue");
        message_fault(fault);
        return;
    }
    if (lines == 0)
        return;
    if (lines == 1)
        snprintf(gone, sizeof gone, "'%s' after %u %s; it is", what->line, what->failures,
                 number_of(what->failures, "failure", "failures"));
    else
        snprintf(gone, sizeof gone, "%" PRIu64 " lines after at least %" PRIu64 " %s; they are",
                 lines, pop->job.options->tries,
                 number_of(pop->job.options->tries, "failure", "failures"));
    side_file_shown(path, ".failed", name);
    message("%s: gave up %s in %s (to queue %s again: unseen push%s --failed %s)", path, gone, name,
            number_of(lines, "it", "them"), zero, quote_file(path, quoted));
}

static int put_back(struct job *job, struct fault *fault)
{
    struct pop *pop = (struct pop *)job;
    struct fault why_not = FAULT_UNSET;
    unsigned tries = (unsigned)job->options->tries;
    if (queue_fail(pop->queue, tries, &pop->failed, &why_not) == 0) {
        tell_failed(pop, fault);
        return tries > 0 ? EXIT_OK : EXIT_COMMAND;
    }
    message_fault(fault);
    fault_way_out(&why_not,
                  pop->failed.given_up > 0
                      ? "the lines of %s that were not given up stay where they were"
                      : "the lines of %s stay where they were",
                  job->options->exec[0]);
    return message_fault(&why_not);
}

/* Removes the lines that CMD read, or all if it read none. */
static int remove_taken(struct job *job, uint64_t left)
{
    struct pop *pop = (struct pop *)job;
    struct fault fault = FAULT_UNSET;
    left = job->child.read_nothing ? 0 : left + pop->unwritten;
    if (remove_delivered(pop, left, &fault) != 0)
        return message_fault(&fault);
    if (left > 0)
        message("%s: exited with 0, but left %" PRIu64 " %s unread (%s in the queue)",
                job->options->exec[0], left, number_lines(left),
                number_of(left, "it stays", "they stay"));
    return EXIT_OK;
}

/* --- the command --- */

static int check(struct job *job)
{
    if (!options_has(job->options, OPTION_max_count))
        job->plan.most = 1;
    return 0;
}

static int open_queue(struct job *job)
{
    struct pop *pop = (struct pop *)job;
    struct queue_plan plan = {QUEUE_POP, job->inputs.delimiter, job->inputs.max_line, message_waits,
                              false};
    struct fault fault = FAULT_UNSET;
    pop->filter = filter_operand_open(job->path, job->options, true, NULL);
    if (pop->filter == NULL)
        return EXIT_TROUBLE;
    if (filter_queue(pop->filter) == QUEUE_NONE &&
        queue_check_left(job->path, filter_descriptor(pop->filter), &fault) != 0)
        return message_fault(&fault);
    pop->queue = queue_open(filter_real_path(pop->filter), filter_descriptor(pop->filter), &plan,
                            &fault);
    job->queue = job->path;
    return pop->queue != NULL ? 0 : message_fault(&fault);
}

/* Running the same command with > FILE would truncate lines that have left the queue. */
static int tell_stopped(const struct job *job, struct fault *fault)
{
    if (fault->of == job->output.name && (fault->error == ENOSPC || fault->error == EDQUOT))
        fault_way_out(fault, "completely printed lines have left the queue; free some space, and "
                             "pop the rest to another file");
    return message_fault(fault);
}

static int read_queue(struct job *job)
{
    struct pop *pop = (struct pop *)job;
    struct fault fault = FAULT_UNSET;
    int status = pop_lines(pop, &fault) == 0 ? EXIT_OK : tell_stopped(job, &fault);
    if (job->options->exec != NULL && pop->taken > 0 && pop->taken < job->plan.most &&
        pop->end == QUEUE_FULL)
        message("%s: got %" PRIu64 " %s, not %" PRIu64 " (a worker can hold no more at a time)",
                job->options->exec[0], pop->taken, number_lines(pop->taken), job->plan.most);
    return signals_arrived() ? EXIT_TROUBLE : status;
}

static int finish(struct job *job, int status)
{
    const struct pop *pop = (const struct pop *)job;
    uint64_t delivered = pop->delivered;
    figures_summary(job->options, {"", "filter", TEXT(job->path)},
                    {number_of(delivered, "line popped", "lines popped"), "popped",
                     COUNT(delivered)},
                    {"put back", "put_back", COUNT(pop->failed.back)},
                    {"given up", "given_up", COUNT(pop->failed.given_up)});
    return status == EXIT_OK && pop->taken == 0 ? EXIT_NOTHING : status;
}

int command_pop(const struct options *options)
{
    struct pop pop = {.filter = NULL};
    int status = job_run(&pop.job, options,
                         &(struct steps){.check = check,
                                         .open = open_queue,
                                         .read = read_queue,
                                         .done = remove_taken,
                                         .failed = put_back,
                                         .finish = finish});
    queue_close(pop.queue);
    filter_close(pop.filter);
    return status;
}
