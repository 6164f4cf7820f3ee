/*
 * command_verify - `unseen verify FILTER...`: are the files sound?
 *
 * What would keep it from being opened is damage, and is said as any command would say it. What is
 * worth knowing though the file can be used is a note, a line each on standard output.
 */
#include "commands/command.h"
#include "commands/confinement.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/queue_operand.h"
#include "commands/summary.h"
#include "commands/survey.h"
#include "core/number.h"
#include "core/quote.h"
#include "delivery/slot.h"
#include "store/removal.h"
#include "store/stage.h"
#include "store/window.h"
#include "system/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct findings {
    const struct store *store;
    unsigned notes, damages;
};

#define note(findings, ...)                                                                        \
    do {                                                                                           \
        char name[QUOTE_MAX];                                                                      \
        printf("%s: ", quote_controls(store_path((findings)->store), name, sizeof name));          \
        printf(__VA_ARGS__);                                                                       \
        putchar('\n');                                                                             \
        (findings)->notes++;                                                                       \
    } while (0)

#define damage(findings, ...)                                                                      \
    do {                                                                                           \
        struct fault fault;                                                                        \
        fault_set(&fault, store_path((findings)->store), "damaged filter: " __VA_ARGS__);          \
        fault_way_out(&fault, "restore it from a copy, or make a new one");                        \
        message_fault(&fault);                                                                     \
        (findings)->damages++;                                                                     \
    } while (0)

/* How far two numbers of keys may be apart by chance: six standard deviations, of the estimate and
 * of how many looked seen; and a hundredth, as the model may be off. */
static double tolerance(const struct layer_survey *layer)
{
    return 0.01 * layer->keys + 6 * (layer->deviation + sqrt(layer->keys)) + 6;
}

/* The bits tell of the keys that came, and the counter has at least those that did not look seen:
 * near p = 0.5 three quarters. It has all that were judged beside each other, as with -x or in a
 * stage. Those of a stage may be in its layer before they are counted there. */
static void check_counter(struct findings *findings, unsigned number, const struct survey *survey)
{
    const struct layer_survey *layer = &survey->layer[number - 1];
    uint64_t counted = layer->counted + survey_staged(survey, number - 1);
    if ((double)layer->counted_before > layer->keys + tolerance(layer))
        note(findings,
             "layer %u: its counter says %" PRIu64
             ", its bits say %.0f %s (the counter is wrong, or "
             "lines are lost, as by a power cut)",
             number, layer->counted_before, layer->keys,
             number_lines((uint64_t)round(layer->keys)));
    else if ((double)counted < layer->remembered - tolerance(layer))
        note(findings,
             "layer %u: its counter says %" PRIu64 ", its bits say %.0f lines (it grows late, "
             "and loses nothing)",
             number, layer->counted, layer->remembered);
}

/* A power cut can leave a layer with empty pages, which were never written, and a counter that
 * knows of their keys. Not one that is large and half full: the system has written its pages
 * before. */
static bool was_written(const struct layer_survey *layer)
{
    enum { LARGE_PAGES = 32 };
    return layer->plan.pages >= LARGE_PAGES && layer->counted_before >= layer->plan.capacity / 2 &&
           layer->evenness.empty < layer->plan.pages;
}

/* Of so many keys that fell on as many pages, those that did not look seen when they came. */
static double remembered(const struct layer_survey *layer, uint64_t pages, double keys)
{
    return pages > 0 ? sizing_remembered(layer->plan.geometry, pages, keys) : 0;
}

/* The counter has about the keys that empty pages should have: so they had them. A copy that was
 * made while lines came has empty pages, too, from before; but its counter, which lies before all
 * pages, is older still. Where half of a page is empty nobody has to ask. */
static bool has_lost_pages(const struct layer_survey *layer)
{
    const struct evenness *pages = &layer->evenness;
    double keys = pages->emptier > 0 ? pages->keys : pages->most;
    double missing = remembered(layer, pages->empty, keys * (double)pages->empty);
    return pages->torn > 0 ||
           (pages->empty > 0 && (double)layer->counted_before - layer->remembered > missing / 2);
}

/* How many keys the counter has of those that the fuller pages have above the others, as a part of
 * them: about 1 if they came as lines, 0 if bits were set otherwise, or pages are newer than the
 * counter, as in a copy. */
static double part_counted(const struct layer_survey *layer, double counted)
{
    const struct evenness *pages = &layer->evenness;
    uint64_t others = layer->plan.pages - pages->fuller;
    double each = remembered(layer, others, pages->keys * (double)others) / (double)others;
    double above = counted - each * (double)layer->plan.pages;
    return above / ((double)pages->fuller * (remembered(layer, 1, pages->most) - each));
}

/* Lines gather in some pages. What is left of a power cut can have a counter that knows of more
 * than all pages have; but full pages do not tell how much they got. */
