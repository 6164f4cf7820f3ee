#include "commands/filter_operand.h"

#include "commands/message.h"
#include "store/counter.h"
#include "store/generation.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

const char *filter_operand(const struct options *options)
{
    const char *name = options->operands[0];
    if (name == NULL)
        message("FILTER is missing (see unseen --help)");
    else if (name[0] == '\0')
        message("'': an empty name is not a FILTER (is a variable empty?)");
    else if (strcmp(name, "-") == 0)
        message("-: standard input is not a FILTER (FILTER comes first, then what to read)");
    else
        return name;
    return NULL;
}

int filter_operand_alone(const struct options *options)
{
    if (options->operand_count > 1)
        return message("%s: one operand too many (FILTER is all that is read here)",
                       options->operands[1]);
    return 0;
}

/* --- what happens on the way --- */

static void tell_grew(const struct store *store, unsigned layers, uint64_t keys)
{
    const struct filter_plan *plan = &store_header(store)->plan;
    const char *name = store_name(store);
    if (plan->forget != 0 && plan->capacity != 0 && layers == growth_first_layers(plan) + 1)
        message("%s: more than %" PRIu64 " keys come in its time, and it grows (the error rate "
                "stays at %g)",
                name, plan->capacity, plan->rate);
    else if (plan->capacity != 0 && layers == 2)
        message("%s: holds %" PRIu64 " of %" PRIu64 " keys and grows (the error rate stays at %g)",
                name, keys, plan->capacity, plan->rate);
}

static void tell_waits(const struct store *store)
{
    message("%s: waiting for another process that writes to it", store_path(store));
}

struct store_watch filter_operand_watch(const struct options *options)
{
    return (struct store_watch){
        .grew = tell_grew,
        .waits = tell_waits,
        .allow_network = options_has(options, OPTION_ALLOW_NETWORK),
    };
}

struct store *filter_operand_look(const char *path)
{
    struct fault fault;
    struct store *store = store_open(path, NULL, NULL, &fault);
    if (store == NULL)
        message_fault(&fault);
    return store;
}

struct filter *filter_operand_open(const char *path, const struct options *options, bool write)
{
    struct fault fault;
    struct store_watch watch = filter_operand_watch(options);
    struct filter *filter = filter_open(path, write, &watch, &fault);
    if (filter == NULL)
        message_fault(&fault);
    return filter;
}

static void warn_if_over(const struct store *store)
{
    uint64_t keys = store_keys(store);
    if (!store_header(store)->plan.fixed || keys <= store_capacity(store))
        return;
    /* The bits tell, not the counter: of lines that looked seen it has none. */
    double percent = 100 * counter_sampled_rate(store);
    message("%s: holds %" PRIu64 " of %" PRIu64 " keys; about %.*g %% of new lines are now dropped",
            store_name(store), keys, store_capacity(store), percent < 99.5 ? 2 : 3, percent);
}

static void warn_if_ahead(const struct store *store)
{
    uint64_t ahead = store_path(store) != NULL ? generation_clock_ahead(store) : 0;
    time_t time = (time_t)(ahead / 1000);
    struct tm date;
    char text[64];
    if (ahead == 0 || gmtime_r(&time, &date) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &date) == 0)
        return;
    message("%s: was last written at %s, in the future, and forgets nothing until then (if the "
            "clock is right now: unseen create --like %s NEW)",
            store_path(store), text, store_path(store));
}

void filter_operand_warn(const struct store *store)
{
    warn_if_over(store);
    warn_if_ahead(store);
}
