/* filter_spec - a filter as the options describe it: a new one, or an existing one that must
 * agree. */
#include "commands/command.h"
#include "commands/filter_operand.h"
#include "commands/key_options.h"
#include "commands/message.h"
#include "format/likeness.h"
#include "system/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Values that are taken as given. Pages depend on the other values, so they come last. */
static void apply_given(const struct options *options, struct header *header)
{
    struct filter_plan *plan = &header->plan;
    if (options->capacity != 0 || options->window != 0)
        plan->capacity = options->window != 0 ? options->window : options->capacity;
    if (options->capacity != 0)
        plan->window = plan->forget != 0; /* a window by lines has no -n */
    if (options->window != 0 || options->forget_after != 0) {
        plan->window = true;
        plan->forget = options->forget_after;
    }
    if (options->rate != 0)
        plan->rate = options->rate;
    plan->fixed |= options->fixed;
    plan->geometry.counting |= options->counting;
    if (options->hashes != 0)
        plan->geometry = sizing_geometry_of_hashes((unsigned)options->hashes,
                                                   plan->geometry.counting);
    if (options_has(options, OPTION_seed))
        header->hasher = hasher_xxh3(options->seed);
    if (options->shard.count != 0)
        header->shard = options->shard;
    if (options->size != 0)
        plan->pages = header_pages_within(plan, options->size);
    if (options->bits_per_key != 0)
        plan->pages = growth_pages_of_bits(plan, options->bits_per_key);
}

/* --- a new filter --- */

/* --like copies everything, except that another shard, seed or secret may be given. With another
 * seed the two filters have different false drops. */
static int take_like(const struct options *options, struct header *header)
{
    struct filter *filter = filter_operand_open_to_read(options->like, options);
    if (filter == NULL)
        return EXIT_TROUBLE;
    *header = *filter_header(filter);
    filter_close(filter);
    if (options_has(options, OPTION_seed) && header_has_secret(header))
        return message("--seed: %s has a secret, not a seed (for a new secret: --secret)",
                       options->like);
    if (options->shard.count != 0 && header->shard.count != 0 &&
        header->shard.count != options->shard.count)
        return message("--shard %s: %s is for shard %u of %u (give another I/%u, or leave --like "
                       "out)",
                       options->given[OPTION_shard], options->like, header->shard.number,
                       header->shard.count, header->shard.count);
    apply_given(options, header);
    return 0;
}

/* Any two of lines, rate and size determine the third. */
static int describe_new(const struct options *options, struct header *header)
{
    struct filter_plan *plan = &header->plan;
    struct layer_plan layer;
    bool counted = options->capacity != 0 || options->window != 0;
    bool sized = options->size != 0 || options->bits_per_key != 0;
    bool of_file = options->asked->bit == FOR_PLAN && options->operand_count > 0;
    enum option_id id = options->window != 0 ? OPTION_window : OPTION_capacity;
    const char *lines = options_has(options, id) ? options->spelled[id] : "-n";
    if (options->rate != 0 && sized && (counted || options->bits_per_key != 0))
        return message("%s, %s and %s: any two determine the third (leave one out)",
                       of_file ? "FILE" : lines, options->spelled[OPTION_rate],
                       options->size != 0 ? "--size" : "--bits-per-key");
    if (options->bits_per_key != 0 && !counted)
        return message("--bits-per-key: no number of lines given (add -n N)");
    if ((options->fixed || options->hashes != 0) && !counted && !sized)
        return message("%s: no size given (add -n N or --size SIZE)",
                       options->fixed ? "--fixed" : "--hashes");
    if (key_options_apply(options, &header->recipe) != 0)
        return EXIT_TROUBLE;
    plan->rate = GROWTH_DEFAULT_RATE;
    plan->fixed = options->hashes != 0 || options->bits_per_key != 0 ||
                  (options->size != 0 && options->window == 0);
    apply_given(options, header);
    plan->staged = !plan->geometry.counting && !plan->window;
    /* From the pages, if these are given, follows the rate or the capacity. */
    if (plan->pages == 0 && options->size != 0)
        return message("%s %s: too small for the layers of the filter (give a larger size)",
                       options->spelled[OPTION_size], options->given[OPTION_size]);
    if (plan->pages != 0 && plan->capacity != 0) {
        growth_find_rate(plan);
        if (plan->rate > SIZING_RATE_MAX)
            return message("%s %" PRIu64 ": does not fit in that size, even at a false-positive "
                           "rate of %g (give a larger size)",
                           lines, plan->capacity, SIZING_RATE_MAX);
    } else if (plan->pages != 0) {
        plan->capacity = sizing_capacity(growth_geometry(plan), plan->pages, growth_rate(plan, 0));
        if (plan->capacity > SIZING_KEYS_MAX)
            plan->capacity = SIZING_KEYS_MAX;
        if (plan->capacity == 0)
            return message("%s %s: too small for a single line at that rate (give a larger size, "
                           "or a higher -p)",
                           options->spelled[OPTION_size], options->given[OPTION_size]);
    }
    /* Only an unusual geometry can make a filter too large; the check takes milliseconds. */
    bool odd = plan->geometry.blocks != 0 || plan->window;
    if (odd && plan->capacity != 0 && growth_first(plan, &layer) != 0)
        return message("%s %" PRIu64 ": the filter would be too large (ask for fewer lines, or a "
                       "higher -p)",
                       lines, plan->capacity);
    return 0;
}