static bool is_crowded(const struct survey *survey, unsigned i)
{
    const struct layer_survey *layer = &survey->layer[i];
    double counted = (double)layer->counted + (double)survey_staged(survey, i);
    return layer->evenness.fuller > 0 && part_counted(layer, counted) > 0.5 &&
           (layer->full_pages > 0 || counted < layer->keys + tolerance(layer));
}

/* Where lines gather in an older layer most of them look seen, and do not reach the next one. */
static bool is_uneven(const struct survey *survey, unsigned i)
{
    const struct evenness *pages = &survey->layer[i].evenness;
    for (unsigned older = 0; older < i; older++)
        if (is_crowded(survey, older) && pages->fuller + pages->torn == 0)
            return false;
    return pages->fuller + pages->emptier + pages->torn > 0 || pages->unevenness > 6;
}

static void tell_fuller(struct findings *findings, unsigned number,
                        const struct layer_survey *layer, bool crowded)
{
    const struct evenness *pages = &layer->evenness;
    char rate[NUMBER_TEXT],
        why[160] = "its counter does not know of them: bits were changed, or the "
                   "file is a copy made while many came";
    if (crowded)
        snprintf(why, sizeof why,
                 "as if chosen to fall there, and the rate is %s; a new filter made with --secret "
                 "is safe from chosen lines",
                 number_text(layer->rate, NUMBER_FOUND, rate));
    note(findings,
         "layer %u: %" PRIu64 " of %" PRIu64 " pages %s about %.0f lines%s, where chance puts %.0f "
         "(%s)",
         number, pages->fuller, layer->plan.pages, number_of(pages->fuller, "has", "have"),
         pages->most, pages->fuller == 1 ? "" : " each", pages->keys, why);
}

static void tell_uneven(struct findings *findings, unsigned number)
{
    note(findings,
         "layer %u: its pages are filled less evenly than chance fills them (emptier ones have "
         "lost lines, as in a copy made while many came)",
         number);
}

/* Keys fall on pages by chance. */
static void check_pages(struct findings *findings, unsigned number, const struct survey *survey)
{
    const struct layer_survey *layer = &survey->layer[number - 1];
    bool counting = layer->plan.geometry.counting, crowded = is_crowded(survey, number - 1);
    uint64_t lost = layer->evenness.empty + layer->evenness.torn;
    if (layer->filled && !crowded)
        damage(findings, "layer %u: %" PRIu64 " of %" PRIu64 " pages %s every %s", number,
               layer->full_pages, layer->plan.pages, number_of(layer->full_pages, "has", "have"),
               counting ? "cell in use" : "bit set");
    else if (was_written(layer) && has_lost_pages(layer))
        damage(findings,
               "layer %u: %" PRIu64 " of %" PRIu64 " pages %s empty, wholly or in part, and the "
               "lines there are forgotten",
               number, lost, layer->plan.pages, number_of(lost, "is", "are"));
    else if (crowded)
        tell_fuller(findings, number, layer, true);
    else if (layer->full_pages > 0)
        note(findings, "layer %u: %" PRIu64 " of %" PRIu64 " pages %s every %s", number,
             layer->full_pages, layer->plan.pages, number_of(layer->full_pages, "has", "have"),
             counting ? "cell in use" : "bit set");
    else if (layer->evenness.fuller > 0 && layer->evenness.emptier == 0)
        tell_fuller(findings, number, layer, false);
    else if (is_uneven(survey, number - 1))
        tell_uneven(findings, number);
    else
        check_counter(findings, number, survey);
}

/* By chance the rate is a little above or below. It is too high if there are too many keys; and
 * others than one writer may have had some in flight when a generation ended. */
static void check_rate(struct findings *findings, unsigned number, const struct layer_survey *layer)
{
    bool window = store_header(findings->store)->plan.window;
    double more = window ? GROWTH_IN_FLIGHT : 0;
    bool over = (double)layer->counted > (double)layer->plan.capacity + more ||
                layer->keys - tolerance(layer) > layer->full + more;
    char rate[NUMBER_TEXT], made_for[NUMBER_TEXT];
    if (over && layer->rate > layer->plan.rate * 1.05 && layer->rate > 1e-15)
        note(findings, "layer %u: its rate is %s, above the %s it was made for", number,
             number_text(layer->rate, NUMBER_FOUND, rate),
             number_text(layer->plan.rate, NUMBER_FOUND, made_for));
}

/* In a filter that is no window all of a generation is zero. */
static void check_generation(struct findings *findings, unsigned number,
                             const struct survey *survey)
{
    const struct generation *generation = &survey->layer[number - 1].generation;
    if (generation->retired && !window_is_turning(findings->store))
        note(findings,
             "layer %u: a writer died while it emptied this layer (the next one that needs room "
             "empties it again)",
             number);
    if (generation->behind || generation->began > clock_now())
        note(findings, "layer %u: the clock was set back (its lines are forgotten late)", number);
    for (unsigned i = number; i < survey->layers; i++)
        if (generation->number != 0 && survey->layer[i].generation.number == generation->number)
            note(findings, "layers %u and %u: both are generation %" PRIu64, number, i + 1,
                 generation->number);
}

