/* command_plan - `unseen plan`: reports what a filter for so many lines, or for those of a file,
 * would be. Changes no file. */
#include "commands/chart.h"
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_spec.h"
#include "commands/job.h"
#include "commands/message.h"
#include "commands/warnings.h"
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

/* Points of the curve, as fractions of the capacity. */
static const double points[] = {0.1, 0.25, 0.5, 1, 1.5, 2, 5};
enum { POINTS = sizeof points / sizeof *points };

static void draw_curve(const struct chart *chart, const struct forecast *forecast)
{
    double lines = (double)forecast->capacity;
    char count[NUMBER_TEXT], rate[NUMBER_TEXT], most[NUMBER_TEXT];
    printf("false-positive rate\n");
    chart_curve(chart, forecast);
    printf("%s With %s %s the rate is %s.\n", chart->stroke->point, number_count(lines, count),
           number_lines(forecast->capacity),
           number_text(forecast_rate(forecast, lines), CHART_DIGITS, rate));
    number_text(forecast->plan.rate, NUMBER_ASKED, most);
    if (forecast_grows(forecast))
        printf("Beyond that the filter grows, and the rate stays below %s;\n"
               "the curve shows a filter that does not grow.\n",
               most);
    else if (forecast->plan.window && forecast->plan.forget == 0)
        printf("Beyond that, old lines are forgotten, and the rate stays below %s.\n", most);
}

struct curve {
    const struct forecast *forecast;
    size_t count;
    double lines[POINTS]; /* ascending: of few lines, not all points differ */
};

static void show_point(struct figures *figures, const void *context, size_t i)
{
    const struct curve *curve = context;
    double lines = curve->lines[i];
    figures_show(figures, {NULL, "lines", COUNT(lines)},
                 {figures_text(figures, "%.0f", lines), "rate",
                  RATE(forecast_rate(curve->forecast, lines))});
}

static void show_curve(struct figures *figures, const struct forecast *forecast)
{
    struct chart chart;
    struct curve curve = {.forecast = forecast};
    double last = 0;
    for (size_t i = 0; i < POINTS; i++) {
        double lines = round(points[i] * (double)forecast->capacity);
        if (lines > last)
            curve.lines[curve.count++] = last = lines;
    }
    if (figures->json) {
        figures_show(figures, {NULL, "curve", LIST(curve.count, show_point, &curve)});
        return;
    }
    putchar('\n');
    if (chart_begin(&chart)) {
        draw_curve(&chart, forecast);
        return;
    }
    puts(forecast_grows(forecast) ? "lines               rate                (if it did not grow)"
                                  : "lines               rate");
    for (size_t i = 0; i < curve.count; i++)
        show_point(figures, &curve, i);
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

/* --- from numbers --- */

static int make_forecast(const struct options *options, struct forecast *forecast)
{
    struct header header;
    if (filter_spec_header(options, &header) != 0)
        return EXIT_TROUBLE;
    if (forecast_make(forecast, &header.plan) == 0)
        return 0;
    return message("plan: the filter would be too large (ask for fewer lines, or a higher -p)");
}

static int plan_from_numbers(const struct options *options)
{
    struct figures figures = {.to = stdout, .json = options->json};
    struct forecast forecast;
    if (make_forecast(options, &forecast) != 0)
        return EXIT_TROUBLE;
    show_forecast(&figures, &forecast);
    figures_end(&figures);
    return message_finish_output();
}

/* --- from data --- */

struct planning {
    struct job job;
    struct options planned; /* for `unseen create`, with the capacity found */
    uint64_t bytes;         /* of the lines, without their ends */
    uint64_t distinct;      /* an estimate, within 1% (3.4 standard errors) */
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

static void show_counted(struct figures *figures, const struct planning *planning)
{
    double lines = (double)planning->job.counts.read, distinct = (double)planning->distinct;
    const char *missing = words_for_key(&planning->job.recipe);
    figures_show(figures, {"lines read", "read", COUNT(lines)},
                 {"distinct", "distinct", COUNT(distinct), .note = " (within 1%)"},
                 {"duplicates", NULL,
                  TEXT(figures_text(figures, "%.0f%%", (1 - distinct / lines) * 100))},
                 {"bytes per line", "bytes_per_line", RATE((double)planning->bytes / lines)},
                 {"without a key", "without_key", COUNT(planning->job.counts.no_key),
                  .absent = missing == NULL,
                  .note = figures_text(figures, " (no %s: compared as whole lines)",
                                       missing != NULL ? missing : "")});
}

static int show_plan(const struct planning *planning, const struct forecast *forecast)
{
    const struct options *options = &planning->planned;
    struct figures figures = {.to = stdout, .json = options->json};
    bool asked = options->rate != 0 || options->size != 0 || options->bits_per_key != 0;
    char *words = options_words(options, FOR_CREATE);
    if (words == NULL)
        return message("%s", strerror(ENOMEM));
    const char *command = figures_text(&figures, "unseen create -n %" PRIu64 "%s%s FILTER",
                                       options->capacity, asked ? "" : " -p 1e-6", words);
    free(words);
    show_counted(&figures, planning);
    if (!figures.json)
        putchar('\n');
    show_forecast(&figures, forecast);
    figures_show(&figures, {NULL, "command", TEXT(command)});
    figures_end(&figures);
    if (!figures.json)
        printf("\nTo make it: %s\n", command);
    return message_finish_output();
}

static int report(struct planning *planning, int status)
{
    struct forecast forecast;
    double lines = (double)planning->job.counts.read;
    if (signals_arrived() || (status != EXIT_OK && lines == 0))
        return status;
    if (lines == 0)
        return message("plan: the input has no lines (without data: unseen plan -n N)");
    /* Lines before the fault of an input count. */
    planning->distinct = (uint64_t)fmin(round(hyperloglog_estimate(&sketch)), lines);
    planning->planned.capacity = number_capacity((double)planning->distinct);
    if (make_forecast(&planning->planned, &forecast) != 0)
        return EXIT_TROUBLE;
    int printed = show_plan(planning, &forecast);
    return status == EXIT_OK ? printed : status;
}

static int plan_from_data(const struct options *options)
{
    struct planning planning = {.planned = *options};
    struct job *job = &planning.job;
    struct forecast forecast;
    int status = EXIT_TROUBLE;
    if (options->capacity != 0 || options->window != 0)
        return message("%s and FILE: both give the number of lines (leave one out)",
                       options->spelled[options->capacity != 0 ? OPTION_capacity : OPTION_window]);
    /* A plan for one line, so that faults of the options are reported before the data are read. */
    planning.planned.capacity = 1;
    if (job_parse(job, options) != 0 || make_forecast(&planning.planned, &forecast) != 0)
        return EXIT_TROUBLE;
    job->plan.hashers = hashers_of_keys(hasher_xxh3(0));
    job->plan.context = &planning;
    job->plan.take_lines = count_lines;
    if (job_open(job) == 0 && job_start(job) == 0)
        status = report(&planning, job_end(job, job_read(job)));
    job_close(job);
    return status;
}

int command_plan(const struct options *options)
{
    if (options->operand_count > 0)
        return plan_from_data(options);
    if (options->capacity == 0 && options->window == 0 && options->size == 0 &&
        options->bits_per_key == 0)
        return message("plan: no number of lines given (unseen plan -n 1e9 -p 1e-4; for those of "
                       "a file: unseen plan FILE)");
    return plan_from_numbers(options);
}
