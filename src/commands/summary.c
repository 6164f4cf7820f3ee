#include "commands/summary.h"

#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/report.h"
#include "core/number.h"
#include "filter/counter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void summary_prepare(const struct options *options, struct pipeline_plan *plan)
{
    if (!options_has(options, OPTION_SUMMARY))
        return;
    if (plan != NULL)
        plan->counts_drops = true;
}

/* Counts are exact up to 2^53. */
static void print_number(FILE *to, double value, unsigned figures)
{
    char text[NUMBER_TEXT];
    fputs(number_text(value, value == floor(value) ? 16 : figures, text), to);
}

static void print_json(FILE *to, const char *kind, const char *name,
                       const struct summary_number *number)
{
    fprintf(to, "{\"%s\":", kind);
    if (name != NULL)
        report_quote(to, name);
    else
        fputs("null", to);
    for (; number->member != NULL; number++) {
        fprintf(to, ",\"%s\":", number->member);
        print_number(to, number->value, 6);
    }
    fputs("}\n", to);
}

static void print_text(FILE *to, const char *kind, const char *name,
                       const struct summary_number *number)
{
    bool filter = strcmp(kind, "filter") == 0;
    fprintf(to, "%s%s%s: ", filter ? "" : kind, filter ? "" : " ",
            name != NULL ? name : "filter in memory");
    for (; number->member != NULL; number++) {
        if (number->before == NULL)
            continue;
        fputs(number->before, to);
        print_number(to, number->value, 3);
        fputs(number->after, to);
    }
}

/* Put together first, as messages are. */
void summary_numbers_of(const struct options *options, const char *kind, const char *name,
                        const struct summary_number *numbers)
{
    char *text = NULL;
    size_t length = 0;
    bool json = options->given[OPTION_SUMMARY] != NULL;
    FILE *memory = options_has(options, OPTION_SUMMARY) ? open_memstream(&text, &length) : NULL;
    if (memory == NULL)
        return;
    (json ? print_json : print_text)(memory, kind, name, numbers);
    if (fclose(memory) == 0 && json)
        (void)!fwrite(text, 1, length, stderr);
    else if (text != NULL)
        message("%s", text);
    free(text);
}

void summary_numbers(const struct options *options, const char *path,
                     const struct summary_number *numbers)
{
    summary_numbers_of(options, "filter", path, numbers);
}

void summary_tell(const struct options *options, const struct store *store,
                  const struct pipeline_counts *counts, const char *done)
{
    char after[32];
    snprintf(after, sizeof after, " %s", done);
    filter_operand_warn(store);
    if (!options_has(options, OPTION_SUMMARY))
        return; /* the rate takes half as long as a run of one line */
    summary_numbers(
        options, store_path(store),
        (struct summary_number[]){
            {"read", "", counts->read == 1 ? " line read" : " lines read", (double)counts->read},
            {done, ", ", after, (double)counts->selected},
            {"held_back", ", ", " held back", (double)counts->held_back},
            {"without_key", recipe_is_whole_line(&store_header(store)->recipe) ? NULL : ", ",
             " without a key", (double)counts->itself},
            {"false_drops", "; false drops in this run: ", " expected",
             fmin(counts->false_drops, (double)counts->held_back)},
            {"rate", "; rate now: ", "", counter_rate(store)},
            {.member = NULL},
        });
}
