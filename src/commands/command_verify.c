/*
 * command_verify - `unseen verify FILTER...`: checks filter files.
 *
 * Damage that keeps a file from being opened is reported as by any command. What is worth knowing
 * about a file that can be used is a note, one line each on standard output. The exit status is 1
 * if something is wrong: not for what a sound copy shows that was made while lines were added, nor
 * for what a killed writer leaves.
 */
#include "commands/command.h"
#include "commands/figures.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "filter/survey.h"
#include "filter/writer.h"
#include "queue/queue.h"
#include "system/machine.h"
#include "text/number.h"
#include "text/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct findings {
    const struct filter *filter;
    const struct survey *survey;
    unsigned notes, wrong; /* what is wrong is noted, too */
};

#define note(findings, ...)                                                                        \
    do {                                                                                           \
        char name[QUOTE_MAX];                                                                      \
        printf("%s: ", quote_controls(filter_path((findings)->filter), name, sizeof name));        \
        printf(__VA_ARGS__);                                                                       \
        putchar('\n');                                                                             \
        (findings)->notes++;                                                                       \
    } while (0)

#define wrong(findings, ...)                                                                       \
    do {                                                                                           \
        note(findings, __VA_ARGS__);                                                               \
        (findings)->wrong++;                                                                       \
    } while (0)

/* How much two numbers of keys may differ by chance: six standard deviations, of the estimate and
 * of the false drops; plus 1%, as the model may be off. */
static double tolerance(const struct layer_survey *layer)
{
    return 0.01 * layer->keys + 6 * (layer->deviation + sqrt(layer->keys)) + 6;
}

static void tell_pages(struct findings *findings, unsigned number, uint64_t pages, double keys,
                       const char *why)
{
    const struct layer_survey *layer = &findings->survey->layer[number - 1];
    note(findings,
         "layer %u: %" PRIu64 " of %" PRIu64 " pages %s about %.0f lines%s, where chance explains "
         "%.0f (%s)",
         number, pages, layer->plan.pages, number_of(pages, "has", "have"), keys,
         number_of(pages, "", " each"), layer->evenness.keys, why);
    findings->wrong += layer->no_copy;
}

/* Compares a layer with what chance explains, and with what it was made for. */
static void check_layer(struct findings *findings, unsigned number)
{
    const struct filter *filter = findings->filter;
    const struct layer_survey *layer = &findings->survey->layer[number - 1];
    const struct generation *generation = &layer->generation; /* zeros if this is no window */
    bool turning = filter_is_turning(filter), in_window = filter_header(filter)->plan.window;
    char rate[NUMBER_TEXT], made_for[NUMBER_TEXT];
    /* 1. Its pages and its counter, but not while it is emptied, or if its writer died then. The
     * bits tell how many keys came. The counter leaves out false drops, a quarter of the keys near
     * p = 0.5, but not those of keys that were in flight together, as with -x. */
    const struct evenness *pages = &layer->evenness;
    bool being_emptied = generation->retired || turning ||
                         filter_is_half_emptied(filter, number - 1);
    if (!being_emptied && pages->fuller > 0)
        tell_pages(findings, number, pages->fuller, pages->most,
                   layer->no_copy
                       ? "lines were crafted to fall there, or bits were changed; a new filter "
                         "made with --secret is safe from crafted lines"
                       : "as in a copy made while lines were added; if this is no copy, lines "
                         "were crafted to fall there");
    /* Where an older layer is too full, lines are false drops there and missing in this one. */
    bool crowded = false;
    for (unsigned older = 0; older < number - 1; older++)
        crowded = crowded || findings->survey->layer[older].evenness.fuller > 0;
    if (!being_emptied && pages->emptier > 0 && !crowded)
        tell_pages(findings, number, pages->emptier, pages->least,
                   layer->no_copy ? "lines were lost, for example in a power cut"
                                  : "as in a copy made while lines were added; if this is no "
                                    "copy, lines were lost, for example in a power cut");
    if (!being_emptied && pages->fuller == 0 && pages->emptier == 0) {
        bool higher = layer->told && (double)layer->counted_before > layer->keys + tolerance(layer);
        if (higher) {
            note(findings,
                 "layer %u: its counter shows %" PRIu64 " %s, its bits %.0f (%s lines were lost, "
                 "for example in a power cut)",
                 number, layer->counted_before, number_lines(layer->counted_before), layer->keys,
                 layer->window ? "as in a copy made while the window turned; if this is no copy,"
                               : "the counter is wrong, or");
            findings->wrong += !layer->window;
        } else if ((double)layer->counted < layer->remembered - tolerance(layer)) {
            note(findings,
                 "layer %u: its counter shows %" PRIu64 " %s, its bits %.0f (as after a kill, or "
                 "in a copy made while lines were added; no line is lost)",
                 number, layer->counted, number_lines(layer->counted), layer->remembered);
        }
    }
    /* 2. Its rate, which varies by chance: it is too high if there are too many keys. But in a
     * window several writers may have had keys in flight when a generation ended. */
    double more = in_window ? GROWTH_IN_FLIGHT : 0;
    bool over = (double)layer->counted > (double)layer->plan.capacity + more ||
                layer->keys - tolerance(layer) > layer->full + more;
    if (over && layer->rate > layer->plan.rate * 1.05 && layer->rate > 1e-15)
        wrong(findings, "layer %u: false-positive rate is %s, above the %s it was made for", number,
              number_text(layer->rate, NUMBER_FOUND, rate),
              number_text(layer->plan.rate, NUMBER_FOUND, made_for));
    /* 3. Its generation. */
    if (generation->retired && !turning)
        note(findings,
             "layer %u: a writer died while it emptied this layer, or this is a copy made in use "
             "(the next writer that needs the layer empties it again)",
             number);
    if (generation->behind || generation->began > clock_now())
        wrong(findings, "layer %u: the clock was set back (its lines will be forgotten late)",
              number);
}

