/*
 * message - all messages on standard error: "unseen: object: reason (way out)".
 */
#ifndef UNSEEN_COMMANDS_MESSAGE_H
#define UNSEEN_COMMANDS_MESSAGE_H

#include "system/fault.h"

enum exit_status {
    EXIT_OK = 0,
    EXIT_NOTHING = 1,      /* nothing selected */
    EXIT_TROUBLE = 2,      /* 2 or greater is an error */
    EXIT_COMMAND = 3,      /* CMD of -x failed */
    EXIT_AGAIN = 75,       /* a temporary error: the same command may succeed later */
    EXIT_CANNOT_RUN = 126, /* CMD exists, but cannot be run */
    EXIT_NOT_FOUND = 127,  /* CMD was not found */
};

/* Print one line. Both return EXIT_TROUBLE, for `return message(...)`. Only faults, not messages,
 * count for message_exit_status. */
__attribute__((format(printf, 1, 2))) int message(const char *format, ...);
int message_fault(const struct fault *fault);

/* The exit status of the process: EXIT_AGAIN if `status` is EXIT_TROUBLE and all faults may pass,
 * else `status`. */
int message_exit_status(int status);

/* A lock_waits (system/lock.h); `name` is the file. */
void message_waits(void *name, bool to_the_end);

/* A map_failed (system/map.h). */
void message_map_failed(const char *name);

/* Flushes and checks standard output. Returns EXIT_OK, or EXIT_TROUBLE after a message. */
int message_finish_output(void);

#endif
