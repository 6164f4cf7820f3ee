/* command_plan - `unseen plan`: what a filter would be, before it is made, for so many lines or for
 * those of a file. Changes no file. */
#include "commands/combinations.h"
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/picture.h"
#include "commands/report.h"
#include "commands/scan.h"
#include "commands/wish.h"
#include "commands/wish_recipe.h"
#include "core/hyperloglog.h"
#include "core/number.h"
#include "pipeline/marks.h"
#include "system/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the questions come down to. */
struct answer {
    struct filter_plan plan;
    struct layer_plan layer;
    uint64_t capacity; /* what it is about: the lines of the window, or the first layer's */
    uint64_t bytes;    /* of the file, as --size counts them */
    uint64_t most;     /* of the file, with full stages */
    uint64_t stages;   /* of these bytes, those of stages */
};

static unsigned layers_of(const struct answer *answer)
{
    return growth_first_layers(&answer->plan);
}

static uint64_t capacity_of(const struct filter_plan *plan, const struct layer_plan *layer)
{
    if (!plan->window)
        return (uint64_t)round(growth_made_for(plan, layer));
    return plan->capacity != 0 ? plan->capacity : layer->capacity * GENERATIONS;
}

static double bits_per_key(const struct answer *answer)
{
    return sizing_bits_per_key(answer->layer.pages * layers_of(answer), (double)answer->capacity);
}

/* Points of the curve, as fractions of the capacity. */
static const double points[] = {0.1, 0.25, 0.5, 1, 1.5, 2, 5};
enum { POINTS = sizeof points / sizeof *points };

/* The rate of a layer of a window that has remembered so many keys. */
static double rate_of_generation(struct layer_plan layer, double keys)
{
    layer.capacity = (uint64_t)keys;
    return sizing_rate(layer.geometry, layer.pages, growth_full(&layer));
}

/* The rate after so many keys. A window's layers fill one after the other, as many as there are. */
static double rate_at(const struct answer *answer, double keys)
{
    const struct layer_plan *layer = &answer->layer;
    double each = (double)layer->capacity, miss = 1;
    if (!answer->plan.window)
        return sizing_rate(layer->geometry, layer->pages, keys);
    double full = rate_of_generation(*layer, each);
    for (unsigned i = 0; i < layers_of(answer) && keys > 0; i++, keys -= each)
        miss *= 1 - (keys < each ? rate_of_generation(*layer, keys) : full);
    return 1 - miss;
}

static double point(const struct answer *answer, size_t i)
{
    return points[i] * (double)answer->capacity;
}

/* The classic filter of the same size, k and cells: what the textbooks promise. */
static double classic_rate(const struct answer *answer)
{
    struct geometry geometry = answer->layer.geometry;
    return sizing_classic_rate(bits_per_key(answer) / geometry_cell_bits(geometry),
                               geometry_hashes(geometry));
}

static void print_window(const struct answer *answer)
{
    char time[32];
    const struct filter_plan *plan = &answer->plan;
    if (plan->forget != 0)
        printf("%-20s%s\n", "window", report_time(plan->forget, time));
    else
        printf("%-20sthe last %" PRIu64 " to %" PRIu64 " lines\n", "window", plan->capacity,
               answer->layer.capacity * layers_of(answer));
}

static bool grows(const struct answer *answer)
{
    return growth_rate(&answer->plan, layers_of(answer)) > 0;
}

static void print_points(const struct answer *answer)
{
    printf("%-20s%-20s%s\n", "lines", "rate",
           !grows(answer)          ? ""
           : layers_of(answer) > 1 ? "(first layers alone)"
                                   : "(first layer alone)");
    char rate[NUMBER_TEXT];
    for (size_t i = 0; i < POINTS; i++)
        printf("%-20.0f%s\n", point(answer, i),
               number_text(rate_at(answer, point(answer, i)), NUMBER_FOUND, rate));
}

static double rate_in_picture(const void *context, double keys)
{
    return rate_at(context, keys);
}

static void draw_curve(const struct picture *picture, const struct answer *answer)
{
    double lines = (double)answer->capacity;
    char count[32], rate[32], most[32];
    printf("false-positive rate\n");
    picture_curve(picture, &(struct picture_curve){rate_in_picture, answer, lines});
    printf("%s With %s %s the rate is %s.\n", picture_point(picture), picture_count(lines, count),
           number_lines(answer->capacity),
           number_text(rate_at(answer, lines), PICTURE_DIGITS, rate));
    number_text(answer->plan.rate, NUMBER_ASKED, most);
    if (grows(answer))
        printf("Past that the filter grows, and the rate stays below %s;\n"
               "the curve is that of a filter that does not grow.\n",
               most);
    else if (answer->plan.window && answer->plan.forget == 0)
        printf("Past that old lines are forgotten, and the rate stays below %s.\n", most);
}

