/* command_stats - `unseen stats FILTER...`: what a filter is, and how full. Writes nothing. */
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/picture.h"
#include "commands/queue_operand.h"
#include "commands/report.h"
#include "commands/survey.h"
#include "core/number.h"
#include "system/signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* --- windows --- */

static const char *generation_state(const struct layer_survey *layer)
{
    const struct generation *generation = &layer->generation;
    if (generation->retired)
        return "retired";
    if (generation->number == 0)
        return "free";
    if (generation->expired)
        return "forgotten";
    return generation->filling ? "filling" : "full";
}

static double seconds(uint64_t milliseconds)
{
    return (double)milliseconds / 1000;
}

static const char *date_text(uint64_t milliseconds, char text[64])
{
    time_t time = (time_t)(milliseconds / 1000);
    struct tm date;
    if (gmtime_r(&time, &date) == NULL || strftime(text, 64, "%Y-%m-%d %H:%M:%S UTC", &date) == 0)
        snprintf(text, 64, "%.0f s after 1970", seconds(milliseconds));
    return text;
}

/* What an estimate is called that is shown as a whole number. */
static const char *lines_name(double lines)
{
    return number_lines((uint64_t)round(lines));
}

/* What is forgotten next, and when. By count that is when a key comes which finds no room. */
static void tell_next(struct report *report, const struct filter_plan *plan,
                      const struct survey *survey)
{
    static const char name[] = "forgotten next", member[] = "forgotten_next";
    bool none = survey->next == survey->layers;
    const struct layer_survey *layer = &survey->layer[none ? 0 : survey->next];
    double keys = survey_lines(layer), after = survey->until_forgetting;
    uint64_t ends = layer->generation.ends;
    const char *lines = lines_name(keys);
    char date[64];
    if (none) {
        report_text(report, name, "nothing yet");
        report_json(report, member, "null");
    } else if (plan->forget != 0) {
        report_text(report, name, "%.0f %s, at %s", keys, lines, date_text(ends, date));
        report_json(report, member, "{\"keys\":%.0f,\"time\":%.15g}", keys, seconds(ends));
    } else {
        report_text(report, name, "%.0f %s, after %.0f more", keys, lines, after);
        report_json(report, member, "{\"keys\":%.0f,\"after\":%.0f}", keys, after);
    }
}

static void tell_window(struct report *report, const struct filter_plan *plan,
                        const struct survey *survey)
{
    char time[32], most[32];
    if (plan->forget != 0) {
        report_text(report, "window", "%s, at most %s", report_time(plan->forget, time),
                    report_time(plan->forget + growth_generation(plan->forget), most));
        report_json(report, "forget_after", "%.15g", seconds(plan->forget));
    } else {
        report_text(report, "window", "the last %" PRIu64 " %s, at most %.0f", plan->capacity,
                    number_lines(plan->capacity), survey->capacity);
        report_json(report, "window", "%" PRIu64, plan->capacity);
    }
    tell_next(report, plan, survey);
}

/* --- the filter --- */

static const char *growth_text(const struct filter_plan *plan)
{
    if (plan->fixed)
        return "none (--fixed)";
    return plan->window && plan->forget == 0 ? "none (--window)" : "as needed";
}

static const char *until_text(const struct filter_plan *plan)
{
    if (plan->window)
        return "generation full in";
    return plan->fixed ? "capacity reached in" : "grows in";
}

static void tell_keys(struct report *report, const struct store *store, const struct survey *survey)
{
    const struct filter_plan *plan = &store_header(store)->plan;
    bool counting = plan->geometry.counting;
    report_text(report, "filter", "%s", store_path(store));
    report_quoted(report, "filter", store_path(store));
    report_count(report, "lines", "keys", survey->keys, "");
    report_count(report, "capacity", "capacity", survey->capacity, "");
    report_count(report, NULL, "layers", survey->layers, "");
    report_json(report, "fixed", plan->fixed ? "true" : "false");
    report_json(report, "counting", counting ? "true" : "false");
    report_text(report, "growth", "%s", growth_text(plan));
    if (plan->window)
        tell_window(report, plan, survey);
    report_count(report, "layers", NULL, survey->layers, "");
    report_rate(report, "rate now", "rate", survey->rate, "");
    report_rate(report, "rate at most", "target_rate", plan->rate, "");
    report_text(report, "fill", "%.1f %% of %s", survey->fill * 100,
                counting ? "cells in use" : "bits set");
    report_json(report, "fill", "%.6g", survey->fill);
    if (survey->fuller_pages + survey->emptier_pages > 0)
        report_text(report, "odd pages",
                    "%" PRIu64 " fuller, %" PRIu64 " emptier than by chance (see: unseen verify)",
                    survey->fuller_pages, survey->emptier_pages);
    report_count(report, NULL, "fuller_pages", (double)survey->fuller_pages, "");
    report_count(report, NULL, "emptier_pages", (double)survey->emptier_pages, "");
    report_count(report, until_text(plan), "keys_left", survey->keys_until,
                 round(survey->keys_until) == 1 ? " line" : " lines");
}

