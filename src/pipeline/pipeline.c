/* pipeline - see pipeline.h. */
#include "pipeline/pipeline.h"

#include "pipeline/batches.h"
#include "pipeline/marks.h"
#include "store/pages.h"
#include "store/probe.h"
#include "store/removal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pipeline {
    struct pipeline_plan plan;
    struct batches *batches;
    size_t most; /* lines a claim */
    uint64_t read, selected;
    uint64_t expected; /* lines that the filter was told to expect */
    /* Of the lines at hand, at most `most`: */
    const size_t *starts; /* where they begin in the chunk, and where the last ends */
    const struct key *keys;
    uint8_t *seen;
    uint8_t *select;         /* which are printed */
    uint64_t used;           /* bytes of the input up to the last line wanted */
    bool closed;             /* the reader has had enough */
    uint64_t refused;        /* lines that it did not take any more */
    bool unsure;             /* durable: a flush or settling failed, and is not tried again */
    struct timespec settled; /* durable: when it was done last */
    char *tagged;            /* PIPELINE_TAG: TAGGED_BYTES for lines with their tags */
    size_t tagged_bytes;     /* that are in there */
};

enum { BATCH_LINES = 2048, TAGGED_BYTES = 256 << 10 };

struct pipeline *pipeline_new(const struct pipeline_plan *plan)
{
    struct pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (pipeline == NULL)
        return NULL;
    pipeline->plan = *plan;
    pipeline->most = filter_batch(plan->filter);
    /* What waits for input no longer than until its time comes has to wait by itself. */
    pipeline->batches = batches_new(plan->delimiter, store_header(filter_store(plan->filter))->seed,
                                    BATCH_LINES, plan->durable ? 1 : plan->threads);
    pipeline->seen = malloc(pipeline->most);
    pipeline->select = malloc(pipeline->most);
    clock_gettime(CLOCK_MONOTONIC, &pipeline->settled);
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

uint64_t pipeline_read(const struct pipeline *pipeline)
{
    return pipeline->read;
}

uint64_t pipeline_selected(const struct pipeline *pipeline)
{
    return pipeline->selected;
}

uint64_t pipeline_refused(const struct pipeline *pipeline)
{
    return pipeline->refused;
}

/* --- verdicts: select[i] for lines in order; each returns how many lines were judged, or -1 --- */

static ptrdiff_t judge_new(struct pipeline *pipeline, size_t n, struct fault *fault)
{
    uint64_t most = pipeline->plan.most - pipeline->selected;
    ptrdiff_t judged = filter_claim(pipeline->plan.filter, pipeline->keys, n, most, pipeline->seen,
                                    fault);
    if (judged > 0)
        marks_invert(pipeline->seen, (size_t)judged, pipeline->select);
    return judged;
}

/* Nothing has to be delivered first; and what others have in flight may fail to be. */
static ptrdiff_t judge_add(struct pipeline *pipeline, size_t n, struct fault *fault)
{
    uint64_t added;
    if (filter_add(pipeline->plan.filter, pipeline->keys, n, pipeline->seen, &added, fault) != 0)
        return -1;
    marks_invert(pipeline->seen, n, pipeline->select);
    return (ptrdiff_t)n;
}

/* What the first filter has seen goes to the second, and what is new there is printed. Both are in
 * memory, where a claim judges every line it is asked for unless memory is short. */
static ptrdiff_t judge_repeated(struct pipeline *pipeline, size_t n, struct fault *fault)
{
    uint64_t most = pipeline->plan.most - pipeline->selected;
    ptrdiff_t judged = filter_claim(pipeline->plan.filter, pipeline->keys, n, UINT64_MAX,
                                    pipeline->seen, fault);
    if (judged < 0)
        return -1;
    n = (size_t)judged;
    for (size_t i = 0; i < n; i++) {
        uint8_t repeated;
        pipeline->select[i] = 0;
        if (!pipeline->seen[i])
            continue;
        if (most == 0)
            return (ptrdiff_t)i;
        if (filter_claim(pipeline->plan.repeats, &pipeline->keys[i], 1, UINT64_MAX, &repeated,
                         fault) < 0)
            return -1;
        pipeline->select[i] = !repeated;
        most -= !repeated;
    }
    return (ptrdiff_t)n;
}

static ptrdiff_t judge_query(struct pipeline *pipeline, size_t n, struct fault *fault)
{
    if (probe(filter_store(pipeline->plan.filter), pipeline->keys, n, pipeline->seen, fault) != 0)
        return -1;
    uint64_t most = pipeline->plan.most - pipeline->selected;
    uint8_t unwanted = pipeline->plan.invert ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        pipeline->select[i] = pipeline->seen[i] != unwanted;
        if (pipeline->select[i] && most-- == 0)
            return (ptrdiff_t)i;
    }
    return (ptrdiff_t)n;
}

