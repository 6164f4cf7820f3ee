/*
 * fuzz_lines - lines on all of their way, and the values of options.
 *
 * The first byte chooses which. Of lines:
 *
 *        0    1  FLAG_..., FLAG_VALUES off
 *        1    3  recipe (recipes.h)
 *        4    1  bytes that the input's buffer begins with, less one
 *        5    1  bytes of the longest line that is allowed; 255: any
 *        6    1  lines that are wanted; 255: all
 *        7    1  how many bytes come at a time: chance below that
 *        8       the input
 *
 * They are read, split, made keys of, judged by a filter of a few keys and p = 1e-12, in memory or
 * in a file, and handed on. What must come out is what an exact set gives, byte for byte: printed,
 * held back, counted, and what is left of the input when no more lines are wanted.
 *
 * Of values: byte 1 says of which option, and the rest is the text. What is accepted lies within
 * the limits, is written and read again as the same, and is what a plain reading of it gives.
 */
#include "commands/options.h"
#include "commands/part_text.h"
#include "key/keyer.h"
#include "pipeline/pipeline.h"
#include "recipes.h"
#include "store/create.h"
#include "store/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FLAG_VALUES = 1,
    FLAG_NUL = 2,
    FLAG_FILE = 4, /* the filter */
    FLAG_REPEATED = 8,
    FLAG_PIPE = 16,
    FLAG_HEADING = 32,
    FLAG_DROPPED = 64,
    FLAG_SKIP = 128 /* the heading */
};

enum { HEAD = 8, LINES_MAX_HERE = 1 << 14, PIPE_ROOM = 1 << 16, VALUE_MAX = 1 << 12 };

/* --- the input: what comes at a time is chance --- */

static struct {
    int fd;
    uint64_t state;
    size_t most;
} reads = {.fd = -1};