/* What is being emptied, or was when its writer died, is compared with nothing. */
static void check_layer(struct findings *findings, unsigned number, const struct survey *survey)
{
    const struct store *store = findings->store;
    const struct layer_survey *layer = &survey->layer[number - 1];
    if (!layer->generation.retired && !window_is_turning(store) && !stage_left(store))
        check_pages(findings, number, survey);
    check_rate(findings, number, layer);
    check_generation(findings, number, survey);
}

static void check_slots(struct findings *findings)
{
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
        bool alive, holds;
        uint64_t keys = slot_keys(findings->store, slot, &alive, &holds);
        if (keys == 0 && (!holds || alive))
            continue;
        if (keys > slot_room(store_header(findings->store)->flight_keys, slot))
            note(findings, "slot %u: counts %" PRIu64 " lines in flight, more than it has room for",
                 slot, keys);
        else if (!alive)
            note(
                findings,
                "slot %u: a writer died with lines in flight (not remembered: they come again when "
                "its input does%s)",
                slot, holds ? ", and the next writer removes its file" : "");
    }
}

static void check_leftovers(struct findings *findings)
{
    uint64_t end = store_end(findings->store);
    uint64_t bytes = store_file_bytes(findings->store);
    if (removal_is_open(findings->store))
        note(findings, "a remove was killed (the next writer puts its line back)");
    if (stage_left(findings->store))
        note(findings, "a writer died while it emptied a stage (the next one that needs room does "
                       "it again)");
    if (bytes > end)
        note(findings,
             "%" PRIu64 " %s after the last layer (left by a writer that was killed "
             "while it added a layer; the next layer takes their place)",
             bytes - end, number_of(bytes - end, "byte", "bytes"));
}

static void check_secret(struct findings *findings)
{
    struct stat status;
    char quoted[QUOTE_MAX];
    const char *path = store_path(findings->store);
    if (header_has_secret(store_header(findings->store)) && stat(path, &status) == 0 &&
        (status.st_mode & S_IROTH) != 0)
        note(findings, "others can read the secret in it (chmod o-r %s)", quote_file(path, quoted));
}

static int check_queue(struct findings *findings)
{
    struct fault fault;
    struct queue_facts facts;
    uint64_t told, found;
    if (!queue_operand_has(findings->store))
        return EXIT_OK;
    struct queue *queue = queue_operand_to_read(findings->store);
    if (queue == NULL)
        return EXIT_TROUBLE;
    int result = queue_check(queue, &told, &found, &fault);
    if (result == 0)
        result = queue_facts(queue, &facts, &fault);
    queue_close(queue);
    if (result != 0)
        return message_fault(&fault);
    if (told != found)
        note(findings, "queue: has %" PRIu64 " %s, but its state says %" PRIu64, found,
             number_lines(found), told);
    if (facts.left_by_dead > 0)
        note(findings, "queue: a worker died with %" PRIu64 " %s (to come out next)",
             facts.left_by_dead, number_lines(facts.left_by_dead));
    return EXIT_OK;
}

/* A layer may be emptied while it is read: what looks like damage is looked at twice. */
static int look(struct survey *survey, const struct store *store)
{
    if (survey_make(survey, store) != 0)
        return -1;
    for (unsigned i = 0; i < survey->layers; i++)
        if (is_uneven(survey, i))
            return survey_make(survey, store);
    return 0;
}

/* What was found in one filter, as an exit status. */
static int verify(const struct options *options, struct store *store)
{
    static struct survey survey; /* 40 KB: not every stack has room */
    struct findings findings = {.store = store};
    if (look(&survey, store) != 0)
        return EXIT_TROUBLE;
    for (unsigned number = 1; number <= survey.layers; number++)
        check_layer(&findings, number, &survey);
    check_slots(&findings);
    check_leftovers(&findings);
    check_secret(&findings);
    int status = check_queue(&findings);
    summary_numbers(options, store_path(store),
                    (struct summary_number[]){
                        {"notes", "", findings.notes == 1 ? " note" : " notes", findings.notes},
                        {"damages", "; damaged parts: ", "", findings.damages},
                        {.member = NULL},
                    });
    if (message_finish_output() != EXIT_OK || findings.damages > 0)
        return EXIT_TROUBLE;
    return status == EXIT_OK && findings.notes > 0 ? EXIT_NOTHING : status;
}

int command_verify(const struct options *options)
{
    int worst = EXIT_OK;
    if (filter_operand(options) == NULL)
        return EXIT_TROUBLE;
    for (const char **path = options->operands; *path != NULL; path++) {
        struct store *store = filter_operand_look(*path, options);
        if (path == options->operands && confinement_of_filters(options) != 0) {
            store_close(store);
            return EXIT_TROUBLE;
        }
        int status = store != NULL ? verify(options, store) : EXIT_TROUBLE;
        store_close(store);
        worst = status > worst ? status : worst;
    }
    return worst;
}
