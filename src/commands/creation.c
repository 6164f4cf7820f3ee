/* creation - see creation.h. */
#include "commands/creation.h"

#include "commands/message.h"
#include "file/queue.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The values as given, 0 where not. */
struct wish {
    uint64_t capacity;
    uint64_t bytes;
    uint64_t hashes;
    double rate;
    double bits_per_key;
};

static const struct {
    enum option_id option;
    uint64_t asked;
} asked_by[] = {
    {OPTION_CAPACITY, ASKED_CAPACITY}, {OPTION_RATE, ASKED_RATE},
    {OPTION_SIZE, ASKED_SIZE},         {OPTION_BITS_PER_KEY, ASKED_BITS_PER_KEY},
    {OPTION_HASHES, ASKED_HASHES},     {OPTION_SEED, ASKED_SEED},
    {OPTION_FIXED, ASKED_FIXED},
};

bool creation_asked(const struct options *options)
{
    return options_has(options, OPTION_CREATE) || options_has(options, OPTION_CAPACITY) ||
           options_has(options, OPTION_RATE);
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
        options_seed(options, OPTION_SEED, &header->seed) != 0)
        return EXIT_TROUBLE;
    return 0;
}

static int check_wish(const struct wish *wish)
{
    if (wish->bytes != 0 && wish->bits_per_key != 0)
        return message("--size and --bits-per-key: both give the size (leave one out)");
    if (wish->bits_per_key != 0 && wish->capacity == 0)
        return message("--bits-per-key: needs to know how many keys (add -n N)");
    if (wish->capacity != 0 && wish->rate != 0 && wish->bytes != 0)
        return message("-n, -p and --size: any two of them give the third (leave one out)");
    if (wish->capacity != 0 && wish->rate != 0 && wish->bits_per_key != 0)
        return message("-n, -p and --bits-per-key: any two of them give the third (leave one out)");
    return 0;
}

static uint64_t pages_for_bits(double bits_per_key, uint64_t capacity)
{
    return (uint64_t)ceil(bits_per_key * (double)capacity / PAGE_BITS);
}

/* The pages that fit into a file of so many bytes beside its fixed part. */
static uint64_t pages_within(uint64_t bytes, bool fixed)
{
    uint64_t pages = bytes / PAGE_BYTES;
    while (pages > 0) {
        uint64_t at = FLIGHT_AT + flight_bytes(flight_keys_for(pages, fixed));
        uint64_t total = layer_place(at, pages) + pages * PAGE_BYTES;
        if (total <= bytes)
            break;
        uint64_t over = (total - bytes + PAGE_BYTES - 1) / PAGE_BYTES;
        pages = over < pages ? pages - over : 0;
    }
    return pages;
}

/* The lowest rate at which `pages` hold `capacity` keys, over all geometries or with the one that
 * is given; the plan gets its p, within the limits. */
static void rate_from_size(struct filter_plan *plan)
{
    double best = HUGE_VAL;
    for (unsigned lines = 1; lines <= LINES_MAX; lines++)
        for (unsigned fields = 1; fields <= FIELDS_MAX; fields++) {
            struct geometry geometry = {(uint8_t)lines, (uint8_t)fields};
            if (plan->geometry.lines != 0 &&
                (lines != plan->geometry.lines || fields != plan->geometry.fields))
                continue;
            double rate = sizing_rate(geometry, plan->pages, (double)plan->capacity);
            /* A further line has to be worth its cache miss. */
            if (rate < best * 0.8) {
                best = rate;
                plan->rate = rate;
            }
        }
    plan->rate = plan->rate / SIZING_MARGIN /
                 growth_rate(&(struct filter_plan){.rate = 1,
                                                   .capacity = plan->capacity,
                                                   .fixed = plan->fixed},
                             0);
    if (plan->rate < SIZING_RATE_MIN)
        plan->rate = SIZING_RATE_MIN;
}

