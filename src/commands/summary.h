/*
 * summary - what is said at the end of a run, on standard error: warnings, what --verbose says, and
 * the line of --summary, or its JSON.
 */
#ifndef UNSEEN_COMMANDS_SUMMARY_H
#define UNSEEN_COMMANDS_SUMMARY_H

#include "commands/options.h"
#include "pipeline/pipeline.h"

/* Before the run: the pipeline is to count what is wanted, and a signal must not end it without a
 * word. Returns 0, or EXIT_TROUBLE after a message. */
int summary_prepare(const struct options *options, struct pipeline_plan *plan);

/* After it. `done` is what became of the new lines: "printed", "added", "queued". */
void summary_tell(const struct options *options, const struct store *store,
                  const struct pipeline_counts *counts, const char *done);

#endif
