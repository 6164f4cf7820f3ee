/*
 * fuzz_lines - lines on all of their way.
 *
 *        0    1  FLAG_...
 *        1    3  recipe (recipes.h)
 *        4    1  bytes that the input's buffer begins with, less one
 *        5    1  bytes of the longest line that is allowed; 255: any
 *        6    1  lines that are wanted; 255: all
 *        7    1  how many bytes come at a time: chance below that
 *        8       the input
 *
 * They, or rows of CSV, are read, split, made keys of, judged by a filter of a few keys and
 * p = 1e-12, in memory or in a file, and handed on. What must come out is what an exact set gives,
 * byte for byte: printed, held back, counted, and what is left of the input when no more lines are
 * wanted.
 */
#include "filter/create.h"
#include "key/columns.h"
#include "key/keyer.h"
#include "pipeline/pipeline.h"
#include "recipes.h"

#include <errno.h>
#include <search.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    FLAG_NUL = 2,  /* but for CSV whose separator it is */
    FLAG_FILE = 4, /* the filter */
    FLAG_REPEATED = 8,
    FLAG_PIPE = 16,
    FLAG_HEADING = 32,
    FLAG_DROPPED = 64,
    FLAG_SKIP = 128 /* the header line */
};

enum { HEAD = 8, SIZE_MAX_HERE = 1 << 14 };

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
    INSIST(pipe(ends) == 0 && write(ends[1], bytes, size) == (ssize_t)size);
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

static struct output output_to(struct text *text, struct line_ends ends)
{
    return (
        struct output){.fd = -1, .name = "output", .ends = ends, .append = take, .context = text};
}

/* --- what should come out --- */

/* A key, and how often it has come: a tree of them. */
struct key_seen {
    unsigned times;
    enum no_key no_key;
    size_t length;
    char bytes[];
};

static void *tree;

static int compare_keys(const void *left, const void *right)
{
    const struct key_seen *a = left, *b = right;
    if (a->no_key != b->no_key || a->length != b->length)
        return (a->no_key != b->no_key ? a->no_key < b->no_key : a->length < b->length) ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->length);
}

/* How often this one has come, this time included. */
static unsigned count_key(struct key_text text)
{
    struct key_seen *key = malloc(sizeof *key + text.length), **found;
    INSIST(key != NULL);
    key->times = 0;
    key->no_key = text.no_key;
    key->length = text.length;
    memcpy(key->bytes, text.bytes, text.length);
    found = tsearch(key, &tree, compare_keys);
    INSIST(found != NULL);
    if (*found != key)
        free(key);
    return ++(*found)->times;
}

struct result {
    struct text printed, dropped;
    const char *header; /* the header line, if any; before the first line of each */
    size_t header_length;
    uint64_t read, selected, not_selected, header_again;
    uint64_t keyless[2][NO_KEY_IDLE + 1]; /* by reason: read, and selected */
    int status;                           /* of pipeline_run */
    size_t used;                          /* bytes of the input, if status is 1 */
};

/* A case: how lines are to be treated. */
struct way {
    uint8_t flags;
    struct recipe recipe;
    size_t buffer, max_line;
    uint64_t most;
    struct line_ends ends;
    bool header, skips; /* the header line is not printed */
};

/* One line, whose delimiter follows it. It may be the header line again, which is no line. */
static void expect_line(const struct way *way, struct keyer *keyer, struct span line, uint8_t kind,
                        struct result *result)
{
    struct span header = {result->header, result->header_length - 1};
    bool again = way->header && columns_compare(&way->recipe, line, header) == HEADER_SAME;
    bool wanted = false;
    if (!again) {
        INSIST(keyer_reserve(keyer, line.length) == 0);
        struct key_text key = keyer_text(keyer, line.bytes, line.length, kind);
        wanted = count_key(key) == ((way->flags & FLAG_REPEATED) != 0 ? 2 : 1);
        result->keyless[0][key.no_key]++;
        result->keyless[1][key.no_key] += wanted;
    }
    result->read += !again;
    result->header_again += again;
    result->selected += wanted;
    result->not_selected += !again && !wanted;
    struct text *to = wanted ? &result->printed : &result->dropped;
    if (to->length == 0 && !(wanted && way->skips))
        text_add(to, result->header, result->header_length);
    text_add(to, line.bytes, line.length + 1);
}

/* The last line has a delimiter in any case. */
static void expect(const struct way *way, const uint8_t *input, size_t size, struct result *result)
{
    char *copy = malloc(size + 1);
    struct keyer *keyer = keyer_new(&way->recipe);
    struct rows rows;
    uint8_t kind = 0;
    INSIST(copy != NULL && keyer != NULL);
    memcpy(copy, input, size);
    copy[size] = way->ends.delimiter;
    const size_t length = size + (size > 0 && copy[size - 1] != way->ends.delimiter);
    rows_begin(&rows, way->ends, true);
    for (size_t starts[2] = {0, 0}; starts[0] < length; starts[0] = starts[1]) {
        if (result->selected == way->most)
            break;
        bool found = rows_find(&rows, copy, length, starts, &kind, 1) == 1;
        struct span line = {copy + starts[0], found ? starts[1] - starts[0] - 1 : 0};
        if (!found || line.length > way->max_line) {
            result->status = -1;
        } else if (starts[0] == 0 && way->header) {
            struct fault fault;
            INSIST(keyer_reserve(keyer, line.length) == 0);
            result->status = keyer_read_header(keyer, copy, line.length, "input", &fault);
            result->header = copy;
            result->header_length = line.length + 1;
        } else {
            expect_line(way, keyer, line, kind, result);
        }
        if (result->status != 0)
            break;
        if (starts[0] > 0 || !way->header)
            result->used = starts[1];
    }
    if (result->selected == way->most)
        result->status = 1;
    if (result->used > size)
        result->used = size;
    keyer_free(keyer);
    free(copy);
    tdestroy(tree, free);
    tree = NULL;
}

