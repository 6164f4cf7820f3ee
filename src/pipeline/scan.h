/*
 * scan - the lines of inputs and their keys, batch by batch, for who asks no filter.
 */
#ifndef UNSEEN_PIPELINE_SCAN_H
#define UNSEEN_PIPELINE_SCAN_H

#include "io/collect.h"
#include "pipeline/batches.h"
#include "pipeline/pipeline.h"

struct scan {
    const struct recipe *recipe; /* that the keys are made by, */
    struct hashers hashers;      /* and with which hashes */
    struct collect *collect;     /* flushed where more lines may have to be waited for */
    /* Each function returns 0, or -1 with the fault, which ends the scan. */
    void *context;
    /* A header line, with its delimiter; may be NULL. */
    int (*header_line)(void *context, const char *line, size_t length, struct fault *fault);
    /* Some lines, at least one, none of them a header line. */
    int (*lines)(void *context, const struct batch *batch, struct fault *fault);
    struct pipeline_counts *counts; /* lines read, but for header lines, and those without a key */
    /* What is the same for all commands: */
    struct batches *batches; /* made with that recipe and these hashes */
    bool header;             /* the first line of each input is a header line, */
    bool begins;             /* and is next */
    void (*look)(void);      /* called after each chunk */
};

/* Reads an input to its end. Returns 0, or -1 with the fault. */
int scan_run(struct scan *scan, struct input *input, struct fault *fault);

#endif
