#include "commands/wish.h"

#include "commands/combinations.h"
#include "commands/filter_operand.h"
#include "commands/message.h"
#include "commands/report.h"
#include "commands/wish_recipe.h"
#include "core/number.h"
#include "format/likeness.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* The values as given, 0 where not. */
struct wish {
    uint64_t capacity;
    uint64_t bytes;
    uint64_t hashes;
    double rate;
    double bits_per_key;
    uint64_t window;
    uint64_t forget; /* milliseconds */
};

/* What --like takes from a filter as it is. */
#define TAKEN_BY_LIKE                                                                              \
    (DESCRIBING_OPTIONS & ~(OPTION_BIT(OPTION_SEED) | OPTION_BIT(OPTION_LIKE) |                    \
                            OPTION_BIT(OPTION_SECRET) | OPTION_BIT(OPTION_SHARD)))

static struct wish read_wish(const struct options *options)
{
    return (struct wish){
        .capacity = options_whole(options, OPTION_CAPACITY, 0),
        .rate = options_real(options, OPTION_RATE),
        .bytes = options_whole(options, OPTION_SIZE, 0),
        .bits_per_key = options_real(options, OPTION_BITS_PER_KEY),
        .hashes = options_whole(options, OPTION_HASHES, 0),
        .window = options_whole(options, OPTION_WINDOW, 0),
        .forget = options_whole(options, OPTION_FORGET_AFTER, 0),
    };
}

static const char *counted_by(const struct wish *wish)
{
    return wish->window != 0 ? "--window" : "-n";
}

/* Pages of each of the plan's first layers. */
static uint64_t pages_for_bits(const struct filter_plan *plan, double bits_per_key)
{
    double bits = bits_per_key * (double)plan->capacity / growth_first_layers(plan);
    return (uint64_t)ceil(bits / PAGE_BITS);
}

/* The same, of those that fit into a file of so many bytes beside its fixed part. */
static uint64_t pages_within(const struct filter_plan *plan, uint64_t bytes)
{
    unsigned layers = growth_first_layers(plan);
    uint64_t pages = bytes / PAGE_BYTES / layers;
    while (pages > 0) {
        uint64_t total = header_asked_bytes(pages, plan, layers);
        if (total <= bytes)
            break;
        uint64_t over = (total - bytes - 1) / PAGE_BYTES / layers + 1;
        pages = over < pages ? pages - over : 0;
    }
    return pages;
}

/* The lowest rate at which `pages` hold `capacity` keys, over all geometries or with the one that
 * is given; the plan gets its p, within the limits. */
static void rate_from_size(struct filter_plan *plan)
{
    double best = HUGE_VAL;
    double keys = (double)growth_first_keys(plan);
    for (unsigned lines = 1; lines <= LINES_MAX; lines++)
        for (unsigned fields = 1; fields <= FIELDS_MAX; fields++) {
            struct geometry geometry = {(uint8_t)lines, (uint8_t)fields, plan->geometry.counting};
            if (plan->geometry.lines != 0 &&
                (lines != plan->geometry.lines || fields != plan->geometry.fields))
                continue;
            double rate = sizing_rate(geometry, plan->pages, keys);
            /* A further line has to be worth its cache miss. */
            if (rate < best * 0.8)
                best = rate;
        }
    struct filter_plan unit = *plan;
    unit.rate = 1;
    double share = SIZING_MARGIN * growth_rate(&unit, 0);
    plan->rate = fmax(best / share, SIZING_RATE_MIN);
    /* The layer gets the geometry for its rate, which need not be the best for its size: then p is
     * what that one comes to. */
    for (unsigned round = 0; plan->geometry.lines == 0 && round < 8; round++) {
        struct geometry geometry = growth_geometry(plan);
        double rate = sizing_rate(geometry, plan->pages, keys) / share;
        if (rate <= plan->rate)
            break;
        plan->rate = rate;
    }
}

