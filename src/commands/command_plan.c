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
#include "system/machine.h"
#include "system/signals.h"
#include "text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the curve, on a terminal --- */

/* No colour, no escape sequences, no line wider than the terminal. A cell has one dot in ASCII; in
 * UTF-8 2 by 4, as in Braille. Levels are rows of dots, from 0 at the bottom; -1 is below. */
enum { LABEL = 8, ROWS_OF_CURVE = 12, COLUMNS_MOST = 500, DIGITS_OF_RATE = 2 };

/* Lower rates are drawn as this one, so that the logarithm is finite. */
#define RATE_LEAST 1e-300

struct curve {
    bool utf8;
    unsigned columns, across, up;    /* cells; dots of a cell */
    double bottom, top;              /* powers of ten */
    int level[2 * COLUMNS_MOST + 1]; /* the first is that of a dot before the curve */
};

static int level_of(const struct curve *curve, double rate)
{
    double height = (log10(fmax(rate, RATE_LEAST)) - curve->bottom) / (curve->top - curve->bottom);
    return (int)fmax(floor(height * (ROWS_OF_CURVE * curve->up - 1) + 0.5), -1);
}

/* `point`: the column of the point if it is in this row, else a column after the last. */
static void draw_row(const struct curve *curve, unsigned row, unsigned point)
{
    static const unsigned char upward[] = {64, 4, 2, 1, 128, 32, 16, 8}; /* bits of Braille */
    int blanks = 0;
    fputs(curve->utf8 ? "│" : "|", stdout);
    for (unsigned column = 0; column < curve->columns; column++, blanks++) {
        unsigned dots = 0;
        /* Where the curve is steep, dots are joined vertically, so that there is no gap. */
        for (unsigned i = 0; i < curve->across * curve->up; i++) {
            const int *level = &curve->level[column * curve->across + i / curve->up];
            int y = (int)((ROWS_OF_CURVE - 1 - row) * curve->up + i % curve->up);
            if (level[0] < level[1] ? level[0] < y && y <= level[1] : y == level[1])
                dots |= upward[i];
        }
        if (dots == 0 && column != point)
            continue;
        printf("%*s", blanks, "");
        if (column == point)
            fputs(curve->utf8 ? "●" : "O", stdout);
        else if (!curve->utf8)
            putchar('*');
        else
            printf("\xe2%c%c", (int)(0xa0 | dots >> 6), (int)(0x80 | (dots & 63)));
        blanks = -1;
    }
    putchar('\n');
}

/* Draws the rate for 0 to twice the lines at capacity, with a point at capacity, in 14 rows. */
static void draw_curve(const struct forecast *forecast)
{
    bool utf8 = terminal_shows_utf8();
    double lines = (double)forecast->capacity, at = forecast_rate(forecast, lines);
    unsigned columns = terminal_width(STDOUT_FILENO) - LABEL - 2;
    struct curve curve = {
        .utf8 = utf8,
        .columns = columns < COLUMNS_MOST ? columns : COLUMNS_MOST,
        .across = utf8 ? 2 : 1,
        .up = utf8 ? 4 : 1,
        .level[0] = -1,
    };
    /* 1. The decades: from the rate at a quarter of the lines, but at most four below the point. */
    double low = fmax(forecast_rate(forecast, lines / 4), at * 1e-4);
    double high = fmin(forecast_rate(forecast, lines * 2), 1);
    curve.bottom = floor(log10(fmax(low, RATE_LEAST)));
    curve.top = fmax(ceil(log10(fmax(high, RATE_LEAST))), curve.bottom + 1);
    /* 2. The curve, row by row. */
    unsigned dots = curve.columns * curve.across;
    for (unsigned x = 0; x < dots; x++) {
        double rate = forecast_rate(forecast, (x + 0.5) / dots * 2 * lines);
        curve.level[x + 1] = level_of(&curve, fmin(rate, 1));
    }
    unsigned point_row = ROWS_OF_CURVE - 1 - (unsigned)fmax(level_of(&curve, at), 0) / curve.up;
    for (unsigned row = 0; row < ROWS_OF_CURVE; row++) {
        char label[NUMBER_TEXT] = "";
        bool top = row == 0, bottom = row == ROWS_OF_CURVE - 1, point = row == point_row;
        if (point || top || bottom)
            number_text(point ? at : pow(10, top ? curve.top : curve.bottom), DIGITS_OF_RATE,
                        label);
        printf("%*s ", LABEL, label);
        draw_row(&curve, row, point ? curve.columns / 2 : COLUMNS_MOST);
    }
    /* 3. The axis; and under it 0, the lines at the point and, if they fit, those at the end. */
    char middle[32], end[32];
    int foot = (int)curve.columns / 2, left = (int)strlen(number_count(lines, middle)) / 2;
    int right = (int)curve.columns - foot - left - 1;
    printf("%*s %s", LABEL, "", utf8 ? "└" : "+");
    for (int column = 0; column < (int)curve.columns; column++)
        fputs(column == foot ? (utf8 ? "┴" : "+") : (utf8 ? "─" : "-"), stdout);
    printf("\n%*s 0%*s", LABEL, "", foot + left + 1, middle);
    if (right > (int)strlen(number_count(2 * lines, end)) + 6)
        printf("%*s lines", right - 6, end);
    putchar('\n');
}

/* --- the report --- */

/* The rate as lines come: in JSON an array, in text a table, or on a terminal a curve. */
static void show_curve(struct figures *figures, const struct forecast *forecast)
{
    static const double points[] = {0.1, 0.25, 0.5, 1, 1.5, 2, 5}; /* of the capacity */
    double capacity = (double)forecast->capacity, last = 0;
    bool grows = forecast_grows(forecast);
    if (!figures->json && isatty(STDOUT_FILENO)) {
        char count[NUMBER_TEXT], rate[NUMBER_TEXT], most[NUMBER_TEXT];
        printf("\nfalse-positive rate\n");
        draw_curve(forecast);
        printf("%s With %s %s the rate is %s.\n", terminal_shows_utf8() ? "●" : "O",
               number_count(capacity, count), number_lines(forecast->capacity),
               number_text(forecast_rate(forecast, capacity), DIGITS_OF_RATE, rate));
        number_text(forecast->plan.rate, NUMBER_ASKED, most);
        if (grows)
            printf("Beyond that the filter grows, and the rate stays below %s;\n"
                   "the curve shows a filter that does not grow.\n",
                   most);
        else if (forecast->plan.window && forecast->plan.forget == 0)
            printf("Beyond that, old lines are forgotten, and the rate stays below %s.\n", most);
        return;
    }
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