static void print_text(const struct answer *answer)
{
    char sizes[REPORT_SIZES], rate[NUMBER_TEXT], geometry[64];
    struct picture picture;
    const struct layer_plan *layer = &answer->layer;
    unsigned hashes = geometry_hashes(layer->geometry);
    printf("%-20s%" PRIu64 " %s\n", "capacity", answer->capacity, number_lines(answer->capacity));
    if (answer->plan.window)
        print_window(answer);
    printf("%-20s%s%s\n", "false-positive rate", number_text(answer->plan.rate, NUMBER_ASKED, rate),
           grows(answer) ? ", kept while the filter grows" : "");
    printf("%-20s%s\n", "size", report_sizes(answer->most, answer->stages, sizes));
    printf("%-20s%.2f (classic filter %.2f, any structure at least %.2f)\n", "bits a line",
           bits_per_key(answer),
           sizing_classic_bits_per_key(answer->plan.rate) * geometry_cell_bits(layer->geometry),
           log2(1 / answer->plan.rate));
    printf("%-20s%u = %s%s, in one of %" PRIu64 " %s%s\n", "hashes", hashes,
           report_geometry(layer->geometry, geometry),
           layer->geometry.counting ? " of 4-bit cells" : "", layer->pages,
           number_of(layer->pages, "page", "pages"), layers_of(answer) > 1 ? " of each layer" : "");
    putchar('\n');
    if (picture_begin(&picture))
        draw_curve(&picture, answer);
    else
        print_points(answer);
    printf("\nA classic filter of this size with %u %s: %s at capacity\n", hashes,
           number_of(hashes, "hash", "hashes"),
           number_text(classic_rate(answer), NUMBER_FOUND, rate));
}

static void print_curve(struct report *report, const struct answer *answer)
{
    report_json(report, "curve", "[");
    for (size_t i = 0; i < POINTS; i++)
        printf("%s{\"keys\":%.0f,\"rate\":%.6g}", i > 0 ? "," : "", point(answer, i),
               rate_at(answer, point(answer, i)));
    putchar(']');
}

static void print_json(struct report *report, const struct answer *answer)
{
    const struct layer_plan *layer = &answer->layer;
    report_json(report, "capacity", "%" PRIu64, answer->capacity);
    report_json(report, "target_rate", "%.6g", answer->plan.rate);
    report_json(report, "rate", "%.6g", rate_at(answer, (double)answer->capacity));
    report_json(report, "bytes", "%" PRIu64, answer->bytes);
    report_json(report, "bytes_at_most", "%" PRIu64, answer->most);
    report_json(report, "bits_per_key", "%.4g", bits_per_key(answer));
    report_json(report, "hashes", "%u", geometry_hashes(layer->geometry));
    report_json(report, "lines", "%u", layer->geometry.lines);
    report_json(report, "fields", "%u", layer->geometry.fields);
    report_json(report, "pages", "%" PRIu64, layer->pages);
    report_json(report, "fixed", "%s", answer->plan.fixed ? "true" : "false");
    report_json(report, "counting", "%s", layer->geometry.counting ? "true" : "false");
    report_json(report, "classic_rate", "%.6g", classic_rate(answer));
    print_curve(report, answer);
}

/* Without -n, bits and hashes are asked about a filter of any size; this is large enough for whole
 * pages not to matter. */
enum { ANY_CAPACITY = 100000000 };

static int answer_questions(const struct options *options, struct answer *answer)
{
    struct header header;
    *answer = (struct answer){.bytes = 0};
    if (wish_plan(options, true, ANY_CAPACITY, &header) != 0)
        return EXIT_TROUBLE;
    answer->plan = header.plan;
    if (growth_first(&answer->plan, &answer->layer) != 0)
        return message(
            "plan: a filter cannot be that large (ask for fewer lines, or a higher rate)");
    answer->capacity = capacity_of(&answer->plan, &answer->layer);
    uint64_t pages = answer->layer.pages;
    answer->bytes = header_asked_bytes(pages, &answer->plan, layers_of(answer));
    answer->most = header_file_bytes(pages, &answer->plan, layers_of(answer));
    answer->stages = header_stage_bytes(pages, &answer->plan, layers_of(answer));
    return 0;
}

static int plan_from_numbers(const struct options *options)
{
    struct report report = {.json = options_has(options, OPTION_JSON)};
    struct answer answer;
    if (answer_questions(options, &answer) != 0)
        return EXIT_TROUBLE;
    if (report.json) {
        print_json(&report, &answer);
        printf("}\n");
    } else {
        print_text(&answer);
    }
    return message_finish_output();
}

/* --- from data --- */

/* What the inputs hold. */
struct census {
    uint64_t lines;  /* all of them, but for header lines */
    uint64_t bytes;  /* of the lines, without their ends */
    uint64_t itself; /* lines that count as themselves, as they have no such field or are no URL */
    uint64_t distinct; /* keys: an estimate, within 1 % (3.4 standard errors) */
};

struct count {
    struct census *census;
    struct hyperloglog *sketch;
};

static int count_lines(void *context, const struct batch *batch, struct fault *fault)
{
    const struct count *count = context;
    struct census *census = count->census;
    (void)fault;
    census->lines += batch->n;
    census->bytes += batch->starts[batch->n] - batch->starts[0] - batch->n;
    census->itself += marks_count(batch->itself, batch->n);
    hyperloglog_add(count->sketch, batch->keys, batch->n);
    return 0;
}

