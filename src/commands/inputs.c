#include "commands/inputs.h"

#include "commands/command.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/progress.h"
#include "commands/wish_recipe.h"
#include "core/quote.h"
#include "filter/create.h"
#include "filter/pending.h"
#include "system/path.h"
#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const standard_input[] = {"-", NULL};

/* As many as processors that this process may run on, but no more than have work to do. */
static unsigned default_threads(void)
{
    enum { USEFUL = 2 };
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set) < USEFUL ? 1 : USEFUL;
}

uint64_t inputs_max_line(const struct options *options)
{
    return options_whole(options, OPTION_MAX_LINE, 1024 * 1024 * 1024);
}

void inputs_parse(struct inputs *inputs, const struct options *options, size_t first)
{
    *inputs = (struct inputs){
        .names = options->operands + first,
        .delimiter = options_has(options, OPTION_ZERO_TERMINATED) ? '\0' : '\n',
        .header = options_has(options, OPTION_HEADER),
        .progress = options_has(options, OPTION_PROGRESS),
        .max_line = inputs_max_line(options),
        .threads = (unsigned)options_whole(options, OPTION_THREADS, default_threads()),
        .asked = (options->asked->bit & (FOR_QUERY | FOR_ADD | FOR_PUSH | FOR_REMOVE)) != 0
                     ? options->asked
                     : NULL,
    };
    if (first >= options->operand_count)
        inputs->names = (const char **)standard_input;
}

static bool is_standard(const char *name)
{
    return strcmp(name, "-") == 0;
}

static const char standard_name[] = "standard input";

static const char *shown_name(const char *name)
{
    return is_standard(name) ? standard_name : name;
}

static bool is_filter(const char *name)
{
    return is_standard(name) ? store_begins(STDIN_FILENO) : create_is_filter(name);
}

/* Of a regular file. */
static bool is_pending(const char *name)
{
    int fd = is_standard(name) ? STDIN_FILENO : open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool is = fd >= 0 && pending_is(fd);
    if (fd > STDIN_FILENO)
        close(fd);
    return is;
}

/* Whether `path`, if there is one, leads to that file. */
static bool leads_to(const char *path, const struct stat *file)
{
    struct stat status;
    return path != NULL && stat(path, &status) == 0 && path_same_file(&status, file);
}

static int check_one(const char *name, const char *filter, const struct stat *output,
                     bool output_is_file)
{
    struct stat status;
    char quoted[QUOTE_MAX];
    bool named = filter != NULL && !is_standard(name) && path_is_same_name(filter, name);
    /* What cannot be read is said when its turn comes. */
    bool there = (is_standard(name) ? fstat(STDIN_FILENO, &status) : stat(name, &status)) == 0;
    bool regular = there && S_ISREG(status.st_mode);
    if (name[0] == '\0')
        return message("'': an empty name is not a FILE (is a variable empty?)");
    if (!named && there && output_is_file && path_same_file(&status, output))
        return message("%s: is both input and output (name another file)", shown_name(name));
    if (named || (regular && leads_to(filter, &status)))
        return message("%s: is both FILTER and input (FILTER comes first, then the files to "
                       "read)",
                       shown_name(name));
    if (regular && is_filter(name))
        return message("%s: is a filter, not a list of lines (%s)", shown_name(name),
                       filter == NULL && !is_standard(name)
                           ? "name files with lines" /* all operands are inputs */
                           : "FILTER comes first, then the files to read");
    if (regular && is_pending(name))
        return message("%s: is a file of pending keys, not a list of lines (to remember its "
                       "lines: unseen commit FILTER %s)",
                       shown_name(name), is_standard(name) ? "FILE" : quote_file(name, quoted));
    return 0;
}

static int is_output_too(const char *filter, const char *output, const struct stat *status)
{
    if (output == NULL && status->st_size == 0)
        return message("%s: is both FILTER and standard output, and the shell has emptied it "
                       "(restore it from a copy, and send the output elsewhere)",
                       filter);
    return message("%s: is both FILTER and output (name another file)",
                   output != NULL ? output : "standard output");
}

int inputs_check_target(const char *name)
{
    struct fault fault;
    struct stat status;
    bool regular = stat(name, &status) == 0 && S_ISREG(status.st_mode);
    const char *what = !regular           ? NULL
                       : is_filter(name)  ? "a filter"
                       : is_pending(name) ? "a file of pending keys"
                                          : NULL;
    if (what != NULL)
        return message("%s: is %s, and no file for lines (name another file)", name, what);
    return output_check(name, &fault) == 0 ? 0 : message_fault(&fault);
}

