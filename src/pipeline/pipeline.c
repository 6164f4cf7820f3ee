#include "pipeline/pipeline.h"

#include "core/bytes.h"
#include "filter/survey.h"
#include "pipeline/picked.h"
#include "system/machine.h"
#include "text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Estimates the number of false drops in a run.
 *
 * While a filter has the rate R, the fraction R of all new lines is dropped and 1 - R is printed:
 * for each line printed, R / (1 - R) lines were dropped. R is computed again whenever there are a
 * sixteenth more keys; in between, it is taken to change linearly. Where R is near 1, lines that
 * were printed tell little, and the estimate may be above the number of lines that were dropped.
 */
struct false_drops {
    double odds;    /* R / (1 - R) when it was last computed */
    uint64_t added; /* lines printed since then */
    uint64_t batches;
    uint64_t next; /* lines after which it is computed again */
};

struct pipeline {
    struct pipeline_plan plan;
    struct batches *batches;
    struct shard shard;      /* the filter's */
    bool claims;             /* new keys are in flight until their lines are written */
    bool selects_seen;       /* else lines that were not seen */
    bool closed;             /* the output was closed */
    uint64_t expected;       /* lines that the filter was told to expect */
    struct picked picked;    /* selected lines of the chunk that are not yet written */
    struct collect *added;   /* lines with their tags, or what take_lines adds; NULL: neither */
    struct collect *dropped; /* lines that were not selected; NULL: they are not wanted */
    struct false_drops false_drops;
    /* durable, by clock_monotonic: */
    int64_t settled;  /* when keys were settled last */
    int64_t flush_at; /* when the filter may be flushed again */
    bool unflushed;   /* keys were settled since it was */
    bool unsure;      /* a flush or settling failed, and is not repeated */
    /* Marks of the lines at hand (picked.h). Lines that PIPELINE_REMOVE has removed are seen; with
     * PIPELINE_REPEATED those are unseen that come for the second time. */
    uint8_t seen[BATCH_LINES], unseen[BATCH_LINES];
};

/* --- false drops --- */

static void compute_odds(struct pipeline *pipeline)
{
    enum { LEAST = 64 };
    static struct survey survey; /* 11 KB */
    uint64_t sixteenth = filter_keys(pipeline->plan.filter) / 16;
    (void)survey_make(&survey, pipeline->plan.filter, SURVEY_SAMPLE);
    pipeline->false_drops = (struct false_drops){
        .odds = survey.rate / fmax(1 - survey.rate, 1e-18),
        .next = sixteenth > LEAST ? sixteenth : LEAST,
    };
}

/* Adds to the estimate the false drops for `lines` printed since the odds were computed, which are
 * computed again. Lines of one batch are judged together, before any of them is settled; in memory,
 * one by one. */
static void add_false_drops(struct pipeline *pipeline, double lines)
{
    double before = pipeline->false_drops.odds, batches = (double)pipeline->false_drops.batches;
    double mean = filter_path(pipeline->plan.filter) == NULL || batches == 0
                      ? 0.5
                      : (batches - 1) / (2 * batches);
    compute_odds(pipeline);
    pipeline->plan.counts->false_drops += lines *
                                          (before + (pipeline->false_drops.odds - before) * mean);
}

/* --- begin and end --- */