static uint64_t draw(void)
{
    uint64_t x = reads.state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

/* In the place of the library's. */
ssize_t __wrap_read(int fd, void *buffer, size_t length); // NOLINT: the linker's name
ssize_t __wrap_read(int fd, void *buffer, size_t length)  // NOLINT
{
    if (fd == reads.fd && reads.most > 0) {
        uint64_t dice = draw();
        if (dice % 16 == 0) {
            errno = dice % 32 == 0 ? EINTR : EAGAIN;
            return -1;
        }
        size_t most = 1 + (size_t)(dice >> 8) % reads.most;
        length = length < most ? length : most;
    }
    return syscall(SYS_read, fd, buffer, length);
}

static int input_of(const uint8_t *bytes, size_t size, bool pipe_wanted)
{
    int ends[2];
    if (!pipe_wanted) {
        int fd = memfd_create("input", 0);
        INSIST(fd >= 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
        return fd;
    }
    INSIST(size <= PIPE_ROOM && pipe(ends) == 0 && write(ends[1], bytes, size) == (ssize_t)size);
    close(ends[1]);
    return ends[0];
}

/* --- what comes out --- */

struct text {
    char *bytes;
    size_t length, room;
};

static void text_add(struct text *text, const void *bytes, size_t length)
{
    if (length > text->room - text->length) {
        text->room = 2 * (text->room + length);
        text->bytes = realloc(text->bytes, text->room);
        INSIST(text->bytes != NULL);
    }
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

static bool text_same(const struct text *a, const struct text *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

static size_t take(void *context, const char *bytes, size_t length, struct fault *fault)
{
    (void)fault;
    text_add(context, bytes, length);
    return length;
}

static struct output output_to(struct text *text, char delimiter)
{
    return (struct output){
        .fd = -1, .name = "output", .delimiter = delimiter, .append = take, .context = text};
}

/* --- what should come out --- */

/* How often each key has come: open addressing over all that was seen. */
struct seen {
    struct text text; /* of each key: whether it counts as itself, then its bytes */
    size_t n;
    struct {
        size_t at, length;
        unsigned times;
    } keys[LINES_MAX_HERE];
    uint32_t table[2 * LINES_MAX_HERE]; /* number of a key + 1 */
};

static struct seen seen;

/* How often this one has come, this time included. */
static unsigned count_key(struct key_text key)
{
    size_t at = seen.text.length;
    uint8_t itself = key.itself;
    text_add(&seen.text, &itself, 1);
    text_add(&seen.text, key.bytes, key.length);
    size_t length = seen.text.length - at, size = sizeof seen.table / sizeof *seen.table;
    size_t place = (size_t)hash_checksum(seen.text.bytes + at, length) % size;
    for (; seen.table[place] != 0; place = (place + 1) % size) {
        size_t i = seen.table[place] - 1;
        if (seen.keys[i].length == length &&
            memcmp(seen.text.bytes + seen.keys[i].at, seen.text.bytes + at, length) == 0) {
            seen.text.length = at;
            return ++seen.keys[i].times;
        }
    }
    INSIST(seen.n < LINES_MAX_HERE);
    seen.keys[seen.n].at = at;
    seen.keys[seen.n].length = length;
    seen.keys[seen.n].times = 1;
    seen.table[place] = (uint32_t)++seen.n;
    return 1;
}

static void forget_all(void)
{
    seen.n = 0;
    seen.text.length = 0;
    memset(seen.table, 0, sizeof seen.table);
}

struct result {
    struct text printed, dropped;
    uint64_t read, selected, held_back, itself;
    int status;  /* of pipeline_run */
    size_t used; /* bytes of the input, if status is 1 */
};

static void free_result(struct result *result)
{
    free(result->printed.bytes);
    free(result->dropped.bytes);
}

/* A case: how lines are to be treated. */
struct way {
    uint8_t flags;
    struct recipe recipe;
    size_t buffer, max_line;
    uint64_t most;
    char delimiter;
};

static enum heading heading_of(const struct way *way)
{
    return (way->flags & FLAG_HEADING) == 0 ? HEADING_COUNTS
           : (way->flags & FLAG_SKIP) != 0  ? HEADING_SKIPPED
                                            : HEADING_PRINTED;
}

/* One line; `bytes` has room for its delimiter. */
static void expect_line(const struct way *way, struct keyer *keyer, char *bytes, size_t length,
                        struct result *result)
{
    INSIST(keyer_reserve(keyer, length + 1) == 0);
    struct key_text key = keyer_text(keyer, bytes, length);
    bool wanted = count_key(key) == ((way->flags & FLAG_REPEATED) != 0 ? 2 : 1);
    result->read++;
    result->itself += key.itself;
    bytes[length] = way->delimiter;
    text_add(wanted ? &result->printed : &result->dropped, bytes, length + 1);
    result->selected += wanted;
    result->held_back += !wanted;
}

static void expect(const struct way *way, const uint8_t *input, size_t size, struct result *result)
{
    char *copy = malloc(size + 1);
    struct keyer *keyer = keyer_new(&way->recipe);
    INSIST(copy != NULL && keyer != NULL);
    memcpy(copy, input, size);
    for (size_t at = 0, end; at < size; at = end + 1) {
        const char *found = memchr(copy + at, way->delimiter, size - at);
        end = found != NULL ? (size_t)(found - copy) : size;
        if (result->selected == way->most)
            break;
        if (end - at > way->max_line) {
            result->status = -1;
            break;
        }
        if (at == 0 && heading_of(way) != HEADING_COUNTS) {
            copy[end] = way->delimiter;
            if (heading_of(way) == HEADING_PRINTED)
                text_add(&result->printed, copy, end + 1);
        } else {
            expect_line(way, keyer, copy + at, end - at, result);
            result->used = end + 1;
        }
    }
    if (result->selected == way->most)
        result->status = 1;
    if (result->used > size)
        result->used = size;
    keyer_free(keyer);
    free(copy);
    forget_all();
}

/* --- what comes out --- */

static const char *filter_path(void)
{
    static char path[64];
    if (path[0] == '\0') {
        const char *top = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(path, sizeof path, "%s/fuzz_lines.%ld", top, (long)getpid());
    }
    return path;
}

/* Working out a size takes a millisecond: so it is given, but for one filter in sixteen, which has
 * to grow. */
static struct filter *filter_of(const struct way *way, bool file)
{
    struct fault fault;
    struct header header = {
        .recipe = way->recipe,
        .plan = {.rate = 1e-12, .capacity = 4096, .pages = 8, .geometry = {6, 6, false}}};
    header.plan.fixed = way->buffer % 16 != 11;
    if (!header.plan.fixed)
        header.plan.capacity = way->buffer, header.plan.pages = 1;
    if (!file)
        return filter_memory(&header, NULL, &fault);
    INSIST(create_filter(filter_path(), &header, OVER_EMPTY | OVER_FILTER, NULL, &fault) == 0);
    return filter_open(filter_path(), true, NULL, &fault);
}

static void run(const struct way *way, const uint8_t *input, size_t size, struct result *result)
{
    struct fault fault;
    bool file = (way->flags & (FLAG_FILE | FLAG_REPEATED)) == FLAG_FILE;
    struct filter *filter = filter_of(way, file), *repeats = NULL;
    struct output output = output_to(&result->printed, way->delimiter);
    struct output dropped = output_to(&result->dropped, way->delimiter);
    if ((way->flags & FLAG_REPEATED) != 0)
        repeats = filter_of(way, false);
    struct pipeline_plan plan = {
        .verb = repeats != NULL ? PIPELINE_REPEATED : PIPELINE_NEW,
        .filter = filter,
        .repeats = repeats,
        .output = &output,
        .dropped = (way->flags & FLAG_DROPPED) != 0 ? &dropped : NULL,
        .delimiter = way->delimiter,
        .heading = heading_of(way),
        .most = way->most,
        .threads = 1,
    };
    INSIST(filter != NULL);
    struct pipeline *pipeline = pipeline_new(&plan);
    int fd = input_of(input, size, (way->flags & FLAG_PIPE) != 0);
    struct input *from = input_new(fd, "input", way->delimiter, way->buffer, way->max_line);
    INSIST(pipeline != NULL && from != NULL);
    reads.fd = fd;
    result->status = pipeline_run(pipeline, from, &fault);
    reads.fd = -1;
    const struct pipeline_counts *counts = pipeline_counts(pipeline);
    result->read = counts->read;
    result->selected = counts->selected;
    result->held_back = counts->held_back;
    result->itself = counts->itself;
    if (result->status == 1 && (way->flags & FLAG_PIPE) == 0)
        result->used = (size_t)lseek(fd, 0, SEEK_CUR);
    close(fd);
    input_free(from);
    pipeline_free(pipeline);
    filter_close(filter);
    filter_close(repeats);
    if (file)
        unlink(filter_path());
}

static void check_lines(const uint8_t *data, size_t size)
{
    struct way way = {
        .flags = data[0],
        .recipe = recipe_chosen(data + 1),
        .buffer = 1 + data[4],
        .max_line = data[5] == 255 ? 1 << 30 : data[5],
        .most = data[6] == 255 ? UINT64_MAX : data[6],
        .delimiter = (data[0] & FLAG_NUL) != 0 ? '\0' : '\n',
    };
    struct result wanted = {.status = 0}, got = {.status = 0};
    reads.state = data[7];
    reads.most = data[7];
    expect(&way, data + HEAD, size - HEAD, &wanted);
    run(&way, data + HEAD, size - HEAD, &got);
    INSIST(got.status == wanted.status);
    INSIST(text_same(&got.printed, &wanted.printed));
    INSIST((way.flags & FLAG_DROPPED) == 0 || text_same(&got.dropped, &wanted.dropped));
    INSIST(got.read == wanted.read && got.selected == wanted.selected);
    INSIST(got.held_back == wanted.held_back && got.itself == wanted.itself);
    INSIST(wanted.status != 1 || wanted.read == 0 || (way.flags & FLAG_PIPE) != 0 ||
           got.used == wanted.used);
    free_result(&wanted);
    free_result(&got);
}

/* --- values --- */

static FILE *said; /* standard error: what the options say goes nowhere */

#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        bool holds = (condition);                                                                  \
        if (!holds) {                                                                              \
            fprintf(said, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);           \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Whether the option takes that value, as if it had been given. */
static bool takes(struct options *options, enum option_id id, const char *text)
{
    *options = (struct options){.set = OPTION_BIT(id)};
    options->given[id] = text;
    options->spelled[id] = option_table[id].spellings[0];
    return options_check(options, option_table[id].commands) == 0;
}

/* What a number before this counts. */
static double unit_of(enum option_id id, const char *suffix)
{
    static const char letters[] = "KMGTP";
    const char *letter = strchr(letters, *suffix == 'k' ? 'K' : *suffix);
    double power = *suffix != '\0' ? (double)(letter - letters + 1) : 0;
    bool thousands = id == OPTION_CAPACITY || (*suffix != '\0' && strcmp(suffix + 1, "B") == 0);
    return pow(thousands ? 1000 : 1024, power);
}

static void check_whole(enum option_id id, const char *text, const char *unit)
{
    struct options options;
    char written[64];
    if (!takes(&options, id, text))
        return;
    uint64_t value = options_whole(&options, id, 0);
    HOLDS((double)value >= option_table[id].least && (double)value <= option_table[id].most);
    snprintf(written, sizeof written, "%" PRIu64 "%s", value, unit);
    if (*unit != '\0') /* milliseconds */
        snprintf(written, sizeof written, "%" PRIu64 ".%03us", value / 1000,
                 (unsigned)(value % 1000));
    HOLDS(takes(&options, id, written) && options_whole(&options, id, 0) == value);
    char *suffix;
    double number = strtod(text, &suffix);
    if (*suffix == '^')
        number = pow(number, (double)strtol(suffix + 1, &suffix, 10));
    if (id != OPTION_FORGET_AFTER)
        HOLDS((double)value == number * unit_of(id, suffix));
    HOLDS(text[strspn(text, "0123456789.^eE+-abdhiknmorsuwyBGKMPTced")] == '\0');
}

static void check_real(enum option_id id, const char *text)
{
    struct options options;
    char written[64];
    if (!takes(&options, id, text))
        return;
    double value = options_real(&options, id);
    HOLDS(value >= option_table[id].least && value <= option_table[id].most);
    snprintf(written, sizeof written, "%.17g", value);
    HOLDS(takes(&options, id, written) && options_real(&options, id) == value);
    size_t percent = strcspn(text, "%");
    HOLDS(text[percent] == '\0' || (id == OPTION_RATE && text[percent + 1] == '\0'));
    char *end;
    double plain = strtod(text, &end);
    if (*end == '^')
        plain = pow(plain, (double)strtol(end + 1, NULL, 10));
    plain /= text[percent] == '%' ? 100 : 1;
    HOLDS(fabs(plain - value) <= 1e-14 * value);
}

static void check_seed(const char *text)
{
    struct options options;
    char written[64];
    if (!takes(&options, OPTION_SEED, text))
        return;
    uint64_t value = options_seed(&options, 0);
    snprintf(written, sizeof written, text[0] == '1' ? "0x%" PRIx64 : "%" PRIu64, value);
    HOLDS(takes(&options, OPTION_SEED, written) && options_seed(&options, 0) == value);
}

/* A plain reading of a list: *has, whether it has the field. Returns whether it is a list. */
static bool list_has(const char *list, unsigned long field, bool *has)
{
    *has = false;
    for (const char *at = list;; at++) {
        char *end = NULL;
        unsigned long first = 1, last;
        if (*at >= '0' && *at <= '9')
            first = strtoul(at, &end, 10);
        else if (*at != '-')
            return false;
        at = end != NULL ? end : at;
        last = first;
        if (*at == '-') {
            bool number = at[1] >= '0' && at[1] <= '9';
            if (!number && end == NULL)
                return false;
            last = number ? strtoul(at + 1, &end, 10) : ULONG_MAX;
            at = number ? end : at + 1;
        }
        if (first < 1 || first > RECIPE_FIELD_MAX || last < first ||
            (last > RECIPE_FIELD_MAX && last != ULONG_MAX))
            return false;
        *has |= field >= first && field <= last;
        if (*at != ',')
            return *at == '\0';
    }
}

static bool recipe_has(const struct recipe *recipe, unsigned long field)
{
    for (unsigned i = 0; i < recipe->ranges; i++)
        if (field >= recipe->range[i].first &&
            (recipe->range[i].last == 0 || field <= recipe->range[i].last))
            return true;
    return false;
}

static void check_fields(const char *text)
{
    struct recipe recipe = {0}, again = {0};
    const char *wanted;
    char written[RECIPE_TEXT];
    bool has;
    if (recipe_parse_fields(&recipe, text, &wanted) != NULL) {
        HOLDS(recipe.ranges == 0);
        /* Too many of them are none. */
        HOLDS(strlen(text) > 2 * RECIPE_RANGES_MAX || !list_has(text, 1, &has));
        return;
    }
    HOLDS(recipe.ranges > 0);
    HOLDS(recipe_parse_fields(&again, recipe_fields_text(&recipe, written), &wanted) == NULL);
    HOLDS(recipe_is_same(&recipe, &again));
    for (unsigned i = 0; i < recipe.ranges; i++)
        for (unsigned around = 0; around < 6; around++) {
            unsigned long field = around < 3 ? recipe.range[i].first : recipe.range[i].last;
            field += around % 3;
            if (field < 2)
                continue;
            HOLDS(list_has(text, field - 1, &has));
            HOLDS(has == recipe_has(&recipe, field - 1));
        }
    for (unsigned long field = 1; field < 40; field++) {
        HOLDS(list_has(text, field, &has));
        HOLDS(has == recipe_has(&recipe, field));
    }
}

static void check_separator(const char *text)
{
    struct recipe recipe = {0}, again = {0};
    const char *wanted;
    char written[RECIPE_TEXT];
    if (recipe_parse_separator(&recipe, text, &wanted) != NULL)
        return;
    HOLDS(!recipe_parse_separator(&again, recipe_separator_text(&recipe, written), &wanted));
    HOLDS(recipe.separator == again.separator && recipe.separated && again.separated);
}

static void check_profile(const char *text)
{
    struct recipe recipe = {0}, again = {0};
    const char *wanted;
    bool versioned;
    char written[RECIPE_TEXT];
    if (recipe_parse_profile(&recipe, text, &versioned, &wanted) != NULL)
        return;
    HOLDS(
        !recipe_parse_profile(&again, recipe_profile_text(&recipe, written), &versioned, &wanted));
    HOLDS(recipe_is_same(&recipe, &again));
}

static void check_part(const char *text)
{
    struct shard shard = {0, 0}, again = {0, 0};
    char written[32];
    if (part_text_read("--shard", text, &shard) == 0) {
        HOLDS(shard.part >= 1 && shard.part <= shard.parts && shard.parts <= SHARD_PARTS_MAX);
        snprintf(written, sizeof written, "%" PRIu32 "/%" PRIu32, shard.part, shard.parts);
        HOLDS(part_text_read("--shard", written, &again) == 0);
        HOLDS(again.part == shard.part && again.parts == shard.parts);
    }
    if (part_text_read_parts("shard", text, &shard) == 0)
        HOLDS(shard.part == 0 && shard.parts >= 1 && shard.parts <= SHARD_PARTS_MAX &&
              shard.parts == strtoul(text, NULL, 10));
}

static void check_value(uint8_t kind, const char *text)
{
    switch (kind % 9) {
    case 0:
        check_whole(OPTION_CAPACITY, text, "");
        break;
    case 1:
        check_whole(OPTION_SIZE, text, "");
        break;
    case 2:
        check_whole(OPTION_FORGET_AFTER, text, "s");
        break;
    case 3:
        check_real(OPTION_RATE, text);
        check_real(OPTION_SLACK, text);
        break;
    case 4:
        check_seed(text);
        break;
    case 5:
        check_fields(text);
        break;
    case 6:
        check_separator(text);
        break;
    case 7:
        check_profile(text);
        break;
    default:
        check_part(text);
    }
}

static void check_text(uint8_t kind, const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    char text[VALUE_MAX];
    size_t length = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, length);
    text[length] = '\0';
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    INSIST(nowhere != NULL);
    said = stderr;
    stderr = nowhere;
    check_value(kind, text);
    stderr = said;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 2 && (data[0] & FLAG_VALUES) != 0)
        check_text(data[1], data + 2, size - 2);
    else if (size >= HEAD && size <= LINES_MAX_HERE)
        check_lines(data, size);
    return 0;
}
