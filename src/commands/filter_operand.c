#include "commands/filter_operand.h"

#include "commands/command.h"
#include "commands/message.h"
#include "core/number.h"
#include "core/quote.h"
#include "filter/counter.h"
#include "filter/create.h"
#include "filter/generation.h"
#include "system/path.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *usage(const struct options *options)
{
    return options->asked->bit == FOR_FILTER ? "unseen FILTER FILE..." : options->asked->synopsis;
}

bool filter_operand_is_name(const char *name, const struct options *options)
{
    if (name[0] == '\0')
        message("'': an empty name is not a FILTER (is a variable empty?)");
    else if (strcmp(name, "-") == 0 && name != options->operands[0])
        message("-: standard input cannot be a FILTER");
    else if (strcmp(name, "-") == 0)
        message("-: standard input cannot be a FILTER (FILTER comes first: %s)", usage(options));
    else
        return true;
    return false;
}

const char *filter_operand(const struct options *options)
{
    const char *name = options->operands[0];
    if (name == NULL && options->command != NULL)
        message("FILTER is missing (before -x, which takes the rest of the line: %s -x CMD ARG...)",
                options->asked->synopsis);
    else if (name == NULL)
        message("FILTER is missing (%s)", options->asked->synopsis);
    else if (filter_operand_is_name(name, options))
        return name;
    return NULL;
}

int filter_operand_alone(const struct options *options)
{
    if (options->operand_count > 1)
        return message("%s: one operand too many (%s)", options->operands[1],
                       options->asked->synopsis);
    return 0;
}

/* --- what happens on the way --- */

static void tell_grew(const struct store *store, unsigned layers)
{
    const struct filter_plan *plan = &store_header(store)->plan;
    const char *name = store_name(store);
    char rate[NUMBER_TEXT];
    const struct layer_plan first = store_plan(store, 0);
    double full = growth_made_for(plan, &first);
    number_text(plan->rate, NUMBER_ASKED, rate);
    if (plan->forget != 0 && plan->capacity != 0 && layers == growth_first_layers(plan) + 1)
        message("%s: more than %" PRIu64 " %s came within its time, and it grows (its rate stays "
                "below %s)",
                name, plan->capacity, number_lines(plan->capacity), rate);
    else if (plan->capacity != 0 && layers == 2)
        message("%s: holds %.0f of %" PRIu64 " %s, and grows (its rate stays below %s)", name, full,
                plan->capacity, number_lines(plan->capacity), rate);
}

static void tell_waits(const struct store *store, bool to_the_end)
{
    message_waits((void *)store_path(store), to_the_end);
}

const struct store_watch filter_operand_watch = {.grew = tell_grew, .waits = tell_waits};

/* --- one that cannot be used --- */

static void write_options(FILE *to, const struct options *options)
{
    char quoted[QUOTE_MAX];
    for (enum option_id id = 0; id < OPTIONS; id++) {
        if (!options_has(options, id) || (option_table[id].commands & FOR_CREATE) == 0)
            continue;
        fprintf(to, " %s", options->spelled[id]);
        if (options->given[id] != NULL)
            fprintf(to, " %s", quote_word(options->given[id], quoted));
    }
}