static ptrdiff_t judge_remove(struct pipeline *pipeline, size_t n, struct fault *fault)
{
    if (removal_remove(filter_store(pipeline->plan.filter), pipeline->keys, n, pipeline->seen,
                       fault) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        pipeline->select[i] = pipeline->seen[i] == REMOVAL_DONE;
    return (ptrdiff_t)n;
}

static ptrdiff_t judge_by_verb(struct pipeline *pipeline, size_t n, struct fault *fault)
{
    switch (pipeline->plan.verb) {
    case PIPELINE_NEW:
        return judge_new(pipeline, n, fault);
    case PIPELINE_ADD:
        return judge_add(pipeline, n, fault);
    case PIPELINE_REPEATED:
        return judge_repeated(pipeline, n, fault);
    case PIPELINE_REMOVE:
        return judge_remove(pipeline, n, fault);
    case PIPELINE_QUERY:
    case PIPELINE_TAG:
        break;
    }
    return judge_query(pipeline, n, fault);
}

static uint64_t count_selected(const struct pipeline *pipeline, size_t n)
{
    return marks_count(pipeline->select, n);
}

/* The last line wanted ends the batch: what was judged behind it counts as not read. */
static ptrdiff_t judge(struct pipeline *pipeline, size_t n, struct fault *fault)
{
    ptrdiff_t judged = judge_by_verb(pipeline, n, fault);
    uint64_t most = pipeline->plan.most - pipeline->selected;
    if (judged > 0 && most <= (uint64_t)judged && most == count_selected(pipeline, (size_t)judged))
        while (!pipeline->select[judged - 1])
            judged--;
    return judged;
}

/* --- output --- */

/* Moves the selected lines of the batch together, to `to`. Neighbours move as one. Returns where
 * they end. */
static char *pick(const struct pipeline *pipeline, struct batch batch, char *to)
{
    const size_t *starts = pipeline->starts;
    if (pipeline->plan.output == NULL)
        return to;
    for (size_t i = 0, from; i < batch.n;) {
        from = i;
        i = marks_run(pipeline->select, from, batch.n);
        if (!pipeline->select[from])
            continue;
        size_t length = starts[i] - starts[from];
        if (to != batch.bytes + starts[from])
            memmove(to, batch.bytes + starts[from], length);
        to += length;
    }
    return to;
}

/* How many of the selected lines lie wholly in the first `bytes` written. */
static uint64_t lines_within(const struct pipeline *pipeline, size_t n, size_t bytes)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!pipeline->select[i])
            continue;
        size_t length = pipeline->starts[i + 1] - pipeline->starts[i];
        if (length > bytes)
            break;
        bytes -= length;
        count++;
    }
    return count;
}

static int note_pending(struct pipeline *pipeline, size_t n, uint64_t delivered,
                        struct fault *fault)
{
    for (size_t i = 0; i < n && delivered > 0; i++) {
        if (!pipeline->select[i])
            continue;
        if (pending_append(pipeline->plan.pending, pipeline->keys[i], fault) != 0)
            return -1;
        delivered--;
    }
    return 0;
}

/* What was delivered is remembered, now or later. */
static int settle(struct pipeline *pipeline, size_t n, uint64_t delivered, struct fault *fault)
{
    if (filter_settle(pipeline->plan.filter, (size_t)delivered, fault) != 0)
        return -1;
    if (pipeline->plan.pending != NULL)
        return note_pending(pipeline, n, delivered, fault);
    return 0;
}

/* Writes what was picked; then what was accepted whole is remembered. */
static int deliver(struct pipeline *pipeline, size_t n, const char *from, const char *to,
                   struct fault *fault)
{
    uint64_t selected = count_selected(pipeline, n);
    size_t length = (size_t)(to - from);
    size_t accepted = length;
    if (pipeline->plan.output != NULL && length > 0)
        accepted = output_write(pipeline->plan.output, from, length, fault);
    uint64_t delivered = accepted == length ? selected : lines_within(pipeline, n, accepted);
    pipeline->selected += delivered;
    struct fault later;
    bool failed = accepted != length;
    if (failed && pipeline->plan.may_close && fault->error == EPIPE) {
        pipeline->closed = true;
        pipeline->refused = selected - delivered;
        failed = false;
    }
    if (settle(pipeline, n, delivered, failed ? &later : fault) != 0)
        return -1;
    return failed ? -1 : 0;
}

