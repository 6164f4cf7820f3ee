/* creation - see creation.h. */
#include "commands/creation.h"

#include "commands/combinations.h"
#include "commands/message.h"
#include "format/likeness.h"
#include "queue/queue.h"
#include "store/counter.h"
#include "store/create.h"
#include "store/generation.h"
#include "system/beside.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The values as given, 0 where not. */
struct wish {
    uint64_t capacity;
    uint64_t bytes;
    uint64_t hashes;
    double rate;
    double bits_per_key;
    uint64_t window;
    uint64_t forget; /* milliseconds */
    double slack;
    uint64_t stage; /* bytes */
};

#define DEFAULT_SLACK 0.25
/* More than 47 generations are too many to look through. */
#define SLACK_MIN 0.022

static const struct {
    enum option_id option;
    uint64_t asked;
} asked_by[] = {
    {OPTION_CAPACITY, ASKED_CAPACITY}, {OPTION_RATE, ASKED_RATE},
    {OPTION_SIZE, ASKED_SIZE},         {OPTION_BITS_PER_KEY, ASKED_BITS_PER_KEY},
    {OPTION_HASHES, ASKED_HASHES},     {OPTION_SEED, ASKED_SEED},
    {OPTION_FIXED, ASKED_FIXED},       {OPTION_WINDOW, ASKED_WINDOW},
    {OPTION_SLACK, ASKED_SLACK},       {OPTION_FORGET_AFTER, ASKED_FORGET},
    {OPTION_COUNTING, ASKED_COUNTING}, {OPTION_STAGE, ASKED_STAGE},
};

bool creation_asked(const struct options *options)
{
    return (options->set & CREATION_OPTIONS) != 0;
}

static uint64_t asked_of(const struct options *options)
{
    uint64_t asked = 0;
    for (size_t i = 0; i < sizeof asked_by / sizeof *asked_by; i++)
        if (options_has(options, asked_by[i].option))
            asked |= asked_by[i].asked;
    return asked;
}

static int read_wish(const struct options *options, struct wish *wish, struct header *header)
{
    if (options_whole(options, OPTION_CAPACITY, 1, SIZING_KEYS_MAX, &wish->capacity) != 0 ||
        options_real(options, OPTION_RATE, SIZING_RATE_MIN, SIZING_RATE_MAX, &wish->rate) != 0 ||
        options_whole(options, OPTION_SIZE, 64 * 1024, (uint64_t)1 << 50, &wish->bytes) != 0 ||
        options_real(options, OPTION_BITS_PER_KEY, 1, 1000, &wish->bits_per_key) != 0 ||
        options_whole(options, OPTION_HASHES, 1, LINES_MAX * FIELDS_MAX, &wish->hashes) != 0 ||
        options_seed(options, OPTION_SEED, &header->seed) != 0 ||
        options_whole(options, OPTION_WINDOW, 1, SIZING_KEYS_MAX, &wish->window) != 0 ||
        options_whole(options, OPTION_FORGET_AFTER, 1, FORGET_MAX, &wish->forget) != 0 ||
        options_real(options, OPTION_SLACK, SLACK_MIN, 1, &wish->slack) != 0 ||
        options_whole(options, OPTION_STAGE, 0, (uint64_t)1 << 50, &wish->stage) != 0)
        return EXIT_TROUBLE;
    return 0;
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
        uint64_t total = header_file_bytes(pages, plan, layers);
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
            if (rate < best * 0.8) {
                best = rate;
                plan->rate = rate;
            }
        }
    struct filter_plan unit = *plan;
    unit.rate = 1;
    double share = SIZING_MARGIN * growth_rate(&unit, 0) * growth_share(plan);
    plan->rate /= share;
    if (plan->rate < SIZING_RATE_MIN)
        plan->rate = SIZING_RATE_MIN;
    /* The layer gets the geometry for its rate, which need not be the best for its size: then p is what
     * that one comes to. */
    for (unsigned round = 0; plan->geometry.lines == 0 && round < 8; round++) {
        struct geometry geometry = growth_geometry(plan);
        double rate = sizing_rate(geometry, plan->pages, keys) / share;
        if (rate <= plan->rate)
            break;
        plan->rate = rate;
    }
}