/* --- what comes out --- */

static const char *file_path(void)
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
    if (!header.plan.fixed) /* a geometry that was given does not grow */
        header.plan.capacity = way->buffer, header.plan.pages = 1,
        header.plan.geometry = (struct geometry){0};
    if (!file)
        return filter_memory(&header, NULL, &fault);
    INSIST(create_filter(file_path(), &header, FOUND_FILTER, &fault) == 0);
    return filter_open(file_path(), true, NULL, &fault);
}

static void run(const struct way *way, const uint8_t *input, size_t size, struct result *result)
{
    struct fault fault;
    bool file = (way->flags & (FLAG_FILE | FLAG_REPEATED)) == FLAG_FILE;
    struct filter *filter = filter_of(way, file), *repeated = NULL;
    struct output output = output_to(&result->printed, way->ends);
    struct output dropped = output_to(&result->dropped, way->ends);
    if ((way->flags & FLAG_REPEATED) != 0)
        repeated = filter_of(way, false);
    INSIST(filter != NULL);
    struct writer *writer = writer_new(filter, &fault);
    struct writer *repeats = repeated != NULL ? writer_new(repeated, &fault) : NULL;
    struct pipeline_counts counts = {0};
    struct header_lines header_lines = {.line = NULL};
    struct pipeline_plan plan = {
        .verb = repeats != NULL ? PIPELINE_REPEATED : PIPELINE_NEW,
        .filter = filter,
        .writer = writer,
        .repeats = repeats,
        .output = &output,
        .dropped = (way->flags & FLAG_DROPPED) != 0 ? &dropped : NULL,
        .counts = &counts,
        .ends = way->ends,
        .header = way->header,
        .header_lines = &header_lines,
        .output_headed = way->skips,
        .most = way->most,
        .threads = 1,
    };
    INSIST(writer != NULL);
    struct pipeline *pipeline = pipeline_new(&plan);
    int fd = input_of(input, size, (way->flags & FLAG_PIPE) != 0);
    struct input *from = input_new(fd, "input", way->ends.delimiter, way->buffer, way->max_line);
    INSIST(pipeline != NULL && from != NULL);
    reads.fd = fd;
    result->status = pipeline_run(pipeline, from, &fault);
    reads.fd = -1;
    result->read = counts.read;
    result->selected = counts.selected;
    result->not_selected = counts.dropped;
    for (int i = NO_KEY; i <= NO_KEY_IDLE; i++) {
        result->keyless[0][i] = counts.keyless[i].read;
        result->keyless[1][i] = counts.keyless[i].selected;
    }
    result->header_again = counts.header_again;
    if (result->status == 1 && (way->flags & FLAG_PIPE) == 0)
        result->used = (size_t)lseek(fd, 0, SEEK_CUR);
    close(fd);
    input_free(from);
    pipeline_free(pipeline);
    header_lines_free(&header_lines);
    writer_free(writer);
    filter_close(filter);
    writer_free(repeats);
    filter_close(repeated);
    if (file)
        unlink(file_path());
}

static void check_lines(const uint8_t *data, size_t size)
{
    struct way way = {
        .flags = data[0],
        .recipe = recipe_chosen(data + 1),
        .buffer = 1 + data[4],
        .max_line = data[5] == 255 ? 1 << 30 : data[5],
        .most = data[6] == 255 ? UINT64_MAX : data[6],
        .header = (data[0] & FLAG_HEADING) != 0,
        .skips = (data[0] & FLAG_SKIP) != 0,
    };
    /* A separator ends no row. */
    bool nul = (data[0] & FLAG_NUL) != 0 &&
               !(way.recipe.syntax == SYNTAX_CSV && way.recipe.separator == '\0');
    way.ends = recipe_line_ends(&way.recipe, nul ? '\0' : '\n');
    way.header |= recipe_has_column_names(&way.recipe);
    struct result wanted = {.status = 0}, got = {.status = 0};
    reads.state = data[7];
    reads.most = data[7];
    expect(&way, data + HEAD, size - HEAD, &wanted);
    run(&way, data + HEAD, size - HEAD, &got);
    INSIST(got.status == wanted.status);
    INSIST(text_same(&got.printed, &wanted.printed));
    INSIST((way.flags & FLAG_DROPPED) == 0 || text_same(&got.dropped, &wanted.dropped));
    INSIST(got.read == wanted.read && got.selected == wanted.selected);
    INSIST(got.not_selected == wanted.not_selected);
    for (int i = NO_KEY; i <= NO_KEY_IDLE; i++)
        INSIST(got.keyless[0][i] == wanted.keyless[0][i] &&
               got.keyless[1][i] == wanted.keyless[1][i]);
    INSIST(got.header_again == wanted.header_again);
    INSIST(wanted.status != 1 || wanted.read == 0 || (way.flags & FLAG_PIPE) != 0 ||
           got.used == wanted.used);
    free(wanted.printed.bytes);
    free(wanted.dropped.bytes);
    free(got.printed.bytes);
    free(got.dropped.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= HEAD && size <= SIZE_MAX_HERE) /* a pipe has room for it */
        check_lines(data, size);
    return 0;
}
