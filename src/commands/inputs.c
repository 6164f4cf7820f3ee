#include "commands/inputs.h"

#include "commands/command.h"
#include "commands/message.h"
#include "commands/progress.h"
#include "commands/warnings.h"
#include "format/key_file.h"
#include "system/signals.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINE = 1 << 30 }; /* the default */

static const char *standard_input[] = {"-", NULL};

void inputs_parse(struct inputs *inputs, const struct options *options, size_t first)
{
    bool none = first >= options->operand_count;
    *inputs = (struct inputs){
        .names = none ? standard_input : options->operands + first,
        .delimiter = options->zero_terminated ? '\0' : '\n',
        .header = options->header,
        .max_line = options->max_line != 0 ? options->max_line : MAX_LINE,
        .threads = options->threads != 0 ? (unsigned)options->threads : batches_threads(),
        .options = options,
    };
}

bool inputs_is_standard(const char *name)
{
    return strcmp(name, "-") == 0;
}

static const char standard_name[] = "standard input";

static const char *shown_name(const char *name)
{
    return inputs_is_standard(name) ? standard_name : name;
}

/* `unseen seen.bf stats` reads a file called stats, which usually does not exist. A file that was
 * made after the start may be readable for the user, but not for this process
 * (system/confine.h). */
static int cannot_open(const struct inputs *inputs, const char *name, struct fault *fault)
{
    char word[QUOTE_MAX], filter[QUOTE_MAX];
    const struct command *command = command_find(name), *asked = inputs->options->asked;
    bool after_filter = (asked->bit & (FOR_QUERY | FOR_ADD | FOR_PUSH | FOR_REMOVE)) != 0;
    fault_errno(fault, shown_name(name), NULL, errno);
    if (fault->error == ENOENT && command != NULL)
        fault_way_out(fault, "a command comes first: %s", command->synopsis);
    else if (fault->error == ENOENT && after_filter && inputs->delimiter == '\n')
        fault_way_out(fault, "if that is a line: printf '%%s\\n' %s | unseen %s %s",
                      quote_word(name, word), asked->name, quote_file(inputs->names[-1], filter));
    if (fault->error == EACCES && access(name, R_OK) == 0)
        fault_way_out(fault, "if it was made or replaced during this run: run unseen again");
    return -1;
}

