/* scan - passes the lines of inputs and their keys, in batches, to a command without a filter. */
#ifndef UNSEEN_PIPELINE_SCAN_H
#define UNSEEN_PIPELINE_SCAN_H

#include "io/collect.h"
#include "pipeline/batches.h"
#include "pipeline/pipeline.h"

struct scan {
    const struct recipe *recipe;
    struct hashers hashers;
    struct collect *collect; /* flushed before input may have to be waited for */
    /* Both functions return 0, or -1 with the fault, which ends the scan. */
    void *context;
    /* Gets a batch with a header line; may be NULL. */
    int (*header_line)(void *context, const struct batch *batch, const char *input,
                       struct fault *fault);
    /* Gets at least one line, and no header line. */
    int (*lines)(void *context, const struct batch *batch, struct fault *fault);
    struct pipeline_counts *counts; /* only `read`, without header lines, and `no_key...` */
    /* Set for all commands in the same way: */
    struct batches *batches;   /* with that recipe and these hashers */
    bool header;               /* the first line of each input is a header line */
    void (*after_chunk)(void); /* called after each chunk */
};

/* Reads an input to its end. Returns 0, or -1 with the fault. */
int scan_run(struct scan *scan, struct input *input, struct fault *fault);

#endif