static int plan_window(const struct wish *wish, struct filter_plan *plan)
{
    if (wish->window == 0 && wish->forget == 0)
        return 0;
    plan->forget = wish->forget;
    plan->slack = wish->slack != 0 ? wish->slack : DEFAULT_SLACK;
    plan->generations = growth_generations(wish->window, plan->slack);
    if (plan->generations == 0)
        return message("--window %" PRIu64 ": too few lines for a slack of %g (give more, as "
                       "--slack 1)",
                       wish->window, plan->slack);
    return 0;
}

static int plan_from_wish(const struct wish *wish, struct filter_plan *plan)
{
    plan->rate = wish->rate != 0 ? wish->rate : DEFAULT_RATE;
    plan->capacity = wish->window != 0 ? wish->window : wish->capacity;
    if (plan_window(wish, plan) != 0)
        return EXIT_TROUBLE;
    if (wish->hashes != 0)
        plan->geometry = sizing_geometry_of_hashes((unsigned)wish->hashes, plan->geometry.counting);
    if (wish->bytes != 0)
        plan->pages = pages_within(plan, wish->bytes);
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
    /* By time, the capacity is a plan for all layers, and there was none. */
    if (plan->generations != 0)
        return 0;
    /* Marked as given, for the sake of the growth series: the size was meant to hold them. */
    plan->capacity = 1;
    double rate = growth_rate(plan, 0) * growth_share(plan);
    plan->capacity = sizing_capacity(growth_geometry(plan), plan->pages, rate);
    if (plan->capacity > SIZING_KEYS_MAX)
        plan->capacity = SIZING_KEYS_MAX;
    return plan->capacity != 0 ? 0 : message("--size: too small for that rate");
}

static int plan_with_stage(const struct wish *wish, struct filter_plan *plan)
{
    plan->stage = wish->stage / PAGE_BYTES;
    if (wish->stage != 0 && (plan->geometry.counting || wish->window != 0 || wish->forget != 0))
        return message("--stage and %s: lines that will be forgotten do not gather (leave one out)",
                       plan->geometry.counting ? "--counting"
                       : wish->window != 0     ? "--window"
                                               : "--forget-after");
    if (wish->bytes != 0 && pages_within(plan, wish->bytes) == 0)
        return message("--size %" PRIu64 ": no room for a layer beside its stage (give more, or a "
                       "smaller --stage)",
                       wish->bytes);
    return plan_from_wish(wish, plan);
}

/* --like takes all from one place, except whether there is a queue beside it. */
static int plan_like(const struct options *options, struct header *header)
{
    struct fault fault;
    const char *path = options->given[OPTION_LIKE];
    for (size_t i = 0; i < sizeof asked_by / sizeof *asked_by; i++)
        if (options_has(options, asked_by[i].option))
            return message("%s: --like takes it from %s (leave one of them out)",
                           options->spelled[asked_by[i].option], path);
    struct store *filter = store_open(path, NULL, NULL, &fault);
    if (filter == NULL)
        return message_fault(&fault);
    *header = *store_header(filter);
    header->writer_features = 0;
    store_close(filter);
    return 0;
}

/* Of the first layer; the rates of those to come are lower. */
static bool stage_is_small(const struct filter_plan *plan)
{
    struct layer_plan layer = {.rate = growth_rate(plan, 0) * growth_share(plan)};
    return growth_stage(plan, &layer) != 0;
}

int creation_plan(const struct options *options, uint64_t assumed, struct header *header)
{
    struct wish wish = {0};
    struct layer_plan layer;
    memset(header, 0, sizeof *header);
    if (options_has(options, OPTION_LIKE))
        return plan_like(options, header);
    if (read_wish(options, &wish, header) != 0 ||
        combinations_check(options, assumed != 0 ? FOR_PLANNED_FILTER : FOR_NEW_FILTER) != 0)
        return EXIT_TROUBLE;
    bool any_size = wish.bits_per_key != 0 && wish.capacity == 0 && wish.window == 0;
    if (any_size)
        wish.capacity = assumed;
    header->plan.fixed = any_size || options_has(options, OPTION_FIXED);
    header->plan.geometry.counting = options_has(options, OPTION_COUNTING);
    if (plan_with_stage(&wish, &header->plan) != 0)
        return EXIT_TROUBLE;
    header->asked = asked_of(options);
    /* Only an odd geometry can make one too large; working it out takes milliseconds. */
    bool odd = header->plan.geometry.lines != 0 || header->plan.generations != 0;
    if (wish.stage != 0 && (header->plan.stage == 0 || stage_is_small(&header->plan)))
        return message("--stage %s: too small (give 1M or more)", options->given[OPTION_STAGE]);
    if (odd && header->plan.capacity != 0 && growth_first(&header->plan, &layer) != 0)
        return message("%s %" PRIu64 ": no filter of that size can be made (ask for fewer keys, or "
                       "a higher rate)",
                       counted_by(&wish), header->plan.capacity);
    return 0;
}

