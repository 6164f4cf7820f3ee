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

/* Removes all lines taken but the last `left`, which wait again. */
static int remove_delivered(struct pop *pop, uint64_t left, struct fault *fault)
{
    if (queue_remove(pop->queue, left, fault) != 0)
        return -1;
    pop->delivered = pop->taken - left;
    return 0;
}

/* Takes lines and writes them. Waits for the first line: as long as --wait says, or with
 * --until-done while a worker may return lines. Returns 0, or -1 with the fault. */
static int pop_lines(struct pop *pop, struct fault *fault)
{
    const struct options *options = pop->job.options;
    uint64_t most = pop->job.plan.most;
    bool to_the_end = options->until_done && !options_has(options, OPTION_wait);
    uint64_t wait = to_the_end ? UINT64_MAX : options->wait;
    while (pop->taken < most && !signals_arrived()) {
        struct queue_lines lines;
        struct fault later = FAULT_UNSET, *told = fault; /* the first fault is told */
        size_t written = 0;
        int result = queue_take(pop->queue, most - pop->taken, pop->taken == 0 ? wait : 0,
                                options->until_done, &lines, &pop->end, fault);
        if (result <= 0)
            return result;
        /* If CMD has closed its input, it may still exit with 0; then it has the lines that it
         * read, or all if it read none. */
        if (!pop->closed) {
            written = output_write(&pop->job.output, lines.bytes, lines.length, fault);
            if (written < lines.length)
                pop->closed = pop->job.child.pid != 0 && fault->error == EPIPE;
            if (written < lines.length && !pop->closed)
                told = &later;
        }
        pop->taken += lines.count;
        pop->unwritten += lines.count -
                          lines_in(lines.bytes, written, pop->job.output.ends.delimiter);
        if (options->exec == NULL && remove_delivered(pop, pop->unwritten, told) != 0)
            return -1;
        if (told != fault)
            return -1;
    }
    return 0;
}

/* After CMD: removes the lines that it read, or all if it read none. If it failed, puts the lines
 * at the back of the queue, or those that have no tries left into FILTER.failed; with --tries, says
 * nothing if all are only tried again. Returns the exit status. */
static int end_pop(struct pop *pop, int status)
{
    const struct job *job = &pop->job;
    const struct options *options = job->options;
    const struct queue_failed *what = &pop->failed;
    struct fault fault = FAULT_UNSET, why_not = FAULT_UNSET;
    char name[SIDE_FILE_NAME_MAX], quoted[QUOTE_MAX], gone[128];
    uint64_t left;
    enum child_end end = job_wait(&pop->job, &status, &left, &fault);
    if (end == CHILD_DONE) {
        left = job->child.read_nothing ? 0 : left + pop->unwritten;
        if (remove_delivered(pop, left, &fault) != 0)
            return message_fault(&fault);
        if (left > 0)
            message("%s: exited with 0, but left %" PRIu64 " %s unread (%s in the queue)",
                    options->exec[0], left, number_lines(left),
                    number_of(left, "it stays", "they stay"));
        job_tell_unread(job, pop->delivered - left);
        if (job->child.written > 0 && status == EXIT_OK)
            signals_forget();
    }
    if (end != CHILD_FAILED)
        return status;
    if (queue_fail(pop->queue, (unsigned)options->tries, &pop->failed, &why_not) != 0) {
        message_fault(&fault);
        fault_way_out(&why_not,
                      what->given_up > 0
                          ? "the lines of %s that were not given up stay where they were"
                          : "the lines of %s stay where they were",
                      options->exec[0]);
        return message_fault(&why_not);
    }
    if (options->tries == 0) {
        fault_way_out(&fault, "its lines were moved to the back of the queue");
        message_fault(&fault);
        return EXIT_COMMAND;
    }
    if (what->given_up == 0)
        return status;
    if (what->given_up == 1)
        snprintf(gone, sizeof gone, "'%s' after %u %s; it is", what->line, what->failures,
                 number_of(what->failures, "failure", "failures"));
    else
        snprintf(gone, sizeof gone, "%" PRIu64 " lines after at least %" PRIu64 " %s; they are",
                 what->given_up, options->tries, number_of(options->tries, "failure", "failures"));
    side_file_shown(job->path, ".failed", name);
    message("%s: gave up %s in %s (to queue %s again: unseen push%s --failed %s)", job->path, gone,
            name, number_of(what->given_up, "it", "them"), options->zero_terminated ? " -z" : "",
            quote_file(job->path, quoted));
    return status;
}

int command_pop(const struct options *options)
{
    struct pop pop = {.filter = NULL};
    struct job *job = &pop.job;
    struct fault fault = FAULT_UNSET;
    int status = EXIT_TROUBLE, fd;
    if (job_parse(job, options) != 0)
        return EXIT_TROUBLE;
    struct queue_plan plan = {QUEUE_POP, job->inputs.ends.delimiter, job->inputs.max_line,
                              message_waits, false};
    if (!options_has(options, OPTION_max_count))
        job->plan.most = 1;

    /* The filter is only read, but locked by its descriptor, so it is open for writing. */
    if (job_open(job) != 0 ||
        (pop.filter = filter_operand_open(job->path, options, true, NULL)) == NULL)
        goto close;
    fd = filter_descriptor(pop.filter);
    if (filter_queue(pop.filter) != QUEUE_NONE || queue_check_left(job->path, fd, &fault) == 0)
        pop.queue = queue_open(filter_real_path(pop.filter), fd, &plan, &fault);
    if (pop.queue == NULL) {
        message_fault(&fault);
        goto close;
    }
    job->queue = job->path;
    if (job_start(job) != 0)
        goto close;

    status = EXIT_OK;
    if (pop_lines(&pop, &fault) != 0) {
        /* Running the same command with > FILE would truncate lines that have left the queue. */
        if (fault.of == job->output.name && (fault.error == ENOSPC || fault.error == EDQUOT))
            fault_way_out(&fault, "completely printed lines have left the queue; free some space, "
                                  "and pop the rest to another file");
        status = message_fault(&fault);
    }
    if (options->exec != NULL && pop.taken > 0 && pop.taken < job->plan.most &&
        pop.end == QUEUE_FULL)
        message("%s: got %" PRIu64 " %s, not %" PRIu64 " (a worker can hold no more at a time)",
                options->exec[0], pop.taken, number_lines(pop.taken), job->plan.most);
    if (signals_arrived())
        status = EXIT_TROUBLE;
    if (options->exec != NULL)
        status = end_pop(&pop, status);
    status = job_end(job, status);
    figures_summary(options, {"", "filter", TEXT(job->path)},
                    {number_of(pop.delivered, "line popped", "lines popped"), "popped",
                     COUNT(pop.delivered)},
                    {"put back", "put_back", COUNT(pop.failed.back)},
                    {"given up", "given_up", COUNT(pop.failed.given_up)});
    if (status == EXIT_OK && pop.taken == 0)
        status = EXIT_NOTHING;
close:
    job_close(job);
    queue_close(pop.queue);
    filter_close(pop.filter);
    return status;
}
