/*
 * job - a command that takes lines, or keys of lines, from its first check to its exit status.
 *
 * All of them go the same way: operands; whether no file is two things; FILTER opened, or made;
 * outputs opened; all that is no longer needed given up; lines read; outputs closed; the summary.
 * What is different is said by its steps.
 */
#ifndef UNSEEN_COMMANDS_JOB_H
#define UNSEEN_COMMANDS_JOB_H

#include "commands/inputs.h"
#include "commands/names.h"
#include "io/child.h"
#include "io/shard_files.h"

struct job {
    const struct options *options;
    const char *path; /* FILTER; NULL: none, or in memory */
    struct inputs inputs;
    struct names names;
    struct output output; /* standard output, what -a names, or CMD */
    struct child child;   /* -x */
    struct output dropped;
    struct pipeline_plan plan; /* with the filter; its output is one of these, unless `open` says */
    struct scan scan;          /* in its place, if `check` says what to do with lines */
    struct pipeline_counts counts;
    const char *queue; /* the filter whose queue is written to; NULL: none is */
    struct shard_files *shards;
};

/* Each may be NULL, and returns 0, or EXIT_TROUBLE after a message. */
struct steps {
    int (*check)(struct job *job); /* before anything is opened or made */
    int (*open)(struct job *job);  /* the filter is open, but no output: what it takes */
    int (*read)(struct job *job);  /* instead of the plan's pipeline, or the scan */
    /* CMD has exited with 0, and left so many lines unread. */
    int (*done)(struct job *job, uint64_t left);
    /* CMD has failed, as the fault says. Returns the exit status. */
    int (*failed)(struct job *job, struct fault *fault);
    /* All outputs are closed; `status` is how it went until now. Returns the exit status. */
    int (*finish)(struct job *job, int status);
    /* For --summary, what the lines selected are, and the others: "printed", "dropped". NULL: no
     * summary. */
    const char *selected, *seen;
};

/* Returns the exit status. `job` need not be filled in; it may be the first member of a larger
 * struct. It is closed at the end. */
int job_run(struct job *job, const struct options *options, const struct steps *steps);

#endif