int inputs_check(const struct inputs *inputs, const char *filter, const char *output)
{
    struct stat status;
    bool there = output != NULL ? stat(output, &status) == 0 : fstat(STDOUT_FILENO, &status) == 0;
    bool regular = there && S_ISREG(status.st_mode);
    /* By a FIFO, lines that were printed would come back as input. */
    bool output_is_file = regular || (there && output != NULL && S_ISFIFO(status.st_mode));
    bool named = filter != NULL && output != NULL && path_is_same_name(filter, output);
    if (named || (regular && leads_to(filter, &status)))
        return is_output_too(filter, output, &status);
    if (output != NULL && inputs_check_target(output) != 0)
        return EXIT_TROUBLE;
    for (const char **name = inputs->names; *name != NULL; name++)
        if (check_one(*name, filter, &status, output_is_file) != 0)
            return EXIT_TROUBLE;
    return 0;
}

/* `unseen seen.bf stats` reads a file of that name; there is most often none. And to what has come
 * since the start only the user has the right, this process has not (system/confine.h); nor has it
 * to what a sandbox around it denies. */
static int cannot_open(const struct inputs *inputs, const char *name, struct fault *fault)
{
    char word[QUOTE_MAX], filter[QUOTE_MAX];
    const struct command *command = command_find(name);
    fault_errno(fault, name, NULL, errno);
    if (fault->error == ENOENT && command != NULL)
        fault_way_out(fault, "a command comes first: %s", command->synopsis);
    else if (fault->error == ENOENT && inputs->asked != NULL && inputs->delimiter == '\n')
        fault_way_out(fault, "if that is a line: printf '%%s\\n' %s | unseen %s %s",
                      quote_word(name, word), inputs->asked->name,
                      quote_file(inputs->names[-1], filter));
    if (fault->error == EACCES && access(name, R_OK) == 0)
        fault_way_out(fault, "if it was made or replaced during this run: run unseen again");
    return -1;
}

static int check_readable(const struct inputs *inputs, const char *name)
{
    struct fault fault;
    struct stat status;
    bool standard = is_standard(name);
    bool there = standard ? fstat(STDIN_FILENO, &status) == 0
                          : stat(name, &status) == 0 && access(name, R_OK) == 0;
    if (there && !S_ISDIR(status.st_mode))
        return 0;
    if (standard || there)
        fault_errno(&fault, standard ? "standard input" : name, NULL, there ? EISDIR : errno);
    else
        cannot_open(inputs, name, &fault);
    return message_fault(&fault);
}

int inputs_check_readable(const struct inputs *inputs)
{
    for (const char **name = inputs->names; *name != NULL; name++)
        if (check_readable(inputs, *name) != 0)
            return EXIT_TROUBLE;
    return 0;
}

const char *inputs_after_filter(struct inputs *inputs, const struct options *options)
{
    const char *path = filter_operand(options);
    inputs_parse(inputs, options, 1);
    return path != NULL && inputs_check(inputs, path, NULL) == 0 ? path : NULL;
}

void inputs_allow(const struct inputs *inputs, struct confine *confine)
{
    for (const char **name = inputs->names; *name != NULL; name++)
        if (!is_standard(*name))
            confine_allow(confine, *name, CONFINE_READ);
}

