#include "pipeline/pipeline.h"

#include "pipeline/batches.h"
#include "pipeline/marks.h"
#include "store/pages.h"
#include "store/probe.h"
#include "store/removal.h"
#include "system/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pipeline {
    struct pipeline_plan plan;
    const struct verb *verb;
    struct store *store; /* the filter's */
    struct batches *batches;
    size_t most; /* lines a claim */
    struct pipeline_counts counts;
    uint64_t expected; /* lines that the filter was told to expect */
    /* Of the lines at hand, at most `most`: */
    uint8_t *seen;
    uint8_t *select;     /* which are printed */
    char *from, *to;     /* in the chunk: selected lines, moved together and not yet written */
    uint64_t used;       /* bytes of the input up to the last line wanted */
    bool closed;         /* the reader has had enough */
    bool unsure;         /* durable: a flush or settling failed, and is not tried again */
    int64_t settled;     /* durable: when it was done last, by clock_monotonic */
    char *tagged;        /* PIPELINE_TAG: TAGGED_BYTES for lines with their tags */
    size_t tagged_bytes; /* that are in there */
};

enum { TAGGED_BYTES = 256 << 10 };

const struct pipeline_counts *pipeline_counts(const struct pipeline *pipeline)
{
    return &pipeline->counts;
}

/* --- verdicts: seen[i] and select[i]; a batch is shortened to the lines that were judged --- */

static uint64_t still_wanted(const struct pipeline *pipeline)
{
    return pipeline->plan.most - pipeline->counts.selected;
}

static int judge_new(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    ptrdiff_t judged = filter_claim(pipeline->plan.filter, batch->keys, batch->n,
                                    still_wanted(pipeline), pipeline->seen, fault);
    if (judged < 0)
        return -1;
    batch->n = (size_t)judged;
    marks_invert(pipeline->seen, batch->n, pipeline->select);
    return 0;
}

/* Nothing has to be delivered first; and what others have in flight may fail to be. */
static int judge_add(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    uint64_t added;
    size_t n = batch->n;
    if (filter_add(pipeline->plan.filter, batch->keys, n, pipeline->seen, &added, fault) != 0)
        return -1;
    marks_invert(pipeline->seen, n, pipeline->select);
    return 0;
}

/* What the first filter has seen goes to the second, and what is new there is printed. Both are in
 * memory, where a claim judges every line it is asked for unless memory is short. */
static int judge_repeated(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    struct filter *repeats = pipeline->plan.repeats;
    uint64_t most = still_wanted(pipeline);
    ptrdiff_t judged = filter_claim(pipeline->plan.filter, batch->keys, batch->n, UINT64_MAX,
                                    pipeline->seen, fault);
    if (judged < 0)
        return -1;
    batch->n = (size_t)judged;
    for (size_t i = 0; i < batch->n; i++) {
        uint8_t repeated = 1;
        if (pipeline->seen[i] && most > 0 &&
            filter_claim(repeats, &batch->keys[i], 1, UINT64_MAX, &repeated, fault) < 0)
            return -1;
        pipeline->select[i] = !repeated;
        most -= !repeated;
    }
    return 0;
}

static int judge_query(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    if (probe(pipeline->store, batch->keys, batch->n, pipeline->seen, fault) != 0)
        return -1;
    if (pipeline->plan.invert)
        marks_invert(pipeline->seen, batch->n, pipeline->select);
    else
        memcpy(pipeline->select, pipeline->seen, batch->n);
    return 0;
}

static int judge_remove(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    if (removal_remove(pipeline->store, batch->keys, batch->n, pipeline->seen, fault) < 0)
        return -1;
    for (size_t i = 0; i < batch->n; i++)
        pipeline->select[i] = pipeline->seen[i] == REMOVAL_DONE;
    return 0;
}

/* --- output --- */

static size_t line_length(const struct batch *batch, size_t i)
{
    return batch->starts[i + 1] - batch->starts[i];
}

/* Moves the selected lines of the batch up to those of the chunk that were picked before.
 * Neighbours move as one. Returns how many there are. */
