/*
 * inputs - reads the FILE operands, or standard input, one after the other.
 */
#ifndef UNSEEN_COMMANDS_INPUTS_H
#define UNSEEN_COMMANDS_INPUTS_H

#include "commands/options.h"
#include "core/rows.h"
#include "io/input.h"

struct inputs {
    const char **names;    /* NULL at the end; "-" is standard input */
    struct line_ends ends; /* of lines; of rows when the recipe is known */
    bool header;           /* the first line of each is a header line */
    bool all_or_none;      /* a fault of one input ends the run */
    uint64_t max_line;
    unsigned threads; /* that share the work */
    const struct options *options;
    const char *jq; /* makes lines of an input that begins as other JSON does; NULL: none does */
    /* Of the input that is open: */
    int fd;
    const char *shown; /* its name in messages, and the `of` of its faults */
    bool has_returns;  /* it is one line, with carriage returns */
    bool ends_nul;     /* it is one line, which ends with NUL */
};

/* Takes the operands from `first` on. */
void inputs_parse(struct inputs *inputs, const struct options *options, size_t first);

/* Whether it is "-". */
bool inputs_is_standard(const char *name);

/* Checks that all inputs can be read, before anything is made for them. Does not open them, because
 * opening a FIFO waits for its writer. Returns 0, or EXIT_TROUBLE after a message. */
int inputs_check_readable(const struct inputs *inputs);

/* The command that makes lines of a regular file that is compressed or UTF-16; or NULL. Costs a
 * read of its first bytes. */
const char *inputs_reader(const char *path);

/* Opens an input, one at a time. Unless lines end with NUL, it will be refused when it turns out to
 * be no text. Returns NULL with the fault. */
struct input *inputs_open(struct inputs *inputs, const char *name, struct fault *fault);

/* Closes the input, also one that could not be opened (NULL). `sound`: it was read without a fault,
 * so tells if it was such a line. */
void inputs_close(struct inputs *inputs, struct input *input, bool sound);

#endif