static int read_one(const struct inputs *inputs, const char *name, input_reader *reader,
                    void *context, struct fault *fault)
{
    int fd = is_standard(name) ? STDIN_FILENO : signals_open(name, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return cannot_open(inputs, name, fault);
    struct input *input = input_new(fd, shown_name(name), inputs->delimiter, INPUT_BYTES,
                                    (size_t)inputs->max_line);
    progress_input(input);
    int result = input != NULL ? reader(context, input, fault)
                               : fault_errno(fault, shown_name(name), NULL, ENOMEM);
    progress_input(NULL);
    input_free(input);
    if (fd != STDIN_FILENO)
        close(fd);
    return result;
}

static int read_all(const struct inputs *inputs, input_reader *reader, void *context)
{
    int status = EXIT_OK;
    for (const char **name = inputs->names; *name != NULL; name++) {
        struct fault fault;
        int result = read_one(inputs, *name, reader, context, &fault);
        if (result < 0 && signals_pending())
            return EXIT_TROUBLE;
        if (result < 0)
            status = message_fault(&fault);
        /* With a fault of its own only this input ends. */
        if (result > 0 || (result < 0 && fault.of != shown_name(*name)))
            break;
    }
    return status;
}

int inputs_read(const struct inputs *inputs, input_reader *reader, void *context)
{
    if (inputs->progress)
        progress_begin(inputs->names);
    int status = read_all(inputs, reader, context);
    progress_end();
    return status;
}

struct run {
    const struct inputs *inputs;
    const struct pipeline_plan *plan;
    struct pipeline *pipeline;
};

/* No room for what was to be written, to the output or the filter. The same command line may have
 * > FILE, which would cut off what is printed and remembered. */
static void suggest_rest(const struct pipeline_plan *plan, struct fault *fault)
{
    bool settles = plan->verb == PIPELINE_NEW || plan->verb == PIPELINE_ADD ||
                   plan->verb == PIPELINE_REMOVE;
    if ((fault->error != ENOSPC && fault->error != EDQUOT) || fault->way_out[0] != '\0' ||
        !settles || plan->pending != NULL || plan->may_close ||
        store_path(filter_store(plan->filter)) == NULL)
        return;
    if (plan->output != NULL && plan->output->fd == STDOUT_FILENO)
        fault_way_out(fault, "what was printed is remembered; make room, and get the rest with the "
                             "same input and -a FILE");
    else
        fault_way_out(fault, "make room, and run it again with the same input");
}

/* It may be the wrong host, or a list that was not split yet. */
static void suggest_shard(const struct run *run, const char *input, struct fault *fault)
{
    char filter[QUOTE_MAX], file[QUOTE_MAX] = "";
    const struct store *store = filter_store(run->plan->filter);
    struct shard shard = store_header(store)->shard;
    if (input != standard_name)
        quote_file(input, file);
    fault_way_out(fault,
                  "is this the right host, and was the list split by the same recipe? to pick its "
                  "lines: unseen shard %" PRIu32 "/%" PRIu32 " --like %s%s%s%s%s",
                  shard.part, shard.parts, quote_file(store_path(store), filter),
                  run->inputs->delimiter == '\0' ? " -z" : "",
                  run->inputs->header ? " --header" : "", file[0] != '\0' ? " " : "", file);
}

static int run_pipeline(void *context, struct input *input, struct fault *fault)
{
    const struct run *run = context;
    int result = pipeline_run(run->pipeline, input, fault);
    if (result < 0 && pipeline_met_other_part(run->pipeline))
        suggest_shard(run, input_name(input), fault);
    else if (result < 0)
        suggest_rest(run->plan, fault);
    return result;
}

/* What the lines that a verb selects are. */
static const char *const selected_words[] = {
    [PIPELINE_NEW] = "new",        [PIPELINE_ADD] = "new",  [PIPELINE_REPEATED] = "repeated",
    [PIPELINE_QUERY] = "selected", [PIPELINE_TAG] = "seen", [PIPELINE_REMOVE] = "removed",
};

int inputs_run(const struct inputs *inputs, struct pipeline_plan *plan,
               struct pipeline_counts *counts)
{
    struct fault fault;
    plan->delimiter = inputs->delimiter;
    plan->threads = inputs->threads;
    plan->look = progress_look;
    if (!inputs->header)
        plan->heading = HEADING_COUNTS;
    else if (plan->heading == HEADING_COUNTS)
        plan->heading = HEADING_PRINTED;
    *counts = (struct pipeline_counts){.read = 0};
    struct pipeline *pipeline = pipeline_new(plan);
    if (pipeline == NULL)
        return message("%s", strerror(ENOMEM));
    progress_count(&pipeline_counts(pipeline)->read, &pipeline_counts(pipeline)->selected,
                   selected_words[plan->verb]);
    int status = inputs_read(inputs, run_pipeline, &(struct run){inputs, plan, pipeline});
    if (plan->durable && pipeline_settle(pipeline, &fault) != 0)
        status = message_fault(&fault);
    *counts = *pipeline_counts(pipeline);
    pipeline_free(pipeline);
    const struct store *store = filter_store(plan->filter);
    wish_recipe_warn(&store_header(store)->recipe, store_name(store), counts->read, counts->itself);
    return status;
}
