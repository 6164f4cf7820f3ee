/* command_remove - `unseen remove FILTER [FILE...]`: take lines out of a counting filter. */
#include "commands/command.h"
#include "commands/filter_operand.h"
#include "commands/inputs.h"
#include "commands/message.h"
#include "commands/wish_recipe.h"
#include "store/removal.h"

#include <inttypes.h>

struct report {
    const char *path;
    bool verbose;
    uint64_t absent, ambiguous;
};

/* Bytes of a line that a message shows. */
enum { SHOWN = 200 };

static void note_not_removed(void *context, const char *line, size_t length, enum removal why)
{
    struct report *report = context;
    char text[SHOWN + 1];
    size_t shown = length < SHOWN ? length : SHOWN;
    report->absent += why == REMOVAL_ABSENT;
    report->ambiguous += why == REMOVAL_AMBIGUOUS;
    if (!report->verbose)
        return;
    for (size_t i = 0; i < shown; i++)
        text[i] = (unsigned char)line[i] < ' ' || line[i] == 0x7f ? '?' : line[i];
    text[shown] = '\0';
    message("%s: %s: %s%s", report->path, why == REMOVAL_ABSENT ? "not in it" : "left in", text,
            shown < length ? "..." : "");
}

static void tell(const struct report *report, const struct pipeline_counts *counts)
{
    const char *who = report->verbose ? "" : " (--verbose names them)";
    if (report->absent > 0)
        message("%s: %" PRIu64 " of %" PRIu64 " lines were not in it%s", report->path,
                report->absent, counts->read, who);
    if (report->ambiguous > 0)
        message("%s: %" PRIu64 " of %" PRIu64
                " lines were left in, since they look in in more than "
                "one layer%s",
                report->path, report->ambiguous, counts->read, who);
    if (report->verbose)
        message("%" PRIu64 " lines read, %" PRIu64 " removed", counts->read, counts->selected);
}

static int run(const struct options *options, const struct inputs *inputs, struct filter *filter)
{
    struct report report = {
        .path = store_path(filter_store(filter)),
        .verbose = options_has(options, OPTION_VERBOSE),
    };
    struct pipeline_plan plan = {
        .verb = PIPELINE_REMOVE,
        .filter = filter,
        .most = UINT64_MAX,
        .context = &report,
        .not_removed = note_not_removed,
    };
    struct pipeline_counts counts;
    int status = inputs_run(inputs, &plan, &counts);
    tell(&report, &counts);
    return status;
}

/* Opened for reading, so that a filter that is refused is not touched. */
static int check_filter(const struct options *options, const char *path)
{
    if (wish_recipe_find(options, path, "create --counting") != 0)
        return EXIT_TROUBLE;
    struct store *store = filter_operand_look(path, options);
    if (store == NULL)
        return EXIT_TROUBLE;
    bool counting = store_header(store)->plan.geometry.counting;
    int status = counting ? wish_recipe_compare(options, path, &store_header(store)->recipe) : 0;
    store_close(store);
    if (counting)
        return status;
    return message("%s: lines can be removed from counting filters only (to make one: unseen "
                   "create --counting FILTER)",
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
    int status = run(options, &inputs, filter);
    filter_close(filter);
    return status;
}
