/* command_stats - `unseen stats FILTER...`: what a filter is, and how full. Writes nothing. */
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "commands/survey.h"
#include "system/signals.h"
#include "union/overlap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* A figure with three or four digits: 0.000412, 1e-06, 83.1. */
static const char *rate_text(double rate, char text[32])
{
    snprintf(text, 32, "%.3g", rate);
    return text;
}

static void print_gauge(double fill)
{
    struct winsize window;
    unsigned width = 60;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 40)
        width = window.ws_col < 100 ? window.ws_col - 30U : 70;
    unsigned full = (unsigned)(fill * width + 0.5);
    printf("%-20s[", "");
    for (unsigned i = 0; i < width; i++)
        putchar(i < full ? '#' : '.');
    printf("] %.0f %%\n", fill * 100);
}

static void print_row(const char *name, const char *value)
{
    printf("%-20s%s\n", name, value);
}

static void print_count(const char *name, double count)
{
    printf("%-20s%.0f\n", name, count);
}

/* --- windows --- */

static const char *generation_state(const struct layer_survey *layer)
{
    const struct generation *generation = &layer->generation;
    if (generation->retired)
        return "retired";
    if (generation->number == 0)
        return "free";
    if (layer->forgotten)
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

/* What is forgotten next, and when. By count that is when a key comes which finds no room. */
static void print_next(const struct filter_plan *plan, const struct survey *survey)
{
    char text[160], date[64];
    if (survey->next == survey->layers) {
        snprintf(text, sizeof text, "nothing yet");
    } else {
        const struct layer_survey *layer = &survey->layer[survey->next];
        if (plan->forget != 0)
            snprintf(text, sizeof text, "%.0f keys, at %s", layer->keys,
                     date_text(layer->generation.ends, date));
        else
            snprintf(text, sizeof text, "%.0f keys, with the one after %.0f more", layer->keys,
                     survey->until_forgetting);
    }
    print_row("forgotten next", text);
}

static void print_window(const struct filter_plan *plan, const struct survey *survey)
{
    char text[160], time[32], most[32];
    if (plan->forget != 0)
        snprintf(text, sizeof text, "%s, at most %s", creation_time(plan->forget, time),
                 creation_time(plan->forget + (plan->forget - 1) / plan->generations + 1, most));
    else
        snprintf(text, sizeof text, "the last %" PRIu64 " lines, at most %.0f", plan->capacity,
                 survey->capacity);
    print_row("window", text);
    snprintf(text, sizeof text, "%u, and the one that fills", plan->generations);
    print_row("generations", text);
    print_next(plan, survey);
}

static void print_generation(const struct layer_survey *layer)
{
    char date[64];
    printf(", %s", generation_state(layer));
    if (layer->generation.number != 0)
        printf(", generation %" PRIu64 " of %s", layer->generation.number,
               date_text(layer->generation.began, date));
}

/* --- text --- */

static void print_layer(unsigned number, const struct layer_survey *layer, bool window)
{
    char rate[32], most[32];
    printf("%s %-14u%.0f of %" PRIu64 " keys, %" PRIu64 " pages, %u lines x %u fields, fill "
           "%.1f %%, rate %s of %s",
           layer->plan.journal != 0 ? "stage" : "layer", number, layer->keys, layer->plan.capacity,
           layer->plan.pages, layer->plan.geometry.lines, layer->plan.geometry.fields,
           layer->fill * 100, rate_text(layer->rate, rate), rate_text(layer->plan.rate, most));
    if (window)
        print_generation(layer);
    putchar('\n');
}

static const char *growth_text(const struct filter_plan *plan)
{
    if (plan->fixed)
        return "none (--fixed)";
    return plan->generations != 0 && plan->forget == 0 ? "none (--window)" : "as needed";
}

static const char *until_text(const struct filter_plan *plan)
{
    if (plan->generations != 0)
        return "generation full in";
    return plan->fixed ? "rate is reached in" : "grows in";
}

static void print_queue(const struct queue_facts *queue)
{
    char text[128], size[32];
    snprintf(text, sizeof text, "%" PRIu64 " lines wait, %" PRIu64 " are out with workers",
             queue->waiting, queue->out);
    print_row("queue", text);
    snprintf(text, sizeof text, "%" PRIu64 " (%s)", queue->segments,
             creation_size((double)queue->bytes, size));
    print_row("queue segments", text);
}

/* queue: NULL if it has none. */
static void print_text(const struct store *filter, const struct survey *survey,
                       const struct queue_facts *queue)
{
    const struct header *header = store_header(filter);
    char text[128], part[32];
    double bytes = (double)store_file_bytes(filter);
    bool window = header->plan.generations != 0;
    struct geometry geometry = growth_geometry(&header->plan);
    print_row("filter", store_path(filter));
    print_count("keys", survey->keys);
    print_count("capacity", survey->capacity);
    print_row("growth", growth_text(&header->plan));
    if (window)
        print_window(&header->plan, survey);
    print_count("layers", survey->layers);
    print_row("rate now", rate_text(survey->rate, part));
    print_row("rate at most", rate_text(header->plan.rate, part));
    bool counting = header->plan.geometry.counting;
    snprintf(text, sizeof text, "%.1f %% of %s", survey->fill * 100,
             counting ? "cells in use" : "bits set");
    print_row("fill", text);
    if (isatty(STDOUT_FILENO))
        print_gauge(survey->fill);
    snprintf(text, sizeof text, "%.3g, expected", survey->dropped);
    print_row("wrongly dropped", text);
    snprintf(text, sizeof text, "%.0f keys to come", survey->keys_until);
    print_row(until_text(&header->plan), text);
    snprintf(text, sizeof text, "%.0f bytes (%s)", bytes, creation_size(bytes, part));
    print_row("size on disk", text);
    snprintf(text, sizeof text, "%.2f at capacity",
             sizing_bits_per_key(survey->pages, survey->capacity));
    print_row("bits a key", text);
    snprintf(text, sizeof text, "%u lines x %u fields%s a key, in 1 page of 4096 bytes",
             geometry.lines, geometry.fields, counting ? " of 4-bit cells" : "");
    print_row("geometry", text);
    snprintf(text, sizeof text, "xxh3-128, seed %" PRIu64, header->seed);
    print_row("hash", text);
    if (queue != NULL)
        print_queue(queue);
    for (unsigned i = 0; survey->layers > 1 && i < survey->layers; i++)
        print_layer(i + 1, &survey->layer[i], window);
}

/* Bytes above 0x7e and control characters as \u00XX, so that the object is valid whatever the name. */
static void print_json_string(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 0x20 || *c > 0x7e)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    putchar('"');
}