struct pipeline *pipeline_new(const struct pipeline_plan *plan)
{
    bool takes = plan->verb == PIPELINE_TAKE;
    bool tags = plan->verb == PIPELINE_TAG || plan->verb == PIPELINE_TAG_NEW;
    const struct header *header = takes ? NULL : filter_header(plan->filter);
    struct pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (pipeline == NULL)
        return NULL;
    pipeline->plan = *plan;
    if (!takes)
        pipeline->shard = header->shard;
    pipeline->batches = batches_new(&(struct batches_plan){
        .ends = plan->ends,
        .recipe = takes ? plan->recipe : &header->recipe,
        .hashers = takes ? plan->hashers : hashers_of_keys(header->hasher),
        .shards = pipeline->shard.count,
        .texts = plan->texts,
        .threads = plan->threads,
    });
    pipeline->claims = (plan->verb == PIPELINE_NEW || plan->verb == PIPELINE_TAG_NEW) &&
                       filter_path(plan->filter) != NULL;
    pipeline->selects_seen = plan->verb == PIPELINE_TAG || plan->verb == PIPELINE_REMOVE ||
                             (plan->verb == PIPELINE_QUERY && !plan->invert);
    if (tags || (takes && plan->output != NULL))
        pipeline->added = collect_new(plan->output);
    if (plan->dropped != NULL)
        pipeline->dropped = collect_new(plan->dropped);
    if (pipeline->batches == NULL || (tags && pipeline->added == NULL) ||
        (takes && plan->output != NULL && pipeline->added == NULL) ||
        (plan->dropped != NULL && pipeline->dropped == NULL)) {
        pipeline_free(pipeline);
        return NULL;
    }
    enum { OUTPUTS = 3 };
    struct output *outputs[OUTPUTS] = {tags || takes || plan->output_headed ? NULL : plan->output,
                                       plan->tee, plan->dropped};
    for (size_t i = 0; i < OUTPUTS && plan->header; i++)
        if (outputs[i] != NULL) {
            outputs[i]->begin = header_lines_begin;
            outputs[i]->begin_context = plan->header_lines;
        }
    if (plan->counts_drops)
        compute_odds(pipeline);
    pipeline->settled = clock_monotonic();
    return pipeline;
}

