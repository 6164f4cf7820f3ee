/*
 * fault - what went wrong, on its way up to the command that says so.
 *
 * Lower floors never print. A function that can fail takes a struct fault and, if it fails, fills
 * in the object (most often a file's name), the reason and, where there is one, the way out; the
 * command prints "unseen: object: reason (way out)".
 */
#ifndef UNSEEN_SYSTEM_FAULT_H
#define UNSEEN_SYSTEM_FAULT_H

#include <stdbool.h>

struct fault {
    const char *of;   /* the object as it was handed in: to be compared, not read */
    char object[512]; /* its name, cut off if need be */
    char reason[256];
    char way_out[512];
    int error;    /* errno, or 0 if no system call is the cause */
    bool passing; /* the same run, tried again, may well succeed */
};

/* All return -1, so that a failing function can `return fault_...(...)`. */

/* The reason is the system's word for `error`, with what was being done before it, or NULL. Trouble
 * that the system itself expects to pass (EAGAIN, ENOLCK) is marked so; with some errors there is a
 * way out, which another one replaces. */
int fault_errno(struct fault *fault, const char *object, const char *doing, int error);

/* The reason is a format with its values. */
__attribute__((format(printf, 3, 4))) int fault_set(struct fault *fault, const char *object,
                                                    const char *reason, ...);

/* Adds the way out. One that is too long, as names can be, is left out: cut off, a command would be
 * another one. */
__attribute__((format(printf, 2, 3))) int fault_way_out(struct fault *fault, const char *way, ...);

/* Marks it as one that may pass. */
int fault_may_pass(struct fault *fault);

#endif
