/* command_remove - `unseen remove FILTER [FILE...]`: take lines out of a counting filter. */
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/summary.h"
#include "commands/wish_recipe.h"

#include <inttypes.h>

static void tell(const struct options *options, const char *path,
                 const struct pipeline_counts *counts)
{
    if (counts->absent > 0)
        message("%s: %" PRIu64 " of %" PRIu64 " %s not in the filter", path, counts->absent,
                counts->read, counts->read == 1 ? "line was" : "lines were");
    if (counts->ambiguous > 0)
        message("%s: %" PRIu64 " of %" PRIu64 " %s not removed: in more than one layer, to all "
                "appearances",
                path, counts->ambiguous, counts->read,
                counts->read == 1 ? "line was" : "lines were");
    summary_numbers(options, path,
                    (struct summary_number[]){
                        {"read", "", counts->read == 1 ? " line read" : " lines read",
                         (double)counts->read},
                        {"removed", ", ", " removed", (double)counts->selected},
                        {"absent", ", ", " not in the filter", (double)counts->absent},
                        {"ambiguous", ", ", " left in", (double)counts->ambiguous},
                        {.member = NULL},
                    });
}

static int run(const struct options *options, const struct inputs *inputs, struct filter *filter)
{
    struct pipeline_plan plan = {.verb = PIPELINE_REMOVE, .filter = filter, .most = UINT64_MAX};
    struct pipeline_counts counts;
    summary_prepare(options, NULL);
    int status = inputs_run(inputs, &plan, &counts);
    tell(options, store_path(filter_store(filter)), &counts);
    return status;
}

/* Opened for reading, so that a filter that is refused is not touched. */
static int check_filter(const struct options *options, const char *path)
{
    struct store *store = filter_operand_look(path, options);
    if (store == NULL)
        return EXIT_TROUBLE;
    bool counting = store_header(store)->plan.geometry.counting;
    int status = counting ? wish_recipe_compare(options, path, &store_header(store)->recipe) : 0;
    store_close(store);
    if (counting)
        return status;
    return message("%s: is not a counting filter, so that lines cannot be removed from it (to "
                   "make one: unseen create --counting NEW)",
                   path);
}

int command_remove(const struct options *options)
{
    struct inputs inputs;
    const char *path = inputs_after_filter(&inputs, options);
    if (path == NULL || check_filter(options, path) != 0)
        return EXIT_TROUBLE;
    struct filter *filter = filter_operand_open(path, options, true);
    if (filter == NULL)
        return EXIT_TROUBLE;
    int status = confinement_start(&(struct confinement){.inputs = &inputs, .filter = filter});
    if (status == 0)
        status = run(options, &inputs, filter);
    filter_close(filter);
    return status;
}
