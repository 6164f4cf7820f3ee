/* command_stats - `unseen stats FILTER...`: what a filter is, and how full. Writes nothing. */
#include "commands/command.h"
#include "commands/creation.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "commands/survey.h"

#include <inttypes.h>
#include <stdio.h>
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

static void print_layer(unsigned number, const struct layer_survey *layer)
{
    char rate[32], most[32];
    printf("layer %-14u%.0f of %" PRIu64 " keys, %" PRIu64 " pages, %u lines x %u fields, fill "
           "%.1f %%, rate %s of %s\n",
           number, layer->keys, layer->plan.capacity, layer->plan.pages, layer->plan.geometry.lines,
           layer->plan.geometry.fields, layer->fill * 100, rate_text(layer->rate, rate),
           rate_text(layer->plan.rate, most));
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
static void print_text(const struct filter *filter, const struct survey *survey,
                       const struct queue_facts *queue)
{
    const struct header *header = filter_header(filter);
    char text[128], part[32];
    double bytes = (double)filter_file_bytes(filter);
    print_row("filter", filter_path(filter));
    print_count("keys", survey->keys);
    print_count("capacity", survey->capacity);
    print_row("growth", header->plan.fixed ? "none (--fixed)" : "as needed");
    print_count("layers", survey->layers);
    print_row("rate now", rate_text(survey->rate, part));
    print_row("rate at most", rate_text(header->plan.rate, part));
    snprintf(text, sizeof text, "%.1f %% of bits set", survey->fill * 100);
    print_row("fill", text);
    if (isatty(STDOUT_FILENO))
        print_gauge(survey->fill);
    snprintf(text, sizeof text, "%.3g, expected", survey->dropped);
    print_row("wrongly dropped", text);
    snprintf(text, sizeof text, "%.0f keys to come", survey->keys_until);
    print_row(header->plan.fixed ? "rate is reached in" : "grows in", text);
    snprintf(text, sizeof text, "%.0f bytes (%s)", bytes, creation_size(bytes, part));
    print_row("size on disk", text);
    snprintf(text, sizeof text, "%.2f at capacity",
             sizing_bits_per_key(survey->pages, survey->capacity));
    print_row("bits a key", text);
    snprintf(text, sizeof text, "%u lines x %u fields a key, in 1 page of 4096 bytes",
             survey->layer[0].plan.geometry.lines, survey->layer[0].plan.geometry.fields);
    print_row("geometry", text);
    snprintf(text, sizeof text, "xxh3-128, seed %" PRIu64, header->seed);
    print_row("hash", text);
    if (queue != NULL)
        print_queue(queue);
    for (unsigned i = 0; survey->layers > 1 && i < survey->layers; i++)
        print_layer(i + 1, &survey->layer[i]);
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

static void print_json_layer(const struct layer_survey *layer)
{
    printf("{\"keys\":%.0f,\"capacity\":%" PRIu64 ",\"pages\":%" PRIu64
           ",\"lines\":%u,\"fields\":%u,\"fill\":%.6g,\"rate\":%.6g,\"target_rate\":%.6g}",
           layer->keys, layer->plan.capacity, layer->plan.pages, layer->plan.geometry.lines,
           layer->plan.geometry.fields, layer->fill, layer->rate, layer->plan.rate);
}

static void print_json(const struct filter *filter, const struct survey *survey,
                       const struct queue_facts *queue)
{
    const struct header *header = filter_header(filter);
    printf("{\"filter\":");
    print_json_string(filter_path(filter));
    printf(",\"keys\":%.0f,\"capacity\":%.0f,\"layers\":%u,\"fixed\":%s", survey->keys,
           survey->capacity, survey->layers, header->plan.fixed ? "true" : "false");
    printf(",\"rate\":%.6g,\"target_rate\":%.6g,\"fill\":%.6g", survey->rate, header->plan.rate,
           survey->fill);
    printf(",\"dropped\":%.6g,\"keys_left\":%.0f", survey->dropped, survey->keys_until);
    printf(",\"bytes\":%" PRIu64 ",\"bits_per_key\":%.4g", filter_file_bytes(filter),
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
        print_json_layer(&survey->layer[i]);
    }
    printf("]}\n");
}

/* Returns EXIT_OK, or EXIT_TROUBLE after a message. */
static int read_queue(const struct filter *filter, struct queue_facts *facts)
{
    struct fault fault;
    struct queue *queue = queue_operand_to_read(filter);
    if (queue == NULL)
        return EXIT_TROUBLE;
    int result = queue_facts(queue, facts, &fault);
    queue_close(queue);
    return result == 0 ? EXIT_OK : message_fault(&fault);
}

static int show(const struct options *options, const char *path, bool first)
{
    struct fault fault;
    struct survey survey;
    struct filter *filter = filter_open(path, false, NULL, &fault);
    if (filter == NULL)
        return message_fault(&fault);
    struct queue_facts facts;
    bool has_queue = queue_operand_has(filter);
    int status = has_queue ? read_queue(filter, &facts) : EXIT_OK;
    const struct queue_facts *queue = has_queue && status == EXIT_OK ? &facts : NULL;
    survey_make(&survey, filter);
    if (options_has(options, OPTION_JSON)) {
        print_json(filter, &survey, queue);
    } else {
        if (!first)
            putchar('\n');
        print_text(filter, &survey, queue);
    }
    filter_close(filter);
    return status;
}

int command_stats(const struct options *options)
{
    int status = EXIT_OK;
    if (filter_operand(options) == NULL)
        return EXIT_TROUBLE;
    for (size_t i = 0; i < options->operand_count; i++)
        if (show(options, options->operands[i], i == 0) != EXIT_OK)
            status = EXIT_TROUBLE;
    return message_finish_output() == EXIT_OK ? status : EXIT_TROUBLE;
}