static int check_readable(const struct inputs *inputs, const char *name)
{
    struct fault fault = FAULT_UNSET;
    struct stat status;
    bool standard = inputs_is_standard(name);
    bool there = standard ? fstat(STDIN_FILENO, &status) == 0
                          : stat(name, &status) == 0 && access(name, R_OK) == 0;
    /* A closed standard input was replaced by a write-only descriptor (main.c). */
    bool closed = standard && (fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY;
    if (there && !closed && !S_ISDIR(status.st_mode))
        return 0;
    errno = closed ? EBADF : there ? EISDIR : errno;
    (void)cannot_open(inputs, name, &fault);
    return message_fault(&fault);
}

int inputs_check_readable(const struct inputs *inputs)
{
    for (const char **name = inputs->names; *name != NULL; name++)
        if (check_readable(inputs, *name) != 0)
            return EXIT_TROUBLE;
    return 0;
}

/* --- input that is no text --- */

/* What begins with these bytes, of which ? is any of 1 to 9, and what makes lines of it. No magic
 * has a newline: with the first line, all of it is there. */
static const struct kind {
    const char *magic;
    size_t length;
    const char *name, *reader, *standard_reader; /* NULL: the same of standard input */
} kinds[] = {
#define BYTES(text) (text), sizeof(text) - 1
    {BYTES("\x1f\x8b\x08"), "gzip data", "zcat", NULL},
    {BYTES("\x28\xb5\x2f\xfd"), "zstd data", "zstdcat", NULL},
    {BYTES("\3757zXZ\0"), "xz data", "xzcat", NULL},
    {BYTES("BZh?1AY&SY"), "bzip2 data", "bzcat", NULL},
    {BYTES("BZh?\x17\x72\x45\x38\x50\x90"), "bzip2 data", "bzcat", NULL},
    {BYTES("PK\3\4"), "a zip archive", "unzip -p", "funzip"},
    {BYTES("\x04\x22\x4d\x18"), "lz4 data", "lz4cat", NULL},
    {BYTES("\xff\xfe\0\0"), "UTF-32", "iconv -f UTF-32 -t UTF-8", NULL},
    {BYTES("\0\0\xfe\xff"), "UTF-32", "iconv -f UTF-32 -t UTF-8", NULL},
    {BYTES("\xff\xfe"), "UTF-16", "iconv -f UTF-16 -t UTF-8", NULL},
    {BYTES("\xfe\xff"), "UTF-16", "iconv -f UTF-16 -t UTF-8", NULL},
#undef BYTES
};

static bool is_kind(const struct kind *kind, const struct chunk *chunk)
{
    size_t i = 0;
    while (i < kind->length && i < chunk->length &&
           (kind->magic[i] == '?' ? chunk->bytes[i] >= '1' && chunk->bytes[i] <= '9'
                                  : chunk->bytes[i] == kind->magic[i]))
        i++;
    return i == kind->length;
}

/* Sets the way out: this command, after `reader`, which makes lines of the input. */
static int suggest_reader(const struct inputs *inputs, const char *reader, const char *name,
                          struct fault *fault)
{
    const struct options *options = inputs->options;
    bool standard = inputs_is_standard(name);
    char quoted[QUOTE_MAX], *command;
    command = options_command(options, inputs->names == standard_input
                                           ? options->operand_count
                                           : (size_t)(inputs->names - options->operands));
    if (command != NULL)
        fault_way_out(fault, "%s%s%s | %s", reader, standard ? "" : " ",
                      standard ? "" : quote_file(name, quoted), command);
    free(command);
    return -1;
}

struct judging {
    const struct inputs *inputs;
    const char *name;
    bool has_returns; /* it is one line with carriage returns */
};

static int judge_text(void *context, const struct input *input, const struct chunk *first,
                      struct fault *fault)
{
    struct judging *judging = context;
    const char *shown = input_name(input), *end = first->bytes + first->length, *one;
    uint8_t head[KEY_FILE_BYTES] = {0};
    struct key_file_head keys;
    for (const struct kind *kind = kinds; kind < kinds + sizeof kinds / sizeof *kinds; kind++) {
        if (!is_kind(kind, first))
            continue;
        bool special = kind->standard_reader != NULL && inputs_is_standard(judging->name);
        fault_set(fault, shown, "%s", kind->name);
        return suggest_reader(judging->inputs, special ? kind->standard_reader : kind->reader,
                              judging->name, fault);
    }
    memcpy(head, first->bytes, first->length < sizeof head ? first->length : sizeof head);
    if (header_is_filter(head)) {
        fault_set(fault, shown, "is a filter, not a file of lines");
        return fault_way_out(fault, "FILTER comes first, then the files to read");
    }
    if (key_file_decode(head, sizeof head, &keys) != KEY_FILE_OTHER) {
        fault_set(fault, shown, "is a file of pending keys, not a file of lines");
        return fault_way_out(fault, "to remember its lines: unseen commit FILTER FILE");
    }
    /* If the last newline was added, this is all of the input. */
    judging->has_returns = input_bytes(input) < first->length &&
                           (one = memchr(first->bytes, '\r', first->length)) != NULL &&
                           memchr(one + 1, '\r', (size_t)(end - one - 1)) != NULL;
    return 0;
}

/* Reads one input. Returns 0 to continue with the next, 1 to stop, -1 with the fault; if the fault
 * is of the input itself, the next input is read. */
typedef int input_reader(void *context, struct input *input, struct fault *fault);

static int read_one(const struct inputs *inputs, const char *name, input_reader *reader,
                    void *context, struct fault *fault)
{
    int fd = inputs_is_standard(name) ? STDIN_FILENO : signals_open(name, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return cannot_open(inputs, name, fault);
    struct input *input = input_new(fd, shown_name(name), inputs->delimiter, INPUT_BYTES,
                                    (size_t)inputs->max_line);
    struct judging judging = {inputs, name, false};
    if (input != NULL && inputs->delimiter == '\n')
        input_set_judge(input, judge_text, &judging);
    progress_input(input);
    int result = input != NULL ? reader(context, input, fault)
                               : fault_errno(fault, shown_name(name), NULL, ENOMEM);
    progress_input(NULL);
    input_free(input);
    if (judging.has_returns && result >= 0) {
        const char *changer = fd != STDIN_FILENO ? "tr '\\r' '\\n' <" : "tr '\\r' '\\n'";
        fault_set(fault, shown_name(name), "one line, with carriage returns and no newline");
        suggest_reader(inputs, changer, name, fault);
        message_fault(fault);
    }
    if (fd != STDIN_FILENO)
        close(fd);
    return result;
}

static int read_all(const struct inputs *inputs, input_reader *reader, void *context)
{
    int status = EXIT_OK, result = 0;
    for (const char **name = inputs->names; *name != NULL; name++) {
        struct fault fault = FAULT_UNSET;
        result = read_one(inputs, *name, reader, context, &fault);
        if (result < 0)
            status = signals_arrived() ? EXIT_TROUBLE : message_fault(&fault);
        /* A fault of the input itself ends only this input. */
        if (result > 0 || (result < 0 && (signals_arrived() || inputs->all_or_none ||
                                          fault.of != shown_name(*name))))
            break;
    }
    progress_end();
    return status;
}

/* --- through a pipeline --- */

struct run {
    const struct inputs *inputs;
    const struct pipeline_plan *plan;
    struct pipeline *pipeline;
};

/* The disk of the output or the filter is full. Running the same command with > FILE would truncate
 * lines that are printed and remembered. */
static void suggest_rest(const struct pipeline_plan *plan, struct fault *fault)
{
    bool settles = plan->verb == PIPELINE_NEW || plan->verb == PIPELINE_TAG_NEW ||
                   plan->verb == PIPELINE_ADD || plan->verb == PIPELINE_REMOVE;
    if ((fault->error != ENOSPC && fault->error != EDQUOT) || fault->way_out[0] != '\0' ||
        !settles || plan->pending != NULL || plan->may_close || filter_path(plan->filter) == NULL)
        return;
    if (plan->output != NULL && plan->output->fd == STDOUT_FILENO)
        fault_way_out(fault,
                      "%s lines are remembered; free some space, then get the rest with the same "
                      "input and %s",
                      plan->tee != NULL ? "printed and appended" : "printed",
                      plan->tee != NULL || plan->verb == PIPELINE_TAG_NEW ? ">> FILE" : "-a FILE");
    else
        fault_way_out(fault, "free some space, and run it again with the same input");
}

static void suggest_shard(const struct run *run, const char *input, struct fault *fault)
{
    char quoted[QUOTE_MAX], file[QUOTE_MAX] = "";
    const struct filter *filter = run->plan->filter;
    struct shard shard = filter_header(filter)->shard;
    if (input != standard_name)
        quote_file(input, file);
    fault_way_out(fault,
                  "is this the right host, and was the list split by the same key? to select its "
                  "lines: unseen shard %" PRIu32 "/%" PRIu32 " --like %s%s%s%s%s",
                  shard.number, shard.count, quote_file(filter_path(filter), quoted),
                  run->inputs->delimiter == '\0' ? " -z" : "",
                  run->inputs->header ? " --header" : "", file[0] != '\0' ? " " : "", file);
}

static int run_pipeline(void *context, struct input *input, struct fault *fault)
{
    const struct run *run = context;
    int result = pipeline_run(run->pipeline, input, fault);
    if (result < 0 && pipeline_met_other_shard(run->pipeline))
        suggest_shard(run, input_name(input), fault);
    else if (result < 0)
        suggest_rest(run->plan, fault);
    return result;
}

/* The word for the lines that a verb selects, in the progress line. */
static const char *const selected_words[] = {
    [PIPELINE_NEW] = "new",        [PIPELINE_ADD] = "new",  [PIPELINE_REPEATED] = "repeated",
    [PIPELINE_QUERY] = "selected", [PIPELINE_TAG] = "seen", [PIPELINE_TAG_NEW] = "new",
    [PIPELINE_REMOVE] = "removed",
};

int inputs_run(const struct inputs *inputs, struct pipeline_plan *plan,
               struct pipeline_counts *counts)
{
    struct fault fault = FAULT_UNSET;
    plan->delimiter = inputs->delimiter;
    plan->threads = inputs->threads;
    plan->after_chunk = progress_update;
    plan->header = inputs->header;
    *counts = (struct pipeline_counts){.read = 0};
    struct pipeline *pipeline = pipeline_new(plan);
    if (pipeline == NULL)
        return message("%s", strerror(ENOMEM));
    const struct pipeline_counts *now = pipeline_counts(pipeline);
    if (inputs->options->progress)
        progress_begin(inputs->names, &now->read, &now->selected, selected_words[plan->verb]);
    int status = read_all(inputs, run_pipeline, &(struct run){inputs, plan, pipeline});
    if (plan->durable && pipeline_settle(pipeline, &fault) != 0)
        status = message_fault(&fault);
    *counts = *now;
    pipeline_free(pipeline);
    const struct filter *filter = plan->filter;
    warn_of_no_key(&filter_header(filter)->recipe, filter_name(filter), counts);
    return status;
}

/* --- commands without a filter --- */

static int scan_input(void *context, struct input *input, struct fault *fault)
{
    return scan_run(context, input, fault);
}

int inputs_scan(const struct inputs *inputs, struct scan *scan, struct output *output)
{
    scan->header = inputs->header;
    scan->after_chunk = progress_update;
    scan->collect = collect_new(output);
    scan->batches = batches_new(inputs->delimiter, scan->recipe, scan->hashers, inputs->threads);
    bool ready = scan->collect != NULL && scan->batches != NULL;
    if (ready && inputs->options->progress)
        progress_begin(inputs->names, &scan->counts->read, NULL, NULL);
    int status = ready ? read_all(inputs, scan_input, scan) : message("%s", strerror(ENOMEM));
    batches_free(scan->batches);
    collect_free(scan->collect);
    return status;
}