static int check_queue(struct findings *findings)
{
    struct fault fault = FAULT_UNSET;
    struct queue_facts facts;
    char quoted[QUOTE_MAX];
    const char *path = filter_path(findings->filter);
    int fd = filter_descriptor(findings->filter);
    if (filter_queue(findings->filter) == QUEUE_NONE) {
        if (queue_check_left(path, fd, &fault) == 0)
            return EXIT_OK;
        if (fault.of != path)
            return message_fault(&fault);
        wrong(findings, "queue: %s (%s)", fault.reason, fault.way_out);
        return EXIT_OK;
    }
    int result = queue_facts(filter_real_path(findings->filter), fd, &facts, &fault);
    if (result == 1)
        wrong(findings, "queue: %s is missing (%s)", fault.object, fault.way_out);
    if (result != 0)
        return result == 1 ? EXIT_OK : message_fault(&fault);
    if (facts.unknown > 0)
        wrong(findings,
              "queue: %" PRIu64 " %s an unknown status (to see them: grep -anv%s '^[- 1-9]' "
              "%s.queue/*)",
              facts.unknown, number_of(facts.unknown, "record has", "records have"),
              filter_queue(findings->filter) == QUEUE_OF_NULS ? "z" : "",
              quote_file(filter_real_path(findings->filter), quoted));
    if (facts.cut > 0)
        wrong(findings, "queue: %" PRIu64 " %s no complete record (left by a kill or a power cut)",
              facts.cut, number_of(facts.cut, "byte forms", "bytes form"));
    if (facts.foreign[0] != '\0')
        wrong(findings, "queue: contains a foreign file: %s", quote_file(facts.foreign, quoted));
    return EXIT_OK;
}

static int verify_filter(const struct options *options, size_t before, const struct filter *filter)
{
    static struct survey survey; /* 11 KB: not on the stack */
    struct findings findings = {.filter = filter, .survey = &survey};
    struct fault ignored = FAULT_UNSET;
    struct stat stat_of;
    char quoted[QUOTE_MAX];
    (void)before;
    if (survey_make(&survey, filter, SURVEY_ALL) != 0)
        return EXIT_TROUBLE;
    /* A layer may be emptied while it is read, so odd pages are read twice. */
    if (survey.fuller_pages + survey.emptier_pages > 0 &&
        survey_make(&survey, filter, SURVEY_ALL) != 0)
        return EXIT_TROUBLE;
    for (unsigned number = 1; number <= survey.layers; number++)
        check_layer(&findings, number);
    /* What writers left that did not end. */
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
        struct slot_facts facts = slot_facts(filter, slot);
        bool alive = slot_lives(filter, slot, &ignored) != 0;
        if (facts.keys > facts.capacity)
            wrong(&findings, "slot %u: counts %" PRIu64 " lines in flight, more than fit in it",
                  slot, facts.keys);
        else if ((facts.keys > 0 || facts.file != 0) && !alive)
            note(&findings,
                 "slot %u: a writer died with lines in flight, or this is a copy made in use (they "
                 "are not remembered, and come again with their input%s)",
                 slot, facts.file != 0 ? "; the next writer removes its file" : "");
    }
    if (removal_is_unfinished(filter))
        note(&findings,
             "unseen remove was killed, or this is a copy made in use (the next writer restores "
             "its line)");
    for (unsigned i = 0; i < filter_layers(filter); i++)
        if (filter_is_half_emptied(filter, i))
            note(&findings,
                 "layer %u: emptying its staging area was interrupted, or this is a copy made in "
                 "use (the next writer finishes it)",
                 i + 1);
    uint64_t end = filter_end(filter), bytes = filter_file_bytes(filter);
    if (bytes > end)
        note(&findings,
             "%" PRIu64 " %s after the last layer (left by a writer that was killed while it "
             "added a layer, or this is a copy made in use; the next layer overwrites them)",
             bytes - end, number_of(bytes - end, "byte", "bytes"));
    if (header_has_secret(filter_header(filter)) && stat(filter_path(filter), &stat_of) == 0 &&
        (stat_of.st_mode & S_IROTH) != 0)
        wrong(&findings, "other users can read its secret (chmod o-r %s)",
              quote_file(filter_path(filter), quoted));
    int status = check_queue(&findings);
    figures_summary(options, {"", "filter", TEXT(filter_path(filter))},
                    {number_of(findings.notes, "note", "notes"), "notes", COUNT(findings.notes)});
    if (message_finish_output() != EXIT_OK)
        return EXIT_TROUBLE;
    return status == EXIT_OK && findings.wrong > 0 ? EXIT_NOTHING : status;
}

int command_verify(const struct options *options)
{
    return filter_operand_each(options, verify_filter);
}