static int plan_from_wish(const struct wish *wish, struct filter_plan *plan)
{
    plan->rate = wish->rate != 0 ? wish->rate : DEFAULT_RATE;
    plan->capacity = wish->capacity;
    if (wish->hashes != 0)
        plan->geometry = sizing_geometry_of_hashes((unsigned)wish->hashes);
    if (wish->bytes != 0)
        plan->pages = pages_within(wish->bytes, plan->fixed);
    if (wish->bits_per_key != 0)
        plan->pages = pages_for_bits(wish->bits_per_key, wish->capacity);
    if (plan->pages == 0)
        return 0;
    if (plan->capacity != 0) {
        rate_from_size(plan);
        if (plan->rate > SIZING_RATE_MAX)
            return message("-n %" PRIu64 ": does not fit into that size at a rate of %g or less "
                           "(give more space)",
                           plan->capacity, SIZING_RATE_MAX);
        return 0;
    }
    /* Marked as given, for the sake of the growth series: the size was meant to hold them. */
    plan->capacity = 1;
    double rate = growth_rate(plan, 0);
    struct geometry geometry = plan->geometry.lines != 0 ? plan->geometry : sizing_geometry(rate);
    plan->capacity = sizing_capacity(geometry, plan->pages, rate);
    if (plan->capacity > SIZING_KEYS_MAX)
        plan->capacity = SIZING_KEYS_MAX;
    return plan->capacity != 0 ? 0 : message("--size: too small for that rate");
}

