#include "commands/names.h"

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
    const char *name; /* NULL: standard output or input */
    bool exists;
    struct stat status;
};

static struct file inspect(enum file_use is, const char *role, const char *name)
{
    bool standard = name == NULL || (is == INPUT && inputs_is_standard(name));
    struct file file = {.is = is, .role = role, .name = standard ? NULL : name};
    int fd = is == INPUT ? STDIN_FILENO : STDOUT_FILENO;
    file.exists = (standard ? fstat(fd, &file.status) : stat(name, &file.status)) == 0;
    return file;
}

static const char *shown(const struct file *file)
{
    if (file->name != NULL)
        return file->name;
    return file->is == INPUT ? "standard input" : "standard output";
}

/* Whether both are one regular file or FIFO; not a terminal, /dev/null, or two ends of a pipe from
 * the shell. If they do not exist, their names are compared. */
static bool is_same(const struct file *a, const struct file *b)
{
    bool opened_by_shell = a->is == OUTPUT && b->is == INPUT;
    if (a->name != NULL && b->name != NULL && path_is_same_name(a->name, b->name))
        return true;
    return a->exists && b->exists && path_same_file(&a->status, &b->status) &&
           (S_ISREG(a->status.st_mode) || (S_ISFIFO(a->status.st_mode) && !opened_by_shell));
}

static int is_both(const struct file *first, const struct file *second)
{
    const struct file *named = second->name != NULL ? second : first;
    if (first->is == FILTER && second->is == OUTPUT && second->status.st_size == 0)
        return message("%s: used for both FILTER and standard output, and the shell has emptied it "
                       "(restore it from a copy, and redirect the output elsewhere)",
                       shown(first));
    if (first->is == FILTER && second->is == INPUT)
        return message("%s: used for both FILTER and input (FILTER comes first, then the files to "
                       "read)",
                       shown(second));
    return message("%s: used for both %s and %s (name another file)", shown(named), first->role,
                   second->role);
}

/* What a regular file holds; NULL: lines. */
static const char *kind_of(const struct file *file)
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

static int check_input(const struct names *names, const struct file *input)
{
    char quoted[QUOTE_MAX];
    const char *kind = kind_of(input);
    if (kind == NULL)
        return 0;
    if (strcmp(kind, "a filter") != 0)
        return message("%s: is %s, not a file of lines (to remember its lines: unseen commit "
                       "FILTER %s)",
                       shown(input), kind,
                       input->name == NULL ? "FILE" : quote_file(input->name, quoted));
    return message("%s: is a filter, not a file of lines (%s)", shown(input),
                   names->filter == NULL && input->name != NULL
                       ? "all operands are files to read"
                       : "FILTER comes first, then the files to read");
}

/* Filters and files of pending keys are checked when they are opened. */
static int check_target(const struct file *target)
{
    struct fault fault = FAULT_UNSET;
    if (target->is != TARGET)
        return 0;
    const char *kind = kind_of(target);
    if (kind != NULL)
        return message("%s: is %s, not a file of lines (name another file)", target->name, kind);
    return output_check(target->name, &fault) == 0 ? 0 : message_fault(&fault);
}

/* The files that are written to: the filter, standard output unless lines go to -a, and the
 * targets. Returns how many. */
static size_t find_written(const struct names *names, struct file written[NAMES_TARGETS + 2])
{
    size_t n = 0;
    if (names->filter != NULL)
        written[n++] = inspect(FILTER, "FILTER", names->filter);
    if (names->targets[0].name == NULL)
        written[n++] = inspect(OUTPUT, "output", NULL);
    for (size_t i = 0; i < NAMES_TARGETS; i++) {
        const struct target *target = &names->targets[i];
        if (target->name != NULL)
            written[n++] = inspect(target->pending ? PENDING : TARGET, target->role, target->name);
    }
    return n;
}

int names_check(const struct names *names)
{
    struct file written[NAMES_TARGETS + 2];
    size_t n = find_written(names, written);
    /* A command that prints no lines may drop lines to standard output. */
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if ((written[i].is != OUTPUT || names->prints) && is_same(&written[i], &written[j]))
                return is_both(&written[i], &written[j]);
    for (size_t i = 0; i < n; i++)
        if (check_target(&written[i]) != 0)
            return EXIT_TROUBLE;
    for (const char **name = names->inputs; name != NULL && *name != NULL; name++) {
        struct file input = inspect(INPUT, "input", *name);
        for (size_t i = 0; i < n; i++)
            if (is_same(&written[i], &input))
                return is_both(&written[i], &input);
        if (check_input(names, &input) != 0)
            return EXIT_TROUBLE;
    }
    return 0;
}
