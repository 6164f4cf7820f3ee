#include "commands/summary.h"

#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/report.h"
#include "store/counter.h"
#include "system/signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int summary_prepare(const struct options *options, struct pipeline_plan *plan)
{
    const char *form = options->given[OPTION_SUMMARY];
    if (!options_has(options, OPTION_SUMMARY))
        return 0;
    if (form != NULL && strcmp(form, "json") != 0)
        return message("--summary=%s: not a form it has (--summary, or --summary=json)", form);
    plan->counts_drops = true;
    signals_be_careful();
    return 0;
}

static void print_json(FILE *to, const struct store *store, const struct pipeline_counts *counts,
                       const char *done)
{
    fputs("{\"filter\":", to);
    if (store_path(store) != NULL)
        report_quote(to, store_path(store));
    else
        fputs("null", to);
    fprintf(to,
            ",\"read\":%" PRIu64 ",\"%s\":%" PRIu64 ",\"held_back\":%" PRIu64
            ",\"without_key\":%" PRIu64 ",\"false_drops\":%.6g,\"rate\":%.6g}\n",
            counts->read, done, counts->selected, counts->held_back, counts->itself,
            counts->false_drops, counter_rate(store));
}

/* Put together first, as messages are. */
static void tell_json(const struct store *store, const struct pipeline_counts *counts,
                      const char *done)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL)
        return;
    print_json(memory, store, counts, done);
    if (fclose(memory) == 0)
        (void)!fwrite(text, 1, length, stderr);
    free(text);
}

static void tell_line(const struct store *store, const struct pipeline_counts *counts,
                      const char *done)
{
    message("%s: %" PRIu64 " lines read, %" PRIu64 " %s, %" PRIu64 " held back, %" PRIu64
            " without a key; false drops in this run: %.3g expected; rate now: %.3g",
            store_name(store), counts->read, counts->selected, done, counts->held_back,
            counts->itself, counts->false_drops, counter_rate(store));
}

void summary_tell(const struct options *options, const struct store *store,
                  const struct pipeline_counts *counts, const char *done)
{
    filter_operand_warn(store);
    if (options_has(options, OPTION_VERBOSE))
        message("%" PRIu64 " lines read, %" PRIu64 " %s", counts->read, counts->selected, done);
    if (!options_has(options, OPTION_SUMMARY))
        return;
    if (options->given[OPTION_SUMMARY] != NULL)
        tell_json(store, counts, done);
    else
        tell_line(store, counts, done);
}