void pipeline_free(struct pipeline *pipeline)
{
    if (pipeline == NULL)
        return;
    batches_free(pipeline->batches);
    collect_free(pipeline->added);
    collect_free(pipeline->dropped);
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

int pipeline_settle(struct pipeline *pipeline, bool at_end, struct fault *fault)
{
    const struct pipeline_plan *plan = &pipeline->plan;
    uint64_t held = writer_kept(plan->writer);
    /* Not repeated after a failure: the system reports a lost write only once, so the next flush
     * would succeed; and keys that were partly settled would be settled again. */
    if (pipeline->unsure)
        return 0;
    pipeline->unsure = true;
    /* 1. The lines go to the disk. Only a regular file can be flushed: without a second output the
     * first one is. */
    if (held > 0 && plan->tee != NULL && output_sync(plan->tee, fault) != 0)
        goto failed;
    if (held > 0 && (plan->tee == NULL || output_is_file(NULL)) &&
        output_sync(plan->output, fault) != 0)
        goto failed;
    if (pipeline->dropped != NULL && plan->dropped->ends_last_line &&
        (collect_flush(pipeline->dropped, fault) != 0 || output_sync(plan->dropped, fault) != 0))
        goto failed;
    /* 2. Their keys are settled. */
    if (held > 0 && writer_settle(plan->writer, fault) != 0)
        goto failed;
    pipeline->settled = clock_monotonic();
    pipeline->unflushed |= held > 0;
    /* 3. The filter goes to the disk: at the end even if nothing was settled, because a run that
     * was killed may have settled these lines. */
    int64_t begin = clock_monotonic();
    pipeline->unsure = false;
    if (!at_end && (!pipeline->unflushed || begin < pipeline->flush_at))
        return 0;
    pipeline->unsure = filter_flush(plan->filter, fault) != 0;
    pipeline->unflushed = false;
    int64_t end = clock_monotonic();
    pipeline->flush_at = end + FLUSH_REST * (end - begin);
    return pipeline->unsure ? -1 : 0;

failed:
    if (held > 0)
        fault_way_out(fault, "the last %" PRIu64 " %s may not be on disk and will come again", held,
                      number_lines(held));
    return -1;
}

/* --- lines of a batch --- */

/* Sets seen[] for as many lines as the filter accepts at a time, at least one, and claims new keys,
 * at most `most`. Returns how many lines were tested; or -1, and then no key was claimed. */
static ptrdiff_t judge(struct pipeline *pipeline, const struct batch *batch, uint64_t most,
                       struct fault *fault)
{
    const struct pipeline_plan *plan = &pipeline->plan;
    uint8_t *seen = pipeline->seen, removals[BATCH_LINES];
    ptrdiff_t judged;
    uint64_t added;
    switch (plan->verb) {
    case PIPELINE_NEW:
    case PIPELINE_TAG_NEW:
        return writer_claim(plan->writer, batch->keys, batch->n, most, seen, fault);
    case PIPELINE_ADD:
        /* Settled at once, because nothing is delivered. Keys in flight elsewhere are not seen,
         * because their delivery may fail. */
        return writer_add(plan->writer, batch->keys, batch->n, seen, &added, fault);
    case PIPELINE_QUERY:
    case PIPELINE_TAG:
        return filter_test(plan->filter, batch->keys, batch->n, seen, fault) == 0
                   ? (ptrdiff_t)batch->n
                   : -1;
    case PIPELINE_REPEATED:
        /* Lines that the first filter has seen go to the second, and those new to it are wanted.
         * Both are in memory, where writer_claim tests all its lines unless memory is short. */
        judged = writer_claim(plan->writer, batch->keys, batch->n, UINT64_MAX, seen, fault);
        for (ptrdiff_t i = 0; i < judged; i++) {
            bool once = !seen[i];
            seen[i] = 1;
            if (!once && most > 0 &&
                writer_claim(plan->repeats, &batch->keys[i], 1, UINT64_MAX, &seen[i], fault) < 0)
                return -1;
            most -= !seen[i];
        }
        return judged;
    case PIPELINE_REMOVE:
        if (removal_remove(plan->filter, batch->keys, batch->n, removals, fault) < 0)
            return -1;
        for (size_t i = 0; i < batch->n; i++) {
            seen[i] = removals[i] == REMOVAL_DONE;
            plan->counts->absent += removals[i] == REMOVAL_ABSENT;
            plan->counts->ambiguous += removals[i] == REMOVAL_AMBIGUOUS;
        }
        return (ptrdiff_t)batch->n;
    case PIPELINE_TAKE: /* of pass_lines */
        break;
    }
    return -1;
}

/* How many rows of a batch precede the first that has several lines. */
static size_t count_fit(const struct batch *batch)
{
    size_t n = 0;
    while (n < batch->n && !row_has_several_lines(batch->kinds[n]))
        n++;
    return n;
}

/* Adds the lines of a batch to `read`, `keyless` and `several...`. `select` marks those that are
 * selected; NULL: none. */
static void count_as_read(struct pipeline_counts *counts, const struct batch *batch,
                          const uint8_t *select, const char *input)
{
    const uint8_t *no_key = batch->no_key;
    counts->read += batch->n;
    for (size_t i = 0; (i = marks_find(no_key, i, batch->n)) < batch->n; i++) {
        struct keyless *keyless = &counts->keyless[no_key[i]];
        keyless->selected += select != NULL && select[i];
        if (keyless->read++ > 0)
            continue;
        keyless->line = batch_line(batch, i);
        keyless->input = input;
        if (counts->keyless_first == HAS_KEY && no_key[i] != NO_KEY_IDLE)
            counts->keyless_first = no_key[i];
    }
    if (batch->lines == NULL)
        return;
    size_t fit = count_fit(batch);
    if (counts->several == 0 && fit < batch->n) {
        counts->several_line = batch_line(batch, fit);
        counts->several_input = input;
    }
    for (size_t i = fit; i < batch->n; i++)
        counts->several += row_has_several_lines(batch->kinds[i]);
}

/* Writes the selected lines that were moved together, and to the tee what was written of them, in
 * whole lines. Returns how many lines were lost, because an output did not accept them whole: if
 * any, the fault is that of the output, or of the tee if only the tee failed. */
static uint64_t write_picked(struct pipeline *pipeline, struct fault *fault)
{
    const struct pipeline_plan *plan = &pipeline->plan;
    const char *from = pipeline->picked.from;
    size_t length = (size_t)(pipeline->picked.to - from);
    struct fault later;
    pipeline->picked.from = pipeline->picked.to;
    if (length == 0)
        return 0;
    size_t accepted = output_write(plan->output, from, length, fault);
    if (plan->tee != NULL) {
        bool all = accepted == length;
        size_t whole = all ? length : rows_whole(plan->ends, from, accepted);
        accepted = whole > 0 ? output_write(plan->tee, from, whole, all ? fault : &later) : 0;
    }
    if (accepted == length)
        return 0;
    return rows_count(plan->ends, from, length) - rows_count(plan->ends, from, accepted);
}

/* Writes every line after its tag. *lost is the number of selected lines that were not accepted
 * whole. Returns 0 or -1. */
static int write_tagged(struct pipeline *pipeline, const struct batch *batch, const uint8_t *select,
                        uint64_t *lost, struct fault *fault)
{
    static const struct {
        const char *text;
        size_t length;
    } tags[] = {{"new\t", 4}, {"seen\t", 5}};
    const size_t *starts = batch->starts;
    uint64_t before = collect_accepted(pipeline->added);
    int result = 0;
    for (size_t i = 0; i < batch->n && result == 0; i++)
        result = collect_add_tagged(pipeline->added, tags[pipeline->seen[i]].text,
                                    tags[pipeline->seen[i]].length, batch->bytes + starts[i],
                                    starts[i + 1] - starts[i], fault);
    if (result == 0 && collect_flush(pipeline->added, fault) == 0)
        return 0;
    uint64_t accepted = collect_accepted(pipeline->added) - before, end = 0;
    for (size_t i = 0; i < batch->n; i++) {
        end += tags[pipeline->seen[i]].length + starts[i + 1] - starts[i];
        *lost += select[i] && end > accepted;
    }
    return -1;
}

/* Passes lines of a batch from their keys to the outputs: as many as the filter accepts at a time,
 * fewer where a layer ends, and none after the last line wanted. Returns how many, or -1.
 *
 * Once keys are claimed, no fault ends this early. What the outputs took whole is settled, and
 * every other key leaves the flight (P3). Of several faults the first one is reported: of the file
 * of dropped lines, of the output, of the tee, of settling. */
static ptrdiff_t pass_lines(struct pipeline *pipeline, struct batch batch, const char *input,
                            struct fault *fault)
{
    const struct pipeline_plan *plan = &pipeline->plan;
    struct pipeline_counts *counts = plan->counts;
    const uint8_t *select = pipeline->selects_seen ? pipeline->seen : pipeline->unseen;
    const size_t *starts = batch.starts;
    uint64_t most = plan->most - counts->selected, lost = 0;
    struct fault later, *told = fault; /* where the next fault goes */
    bool failed;
    if (plan->verb == PIPELINE_TAKE) {
        count_as_read(counts, &batch, NULL, input);
        return plan->take_lines(plan->context, &batch, pipeline->added, fault) == 0
                   ? (ptrdiff_t)batch.n
                   : -1;
    }

    /* 1. Test the keys, and claim the new ones. */
    ptrdiff_t judged = judge(pipeline, &batch, most, fault);
    if (judged < 0)
        return -1;
    batch.n = (size_t)judged;
    if (!pipeline->selects_seen)
        marks_invert(pipeline->seen, batch.n, pipeline->unseen);

    /* 2. End with the last line wanted. Lines after it, though tested, count as not read. */
    for (size_t i = 0, n = batch.n; most <= n && i < batch.n; i++)
        if (select[i] && --most == 0)
            batch.n = i + 1;

    /* 3. Count: selected lines as if they were written already. */
    size_t selected = marks_count(select, batch.n);
    count_as_read(counts, &batch, select, input);
    counts->selected += selected;
    counts->dropped += batch.n - selected;

    /* 4. Collect the dropped lines, before the selected ones are moved over them. */
    for (size_t i, from = 0; pipeline->dropped != NULL && from < batch.n; from = i) {
        i = marks_run(select, from, batch.n);
        if (select[from])
            continue;
        if (collect_add(pipeline->dropped, batch.bytes + starts[from], starts[i] - starts[from],
                        told) != 0) {
            told = &later;
            break;
        }
    }

    /* 5. Write all lines with their tags; or move the selected lines together, and write them. If
     * they need not be settled, the end of the chunk is early enough. */
    if (pipeline->added != NULL) {
        failed = write_tagged(pipeline, &batch, select, &lost, told) != 0;
    } else {
        if (plan->output != NULL)
            picked_add(&pipeline->picked, &batch, select);
        if (pipeline->claims)
            lost = write_picked(pipeline, told);
        failed = lost > 0;
    }
    counts->selected -= lost;
    if (failed && plan->may_close && told->error == EPIPE) {
        pipeline->closed = true;
        counts->refused = lost;
    } else if (failed) {
        told = &later;
    }

    /* 6. Settle lines that were accepted whole, or keep them in flight; the others leave it. */
    if (pipeline->claims) {
        writer_keep(plan->writer, selected - lost);
        if (!plan->settles_later && writer_settle(plan->writer, told) != 0)
            told = &later;
    }
    pipeline->false_drops.added += selected - lost;
    pipeline->false_drops.batches++;
    if (plan->counts_drops && pipeline->false_drops.added >= pipeline->false_drops.next)
        add_false_drops(pipeline, (double)pipeline->false_drops.added);
    return told == fault ? (ptrdiff_t)batch.n : -1;
}

/* --- the loop --- */

/* Before a chunk, whose first batch this is: tells the filter how many lines to expect. For a file,
 * this is estimated from its first lines; for a pipe, it is as many lines as were read so far,
 * again and again. */
static void expect_lines(struct pipeline *pipeline, const struct input *input,
                         const struct batch *batch)
{
    enum { MANY_LINES = 256 };
    size_t bytes = batch->starts[batch->n] - batch->starts[0];
    uint64_t read = pipeline->plan.counts->read;
    if (batch->n < MANY_LINES)
        return;
    if (read >= pipeline->expected) {
        uint64_t left = bytes + input_remaining(input);
        pipeline->expected = read + left / bytes * batch->n + 1;
        filter_expect(pipeline->plan.filter, pipeline->expected);
        if (pipeline->expected < 2 * read)
            pipeline->expected = 2 * read;
    }
    filter_next_slice(pipeline->plan.filter);
}

/* If lines are printed or handed over, all inputs have the same columns. A header line that comes
 * again is no line: it is printed only for a reader that waits for an answer to each one. Returns 0
 * or -1. */
static int pass_header_line(struct pipeline *pipeline, const struct batch *batch, const char *input,
                            struct fault *fault)
{
    struct pipeline_plan *plan = &pipeline->plan;
    size_t length = batch->header_length;
    bool tags = plan->verb == PIPELINE_TAG || plan->verb == PIPELINE_TAG_NEW;
    if (batch->header_again) {
        plan->counts->header_again++;
        if (pipeline->dropped != NULL &&
            collect_add(pipeline->dropped, batch->header_line, length, fault) != 0)
            return -1;
        return !tags || output_write(plan->output, batch->header_line, length, fault) == length
                   ? 0
                   : -1;
    }
    if (plan->verb == PIPELINE_TAKE)
        return plan->take_header == NULL
                   ? 0
                   : plan->take_header(plan->context, batch, input, pipeline->added, fault);
    if (plan->output == NULL && plan->dropped == NULL)
        return 0;
    if (header_lines_add(plan->header_lines, batch->header_line, length, input, fault) != 0)
        return -1;
    if (pipeline->added == NULL || plan->output_headed)
        return 0;
    plan->output_headed = true;
    return output_write(plan->output, batch->header_line, length, fault) == length ? 0 : -1;
}

/* Leaves out the first line of a batch, a row of several lines, with `one_line`. */
static void leave_out(struct pipeline *pipeline, struct batch *batch, const char *input)
{
    struct batch line = *batch;
    line.n = 1;
    count_as_read(pipeline->plan.counts, &line, NULL, input);
    pipeline->plan.counts->unfit++;
    batch_skip(batch, 1);
}

/* How many lines precede the first of another shard. */
static size_t count_own(const struct shard *shard, const struct batch *batch)
{
    size_t n = 0;
    while (n < batch->n && batch->shards[n] == shard->number)
        n++;
    return n;
}

/* That the first line of a batch belongs to another shard. Returns PIPELINE_OTHER_SHARD. */
static int tell_other_shard(const struct pipeline *pipeline, const struct batch *batch,
                            const char *input, struct fault *fault)
{
    fault_set(fault, filter_path(pipeline->plan.filter),
              "is for shard %" PRIu32 " of %" PRIu32 ", and line %" PRIu64
              " of %.150s belongs to shard %" PRIu32,
              pipeline->shard.number, pipeline->shard.count, batch_line(batch, 0), input,
              batch->shards[0]);
    return PIPELINE_OTHER_SHARD;
}

/* Writes what the lines of a chunk have left to write, even after a fault. `result` is that of the
 * chunk so far, and so is what this returns, unless an output fails. That is told even after a
 * fault of the input, which would let the next input be read. */
static int end_chunk(struct pipeline *pipeline, int result, const char *input, struct fault *fault)
{
    struct fault later = FAULT_UNSET;
    struct fault *told = result < 0 && fault->of != input ? &later : fault;
    uint64_t lost = write_picked(pipeline, told);
    pipeline->plan.counts->selected -= lost;
    if (lost > 0)
        told = &later;
    if (pipeline->dropped != NULL && collect_flush(pipeline->dropped, told) != 0)
        told = &later;
    if (pipeline->added != NULL && collect_flush(pipeline->added, told) != 0)
        told = &later;
    return told != fault && result >= 0 ? -1 : result;
}

int pipeline_run(struct pipeline *pipeline, struct input *input, struct fault *fault)
{
    enum { END_OF_INPUT = 2 };
    const struct pipeline_plan *plan = &pipeline->plan;
    const char *name = input_name(input);
    struct batch batch = {.last = true};
    uint64_t used = 0;
    int result = plan->counts->selected == plan->most;
    batches_begin(pipeline->batches, input, plan->header);
    while (result == 0) {
        bool first = batch.last; /* of a chunk */
        size_t others = 0;

        /* 1. Get a batch. While no chunk comes, keys are settled, and the filter is flushed, when
         * their time has come. */
        while (result == 0 && plan->durable && first &&
               (writer_kept(plan->writer) > 0 || pipeline->unflushed) &&
               !batches_wait(pipeline->batches, milliseconds_left(pipeline)))
            if (milliseconds_left(pipeline) == 0)
                result = pipeline_settle(pipeline, false, fault);
        int got = result == 0 ? batches_next(pipeline->batches, &batch, fault) : -1;
        if (got <= 0)
            result = got < 0 ? -1 : END_OF_INPUT;

        /* 2. Begin with a chunk, and with an input. */
        if (result == 0 && first) {
            pipeline->picked = (struct picked){batch.bytes, batch.bytes};
            if (plan->filter != NULL) {
                expect_lines(pipeline, input, &batch);
                result = filter_check_name(plan->filter, fault);
            }
        }
        if (result == 0 && batch.header_line != NULL)
            result = pass_header_line(pipeline, &batch, name, fault);

        /* 3. Pass the lines, up to one of another shard. */
        if (result == 0 && pipeline->shard.count != 0) {
            size_t own = count_own(&pipeline->shard, &batch);
            others = batch.n - own;
            batch.n = own;
        }
        while (result == 0 && batch.n > 0) {
            struct batch fit = batch;
            if (plan->one_line && batch.lines != NULL)
                fit.n = count_fit(&batch);
            if (fit.n == 0) {
                leave_out(pipeline, &batch, name);
                continue;
            }
            ptrdiff_t passed = pass_lines(pipeline, fit, name, fault);
            result = passed < 0 ? -1 : 0;
            batch_skip(&batch, passed < 0 ? 0 : (size_t)passed);
            if (result == 0 && plan->durable &&
                (milliseconds_left(pipeline) == 0 || writer_kept(plan->writer) >= EPOCH_LINES ||
                 writer_fills(plan->writer)))
                result = pipeline_settle(pipeline, false, fault);
            if (result == 0 && (plan->counts->selected == plan->most || pipeline->closed)) {
                used = batch.offset + batch.starts[0];
                result = 1;
            }
        }
        if (result == 0 && others > 0)
            result = tell_other_shard(pipeline, &batch, name, fault);

        /* 4. End the chunk. */
        if (result != 0 || batch.last) {
            result = end_chunk(pipeline, result, name, fault);
            if (plan->after_chunk != NULL)
                plan->after_chunk();
        }
    }
    plan->counts->members = batches_end(pipeline->batches);
    /* After s successes, each with chance 1 - R, s + 1 times the odds is the mean of the failures:
     * of all lines that a saturated filter drops, though it prints none. */
    if (plan->counts_drops)
        add_false_drops(pipeline, (double)pipeline->false_drops.added + 1);
    if (result == 1)
        input_unread(input, used);
    return result == END_OF_INPUT ? 0 : result;
}
