/* command_merge - `unseen merge -o OUT FILTER...`: makes one filter of several. OUT may be an
 * input. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
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

struct merging {
    const char *out;
    struct filter **inputs;
    size_t count;
    struct filter *replaced; /* the input that OUT names, open for writing; or NULL */
};

/* A file that is named twice, as in `merge -o all.bf all.bf *.bf`, is one input. */
static int open_inputs(struct merging *merging, const struct options *options)
{
    struct fault fault = FAULT_UNSET;
    struct stat status;
    for (size_t i = 0; i < options->operand_count; i++) {
        const char *path = options->operands[i], *out = merging->out;
        if (!filter_operand_is_name(path, options))
            return EXIT_TROUBLE;
        bool again = false;
        bool exists = stat(path, &status) == 0;
        for (size_t before = 0; exists && before < merging->count; before++)
            again = again || filter_is_file(merging->inputs[before], &status);
        if (again)
            continue;
        bool is_out = path_is_same(path, out);
        struct filter *filter = filter_open(is_out ? out : path, is_out, &filter_operand_watch,
                                            &fault);
        if (filter == NULL)
            return filter_operand_refuse(&fault, options, path);
        merging->inputs[merging->count++] = filter;
        if (is_out)
            merging->replaced = filter;
    }
    return 0;
}

/* Lines in the queue of an input stay there, but the new filter treats them as seen. */
static void warn_of_queues(const struct merging *merging)
{
    for (size_t i = 0; i < merging->count; i++) {
        struct fault fault = FAULT_UNSET;
        struct queue_facts facts = {0};
        char quoted[QUOTE_MAX];
        const struct filter *filter = merging->inputs[i];
        const char *path = filter_path(filter);
        if (filter == merging->replaced || filter_queue(filter) == QUEUE_NONE)
            continue;
        int result = queue_facts(filter_real_path(filter), filter_descriptor(filter), &facts,
                                 &fault);
        uint64_t lines = facts.waiting + facts.held;
        if (result < 0)
            message_fault(&fault);
        else if (result == 0 && lines > 0)
            message("%s: %" PRIu64 " %s waiting in its queue, and %s treats %s as seen (to take "
                    "them out: unseen pop %s)",
                    path, lines, number_of(lines, "line is", "lines are"), merging->out,
                    number_of(lines, "it", "them"), quote_file(path, quoted));
    }
}

int command_merge(const struct options *options)
{
    const char *ways_out = "to replace it: --force; to keep its lines: also name it as an input";
    struct fault fault = FAULT_UNSET;
    struct merging merging = {.out = options->output};
    struct confine confine;
    struct merge *merge = NULL;
    int status = EXIT_TROUBLE;
    if (merging.out == NULL)
        return message("-o is missing (unseen merge -o OUT FILTER...)");
    if (filter_operand(options) == NULL)
        return EXIT_TROUBLE;
    merging.inputs = calloc(options->operand_count, sizeof(struct filter *));
    if (merging.inputs == NULL)
        return message("%s", strerror(ENOMEM));
    if (open_inputs(&merging, options) != 0)
        goto done;
    /* May OUT be made? A filter that replaces an input keeps its queue. */
    int there = merging.replaced != NULL
                    ? FOUND_FILTER
                    : create_check_path(merging.out, options->force ? OVER_FILTER : 0, &fault);
    if (there == FOUND_OTHER) {
        filter_operand_taken(merging.out, ways_out);
        goto done;
    }
    if (there < 0 || (merging.replaced == NULL && queue_check_left(merging.out, -1, &fault) != 0)) {
        message_fault(&fault);
        goto done;
    }
    confine_begin(&confine);
    confine_allow_place(&confine, merging.out, CONFINE_READ | CONFINE_LIST | CONFINE_WRITE);
    for (size_t i = 0; i < options->operand_count; i++)
        queue_allow(options->operands[i], false, &confine);
    if (confine_end(&confine, &fault) != 0) {
        message_fault(&fault);
        goto done;
    }
    merge = merge_new(merging.inputs, merging.count, merging.replaced, &fault);
    int result = merge != NULL ? merge_write(merge, merging.out, there != FOUND_NOTHING, &fault)
                               : -1;
    status = result == 0  ? EXIT_OK
             : result < 0 ? message_fault(&fault)
                          : filter_operand_taken(merging.out, ways_out);
    if (status != EXIT_OK)
        goto done;
    double asked = filter_header(merging.inputs[0])->plan.rate;
    unsigned layers = merge_layers(merge);
    warn_of_rate(merging.out, merge_rate(merge), asked);
    warn_of_queues(&merging);
    figures_summary(options, {"", "filter", TEXT(merging.out)},
                    {number_of(layers, "layer", "layers"), "layer_count", COUNT(layers)},
                    {"rate now", "rate", RATE(merge_rate(merge))},
                    {"false-positive rate", "false_positive_rate", ASKED(asked)});
done:
    merge_free(merge);
    for (size_t i = 0; i < merging.count; i++)
        filter_close(merging.inputs[i]);
    free(merging.inputs);
    return status;
}
