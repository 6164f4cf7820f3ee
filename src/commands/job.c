#include "commands/job.h"

#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/key_options.h"
#include "commands/message.h"
#include "commands/progress.h"
#include "filter/survey.h"
#include "queue/queue.h"
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- values --- */

/* Commands that print lines to standard output by default. */
enum { PRINTERS = FOR_FILTER | FOR_QUERY | FOR_KEY | FOR_SHARD | FOR_POP };

/* Bytes of a row of CSV, unless --max-line is given: a quote that is not closed takes no more. */
enum { MAX_ROW = 16 << 20 };

enum { OUTPUTS = 3 }; /* the output, the tee, the file of dropped lines */

int job_parse(struct job *job, const struct options *options)
{
    unsigned bit = options->asked->bit;
    enum operand_kind operands = options->asked->operands;
    bool in_memory = bit == FOR_FILTER && options->operand_count == 0;
    *job = (struct job){.options = options};
    if (operands != OPERANDS_FILES && !in_memory) {
        job->path = filter_operand(options);
        if (job->path == NULL)
            return EXIT_TROUBLE;
    }
    inputs_parse(&job->inputs, options, job->path != NULL || bit == FOR_SHARD ? 1 : 0);
    for (const char **name = job->inputs.names; *name != NULL; name++)
        if (**name == '\0')
            return message("'': empty name for FILE (is a variable empty?)");
    if (operands == OPERANDS_FILES && key_options_apply(options, &job->recipe) != 0)
        return EXIT_TROUBLE;
    if (operands == OPERANDS_FILES || in_memory)
        key_options_tell_names(options);
    job->plan = (struct pipeline_plan){
        .verb = operands == OPERANDS_FILES ? PIPELINE_TAKE : PIPELINE_NEW,
        .counts = &job->counts,
        .header_lines = &job->header_lines,
        .threads = job->inputs.threads,
        .most = options_has(options, OPTION_max_count) ? options->max_count : UINT64_MAX,
        .durable = options->durable,
        .counts_drops = options->summary && (bit & FOR_WRITERS) != 0,
        .after_chunk = progress_update,
        .recipe = &job->recipe,
        .context = job,
    };
    job->uses = (struct file_uses){
        .filter = job->path,
        .inputs = operands == OPERANDS_FILTER ? NULL : job->inputs.names,
        .prints = (bit & PRINTERS) != 0 && options->append == NULL && options->files == NULL,
        .targets = {{options->spelled[OPTION_append], options->append, false},
                    {"--tee", options->tee, false},
                    {"--dropped", options->dropped, false},
                    {"--pending", options->pending, true}},
    };
    return EXIT_OK;
}

static const struct recipe *recipe_of(const struct job *job)
{
    return job->plan.filter != NULL ? &filter_header(job->plan.filter)->recipe : &job->recipe;
}

/* --- acquire --- */

/* Makes a filter in memory, and its writer. Returns 0, or EXIT_TROUBLE after a message. */
static int open_in_memory(const struct options *options, struct filter **filter,
                          struct writer **writer)
{
    struct header header;
    struct fault fault = FAULT_UNSET;
    if (filter_spec_header(options, &header) != 0)
        return EXIT_TROUBLE;
    header.plan.staged = false;
    *filter = filter_memory(&header, &filter_operand_watch, &fault);
    *writer = *filter != NULL ? writer_new(*filter, &fault) : NULL;
    return *writer != NULL ? 0 : message_fault(&fault);
}

