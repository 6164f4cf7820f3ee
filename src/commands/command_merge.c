/* command_merge - `unseen merge -o OUT FILTER...`: makes one filter of several. OUT may be an
 * input. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/warnings.h"
#include "filter/create.h"
#include "filter/writer.h"
#include "merge/merge.h"
#include "queue/queue.h"
#include "system/path.h"
#include "text/number.h"
#include "text/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct inputs_open {
    struct filter **filters;
    size_t count;
    struct filter *replaced; /* the input that OUT names, open for writing; or NULL */
};

static bool is_named_before(const struct inputs_open *inputs, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    for (size_t i = 0; i < inputs->count; i++)
        if (filter_is_file(inputs->filters[i], &status))
            return true;
    return false;
}

/* A file that is named twice, as in `merge -o all.bf all.bf *.bf`, is one input. */
static int open_inputs(struct inputs_open *inputs, const struct options *options, const char *out)
{
    struct fault fault = FAULT_UNSET;
    for (size_t i = 0; i < options->operand_count; i++) {
        const char *path = options->operands[i];
        if (!filter_operand_is_name(path, options))
            return EXIT_TROUBLE;
        if (is_named_before(inputs, path))
            continue;
        bool is_out = path_is_same(path, out);
        struct filter *filter = filter_open(is_out ? out : path, is_out, &warnings_watch, &fault);
        if (filter == NULL)
            return filter_operand_refuse(&fault, options, path);
        inputs->filters[inputs->count++] = filter;
        if (is_out)
            inputs->replaced = filter;
    }
    return 0;
}

static void close_inputs(struct inputs_open *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        filter_close(inputs->filters[i]);
    free(inputs->filters);
}

/* Lines in the queue of an input stay there, but the new filter treats them as seen. */
static void warn_of_queues(const struct inputs_open *inputs, const char *out)
{
    for (size_t i = 0; i < inputs->count; i++) {
        struct fault fault = FAULT_UNSET;
        struct queue_facts facts = {0};
        char quoted[QUOTE_MAX];
        const struct filter *filter = inputs->filters[i];
        const char *path = filter_path(filter);
        if (filter == inputs->replaced || filter_queue(filter) == QUEUE_NONE)
            continue;
        int result = queue_facts(filter_real_path(filter), filter_descriptor(filter), &facts,
                                 &fault);
        uint64_t lines = facts.waiting + facts.held;
        if (result < 0)
            message_fault(&fault);
        else if (result == 0 && lines > 0)
            message("%s: %" PRIu64 " %s waiting in its queue, and %s treats %s as seen (to take "
                    "them out: unseen pop %s)",
                    path, lines, number_of(lines, "line is", "lines are"), out,
                    number_of(lines, "it", "them"), quote_file(path, quoted));
    }
}

static int say_taken(const char *out)
{
    return filter_operand_taken(
        out, "to replace it: --force; to keep its lines: also name it as an input");
}

/* Whether OUT may be made; *over: in place of a file. Returns 0, or EXIT_TROUBLE after a
 * message. */
static int check_place(const struct options *options, const char *out,
                       const struct inputs_open *inputs, bool *over)
{
    struct fault fault = FAULT_UNSET;
    int there = inputs->replaced != NULL
                    ? FOUND_FILTER
                    : create_check_path(out, options->force ? OVER_FILTER : 0, &fault);
    if (there < 0)
        return message_fault(&fault);
    *over = there != FOUND_NOTHING;
    if (there == FOUND_OTHER)
        return say_taken(out);
    /* A filter that replaces an input keeps its queue. */
    if (inputs->replaced == NULL && queue_check_left(out, -1, &fault) != 0)
        return message_fault(&fault);
    return 0;
}

static int merge_all(const struct options *options, const char *out,
                     const struct inputs_open *inputs, bool over)
{
    struct fault fault = FAULT_UNSET;
    struct merge *merge = merge_new(inputs->filters, inputs->count, inputs->replaced, &fault);
    if (merge == NULL)
        return message_fault(&fault);
    int status = EXIT_OK;
    int result = merge_write(merge, out, over, &fault);
    if (result < 0)
        status = message_fault(&fault);
    else if (result > 0)
        status = say_taken(out);
    if (status == EXIT_OK) {
        double asked = filter_header(inputs->filters[0])->plan.rate;
        warn_of_rate(out, merge_rate(merge), asked);
        warn_of_queues(inputs, out);
        unsigned layers = merge_layers(merge);
        figures_summary(options, {"", "filter", TEXT(out)},
                        {number_of(layers, "layer", "layers"), "layer_count", COUNT(layers)},
                        {"rate now", "rate", RATE(merge_rate(merge))},
                        {"false-positive rate", "false_positive_rate", ASKED(asked)});
    }
    merge_free(merge);
    return status;
}

static int confine(const struct options *options, const char *out)
{
    struct fault fault = FAULT_UNSET;
    struct confine confine;
    confine_begin(&confine);
    confine_allow_place(&confine, out, CONFINE_READ | CONFINE_LIST | CONFINE_WRITE);
    for (size_t i = 0; i < options->operand_count; i++)
        queue_allow(options->operands[i], false, &confine);
    return confine_end(&confine, &fault) == 0 ? 0 : message_fault(&fault);
}

int command_merge(const struct options *options)
{
    struct inputs_open inputs = {0};
    const char *out = options->output;
    if (out == NULL)
        return message("-o is missing (unseen merge -o OUT FILTER...)");
    if (filter_operand(options) == NULL)
        return EXIT_TROUBLE;
    inputs.filters = calloc(options->operand_count, sizeof(struct filter *));
    if (inputs.filters == NULL)
        return message("%s", strerror(ENOMEM));
    bool over = false;
    int status = EXIT_TROUBLE;
    if (open_inputs(&inputs, options, out) == 0 && check_place(options, out, &inputs, &over) == 0 &&
        confine(options, out) == 0)
        status = merge_all(options, out, &inputs, over);
    close_inputs(&inputs);
    return status;
}
