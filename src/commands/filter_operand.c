#include "commands/filter_operand.h"

#include "commands/command.h"
#include "commands/file_uses.h"
#include "commands/inputs.h"
#include "commands/key_options.h"
#include "commands/message.h"
#include "filter/create.h"
#include "filter/survey.h"
#include "queue/queue.h"
#include "system/machine.h"
#include "system/path.h"
#include "system/signals.h"
#include "text/number.h"
#include "text/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool filter_operand_is_name(const char *name, const struct options *options)
{
    if (name[0] == '\0')
        message("'': empty name for FILTER (is a variable empty?)");
    else if (strcmp(name, "-") == 0 && name != options->operands[0])
        message("-: standard input cannot be a FILTER");
    else if (strcmp(name, "-") == 0)
        message("-: standard input cannot be a FILTER (FILTER comes first: %s)",
                command_usage(options->asked));
    else
        return true;
    return false;
}

const char *filter_operand(const struct options *options)
{
    const char *name = options->operands[0];
    if (name == NULL && options->exec != NULL)
        message("FILTER is missing (put it before -x, which takes the rest of the line: "
                "unseen %s FILTER -x CMD ARG...)",
                options->asked->name);
    else if (name == NULL)
        message("FILTER is missing (%s)", options->asked->synopsis);
    else if (!filter_operand_is_name(name, options))
        return NULL;
    else if (options->asked->operands == OPERANDS_FILTER && options->operand_count > 1)
        message("%s: extra operand (%s)", options->operands[1],
                isnan(number_parse(options->operands[1], NUMBER_COUNT)) ? options->asked->synopsis
                : options->asked->bit == FOR_CREATE                     ? "for N lines: -n N"
                                                                        : "for N lines: -m N");
    else
        return name;
    return NULL;
}

/* --- filters that cannot be used --- */

/* The file is no filter: perhaps its lines were to be read. */
static void suggest_input(struct fault *fault, const struct options *options, const char *path)
{
    unsigned bit = options->asked->bit;
    bool operand = path == options->operands[0];          /* else the path is that of --like */
    char names[sizeof fault->way_out], quoted[QUOTE_MAX]; /* cut off, they do not fit there */
    char *words = options_words(options, FOR_CREATE);
    if (operand && bit == FOR_QUERY && options->operand_count > 1 && words != NULL &&
        inputs_reader(path) == NULL)
        fault_way_out(fault, "to make a filter of it: unseen add --create%s NEW.bf %s", words,
                      quote_file(path, quoted));
    else if (operand && (bit & (FOR_READERS | FOR_COMMIT)) != 0)
        fault_way_out(fault, "FILTER comes first: %s", command_usage(options->asked));
    else
        fault_way_out(fault, "is the name right?");
    free(words);
    if (!operand || bit != FOR_FILTER)
        return;
    for (enum option_id id = 0; id < OPTIONS; id++)
        if (options_has(options, id) && (option_table[id].needs & OPERAND_FILTER) != 0)
            return;
    char *command = options_command(options, 0);
    size_t length = 0;
    for (size_t i = 0; i < options->operand_count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, " %s",
                                   quote_file(options->operands[i], quoted));
    const char *reader = inputs_reader(path);
    for (size_t i = 1; i < options->operand_count; i++)
        reader = inputs_reader(options->operands[i]) == reader ? reader : NULL;
    if (command != NULL && options->operand_count == 1 && reader == NULL)
        fault_way_out(fault, "to read it as lines: %s <%s", command, names);
    else if (command != NULL)
        fault_way_out(fault, "%s without a filter: %s%s | %s",
                      options->operand_count == 1 ? "to read it" : "several files",
                      reader != NULL             ? reader
                      : options->zero_terminated ? "cat"
                                                 : "awk 1", /* ends each last line */
                      names, command);
    free(command);
}