/* In one pass, with 128 KB. Returns as inputs_read; what was counted before an input failed is in
 * the census. */
static int take_census(const struct inputs *inputs, const struct recipe *recipe,
                       struct census *census)
{
    struct count count = {census, calloc(1, sizeof *count.sketch)};
    *census = (struct census){.lines = 0};
    if (count.sketch == NULL)
        return message("%s", strerror(ENOMEM));
    int status = scan_inputs(&(struct scan){
        .inputs = inputs,
        .recipe = recipe,
        .hashers = hashers_of_keys(hasher_xxh3(0)),
        .context = &count,
        .lines = count_lines,
    });
    double distinct = round(hyperloglog_estimate(count.sketch));
    census->distinct = distinct < (double)census->lines ? (uint64_t)distinct : census->lines;
    free(count.sketch);
    return status;
}

struct job {
    struct inputs inputs;
    struct recipe recipe;
    struct census census;
    /* The options as they would be given to create: with the -n that was found, and with -p. */
    struct options planned;
    char capacity[24];
};

static void give(struct options *options, enum option_id id, const char *value)
{
    options->set |= OPTION_BIT(id);
    options->given[id] = value;
    const char *const *spellings = option_table[id].spellings;
    options->spelled[id] = spellings[spellings[1] != NULL];
}

/* All that can be wrong with the options is said before the data are read: hence a plan for one
 * line, of which nobody hears. */
static int parse(struct job *job, const struct options *options)
{
    const uint64_t sized = OPTION_BIT(OPTION_RATE) | OPTION_BIT(OPTION_SIZE) |
                           OPTION_BIT(OPTION_BITS_PER_KEY);
    struct answer answer;
    job->planned = *options;
    give(&job->planned, OPTION_CAPACITY, "1");
    if ((options->set & sized) == 0)
        give(&job->planned, OPTION_RATE, "1e-6");
    if (wish_recipe_read(options, &job->recipe) != 0 ||
        answer_questions(&job->planned, &answer) != 0)
        return EXIT_TROUBLE;
    inputs_parse(&job->inputs, options, 0);
    return inputs_check(&job->inputs, NULL, NULL);
}

static void print_census(struct report *report, const struct job *job)
{
    const struct census *census = &job->census;
    double lines = (double)census->lines;
    double repeats = 1 - (double)census->distinct / lines;
    double line_bytes = (double)census->bytes / lines;
    report_count(report, "lines", "lines_read", lines, "");
    report_count(report, "distinct", "distinct", (double)census->distinct, " (within 1 %)");
    report_text(report, "repeats", "%.0f %%", repeats * 100);
    report_json(report, "repeats", "%.3f", repeats);
    report_text(report, "bytes a line", "%.1f", line_bytes);
    report_json(report, "line_bytes", "%.6g", line_bytes);
    const char *missing = wish_recipe_missing(&job->recipe);
    if (missing == NULL)
        return;
    report_text(report, "without a key", "%" PRIu64 " (no %s: they count as themselves)",
                census->itself, missing);
    report_json(report, "without_key", "%" PRIu64, census->itself);
}

static int print_plan(const struct job *job, const struct answer *answer)
{
    struct report report = {.json = options_has(&job->planned, OPTION_JSON)};
    char *command = filter_operand_making("create", &job->planned, "FILTER");
    if (command == NULL)
        return message("%s", strerror(ENOMEM));
    print_census(&report, job);
    if (report.json) {
        print_json(&report, answer);
        report_quoted(&report, "command", command);
        printf("}\n");
    } else {
        putchar('\n');
        print_text(answer);
        printf("\nTo make it: %s\n", command);
    }
    free(command);
    return message_finish_output();
}

static int plan_from_data(const struct options *options)
{
    struct job job;
    struct answer answer;
    if (parse(&job, options) != 0)
        return EXIT_TROUBLE;
    if (confinement_start(&(struct confinement){.inputs = &job.inputs}) != 0)
        return EXIT_TROUBLE;
    int status = take_census(&job.inputs, &job.recipe, &job.census);
    if (signals_pending() || (status != EXIT_OK && job.census.lines == 0))
        return status;
    if (job.census.lines == 0)
        return message("plan: the input has no lines (without data: unseen plan -n N)");
    uint64_t capacity = number_capacity((double)job.census.distinct);
    snprintf(job.capacity, sizeof job.capacity, "%" PRIu64, capacity);
    give(&job.planned, OPTION_CAPACITY, job.capacity);
    if (answer_questions(&job.planned, &answer) != 0)
        return EXIT_TROUBLE;
    int printed = print_plan(&job, &answer);
    return status == EXIT_OK ? printed : status;
}

int command_plan(const struct options *options)
{
    if (combinations_check(options, FOR_PLAN) != 0)
        return EXIT_TROUBLE;
    return options->operand_count > 0 ? plan_from_data(options) : plan_from_numbers(options);
}
