/*
 * inputs - FILE operands, or standard input: looked at before anything is made, then read in turn.
 */
#ifndef UNSEEN_COMMANDS_INPUTS_H
#define UNSEEN_COMMANDS_INPUTS_H

#include "commands/options.h"
#include "pipeline/pipeline.h"
#include "system/confine.h"

struct inputs {
    const char **names; /* NULL at the end; "-" is standard input */
    char delimiter;
    bool header; /* the first line of each is a heading */
    bool progress;
    uint64_t max_line;
    unsigned threads;            /* that may work on them */
    const struct command *asked; /* one whose FILTER stands before the names; else NULL */
};

/* The longest line allowed, by default or by --max-line. */
uint64_t inputs_max_line(const struct options *options);

/* Takes the operands from `first` on. */
void inputs_parse(struct inputs *inputs, const struct options *options, size_t first);

/* Before anything is made or changed: is an input a filter file (operands swapped), or the filter
 * or the output itself? `filter` and `output` are paths, or NULL; they need not exist, and with no
 * output path standard output is looked at. Returns 0, or EXIT_TROUBLE after a message. */
int inputs_check(const struct inputs *inputs, const char *filter, const char *output);

/* Whether each can be read, before anything is made for them. They are not opened: that would wait
 * for who writes to a FIFO. Returns 0, or EXIT_TROUBLE after a message. */
int inputs_check_readable(const struct inputs *inputs);

/* Whether lines can be written to a file, to which `name` may lead: not if it holds a filter or
 * pending keys. Returns 0, or EXIT_TROUBLE after a message. */
int inputs_check_target(const char *name);

/* For a command with inputs after FILTER: parses and checks them. Returns FILTER; NULL after a
 * message. */
const char *inputs_after_filter(struct inputs *inputs, const struct options *options);

/* Allows them to be read, all that are there by now. */
void inputs_allow(const struct inputs *inputs, struct confine *confine);

/* Reads one input. Returns 0 to go on with the next one, 1 if no more is wanted, -1 with the fault:
 * if that is of the input, the others go on. */
typedef int input_reader(void *context, struct input *input, struct fault *fault);

/* Opens one after the other for `reader`. An input that cannot be read is named, and the others go
 * on. Returns EXIT_OK or EXIT_TROUBLE, after messages; a signal ends it without one, and main
 * raises it again when all is cleaned up. */
int inputs_read(const struct inputs *inputs, input_reader *reader, void *context);

/* Reads them through a pipeline, whose plan gets the delimiter and threads of the inputs, and if
 * they have headings prints these unless it says otherwise. If most lines have no key, says so.
 * Returns as inputs_read. */
int inputs_run(const struct inputs *inputs, struct pipeline_plan *plan,
               struct pipeline_counts *counts);

#endif
