/*
 * scan - the lines of the inputs, batch by batch, for a command that has no filter.
 */
#ifndef UNSEEN_COMMANDS_SCAN_H
#define UNSEEN_COMMANDS_SCAN_H

#include "commands/inputs.h"
#include "pipeline/batches.h"

/* Each function returns 0, or -1 with the fault, which ends the scan. */
struct scan {
    const struct inputs *inputs;
    const struct recipe *recipe; /* that the keys are made by, */
    struct hashers hashers;      /* and with which hashes */
    void *context;
    /* A heading, with its delimiter; may be NULL. */
    int (*heading)(void *context, const char *line, size_t length, struct fault *fault);
    /* Some lines, at least one, none of them a heading. */
    int (*lines)(void *context, const struct batch *batch, struct fault *fault);
    /* All that has arrived was handed over, and more may have to be waited for; may be NULL. */
    int (*pause)(void *context, struct fault *fault);
};

/* Returns as inputs_read. */
int scan_inputs(const struct scan *scan);

#endif
