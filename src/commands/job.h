/*
 * job - what commands that read lines, or keys of lines, have in common.
 *
 * Such a command reads from top to bottom: job_parse takes the values of the options; job_open and
 * job_start acquire what is needed; job_read runs; job_end ends; job_close releases. In between a
 * command does what only it does. All but job_close return EXIT_OK, or EXIT_TROUBLE after a
 * message, unless noted.
 */
#ifndef UNSEEN_COMMANDS_JOB_H
#define UNSEEN_COMMANDS_JOB_H

#include "commands/figures.h"
#include "commands/file_uses.h"
#include "commands/inputs.h"
#include "io/child.h"
#include "io/shard_files.h"
#include "pipeline/pipeline.h"

struct job {
    const struct options *options;
    const char *path; /* FILTER; NULL: none, or in memory */
    struct inputs inputs;
    struct file_uses uses;
    struct output output; /* standard output, -a, or CMD */
    struct child child;   /* -x */
    struct output tee, dropped;
    struct pipeline_plan plan; /* has the filter; its output is one of these, or the command's */
    struct filter *repeats;    /* that of plan.repeats */
    struct recipe recipe;      /* from the options, for PIPELINE_TAKE */
    struct header_lines header_lines;
    struct pipeline_counts counts;
    const char *queue; /* the filter whose queue is written to, or NULL */
    struct shard_files *shards;
};

/* Fills in a job from the options, with the plan of its pipeline. Acquires nothing, so a command
 * may return after this. The verb is PIPELINE_TAKE if the operands are only files. */
int job_parse(struct job *job, const struct options *options);

/* Checks that no file is used twice, and opens or makes FILTER. */
int job_open(struct job *job);

/* Opens the outputs, holds keys back if they are settled late, gives up rights. */
int job_start(struct job *job);

/* Passes all inputs through the pipeline, after a message not one that cannot be read. A signal
 * ends it without a message, and main raises the signal again after cleaning up. */
int job_read(struct job *job);

/* Waits for CMD of -x. Returns as child_finish; *status, the exit status so far, is changed only if
 * CMD could not be run. After CHILD_DONE a signal changes only the exit status, and only if it came
 * before the end of the input, as *status tells: otherwise the caller calls signals_forget. */
enum child_end job_wait(struct job *job, int *status, uint64_t *left, struct fault *fault);

/* After CHILD_DONE, with the number of lines that CMD has taken: tells if it read none of them, as
 * a command does that expects arguments. */
void job_tell_unread(const struct job *job, uint64_t lines);

/* Closes the outputs that job_start has opened, but CMD. Returns `status`, the one so far, or
 * EXIT_TROUBLE after a message. */
int job_end(struct job *job, int status);

/* For commands that write to FILTER: warns of its state, and prints the summary with these words
 * for selected and other lines. */
void job_summarize(const struct job *job, const char *selected, const char *others);

/* Says at its end that lines of a run have no key, if it shows or the options may be wrong. */
void job_warn_of_no_key(const struct job *job);

/* Figures of --summary, TOLD_LINES of them, about lines without a key, rows of several lines and
 * header lines; in text only if there can be any. */
struct told_lines {
    char keyless[64], several[256], first[3][24];
    struct figure rows[7];
};
void job_tell_lines(const struct job *job, struct told_lines *told);

#define TOLD_KEYLESS(told) (told).rows[0], (told).rows[1], (told).rows[2], (told).rows[3]
#define TOLD_LINES(told) TOLD_KEYLESS(told), (told).rows[4], (told).rows[5], (told).rows[6]

/* Releases the filters and what belongs to them. */
void job_close(struct job *job);

#endif
