/*
 * command_pop - `unseen pop FILTER`: the oldest lines of its queue, off once they are handed on.
 *
 * Without -x, lines are off chunk by chunk, when they are written. With -x all of them are held
 * until CMD has ended: if it exited with 0, those that it read are off, else all go to the back.
 * With --tries a CMD that fails is provided for, so pop has done its work, and exits with 0: a loop
 * goes on until the queue is empty, or there is trouble that no further try would end.
 */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "commands/summary.h"
#include "core/bytes.h"
#include "core/number.h"
#include "io/child.h"
#include "io/output.h"
#include "system/beside.h"
#include "system/clock.h"
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
    uint64_t wait;                        /* milliseconds, for the first line */
    unsigned tries;                       /* a line gets so many; 0: any number */
    uint64_t taken, unwritten, delivered; /* lines */
    struct queue_failed failed;           /* of them, by a CMD that failed */
    enum queue_why end;                   /* why no more were taken */
    bool closed;                          /* CMD reads no more */
};

/* Writes what was taken. A CMD that reads no more may still exit with 0, and have taken what it
 * read; or all, if that is nothing: so it is handed the others, too. Returns 0, or -1 with the
 * fault. */
static int deliver(struct job *job, const struct queue_lines *lines, struct fault *fault)
{
    size_t written = job->closed ? 0
                                 : output_write(&job->output, lines->bytes, lines->length, fault);
    job->taken += lines->count;
    job->unwritten += lines->count - count_byte(lines->bytes, written, job->output.delimiter);
    if (!job->closed && written < lines->length)
        job->closed = job->child.pid != 0 && fault->error == EPIPE;
    return written == lines->length || job->closed ? 0 : -1;
}

/* The next lines. The first is waited for: with --wait so long, with --until-done as long as it can
 * come from a worker. Returns as queue_take. */
static int take(struct job *job, struct queue_lines *lines, struct fault *fault)
{
    bool until_done = options_has(job->options, OPTION_UNTIL_DONE);
    int64_t start = clock_monotonic();
    for (;;) {
        int64_t before = clock_monotonic();
        int result = queue_take(job->queue, job->most - job->taken, lines, &job->end, fault);
        int64_t now = clock_monotonic();
        uint64_t waited = (uint64_t)(now - start);
        if (result != 0 || job->taken > 0 || waited >= job->wait ||
            (until_done && job->end == QUEUE_EMPTY) || signals_pending())
            return result;
        /* So that many who wait do not keep the queue from those who work. */
        uint64_t pause = 50 + 20 * (uint64_t)(now - before), left = job->wait - waited;
        (void)signals_wait_readable(-1, (int)(left < pause ? left : pause));
    }
}

/* All that was taken is off, but for the last `left` lines, which wait again. */
static int take_off(struct job *job, uint64_t left, struct fault *fault)
{
    if (queue_off(job->queue, left, fault) != 0)
        return -1;
    job->delivered = job->taken - left;
    return 0;
}

/* Returns 0, or -1 with the fault. */
static int pop(struct job *job, struct fault *fault)
{
    while (job->taken < job->most && !signals_pending()) {
        struct queue_lines lines;
        struct fault later;
        int result = take(job, &lines, fault);
        if (result <= 0)
            return result;
        result = deliver(job, &lines, fault);
        if (job->options->command == NULL &&
            take_off(job, job->unwritten, result == 0 ? fault : &later) != 0)
            return -1;
        if (result != 0)
            return -1;
    }
    return 0;
}

/* --- CMD has ended --- */

/* What became of the lines. With --tries a line that is only tried again is no news. */
static void tell_failed(const struct job *job, struct fault *fault)
{
    const struct queue_failed *what = &job->failed;
    char name[BESIDE_MAX];
    beside_name(job->path, ".failed", name);
    if (what->given_up == 0 && job->tries > 0)
        return;
    if (what->given_up == 0)
        fault_way_out(fault, "its lines went to the back of the queue");
    else if (what->back == 0)
        fault_way_out(fault, "its lines are in %s", name);
    else
        fault_way_out(fault,
                      "%" PRIu64 " of its lines are in %s, the others at the back of the queue",
                      what->given_up, name);
    message_fault(fault);
}

/* CMD has failed, as the fault says. */
static int put_back(struct job *job, struct fault *fault)
{
    struct fault why_not;
    if (queue_fail(job->queue, job->tries, &job->failed, &why_not) == 0) {
        tell_failed(job, fault);
        return job->tries > 0 ? EXIT_OK : EXIT_COMMAND;
    }
    message_fault(fault);
    fault_way_out(&why_not,
                  job->failed.given_up > 0
                      ? "the lines of %s that were not given up wait in their place"
                      : "the lines of %s wait in their place",
                  job->options->command[0]);
    return message_fault(&why_not);
}

/* CMD has ended well, and has taken what it has read; or all, if that is nothing. */
static int remove_taken(struct job *job, uint64_t left)
{
    struct fault fault;
    left = job->child.read_nothing ? 0 : left + job->unwritten;
    if (take_off(job, left, &fault) != 0)
        return message_fault(&fault);
    if (left > 0)
        message("%s: exited with 0 and left %" PRIu64 " %s unread (%s again)",
                job->options->command[0], left, number_lines(left),
                number_of(left, "it waits", "they wait"));
    return EXIT_OK;
}

/* CMD has got its lines, as far as `status` says. */
static int finish_command(struct job *job, int status)
{
    struct fault fault;
    uint64_t left;
    if (job->taken == 0)
        return status;
    if (job->taken < job->most && job->end == QUEUE_FULL)
        message("%s: got %" PRIu64 " %s, not %" PRIu64 " (a worker holds no more at once)",
                job->options->command[0], job->taken, number_lines(job->taken), job->most);
    bool all = !signals_pending();
    enum child_end end = child_finish(&job->child, &left, &fault);
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
        confinement_start(&(struct confinement){.queue = job->path}) != 0)
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
                        {"put_back", ", ", " put back", (double)job->failed.back},
                        {"given_up", ", ", " given up", (double)job->failed.given_up},
                        {.member = NULL},
                    });
    return status == EXIT_OK && job->taken == 0 ? EXIT_NOTHING : status;
}

static int parse(struct job *job, const struct options *options)
{
    char delimiter = options_has(options, OPTION_ZERO_TERMINATED) ? '\0' : '\n';
    bool until_done = options_has(options, OPTION_UNTIL_DONE);
    *job = (struct job){.options = options};
    job->output = options->command != NULL
                      ? child_output(&job->child, options->command, delimiter, false)
                      : output_standard(delimiter);
    job->most = options_whole(options, OPTION_MAX_COUNT, 1);
    job->wait = options_whole(options, OPTION_WAIT, until_done ? UINT64_MAX : 0);
    job->tries = (unsigned)options_whole(options, OPTION_TRIES, 0);
    return combinations_check(options, FOR_POP);
}

int command_pop(const struct options *options)
{
    struct job job;
    const char *path = filter_operand(options);
    const char *none = NULL;
    struct inputs inputs = {.names = &none};
    if (path == NULL || filter_operand_alone(options) != 0 || parse(&job, options) != 0 ||
        inputs_check(&inputs, path, NULL) != 0)
        return EXIT_TROUBLE;
    struct store *store = filter_operand_look(path, options);
    if (store == NULL)
        return EXIT_TROUBLE;
    job.path = path;
    job.queue = queue_operand(store, QUEUE_POP, job.output.delimiter, inputs_max_line(options));
    int status = job.queue != NULL ? run(&job) : EXIT_TROUBLE;
    queue_close(job.queue);
    store_close(store);
    return status;
}