static uint64_t pick(struct pipeline *pipeline, const struct batch *batch)
{
    const size_t *starts = batch->starts;
    for (size_t i = 0, from; i < batch->n && pipeline->plan.output != NULL;) {
        from = i;
        i = marks_run(pipeline->select, from, batch->n);
        if (!pipeline->select[from])
            continue;
        size_t length = starts[i] - starts[from];
        if (pipeline->to != batch->bytes + starts[from])
            memmove(pipeline->to, batch->bytes + starts[from], length);
        pipeline->to += length;
    }
    return marks_count(pipeline->select, batch->n);
}

/* The lines are written at the end of the chunk. */
static int gather(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    (void)fault;
    pipeline->counts.selected += pick(pipeline, batch);
    return 0;
}

/* Writes what was picked. Returns whether all of it was accepted; *accepted: how many bytes. */
static bool write_picked(struct pipeline *pipeline, size_t *accepted, struct fault *fault)
{
    char *from = pipeline->from;
    size_t length = (size_t)(pipeline->to - from);
    pipeline->from = pipeline->to;
    *accepted = length > 0 ? output_write(pipeline->plan.output, from, length, fault) : 0;
    return *accepted == length;
}

/* How many of the selected lines lie wholly in the first `bytes` written. */
static uint64_t lines_within(const struct pipeline *pipeline, const struct batch *batch,
                             size_t bytes)
{
    uint64_t count = 0;
    for (size_t i = 0; i < batch->n; i++) {
        size_t length = pipeline->select[i] ? line_length(batch, i) : 0;
        if (length > bytes)
            break;
        bytes -= length;
        count += pipeline->select[i];
    }
    return count;
}

/* What was delivered is remembered, now or later. */
static int settle(struct pipeline *pipeline, const struct batch *batch, uint64_t delivered,
                  struct fault *fault)
{
    struct pending *pending = pipeline->plan.pending;
    if (filter_settle(pipeline->plan.filter, (size_t)delivered, fault) != 0)
        return -1;
    for (size_t i = 0; pending != NULL && delivered > 0; i++) {
        if (!pipeline->select[i])
            continue;
        if (pending_append(pending, batch->keys[i], fault) != 0)
            return -1;
        delivered--;
    }
    return 0;
}

/* With a file, lines are in flight: they are handed on now, and those that were accepted whole are
 * remembered. */
static int hand_on(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    size_t accepted;
    struct fault later;
    if (store_path(pipeline->store) == NULL)
        return gather(pipeline, batch, fault);
    uint64_t selected = pick(pipeline, batch);
    bool failed = !write_picked(pipeline, &accepted, fault);
    uint64_t delivered = failed ? lines_within(pipeline, batch, accepted) : selected;
    pipeline->counts.selected += delivered;
    if (failed && pipeline->plan.may_close && fault->error == EPIPE) {
        pipeline->closed = true;
        pipeline->counts.refused = selected - delivered;
        failed = false;
    }
    return settle(pipeline, batch, delivered, failed ? &later : fault) != 0 || failed ? -1 : 0;
}

/* Lines with their tags are gathered, so that short ones are written many at a time; one that is
 * too long for that is written by itself, and not copied. */
static int flush_tagged(struct pipeline *pipeline, struct fault *fault)
{
    size_t length = pipeline->tagged_bytes;
    pipeline->tagged_bytes = 0;
    return output_write(pipeline->plan.output, pipeline->tagged, length, fault) == length ? 0 : -1;
}

static int tag(struct pipeline *pipeline, const char *bytes, size_t length, struct fault *fault)
{
    if (length > TAGGED_BYTES - pipeline->tagged_bytes && flush_tagged(pipeline, fault) != 0)
        return -1;
    if (length > TAGGED_BYTES)
        return output_write(pipeline->plan.output, bytes, length, fault) == length ? 0 : -1;
    memcpy(pipeline->tagged + pipeline->tagged_bytes, bytes, length);
    pipeline->tagged_bytes += length;
    return 0;
}

static int write_tagged(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    if (pipeline->tagged == NULL)
        pipeline->tagged = malloc(TAGGED_BYTES);
    if (pipeline->tagged == NULL)
        return fault_errno(fault, "lines with tags", NULL, ENOMEM);
    for (size_t i = 0; i < batch->n; i++) {
        const char *in_or_new = pipeline->seen[i] ? "in\t" : "new\t";
        if (tag(pipeline, in_or_new, strlen(in_or_new), fault) != 0 ||
            tag(pipeline, batch->bytes + batch->starts[i], line_length(batch, i), fault) != 0)
            return -1;
    }
    pipeline->counts.selected += marks_count(pipeline->select, batch->n);
    return flush_tagged(pipeline, fault);
}