int filter_spec_header(const struct options *options, struct header *header)
{
    memset(header, 0, sizeof *header);
    if ((options->like != NULL ? take_like : describe_new)(options, header) != 0)
        return EXIT_TROUBLE;
    struct fault fault = FAULT_UNSET;
    struct hasher secret = {HASH_SIPHASH, 0, 0};
    if (options->secret &&
        (random_secret(&secret.k0, &fault) != 0 || random_secret(&secret.k1, &fault) != 0))
        return message_fault(&fault);
    if (options->secret)
        header->hasher = secret;
    return 0;
}

/* --- filters that exist --- */

int filter_spec_compare(const struct options *options, const struct filter *filter)
{
    char how[LIKENESS_TEXT], blamed[128];
    size_t length = 0;
    const char *path = filter_path(filter), *option;
    const struct header *has = filter_header(filter);
    struct header wanted = *has;
    if (options_describing(options) == OPTIONS)
        return 0;
    /* 1. What its header would be, had the filter been made as the options say. */
    if (options->like != NULL) {
        if (take_like(options, &wanted) != 0)
            return EXIT_TROUBLE;
    } else {
        apply_given(options, &wanted);
        /* --hashes with the number that it has anyway makes no difference. */
        if (options->hashes != 0 &&
            geometry_hashes(wanted.plan.geometry) == geometry_hashes(growth_geometry(&has->plan))) {
            wanted.plan.geometry.blocks = has->plan.geometry.blocks;
            wanted.plan.geometry.fields = has->plan.geometry.fields;
        }
        if (key_options_apply(options, &wanted.recipe) != 0)
            return EXIT_TROUBLE;
    }
    /* 2. Any secret will do for --secret, except that of the filter that --like names. */
    if (options->secret) {
        bool same = has->hasher.k0 == wanted.hasher.k0 && has->hasher.k1 == wanted.hasher.k1;
        if (options->like != NULL && header_has_secret(has) && same)
            return message("%s: was made with the secret of %s (leave --secret out, or make "
                           "another filter)",
                           path, options->like);
        wanted.hasher = header_has_secret(has) ? has->hasher : (struct hasher){HASH_SIPHASH, 0, 0};
    }
    /* 3. Does it have another? */
    if (likeness_difference(has, &wanted, LIKE_WHOLLY, &option, how) == NULL)
        return 0;
    /* 4. The options to leave out: `option`, or if that is NULL all that describe the key; or the
     * first that describes the filter, if none of these was given. */
    for (enum option_id id = 0; id < OPTIONS && options->like == NULL; id++) {
        const struct option_entry *entry = &option_table[id];
        /* --bits-per-key sets the size. */
        const char *name = id == OPTION_bits_per_key ? "--size" : entry->spellings[0];
        bool is_blamed = option != NULL ? strcmp(name, option) == 0
                                        : entry->group == GROUP_KEY && entry->describes;
        if (options_has(options, id) && is_blamed)
            length += (size_t)snprintf(blamed + length, sizeof blamed - length, "%s%s",
                                       length > 0 ? " and " : "", options->spelled[id]);
    }
    enum option_id first = options->like != NULL ? OPTION_like : options_describing(options);
    bool as_head = options->asked->bit == FOR_FILTER && options->capacity != 0 && option != NULL &&
                   strcmp(option, "-n") == 0;
    return message("%s: was made %s (leave %s out, or make another filter%s)", path, how,
                   length > 0 ? blamed : options->spelled[first],
                   as_head ? "; to stop after N new lines: -m N" : "");
}
