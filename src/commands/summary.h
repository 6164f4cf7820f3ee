/*
 * summary - what --summary says at the end of a run, on standard error: a line, or a JSON object.
 */
#ifndef UNSEEN_COMMANDS_SUMMARY_H
#define UNSEEN_COMMANDS_SUMMARY_H

#include "commands/options.h"
#include "pipeline/pipeline.h"

/* Before the run, if there will be a summary: the pipeline, if there is one, is to count what is
 * wanted, and a signal must not end it without a word. */
void summary_prepare(const struct options *options, struct pipeline_plan *plan);

/* After it: warnings, and the summary. `done` is what became of the new lines: "printed", "added",
 * "queued". */
void summary_tell(const struct options *options, const struct store *store,
                  const struct pipeline_counts *counts, const char *done);

/* A number, the words around it, and its name in JSON. */
struct summary_number {
    const char *member, *before, *after;
    double value;
};

/* The summary of a command, if one is wanted; numbers up to one without a member. `path` is that of
 * the filter; NULL: in memory. */
void summary_numbers(const struct options *options, const char *path,
                     const struct summary_number *numbers);

/* The same of something else: which kind of thing, and which one. */
void summary_numbers_of(const struct options *options, const char *kind, const char *name,
                        const struct summary_number *numbers);

#endif
