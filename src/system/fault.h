/*
 * fault - what went wrong, on its way up to the command that says so.
 *
 * Lower floors never print. A function that can fail takes a struct fault and, if it fails, fills
 * in the object (most often a file's name), the reason and, where there is one, the way out; the
 * command prints "unseen: object: reason (way out)".
 */
#ifndef UNSEEN_SYSTEM_FAULT_H
#define UNSEEN_SYSTEM_FAULT_H

struct fault {
    const char *of;   /* the object as it was handed in: to be compared, not read */
    char object[512]; /* its name, cut off if need be */
    char reason[256];
    char way_out[256];
    int error; /* errno, or 0 if no system call is the cause */
};

void fault_fill_errno(struct fault *fault, const char *object, const char *doing, int error);
__attribute__((format(printf, 3, 4))) void fault_fill(struct fault *fault, const char *object,
                                                      const char *reason, ...);
__attribute__((format(printf, 2, 3))) void fault_fill_way_out(struct fault *fault, const char *way,
                                                              ...);

static inline int fault_failed(int ignored)
{
    (void)ignored;
    return -1;
}

/* Each is an int, -1, so that a failing function can `return fault_...(...)`; written so that those
 * who read only one file at a time, as static analysers do, see that.
 *
 * fault_errno(fault, object, doing, error): the reason is the system's word for `error`, with what
 * was being done before it, or NULL. */
#define fault_errno(fault, object, doing, error)                                                   \
    fault_failed((fault_fill_errno(fault, object, doing, error), 0))

/* fault_set(fault, object, reason, ...): the reason is a format with its values. */
#define fault_set(fault, object, ...) fault_failed((fault_fill(fault, object, __VA_ARGS__), 0))

/* fault_way_out(fault, way, ...): adds the way out. */
#define fault_way_out(fault, ...) fault_failed((fault_fill_way_out(fault, __VA_ARGS__), 0))

#endif