const char *creation_size(double bytes, char text[16])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        unit++;
    }
    snprintf(text, 16, bytes < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

const char *creation_time(uint64_t milliseconds, char text[32])
{
    static const struct {
        uint64_t milliseconds;
        const char *letter;
    } units[] = {{604800000, "w"}, {86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}};
    snprintf(text, 32, "%.3fs", (double)milliseconds / 1000);
    for (size_t i = sizeof units / sizeof *units; i-- > 0;)
        if (milliseconds % units[i].milliseconds == 0)
            snprintf(text, 32, "%" PRIu64 "%s", milliseconds / units[i].milliseconds,
                     units[i].letter);
    return text;
}

/* --- filters that exist --- */

__attribute__((format(printf, 3, 4))) static int disagrees(const struct store *filter,
                                                           const char *option, const char *was, ...)
{
    char text[2048];
    va_list args;
    va_start(args, was);
    vsnprintf(text, sizeof text, was, args);
    va_end(args);
    return message("%s: was %s (leave %s out, or make another filter)", store_path(filter), text,
                   option);
}

static int compare_size(const struct store *filter, const struct wish *wish)
{
    const struct filter_plan *has = &store_header(filter)->plan;
    if (wish->bytes != 0 && has->pages != pages_within(has, wish->bytes))
        return disagrees(filter, "--size", "not made with --size %" PRIu64, wish->bytes);
    if (wish->bits_per_key != 0 && has->pages != pages_for_bits(has, wish->bits_per_key))
        return disagrees(filter, "--bits-per-key", "not made with --bits-per-key %g",
                         wish->bits_per_key);
    return 0;
}

static int compare_window(const struct store *filter, const struct wish *wish)
{
    char has_text[32], wants_text[32];
    const struct filter_plan *has = &store_header(filter)->plan;
    bool by_count = has->generations != 0 && has->forget == 0;
    const char *without = wish->window != 0 && !by_count              ? "--window"
                          : wish->forget != 0 && has->forget == 0     ? "--forget-after"
                          : wish->slack != 0 && has->generations == 0 ? "--slack"
                                                                      : NULL;
    if (without != NULL)
        return disagrees(filter, without, "made without %s", without);
    if (wish->window != 0 && has->capacity != wish->window)
        return disagrees(filter, "--window", "made with --window %" PRIu64 ", not %" PRIu64,
                         has->capacity, wish->window);
    if (wish->forget != 0 && has->forget != wish->forget)
        return disagrees(filter, "--forget-after", "made with --forget-after %s, not %s",
                         creation_time(has->forget, has_text),
                         creation_time(wish->forget, wants_text));
    if (wish->slack != 0 && has->slack != wish->slack)
        return disagrees(filter, "--slack", "made with --slack %g, not %g", has->slack,
                         wish->slack);
    return 0;
}

/* Only what was given is compared. */
static int compare_open(const struct store *filter, const struct wish *wish, uint64_t given,
                        uint64_t seed)
{
    const struct header *has = store_header(filter);
    if ((given & ASKED_CAPACITY) && (has->asked & ASKED_CAPACITY) == 0)
        return disagrees(filter, "-n", "made without -n");
    if ((given & ASKED_CAPACITY) && has->plan.capacity != wish->capacity)
        return disagrees(filter, "-n", "made with -n %" PRIu64 ", not %" PRIu64, has->plan.capacity,
                         wish->capacity);
    if ((given & ASKED_RATE) && has->plan.rate != wish->rate)
        return disagrees(filter, "-p", "made with -p %g, not %g", has->plan.rate, wish->rate);
    if (compare_size(filter, wish) != 0 || compare_window(filter, wish) != 0)
        return EXIT_TROUBLE;
    unsigned hashes = geometry_hashes(growth_geometry(&has->plan));
    if ((given & ASKED_HASHES) &&
        hashes != geometry_hashes(sizing_geometry_of_hashes((unsigned)wish->hashes, false)))
        return disagrees(filter, "--hashes", "made with --hashes %u, not %" PRIu64, hashes,
                         wish->hashes);
    if ((given & ASKED_SEED) && has->seed != seed)
        return disagrees(filter, "--seed", "made with --seed %" PRIu64 ", not %" PRIu64, has->seed,
                         seed);
    if ((given & ASKED_FIXED) && !has->plan.fixed)
        return disagrees(filter, "--fixed", "made to grow, not --fixed");
    if ((given & ASKED_STAGE) && has->plan.stage != wish->stage / PAGE_BYTES)
        return disagrees(filter, "--stage", "not made with --stage %" PRIu64, wish->stage);
    if ((given & ASKED_COUNTING) && !has->plan.geometry.counting)
        return disagrees(filter, "--counting", "made without --counting");
    return 0;
}

/* What likeness does not ask for, since it may differ between filters that are to be merged. */
static const char *size_differs(const struct filter_plan *has, const struct filter_plan *wants,
                                char has_text[LIKENESS_TEXT], char wants_text[LIKENESS_TEXT])
{
    const struct {
        const char *name;
        uint64_t has, wants;
    } sizes[] = {
        {"capacity", has->capacity, wants->capacity},
        {"size in pages", has->pages, wants->pages},
        {"stage in pages", has->stage, wants->stage},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].has != sizes[i].wants) {
            snprintf(has_text, LIKENESS_TEXT, "%" PRIu64, sizes[i].has);
            snprintf(wants_text, LIKENESS_TEXT, "%" PRIu64, sizes[i].wants);
            return sizes[i].name;
        }
    return NULL;
}

