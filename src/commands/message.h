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

__attribute__((format(printf, 1, 2))) void message_print(const char *format, ...);

static inline int message_trouble(int ignored)
{
    (void)ignored;
    return EXIT_TROUBLE;
}

/* One line. Each is an int, EXIT_TROUBLE, for `return message(...)`; see fault.h for why so. */
#define message(...) message_trouble((message_print(__VA_ARGS__), 0))
int message_fault(const struct fault *fault);

/* Flushes and checks standard output, for commands that print reports. Returns EXIT_OK, or says
 * what went wrong and returns EXIT_TROUBLE. */
int message_finish_output(void);

#endif