int creation_plan(const struct options *options, struct header *header)
{
    struct wish wish = {0};
    struct layer_plan layer;
    memset(header, 0, sizeof *header);
    if (read_wish(options, &wish, header) != 0 || check_wish(&wish) != 0)
        return EXIT_TROUBLE;
    header->plan.fixed = options_has(options, OPTION_FIXED);
    header->writer_features = options_has(options, OPTION_QUEUE) ? WRITER_QUEUE : 0;
    if (header->plan.fixed && wish.capacity == 0 && wish.bytes == 0)
        return message("--fixed: needs to know how large (add -n N or --size SIZE)");
    if (plan_from_wish(&wish, &header->plan) != 0)
        return EXIT_TROUBLE;
    header->asked = asked_of(options);
    if (header->plan.capacity != 0 && growth_first(&header->plan, &layer) != 0)
        return message("-n %" PRIu64 ": no filter of that size can be made (ask for fewer keys, or "
                       "a higher rate)",
                       header->plan.capacity);
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

/* --- filters that exist --- */

static int disagrees(const char *path, const char *option, const char *has, const char *wants)
{
    return message("%s: was made with %s %s, not %s (leave %s out, or make another filter)", path,
                   option, has, wants, option);
}

static int disagrees_count(const char *path, const char *option, uint64_t has, uint64_t wants)
{
    char has_text[32], wants_text[32];
    snprintf(has_text, sizeof has_text, "%" PRIu64, has);
    snprintf(wants_text, sizeof wants_text, "%" PRIu64, wants);
    return disagrees(path, option, has_text, wants_text);
}

static int disagrees_rate(const char *path, double has, double wants)
{
    char has_text[32], wants_text[32];
    snprintf(has_text, sizeof has_text, "%g", has);
    snprintf(wants_text, sizeof wants_text, "%g", wants);
    return disagrees(path, "-p", has_text, wants_text);
}

static int compare_size(const struct filter *filter, const struct wish *wish)
{
    const char *path = filter_path(filter);
    const struct filter_plan *has = &filter_header(filter)->plan;
    if (wish->bytes != 0 && has->pages != pages_within(wish->bytes, has->fixed))
        return message("%s: was not made with --size %" PRIu64 " (leave --size out, or make "
                       "another filter)",
                       path, wish->bytes);
    if (wish->bits_per_key != 0 && has->pages != pages_for_bits(wish->bits_per_key, has->capacity))
        return message("%s: was not made with --bits-per-key %g (leave --bits-per-key out, or "
                       "make another filter)",
                       path, wish->bits_per_key);
    return 0;
}

/* Only what was given is compared. */
static int compare_open(const struct filter *filter, const struct wish *wish, uint64_t given,
                        uint64_t seed)
{
    const char *path = filter_path(filter);
    const struct header *has = filter_header(filter);
    if ((given & ASKED_CAPACITY) && (has->asked & ASKED_CAPACITY) == 0)
        return message("%s: was made without -n (leave -n out, or make another filter)", path);
    if ((given & ASKED_CAPACITY) && has->plan.capacity != wish->capacity)
        return disagrees_count(path, "-n", has->plan.capacity, wish->capacity);
    if ((given & ASKED_RATE) && has->plan.rate != wish->rate)
        return disagrees_rate(path, has->plan.rate, wish->rate);
    if (compare_size(filter, wish) != 0)
        return EXIT_TROUBLE;
    unsigned hashes = geometry_hashes(filter_layer(filter, 0).geometry);
    if ((given & ASKED_HASHES) &&
        hashes != geometry_hashes(sizing_geometry_of_hashes((unsigned)wish->hashes)))
        return disagrees_count(path, "--hashes", hashes, wish->hashes);
    if ((given & ASKED_SEED) && has->seed != seed)
        return disagrees_count(path, "--seed", has->seed, seed);
    if ((given & ASKED_FIXED) && !has->plan.fixed)
        return message("%s: was made to grow, not --fixed (leave --fixed out, or make another "
                       "filter)",
                       path);
    return 0;
}

/* Opened for reading, so that a filter that is refused is not touched. */
static int compare(const char *path, const struct options *options)
{
    struct fault fault;
    struct wish wish = {0};
    struct header header = {.seed = 0};
    uint64_t given = asked_of(options);
    bool queue = options_has(options, OPTION_QUEUE);
    if (given == 0 && !queue)
        return 0;
    if (read_wish(options, &wish, &header) != 0)
        return EXIT_TROUBLE;
    struct filter *filter = filter_open(path, false, NULL, &fault);
    if (filter == NULL)
        return message_fault(&fault);
    int result = compare_open(filter, &wish, given, header.seed);
    if (result == 0 && queue && (filter_header(filter)->writer_features & WRITER_QUEUE) == 0)
        result = message("%s: was made without a queue (make another filter: unseen create "
                         "--queue FILTER)",
                         path);
    filter_close(filter);
    return result;
}

static void tell_created(const struct filter *filter)
{
    char size[16];
    const struct filter_plan *plan = &filter_header(filter)->plan;
    creation_size((double)filter_file_bytes(filter), size);
    if (plan->capacity != 0)
        message("%s: created (for %" PRIu64 " keys at an error rate of %g, %s)",
                filter_path(filter), plan->capacity, plan->rate, size);
    else
        message("%s: created (for any number of keys at an error rate of %g, grows from %s)",
                filter_path(filter), plan->rate, size);
}

int creation_make(const char *path, struct header *header, bool replace, struct fault *fault)
{
    struct stat status;
    bool queue = (header->writer_features & WRITER_QUEUE) != 0;
    /* Of an existing filter, the queue that is there is the right one. */
    bool there = !replace && stat(path, &status) == 0 && status.st_size > 0;
    if (queue && !there && queue_check_free(path, fault) != 0)
        return -1;
    int result = filter_create(path, header, replace, fault);
    return result == 0 && queue ? queue_make(path, fault) : result;
}

struct filter *creation_open(const char *path, const struct options *options,
                             const struct filter_watch *watch)
{
    struct header header;
    struct fault fault;
    bool created = false;
    if (creation_asked(options)) {
        if (creation_plan(options, &header) != 0)
            return NULL;
        int result = creation_make(path, &header, false, &fault);
        if (result < 0) {
            message_fault(&fault);
            return NULL;
        }
        created = result == 0;
    }
    if (!created && compare(path, options) != 0)
        return NULL;
    struct filter *filter = filter_open(path, true, watch, &fault);
    if (filter == NULL)
        message_fault(&fault);
    else if (created)
        tell_created(filter);
    return filter;
}

/* --- what happens on the way --- */

static void tell_grew(void *context, const struct filter *filter, unsigned layers, uint64_t keys)
{
    (void)context;
    const struct filter_plan *plan = &filter_header(filter)->plan;
    const char *name = filter_path(filter) != NULL ? filter_path(filter) : "filter in memory";
    if (plan->capacity != 0 && layers == 2)
        message("%s: holds %" PRIu64 " of %" PRIu64 " keys and grows (the error rate stays at %g)",
                name, keys, plan->capacity, plan->rate);
}

static void tell_waits(void *context, const struct filter *filter)
{
    (void)context;
    message("%s: waiting for another process that writes to it", filter_path(filter));
}

struct filter_watch creation_watch(const struct options *options)
{
    return (struct filter_watch){
        .grew = tell_grew,
        .waits = tell_waits,
        .allow_network = options_has(options, OPTION_ALLOW_NETWORK),
    };
}

void creation_warn_if_over(const struct filter *filter)
{
    const struct filter_plan *plan = &filter_header(filter)->plan;
    uint64_t keys = filter_keys(filter);
    if (!plan->fixed || keys <= filter_capacity(filter))
        return;
    struct layer_plan layer = filter_layer(filter, 0);
    double rate = sizing_rate(layer.geometry, layer.pages, (double)keys);
    message("%s: holds %" PRIu64 " of %" PRIu64 " keys; about %.2g %% of new lines are now dropped",
            filter_path(filter) != NULL ? filter_path(filter) : "filter in memory", keys,
            filter_capacity(filter), rate * 100);
}
