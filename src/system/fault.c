#include "system/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fault_errno(struct fault *fault, const char *object, const char *doing, int error)
{
    fault_set(fault, object, "%s%s%s", doing != NULL ? doing : "", doing != NULL ? ": " : "",
              strerror(error));
    fault->error = error;
    fault->passing = error == EAGAIN || error == ENOLCK;
    return -1;
}

int fault_set(struct fault *fault, const char *object, const char *reason, ...)
{
    va_list args;
    fault->error = 0;
    fault->passing = false;
    fault->way_out[0] = '\0';
    fault->of = object;
    snprintf(fault->object, sizeof fault->object, "%s", object);
    va_start(args, reason);
    vsnprintf(fault->reason, sizeof fault->reason, reason, args);
    va_end(args);
    return -1;
}

int fault_way_out(struct fault *fault, const char *way, ...)
{
    va_list args;
    va_start(args, way);
    vsnprintf(fault->way_out, sizeof fault->way_out, way, args);
    va_end(args);
    return -1;
}

int fault_may_pass(struct fault *fault)
{
    fault->passing = true;
    return -1;
}