char *filter_operand_making(const char *maker, const struct options *options, const char *name)
{
    char *text = NULL, quoted[QUOTE_MAX];
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (to == NULL)
        return NULL;
    fprintf(to, "unseen %s", maker);
    write_options(to, options);
    /* After a command any word is a file. */
    fprintf(to, " %s%s", maker[0] == '-' && command_is_word(name) ? "./" : "",
            quote_file(name, quoted));
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

static void suggest_making(struct fault *fault, const char *doing, const char *maker,
                           const struct options *options, const char *path)
{
    char *command = filter_operand_making(maker, options, path);
    if (command != NULL)
        fault_way_out(fault, "%s: %s", doing, command);
    free(command);
}

/* Only who would have written to a filter is told how to make one: to all others a new one would
 * answer a mistyped name. An empty file is taken over only by `create`, since it may be somebody's
 * log. */
static void suggest_filter(struct fault *fault, const struct options *options, const char *path)
{
    char directory[PATH_MAX], quoted[QUOTE_MAX];
    unsigned bit = options->asked->bit;
    path_directory(path, directory);
    if (access(directory, F_OK) != 0)
        fault_way_out(fault, "there is no directory %s", quote_file(directory, quoted));
    else if ((bit & (FOR_FILTER | FOR_ADD | FOR_PUSH)) == 0 || path != options->operands[0])
        fault_way_out(fault, "is the name right?");
    else if (fault->error == 0)
        suggest_making(fault, "to make it one", "create", options, path);
    else
        suggest_making(fault, "to make it",
                       bit == FOR_FILTER ? "--create"
                       : bit == FOR_ADD  ? "add --create"
                                         : "push --create",
                       options, path);
}

/* Lines where a filter should be: perhaps they were meant to be read. */
static void suggest_input(struct fault *fault, const struct options *options, const char *path)
{
    char name[QUOTE_MAX];
    unsigned bit = options->asked->bit;
    bool operand = path == options->operands[0]; /* else that of --like */
    quote_file(path, name);
    if (operand && bit == FOR_FILTER && options->operand_count == 1)
        fault_way_out(fault, "to read it as lines: unseen %s< %s",
                      options->set != 0 ? "[OPTION]... " : "", name);
    else if (operand && (bit & (FOR_READERS | FOR_COMMIT)) != 0)
        fault_way_out(fault, "FILTER comes first: %s", usage(options));
    else
        fault_way_out(fault, "is the name right?");
}

int filter_operand_refuse(struct fault *fault, const struct options *options, const char *path)
{
    bool named = strcmp(fault->object, path) == 0 && fault->way_out[0] == '\0';
    struct stat status;
    bool is_empty = stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
    if (named && (fault->error == ENOENT || (fault->error == 0 && is_empty)))
        suggest_filter(fault, options, path);
    else if (named && fault->error == 0 && !create_is_filter(path))
        suggest_input(fault, options, path);
    return message_fault(fault);
}

struct store *filter_operand_look(const char *path, const struct options *options)
{
    struct fault fault;
    if (!filter_operand_is_name(path, options))
        return NULL;
    struct store *store = store_open(path, false, NULL, &fault);
    if (store == NULL)
        filter_operand_refuse(&fault, options, path);
    return store;
}

struct filter *filter_operand_open(const char *path, const struct options *options, bool write)
{
    struct fault fault;
    struct filter *filter = filter_open(path, write, &filter_operand_watch, &fault);
    if (filter == NULL)
        filter_operand_refuse(&fault, options, path);
    return filter;
}

static bool warn_if_over(const struct store *store)
{
    double capacity = (double)store_capacity(store);
    double lines = store_header(store)->plan.fixed ? counter_lines(store) : 0;
    /* As many as it was made for may seem a few more: how many of them looked seen is chance. */
    if (lines <= capacity ||
        ((double)store_keys(store) <= capacity && lines - 6 * sqrt(lines) <= capacity))
        return false;
    char shown[NUMBER_TEXT];
    double percent = 100 * counter_rate(store);
    message("%s: holds %.0f %s, and was made for %.0f; about %s %% of new lines are "
            "now dropped",
            store_name(store), lines, number_lines((uint64_t)lines), capacity,
            number_text(percent, percent < 99.5 ? 2 : 3, shown));
    return true;
}

void filter_operand_warn_of_rate(const char *name, double rate, double asked)
{
    const double by_chance = 1.05;
    char now[NUMBER_TEXT], wanted[NUMBER_TEXT];
    if (rate > asked * by_chance)
        message("%s: its rate is %s, above the %s asked for (filters to be merged are best made "
                "--like one that is large enough for all their lines)",
                name, number_text(rate, NUMBER_FOUND, now),
                number_text(asked, NUMBER_ASKED, wanted));
}

/* Only the layers of a merged filter can be above its rate together. */
static void warn_if_merged_above(const struct store *store)
{
    double asked = store_header(store)->plan.rate, most = 0;
    for (unsigned i = 0; i < store_layers(store); i++)
        most += store_plan(store, i).rate;
    if (most > asked * (1 + 1e-9))
        filter_operand_warn_of_rate(store_name(store), counter_rate(store), asked);
}

static void warn_if_ahead(const struct store *store)
{
    uint64_t ahead = store_path(store) != NULL ? generation_clock_ahead(store) : 0;
    time_t time = (time_t)(ahead / 1000);
    struct tm date;
    char text[64], quoted[QUOTE_MAX];
    if (ahead == 0 || gmtime_r(&time, &date) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &date) == 0)
        return;
    message("%s: was last written at %s, which is in the future, and forgets nothing until then "
            "(if the clock is right now, start a new one: unseen create --like %s NEW)",
            store_path(store), text, quote_file(store_path(store), quoted));
}

void filter_operand_warn(const struct store *store)
{
    if (!warn_if_over(store))
        warn_if_merged_above(store);
    warn_if_ahead(store);
}
