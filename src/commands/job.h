/*
 * job - runs a command that reads lines, or keys of lines, from its first check to its exit status.
 *
 * All such commands take the same steps: check the operands, and that no file is used twice; open
 * or make FILTER; open outputs; give up rights; read lines; close outputs; print the summary. The
 * differences are in struct steps.
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
    struct output output; /* standard output, -a, or CMD */
    struct child child;   /* -x */
    struct output tee, dropped;
    struct pipeline_plan plan; /* has the filter; its output is one of these, or set by `open` */
    struct filter *repeats;    /* that of plan.repeats */
    struct scan scan;          /* used instead if `check` sets scan.lines */
    struct recipe recipe;      /* of the scan: from the options, or set by `check` */
    struct pipeline_counts counts;
    const char *queue; /* the filter whose queue is written to, or NULL */
    struct shard_files *shards;
};

/* Each may be NULL, and returns 0, or EXIT_TROUBLE after a message, unless noted. */
struct steps {
    enum pipeline_verb verb;       /* `check` may set another */
    int (*check)(struct job *job); /* before anything is opened or made */
    int (*open)(struct job *job);  /* after the filter is open, before the outputs are */
    int (*read)(struct job *job);  /* instead of the pipeline or the scan */
    /* CMD exited with 0, and left so many lines unread. */
    int (*done)(struct job *job, uint64_t left);
    /* CMD failed, as the fault says. Returns the exit status. */
    int (*failed)(struct job *job, struct fault *fault);
    /* All outputs are closed, and `status` is the status so far. Returns the exit status. */
    int (*finish)(struct job *job, int status);
    /* For --summary: "printed", "dropped", the words for selected and other lines. NULL: no
     * summary. */
    const char *selected, *seen;
};

/* Fills in, runs and closes `job`, which may be the first member of a larger struct. Returns the
 * exit status. */
int job_run(struct job *job, const struct options *options, const struct steps *steps);

#endif
