#include "commands/warnings.h"

#include "commands/message.h"
#include "filter/survey.h"
#include "format/shared.h"
#include "system/machine.h"
#include "text/number.h"
#include "text/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Says once that more lines came than -n said. */
static void tell_grew(const struct filter *filter, unsigned layers)
{
    const struct filter_plan *plan = &filter_header(filter)->plan;
    char size[NUMBER_TEXT], time[NUMBER_TEXT], within[NUMBER_TEXT + 8] = "";
    uint64_t bytes = filter_file_bytes(filter) - filter_stage_bytes(filter);
    for (unsigned i = 0; i < layers && filter_path(filter) == NULL; i++)
        bytes += filter_plan(filter, i).pages * PAGE_BYTES;
    if (plan->capacity == 0 || layers != growth_first_layers(plan) + 1)
        return;
    if (plan->forget != 0)
        snprintf(within, sizeof within, " within %s",
                 number_exact((double)plan->forget, NUMBER_TIME, time));
    message("%s: more than %" PRIu64 " %s%s (-n); grew to %s", filter_name(filter), plan->capacity,
            number_lines(plan->capacity), within, number_size((double)bytes, size));
}

static void tell_waits(const struct filter *filter, bool to_the_end)
{
    message_waits((void *)filter_path(filter), to_the_end);
}

static void tell_waits_for_slot(const struct filter *filter)
{
    message("%s: waiting for one of the %d places for lines in flight, which other runs hold",
            filter_path(filter), SLOTS_MAX);
}

const struct filter_watch warnings_watch = {.grew = tell_grew,
                                            .waits = tell_waits,
                                            .waits_for_slot = tell_waits_for_slot};

/* Too large for some stacks. */
static struct survey survey;

static bool warn_if_over(const struct filter *filter)
{
    const struct filter_plan *plan = &filter_header(filter)->plan;
    double capacity = (double)filter_capacity(filter), counted = (double)filter_keys(filter);
    char shown[NUMBER_TEXT];
    /* Counters leave out false drops, at most a share p of the lines up to the capacity. Below that
     * the bits, which take longer, need not be asked. */
    if (!plan->fixed || counted < 0.9 * (1 - plan->rate) * capacity)
        return false;
    survey_sample(&survey, filter);
    if (survey.keys <= capacity ||
        (counted <= capacity && survey.keys - 6 * survey.deviation <= capacity))
        return false;
    double percent = 100 * survey.rate;
    message("%s: holds %s%.0f %s but was made for %.0f; about %s%% of new lines are now dropped "
            "by mistake",
            filter_name(filter), survey.told ? "" : "at least ", survey.keys,
            number_lines((uint64_t)survey.keys), capacity,
            number_text(percent, percent < 99.5 ? 2 : 3, shown));
    return true;
}

void warn_of_rate(const char *name, double rate, double asked)
{
    const double by_chance = 1.05;
    char now[NUMBER_TEXT], wanted[NUMBER_TEXT];
    if (rate > asked * by_chance)
        message("%s: false-positive rate is %s, above the %s asked for (make filters that are "
                "to be merged --like one that is large enough for all their lines)",
                name, number_text(rate, NUMBER_FOUND, now),
                number_text(asked, NUMBER_ASKED, wanted));
}

/* Only a merged filter can have layers whose rates add up to more than asked for. */
static void warn_if_merged_above(const struct filter *filter)
{
    double asked = filter_header(filter)->plan.rate, most = 0;
    for (unsigned i = 0; i < filter_layers(filter); i++)
        most += filter_plan(filter, i).rate;
    if (most <= asked * (1 + 1e-9))
        return;
    survey_sample(&survey, filter);
    if (!survey.sampled || survey.rate > asked * 1.25) /* a sample varies */
        warn_of_rate(filter_name(filter), survey.rate, asked);
}

static void warn_if_ahead(const struct filter *filter)
{
    uint64_t ahead = filter_path(filter) != NULL ? filter_clock_ahead(filter) : 0;
    char date[CLOCK_DATE], quoted[QUOTE_MAX];
    if (ahead == 0)
        return;
    message("%s: was last written at %s, which is in the future, so nothing is forgotten until "
            "then (if the clock is right now, make a new filter: unseen create --like %s NEW)",
            filter_path(filter), clock_date(ahead, date), quote_file(filter_path(filter), quoted));
}

void warn_of_filter(const struct filter *filter)
{
    if (!warn_if_over(filter))
        warn_if_merged_above(filter);
    warn_if_ahead(filter);
}

const char *words_for_key(const struct recipe *recipe)
{
    bool json = recipe->syntax == SYNTAX_JSONL;
    bool field = recipe->ranges > 0 || recipe->syntax == SYNTAX_CSV;
    if (recipe->profile == PROFILE_LINE)
        return json ? "such member" : field ? "such field" : NULL;
    if (recipe->profile == PROFILE_HOST)
        return json ? "host in that member" : field ? "host in that field" : "host";
    return json ? "URL in that member" : field ? "URL in that field" : "URL";
}

void warn_of_no_key(const struct recipe *recipe, const char *name,
                    const struct pipeline_counts *counts)
{
    enum { ENOUGH = 1000 };
    char text[RECIPE_TEXT];
    bool all = counts->no_key == counts->read, most = counts->no_key > counts->read / 2;
    if (counts->no_key == 0 || !(all || (most && counts->read >= ENOUGH)))
        return;
    message("%s: %" PRIu64 " of %" PRIu64 " %s no %s, so whole lines are compared; the first is "
            "line %" PRIu64 " of %s (to see the keys: unseen key %s FILE)",
            name, counts->no_key, counts->read, number_of(counts->read, "line has", "lines have"),
            words_for_key(recipe), counts->no_key_line, counts->no_key_input,
            recipe_text(recipe, text));
}
