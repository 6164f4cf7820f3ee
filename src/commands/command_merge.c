/*
 * command_merge - `unseen merge -o OUT FILTER...`: one filter of several.
 *
 * OUT may be one of the inputs. It is then frozen from before its bits are read until the new file
 * has its name: what others settle in it is either in both or, since they notice, in neither.
 */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "commands/summary.h"
#include "core/number.h"
#include "core/quote.h"
#include "filter/create.h"
#include "filter/filter.h"
#include "system/path.h"
#include "union/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inputs_open {
    struct store **filters;
    size_t count;
    struct store *replaced; /* the one that OUT names, open for writing; or NULL */
};

static bool is_named_before(const struct inputs_open *inputs, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    for (size_t i = 0; i < inputs->count; i++)
        if (store_is_file(inputs->filters[i], &status))
            return true;
    return false;
}

/* A file named twice, as in `merge -o all.bf all.bf *.bf`, is one input. */
static int open_inputs(struct inputs_open *inputs, const struct options *options, const char *out)
{
    struct fault fault;
    for (size_t i = 0; i < options->operand_count; i++) {
        const char *path = options->operands[i];
        if (!filter_operand_is_name(path, options))
            return EXIT_TROUBLE;
        if (is_named_before(inputs, path))
            continue;
        bool is_out = path_is_same(path, out);
        struct store *store = store_open(is_out ? out : path, is_out, &filter_operand_watch,
                                         &fault);
        if (store == NULL)
            return filter_operand_refuse(&fault, options, path);
        inputs->filters[inputs->count++] = store;
        if (is_out)
            inputs->replaced = store;
    }
    return 0;
}

static void close_inputs(struct inputs_open *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        store_close(inputs->filters[i]);
    free(inputs->filters);
}

/* Lines that wait in the queue of an input stay there, and the new filter has them as seen. */
static void warn_of_queues(const struct inputs_open *inputs, const char *out)
{
    for (size_t i = 0; i < inputs->count; i++) {
        struct fault fault;
        struct queue_facts facts;
        char quoted[QUOTE_MAX];
        const struct store *store = inputs->filters[i];
        const char *path = store_path(store);
        if (store == inputs->replaced || store_queue(store) == QUEUE_NONE ||
            queue_operand_facts(store, &facts, &fault) != 0)
            continue;
        uint64_t lines = facts.waiting + facts.held;
        if (lines > 0)
            message("%s: has %" PRIu64 " %s waiting in its queue, which %s counts as seen (to take "
                    "them out: unseen pop %s)",
                    path, lines, number_lines(lines), out, quote_file(path, quoted));
    }
}

static int say_taken(const char *out)
{
    return creation_taken(out,
                          "to replace it: --force; to keep its lines: name it as an input, too");
}

/* Whether OUT may be made, and over what. Returns 0, or EXIT_TROUBLE after a message. */
static int check_place(const struct options *options, const char *out,
                       const struct inputs_open *inputs, bool *over)
{
    struct fault fault;
    if (inputs->replaced != NULL) {
        *over = true;
        return 0;
    }
    int there = create_look(out, options_has(options, OPTION_FORCE) ? OVER_FILTER : 0, &fault);
    if (there < 0)
        return message_fault(&fault);
    if (there == PLACE_TAKEN)
        return say_taken(out);
    *over = there != PLACE_FREE;
    return 0;
}

static void summarize(const struct options *options, const char *out, const struct merge *merge,
                      double asked)
{
    unsigned layers = merge_layers(merge);
    summary_numbers(options, out,
                    (struct summary_number[]){
                        {"layers", "", layers == 1 ? " layer" : " layers", layers},
                        {"rate", "; rate ", "", merge_rate(merge)},
                        {"error_rate", ", of ", " asked for", asked},
                        {.member = NULL},
                    });
}

static int merge_open(const struct options *options, const char *out,
                      const struct inputs_open *inputs, bool over)
{
    struct fault fault;
    struct merge *merge = merge_new(inputs->filters, inputs->count, &fault);
    if (merge == NULL)
        return message_fault(&fault);
    int status = EXIT_OK;
    int result = merge_write(merge, out, over, inputs->replaced, &fault);
    if (result < 0)
        status = message_fault(&fault);
    else if (result > 0)
        status = say_taken(out);
    if (status == EXIT_OK) {
        double asked = store_header(inputs->filters[0])->plan.rate;
        filter_operand_warn_of_rate(out, merge_rate(merge), asked);
        warn_of_queues(inputs, out);
        summarize(options, out, merge, asked);
    }
    merge_free(merge);
    return status;
}

static int run(const struct options *options, const char *out, struct inputs_open *inputs)
{
    struct fault fault;
    bool over = false;
    if (open_inputs(inputs, options, out) != 0 || check_place(options, out, inputs, &over) != 0 ||
        confinement_start(&(struct confinement){.made = out, .queues = options->operands}) != 0)
        return EXIT_TROUBLE;
    if (inputs->replaced == NULL)
        return merge_open(options, out, inputs, over);
    if (store_freeze(inputs->replaced, &fault) != 0)
        return message_fault(&fault);
    int status = merge_open(options, out, inputs, over);
    store_thaw(inputs->replaced);
    return status;
}

int command_merge(const struct options *options)
{
    struct inputs_open inputs = {0};
    const char *out = options->given[OPTION_OUTPUT];
    if (combinations_check(options, FOR_MERGE) != 0)
        return EXIT_TROUBLE;
    if (filter_operand(options) == NULL)
        return EXIT_TROUBLE;
    inputs.filters = calloc(options->operand_count, sizeof(struct store *));
    if (inputs.filters == NULL)
        return message("%s", strerror(ENOMEM));
    int status = run(options, out, &inputs);
    close_inputs(&inputs);
    return status;
}