static void print_json_window(const struct filter_plan *plan, const struct survey *survey)
{
    if (plan->forget != 0)
        printf(",\"forget_after\":%.15g", seconds(plan->forget));
    else
        printf(",\"window\":%" PRIu64, plan->capacity);
    printf(",\"slack\":%.6g,\"generations\":%u,\"forgotten_next\":", plan->slack,
           plan->generations);
    if (survey->next == survey->layers) {
        printf("null");
        return;
    }
    const struct layer_survey *layer = &survey->layer[survey->next];
    printf("{\"keys\":%.0f", layer->keys);
    if (plan->forget != 0)
        printf(",\"time\":%.15g}", seconds(layer->generation.ends));
    else
        printf(",\"after\":%.0f}", survey->until_forgetting);
}

static void print_json_generation(const struct layer_survey *layer)
{
    const struct generation *generation = &layer->generation;
    printf(",\"state\":\"%s\"", generation_state(layer));
    if (generation->number != 0)
        printf(",\"generation\":%" PRIu64 ",\"began\":%.15g", generation->number,
               seconds(generation->began));
}

static void print_json_layer(const struct layer_survey *layer, bool window)
{
    printf("{\"keys\":%.0f,\"capacity\":%" PRIu64 ",\"pages\":%" PRIu64
           ",\"lines\":%u,\"fields\":%u,\"fill\":%.6g,\"rate\":%.6g,\"target_rate\":%.6g",
           layer->keys, layer->plan.capacity, layer->plan.pages, layer->plan.geometry.lines,
           layer->plan.geometry.fields, layer->fill, layer->rate, layer->plan.rate);
    if (window)
        print_json_generation(layer);
    if (layer->plan.journal != 0)
        printf(",\"stage\":true");
    putchar('}');
}

/* --- several --- */

/* Filters that are open at a time, to be compared: of more of them only each by itself is shown. */
enum { TOGETHER_MAX = 64 };

struct shown {
    struct store *filters[TOGETHER_MAX]; /* those that could be opened */
    size_t count;
};

static void print_overlap(const struct shown *shown)
{
    struct overlap overlap;
    char text[128];
    const char *unknown = overlap_find(shown->filters, shown->count, &overlap);
    if (unknown != NULL) {
        snprintf(text, sizeof text, "not known: %s", unknown);
        printf("\n");
        print_row("union, overlap", text);
        return;
    }
    snprintf(text, sizeof text, "%.0f keys, +/- %.0f", overlap.keys, overlap.keys_error);
    printf("\n");
    print_row("union", text);
    snprintf(text, sizeof text, "%.0f keys, +/- %.0f", overlap.shared, overlap.shared_error);
    print_row("overlap", text);
}