static int tell_not_removed(struct pipeline *pipeline, const struct batch *batch,
                            struct fault *fault)
{
    const struct pipeline_plan *plan = &pipeline->plan;
    for (size_t i = 0; i < batch->n; i++)
        if (!pipeline->select[i])
            plan->not_removed(plan->context, batch->bytes + batch->starts[i],
                              line_length(batch, i) - 1, pipeline->seen[i]);
    return gather(pipeline, batch, fault);
}

/* --- verbs --- */

struct verb {
    /* Fills in seen and select, and shortens the batch to what was judged. */
    int (*judge)(struct pipeline *pipeline, struct batch *batch, struct fault *fault);
    /* Hands on lines that were judged, and counts those selected. Returns 0 or -1. */
    int (*deliver)(struct pipeline *pipeline, const struct batch *batch, struct fault *fault);
    bool writes; /* to the filter */
};

static const struct verb verbs[] = {
    [PIPELINE_NEW] = {judge_new, hand_on, true},
    [PIPELINE_ADD] = {judge_add, gather, true},
    [PIPELINE_REPEATED] = {judge_repeated, gather, false},
    [PIPELINE_QUERY] = {judge_query, gather, false},
    [PIPELINE_TAG] = {judge_query, write_tagged, false},
    [PIPELINE_REMOVE] = {judge_remove, tell_not_removed, true},
};

struct pipeline *pipeline_new(const struct pipeline_plan *plan)
{
    struct pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (pipeline == NULL)
        return NULL;
    pipeline->plan = *plan;
    pipeline->store = filter_store(plan->filter);
    pipeline->verb = &verbs[plan->verb];
    pipeline->most = filter_batch(plan->filter);
    /* What waits for input no longer than until its time comes has to wait by itself. */
    pipeline->batches = batches_new(plan->delimiter, store_header(pipeline->store)->seed,
                                    plan->durable ? 1 : plan->threads);
    pipeline->seen = malloc(pipeline->most);
    pipeline->select = malloc(pipeline->most);
    pipeline->settled = clock_monotonic();
    if (pipeline->batches == NULL || pipeline->seen == NULL || pipeline->select == NULL) {
        pipeline_free(pipeline);
        return NULL;
    }
    return pipeline;
}

void pipeline_free(struct pipeline *pipeline)
{
    if (pipeline == NULL)
        return;
    batches_free(pipeline->batches);
    free(pipeline->seen);
    free(pipeline->select);
    free(pipeline->tagged);
    free(pipeline);
}

/* --- durable --- */

/* A second's lines, or as many as the filter holds, whichever is first: few flushes, little to
 * repeat. */
enum { EPOCH_MILLISECONDS = 1000 };

static int milliseconds_left(const struct pipeline *pipeline)
{
    int64_t passed = clock_monotonic() - pipeline->settled;
    return passed < EPOCH_MILLISECONDS ? (int)(EPOCH_MILLISECONDS - passed) : 0;
}

int pipeline_settle(struct pipeline *pipeline, struct fault *fault)
{
    /* The system reports a lost write once; the next flush would succeed without it. And what was
     * settled in part would be settled again. */
    if (pipeline->unsure)
        return 0;
    pipeline->unsure = filter_held(pipeline->plan.filter) > 0 &&
                       (output_sync(pipeline->plan.output, fault) != 0 ||
                        filter_settle_held(pipeline->plan.filter, fault) != 0);
    pipeline->settled = clock_monotonic();
    return pipeline->unsure ? -1 : 0;
}

/* Held keys are settled when their time comes, even if no line does. */
static int wait_for_input(struct pipeline *pipeline, struct input *input, struct fault *fault)
{
    while (pipeline->plan.durable && filter_held(pipeline->plan.filter) > 0 &&
           !input_wait(input, milliseconds_left(pipeline)))
        if (pipeline_settle(pipeline, fault) != 0)
            return -1;
    return 0;
}

/* --- the loop --- */

enum { MANY_LINES = 256 };

