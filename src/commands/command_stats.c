/* command_stats - `unseen stats FILTER...`: reports what a filter is, and how full. Writes
 * nothing. */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "filter/survey.h"
#include "queue/queue.h"
#include "system/machine.h"
#include "text/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static void show_lines(struct figures *figures, const struct filter *filter,
                       const struct survey *survey)
{
    const struct filter_plan *plan = &filter_header(filter)->plan;
    bool counting = plan->geometry.counting;
    const char *growth = plan->fixed                         ? "none (--fixed)"
                         : plan->window && plan->forget == 0 ? "none (--window)"
                                                             : "as needed";
    const char *until = plan->window  ? "generation full in"
                        : plan->fixed ? "capacity reached in"
                                      : "grows in";
    uint64_t fuller = survey->fuller_pages, emptier = survey->emptier_pages;
    const char *verify = ", which chance does not explain (see unseen verify)";
    double lines = survey->keys;
    bool told = survey->told;
    char date[CLOCK_DATE];
    figures_show(figures, {"filter", "filter", TEXT(filter_path(filter))},
                 {"lines", "lines",
                  AT_LEAST(told, lines, figures_text(figures, "at least %.0f", lines))},
                 {NULL, "lines_at_least", COUNT(lines), .absent = told},
                 {"capacity", "capacity", COUNT(survey->capacity)},
                 {"layers", "layer_count", COUNT(survey->layers)},
                 {"growth", "fixed", FLAG(plan->fixed), .text = growth},
                 {counting ? "counting" : NULL, "counting", FLAG(counting),
                  .text = "cells of 4 bits"});
    if (plan->window) {
        /* What is forgotten next, and when: in a window by lines, when a key comes that does not
         * fit. */
        bool none = survey->next == survey->layers, by_time = plan->forget != 0;
        const struct layer_survey *next = &survey->layer[none ? 0 : survey->next];
        uint64_t ends = next->generation.ends;
        double after = survey->until_forgetting;
        const char *window = figures_window(figures, plan, survey->capacity);
        const char *what = figures_text(figures,
                                        by_time ? "%.0f %s, at %s" : "%.0f %s, after %s more",
                                        next->lines, number_lines((uint64_t)round(next->lines)),
                                        by_time ? clock_date(ends, date)
                                                : figures_text(figures, "%.0f", after));
        figures_show(figures,
                     {"window", "window", COUNT(plan->capacity), .text = window, .absent = by_time},
                     {"window", "forget_after", TIME(plan->forget), .text = window,
                      .absent = !by_time},
                     {"forgotten next", "forgotten_next", .text = none ? "nothing yet" : what,
                      OBJECT(none ? NULL
                                  : ROWS({NULL, "lines", COUNT(next->lines)},
                                         {NULL, "time", TIME(ends), .absent = !by_time},
                                         {NULL, "after", COUNT(after), .absent = by_time}))});
    }
    figures_show(figures, {"rate now", "rate", RATE(survey->rate)},
                 {"false-positive rate", "false_positive_rate", ASKED(plan->rate)},
                 {"fill", "fill", SHARE(survey->fill),
                  .note = counting ? " of cells in use" : " of bits set"},
                 {fuller > 0 ? "pages too full" : NULL, "fuller_pages", COUNT(fuller),
                  .note = verify},
                 {emptier > 0 ? "pages too empty" : NULL, "emptier_pages", COUNT(emptier),
                  .note = verify},
                 {until, "lines_left", LINES(survey->keys_until)});
}

/* Patterns for JSON, which match the same: a byte that is not UTF-8 will be \xHH there, so that a
 * backslash before it goes. */
static const char *patterns_for_json(const char *patterns, char shown[RECIPE_PATTERNS_ROOM])
{
    const char *end = patterns + RECIPE_PATTERNS_ROOM;
    memset(shown, 0, RECIPE_PATTERNS_ROOM);
    for (char *out = shown; patterns < end; *out++ = *patterns++) {
        if (*patterns != '\\')
            continue;
        if (quote_character(patterns + 1) > 0)
            *out++ = '\\';
        patterns++;
    }
    return shown;
}