static int compare_like(const struct store *filter, const char *like, const struct header *wanted)
{
    char has[LIKENESS_TEXT], wants[LIKENESS_TEXT];
    const struct header *header = store_header(filter);
    const char *what = likeness_differs(header, wanted, has, wants);
    if (what == NULL)
        what = size_differs(&header->plan, &wanted->plan, has, wants);
    if (what != NULL)
        return disagrees(filter, "--like", "not made --like %s: its %s is %s, not %s", like, what,
                         has, wants);
    return 0;
}

/* Opened for reading, so that a filter that is refused is not touched. */
static int compare(const char *path, const struct options *options, bool queue)
{
    struct fault fault;
    struct wish wish = {0};
    struct header header = {.seed = 0};
    uint64_t given = asked_of(options);
    bool like = options_has(options, OPTION_LIKE);
    if (given == 0 && !queue && !like)
        return 0;
    if (like ? plan_like(options, &header) != 0 : read_wish(options, &wish, &header) != 0)
        return EXIT_TROUBLE;
    struct store *filter = store_open(path, NULL, NULL, &fault);
    if (filter == NULL)
        return message_fault(&fault);
    int result = like ? compare_like(filter, options->given[OPTION_LIKE], &header)
                      : compare_open(filter, &wish, given, header.seed);
    if (result == 0 && queue && (store_header(filter)->writer_features & WRITER_QUEUE) == 0)
        result = message("%s: was made without a queue (make another filter: unseen create "
                         "--queue FILTER)",
                         path);
    store_close(filter);
    return result;
}

static void tell_created(const struct store *filter)
{
    char size[16], time[32];
    const struct filter_plan *plan = &store_header(filter)->plan;
    creation_size((double)store_file_bytes(filter), size);
    if (plan->forget != 0)
        message("%s: created (for the lines of %s at an error rate of %g, grows from %s)",
                store_path(filter), creation_time(plan->forget, time), plan->rate, size);
    else if (plan->generations != 0)
        message("%s: created (for the last %" PRIu64 " lines at an error rate of %g, %s)",
                store_path(filter), plan->capacity, plan->rate, size);
    else if (plan->capacity != 0)
        message("%s: created (for %" PRIu64 " keys at an error rate of %g, %s)", store_path(filter),
                plan->capacity, plan->rate, size);
    else
        message("%s: created (for any number of keys at an error rate of %g, grows from %s)",
                store_path(filter), plan->rate, size);
}

