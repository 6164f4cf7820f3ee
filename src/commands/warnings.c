#include "commands/warnings.h"

#include "commands/message.h"
#include "core/number.h"
#include "core/quote.h"
#include "filter/counter.h"
#include "filter/generation.h"
#include "system/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void tell_grew(const struct store *store, unsigned layers)
{
    const struct filter_plan *plan = &store_header(store)->plan;
    const char *name = store_name(store);
    char rate[NUMBER_TEXT], time[NUMBER_TEXT];
    number_text(plan->rate, NUMBER_ASKED, rate);
    if (plan->forget != 0 && plan->capacity != 0 && layers == growth_first_layers(plan) + 1)
        message("%s: received more than %" PRIu64 " %s within %s; growing (false-positive rate "
                "stays below %s)",
                name, plan->capacity, number_lines(plan->capacity),
                number_exact((double)plan->forget, NUMBER_TIME, time), rate);
    else if (plan->capacity != 0 && layers == 2)
        message("%s: reached its capacity (%" PRIu64 " %s); growing (false-positive rate stays "
                "below %s)",
                name, plan->capacity, number_lines(plan->capacity), rate);
}

static void tell_waits(const struct store *store, bool to_the_end)
{
    message_waits((void *)store_path(store), to_the_end);
}

const struct store_watch warnings_watch = {.grew = tell_grew, .waits = tell_waits};

static bool warn_if_over(const struct store *store)
{
    double capacity = (double)store_capacity(store);
    double lines = store_header(store)->plan.fixed ? counter_lines(store) : 0;
    /* The number of false drops is estimated, so a full filter may seem to hold a few more. */
    if (lines <= capacity ||
        ((double)store_keys(store) <= capacity && lines - 6 * sqrt(lines) <= capacity))
        return false;
    char shown[NUMBER_TEXT];
    double percent = 100 * counter_rate(store);
    message("%s: holds %.0f %s but was made for %.0f; about %s%% of new lines are now dropped "
            "by mistake",
            store_name(store), lines, number_lines((uint64_t)lines), capacity,
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
static void warn_if_merged_above(const struct store *store)
{
    double asked = store_header(store)->plan.rate, most = 0;
    for (unsigned i = 0; i < store_layers(store); i++)
        most += store_plan(store, i).rate;
    if (most > asked * (1 + 1e-9))
        warn_of_rate(store_name(store), counter_rate(store), asked);
}

static void warn_if_ahead(const struct store *store)
{
    uint64_t ahead = store_path(store) != NULL ? generation_clock_ahead(store) : 0;
    char date[CLOCK_DATE], quoted[QUOTE_MAX];
    if (ahead == 0)
        return;
    message("%s: was last written at %s, which is in the future, so nothing is forgotten until "
            "then (if the clock is right now, make a new filter: unseen create --like %s NEW)",
            store_path(store), clock_date(ahead, date), quote_file(store_path(store), quoted));
}

void warn_of_filter(const struct store *store)
{
    if (!warn_if_over(store))
        warn_if_merged_above(store);
    warn_if_ahead(store);
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
