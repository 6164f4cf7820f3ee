#include "commands/message.h"

#include "core/quote.h"
#include "system/signals.h"
#include "system/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Put together first, so that it is one write(2) and lines of several processes do not mix. */
static void say(const char *text)
{
    enum { LONGEST = 4 }; /* what a byte can become */
    char room[8192];
    size_t size = LONGEST * strlen(text) + LONGEST + 1;
    char *larger = size > sizeof room ? malloc(size) : NULL;
    const char *shown = larger != NULL ? quote_controls(text, larger, size)
                                       : quote_controls(text, room, sizeof room);
    terminal_make_way(STDERR_FILENO);
    fprintf(stderr, "unseen: %s\n", shown);
    free(larger);
}

int message(const char *format, ...)
{
    char room[2048], *larger = NULL;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(room, sizeof room, format, args);
    if (length >= (int)sizeof room)
        larger = malloc((size_t)length + 1);
    if (larger != NULL)
        vsnprintf(larger, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    say(larger != NULL ? larger : room);
    free(larger);
    return EXIT_TROUBLE;
}

static unsigned passing, lasting; /* faults */

int message_fault(const struct fault *fault)
{
    /* The signal that ends the program says it all. */
    if (fault->error == EINTR && signals_pending())
        return EXIT_TROUBLE;
    *(fault->passing ? &passing : &lasting) += 1;
    /* What stopped a run can stop its end as well; once is enough. */
    static struct fault last;
    bool again = strcmp(last.object, fault->object) == 0 && strcmp(last.reason, fault->reason) == 0;
    last = *fault;
    if (again)
        return EXIT_TROUBLE;
    if (fault->way_out[0] != '\0')
        return message("%s: %s (%s)", fault->object, fault->reason, fault->way_out);
    return message("%s: %s", fault->object, fault->reason);
}

int message_exit_status(int status)
{
    return status == EXIT_TROUBLE && passing > 0 && lasting == 0 ? EXIT_AGAIN : status;
}

int message_not_run(int error)
{
    switch (error) {
    case ENOENT:
        return EXIT_NOT_FOUND;
    case EAGAIN: /* of ours: too many processes, or not enough of something else */
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case 0:
        return EXIT_TROUBLE;
    default:
        return EXIT_CANNOT_RUN;
    }
}

void message_waits(void *name, bool to_the_end)
{
    message("%s: waiting for another process that uses it%s", (const char *)name,
            to_the_end ? " (only SIGKILL ends this wait: what was delivered is remembered first)"
                       : "");
}

int message_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    struct fault fault;
    fault_errno(&fault, "standard output", NULL, errno);
    return message_fault(&fault);
}
