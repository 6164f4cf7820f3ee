/* command_plan - `unseen plan`: reports what a filter for this many lines, or for those of a file,
 * would be. Changes no file. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/job.h"
#include "commands/key_options.h"
#include "commands/message.h"
#include "core/growth.h"
#include "core/hyperloglog.h"
#include "system/signals.h"
#include "text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the report --- */

/* The rate as lines come: in JSON an array, in text a table. */
static void show_curve(struct figures *figures, const struct forecast *forecast)
{
    static const double points[] = {0.1, 0.25, 0.5, 1, 1.5, 2, 5}; /* of the capacity */
    double capacity = (double)forecast->capacity, last = 0;
    bool grows = forecast_grows(forecast);
    figures_open(figures, "curve", '[');
    if (!figures->json)
        printf("\nlines               rate%s\n",
               grows ? "                (if it did not grow)" : "");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double lines = round(points[i] * capacity);
        if (lines <= last) /* of few lines, not all points differ */
            continue;
        last = lines;
        figures_open(figures, NULL, '{');
        figures_show(figures, {NULL, "lines", COUNT(lines)},
                     {figures_text(figures, "%.0f", lines), "rate",
                      RATE(forecast_rate(forecast, lines))});
        figures_close(figures, '}');
    }
    figures_close(figures, ']');
}

static void show_forecast(struct figures *figures, const struct forecast *forecast)
{
    const struct filter_plan *plan = &forecast->plan;
    struct geometry geometry = forecast->layer.geometry;
    double classic = sizing_classic_bits_per_key(plan->rate) * geometry_cell_bits(geometry);
    double least = log2(1 / plan->rate), most = (double)forecast->layer.capacity * forecast->layers;
    uint64_t pages = forecast->layer.pages;
    uint64_t bytes = header_bytes_without_stages(pages, plan, forecast->layers);
    uint64_t bytes_max = header_file_bytes(pages, plan, forecast->layers);
    figures_show(
        figures, {"capacity", "capacity", LINES(forecast->capacity)},
        {"window", NULL, TEXT(figures_window(figures, plan, most)), .absent = !plan->window},
        {"false-positive rate", "false_positive_rate", ASKED(plan->rate),
         .note = forecast_grows(forecast) ? ", kept while the filter grows" : NULL},
        {NULL, "rate", RATE(forecast_rate(forecast, (double)forecast->capacity))},
        {"size", "size_bytes", SIZE(bytes)},
        {bytes_max > bytes ? "with staging area" : NULL, "size_bytes_staged", SIZE(bytes_max)},
        {"bits per key", "bits_per_key", BITS(forecast_bits_per_key(forecast)),
         .note = figures_text(figures, " (classic filter %.2f, any structure at least %.2f)",
                              classic, least)},
        {"hashes", "hashes", COUNT(geometry_hashes(geometry))},
        {"cache lines", "cache_lines", COUNT(geometry.blocks)}, {"pages", "pages", COUNT(pages)},
        {NULL, "fixed", FLAG(plan->fixed)}, {NULL, "counting", FLAG(geometry.counting)},
        {"classic rate", "classic_rate", RATE(forecast_classic_rate(forecast)),
         .note = " at capacity (of a classic filter of this size)"});
    show_curve(figures, forecast);
}

static int make_forecast(const struct options *options, struct forecast *forecast)
{
    struct header header;
    if (filter_spec_header(options, &header) != 0)
        return EXIT_TROUBLE;
    if (forecast_make(forecast, &header.plan) == 0)
        return 0;
    return message("plan: the filter would be too large (ask for fewer lines, or a higher -p)");
}

/* --- from data --- */

struct planning {
    struct job job;
    struct options planned; /* for `unseen create`, with the capacity found */
    uint64_t bytes;         /* of the lines, without their ends */
};

static struct hyperloglog sketch; /* 128 KB, too large for some stacks */

static int count_lines(void *context, const struct batch *batch, struct collect *to,
                       struct fault *fault)
{
    struct planning *planning = context;
    (void)to;
    (void)fault;
    planning->bytes += batch->starts[batch->n] - batch->starts[0] - batch->n;
    hyperloglog_add(&sketch, batch->keys, batch->n);
    return 0;
}