int filter_operand_refuse(struct fault *fault, const struct options *options, const char *path)
{
    const char *name = options->asked->name;
    char directory[PATH_MAX], quoted[QUOTE_MAX], maker[32] = "create";
    struct stat status;
    bool named = strcmp(fault->object, path) == 0 && fault->way_out[0] == '\0';
    bool empty = fault->error == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
                 status.st_size == 0;
    bool writes = path == options->operands[0] && (options->asked->bit & FOR_WRITERS) != 0;
    if (named && (fault->error == ENOENT || empty)) {
        path_directory(path, directory);
        if (strstr(path, "://") != NULL && (options->asked->bit & FOR_READERS) != 0) {
            fault_way_out(fault, "FILTER comes first: printf '%%s\\n' %s | unseen %s%sFILTER",
                          quote_word(path, quoted), name, *name != '\0' ? " " : "");
        } else if (access(directory, F_OK) != 0) {
            fault_way_out(fault, "there is no directory %s", quote_file(directory, quoted));
        } else if (!writes) {
            /* Only a command that writes suggests making a filter: else the name is probably
             * mistyped. */
            fault_way_out(fault, "is the name right?");
        } else {
            /* Only `create` replaces an empty file, which may be a log. After a command any word
             * is a file. */
            if (!empty)
                snprintf(maker, sizeof maker, "%s%s--create", name, name[0] != '\0' ? " " : "");
            const char *here = maker[0] == '-' && command_is_word(path) ? "./" : "";
            char *words = options_words(options, FOR_CREATE);
            if (words != NULL)
                fault_way_out(fault, "to make it%s: unseen %s%s %s%s", empty ? " one" : "", maker,
                              words, here, quote_file(path, quoted));
            free(words);
        }
    } else if (named && fault->error == EACCES && access(path, R_OK) == 0) {
        fault_way_out(fault, "if it was made or replaced during this run: run unseen again");
    } else if (named && fault->error == 0 && !create_is_filter(path)) {
        suggest_input(fault, options, path);
    }
    return message_fault(fault);
}

struct filter *filter_operand_open_to_read(const char *path, const struct options *options)
{
    struct fault fault = FAULT_UNSET;
    struct file_uses uses = {.filter = path, .prints = true};
    if (!filter_operand_is_name(path, options) || file_uses_check(&uses) != 0)
        return NULL;
    struct filter *filter = filter_open(path, false, NULL, &fault);
    if (filter == NULL)
        filter_operand_refuse(&fault, options, path);
    return filter;
}

int filter_operand_each(const struct options *options, filter_visitor *visit)
{
    const char **paths = options->operands;
    struct fault fault = FAULT_UNSET;
    struct confine confine;
    int worst = EXIT_OK;
    if (filter_operand(options) == NULL)
        return EXIT_TROUBLE;
    for (size_t i = 0; paths[i] != NULL && !signals_arrived(); i++) {
        struct filter *filter = filter_operand_open_to_read(paths[i], options);
        if (i == 0) {
            confine_begin(&confine);
            for (size_t later = 0; paths[later] != NULL; later++)
                queue_allow(paths[later], false, &confine);
            if (confine_end(&confine, &fault) != 0) {
                filter_close(filter);
                return message_fault(&fault);
            }
        }
        int status = filter != NULL ? visit(options, i, filter) : EXIT_TROUBLE;
        filter_close(filter);
        worst = status > worst ? status : worst;
    }
    return worst;
}

/* --- making filters --- */