static void print_json_overlap(const struct shown *shown)
{
    struct overlap overlap;
    if (overlap_find(shown->filters, shown->count, &overlap) != NULL)
        printf(",\"union\":null,\"overlap\":null");
    else
        printf(",\"union\":%.0f,\"union_error\":%.0f,\"overlap\":%.0f,\"overlap_error\":%.0f",
               overlap.keys, overlap.keys_error, overlap.shared, overlap.shared_error);
}

static void print_json(const struct store *filter, const struct survey *survey,
                       const struct queue_facts *queue, const struct shown *shown)
{
    const struct header *header = store_header(filter);
    printf("{\"filter\":");
    print_json_string(store_path(filter));
    printf(",\"keys\":%.0f,\"capacity\":%.0f,\"layers\":%u,\"fixed\":%s,\"counting\":%s",
           survey->keys, survey->capacity, survey->layers, header->plan.fixed ? "true" : "false",
           header->plan.geometry.counting ? "true" : "false");
    if (header->plan.generations != 0)
        print_json_window(&header->plan, survey);
    printf(",\"rate\":%.6g,\"target_rate\":%.6g,\"fill\":%.6g", survey->rate, header->plan.rate,
           survey->fill);
    printf(",\"dropped\":%.6g,\"keys_left\":%.0f", survey->dropped, survey->keys_until);
    printf(",\"bytes\":%" PRIu64 ",\"bits_per_key\":%.4g", store_file_bytes(filter),
           sizing_bits_per_key(survey->pages, survey->capacity));
    printf(",\"hash\":\"xxh3-128\",\"seed\":%" PRIu64 ",\"created\":%" PRId64 ",\"uuid\":\"",
           header->seed, header->created);
    for (unsigned i = 0; i < UUID_BYTES; i++)
        printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", header->uuid[i]);
    putchar('"');
    if (queue != NULL)
        printf(",\"waiting\":%" PRIu64 ",\"out\":%" PRIu64 ",\"queue_bytes\":%" PRIu64,
               queue->waiting, queue->out, queue->bytes);
    printf(",\"layer\":[");
    for (unsigned i = 0; i < survey->layers; i++) {
        if (i > 0)
            putchar(',');
        print_json_layer(&survey->layer[i], header->plan.generations != 0);
    }
    putchar(']');
    if (shown != NULL)
        print_json_overlap(shown);
    printf("}\n");
}

/* Returns EXIT_OK, or EXIT_TROUBLE after a message. */
static int read_queue(const struct store *filter, struct queue_facts *facts)
{
    struct fault fault;
    struct queue *queue = queue_operand_to_read(filter);
    if (queue == NULL)
        return EXIT_TROUBLE;
    int result = queue_facts(queue, facts, &fault);
    queue_close(queue);
    return result == 0 ? EXIT_OK : message_fault(&fault);
}

/* The newest one shown. The last report says what all of them have together, if all could be opened. */
static int show(const struct options *options, size_t number, struct shown *shown)
{
    struct survey survey;
    struct store *filter = shown->filters[shown->count - 1];
    bool all = options->operand_count > 1 && shown->count == options->operand_count;
    struct queue_facts facts;
    bool has_queue = queue_operand_has(filter);
    int status = has_queue ? read_queue(filter, &facts) : EXIT_OK;
    const struct queue_facts *queue = has_queue && status == EXIT_OK ? &facts : NULL;
    if (survey_make(&survey, filter) != 0)
        return EXIT_TROUBLE;
    if (options_has(options, OPTION_JSON)) {
        print_json(filter, &survey, queue, all ? shown : NULL);
        return status;
    }
    if (number > 0)
        putchar('\n');
    print_text(filter, &survey, queue);
    if (all)
        print_overlap(shown);
    return status;
}

int command_stats(const struct options *options)
{
    int status = EXIT_OK;
    if (filter_operand(options) == NULL)
        return EXIT_TROUBLE;
    struct shown shown = {.count = 0};
    for (size_t i = 0; i < options->operand_count && !signals_pending(); i++) {
        struct fault fault;
        struct store *filter = store_open(options->operands[i], NULL, NULL, &fault);
        if (filter == NULL) {
            status = message_fault(&fault);
            continue;
        }
        shown.filters[shown.count++] = filter;
        if (show(options, i, &shown) != EXIT_OK)
            status = EXIT_TROUBLE;
        if (options->operand_count > TOGETHER_MAX)
            store_close(shown.filters[--shown.count]);
    }
    while (shown.count > 0)
        store_close(shown.filters[--shown.count]);
    return message_finish_output() == EXIT_OK ? status : EXIT_TROUBLE;
}