static int plan_from_wish(const struct wish *wish, struct filter_plan *plan)
{
    plan->rate = wish->rate != 0 ? wish->rate : GROWTH_DEFAULT_RATE;
    plan->capacity = wish->window != 0 ? wish->window : wish->capacity;
    plan->window = wish->window != 0 || wish->forget != 0;
    plan->forget = wish->forget;
    if (wish->hashes != 0)
        plan->geometry = sizing_geometry_of_hashes((unsigned)wish->hashes, plan->geometry.counting);
    if (wish->bytes != 0)
        plan->pages = pages_within(plan, wish->bytes);
    if (wish->bytes != 0 && plan->pages == 0)
        return message("--size %" PRIu64 ": no room for its layers (give more)", wish->bytes);
    if (wish->bits_per_key != 0)
        plan->pages = pages_for_bits(plan, wish->bits_per_key);
    if (plan->pages == 0)
        return 0;
    if (plan->capacity != 0) {
        rate_from_size(plan);
        if (plan->rate > SIZING_RATE_MAX)
            return message("%s %" PRIu64 ": does not fit into that size at a rate of %g or less "
                           "(give more space)",
                           counted_by(wish), plan->capacity, SIZING_RATE_MAX);
        return 0;
    }
    double rate = growth_rate(plan, 0);
    plan->capacity = sizing_capacity(growth_geometry(plan), plan->pages, rate);
    if (plan->capacity > SIZING_KEYS_MAX)
        plan->capacity = SIZING_KEYS_MAX;
    return plan->capacity != 0
               ? 0
               : message("--size: too small for a line at that rate (give more, or a higher -p)");
}

/* With --secret: in place of the seed. */
static int draw_secret(const struct options *options, struct header *header)
{
    struct fault fault;
    uint64_t words[2];
    if (!options_has(options, OPTION_SECRET))
        return 0;
    if (getrandom(words, sizeof words, 0) != sizeof words) {
        fault_errno(&fault, "secret", "no random bytes can be had", errno);
        return message_fault(&fault);
    }
    header->hasher = (struct hasher){HASH_SIPHASH, words[0], words[1]};
    return 0;
}

/* Fills in the part that the filter is for. If --like has given it one, it is to be another of the
 * same list. */
static int read_part(const struct options *options, struct header *header)
{
    const char *part = options->given[OPTION_SHARD];
    struct shard like = header->shard;
    if (part == NULL)
        return 0;
    if (options_read_part("--shard", part, &header->shard) != 0)
        return EXIT_TROUBLE;
    if (like.parts == 0 || like.parts == header->shard.parts)
        return 0;
    return message("--shard %s: %s is for part %u of %u (give another part of %u, or leave --like "
                   "out)",
                   part, options->given[OPTION_LIKE], like.part, like.parts, like.parts);
}

/* --like takes all from one place, except another part of the list, and the seed or the secret if
 * it is to be another one: false drops of one filter are then not those of the other. */
static int plan_like(const struct options *options, struct header *header)
{
    const char *like = options->given[OPTION_LIKE];
    for (int i = 0; i < OPTIONS; i++)
        if ((options->set & TAKEN_BY_LIKE & OPTION_BIT(i)) != 0)
            return message("%s and --like: --like takes that from %s (leave one out)",
                           options->spelled[i], like);
    struct store *store = filter_operand_look(like, options);
    if (store == NULL)
        return EXIT_TROUBLE;
    *header = *store_header(store);
    store_close(store);
    if (options_has(options, OPTION_SEED) && header_has_secret(header))
        return message("--seed: %s has a secret instead (for another one: --secret)", like);
    if (read_part(options, header) != 0)
        return EXIT_TROUBLE;
    header->hasher.k0 = options_seed(options, header->hasher.k0);
    return 0;
}

int wish_plan(const struct options *options, bool in_file, uint64_t assumed, struct header *header)
{
    struct wish wish = read_wish(options);
    struct layer_plan layer;
    memset(header, 0, sizeof *header);
    if (options_has(options, OPTION_LIKE))
        return plan_like(options, header) == 0 ? draw_secret(options, header) : EXIT_TROUBLE;
    header->hasher.k0 = options_seed(options, 0);
    if (wish_recipe_read(options, &header->recipe) != 0 || read_part(options, header) != 0 ||
        combinations_check(options, assumed != 0 ? FOR_PLANNED_FILTER : FOR_NEW_FILTER) != 0)
        return EXIT_TROUBLE;
    bool any_size = wish.bits_per_key != 0 && wish.capacity == 0 && wish.window == 0;
    if (any_size)
        wish.capacity = assumed;
    header->plan.fixed = any_size || options_has(options, OPTION_FIXED) ||
                         (wish.bytes != 0 && wish.window == 0);
    header->plan.geometry.counting = options_has(options, OPTION_COUNTING);
    header->plan.staged = in_file && !header->plan.geometry.counting && wish.window == 0 &&
                          wish.forget == 0;
    if (plan_from_wish(&wish, &header->plan) != 0)
        return EXIT_TROUBLE;
    /* Only an odd geometry can make one too large; working it out takes milliseconds. */
    bool odd = header->plan.geometry.lines != 0 || header->plan.window;
    if (odd && header->plan.capacity != 0 && growth_first(&header->plan, &layer) != 0)
        return message("%s %" PRIu64 ": a filter cannot be that large (ask for fewer lines, or "
                       "a higher rate)",
                       counted_by(&wish), header->plan.capacity);
    return draw_secret(options, header);
}

