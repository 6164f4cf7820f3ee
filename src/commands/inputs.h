/*
 * inputs - FILE operands, or standard input: looked at before anything is made, then read in turn.
 */
#ifndef UNSEEN_COMMANDS_INPUTS_H
#define UNSEEN_COMMANDS_INPUTS_H

#include "commands/options.h"
#include "pipeline/pipeline.h"
#include "pipeline/scan.h"

struct inputs {
    const char **names; /* NULL at the end; "-" is standard input */
    char delimiter;
    bool header; /* the first line of each is a header line */
    bool progress;
    uint64_t max_line;
    unsigned threads;            /* that may work on them */
    const struct command *asked; /* one whose FILTER stands before the names; else NULL */
};

/* Takes the operands from `first` on. */
void inputs_parse(struct inputs *inputs, const struct options *options, size_t first);

/* Whether it is "-". */
bool inputs_is_standard(const char *name);

/* Whether each can be read, before anything is made for them. They are not opened: that would wait
 * for who writes to a FIFO. Returns 0, or EXIT_TROUBLE after a message. */
int inputs_check_readable(const struct inputs *inputs);

/* Reads one after the other through a pipeline, whose plan gets the delimiter and threads of the
 * inputs, and if they have header lines prints these unless it says otherwise. If most lines have
 * no key, says so. An input that cannot be read is named, and the others go on. Returns EXIT_OK or
 * EXIT_TROUBLE, after messages; a signal ends it without one, and main raises it again when all is
 * cleaned up. */
int inputs_run(const struct inputs *inputs, struct pipeline_plan *plan,
               struct pipeline_counts *counts);

/* Likewise without a filter, through a scan, whose last members are filled in here. */
int inputs_scan(const struct inputs *inputs, struct scan *scan);

#endif
