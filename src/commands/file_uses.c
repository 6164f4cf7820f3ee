#include "commands/file_uses.h"

#include "commands/inputs.h"
#include "commands/message.h"
#include "filter/filter.h"
#include "filter/pending.h"
#include "io/output.h"
#include "system/path.h"
#include "text/quote.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file, and its status if it exists. */
struct file {
    enum file_use { FILTER, OUTPUT, TARGET, PENDING, INPUT } is;
    const char *role;
    const char *name;  /* NULL: standard output or input */
    const char *shown; /* in messages */
    bool exists;
    struct stat status;
};

static struct file file_of(enum file_use is, const char *role, const char *name)
{
    bool standard = name == NULL || (is == INPUT && inputs_is_standard(name));
    struct file file = {.is = is, .role = role, .name = standard ? NULL : name, .shown = name};
    int fd = is == INPUT ? STDIN_FILENO : STDOUT_FILENO;
    if (standard)
        file.shown = is == INPUT ? "standard input" : "standard output";
    file.exists = (standard ? fstat(fd, &file.status) : stat(name, &file.status)) == 0;
    return file;
}

/* Whether both are one regular file or FIFO; not a terminal, /dev/null, or two ends of a pipe from
 * the shell. If they do not exist, their names are compared. */
static bool is_same_file(const struct file *a, const struct file *b)
{
    bool opened_by_shell = a->is == OUTPUT && b->is == INPUT;
    if (a->name != NULL && b->name != NULL && path_is_same_name(a->name, b->name))
        return true;
    return a->exists && b->exists && path_same_file(&a->status, &b->status) &&
           (S_ISREG(a->status.st_mode) || (S_ISFIFO(a->status.st_mode) && !opened_by_shell));
}

static int refuse_both(const struct file *first, const struct file *second)
{
    const struct file *named = second->name != NULL ? second : first;
    bool filter = first->is == FILTER && second->is == OUTPUT;
    bool emptied = S_ISREG(second->status.st_mode) && second->status.st_size == 0 &&
                   (fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND) == 0;
    if (emptied && (filter || (first->is == OUTPUT && second->is == INPUT)))
        return message(
            "%s: used for both %s, and the shell has emptied it (restore it from a copy, "
            "and redirect the output elsewhere%s)",
            filter ? first->shown : second->shown,
            filter ? "FILTER and standard output" : "input and output",
            filter ? "" : ": > NEW && mv NEW FILE");
    if (first->is == FILTER && second->is == INPUT)
        return message("%s: used for both FILTER and input (FILTER comes first, then the files to "
                       "read)",
                       second->shown);
    return message("%s: used for both %s and %s (name another file)", named->shown, first->role,
                   second->role);
}

/* What a regular file holds; NULL: lines. */
static const char *content_of(const struct file *file)
{
    int fd = STDIN_FILENO;
    if (!file->exists || !S_ISREG(file->status.st_mode))
        return NULL;
    if (file->name != NULL)
        fd = open(file->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const char *kind = fd < 0              ? NULL
                       : filter_begins(fd) ? "a filter"
                       : pending_is(fd)    ? "a file of pending keys"
                                           : NULL;
    if (fd > STDIN_FILENO)
        close(fd);
    return kind;
}

int file_uses_check(const struct file_uses *uses)
{
    struct fault fault = FAULT_UNSET;
    struct file written[FILE_USES_TARGETS + 2];
    char quoted[QUOTE_MAX];
    size_t n = 0;
    /* 1. The files that are written to: the filter, standard output unless lines go to -a, and the
     * targets. A command that prints no lines may drop lines to standard output. */
    if (uses->filter != NULL)
        written[n++] = file_of(FILTER, "FILTER", uses->filter);
    if (uses->targets[0].name == NULL)
        written[n++] = file_of(OUTPUT, "output", NULL);
    for (const struct target *target = uses->targets; target < uses->targets + FILE_USES_TARGETS;
         target++)
        if (target->name != NULL)
            written[n++] = file_of(target->pending ? PENDING : TARGET, target->role, target->name);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if ((written[i].is != OUTPUT || uses->prints) && is_same_file(&written[i], &written[j]))
                return refuse_both(&written[i], &written[j]);
    /* 2. Lines are not written to what is no file of lines. Filters and files of pending keys are
     * checked when they are opened. */
    for (const struct file *target = written; target < written + n; target++) {
        const char *content = target->is == TARGET ? content_of(target) : NULL;
        if (content != NULL)
            return message("%s: is %s, not a file of lines (name another file)", target->name,
                           content);
        if (target->is == TARGET && output_check(target->name, &fault) != 0)
            return message_fault(&fault);
    }
    /* 3. They are not read from there, nor from what is written to. */
    for (const char **name = uses->inputs; name != NULL && *name != NULL; name++) {
        struct file input = file_of(INPUT, "input", *name);
        const char *content;
        for (size_t i = 0; i < n; i++)
            if (is_same_file(&written[i], &input))
                return refuse_both(&written[i], &input);
        if ((content = content_of(&input)) == NULL)
            continue;
        if (strcmp(content, "a filter") == 0)
            return message("%s: is a filter, not a file of lines (%s)", input.shown,
                           uses->filter == NULL && input.name != NULL
                               ? "all operands are files to read"
                               : "FILTER comes first, then the files to read");
        return message("%s: is %s, not a file of lines (to remember its lines: unseen commit "
                       "FILTER %s)",
                       input.shown, content,
                       input.name == NULL ? "FILE" : quote_file(input.name, quoted));
    }
    return 0;
}
