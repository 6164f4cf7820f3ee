#include "commands/message.h"

#include "system/machine.h"
#include "system/path.h"
#include "system/signals.h"
#include "text/quote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Printed with one write(2), so that messages of several processes do not mix. Longer text than any
 * two file names is cut off. Only one thread of a process prints messages. */
int message(const char *format, ...)
{
    enum { LONGEST = 4 }; /* bytes that show one byte */
    static char text[10000], shown[LONGEST * sizeof text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    terminal_clear(STDERR_FILENO);
    fprintf(stderr, "unseen: %s\n", quote_controls(text, shown, sizeof shown));
    return EXIT_TROUBLE;
}

static unsigned temporary, permanent; /* numbers of faults */

int message_fault(const struct fault *fault)
{
    /* The signal that ends the process needs no message. */
    if (fault->error == EINTR && signals_arrived())
        return EXIT_TROUBLE;
    *(fault->temporary ? &temporary : &permanent) += 1;
    /* The same fault may also stop the cleaning up: one message is enough. */
    static struct fault last;
    bool again = strcmp(last.object, fault->object) == 0 && strcmp(last.reason, fault->reason) == 0;
    last = *fault;
    if (again)
        return EXIT_TROUBLE;
    char directory[PATH_MAX], quoted[QUOTE_MAX];
    path_directory(fault->object, directory);
    if (fault->error == EACCES && fault->way_out[0] == '\0' && access(directory, X_OK) != 0 &&
        errno == EACCES)
        return message("%s: %s (the directory %s cannot be entered)", fault->object, fault->reason,
                       quote_file(directory, quoted));
    if (fault->way_out[0] != '\0')
        return message("%s: %s (%s)", fault->object, fault->reason, fault->way_out);
    return message("%s: %s", fault->object, fault->reason);
}

int message_exit_status(int status)
{
    return status == EXIT_TROUBLE && temporary > 0 && permanent == 0 ? EXIT_AGAIN : status;
}

void message_waits(void *name, bool to_the_end)
{
    message("%s: waiting for another process that is using it%s", (const char *)name,
            to_the_end ? " (only SIGKILL ends this wait: delivered lines are remembered first)"
                       : "");
}

void message_map_failed(const char *name)
{
    const char *parts[] = {
        "unseen: ", name != NULL ? name : "a file in use",
        ": the mapped file failed: it was cut off, its disk is full, or its disk is broken (what "
        "was not yet remembered comes out again in the next run)\n"};
    terminal_clear(STDERR_FILENO);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        (void)!write(STDERR_FILENO, parts[i], strlen(parts[i]));
    _exit(EXIT_TROUBLE);
}

int message_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    struct fault fault = FAULT_UNSET;
    fault_errno(&fault, "standard output", NULL, errno);
    return message_fault(&fault);
}
