#include "pipeline/pipeline.h"

#include "core/bytes.h"
#include "filter/pages.h"
#include "filter/probe.h"
#include "filter/removal.h"
#include "io/collect.h"
#include "pipeline/batches.h"
#include "pipeline/false_drops.h"
#include "pipeline/marks.h"
#include "pipeline/picked.h"
#include "system/clock.h"
#include "text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct pipeline {
    struct pipeline_plan plan;
    const struct verb *verb;
    struct filter *filter; /* the plan's */
    struct batches *batches;
    size_t most; /* lines per claim */
    struct pipeline_counts counts;
    uint64_t expected; /* lines that the filter was told to expect */
    /* For at most `most` lines, whether each is seen, and is selected: */
    uint8_t *seen;
    uint8_t *select;
    struct picked picked; /* selected lines of the chunk that are not yet written */
    uint64_t used;        /* bytes of the input up to the last line wanted */
    bool closed;          /* the output was closed */
    bool unsure;          /* durable: a flush or settling failed, and is not repeated */
    /* durable, by clock_monotonic: */
    int64_t settled;         /* when keys were settled last */
    int64_t flush_at;        /* when the filter may be flushed again */
    bool unflushed;          /* keys were settled since it was */
    struct collect *tagged;  /* PIPELINE_TAG, PIPELINE_TAG_NEW: lines with their tags */
    struct collect *dropped; /* lines that were not selected */
    struct false_drops false_drops;
    struct shard shard; /* the filter's */
    bool other_shard;   /* a line of another shard came */
};

const struct pipeline_counts *pipeline_counts(const struct pipeline *pipeline)
{
    return &pipeline->counts;
}

void pipeline_count(struct pipeline_counts *counts, const struct batch *batch, const char *input)
{
    uint64_t without = marks_count(batch->no_key, batch->n);
    if (counts->no_key == 0 && without > 0) {
        counts->no_key_line = batch->number +
                              (batch->no_key[0] ? 0 : marks_run(batch->no_key, 0, batch->n));
        counts->no_key_input = input;
    }
    counts->read += batch->n;
    counts->no_key += without;
}

bool pipeline_met_other_shard(const struct pipeline *pipeline)
{
    return pipeline->other_shard;
}

/* --- testing lines: sets seen[i] and select[i], and shortens the batch to the tested lines --- */

static uint64_t still_wanted(const struct pipeline *pipeline)
{
    return pipeline->plan.most - pipeline->counts.selected;
}

/* Selects unseen lines among the first `judged` lines of a batch; -1: testing failed. */
static int select_unseen(struct pipeline *pipeline, struct batch *batch, ptrdiff_t judged)
{
    if (judged < 0)
        return -1;
    batch->n = (size_t)judged;
    marks_invert(pipeline->seen, batch->n, pipeline->select);
    return 0;
}

static int judge_new(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    ptrdiff_t judged = writer_claim(pipeline->plan.writer, batch->keys, batch->n,
                                    still_wanted(pipeline), pipeline->seen, fault);
    return select_unseen(pipeline, batch, judged);
}

/* Keys are added at once, because nothing has to be delivered. Keys in flight elsewhere do not
 * count as seen, because their delivery may fail. */
static int judge_add(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    uint64_t added;
    ptrdiff_t judged = writer_add(pipeline->plan.writer, batch->keys, batch->n, pipeline->seen,
                                  &added, fault);
    return select_unseen(pipeline, batch, judged);
}

/* Lines that the first filter has seen go to the second, and those new to it are printed. Both are
 * in memory, where writer_claim tests all its lines unless memory is short. */
static int judge_repeated(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    struct writer *repeats = pipeline->plan.repeats;
    uint64_t most = still_wanted(pipeline);
    ptrdiff_t judged = writer_claim(pipeline->plan.writer, batch->keys, batch->n, UINT64_MAX,
                                    pipeline->seen, fault);
    if (judged < 0)
        return -1;
    batch->n = (size_t)judged;
    for (size_t i = 0; i < batch->n; i++) {
        uint8_t repeated = 1;
        if (pipeline->seen[i] && most > 0 &&
            writer_claim(repeats, &batch->keys[i], 1, UINT64_MAX, &repeated, fault) < 0)
            return -1;
        pipeline->select[i] = !repeated;
        most -= !repeated;
    }
    return 0;
}