/* Lines with their tags are gathered, so that short ones are written many at a time; one that is too
 * long for that is written by itself, and not copied. */
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

static int write_tagged(struct pipeline *pipeline, struct batch batch, struct fault *fault)
{
    const size_t *starts = pipeline->starts;
    if (pipeline->tagged == NULL)
        pipeline->tagged = malloc(TAGGED_BYTES);
    if (pipeline->tagged == NULL)
        return fault_errno(fault, "lines with tags", NULL, ENOMEM);
    for (size_t i = 0; i < batch.n; i++) {
        const char *in_or_new = pipeline->seen[i] ? "in\t" : "new\t";
        if (tag(pipeline, in_or_new, strlen(in_or_new), fault) != 0 ||
            tag(pipeline, batch.bytes + starts[i], starts[i + 1] - starts[i], fault) != 0)
            return -1;
    }
    pipeline->selected += count_selected(pipeline, batch.n);
    return flush_tagged(pipeline, fault);
}

static void tell_not_removed(const struct pipeline *pipeline, struct batch batch)
{
    const size_t *starts = pipeline->starts;
    for (size_t i = 0; i < batch.n; i++)
        if (!pipeline->select[i])
            pipeline->plan.not_removed(pipeline->plan.context, batch.bytes + starts[i],
                                       starts[i + 1] - starts[i] - 1, pipeline->seen[i]);
}

/* --- the loop --- */

/* In a chunk: what was picked but not yet written lies at from..to. */
struct picked {
    char *from, *to;
};

static int flush(struct pipeline *pipeline, struct picked *picked, struct fault *fault)
{
    size_t length = (size_t)(picked->to - picked->from);
    picked->from = picked->to;
    if (length == 0 || pipeline->plan.output == NULL)
        return 0;
    return output_write(pipeline->plan.output, picked->to - length, length, fault) == length ? 0
                                                                                             : -1;
}

/* Lines of a batch, from their keys to their output. Returns how many of them were judged, or -1. */
static ptrdiff_t pass(struct pipeline *pipeline, struct batch batch, struct picked *picked,
                      struct fault *fault)
{
    pipeline->starts = batch.starts;
    pipeline->keys = batch.keys;
    ptrdiff_t judged = judge(pipeline, batch.n, fault);
    if (judged < 0)
        return -1;
    batch.n = (size_t)judged;
    pipeline->read += batch.n;
    if (pipeline->plan.verb == PIPELINE_TAG)
        return write_tagged(pipeline, batch, fault) == 0 ? judged : -1;
    if (pipeline->plan.verb == PIPELINE_REMOVE)
        tell_not_removed(pipeline, batch);
    char *end = pick(pipeline, batch, picked->to);
    if (store_path(filter_store(pipeline->plan.filter)) != NULL &&
        pipeline->plan.verb == PIPELINE_NEW) {
        /* With a file, lines are in flight: hand them on now. */
        picked->to = end;
        char *from = picked->from;
        picked->from = end;
        return deliver(pipeline, batch.n, from, end, fault) == 0 ? judged : -1;
    }
    pipeline->selected += count_selected(pipeline, batch.n);
    picked->to = end;
    return judged;
}

/* --- durable --- */

/* A second's lines, or as many as the filter holds, whichever is first: few flushes, little to repeat. */
enum { EPOCH_MILLISECONDS = 1000 };

static int milliseconds_left(const struct pipeline *pipeline)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long passed = (long long)(now.tv_sec - pipeline->settled.tv_sec) * 1000 +
                       (now.tv_nsec - pipeline->settled.tv_nsec) / 1000000;
    return passed < EPOCH_MILLISECONDS ? (int)(EPOCH_MILLISECONDS - passed) : 0;
}