/* --- filters that exist --- */

/* Says so, and returns true. */
__attribute__((format(printf, 3, 4))) static bool
disagrees(const struct store *store, const char *option, const char *was, ...)
{
    char text[2048];
    va_list args;
    va_start(args, was);
    vsnprintf(text, sizeof text, was, args);
    va_end(args);
    message("%s: was %s (leave %s out, or make another filter)", store_path(store), text, option);
    return true;
}

static bool lacks(const struct store *store, const char *option, bool lacking)
{
    return lacking && disagrees(store, option, "made without %s", option);
}

/* What was not given, 0, is not compared; nor is it below. */
static bool rate_differs(const struct store *store, const char *option, double has, double wants)
{
    char was[NUMBER_TEXT], wanted[NUMBER_TEXT];
    return wants != 0 && has != wants &&
           disagrees(store, option, "made with %s %s, not %s", option,
                     number_text(has, NUMBER_ASKED, was), number_text(wants, NUMBER_ASKED, wanted));
}

static bool size_differs(const struct store *store, const struct wish *wish)
{
    const struct filter_plan *has = &store_header(store)->plan;
    if (lacks(store, "--size", wish->bytes != 0 && has->pages == 0) ||
        lacks(store, "--bits-per-key", wish->bits_per_key != 0 && has->pages == 0))
        return true;
    if (wish->bytes != 0 && has->pages != pages_within(has, wish->bytes))
        return disagrees(store, "--size", "made with %" PRIu64 " bytes, not %" PRIu64,
                         header_asked_bytes(has->pages, has, growth_first_layers(has)),
                         wish->bytes);
    if (wish->bits_per_key != 0 && has->pages != pages_for_bits(has, wish->bits_per_key))
        return disagrees(store, "--bits-per-key", "not made with --bits-per-key %g",
                         wish->bits_per_key);
    return false;
}

static bool window_differs(const struct store *store, const struct wish *wish)
{
    char was[32], wanted[32];
    const struct filter_plan *has = &store_header(store)->plan;
    bool by_count = has->window && has->forget == 0;
    if (lacks(store, "--window", wish->window != 0 && !by_count) ||
        lacks(store, "--forget-after", wish->forget != 0 && has->forget == 0))
        return true;
    if (wish->window != 0 && has->capacity != wish->window)
        return disagrees(store, "--window", "made with --window %" PRIu64 ", not %" PRIu64,
                         has->capacity, wish->window);
    if (wish->forget != 0 && has->forget != wish->forget)
        return disagrees(store, "--forget-after", "made with --forget-after %s, not %s",
                         report_time(has->forget, was), report_time(wish->forget, wanted));
    return false;
}

static bool form_differs(const struct store *store, const struct wish *wish,
                         const struct options *options)
{
    const struct header *has = store_header(store);
    unsigned hashes = geometry_hashes(growth_geometry(&has->plan));
    uint64_t seed = options_seed(options, has->hasher.k0);
    if (wish->hashes != 0 &&
        hashes != geometry_hashes(sizing_geometry_of_hashes((unsigned)wish->hashes, false)))
        return disagrees(store, "--hashes", "made with --hashes %u, not %" PRIu64, hashes,
                         wish->hashes);
    if (options_has(options, OPTION_SEED) && header_has_secret(has))
        return disagrees(store, "--seed", "made with a secret, not --seed %" PRIu64, seed);
    if (has->hasher.k0 != seed)
        return disagrees(store, "--seed", "made with --seed %" PRIu64 ", not %" PRIu64,
                         has->hasher.k0, seed);
    if (options_has(options, OPTION_FIXED) && !has->plan.fixed)
        return disagrees(store, "--fixed", "made to grow, not --fixed");
    return lacks(store, "--counting",
                 options_has(options, OPTION_COUNTING) && !has->plan.geometry.counting);
}