/* How the filter was made. A secret is never shown. */
static void show_form(struct figures *figures, const struct filter *filter,
                      const struct survey *survey)
{
    const struct header *header = filter_header(filter);
    const struct recipe *recipe = &header->recipe;
    struct shard shard = header->shard;
    struct geometry geometry = growth_geometry(&header->plan);
    bool secret = header_has_secret(header);
    uint64_t most = filter_file_bytes(filter), bytes = most - filter_stage_bytes(filter);
    char key[RECIPE_TEXT], list[RECIPE_TEXT], separator[RECIPE_WORD], by[RECIPE_WORD];
    char uuid[2 * UUID_BYTES + 5] = "";
    char shown[RECIPE_PATTERNS_ROOM];
    const char *fields = recipe_fields_text(recipe, list);
    const char *patterns = patterns_for_json(recipe->patterns, shown);
    recipe_separator_text(recipe, separator);
    for (size_t i = 0, at = 0; i < UUID_BYTES; i++)
        at += (size_t)snprintf(uuid + at, sizeof uuid - at, "%s%02x",
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", header->uuid[i]);
    figures_show(figures, {"size", "size_bytes", SIZE(bytes)},
                 {most > bytes ? "with staging areas" : NULL, "size_bytes_staged", SIZE(most)},
                 {"bits per key", "bits_per_key",
                  BITS(sizing_bits_per_key(survey->pages, survey->capacity)),
                  .note = " at capacity"},
                 {"hashes", NULL, COUNT(geometry_hashes(geometry))},
                 {"cache lines", NULL, COUNT(geometry.blocks)});
    figures_show(figures,
                 {"key", "key", .text = recipe_shown(recipe, key),
                  OBJECT(
                      recipe_is_whole_line(recipe)
                          ? NULL
                          : ROWS({NULL, "trim", FLAG(recipe->trim)},
                                 {NULL, "format", TEXT(syntax_names[recipe->syntax]),
                                  .absent = recipe->syntax == SYNTAX_FIELDS},
                                 {NULL, "fields", TEXT(fields), .absent = *fields == '\0'},
                                 {NULL, "separator", TEXT(separator), .absent = !recipe->separated},
                                 {NULL, "by", TEXT(recipe_profile_text(recipe, by))},
                                 {NULL, "ignore_case", FLAG(recipe->fold)},
                                 {NULL, "without", LIST(patterns), .absent = *patterns == '\0'}))});
    const char *seed = figures_text(figures, "%" PRIu64, header->hasher.k0);
    const char *part = figures_text(figures, "%" PRIu32 "/%" PRIu32, shard.number, shard.count);
    figures_show(figures, {"shard", "shard", TEXT(part), .absent = shard.count == 0},
                 {"hash", "hash", TEXT(secret ? "siphash-2-4-128" : "xxh3-128")},
                 {secret ? NULL : "seed", "seed", DIGITS(secret ? NULL : seed)},
                 {secret ? "secret" : NULL, "secret", TEXT(secret ? "inside" : NULL)},
                 {NULL, "created", COUNT(header->created)}, {NULL, "uuid", TEXT(uuid)});
}

/* --- layers --- */

static void show_layer(struct figures *figures, const struct layer_survey *layer, unsigned number)
{
    const struct generation *generation = &layer->generation;
    bool began = layer->window && generation->number != 0;
    char date[CLOCK_DATE];
    double lines = layer->lines;
    bool told = layer->told;
    uint64_t pages = layer->plan.pages, cache_lines = layer->plan.geometry.blocks;
    unsigned hashes = geometry_hashes(layer->plan.geometry);
    figures_show(figures, {figures_text(figures, "layer %u", number), NULL, TEXT("")},
                 {number_lines((uint64_t)round(lines)), "lines",
                  AT_LEAST(told, lines, figures_text(figures, "at least %.0f", lines))},
                 {NULL, "lines_at_least", COUNT(lines), .absent = told},
                 {"at capacity", "capacity", COUNT(layer->capacity)},
                 {number_of(pages, "page", "pages"), "pages", COUNT(pages)},
                 {number_of(cache_lines, "cache line", "cache lines"), "cache_lines",
                  COUNT(cache_lines)},
                 {number_of(hashes, "hash", "hashes"), "hashes", COUNT(hashes)},
                 {"fill", "fill", SHARE(layer->fill)}, {"rate now", "rate", RATE(layer->rate)},
                 {"false-positive rate", "false_positive_rate", RATE(layer->plan.rate)},
                 {"state", "state", TEXT(generation_state(layer)), .absent = !layer->window},
                 {"generation", "generation", .absent = !began,
                  DIGITS(figures_text(figures, "%" PRIu64, generation->number))},
                 {"began", "began", TIME(generation->began), .absent = !began,
                  .text = clock_date(generation->began, date)});
}

/* Draws a layer on one line of a terminal: a bar, how much of it is filled, and a mark where the
 * layer is full; then notes, separated by two blanks, as far as they fit. */
static void draw_layer(const struct layer_survey *layer, unsigned number, const char *mark)
{
    enum { LABEL = 9, BAR_MOST = 40, DIGITS = 2 };
    char label[24], rates[96], notes[256], keys[32], capacity[32], rate[32], most[32];
    const char *full = mark[0] == '|' ? "#" : "█", *empty = mark[0] == '|' ? "." : "·";
    unsigned columns = terminal_width(STDOUT_FILENO);
    unsigned width = (columns - LABEL) / 2 < BAR_MOST ? (columns - LABEL) / 2 : BAR_MOST;
    /* The expected share of cells in use when the layer is full. */
    double keys_a_page = layer->full / (double)layer->plan.pages;
    double at_capacity = -expm1(-geometry_share(layer->plan.geometry) * keys_a_page);
    unsigned filled = (unsigned)(layer->fill * width + 0.5);
    unsigned at = (unsigned)(at_capacity * width);
    if (filled == 0 && layer->fill > 0)
        filled = 1;
    snprintf(label, sizeof label, "layer %u", number);
    printf("%*.*s ", LABEL, LABEL, label);
    for (unsigned i = 0; i < width; i++)
        fputs(i == (at < width ? at : width - 1) ? mark : i < filled ? full : empty, stdout);
    snprintf(rates, sizeof rates, "rate %s of %s", number_text(layer->rate, DIGITS, rate),
             number_text(layer->plan.rate, DIGITS, most));
    snprintf(notes, sizeof notes, "%3.0f%%  %s%s of %s  %s", layer->fill * 100,
             layer->told ? "" : "at least ", number_count(layer->lines, keys),
             number_count(layer->capacity, capacity),
             layer->window ? generation_state(layer) : rates);
    int room = (int)(columns - LABEL - width) - 3;
    while (room > 0 && (int)strlen(notes) > room && strncmp(notes + room, "  ", 2) != 0)
        room--;
    printf("%s%.*s\n", room > 0 ? "  " : "", room, notes);
}

static int show_filter(const struct options *options, size_t before, const struct filter *filter)
{
    static struct survey survey; /* 11 KB: not on the stack */
    struct figures figures;
    struct fault fault = FAULT_UNSET;
    struct queue_facts facts;
    const char *path = filter_path(filter), *real_path = filter_real_path(filter);
    int status = EXIT_OK, found, fd = filter_descriptor(filter);
    if (survey_make(&survey, filter, SURVEY_ALL) != 0)
        return EXIT_TROUBLE;
    if (!options->json && before > 0)
        putchar('\n');
    figures_begin(&figures, stdout, options->json);
    show_lines(&figures, filter, &survey);
    show_form(&figures, filter, &survey);
    if (filter_queue(filter) == QUEUE_NONE) {
        if (queue_check_left(path, fd, &fault) != 0) {
            message_fault(&fault);
            /* Lines that are left of a queue are no failure. */
            status = fault.of == path ? EXIT_OK : EXIT_TROUBLE;
        }
    } else if ((found = queue_facts(real_path, fd, &facts, &fault)) < 0) {
        status = message_fault(&fault);
    } else if (found == 1) {
        figures_show(&figures,
                     {"queue", NULL, TEXT(figures_text(&figures, "missing: %s", fault.object))});
    } else {
        figures_show(&figures, {"waiting", "waiting", LINES(facts.waiting)},
                     {"held", "held", LINES(facts.held), .note = ", by workers"},
                     {facts.given_up > 0 ? "given up" : NULL, "given_up", LINES(facts.given_up),
                      .note = figures_text(&figures, ", in %s.failed", real_path)});
    }
    /* Layers: in JSON objects; in text bars, or sentences if there are several. */
    bool draws = !options->json && isatty(STDOUT_FILENO);
    bool shows = options->json || (!draws && survey.layers > 1);
    const char *mark = terminal_shows_utf8() ? "│" : "|";
    figures_open(&figures, "layers", '[');
    fputs(draws ? "\n" : "", stdout);
    figures.sentence = shows;
    for (unsigned i = 0; i < survey.layers; i++) {
        if (draws)
            draw_layer(&survey.layer[i], i + 1, mark);
        if (!shows)
            continue;
        figures_open(&figures, NULL, '{');
        show_layer(&figures, &survey.layer[i], i + 1);
        figures_close(&figures, '}');
    }
    figures.sentence = false;
    figures_close(&figures, ']');
    if (draws)
        printf("Fill by layer; %s marks where a layer is full.\n", mark);
    figures_end(&figures);
    return message_finish_output() == EXIT_OK ? status : EXIT_TROUBLE;
}

int command_stats(const struct options *options)
{
    return filter_operand_each(options, show_filter);
}
