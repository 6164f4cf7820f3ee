#include "system/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Errors whose way out is always the same. */
static const struct {
    int error;
    const char *way_out;
} ways_out[] = {
    {EMFILE, "to allow as many as the system does: ulimit -n $(ulimit -Hn)"},
    /* Only if standard input or output was closed from the start. */
    {EBADF, "it is closed; to read or print nothing: < /dev/null, > /dev/null"},
};

int fault_errno(struct fault *fault, const char *object, const char *doing, int error)
{
    fault_set(fault, object, "%s%s%s", doing != NULL ? doing : "", doing != NULL ? ": " : "",
              strerror(error));
    fault->error = error;
    fault->temporary = error == EAGAIN || error == ENOLCK;
    for (size_t i = 0; i < sizeof ways_out / sizeof *ways_out; i++)
        if (error == ways_out[i].error)
            fault_way_out(fault, "%s", ways_out[i].way_out);
    return -1;
}

int fault_set(struct fault *fault, const char *object, const char *reason, ...)
{
    va_list args;
    fault->error = 0;
    fault->temporary = false;
    fault->way_out[0] = '\0';
    fault->of = object;
    snprintf(fault->object, sizeof fault->object, "%s", object);
    va_start(args, reason);
    int length = vsnprintf(fault->reason, sizeof fault->reason, reason, args);
    va_end(args);
    if (length >= (int)sizeof fault->reason)
        strcpy(fault->reason + sizeof fault->reason - sizeof "...", "...");
    return -1;
}

int fault_way_out(struct fault *fault, const char *way, ...)
{
    va_list args;
    va_start(args, way);
    int length = vsnprintf(fault->way_out, sizeof fault->way_out, way, args);
    va_end(args);
    if (length >= (int)sizeof fault->way_out)
        fault->way_out[0] = '\0';
    return -1;
}

int fault_temporary(struct fault *fault)
{
    fault->temporary = true;
    return -1;
}
