/*
 * message - everything that is said on standard error: "unseen: object: reason (way out)".
 */
#ifndef UNSEEN_COMMANDS_MESSAGE_H
#define UNSEEN_COMMANDS_MESSAGE_H

#include "system/fault.h"

enum exit_status {
    EXIT_OK = 0,
    EXIT_NOTHING = 1,      /* nothing selected */
    EXIT_TROUBLE = 2,      /* this, and all that is higher */
    EXIT_COMMAND = 3,      /* CMD of -x failed */
    EXIT_AGAIN = 75,       /* trouble that may pass: the same command may succeed later */
    EXIT_CANNOT_RUN = 126, /* CMD was found, and cannot be run */
    EXIT_NOT_FOUND = 127,  /* CMD was not found */
};

/* One line. Both return EXIT_TROUBLE, for `return message(...)`. Where a fault that may pass can be
 * said as well, trouble is a fault, too: message_exit_status does not count messages. */
__attribute__((format(printf, 1, 2))) int message(const char *format, ...);
int message_fault(const struct fault *fault);

/* The status that the process exits with: `status`, or EXIT_AGAIN if that is EXIT_TROUBLE and every
 * fault that was said may pass. */
int message_exit_status(int status);

/* A lock_waits (system/lock.h) for the file of that name. */
void message_waits(void *name, bool to_the_end);

/* Flushes and checks standard output, for commands that print reports. Returns EXIT_OK, or says
 * what went wrong and returns EXIT_TROUBLE. */
int message_finish_output(void);

#endif