/* Tells the filter how many lines are to come: of a file that is known after its first lines; of a
 * pipe it is as many as have come, again and again. */
static void expect(struct pipeline *pipeline, const struct input *input, const struct batch *batch)
{
    size_t bytes = batch->starts[batch->n] - batch->starts[0];
    uint64_t read = pipeline->counts.read;
    if (batch->n < MANY_LINES)
        return;
    pages_read_slice(pipeline->store);
    if (read < pipeline->expected)
        return;
    uint64_t left = bytes + input_remaining(input);
    pipeline->expected = read + left / bytes * batch->n + 1;
    pages_expect(pipeline->store, pipeline->expected);
    if (pipeline->expected < 2 * read)
        pipeline->expected = 2 * read;
}

/* The last line wanted ends the batch: what was judged after it counts as not read. */
static size_t end_of_wanted(const struct pipeline *pipeline, size_t n)
{
    uint64_t most = still_wanted(pipeline);
    for (size_t i = 0; i < n && most <= n; i++)
        if (pipeline->select[i] && --most == 0)
            return i + 1;
    return n;
}

/* Lines of a batch, from their keys to their output. Returns how many of them were judged, or
 * -1. */
static ptrdiff_t pass(struct pipeline *pipeline, struct batch batch, struct fault *fault)
{
    if (batch.n > pipeline->most)
        batch.n = pipeline->most;
    if (pipeline->verb->judge(pipeline, &batch, fault) != 0)
        return -1;
    batch.n = end_of_wanted(pipeline, batch.n);
    pipeline->counts.read += batch.n;
    return pipeline->verb->deliver(pipeline, &batch, fault) == 0 ? (ptrdiff_t)batch.n : -1;
}

/* A batch goes as many lines at a time as the filter takes, and as it judges: fewer where a layer
 * ends. Returns as pipeline_run. */
static int run_batch(struct pipeline *pipeline, struct batch batch, struct fault *fault)
{
    while (batch.n > 0) {
        ptrdiff_t judged = pass(pipeline, batch, fault);
        if (judged < 0)
            return -1;
        batch.starts += judged;
        batch.keys += judged;
        batch.n -= (size_t)judged;
        /* A claim that judges none wants what is held to be settled first. */
        if (pipeline->plan.durable && (judged == 0 || milliseconds_left(pipeline) == 0) &&
            pipeline_settle(pipeline, fault) != 0)
            return -1;
        if (pipeline->counts.selected == pipeline->plan.most || pipeline->closed) {
            pipeline->used = batch.offset + batch.starts[0];
            return 1;
        }
    }
    return 0;
}

/* A chunk, batch by batch. What was picked of it is written even if it ends in a fault. Returns as
 * pipeline_run, but 0 at the end of the chunk, and END_OF_INPUT. */
enum { END_OF_INPUT = 2 };

static int run_chunk(struct pipeline *pipeline, const struct input *input, struct fault *fault)
{
    struct batch batch = {.last = false};
    int result = 0;
    pipeline->from = pipeline->to = NULL;
    while (result == 0 && !batch.last) {
        int got = batches_next(pipeline->batches, &batch, fault);
        if (got <= 0) {
            result = got < 0 ? -1 : END_OF_INPUT;
            break;
        }
        if (pipeline->from == NULL) {
            pipeline->from = pipeline->to = batch.bytes;
            expect(pipeline, input, &batch);
            if (pipeline->verb->writes && store_check_name(pipeline->store, fault) != 0)
                return -1;
        }
        result = run_batch(pipeline, batch, fault);
    }
    size_t accepted;
    struct fault later;
    return write_picked(pipeline, &accepted, result < 0 ? &later : fault) ? result : -1;
}

int pipeline_run(struct pipeline *pipeline, struct input *input, struct fault *fault)
{
    int result = pipeline->counts.selected == pipeline->plan.most;
    pipeline->used = 0;
    batches_begin(pipeline->batches, input);
    while (result == 0) {
        result = wait_for_input(pipeline, input, fault);
        if (result == 0)
            result = run_chunk(pipeline, input, fault);
    }
    batches_end(pipeline->batches);
    if (result == 1)
        input_give_back(input, pipeline->used);
    return result == END_OF_INPUT ? 0 : result;
}
