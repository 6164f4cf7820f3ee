/*
 * inputs - reads the FILE operands, or standard input, one after the other.
 */
#ifndef UNSEEN_COMMANDS_INPUTS_H
#define UNSEEN_COMMANDS_INPUTS_H

#include "commands/options.h"
#include "pipeline/pipeline.h"
#include "pipeline/scan.h"

struct inputs {
    const char **names; /* NULL at the end; "-" is standard input */
    char delimiter;
    bool header;      /* the first line of each is a header line */
    bool all_or_none; /* a fault of one input ends the run */
    uint64_t max_line;
    unsigned threads; /* that share the work */
    const struct options *options;
};

/* Takes the operands from `first` on. */
void inputs_parse(struct inputs *inputs, const struct options *options, size_t first);

/* Whether it is "-". */
bool inputs_is_standard(const char *name);

/* Checks that all inputs can be read, before anything is made for them. Does not open them, because
 * opening a FIFO waits for its writer. Returns 0, or EXIT_TROUBLE after a message. */
int inputs_check_readable(const struct inputs *inputs);

/* Reads the inputs through a pipeline, whose plan gets their delimiter, threads and `header`. Warns
 * if most lines have no key. Skips an input that cannot be read, after a message. Returns EXIT_OK
 * or EXIT_TROUBLE; a signal ends it without a message, and main raises the signal again after
 * cleaning up. */
int inputs_run(const struct inputs *inputs, struct pipeline_plan *plan,
               struct pipeline_counts *counts);

/* The same without a filter, through a scan: sets its last members, and its buffer before an
 * output. */
int inputs_scan(const struct inputs *inputs, struct scan *scan, struct output *output);

#endif
