/*
 * pipeline - the way of the data: lines, keys, verdicts, output, settled.
 *
 *     batches_next    some whole lines as they arrived, and their keys
 *     filter_claim    which are new; they are now in flight
 *     (pick)          new lines are moved together, inside the chunk
 *     output_write    they are handed on
 *     filter_settle   those that were accepted whole are remembered
 *
 * A batch passes all of it before the next one starts. No lock is held while reading or writing.
 * With a filter in memory, where nothing has to be settled, a chunk is written at once.
 */
#ifndef UNSEEN_PIPELINE_PIPELINE_H
#define UNSEEN_PIPELINE_PIPELINE_H

#include "filter/filter.h"
#include "filter/pending.h"
#include "filter/removal.h"
#include "io/input.h"
#include "io/output.h"

enum pipeline_verb {
    PIPELINE_NEW,      /* print and remember what is new */
    PIPELINE_ADD,      /* remember what is new; print nothing */
    PIPELINE_REPEATED, /* print what comes for the second time */
    PIPELINE_QUERY,    /* print what is in; remember nothing */
    PIPELINE_TAG,      /* print every line after "seen" or "new" and a TAB; remember nothing */
    PIPELINE_REMOVE,   /* forget lines, print nothing; those forgotten count as selected */
};

/* What becomes of the first line of each input. */
enum header_use {
    HEADER_IS_A_LINE,  /* it is a line like any other */
    HEADER_PRINTED,    /* it is printed as it is, if anything is, and not judged */
    HEADER_WITH_LINES, /* likewise, but together with the first line printed, and only once */
    HEADER_SKIPPED,
};

struct pipeline_plan {
    enum pipeline_verb verb;
    struct filter *filter;
    struct filter *repeats; /* PIPELINE_REPEATED: what was printed already */
    struct output *output;  /* NULL: nothing is printed */
    struct output *dropped; /* lines that are held back go here; may be NULL */
    bool invert;            /* PIPELINE_QUERY: print what is not in */
    char delimiter;
    enum header_use header_line;
    uint64_t most;           /* stop after so many selected lines */
    struct pending *pending; /* that keys of delivered lines go to; may be NULL */
    bool holds;              /* keys that were delivered are settled later, by who made this */
    unsigned threads;        /* that may work on it, this one included; 0 is 1 */
    bool durable;            /* and so they are here, once the output is on disk */
    bool may_close;          /* a reader that closes the output has had enough: no fault */
    bool counts_drops;       /* counts.false_drops is wanted */
    void (*look)(void);      /* called after each chunk; may be NULL */
};

struct pipeline;

/* NULL if memory is short. */
struct pipeline *pipeline_new(const struct pipeline_plan *plan);
void pipeline_free(struct pipeline *pipeline);

/* Reads an input to its end, or to the last line wanted; or, if the filter is for a part of a list,
 * to a line of another part, before which all is as ever. Returns 0; 1 if no more lines are wanted;
 * -1 with the fault: fault->error is EINTR if a signal came (signals_raise() is next). */
int pipeline_run(struct pipeline *pipeline, struct input *input, struct fault *fault);

/* Whether it ended at a line of another part than the filter is for: the fault says which. */
bool pipeline_met_other_shard(const struct pipeline *pipeline);

/* PIPELINE_NEW with `durable`: flushes the outputs and settles what is held; at the end of all
 * input. Returns 0, or -1 with the fault. */
int pipeline_settle(struct pipeline *pipeline, struct fault *fault);

/* Lines, so far. */
struct pipeline_counts {
    uint64_t read;
    uint64_t selected;  /* printed, or with no output: that would have been */
    uint64_t refused;   /* with `may_close`: would have been selected, but the output was closed */
    uint64_t dropped;   /* judged, and not selected */
    uint64_t absent;    /* PIPELINE_REMOVE: were not in; */
    uint64_t ambiguous; /* and: look in in several layers, and stay */
    uint64_t no_key;    /* lines without a key */
    double false_drops; /* with `counts_drops`: how many are expected */
};
const struct pipeline_counts *pipeline_counts(const struct pipeline *pipeline);

#endif
