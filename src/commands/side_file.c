#include "commands/side_file.h"

#include "commands/message.h"
#include "system/path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether two names, of which none need exist, are the same file, or would be. */
static bool same(const char *a, const char *b)
{
    return path_is_same(a, b) || path_is_same_name(a, b);
}

/* Whether a name leads to what a descriptor is open for, and lines would go to or come from both:
 * not a terminal, or /dev/null. */
static bool is_open_as(const char *name, int fd)
{
    struct stat status, open_file;
    return stat(name, &status) == 0 && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)) &&
           fstat(fd, &open_file) == 0 && path_same_file(&status, &open_file);
}

static bool is_input(const struct inputs *inputs, const char *name)
{
    for (const char **input = inputs->names; *input != NULL; input++)
        if (strcmp(*input, "-") == 0 ? is_open_as(name, STDIN_FILENO) : same(name, *input))
            return true;
    return false;
}

static bool is_output(const struct side_files *files, const char *name)
{
    if (files->output != NULL)
        return same(name, files->output);
    return !files->silent && is_open_as(name, STDOUT_FILENO);
}

static int something_else(const char *name, const char *what)
{
    return message(
        "%s: is the file for %s, and is used for something else, too (name another file)", name,
        what);
}

static int check_one(const struct side_files *files, enum option_id id, const char *what)
{
    const char *name = files->options->given[id];
    if (name == NULL)
        return 0;
    if ((files->filter != NULL && same(name, files->filter)) || is_input(files->inputs, name) ||
        is_output(files, name))
        return something_else(name, what);
    return 0;
}

static int check_dropped(const struct options *options)
{
    const char *dropped = options->given[OPTION_DROPPED];
    const char *pending = options->given[OPTION_PENDING];
    if (dropped != NULL && pending != NULL && same(dropped, pending))
        return message("%s: is the file of both --dropped and --pending (name another "
                       "file)",
                       dropped);
    return dropped != NULL ? inputs_check_target(dropped) : 0;
}

int side_file_check(const struct side_files *files)
{
    if (check_one(files, OPTION_PENDING, "pending keys") != 0 ||
        check_one(files, OPTION_DROPPED, "dropped lines") != 0 ||
        check_dropped(files->options) != 0)
        return EXIT_TROUBLE;
    return 0;
}

/* A link whose target was not there when names were compared leads somewhere now. */
int side_file_open_dropped(const struct options *options, char delimiter, struct output *dropped,
                           struct pipeline_plan *plan)
{
    struct fault fault;
    const char *name = options->given[OPTION_DROPPED];
    if (name == NULL)
        return 0;
    if (output_open(dropped, name, delimiter, &fault) != 0)
        return message_fault(&fault);
    const char *filter = store_path(filter_store(plan->filter));
    if ((filter != NULL && path_is_same(name, filter)) ||
        (plan->output != NULL && is_open_as(name, plan->output->fd))) {
        (void)output_close(dropped, &fault);
        return something_else(name, "dropped lines");
    }
    dropped->waits = message_waits;
    plan->dropped = dropped;
    return 0;
}

int side_file_close_dropped(struct pipeline_plan *plan, int status)
{
    struct fault fault;
    if (plan->dropped == NULL || output_close(plan->dropped, &fault) == 0)
        return status;
    return message_fault(&fault);
}
