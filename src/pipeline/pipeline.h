/*
 * pipeline - the way of a line:
 *
 *     batches_next    reads whole lines as they arrive, and hashes their keys
 *     writer_claim    finds those that are new; they are then in flight
 *     picked_add      moves new lines together, within the chunk
 *     output_write    prints them, and appends them to a second output
 *     writer_settle   remembers those that were accepted whole
 *
 * A batch passes through all steps before the next batch starts. No lock is held while reading or
 * writing. With a filter in memory, nothing is settled, and a whole chunk is written at once.
 */
#ifndef UNSEEN_PIPELINE_PIPELINE_H
#define UNSEEN_PIPELINE_PIPELINE_H

#include "filter/pending.h"
#include "filter/writer.h"
#include "io/input.h"
#include "io/output.h"
#include "pipeline/batches.h"
#include "pipeline/header_lines.h"

enum pipeline_verb {
    PIPELINE_NEW,      /* print and remember new lines */
    PIPELINE_ADD,      /* remember new lines, print nothing */
    PIPELINE_REPEATED, /* print lines that come for the second time */
    PIPELINE_QUERY,    /* print seen lines, remember nothing */
    PIPELINE_TAG,      /* print every line after "seen" or "new" and a TAB, remember nothing */
    PIPELINE_TAG_NEW,  /* the same, and remember new lines */
    PIPELINE_REMOVE,   /* forget lines, print nothing; forgotten lines count as selected */
    PIPELINE_TAKE,     /* ask no filter: pass lines and keys to `take_lines` */
};

/* Lines that have no key, for one and the same reason. */
struct keyless {
    uint64_t read, selected;
    uint64_t line;     /* the first of those that were read: its number, */
    const char *input; /* and its input */
};

/* Numbers of lines so far. */
struct pipeline_counts {
    uint64_t read;
    uint64_t selected;         /* printed, or would be printed if there were an output */
    uint64_t refused;          /* with `may_close`: selected, but the output was closed */
    uint64_t dropped;          /* tested and not selected */
    uint64_t absent;           /* PIPELINE_REMOVE: not in the filter */
    uint64_t ambiguous;        /* PIPELINE_REMOVE: seen in several layers, and so not removed */
    uint64_t several;          /* rows of several lines */
    uint64_t several_line;     /* the first of these: its number, */
    const char *several_input; /* and its input */
    uint64_t unfit;            /* with `one_line`: of these, which were left out */
    uint64_t header_again;     /* header lines after the first of an input; not in `read` */
    double false_drops;        /* with `counts_drops`: the estimated number */
    /* By reason; that of HAS_KEY is of no use. */
    struct keyless keyless[NO_KEY_IDLE + 1];
    unsigned members;          /* keyer_members */
    enum no_key keyless_first; /* the reason of the first of them, but for NO_KEY_IDLE */
};

struct pipeline_plan {
    enum pipeline_verb verb;
    struct filter *filter;  /* NULL for PIPELINE_TAKE */
    struct writer *writer;  /* of the filter; NULL for PIPELINE_QUERY, PIPELINE_TAG and _TAKE */
    struct writer *repeats; /* PIPELINE_REPEATED: lines that were printed already */
    struct output *output;  /* NULL: nothing is printed */
    struct output *tee;     /* PIPELINE_NEW: a file that gets printed lines, too; may be NULL */
    struct output *dropped; /* for lines that are not selected; may be NULL */
    struct pipeline_counts *counts;
    bool invert;                       /* PIPELINE_QUERY: print lines that are not in the filter */
    struct line_ends ends;             /* of the lines of inputs and outputs */
    bool header;                       /* each input begins with a header line */
    struct header_lines *header_lines; /* of the outputs, then of the inputs; if there are any */
    /* The output needs no header line. Otherwise all outputs get it together with their first line,
     * or with PIPELINE_TAG at once, but files with lines only compare it with theirs. */
    bool output_headed;
    bool one_line;             /* rows of several lines are left out, as if they had not come */
    uint64_t most;             /* stop after this many selected lines */
    struct pending *pending;   /* gets the keys of delivered lines; may be NULL */
    bool settles_later;        /* the caller settles delivered keys, or pipeline_settle does */
    unsigned threads;          /* that may be used, this one included; 0 is 1 */
    bool durable;              /* keys are settled when the output is on disk */
    bool may_close;            /* a closed output ends the run without a fault */
    bool counts_drops;         /* estimate counts->false_drops */
    void (*after_chunk)(void); /* called after each chunk; may be NULL */

    /* PIPELINE_TAKE: keys are made with this recipe, and hashed by these hashers or kept as texts.
     * Both functions return 0, or -1 with the fault, which ends the input. What they add to `to`,
     * which is NULL without an output, is written before input may have to be waited for. The
     * command counts what it selects. */
    const struct recipe *recipe;
    struct hashers hashers;
    bool texts;
    void *context;
    /* Gets the first header line of each input, batch->header_line; may be NULL. */
    int (*take_header)(void *context, const struct batch *batch, const char *input,
                       struct collect *to, struct fault *fault);
    /* Gets at least one line. */
    int (*take_lines)(void *context, const struct batch *batch, struct collect *to,
                      struct fault *fault);
};

struct pipeline;

/* Returns NULL if memory is short. What the plan points to must outlive the pipeline. */
struct pipeline *pipeline_new(const struct pipeline_plan *plan);
void pipeline_free(struct pipeline *pipeline);

/* Reads an input to its end, to the last line wanted, or to a line of another shard than the
 * filter's; lines before it are processed as usual. Returns 0; 1 if no more lines are wanted; -1
 * with the fault; PIPELINE_OTHER_SHARD with a fault that tells of that line. fault->error is EINTR
 * if a signal came; the caller then calls signals_raise. */
enum { PIPELINE_OTHER_SHARD = -2 };
int pipeline_run(struct pipeline *pipeline, struct input *input, struct fault *fault);

/* With `durable`: flushes the outputs, settles all keys, and flushes the filter if that is due, or
 * `at_end`, which is after all input. Returns 0, or -1 with the fault; after a fault once, 0. */
int pipeline_settle(struct pipeline *pipeline, bool at_end, struct fault *fault);

#endif
