/*
 * message - everything that is said on standard error: "unseen: object: reason (way out)".
 */
#ifndef UNSEEN_COMMANDS_MESSAGE_H
#define UNSEEN_COMMANDS_MESSAGE_H

#include "system/fault.h"

enum exit_status {
    EXIT_OK = 0,
    EXIT_NOTHING = 1, /* nothing selected */
    EXIT_TROUBLE = 2,
    EXIT_COMMAND = 3, /* CMD of -x failed */
};

/* One line. Both return EXIT_TROUBLE, for `return message(...)`. */
__attribute__((format(printf, 1, 2))) int message(const char *format, ...);
int message_fault(const struct fault *fault);

/* A lock_waits (system/lock.h) for a file that lines are appended to: `name` is its name. */
void message_waits(void *name);

/* Flushes and checks standard output, for commands that print reports. Returns EXIT_OK, or says
 * what went wrong and returns EXIT_TROUBLE. */
int message_finish_output(void);

#endif