/* Whether something has the name of its queue. */
static bool is_beside(const char *path)
{
    char name[BESIDE_MAX];
    beside_name(path, ".queue", name);
    return access(name, F_OK) == 0;
}

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

int creation_make(const char *path, struct header *header, bool replace, struct fault *fault)
{
    bool queue = (header->writer_features & WRITER_QUEUE) != 0;
    /* Of a filter that stays, the queue that is there is the right one; it may have been made just now.
     * Beside a new one it would wait for ever, or be taken for the new one's. */
    if ((queue || replace || is_beside(path)) && (replace || !is_there(path)) &&
        queue_check_free(path, fault) != 0 && (replace || !is_there(path)))
        return -1;
    bool queued = (header->writer_features & WRITER_QUEUE) != 0;
    return create_filter(path, header, replace, queued ? queue_make : NULL, fault);
}

struct filter *creation_open(const char *path, const struct options *options, bool queue)
{
    struct header header;
    struct fault fault;
    struct store_watch watch = creation_watch(options);
    bool created = false;
    if (creation_asked(options)) {
        if (creation_plan(options, 0, &header) != 0)
            return NULL;
        header.writer_features = queue ? WRITER_QUEUE : 0;
        int result = creation_make(path, &header, false, &fault);
        if (result < 0) {
            message_fault(&fault);
            return NULL;
        }
        created = result == 0;
    }
    if (!created && compare(path, options, queue) != 0)
        return NULL;
    struct filter *filter = filter_open(path, true, &watch, &fault);
    if (filter == NULL)
        message_fault(&fault);
    else if (created)
        tell_created(filter_store(filter));
    return filter;
}

/* --- what happens on the way --- */

static const char *shown_name(const struct store *filter)
{
    return store_path(filter) != NULL ? store_path(filter) : "filter in memory";
}

static void tell_grew(void *context, const struct store *filter, unsigned layers, uint64_t keys)
{
    (void)context;
    const struct filter_plan *plan = &store_header(filter)->plan;
    const char *name = shown_name(filter);
    if (plan->forget != 0 && plan->capacity != 0 && layers == growth_first_layers(plan) + 1)
        message("%s: more than %" PRIu64 " keys come in its time, and it grows (the error rate "
                "stays at %g)",
                name, plan->capacity, plan->rate);
    else if (plan->capacity != 0 && layers == 2)
        message("%s: holds %" PRIu64 " of %" PRIu64 " keys and grows (the error rate stays at %g)",
                name, keys, plan->capacity, plan->rate);
}

static void tell_waits(void *context, const struct store *filter)
{
    (void)context;
    message("%s: waiting for another process that writes to it", store_path(filter));
}

struct store_watch creation_watch(const struct options *options)
{
    return (struct store_watch){
        .grew = tell_grew,
        .waits = tell_waits,
        .allow_network = options_has(options, OPTION_ALLOW_NETWORK),
    };
}

static void warn_if_over(const struct store *filter)
{
    uint64_t keys = store_keys(filter);
    if (!store_header(filter)->plan.fixed || keys <= store_capacity(filter))
        return;
    /* The bits tell, not the counter: of lines that looked seen it has none. */
    double percent = 100 * counter_sampled_rate(filter);
    message("%s: holds %" PRIu64 " of %" PRIu64 " keys; about %.*g %% of new lines are now dropped",
            shown_name(filter), keys, store_capacity(filter), percent < 99.5 ? 2 : 3, percent);
}

static void warn_if_ahead(const struct store *filter)
{
    uint64_t ahead = store_path(filter) != NULL ? generation_clock_ahead(filter) : 0;
    time_t time = (time_t)(ahead / 1000);
    struct tm date;
    char text[64];
    if (ahead == 0 || gmtime_r(&time, &date) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &date) == 0)
        return;
    message("%s: was last written at %s, in the future, and forgets nothing until then (if the "
            "clock is right now: unseen create --like %s NEW)",
            store_path(filter), text, store_path(filter));
}

void creation_warn(const struct store *filter)
{
    warn_if_over(filter);
    warn_if_ahead(filter);
}