static bool capacity_differs(const struct store *store, const struct wish *wish)
{
    const struct filter_plan *has = &store_header(store)->plan;
    bool by_count = has->window && has->forget == 0;
    return lacks(store, "-n", wish->capacity != 0 && (has->capacity == 0 || by_count)) ||
           (wish->capacity != 0 && has->capacity != wish->capacity &&
            disagrees(store, "-n", "made for %" PRIu64 " %s, not %" PRIu64, has->capacity,
                      number_lines(has->capacity), wish->capacity));
}

static bool differs(const struct store *store, const struct wish *wish,
                    const struct options *options)
{
    return capacity_differs(store, wish) ||
           rate_differs(store, "-p", store_header(store)->plan.rate, wish->rate) ||
           size_differs(store, wish) || window_differs(store, wish) ||
           form_differs(store, wish, options);
}

static bool part_differs(const struct store *store, const struct options *options)
{
    struct header wanted = {.shard = {0}};
    struct shard is = store_header(store)->shard;
    if (!options_has(options, OPTION_SHARD))
        return false;
    if (lacks(store, "--shard", is.parts == 0) || read_part(options, &wanted) != 0)
        return true;
    return (is.part != wanted.shard.part || is.parts != wanted.shard.parts) &&
           disagrees(store, "--shard", "made with --shard %u/%u, not %u/%u", is.part, is.parts,
                     wanted.shard.part, wanted.shard.parts);
}

/* `like`: the filter that it must not share its secret with, or NULL. */
static bool secret_differs(const struct store *store, const struct options *options,
                           const struct header *like)
{
    const struct header *has = store_header(store);
    if (!options_has(options, OPTION_SECRET))
        return false;
    if (!header_has_secret(has))
        return disagrees(store, "--secret", "made without --secret");
    return like != NULL && has->hasher.k0 == like->hasher.k0 && has->hasher.k1 == like->hasher.k1 &&
           disagrees(store, "--secret", "made with the secret of %s", options->given[OPTION_LIKE]);
}

static bool number_unlike(const struct store *store, const char *like, const char *what,
                          uint64_t has, uint64_t wants)
{
    return has != wants &&
           disagrees(store, "--like", "not made --like %s: its %s is %" PRIu64 ", not %" PRIu64,
                     like, what, has, wants);
}

/* Sizes may differ between filters that are to be merged: likeness does not ask for them. */
static bool unlike(const struct store *store, const struct options *options, struct header *wanted)
{
    const char *like = options->given[OPTION_LIKE];
    if (secret_differs(store, options, wanted))
        return true;
    if (options_has(options, OPTION_SECRET))
        wanted->hasher = store_header(store)->hasher;
    char was[LIKENESS_TEXT], wants[LIKENESS_TEXT];
    const struct filter_plan *has = &store_header(store)->plan, *plan = &wanted->plan;
    const char *what = likeness_differs(wanted, store_header(store), wants, was);
    if (what != NULL)
        return disagrees(store, "--like", "not made --like %s: its %s is %s, not %s", like, what,
                         was, wants);
    return number_unlike(store, like, "capacity", has->capacity, plan->capacity) ||
           number_unlike(store, like, "size in pages", has->pages, plan->pages) ||
           number_unlike(store, like, "part", store_header(store)->shard.part, wanted->shard.part);
}

int wish_compare(const struct options *options, const char *path)
{
    struct wish wish = read_wish(options);
    struct header header = {.created = 0};
    bool like = options_has(options, OPTION_LIKE);
    if ((options->set & DESCRIBING_OPTIONS) == 0)
        return 0;
    if (like && plan_like(options, &header) != 0)
        return EXIT_TROUBLE;
    struct store *store = filter_operand_look(path, options);
    if (store == NULL)
        return EXIT_TROUBLE;
    bool other = like ? unlike(store, options, &header)
                      : differs(store, &wish, options) || part_differs(store, options) ||
                            secret_differs(store, options, NULL) ||
                            wish_recipe_compare(options, path, &store_header(store)->recipe) != 0;
    store_close(store);
    return other ? EXIT_TROUBLE : 0;
}
