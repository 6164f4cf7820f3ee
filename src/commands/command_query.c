/* command_query - `unseen query FILTER [FILE...]`: which lines are in. Writes nothing. */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/wish_recipe.h"
#include "system/signals.h"

#include <inttypes.h>
#include <stdio.h>

static int run(const struct options *options, const struct inputs *inputs, struct filter *filter)
{
    bool quiet = options_has(options, OPTION_QUIET);
    bool count = options_has(options, OPTION_COUNT);
    struct output output = output_standard(inputs->delimiter);
    struct pipeline_plan plan = {
        .verb = options_has(options, OPTION_TAG) ? PIPELINE_TAG : PIPELINE_QUERY,
        .filter = filter,
        .output = quiet || count ? NULL : &output,
        .invert = options_has(options, OPTION_INVERT),
        .most = options_whole(options, OPTION_MAX_COUNT, UINT64_MAX),
    };
    if (quiet && !count && plan.most > 1)
        plan.most = 1;
    struct fault fault;
    struct pipeline_counts counts;
    int status = inputs_run(inputs, &plan, &counts);
    if (count && !quiet)
        printf("%" PRIu64 "\n", counts.selected);
    if (message_finish_output() != EXIT_OK)
        status = EXIT_TROUBLE;
    if (output_close(&output, &fault) != 0 && plan.output != NULL)
        status = message_fault(&fault);
    if (status == EXIT_OK && counts.selected == 0)
        status = EXIT_NOTHING;
    /* As grep: the question is answered, whatever else there was. */
    if (quiet && counts.selected > 0 && !signals_pending())
        status = EXIT_OK;
    return status;
}

int command_query(const struct options *options)
{
    struct inputs inputs;
    const char *path = filter_operand(options);
    inputs_parse(&inputs, options, 1);
    if (path == NULL || combinations_check(options, FOR_QUERY) != 0 ||
        inputs_check(&inputs, path, NULL) != 0)
        return EXIT_TROUBLE;
    struct filter *filter = filter_operand_open(path, options, false);
    if (filter == NULL)
        return EXIT_TROUBLE;
    const struct store *store = filter_store(filter);
    int status = wish_recipe_compare(options, path, &store_header(store)->recipe);
    if (status == 0)
        status = confinement_start(&(struct confinement){.inputs = &inputs});
    if (status == 0)
        status = run(options, &inputs, filter);
    filter_close(filter);
    return status;
}