int pipeline_settle(struct pipeline *pipeline, struct fault *fault)
{
    /* The system reports a lost write once; the next flush would succeed without it. And what was settled
     * in part would be settled again. */
    if (pipeline->unsure)
        return 0;
    pipeline->unsure = filter_held(pipeline->plan.filter) > 0 &&
                       (output_sync(pipeline->plan.output, fault) != 0 ||
                        filter_settle_held(pipeline->plan.filter, fault) != 0);
    if (pipeline->unsure)
        return -1;
    clock_gettime(CLOCK_MONOTONIC, &pipeline->settled);
    return 0;
}

/* `judged`: lines of the last claim; 0: the filter must settle before it claims more. */
static int settle_if_due(struct pipeline *pipeline, ptrdiff_t judged, struct fault *fault)
{
    if (!pipeline->plan.durable || (judged > 0 && milliseconds_left(pipeline) > 0))
        return 0;
    return pipeline_settle(pipeline, fault);
}

/* Held keys are settled when their time comes, even if no line does. */
static int wait_for_input(struct pipeline *pipeline, struct input *input, struct fault *fault)
{
    while (pipeline->plan.durable && filter_held(pipeline->plan.filter) > 0) {
        if (input_wait(input, milliseconds_left(pipeline)))
            return 0;
        if (pipeline_settle(pipeline, fault) != 0)
            return -1;
    }
    return 0;
}

enum { MANY_LINES = 256 };

/* Tells the filter how many lines are to come: of a file that is known after its first lines; of a
 * pipe it is as many as have come, again and again. */
static void expect(struct pipeline *pipeline, const struct input *input, const struct batch *batch)
{
    size_t bytes = batch->starts[batch->n] - batch->starts[0];
    if (batch->n < MANY_LINES)
        return;
    pages_read_slice(filter_store(pipeline->plan.filter));
    if (pipeline->read < pipeline->expected)
        return;
    uint64_t left = bytes + input_remaining(input);
    pipeline->expected = pipeline->read + left / bytes * batch->n + 1;
    pages_expect(filter_store(pipeline->plan.filter), pipeline->expected);
    if (pipeline->expected < 2 * pipeline->read)
        pipeline->expected = 2 * pipeline->read;
}

/* A batch goes as many lines at a time as the filter takes, and as it judges: fewer where a layer
 * ends. Returns as pipeline_run. */
static int run_batch(struct pipeline *pipeline, struct batch batch, struct picked *picked,
                     struct fault *fault)
{
    while (batch.n > 0) {
        struct batch part = batch;
        if (part.n > pipeline->most)
            part.n = pipeline->most;
        ptrdiff_t judged = pass(pipeline, part, picked, fault);
        if (judged < 0)
            return -1;
        batch.starts += judged;
        batch.keys += judged;
        batch.n -= (size_t)judged;
        if (settle_if_due(pipeline, judged, fault) != 0)
            return -1;
        if (pipeline->selected == pipeline->plan.most || pipeline->closed) {
            pipeline->used = batch.offset + batch.starts[0];
            return 1;
        }
    }
    return 0;
}

static bool writes(const struct pipeline *pipeline)
{
    enum pipeline_verb verb = pipeline->plan.verb;
    return verb == PIPELINE_NEW || verb == PIPELINE_ADD || verb == PIPELINE_REMOVE;
}

/* A chunk, batch by batch. What was picked of it is written even if it ends in a fault. Returns as
 * pipeline_run, but 0 at the end of the chunk, and END_OF_INPUT. */
enum { END_OF_INPUT = 2 };

static int run_chunk(struct pipeline *pipeline, const struct input *input, struct fault *fault)
{
    struct picked picked = {NULL, NULL};
    struct batch batch = {.last = false};
    int result = 0;
    while (result == 0 && !batch.last) {
        int got = batches_next(pipeline->batches, &batch, fault);
        if (got <= 0) {
            result = got < 0 ? -1 : END_OF_INPUT;
            break;
        }
        if (picked.from == NULL) {
            picked = (struct picked){batch.bytes, batch.bytes};
            expect(pipeline, input, &batch);
            if (writes(pipeline) &&
                store_check_name(filter_store(pipeline->plan.filter), fault) != 0)
                return -1;
        }
        result = run_batch(pipeline, batch, &picked, fault);
    }
    struct fault later;
    if (picked.to > picked.from && flush(pipeline, &picked, result < 0 ? &later : fault) != 0)
        return -1;
    return result;
}

int pipeline_run(struct pipeline *pipeline, struct input *input, struct fault *fault)
{
    int result = pipeline->selected == pipeline->plan.most;
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