static void tell_recipe(struct report *report, const char *member, const struct recipe *recipe)
{
    char text[RECIPE_TEXT];
    if (recipe_is_whole_line(recipe)) {
        report_json(report, member, "null");
        return;
    }
    report_json(report, member, "{\"trim\":%s", recipe->trim ? "true" : "false");
    if (recipe->ranges > 0)
        report_json(report, "fields", "\"%s\"", recipe_fields_text(recipe, text));
    if (recipe->separated)
        report_quoted(report, "separator", recipe_separator_text(recipe, text));
    report_json(report, "by", "\"%s\"", recipe_profile_text(recipe, text));
    report_json(report, "ignore_case", "%s}", recipe->fold ? "true" : "false");
}

static void tell_part(struct report *report, const struct header *header)
{
    struct shard shard = header->shard;
    if (shard.parts == 0)
        return;
    report_text(report, "part", "%" PRIu32 " of %" PRIu32, shard.part, shard.parts);
    report_json(report, "part", "%" PRIu32, shard.part);
    report_json(report, "parts", "%" PRIu32, shard.parts);
}

/* A secret is never told. */
static void tell_hash(struct report *report, const struct header *header)
{
    if (header_has_secret(header)) {
        report_text(report, "hash", "siphash-2-4-128, its secret is in the filter");
        report_json(report, "hash", "\"siphash-2-4-128\"");
        report_json(report, "seed", "null");
        report_quoted(report, "secret", "inside");
    } else {
        report_text(report, "hash", "xxh3-128, seed %" PRIu64, header->hasher.k0);
        report_json(report, "hash", "\"xxh3-128\"");
        report_json(report, "seed", "%" PRIu64, header->hasher.k0);
        report_json(report, "secret", "null");
    }
}

static void tell_form(struct report *report, const struct store *store, const struct survey *survey)
{
    const struct header *header = store_header(store);
    struct geometry geometry = growth_geometry(&header->plan);
    uint64_t bytes = store_file_bytes(store), stages = store_stage_bytes(store);
    double bits_per_key = sizing_bits_per_key(survey->pages, survey->capacity);
    char sizes[REPORT_SIZES], text[RECIPE_TEXT], shown[64];
    report_text(report, "size on disk", "%s", report_sizes(bytes, stages, sizes));
    report_count(report, NULL, "bytes", (double)(bytes - stages), "");
    report_count(report, NULL, "bytes_at_most", (double)bytes, "");
    report_text(report, "bits a line", "%.2f at capacity", bits_per_key);
    report_json(report, "bits_per_key", "%.4g", bits_per_key);
    report_text(report, "geometry", "%s%s for each line, in 1 page of 4096 bytes",
                report_geometry(geometry, shown),
                header->plan.geometry.counting ? " of 4-bit cells" : "");
    report_text(report, "counts", "%s", recipe_shown(&header->recipe, text));
    tell_recipe(report, "recipe", &header->recipe);
    tell_part(report, header);
    tell_hash(report, header);
    report_json(report, "created", "%" PRId64, header->created);
    report_json(report, "uuid", "\"");
    for (unsigned i = 0; report->json && i < UUID_BYTES; i++)
        printf("%s%02x%s", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", header->uuid[i],
               i == UUID_BYTES - 1 ? "\"" : "");
}

/* Returns EXIT_OK, or EXIT_TROUBLE after a message. */
static int tell_queue(struct report *report, const struct store *store)
{
    struct fault fault;
    struct queue_facts facts;
    if (store_queue(store) == QUEUE_NONE)
        return EXIT_OK;
    int result = queue_operand_facts(store, &facts, &fault);
    if (result == 1)
        report_text(report, "queue", "missing: %s", fault.object);
    if (result != 0)
        return result == 1 ? EXIT_OK : result;
    report_text(report, "queue", "%" PRIu64 " %s waiting, %" PRIu64 " held by workers",
                facts.waiting, number_lines(facts.waiting), facts.held);
    if (facts.given_up > 0)
        report_text(report, "given up", "%" PRIu64 " %s, in %s.failed", facts.given_up,
                    number_lines(facts.given_up), store_real_path(store));
    report_json(report, "waiting", "%" PRIu64, facts.waiting);
    report_json(report, "held", "%" PRIu64, facts.held);
    report_json(report, "given_up", "%" PRIu64, facts.given_up);
    return EXIT_OK;
}

/* --- layers --- */