static int judge_query(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    if (probe(pipeline->filter, batch->keys, batch->n, pipeline->seen, fault) != 0)
        return -1;
    if (pipeline->plan.invert)
        marks_invert(pipeline->seen, batch->n, pipeline->select);
    else
        memcpy(pipeline->select, pipeline->seen, batch->n);
    return 0;
}

static int judge_remove(struct pipeline *pipeline, struct batch *batch, struct fault *fault)
{
    if (removal_remove(pipeline->filter, batch->keys, batch->n, pipeline->seen, fault) < 0)
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

/* Returns how many lines of the batch are selected. */
static uint64_t pick(struct pipeline *pipeline, const struct batch *batch)
{
    return pipeline->plan.output != NULL ? picked_add(&pipeline->picked, batch, pipeline->select)
                                         : marks_count(pipeline->select, batch->n);
}

/* Picks selected lines, which are written at the end of the chunk. */
static int pick_selected(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    (void)fault;
    pipeline->counts.selected += pick(pipeline, batch);
    return 0;
}

/* Before the first lines of an output (struct output, begin). */
static int begin_output(void *context, const struct output *output, const char **bytes,
                        size_t *length, struct fault *fault)
{
    struct header_lines *lines = context;
    int headed = header_lines_add_output(lines, output, fault);
    if (headed == 0) {
        *bytes = lines->line;
        *length = lines->length;
    }
    return headed < 0 ? -1 : 0;
}

/* Writes the picked lines. Returns whether all were accepted; *accepted is the number of bytes that
 * all outputs accepted. */
static bool write_picked(struct pipeline *pipeline, size_t *accepted, struct fault *fault)
{
    const char *from = pipeline->picked.from;
    size_t length = (size_t)(pipeline->picked.to - from);
    struct fault later;
    pipeline->picked.from = pipeline->picked.to;
    *accepted = length > 0 ? output_write(pipeline->plan.output, from, length, fault) : 0;
    if (pipeline->plan.tee != NULL && *accepted > 0) {
        /* What was printed, in whole lines. */
        const char *last = memrchr(from, pipeline->plan.delimiter, *accepted);
        size_t whole = last != NULL ? (size_t)(last - from) + 1 : 0;
        bool all = *accepted == length;
        *accepted = whole > 0 ? output_write(pipeline->plan.tee, from, whole, all ? fault : &later)
                              : 0;
    }
    return *accepted == length;
}

static const char *tag_of(const struct pipeline *pipeline, size_t i)
{
    return pipeline->seen[i] ? "seen\t" : "new\t";
}

/* How many bytes are printed for a line. */
static size_t printed_length(const struct pipeline *pipeline, const struct batch *batch, size_t i)
{
    if (pipeline->tagged != NULL)
        return strlen(tag_of(pipeline, i)) + line_length(batch, i);
    return pipeline->select[i] ? line_length(batch, i) : 0;
}

/* How many selected lines are complete in the first `bytes` written. */
static uint64_t lines_within(const struct pipeline *pipeline, const struct batch *batch,
                             size_t bytes)
{
    uint64_t count = 0;
    for (size_t i = 0; i < batch->n; i++) {
        size_t length = printed_length(pipeline, batch, i);
        if (length > bytes)
            break;
        bytes -= length;
        count += pipeline->select[i];
    }
    return count;
}

/* Of the selected lines, which are in flight, settles those that were accepted whole. `failed`:
 * only so many bytes of the batch were accepted, as the fault says. */
static int settle_accepted(struct pipeline *pipeline, const struct batch *batch, bool failed,
                           size_t accepted, struct fault *fault)
{
    struct fault later;
    uint64_t selected = marks_count(pipeline->select, batch->n);
    uint64_t delivered = failed ? lines_within(pipeline, batch, accepted) : selected;
    pipeline->counts.selected += delivered;
    if (failed && pipeline->plan.may_close && fault->error == EPIPE) {
        pipeline->closed = true;
        pipeline->counts.refused = selected - delivered;
        failed = false;
    }
    writer_keep(pipeline->plan.writer, delivered);
    if (!pipeline->plan.settles_later &&
        writer_settle(pipeline->plan.writer, failed ? &later : fault) != 0)
        return -1;
    return failed ? -1 : 0;
}

/* With a filter file, selected lines are written now. */
static int hand_on(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    size_t accepted;
    if (filter_path(pipeline->filter) == NULL)
        return pick_selected(pipeline, batch, fault);
    pick(pipeline, batch);
    bool failed = !write_picked(pipeline, &accepted, fault);
    return settle_accepted(pipeline, batch, failed, accepted, fault);
}

/* Writes every line after its tag. Returns 0 or -1. */
static int write_tags(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    struct collect *to = pipeline->tagged;
    for (size_t i = 0; i < batch->n; i++) {
        const char *tag = tag_of(pipeline, i);
        if (collect_add_tagged(to, tag, strlen(tag), batch->bytes + batch->starts[i],
                               line_length(batch, i), fault) != 0)
            return -1;
    }
    return collect_flush(to, fault);
}

static int tag_seen(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    pipeline->counts.selected += marks_count(pipeline->select, batch->n);
    return write_tags(pipeline, batch, fault);
}

static int tag_new(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    uint64_t before = collect_accepted(pipeline->tagged);
    bool failed = write_tags(pipeline, batch, fault) != 0;
    size_t accepted = (size_t)(collect_accepted(pipeline->tagged) - before);
    return settle_accepted(pipeline, batch, failed, accepted, fault);
}

static int count_not_removed(struct pipeline *pipeline, const struct batch *batch,
                             struct fault *fault)
{
    for (size_t i = 0; i < batch->n; i++) {
        pipeline->counts.absent += pipeline->seen[i] == REMOVAL_ABSENT;
        pipeline->counts.ambiguous += pipeline->seen[i] == REMOVAL_AMBIGUOUS;
    }
    return pick_selected(pipeline, batch, fault);
}

/* --- verbs --- */

struct verb {
    /* Sets seen and select, and shortens the batch to the tested lines. Returns 0 or -1. */
    int (*judge)(struct pipeline *pipeline, struct batch *batch, struct fault *fault);
    /* Prints and counts selected lines. Returns 0 or -1. */
    int (*deliver)(struct pipeline *pipeline, const struct batch *batch, struct fault *fault);
};

static const struct verb verbs[] = {
    [PIPELINE_NEW] = {judge_new, hand_on},
    [PIPELINE_ADD] = {judge_add, pick_selected},
    [PIPELINE_REPEATED] = {judge_repeated, pick_selected},
    [PIPELINE_QUERY] = {judge_query, pick_selected},
    [PIPELINE_TAG] = {judge_query, tag_seen},
    [PIPELINE_TAG_NEW] = {judge_new, tag_new},
    [PIPELINE_REMOVE] = {judge_remove, count_not_removed},
};

static struct batches *make_batches(const struct pipeline_plan *plan, const struct header *header)
{
    struct batches *batches = batches_new(plan->delimiter, &header->recipe,
                                          hashers_of_keys(header->hasher), plan->threads);
    if (batches == NULL || header->shard.count == 0 ||
        batches_add_shards(batches, header->shard.count) == 0)
        return batches;
    batches_free(batches);
    return NULL;
}

struct pipeline *pipeline_new(const struct pipeline_plan *plan)
{
    bool tags = plan->verb == PIPELINE_TAG || plan->verb == PIPELINE_TAG_NEW;
    struct pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (pipeline == NULL)
        return NULL;
    pipeline->plan = *plan;
    pipeline->filter = plan->filter;
    pipeline->verb = &verbs[plan->verb];
    pipeline->most = BATCH_LINES;
    pipeline->shard = filter_header(pipeline->filter)->shard;
    pipeline->batches = make_batches(plan, filter_header(pipeline->filter));
    pipeline->seen = malloc(pipeline->most);
    pipeline->select = malloc(pipeline->most);
    if (tags)
        pipeline->tagged = collect_new(plan->output);
    if (plan->dropped != NULL)
        pipeline->dropped = collect_new(plan->dropped);
    enum { OUTPUTS = 3 };
    struct output *outputs[OUTPUTS] = {tags || plan->output_headed ? NULL : plan->output, plan->tee,
                                       plan->dropped};
    for (size_t i = 0; i < OUTPUTS && plan->header; i++)
        if (outputs[i] != NULL) {
            outputs[i]->begin = begin_output;
            outputs[i]->begin_context = &pipeline->plan.header_lines;
        }
    if (plan->counts_drops)
        false_drops_start(&pipeline->false_drops, pipeline->filter);
    pipeline->settled = clock_monotonic();
    if (pipeline->batches == NULL || pipeline->seen == NULL || pipeline->select == NULL ||
        (tags && pipeline->tagged == NULL) ||
        (plan->dropped != NULL && pipeline->dropped == NULL)) {
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
    collect_free(pipeline->tagged);
    collect_free(pipeline->dropped);
    header_lines_free(&pipeline->plan.header_lines);
    free(pipeline);
}

/* --- durable --- */

/* Keys are settled after a second, or after EPOCH_LINES: few flushes, few lines to repeat, and
 * little memory for keys in flight. Then the filter is flushed, too, but not before FLUSH_REST
 * times the last flush has passed since its end: a large filter takes seconds, and new lines dirty
 * all its pages within any number of lines that could be a bound. */
enum { EPOCH_MILLISECONDS = 1000, EPOCH_LINES = 1 << 18, FLUSH_REST = 10 };

/* Until keys are to be settled; or if none are kept, until the filter is to be flushed. */
static int milliseconds_left(const struct pipeline *pipeline)
{
    bool flush = pipeline->unflushed && writer_kept(pipeline->plan.writer) == 0;
    int64_t left = (flush ? pipeline->flush_at : pipeline->settled + EPOCH_MILLISECONDS) -
                   clock_monotonic();
    return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

/* Only a regular file can be flushed; without a second output, this one is. */
static int sync_outputs(const struct pipeline *pipeline, struct fault *fault)
{
    const struct output *tee = pipeline->plan.tee;
    if (tee != NULL && output_sync(tee, fault) != 0)
        return -1;
    return tee == NULL || output_is_file(NULL) ? output_sync(pipeline->plan.output, fault) : 0;
}

static int sync_dropped(struct pipeline *pipeline, struct fault *fault)
{
    if (pipeline->dropped == NULL || !pipeline->plan.dropped->ends_last_line)
        return 0;
    return collect_flush(pipeline->dropped, fault) == 0 ? output_sync(pipeline->plan.dropped, fault)
                                                        : -1;
}

/* At the end even if nothing was settled: a run that was killed may have settled these lines. */
static int flush_filter(struct pipeline *pipeline, bool at_end, struct fault *fault)
{
    int64_t begin = clock_monotonic();
    if (!at_end && (!pipeline->unflushed || begin < pipeline->flush_at))
        return 0;
    pipeline->unsure = filter_flush(pipeline->filter, fault) != 0;
    pipeline->unflushed = false;
    int64_t end = clock_monotonic();
    pipeline->flush_at = end + FLUSH_REST * (end - begin);
    return pipeline->unsure ? -1 : 0;
}

static int settle(struct pipeline *pipeline, bool at_end, struct fault *fault)
{
    /* Not repeated after a failure: the system reports a lost write only once, so the next flush
     * would succeed; and keys that were partly settled would be settled again. */
    if (pipeline->unsure)
        return 0;
    uint64_t held = writer_kept(pipeline->plan.writer);
    pipeline->unsure = (held > 0 && sync_outputs(pipeline, fault) != 0) ||
                       sync_dropped(pipeline, fault) != 0 ||
                       (held > 0 && writer_settle(pipeline->plan.writer, fault) != 0);
    pipeline->settled = clock_monotonic();
    pipeline->unflushed |= held > 0;
    if (pipeline->unsure && held > 0)
        fault_way_out(fault, "the last %" PRIu64 " %s may not be on disk and will come again", held,
                      number_lines(held));
    return pipeline->unsure ? -1 : flush_filter(pipeline, at_end, fault);
}

int pipeline_settle(struct pipeline *pipeline, struct fault *fault)
{
    return settle(pipeline, true, fault);
}

/* While no input comes, keys are settled, and the filter is flushed, when their time has come. */
static int wait_for_input(struct pipeline *pipeline, struct fault *fault)
{
    while (pipeline->plan.durable &&
           (writer_kept(pipeline->plan.writer) > 0 || pipeline->unflushed) &&
           !batches_wait(pipeline->batches, milliseconds_left(pipeline)))
        if (milliseconds_left(pipeline) == 0 && settle(pipeline, false, fault) != 0)
            return -1;
    return 0;
}

/* --- the loop --- */

enum { MANY_LINES = 256 };

/* Tells the filter how many lines to expect. For a file, this is estimated from its first lines;
 * for a pipe, it is as many lines as were read so far, again and again. */
static void expect(struct pipeline *pipeline, const struct input *input, const struct batch *batch)
{
    size_t bytes = batch->starts[batch->n] - batch->starts[0];
    uint64_t read = pipeline->counts.read;
    if (batch->n < MANY_LINES)
        return;
    pages_read_slice(pipeline->filter);
    if (read < pipeline->expected)
        return;
    uint64_t left = bytes + input_remaining(input);
    pipeline->expected = read + left / bytes * batch->n + 1;
    pages_expect(pipeline->filter, pipeline->expected);
    if (pipeline->expected < 2 * read)
        pipeline->expected = 2 * read;
}

/* The end of the last line wanted; lines after it, though tested, count as not read. */
static size_t end_of_wanted(const struct pipeline *pipeline, size_t n)
{
    uint64_t most = still_wanted(pipeline);
    for (size_t i = 0; i < n && most <= n; i++)
        if (pipeline->select[i] && --most == 0)
            return i + 1;
    return n;
}

/* Collects the lines that are not selected, for --dropped. This comes before the selected lines are
 * moved together, which overwrites them. */
static int collect_dropped(struct pipeline *pipeline, const struct batch *batch,
                           struct fault *fault)
{
    const size_t *starts = batch->starts;
    pipeline->counts.dropped += batch->n - marks_count(pipeline->select, batch->n);
    for (size_t i = 0, from; i < batch->n && pipeline->dropped != NULL;) {
        from = i;
        i = marks_run(pipeline->select, from, batch->n);
        if (pipeline->select[from])
            continue;
        if (collect_add(pipeline->dropped, batch->bytes + starts[from], starts[i] - starts[from],
                        fault) != 0)
            return -1;
    }
    return 0;
}

static int deliver(struct pipeline *pipeline, const struct batch *batch, struct fault *fault)
{
    uint64_t before = pipeline->counts.selected;
    int result = pipeline->verb->deliver(pipeline, batch, fault);
    if (pipeline->plan.counts_drops)
        pipeline->counts.false_drops += false_drops_add(&pipeline->false_drops,
                                                        pipeline->counts.selected - before);
    return result;
}

/* Passes lines of a batch from their keys to the output. Returns how many were tested, or -1. */
static ptrdiff_t pass(struct pipeline *pipeline, struct batch batch, const char *input,
                      struct fault *fault)
{
    struct fault later;
    if (batch.n > pipeline->most)
        batch.n = pipeline->most;
    if (pipeline->verb->judge(pipeline, &batch, fault) != 0)
        return -1;
    batch.n = end_of_wanted(pipeline, batch.n);
    pipeline_count(&pipeline->counts, &batch, input);
    /* Claimed lines are delivered even after a fault; otherwise their keys must not be settled. */
    int written = collect_dropped(pipeline, &batch, fault);
    bool delivered = deliver(pipeline, &batch, written == 0 ? fault : &later) == 0;
    return delivered && written == 0 ? (ptrdiff_t)batch.n : -1;
}

/* How many lines of the batch precede the first line of another shard. */
static size_t lines_of_shard(const struct pipeline *pipeline, const struct batch *batch)
{
    size_t n = 0;
    while (n < batch->n && batch->shards[n] == pipeline->shard.number)
        n++;
    return n;
}

/* Refuses the first line of the batch. */
static int refuse_line(struct pipeline *pipeline, const struct batch *batch, const char *input,
                       struct fault *fault)
{
    pipeline->other_shard = true;
    return fault_set(fault, filter_path(pipeline->filter),
                     "is for shard %" PRIu32 " of %" PRIu32 ", and line %" PRIu64
                     " of %.150s belongs to shard %" PRIu32,
                     pipeline->shard.number, pipeline->shard.count, batch->number, input,
                     batch->shards[0]);
}

/* Passes a batch, as many lines at a time as the filter accepts: at most `most`, and fewer where a
 * layer ends. Stops at a line of another shard. Returns as pipeline_run. */
static int run_batch(struct pipeline *pipeline, struct batch batch, const char *input,
                     struct fault *fault)
{
    size_t others = 0;
    if (pipeline->shard.count != 0) {
        others = batch.n - lines_of_shard(pipeline, &batch);
        batch.n -= others;
    }
    while (batch.n > 0) {
        ptrdiff_t judged = pass(pipeline, batch, input, fault);
        if (judged < 0)
            return -1;
        batch_skip(&batch, (size_t)judged);
        if (pipeline->plan.durable &&
            (milliseconds_left(pipeline) == 0 ||
             writer_kept(pipeline->plan.writer) >= EPOCH_LINES ||
             writer_fills(pipeline->plan.writer)) &&
            settle(pipeline, false, fault) != 0)
            return -1;
        if (pipeline->counts.selected == pipeline->plan.most || pipeline->closed) {
            pipeline->used = batch.offset + batch.starts[0];
            return 1;
        }
    }
    return others > 0 ? refuse_line(pipeline, &batch, input, fault) : 0;
}

/* If lines are printed or handed over, all inputs have the same columns. */
static int take_header_line(struct pipeline *pipeline, const struct batch *batch, const char *input,
                            struct fault *fault)
{
    struct pipeline_plan *plan = &pipeline->plan;
    if (plan->output == NULL && plan->dropped == NULL)
        return 0;
    if (header_lines_add(&plan->header_lines, batch->header_line, batch->header_length, input,
                         fault) != 0)
        return -1;
    if (pipeline->tagged == NULL || plan->output_headed)
        return 0;
    plan->output_headed = true;
    return output_write(plan->output, batch->header_line, batch->header_length, fault) ==
                   batch->header_length
               ? 0
               : -1;
}

/* Writes the picked and the dropped lines of a chunk, even after a fault, which is then kept. */
static int finish_chunk(struct pipeline *pipeline, int result, struct fault *fault)
{
    size_t accepted;
    struct fault later;
    const char *from = pipeline->picked.from, *to = pipeline->picked.to;
    if (!write_picked(pipeline, &accepted, result < 0 ? &later : fault)) {
        /* Lines were counted when they were picked. */
        pipeline->counts.selected -= count_byte(from + accepted, (size_t)(to - from) - accepted,
                                                pipeline->plan.delimiter);
        result = -1;
    }
    if (pipeline->dropped != NULL &&
        collect_flush(pipeline->dropped, result < 0 ? &later : fault) != 0)
        result = -1;
    return result;
}

/* Processes a chunk, batch by batch. Returns as pipeline_run, but 0 at the end of the chunk, and
 * END_OF_INPUT at the end of the input. */
enum { END_OF_INPUT = 2 };

static int run_chunk(struct pipeline *pipeline, const struct input *input, struct fault *fault)
{
    struct batch batch = {.last = false};
    int result = 0;
    pipeline->picked = (struct picked){NULL, NULL};
    while (result == 0 && !batch.last) {
        int got = batches_next(pipeline->batches, &batch, fault);
        if (got <= 0) {
            result = got < 0 ? -1 : END_OF_INPUT;
            break;
        }
        if (pipeline->picked.from == NULL) {
            pipeline->picked = (struct picked){batch.bytes, batch.bytes};
            expect(pipeline, input, &batch);
            if (filter_check_name(pipeline->filter, fault) != 0)
                return -1;
        }
        if (batch.header_line != NULL &&
            take_header_line(pipeline, &batch, input_name(input), fault) != 0)
            return -1;
        result = run_batch(pipeline, batch, input_name(input), fault);
    }
    return finish_chunk(pipeline, result, fault);
}

int pipeline_run(struct pipeline *pipeline, struct input *input, struct fault *fault)
{
    int result = pipeline->counts.selected == pipeline->plan.most;
    pipeline->used = 0;
    batches_begin(pipeline->batches, input, pipeline->plan.header);
    while (result == 0) {
        result = wait_for_input(pipeline, fault);
        if (result == 0)
            result = run_chunk(pipeline, input, fault);
        if (pipeline->plan.after_chunk != NULL)
            pipeline->plan.after_chunk();
    }
    batches_end(pipeline->batches);
    if (pipeline->plan.counts_drops)
        pipeline->counts.false_drops += false_drops_finish(&pipeline->false_drops);
    if (result == 1)
        input_unread(input, pipeline->used);
    return result == END_OF_INPUT ? 0 : result;
}