static void tell_created(const struct filter *filter)
{
    char size[NUMBER_TEXT], most[NUMBER_TEXT], staged[64] = "", time[32], rate[NUMBER_TEXT];
    char shard_text[64] = "", lines[64];
    const char *secret = header_has_secret(filter_header(filter)) ? ", with a secret" : "";
    const struct filter_plan *plan = &filter_header(filter)->plan;
    struct shard shard = filter_header(filter)->shard;
    uint64_t bytes = filter_file_bytes(filter), stages = filter_stage_bytes(filter);
    if (shard.count != 0)
        snprintf(shard_text, sizeof shard_text, "shard %" PRIu32 "/%" PRIu32 ", ", shard.number,
                 shard.count);
    if (plan->forget != 0)
        snprintf(lines, sizeof lines, "forgets lines after %s",
                 number_exact((double)plan->forget, NUMBER_TIME, time));
    else if (plan->capacity != 0)
        snprintf(lines, sizeof lines, "for %s%" PRIu64 " %s", plan->window ? "the last " : "",
                 plan->capacity, number_lines(plan->capacity));
    else
        snprintf(lines, sizeof lines, "for any number of lines");
    bool grows = plan->forget != 0 || plan->capacity == 0;
    number_size((double)(bytes - stages), size);
    if (stages != 0)
        snprintf(staged, sizeof staged, ", %s with a full staging area",
                 number_size((double)bytes, most));
    number_text(plan->rate, plan->pages != 0 ? NUMBER_FOUND : NUMBER_ASKED, rate);
    message("%s: created (%s%s, %s%s%s, false-positive rate %s%s)", filter_path(filter), shard_text,
            lines, grows ? "starts at " : "", size, staged, rate, secret);
}

/* Makes the filter that the options describe, over what `over` allows (filter/create.h). Returns 0;
 * 1 if something else is there; -1 after a message. */
static int make_filter(const char *path, const struct options *options, unsigned over)
{
    struct fault fault = FAULT_UNSET;
    struct header header;
    int there = create_check_path(path, over, &fault);
    if (there == FOUND_OTHER)
        return 1;
    if (there < 0) {
        message_fault(&fault);
        return -1;
    }
    if (!options->failed && queue_check_left(path, -1, &fault) != 0) {
        /* Another process may have made the filter, and queued these lines. */
        if (there == FOUND_NOTHING && access(path, F_OK) == 0)
            return 1;
        message_fault(&fault);
        return -1;
    }
    if (filter_spec_header(options, &header) != 0)
        return -1;
    key_options_tell_names(options);
    int result = create_filter(path, &header, (enum create_found)there, &fault);
    if (result < 0)
        message_fault(&fault);
    return result;
}

int filter_operand_taken(const char *path, const char *ways_out)
{
    if (create_is_filter(path))
        return message("%s: File exists (%s)", path, ways_out);
    return message("%s: exists, and is not a filter (name another file)", path);
}

int command_create(const struct options *options)
{
    struct fault fault = FAULT_UNSET;
    const char *path = filter_operand(options);
    if (path == NULL)
        return EXIT_TROUBLE;
    int result = make_filter(path, options, OVER_EMPTY | (options->force ? OVER_FILTER : 0));
    if (result > 0)
        return filter_operand_taken(path, "to replace it: --force");
    if (result < 0)
        return EXIT_TROUBLE;
    /* The filter was made, even if it cannot be opened. */
    struct filter *filter = filter_open(path, false, NULL, &fault);
    if (filter != NULL)
        tell_created(filter);
    filter_close(filter);
    return EXIT_OK;
}

struct filter *filter_operand_open(const char *path, const struct options *options, bool write,
                                   struct writer **writer)
{
    struct fault fault = FAULT_UNSET;
    bool absent = options->create && access(path, F_OK) != 0;
    int result = absent ? make_filter(path, options, 0) : 1;
    if (result < 0)
        return NULL;
    /* What is compared is what is used, also if another file takes the name now. */
    struct filter *filter = filter_open(path, write, &filter_operand_watch, &fault);
    if (filter != NULL && filter_spec_compare(options, filter) != 0) {
        filter_close(filter);
        return NULL;
    }
    if (filter == NULL || (writer != NULL && (*writer = writer_new(filter, &fault)) == NULL)) {
        filter_operand_refuse(&fault, options, path);
        filter_close(filter);
        return NULL;
    }
    if (result == 0)
        tell_created(filter);
    return filter;
}

/* --- while it is used, and after --- */