int job_open(struct job *job)
{
    const struct options *options = job->options;
    struct pipeline_plan *plan = &job->plan;
    struct fault fault = FAULT_UNSET;
    struct stat status;
    char filter[QUOTE_MAX], file[QUOTE_MAX];
    bool reads = options->asked->bit == FOR_QUERY;
    bool opens = options->asked->operands == OPERANDS_FILTER_FILES;
    bool is_made = opens && options->create && !options->failed && access(job->path, F_OK) != 0;

    /* 1. No file twice. If another run has claimed the pending file, nothing may be changed. */
    if (file_uses_check(&job->uses) != 0)
        return EXIT_TROUBLE;
    if (options->pending != NULL) {
        plan->pending = pending_claim(options->pending, &fault);
        if (plan->pending == NULL)
            return message_fault(&fault);
    }

    /* 2. The filter: none is made if the inputs are missing. With --pending an existing one is only
     * read. */
    if (is_made && inputs_check_readable(&job->inputs) != 0)
        return EXIT_TROUBLE;
    /* A list that is appended to has lines that a new filter would not know. With -a that is only
     * told, because the filter may lie on a tmpfs, and the job must go on. */
    const char *list = options->tee != NULL ? options->tee : options->append;
    if (is_made && list != NULL && stat(list, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0) {
        bool goes_on = options->tee == NULL;
        char *words = goes_on ? NULL : options_words(options, FOR_CREATE);
        message("%s: has lines that %s %s: unseen add%s%s%s%s %s %s)", list, job->path,
                goes_on ? "does not know, and which may come again (to add them"
                        : "would not know (first",
                goes_on ? "" : " --create", words != NULL ? words : "",
                options->zero_terminated ? " -z" : "", options->header ? " --header" : "",
                quote_file(job->path, filter), quote_file(list, file));
        free(words);
        if (!goes_on)
            return EXIT_TROUBLE;
    }
    if (opens && job->path != NULL) {
        plan->filter = filter_operand_open(job->path, options, !reads && plan->pending == NULL,
                                           reads ? NULL : &plan->writer);
        if (plan->filter == NULL)
            return EXIT_TROUBLE;
    } else if (opens && open_in_memory(options, &plan->filter, &plan->writer) != 0) {
        return EXIT_TROUBLE;
    }
    if (options->repeated && open_in_memory(options, &job->repeats, &plan->repeats) != 0)
        return EXIT_TROUBLE;

    /* 3. What the recipe says about the inputs. */
    const struct recipe *recipe = recipe_of(job);
    if (recipe->syntax == SYNTAX_JSONL && job->inputs.header)
        return message("--header: lines of JSON have no header line (leave it out)");
    job->inputs.header |= recipe_has_column_names(recipe);
    plan->header = job->inputs.header;
    plan->ends = recipe_line_ends(recipe, job->inputs.ends.delimiter);
    job->inputs.ends = plan->ends;
    if (plan->ends.rows && plan->ends.separator == plan->ends.delimiter)
        return message("-z: NUL cannot end rows and separate their fields, too");
    if (plan->ends.rows && options->max_line == 0)
        job->inputs.max_line = MAX_ROW;
    return EXIT_OK;
}

/* Last, because it makes files; but before keys are in flight, because it may wait for the reader
 * of a FIFO. Returns 0, or EXIT_TROUBLE after a message. */
static int open_outputs(struct job *job)
{
    const struct options *options = job->options;
    struct pipeline_plan *plan = &job->plan;
    struct fault fault = FAULT_UNSET;
    struct line_ends ends = plan->ends;
    const struct {
        struct output *output;
        const char *name;
    } appended[OUTPUTS] = {{&job->output, options->append},
                           {&job->tee, options->tee},
                           {&job->dropped, options->dropped}};
    if (job->uses.prints || options->append != NULL)
        plan->output = &job->output;
    if (options->tee != NULL)
        plan->tee = &job->tee;
    if (options->dropped != NULL)
        plan->dropped = &job->dropped;
    if (options->exec != NULL)
        job->output = child_output(&job->child, options->exec, ends, job->inputs.header);
    else if (job->uses.prints)
        job->output = output_standard(ends);
    for (size_t i = 0; i < OUTPUTS; i++)
        if (appended[i].name != NULL &&
            output_open(appended[i].output, appended[i].name, ends, &fault) != 0)
            return message_fault(&fault);
    job->output.waits = job->tee.waits = job->dropped.waits = message_waits;
    /* A file to append to must not end within a row. If it has lines, all inputs must have its
     * columns. */
    const struct output *headed[OUTPUTS] = {plan->output, plan->tee, plan->dropped};
    const char *line;
    size_t length;
    job->header_lines.recipe = recipe_of(job);
    for (size_t i = 0; i < OUTPUTS; i++)
        if (appended[i].name != NULL && output_check_rows(appended[i].output, &fault) != 0)
            return message_fault(&fault);
    for (size_t i = 0; i < OUTPUTS && job->inputs.header; i++)
        if (headed[i] != NULL &&
            header_lines_begin(&job->header_lines, headed[i], &line, &length, &fault) != 0)
            return message_fault(&fault);
    job->tee.to_the_end = true; /* its lines were printed already */
    /* A link that was dangling when names were compared may lead to a file now. */
    bool named = options->append != NULL || options->tee != NULL || options->dropped != NULL ||
                 options->pending != NULL;
    return named ? file_uses_check(&job->uses) : 0;
}

int job_start(struct job *job)
{
    const struct options *options = job->options;
    struct pipeline_plan *plan = &job->plan;
    struct fault fault = FAULT_UNSET;
    struct confine confine;
    unsigned bit = options->asked->bit;
    char filter[QUOTE_MAX], keys[QUOTE_MAX];
    if (open_outputs(job) != 0)
        return EXIT_TROUBLE;

    /* 1. Hold keys if lines are remembered only by `commit`, after CMD has ended, or when the
     * output is on disk. */
    plan->settles_later = plan->writer != NULL &&
                          (options->exec != NULL || plan->pending != NULL || options->durable);
    if (plan->pending != NULL) {
        if (pending_begin(plan->pending, plan->writer, &fault) != 0)
            return message_fault(&fault);
        /* If an earlier run of the task ended well, its lines are printed again. */
        uint64_t expected = writer_expected(plan->writer);
        if (expected > 0)
            message("%s: this task was run before; printing its %" PRIu64 " %s again (for another "
                    "input, once the output of that run is safe: unseen commit %s %s && rm %s)",
                    options->pending, expected, number_lines(expected),
                    quote_file(job->path, filter), quote_file(options->pending, keys), keys);
    } else if (plan->settles_later && writer_hold(plan->writer, plan->durable, &fault) != 0) {
        return message_fault(&fault);
    }

    /* 2. Give up rights that are no longer needed; not with -x, because CMD would inherit that. */
    if (options->exec != NULL)
        return EXIT_OK;
    confine_begin(&confine);
    for (const char **name = job->inputs.names; *name != NULL; name++)
        if (!inputs_is_standard(*name) || bit == FOR_COMMIT)
            confine_allow(&confine, *name, CONFINE_OPEN);
    if (plan->writer != NULL)
        writer_allow(plan->writer, (bit & (FOR_ADD | FOR_COMMIT | FOR_REMOVE)) == 0, &confine);
    if (plan->pending != NULL)
        confine_allow_place(&confine, pending_target(plan->pending), CONFINE_RENAME);
    if (job->queue != NULL)
        queue_allow(job->queue, true, &confine);
    if (job->shards != NULL)
        shard_files_allow(job->shards, &confine);
    return confine_end(&confine, &fault) == 0 ? EXIT_OK : message_fault(&fault);
}

/* --- run --- */

/* The way out of a fault of pipeline_run, whose result this is. */
static void suggest_next(const struct job *job, int result, struct fault *fault)
{
    const struct pipeline_plan *plan = &job->plan;
    char quoted[QUOTE_MAX], file[QUOTE_MAX] = "";
    if (result == PIPELINE_OTHER_SHARD) {
        struct shard shard = filter_header(plan->filter)->shard;
        if (job->inputs.fd != STDIN_FILENO)
            quote_file(job->inputs.shown, file);
        fault_way_out(fault,
                      "is this the right host, and was the list split by the same key? to select "
                      "its lines: unseen shard %" PRIu32 "/%" PRIu32 " --like %s%s%s%s%s",
                      shard.number, shard.count, quote_file(filter_path(plan->filter), quoted),
                      plan->ends.delimiter == '\0' ? " -z" : "", plan->header ? " --header" : "",
                      file[0] != '\0' ? " " : "", file);
        return;
    }
    /* The disk of the output or the filter is full. Running the same command with > FILE would
     * truncate lines that are printed and remembered. */
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

/* The word for the lines that a verb selects, in the progress line. */
static const char *const selected_words[] = {
    [PIPELINE_NEW] = "new",        [PIPELINE_ADD] = "new",  [PIPELINE_REPEATED] = "repeated",
    [PIPELINE_QUERY] = "selected", [PIPELINE_TAG] = "seen", [PIPELINE_TAG_NEW] = "new",
    [PIPELINE_REMOVE] = "removed", [PIPELINE_TAKE] = NULL,
};

int job_read(struct job *job)
{
    struct inputs *inputs = &job->inputs;
    int status = EXIT_OK;
    bool ends = false;
    struct pipeline *pipeline = pipeline_new(&job->plan);
    if (pipeline == NULL)
        return message("%s", strerror(ENOMEM));
    if (job->options->progress)
        progress_begin(inputs->names, &job->counts.read, &job->counts.selected,
                       selected_words[job->plan.verb]);
    for (const char **name = inputs->names; *name != NULL && !ends; name++) {
        struct fault fault = FAULT_UNSET;
        struct input *input = inputs_open(inputs, *name, &fault);
        progress_input(input);
        int result = input != NULL ? pipeline_run(pipeline, input, &fault) : -1;
        progress_input(NULL);
        inputs_close(inputs, input, result >= 0);
        if (result < 0) {
            suggest_next(job, result, &fault);
            status = signals_arrived() ? EXIT_TROUBLE : message_fault(&fault);
        }
        /* A fault of the input itself ends only this input. */
        ends = result > 0 || (result < 0 && (signals_arrived() || inputs->all_or_none ||
                                             fault.of != inputs->shown));
    }
    progress_end();
    struct fault fault = FAULT_UNSET;
    if (job->plan.durable && pipeline_settle(pipeline, true, &fault) != 0)
        status = message_fault(&fault);
    pipeline_free(pipeline);
    if (job->plan.filter != NULL)
        job_warn_of_no_key(job);
    return status;
}

/* --- end --- */

enum child_end job_wait(struct job *job, int *status, uint64_t *left, struct fault *fault)
{
    enum child_end end = child_finish(&job->child, left, fault);
    int error = job->child.error;
    /* A lack of processes, memory or descriptors is an error of this program. */
    bool ours = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE ||
                error == 0;
    if (end != CHILD_DONE)
        job->counts.selected = 0;
    if (end == CHILD_NOT_RUN)
        *status = error == ENOENT ? EXIT_NOT_FOUND : ours ? EXIT_TROUBLE : EXIT_CANNOT_RUN;
    return end;
}

void job_tell_unread(const struct job *job, uint64_t lines)
{
    char quoted[QUOTE_MAX];
    const char *command = job->options->exec[0];
    if (job->child.read_nothing && lines > 0)
        message("%s: exited with 0 and read nothing; its %" PRIu64 " %s as done (lines as "
                "arguments: -x xargs %s %s)",
                command, lines, number_of(lines, "line counts", "lines count"),
                job->plan.ends.delimiter == '\0' ? "-0" : "-d '\\n'", quote_word(command, quoted));
}

int job_end(struct job *job, int status)
{
    bool ours = job->options->exec == NULL && job->plan.output == &job->output;
    struct output *outputs[OUTPUTS] = {ours ? &job->output : NULL, job->plan.tee,
                                       job->plan.dropped};
    for (size_t i = 0; i < OUTPUTS; i++) {
        struct fault fault = FAULT_UNSET;
        if (outputs[i] != NULL && output_close(outputs[i], &fault) != 0)
            status = message_fault(&fault);
    }
    return status;
}

/* Whether a run tells of lines without a key. If none, or few of many, have one, the options may be
 * wrong. Of JSON and columns with names, less says that something is; but only if it shows: a run
 * that prints says nothing if it has printed none of these lines. */
static bool tells_of_no_key(const struct job *job)
{
    enum { ENOUGH = 1000, TENTH = 10 };
    const struct pipeline_plan *plan = &job->plan;
    const struct pipeline_counts *counts = &job->counts;
    const struct recipe *recipe = recipe_of(job);
    const struct keyless *lacking = &counts->keyless[NO_KEY], *idle = &counts->keyless[NO_KEY_IDLE],
                         *not_json = &counts->keyless[NO_KEY_NOT_JSON];
    uint64_t none = lacking->read + not_json->read, lines = counts->read - idle->read;
    bool many = none > 0 && (none == lines || (none > lines / 2 && lines >= ENOUGH));
    bool prints = plan->output != NULL || job->shards != NULL;
    if (!prints || (recipe->syntax != SYNTAX_JSONL && !recipe_has_column_names(recipe)))
        return many;
    bool tags = plan->verb == PIPELINE_TAG || plan->verb == PIPELINE_TAG_NEW; /* all lines */
    uint64_t printed = tags ? counts->read : counts->selected;
    uint64_t without_data = tags ? idle->read : idle->selected;
    uint64_t wrong = tags ? not_json->read : not_json->selected;
    uint64_t shown = wrong + (tags ? lacking->read : lacking->selected);
    /* If an output has failed, lines were selected that are not printed. */
    return shown > 0 && printed > 0 &&
           (many || wrong > 0 || TENTH * shown + without_data >= printed);
}

/* Of several members, lines may lack all but the first. If none has one, its name may be wrong, and
 * lines were dropped that differ. */
static void warn_of_members(const struct job *job, const char *name)
{
    enum { ENOUGH = 100 };
    const struct pipeline_counts *counts = &job->counts;
    const char *next = recipe_of(job)->names, *first = next;
    char member[RECIPE_NAMES_BYTES + 1];
    if (counts->members == 0 || counts->dropped == 0 || counts->read < ENOUGH)
        return;
    for (unsigned i = 0; *next != '\0'; i++, first = next) {
        recipe_next_name(&next, member);
        int length = (int)(next - first) - (*next != '\0'); /* as it stands in the list */
        if ((counts->members >> i & 1) == 0)
            message("%s: none of %" PRIu64 " lines has '%.*s', so it tells none of them apart (is "
                    "the name right?)",
                    name, counts->read, length, first);
    }
}

void job_warn_of_no_key(const struct job *job)
{
    const struct pipeline_plan *plan = &job->plan;
    const struct pipeline_counts *counts = &job->counts;
    const struct recipe *recipe = recipe_of(job);
    const struct keyless *lacking = &counts->keyless[NO_KEY],
                         *not_json = &counts->keyless[NO_KEY_NOT_JSON];
    uint64_t lines = counts->read - counts->keyless[NO_KEY_IDLE].read;
    const char *name = plan->filter != NULL ? filter_name(plan->filter) : job->options->asked->name;
    warn_of_members(job, name);
    if (!tells_of_no_key(job))
        return;

    /* 1. What is it that they lack, and which is the first? */
    char lacks[KEY_OPTIONS_WORDS], path[KEY_OPTIONS_WORDS] = "", words[RECIPE_TEXT + 1] = " ";
    char first[2][256], has_no[sizeof lacks + 128] = "", is_no_json[128] = "";
    const struct keyless *kinds[] = {lacking, not_json};
    bool several = job->inputs.names[0] != NULL && job->inputs.names[1] != NULL;
    for (size_t i = 0; i < 2; i++)
        snprintf(first[i], sizeof *first, "(first: line %" PRIu64 "%s%.150s)", kinds[i]->line,
                 several ? " of " : "", several && kinds[i]->input != NULL ? kinds[i]->input : "");
    if (lacking->read > 0)
        snprintf(has_no, sizeof has_no, "%" PRIu64 " of %" PRIu64 " %s %s no %s %s", lacking->read,
                 counts->read, number_lines(counts->read), number_of(lacking->read, "has", "have"),
                 key_options_lacking(recipe, lacks), first[0]);
    const char *is = number_of(not_json->read, "is", "are");
    if (not_json->read > 0 && lacking->read > 0)
        snprintf(is_no_json, sizeof is_no_json, ", %" PRIu64 " %s not JSON ", not_json->read, is);
    else if (not_json->read > 0)
        snprintf(is_no_json, sizeof is_no_json, "%" PRIu64 " of %" PRIu64 " %s %s not JSON ",
                 not_json->read, counts->read, number_lines(counts->read), is);
    bool all = lacking->read + not_json->read == lines;
    if (all && job->inputs.jq != NULL && recipe->syntax == SYNTAX_JSONL)
        snprintf(path, sizeof path, "to make lines of it: %s FILE", job->inputs.jq);
    else if (all && lacking->read > 0)
        key_options_path(recipe, path);

    /* 2. The way out shows these lines. */
    recipe_text(recipe, words + 1);
    int syntax = recipe->syntax == SYNTAX_CSV ? (int)strlen(" --csv") : 0;
    bool nul = plan->ends.delimiter == '\0';
    message("%s: %s%s%s; these are compared as whole lines (%s%sto see them: unseen key --tag%s"
            "%.*s%s%s FILE | grep -a%s ^none)",
            name, has_no, is_no_json, not_json->read > 0 ? first[1] : "", path,
            path[0] != '\0' ? "; " : "", nul ? " -z" : "", syntax, words,
            job->inputs.header ? " --header" : "", words + syntax, nul ? "z" : "");
}

void job_tell_lines(const struct job *job, struct told_lines *told)
{
    const struct pipeline_counts *counts = &job->counts;
    const struct keyless *not_json = &counts->keyless[NO_KEY_NOT_JSON];
    uint64_t none = counts->keyless[NO_KEY].read + not_json->read;
    const uint64_t first[] = {counts->keyless[counts->keyless_first].line, not_json->line,
                              counts->several_line};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        snprintf(told->first[i], sizeof *told->first, "%" PRIu64, first[i]);
    snprintf(told->keyless, sizeof told->keyless, "without a key (%" PRIu64 " not JSON)",
             not_json->read);
    snprintf(told->several, sizeof told->several,
             "%s of several lines (the first: line %" PRIu64 " of %.150s)",
             number_of(counts->several, "row", "rows"), counts->several_line,
             counts->several_input != NULL ? counts->several_input : "");
    const struct figure rows[] = {
        {recipe_is_whole_line(recipe_of(job)) ? NULL
         : not_json->read > 0                 ? told->keyless
                                              : "without a key",
         "without_key", COUNT(none)},
        {NULL, "without_key_first", DIGITS(none > 0 ? told->first[0] : NULL)},
        {NULL, "not_json", COUNT(not_json->read)},
        {NULL, "not_json_first", DIGITS(not_json->read > 0 ? told->first[1] : NULL)},
        {counts->several > 0 ? told->several : NULL, "several_lines", COUNT(counts->several)},
        {NULL, "several_lines_first", DIGITS(counts->several > 0 ? told->first[2] : NULL)},
        {counts->header_again > 0
             ? number_of(counts->header_again, "header line again", "header lines again")
             : NULL,
         "headers_again", COUNT(counts->header_again)},
    };
    memcpy(told->rows, rows, sizeof rows);
}

void job_summarize(const struct job *job, const char *selected, const char *others)
{
    const struct filter *filter = job->plan.filter;
    static struct survey survey; /* too large for some stacks */
    const struct pipeline_counts *counts = &job->counts;
    double seen = (double)counts->dropped, lost = fmin(round(counts->false_drops), seen);
    struct told_lines told;
    warn_of_filter(filter);
    if (!job->options->summary)
        return; /* before the rate, which takes half as long as a run of one line */
    (void)survey_make(&survey, filter, SURVEY_SAMPLE);
    job_tell_lines(job, &told);
    figures_summary(job->options,
                    {job->path == NULL ? "filter in memory" : "", "filter", TEXT(job->path)},
                    {number_of(counts->read, "line read", "lines read"), "read",
                     COUNT(counts->read)},
                    {selected, selected, COUNT(counts->selected)}, {others, others, COUNT(seen)},
                    TOLD_LINES(told), {"expected false drops", "false_drops", RATE(lost)},
                    {"rate now", "rate", RATE(survey.rate)});
}

void job_close(struct job *job)
{
    header_lines_free(&job->header_lines);
    pending_free(job->plan.pending);
    writer_free(job->plan.writer);
    filter_close(job->plan.filter);
    writer_free(job->plan.repeats);
    filter_close(job->repeats);
}