static void print_layer(unsigned number, const struct layer_survey *layer, bool window)
{
    double capacity = survey_capacity(layer);
    uint64_t pages = layer->plan.pages;
    char date[64], rate[NUMBER_TEXT], most[NUMBER_TEXT], geometry[64];
    printf("layer %-14u%.0f of %.0f %s, %" PRIu64 " %s, %s, fill %.1f %%, rate %s of %s", number,
           survey_lines(layer), capacity, lines_name(capacity), pages,
           number_of(pages, "page", "pages"), report_geometry(layer->plan.geometry, geometry),
           layer->fill * 100, number_text(layer->rate, NUMBER_FOUND, rate),
           number_text(layer->plan.rate, NUMBER_FOUND, most));
    if (window)
        printf(", %s", generation_state(layer));
    if (window && layer->generation.number != 0)
        printf(", generation %" PRIu64 " of %s", layer->generation.number,
               date_text(layer->generation.began, date));
    putchar('\n');
}

static void print_json_layer(const struct layer_survey *layer, bool window)
{
    printf("{\"keys\":%.0f,\"capacity\":%.0f,\"pages\":%" PRIu64
           ",\"lines\":%u,\"fields\":%u,\"fill\":%.6g,\"rate\":%.6g,\"target_rate\":%.6g",
           survey_lines(layer), survey_capacity(layer), layer->plan.pages,
           layer->plan.geometry.lines, layer->plan.geometry.fields, layer->fill, layer->rate,
           layer->plan.rate);
    if (window)
        printf(",\"state\":\"%s\"", generation_state(layer));
    if (window && layer->generation.number != 0)
        printf(",\"generation\":%" PRIu64 ",\"began\":%.15g", layer->generation.number,
               seconds(layer->generation.began));
    putchar('}');
}

/* In text a single layer is the filter itself. */
static void tell_layers(struct report *report, const struct survey *survey, bool window)
{
    report_json(report, "layer", "[");
    for (unsigned i = 0; i < survey->layers; i++) {
        if (report->json && i > 0)
            putchar(',');
        if (report->json)
            print_json_layer(&survey->layer[i], window);
        else if (survey->layers > 1)
            print_layer(i + 1, &survey->layer[i], window);
    }
    if (report->json)
        putchar(']');
}

/* --- the same as a picture --- */

/* Cells that are expected to be in use when a layer is full. */
static double fill_at_capacity(const struct layer_survey *layer)
{
    double keys_a_page = layer->full / (double)layer->plan.pages;
    return -expm1(-geometry_share(layer->plan.geometry) * keys_a_page);
}

static void draw_layer(const struct picture *picture, const struct layer_survey *layer,
                       unsigned number, bool window)
{
    char label[24], notes[128], keys[32], capacity[32], rate[32], most[32];
    snprintf(label, sizeof label, "layer %u", number);
    int length = snprintf(notes, sizeof notes, "%3.0f %%  %s of %s  ", layer->fill * 100,
                          picture_count(survey_lines(layer), keys),
                          picture_count(survey_capacity(layer), capacity));
    if (window)
        snprintf(notes + length, sizeof notes - (size_t)length, "%s", generation_state(layer));
    else
        snprintf(notes + length, sizeof notes - (size_t)length, "rate %s of %s",
                 number_text(layer->rate, PICTURE_DIGITS, rate),
                 number_text(layer->plan.rate, PICTURE_DIGITS, most));
    picture_bar(picture, label, layer->fill, fill_at_capacity(layer), notes);
}

static void draw_layers(const struct picture *picture, const struct survey *survey, bool window)
{
    putchar('\n');
    for (unsigned i = 0; i < survey->layers; i++)
        draw_layer(picture, &survey->layer[i], i + 1, window);
    printf("Fill by layer; %s marks where a layer is full.\n", picture_mark(picture));
}

/* The filters before it were shown, too. */
static int show(const struct options *options, size_t before, const struct store *store)
{
    static struct survey survey; /* 40 KB: not every stack has room */
    struct picture picture;
    if (survey_make(&survey, store) != 0)
        return EXIT_TROUBLE;
    struct report report = {.json = options_has(options, OPTION_JSON)};
    if (!report.json && before > 0)
        putchar('\n');
    tell_keys(&report, store, &survey);
    tell_form(&report, store, &survey);
    int status = tell_queue(&report, store);
    bool window = store_header(store)->plan.window;
    if (!report.json && picture_begin(&picture))
        draw_layers(&picture, &survey, window);
    else
        tell_layers(&report, &survey, window);
    if (report.json)
        printf("}\n");
    return status;
}

int command_stats(const struct options *options)
{
    int status = EXIT_OK;
    if (filter_operand(options) == NULL)
        return EXIT_TROUBLE;
    for (size_t i = 0; i < options->operand_count && !signals_pending(); i++) {
        struct store *store = filter_operand_look(options->operands[i], options);
        if (i == 0 && confinement_of_filters(options) != 0) {
            store_close(store);
            return EXIT_TROUBLE;
        }
        if (store == NULL || show(options, i, store) != EXIT_OK)
            status = EXIT_TROUBLE;
        store_close(store);
    }
    return message_finish_output() == EXIT_OK ? status : EXIT_TROUBLE;
}