/* Says once that more lines came than -n said. */
static void tell_grew(const struct filter *filter, unsigned layers)
{
    const struct filter_plan *plan = &filter_header(filter)->plan;
    char size[NUMBER_TEXT], time[NUMBER_TEXT], within[NUMBER_TEXT + 8] = "";
    uint64_t bytes = filter_file_bytes(filter) - filter_stage_bytes(filter);
    for (unsigned i = 0; i < layers && filter_path(filter) == NULL; i++)
        bytes += filter_plan(filter, i).pages * PAGE_BYTES;
    if (plan->capacity == 0 || layers != growth_first_layers(plan) + 1)
        return;
    if (plan->forget != 0)
        snprintf(within, sizeof within, " within %s",
                 number_exact((double)plan->forget, NUMBER_TIME, time));
    message("%s: more than %" PRIu64 " %s%s (-n); grew to %s", filter_name(filter), plan->capacity,
            number_lines(plan->capacity), within, number_size((double)bytes, size));
}

static void tell_waits(const struct filter *filter, bool to_the_end)
{
    message_waits((void *)filter_path(filter), to_the_end);
}

static void tell_waits_for_slot(const struct filter *filter)
{
    message("%s: waiting for one of the %d places for lines in flight, which other runs hold",
            filter_path(filter), SLOTS_MAX);
}

const struct filter_watch filter_operand_watch = {.grew = tell_grew,
                                                  .waits = tell_waits,
                                                  .waits_for_slot = tell_waits_for_slot};

void warn_of_rate(const char *name, double rate, double asked)
{
    const double by_chance = 1.05;
    char now[NUMBER_TEXT], wanted[NUMBER_TEXT];
    if (rate > asked * by_chance)
        message("%s: false-positive rate is %s, above the %s asked for (make filters that are "
                "to be merged --like one that is large enough for all their lines)",
                name, number_text(rate, NUMBER_FOUND, now),
                number_text(asked, NUMBER_ASKED, wanted));
}

void warn_of_filter(const struct filter *filter)
{
    static struct survey survey; /* too large for some stacks */
    const struct filter_plan *plan = &filter_header(filter)->plan;
    double capacity = (double)filter_capacity(filter), counted = (double)filter_keys(filter);
    double most = 0;
    char shown[NUMBER_TEXT], date[CLOCK_DATE], quoted[QUOTE_MAX];
    bool over = false;
    /* 1. More lines than it was made for? Counters leave out false drops, at most a share p of the
     * lines up to the capacity. Below that the bits, which take longer, need not be asked. */
    if (plan->fixed && counted >= 0.9 * (1 - plan->rate) * capacity) {
        (void)survey_make(&survey, filter, SURVEY_SAMPLE);
        over = survey.keys > capacity &&
               (counted > capacity || survey.keys - 6 * survey.deviation > capacity);
    }
    double percent = over ? 100 * survey.rate : 0;
    if (over)
        message("%s: holds %s%.0f %s but was made for %.0f; about %s%% of new lines are now "
                "dropped by mistake",
                filter_name(filter), survey.told ? "" : "at least ", survey.keys,
                number_lines((uint64_t)survey.keys), capacity,
                number_text(percent, percent < 99.5 ? 2 : 3, shown));
    /* 2. Else, a rate above the one asked for? Only a merged filter can have layers whose rates add
     * up to more. */
    for (unsigned i = 0; i < filter_layers(filter); i++)
        most += filter_plan(filter, i).rate;
    if (!over && most > plan->rate * (1 + 1e-9)) {
        (void)survey_make(&survey, filter, SURVEY_SAMPLE);
        if (!survey.sampled || survey.rate > plan->rate * 1.25) /* a sample varies */
            warn_of_rate(filter_name(filter), survey.rate, plan->rate);
    }
    /* 3. A clock that was ahead? */
    uint64_t ahead = filter_path(filter) != NULL ? filter_clock_ahead(filter) : 0;
    if (ahead != 0)
        message("%s: was last written at %s, which is in the future, so nothing is forgotten until "
                "then (if the clock is right now, make a new filter: unseen create --like %s NEW)",
                filter_path(filter), clock_date(ahead, date),
                quote_file(filter_path(filter), quoted));
}