static int report_plan(struct planning *planning, int status)
{
    const struct job *job = &planning->job;
    struct options *options = &planning->planned;
    char lacks[KEY_OPTIONS_WORDS], not_json[64] = "";
    struct told_lines told;
    struct forecast forecast;
    struct figures figures;
    double lines = (double)job->counts.read;
    if (signals_arrived() || (status != EXIT_OK && lines == 0))
        return status;
    if (lines == 0)
        return message("plan: the input has no lines (without data: unseen plan -n N)");
    /* 1. The plan, for about as many lines as are distinct: an estimate, within 1% (3.4 standard
     * errors). Lines before the fault of an input count. */
    double distinct = fmin(round(hyperloglog_estimate(&sketch)), lines);
    options->capacity = number_capacity(distinct);
    if (make_forecast(options, &forecast) != 0)
        return EXIT_TROUBLE;
    /* 2. The command that makes it. */
    bool asked = options->rate != 0 || options->size != 0 || options->bits_per_key != 0;
    char *words = options_words(options, FOR_CREATE), *command;
    int made = words != NULL ? asprintf(&command, "unseen create -n %" PRIu64 "%s%s FILTER",
                                        options->capacity, asked ? "" : " -p 1e-6", words)
                             : -1;
    free(words);
    if (made < 0)
        return message("%s", strerror(ENOMEM));
    /* 3. The report. */
    figures_begin(&figures, stdout, options->json);
    job_tell_lines(job, &told);
    const char *missing = key_options_lacking(&job->recipe, lacks);
    uint64_t texts = job->counts.keyless[NO_KEY_NOT_JSON].read;
    if (texts > 0)
        snprintf(not_json, sizeof not_json, ", %" PRIu64 " not JSON", texts);
    told.rows[0].words = "without a key";
    told.rows[0].note = figures_text(&figures, " (no %s%s: compared as whole lines)",
                                     missing != NULL ? missing : "", not_json);
    for (size_t i = 0; i < 4; i++)
        told.rows[i].absent = missing == NULL;
    figures_show(&figures, {"lines read", "read", COUNT(lines)},
                 {"distinct", "distinct", COUNT(distinct), .note = " (within 1%)"},
                 {"duplicates", NULL,
                  TEXT(figures_text(&figures, "%.0f%%", (1 - distinct / lines) * 100))},
                 {"bytes per line", "bytes_per_line", RATE((double)planning->bytes / lines)},
                 TOLD_KEYLESS(told));
    if (!figures.json)
        putchar('\n');
    show_forecast(&figures, &forecast);
    figures_show(&figures, {NULL, "command", TEXT(command)});
    figures_end(&figures);
    if (!figures.json)
        printf("\nTo make it: %s\n", command);
    free(command);
    int printed = message_finish_output();
    return status == EXIT_OK ? printed : status;
}

/* --- the command --- */

int command_plan(const struct options *options)
{
    struct planning planning = {.planned = *options};
    struct job *job = &planning.job;
    struct forecast forecast;
    struct figures figures;
    bool of_data = options->operand_count > 0;
    bool counted = options->capacity != 0 || options->window != 0;
    int status = EXIT_TROUBLE;
    if (of_data && counted)
        return message("%s and FILE: both give the number of lines (leave one out)",
                       options->spelled[options->capacity != 0 ? OPTION_capacity : OPTION_window]);
    if (!of_data && !counted && options->size == 0 && options->bits_per_key == 0)
        return message("plan: no number of lines given (unseen plan -n 1e9 -p 1e-4; for those of "
                       "a file: unseen plan FILE)");
    /* For data first a plan for one line, so that faults of the options are reported before these
     * are read. */
    if (of_data) {
        planning.planned.capacity = 1;
        if (job_parse(job, options) != 0)
            return EXIT_TROUBLE;
    }
    if (make_forecast(&planning.planned, &forecast) != 0)
        return EXIT_TROUBLE;
    if (of_data) {
        job->plan.hashers = hashers_of_keys(hasher_xxh3(0));
        job->plan.context = &planning;
        job->plan.take_lines = count_lines;
        if (job_open(job) == 0 && job_start(job) == 0)
            status = report_plan(&planning, job_end(job, job_read(job)));
        job_close(job);
        return status;
    }
    figures_begin(&figures, stdout, options->json);
    show_forecast(&figures, &forecast);
    figures_end(&figures);
    return message_finish_output();
}
