#include "commands/filter_spec.h"

#include "commands/command.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "format/likeness.h"
#include "system/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- a new filter --- */

/* Values that are taken as given. Pages depend on the other values, so they come last. */
static void apply(const struct options *options, struct header *header)
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

static int check_key(const struct options *options, const struct recipe *recipe)
{
    bool none = recipe->ranges == 0 && recipe->names[0] == '\0';
    bool several = strchr(recipe->names, ',') != NULL;
    if (recipe->syntax == SYNTAX_FIELDS && recipe->separated && none)
        return message("%s: no fields selected (add -f LIST)", options->spelled[OPTION_separator]);
    if (recipe->syntax == SYNTAX_CSV && !recipe_separator_fits(recipe))
        return message("%s: cannot separate columns of CSV (leave it out for a comma)",
                       options->spelled[OPTION_separator]);
    if (recipe->syntax == SYNTAX_JSONL && none)
        return message("--jsonl: no members selected (add -f NAME)");
    if (recipe->syntax == SYNTAX_JSONL && recipe->profile != PROFILE_LINE && several)
        return message("--by: takes one member of a line of JSON (give -f one name)");
    return 0;
}

/* Changes the key options of a filter to those that were given. Returns 0, or EXIT_TROUBLE after a
 * message. */
static int apply_key(const struct options *options, struct recipe *recipe)
{
    const struct recipe *given = &options->recipe;
    recipe->trim |= given->trim;
    recipe->fold |= given->fold;
    if (given->syntax != SYNTAX_FIELDS)
        recipe->syntax = given->syntax;
    if (given->syntax == SYNTAX_JSONL)
        recipe->separated = false;
    if (recipe->syntax == SYNTAX_CSV && !recipe->separated) {
        recipe->separated = true;
        recipe->separator = ',';
    }
    if (options->separator) {
        recipe->separated = true;
        recipe->separator = given->separator;
    }
    if (options->by) {
        recipe->profile = given->profile;
        recipe->version = given->version;
    }
    return option_value_fields(options, recipe) == 0 ? check_key(options, recipe) : EXIT_TROUBLE;
}

/* The option that gives the number of lines, as it was spelled. */
static const char *spelled_lines(const struct options *options)
{
    enum option_id id = options->window != 0 ? OPTION_window : OPTION_capacity;
    return options_has(options, id) ? options->spelled[id] : "-n";
}

static int check_sizes(const struct options *options)
{
    bool counted = options->capacity != 0 || options->window != 0;
    bool sized = options->size != 0 || options->bits_per_key != 0;
    bool of_file = options->asked->bit == FOR_PLAN && options->operand_count > 0;
    const char *lines = of_file ? "FILE" : spelled_lines(options);
    const char *size = options->size != 0 ? "--size" : "--bits-per-key";
    if (options->rate != 0 && sized && (counted || options->bits_per_key != 0))
        return message("%s, %s and %s: any two determine the third (leave one out)", lines,
                       options->spelled[OPTION_rate], size);
    if (options->bits_per_key != 0 && !counted)
        return message("--bits-per-key: no number of lines given (add -n N)");
    if ((options->fixed || options->hashes != 0) && !counted && !sized)
        return message("%s: no size given (add -n N or --size SIZE)",
                       options->fixed ? "--fixed" : "--hashes");
    return 0;
}

/* Works out the rate or the capacity from the pages, if these are given. */
static int work_out(const struct options *options, struct filter_plan *plan)
{
    if (plan->pages == 0)
        return options->size == 0
                   ? 0
                   : message("%s %s: too small for the layers of the filter "
                             "(give a larger size)",
                             options->spelled[OPTION_size], options->given[OPTION_size]);
    if (plan->capacity != 0) {
        growth_find_rate(plan);
        if (plan->rate > SIZING_RATE_MAX)
            return message("%s %" PRIu64 ": does not fit in that size, even at a false-positive "
                           "rate of %g (give a larger size)",
                           spelled_lines(options), plan->capacity, SIZING_RATE_MAX);
        return 0;
    }
    plan->capacity = sizing_capacity(growth_geometry(plan), plan->pages, growth_rate(plan, 0));
    if (plan->capacity > SIZING_KEYS_MAX)
        plan->capacity = SIZING_KEYS_MAX;
    return plan->capacity != 0
               ? 0
               : message("%s %s: too small for a single line at that rate (give a larger size, "
                         "or a higher -p)",
                         options->spelled[OPTION_size], options->given[OPTION_size]);
}

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
    apply(options, header);
    return 0;
}

