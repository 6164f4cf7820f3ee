/*
 * command_pop - `unseen pop FILTER`: the oldest lines of its queue, off once they are handed on.
 *
 * Without -x, lines are off chunk by chunk, when they are written. With -x all of them are out
 * until CMD has ended: off if it exited with 0, whatever it has read, else at the back. With
 * --tries a CMD that fails is provided for, so pop has done its work, and exits with 0: a loop goes
 * on until the queue is empty, or there is trouble that no further try would end.
 */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "commands/side_file.h"
#include "commands/summary.h"
#include "io/child.h"
#include "io/output.h"
#include "system/clock.h"
#include "system/path.h"
#include "system/signals.h"

#include <errno.h>
#include <inttypes.h>

struct job {
    const struct options *options;
    const char *path;
    struct queue *queue;
    struct output output;
    struct child child; /* -x */
    uint64_t most;
    uint64_t max_line;
    uint64_t wait;  /* milliseconds, for the first line */
    uint64_t tries; /* a line gets so many */
    char failed_path[QUEUE_FAILED_MAX];
    struct output failed;       /* for lines that had them all; no name: not open yet */
    uint64_t taken, delivered;  /* lines */
    struct queue_failed undone; /* of them, by a CMD that failed */
    bool closed;                /* CMD reads no more */
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

/* The next lines. The first is waited for: with --wait so long, with --until-done as long as it can
 * come from a worker. Returns as queue_take. */
static int take(struct job *job, struct queue_lines *lines, struct fault *fault)
{
    bool until_done = options_has(job->options, OPTION_UNTIL_DONE);
    int64_t start = clock_monotonic();
    uint64_t waited = 0;
    for (;;) {
        bool awaited;
        int result = queue_take(job->queue, job->most - job->taken, lines, &awaited, fault);
        if (result != 0 || job->taken > 0 || waited >= job->wait || (until_done && !awaited) ||
            signals_pending())
            return result;
        queue_wait(job->queue, job->wait - waited);
        waited = (uint64_t)(clock_monotonic() - start);
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

/* --- CMD has failed --- */

/* Opened when there is something to write: CMD may have made what was not there when names were
 * compared. Neither a FIFO nor a terminal can be flushed. */
static size_t append_failed(void *context, const char *bytes, size_t length, struct fault *fault)
{
    struct job *job = context;
    const char *name = job->options->given[OPTION_FAILED];
    if (job->failed.name == NULL) {
        char delimiter = job->output.delimiter;
        int fd = name == NULL ? queue_failed_file(job->queue, job->failed_path, fault) : -1;
        if (fd >= 0)
            output_append_to(&job->failed, fd, job->failed_path, delimiter);
        else if (name == NULL || output_open(&job->failed, name, delimiter, fault) != 0)
            return 0;
        if (name != NULL && path_is_same(name, job->path)) {
            fault_set(fault, name, "leads to the filter by now");
            return 0;
        }
        job->failed.waits = message_waits;
    }
    return output_write(&job->failed, bytes, length, fault);
}

static int sync_failed(void *context, struct fault *fault)
{
    const struct job *job = context;
    return output_is_file(job->failed.name) ? output_sync(&job->failed, fault) : 0;
}

static int close_failed(struct job *job, struct fault *fault)
{
    return job->failed.name != NULL ? output_close(&job->failed, fault) : 0;
}

/* What became of the lines. With --tries a line that is only tried again is no news. */
static void tell_failed(const struct job *job, struct fault *fault)
{
    const struct queue_failed *what = &job->undone;
    if (what->uncounted)
        message("%s: its counts of tries cannot be used (all begin from 0 again)",
                queue_path(job->queue));
    if (what->given_up == 0 && options_has(job->options, OPTION_TRIES))
        return;
    if (what->given_up == 0)
        fault_way_out(fault, "its lines went to the back of the queue");
    else if (what->back == 0)
        fault_way_out(fault, "its lines are in %s", job->failed.name);
    else
        fault_way_out(fault,
                      "%" PRIu64 " of its lines are in %s, the others at the back of the queue",
                      what->given_up, job->failed.name);
    message_fault(fault);
}

/* CMD has failed, as the fault says. */
static int put_back(struct job *job, struct fault *fault)
{
    bool limited = options_has(job->options, OPTION_TRIES);
    struct output failed = {
        .fd = -1,
        .append = append_failed,
        .sync = sync_failed,
        .context = job,
    };
    struct fault why_not, later;
    int result = queue_put_back(job->queue, (uint32_t)job->tries, limited ? &failed : NULL,
                                &job->undone, &why_not);
    if (close_failed(job, result == 0 ? &why_not : &later) == 0 && result == 0) {
        tell_failed(job, fault);
        return limited ? EXIT_OK : EXIT_COMMAND;
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
        message("%s: exited with 0 and left lines unread (they are off the queue all the same)",
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
    bool all = !signals_pending();
    enum child_end end = child_finish(&job->child, &left, &fault);
    if (end != CHILD_DONE)
        job->delivered = 0;
    if (end == CHILD_NOT_RUN)
        return message_not_run(job->child.error);
    if (end == CHILD_STOPPED)
        return status;
    int done = end == CHILD_FAILED ? put_back(job, &fault) : remove_taken(job, left);
    if (all && end == CHILD_DONE && done == EXIT_OK && status == EXIT_OK)
        signals_forget();
    return done == EXIT_OK ? status : done;
}

/* The same command line may have > FILE, which would cut off what is on no queue any more. */
static int tell_stopped(const struct job *job, struct fault *fault)
{
    if (fault->of == job->output.name && (fault->error == ENOSPC || fault->error == EDQUOT))
        fault_way_out(fault, "lines that were printed whole are off the queue; make room, and pop "
                             "the others to another file");
    return message_fault(fault);
}

static int run(struct job *job)
{
    struct fault fault;
    if (job->options->command == NULL &&
        confinement_start(&(struct confinement){.queue = job->queue}) != 0)
        return EXIT_TROUBLE;
    int status = pop(job, &fault) == 0 ? EXIT_OK : tell_stopped(job, &fault);
    if (job->options->command != NULL)
        status = finish_command(job, status);
    else if (output_close(&job->output, &fault) != 0)
        status = message_fault(&fault);
    summary_numbers(job->options, job->path,
                    (struct summary_number[]){
                        {"popped", "", job->delivered == 1 ? " line popped" : " lines popped",
                         (double)job->delivered},
                        {"put_back", ", ", " put back", (double)job->undone.back},
                        {"given_up", ", ", " given up", (double)job->undone.given_up},
                        {.member = NULL},
                    });
    return status == EXIT_OK && job->taken == 0 ? EXIT_NOTHING : status;
}

/* The output, and the file of --failed, are nothing else at the same time. */
static int check_files(const struct options *options, const char *path)
{
    const char *none = NULL;
    struct inputs inputs = {.names = &none};
    struct side_files files = {options, &inputs, path, NULL, .silent = true};
    return inputs_check(&inputs, path, NULL) == 0 ? side_file_check(&files) : EXIT_TROUBLE;
}

static int parse(struct job *job, const struct options *options)
{
    char delimiter = options_has(options, OPTION_ZERO_TERMINATED) ? '\0' : '\n';
    bool until_done = options_has(options, OPTION_UNTIL_DONE);
    *job = (struct job){.options = options};
    job->output = options->command != NULL ? child_output(&job->child, options->command, delimiter)
                                           : output_standard(delimiter);
    job->most = options_whole(options, OPTION_MAX_COUNT, 1);
    job->wait = options_whole(options, OPTION_WAIT, until_done ? UINT64_MAX : 0);
    job->tries = options_whole(options, OPTION_TRIES, 0);
    job->max_line = inputs_max_line(options);
    return combinations_check(options, FOR_POP);
}

int command_pop(const struct options *options)
{
    struct job job;
    const char *path = filter_operand(options);
    if (path == NULL || filter_operand_alone(options) != 0 || parse(&job, options) != 0 ||
        check_files(options, path) != 0)
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
