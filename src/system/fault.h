/*
 * fault - describes an error, for the command that reports it.
 *
 * Only commands print. A function that can fail takes a struct fault and fills it in if it fails:
 * the object (usually a file's name), the reason and, if there is one, the way out. The command
 * prints "unseen: object: reason (way out)".
 */
#ifndef UNSEEN_SYSTEM_FAULT_H
#define UNSEEN_SYSTEM_FAULT_H

#include <stdbool.h>

struct fault {
    const char *of;    /* the caller's pointer to the object: to be compared, not read */
    char object[512];  /* its name, truncated if it is too long */
    char reason[1024]; /* ends in "..." if it is truncated */
    char way_out[512];
    int error;      /* errno, or 0 if no system call failed */
    bool temporary; /* the same run may succeed if it is retried */
};

/* How a fault begins that may be printed. A function that fails without filling it in is a defect,
 * which then is told as one, in place of what was on the stack. */
#define FAULT_UNSET                                                                                \
    {                                                                                              \
        .object = "internal error", .reason = "a step failed without a reason"                     \
    }

/* All return -1, so that a failing function can `return fault_...(...)`. */

/* Sets the reason to the system's text for `error`, after `doing` (what failed) unless that is
 * NULL. EAGAIN and ENOLCK are marked as temporary. Some errors have a way out, which fault_way_out
 * can replace. */
int fault_errno(struct fault *fault, const char *object, const char *doing, int error);

__attribute__((format(printf, 3, 4))) int fault_set(struct fault *fault, const char *object,
                                                    const char *reason, ...);

/* Sets the way out. It is left out if it is too long, because a truncated command would be another
 * command. */
__attribute__((format(printf, 2, 3))) int fault_way_out(struct fault *fault, const char *way, ...);

int fault_temporary(struct fault *fault);

#endif