static int describe(const struct options *options, struct header *header)
{
    struct filter_plan *plan = &header->plan;
    struct layer_plan layer;
    if (check_sizes(options) != 0 || filter_spec_key(options, &header->recipe) != 0)
        return EXIT_TROUBLE;
    plan->rate = GROWTH_DEFAULT_RATE;
    plan->fixed = options->hashes != 0 || options->bits_per_key != 0 ||
                  (options->size != 0 && options->window == 0);
    apply(options, header);
    plan->staged = !plan->geometry.counting && !plan->window;
    if (work_out(options, plan) != 0)
        return EXIT_TROUBLE;
    /* Only an unusual geometry can make a filter too large; the check takes milliseconds. */
    bool odd = plan->geometry.blocks != 0 || plan->window;
    if (odd && plan->capacity != 0 && growth_first(plan, &layer) != 0)
        return message("%s %" PRIu64 ": the filter would be too large (ask for fewer lines, or a "
                       "higher -p)",
                       spelled_lines(options), plan->capacity);
    return 0;
}

int filter_spec_header(const struct options *options, struct header *header)
{
    memset(header, 0, sizeof *header);
    if ((options->like != NULL ? take_like : describe)(options, header) != 0)
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

int filter_spec_key(const struct options *options, struct recipe *recipe)
{
    *recipe = (struct recipe){.ranges = 0};
    return apply_key(options, recipe);
}

void filter_spec_tell_dots(const struct options *options)
{
    char path[RECIPE_NAMES_BYTES + 1];
    const char *item = options->jsonl && options->fields != NULL ? options->fields : "";
    for (size_t length; *item != '\0'; item += length + (item[length] == ',')) {
        length = strcspn(item, ",");
        const char *dot = memrchr(item, '.', length);
        if (dot == NULL || dot + 1 == item + length || strcspn(item, "/~") < length)
            continue;
        int within = (int)(dot - item), last = (int)length - within - 1;
        for (size_t i = 0; i < length; i++)
            path[i] = (char)(item[i] == '.' ? '/' : item[i]);
        message("%s %.*s: means a member of that name (for %.*s%s%.*s: %s%.*s; to avoid this note: "
                "/%.*s)",
                options->spelled[OPTION_fields], (int)length, item, last, dot + 1,
                within > 0 ? " within " : "", within, item, within > 0 ? "/" : "", (int)length,
                path, (int)length, item);
        return;
    }
}

/* --- filters that exist --- */

/* The options to leave out: `option`, or if that is NULL all that describe the key; or the first
 * that describes the filter, if none of these was given. */
static const char *blame(const struct options *options, const char *option, char text[128])
{
    size_t length = 0;
    if (options->like != NULL)
        return options->spelled[OPTION_like];
    for (enum option_id id = 0; id < OPTIONS; id++) {
        const struct option_entry *entry = &option_table[id];
        /* --bits-per-key sets the size. */
        const char *name = id == OPTION_bits_per_key ? "--size" : entry->spellings[0];
        bool blamed = option != NULL ? strcmp(name, option) == 0
                                     : entry->group == GROUP_KEY && entry->describes;
        if (options_has(options, id) && blamed)
            length += (size_t)snprintf(text + length, 128 - length, "%s%s",
                                       length > 0 ? " and " : "", options->spelled[id]);
    }
    return length > 0 ? text : options->spelled[options_describing(options)];
}

/* Any secret will do for --secret, except that of the filter that --like names. */
static int compare_secret(const struct options *options, const char *path, const struct header *has,
                          struct header *wanted)
{
    bool same = has->hasher.k0 == wanted->hasher.k0 && has->hasher.k1 == wanted->hasher.k1;
    if (!options->secret)
        return 0;
    if (options->like != NULL && header_has_secret(has) && same)
        return message("%s: was made with the secret of %s (leave --secret out, or make another "
                       "filter)",
                       path, options->like);
    wanted->hasher = header_has_secret(has) ? has->hasher : (struct hasher){HASH_SIPHASH, 0, 0};
    return 0;
}

/* Changes the filter's header to what it would be, had the filter been made as the options say.
 * --hashes with the number that it has anyway makes no difference. */
static int want(const struct options *options, struct header *wanted)
{
    struct geometry before = wanted->plan.geometry, own = growth_geometry(&wanted->plan);
    if (options->like != NULL)
        return take_like(options, wanted);
    apply(options, wanted);
    if (options->hashes != 0 && geometry_hashes(wanted->plan.geometry) == geometry_hashes(own)) {
        wanted->plan.geometry.blocks = before.blocks;
        wanted->plan.geometry.fields = before.fields;
    }
    return apply_key(options, &wanted->recipe);
}

static int compare(const struct options *options, const char *path, const struct header *has)
{
    char how[LIKENESS_TEXT], options_blamed[128];
    const char *option;
    struct header wanted = *has;
    if (want(options, &wanted) != 0 || compare_secret(options, path, has, &wanted) != 0)
        return EXIT_TROUBLE;
    if (likeness_difference(has, &wanted, LIKE_WHOLLY, &option, how) == NULL)
        return 0;
    return message("%s: was made %s (leave %s out, or make another filter)", path, how,
                   blame(options, option, options_blamed));
}

int filter_spec_compare(const struct options *options, const struct filter *filter)
{
    if (options_describing(options) == OPTIONS)
        return 0;
    return compare(options, filter_path(filter), filter_header(filter));
}
