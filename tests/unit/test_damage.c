/*
 * Damaged files, opened: each bit of the metadata flipped that no checksum covers and that means
 * something, and some of the others, in a small filter of each kind. (test_header has those that
 * one does.)
 *
 * Either the file is refused, with a fault that names it and leaves it as it was; or all lines are
 * in as before, for readers and for writers, and what is new comes out once. Where a bit may make
 * old lines come out again, since it says which lines are forgotten, it stands in may_forget.
 */
#include "filter/writer.h"

#include "clock.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOKED_AT = 16, FIRST_OUTSIDE = 1000000, REST_STRIDE = 331 };

/* --- the filters --- */

struct kind {
    const char *name;
    struct filter_plan plan;
    unsigned regions; /* it is filled until it has so many */
    uint64_t keys;    /* and so many; of a window's, the last 40 are in */
    uint64_t new;     /* how many come after the flip */
};

static const struct kind kinds[] = {
    {"plain", {.rate = 1e-9, .capacity = 300}, 0, 200, 16},
    {"grown", {.rate = 1e-9, .capacity = 300}, 3, 0, 16},
    {"counting", {1e-9, 300, .geometry.counting = true}, 0, 200, 16},
    {"window", {1e-12, 40, .window = true}, 0, 57, 60},
    {"window by time", {1e-12, 40, .window = true, .forget = 40 * SECOND}, 0, 57, 60},
    {"stage", {1e-9, 100000, .staged = true}, 0, 200, 16},
};

/* A filter file as it is in memory, and as it should be. */
struct file {
    const struct kind *kind;
    char path[256];
    uint8_t *good, *now; /* `now`: room to read it again */
    uint8_t *map;        /* the file itself */
    uint64_t bytes;
    uint64_t metadata_bytes, keys;
    unsigned records;
    int fd;
};

/* As time passes. Each is in as soon as it came. Returns how many were new, or UINT64_MAX. */
static uint64_t take(struct writer *writer, uint64_t from, uint64_t to, struct fault *fault)
{
    uint64_t new = 0;
    for (uint64_t i = from; i < to && new != UINT64_MAX; i++) {
        clock_milliseconds += SECOND;
        uint64_t one = sample_claim(writer, i, i + 1, SETTLED, fault);
        new = one == UINT64_MAX || !sample_has(writer, sample_key(i)) ? UINT64_MAX : new + one;
    }
    return new;
}

static bool fill(struct file *file)
{
    struct fault fault;
    struct writer *writer = sample_open(file->path, true);
    if (writer == NULL)
        return false;
    for (; file->keys < file->kind->keys ||
           filter_layers(sample_filter(writer)) < file->kind->regions;
         file->keys++)
        take(writer, file->keys, file->keys + 1, &fault);
    file->records = filter_layers(sample_filter(writer));
    file->metadata_bytes = filter_header(sample_filter(writer))->layers_at;
    sample_close(writer);
    return true;
}

static bool file_make(struct file *file, const struct kind *kind)
{
    *file = (struct file){.kind = kind};
    clock_milliseconds = NOON;
    snprintf(file->path, sizeof file->path, "%s", scratch_path("f.bf"));
    if (!sample_create(file->path, &kind->plan) || !fill(file))
        return false;
    file->fd = open(file->path, O_RDWR | O_CLOEXEC);
    file->bytes = (uint64_t)lseek(file->fd, 0, SEEK_END);
    file->good = malloc(file->bytes);
    file->now = malloc(file->bytes);
    file->map = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    return file->map != MAP_FAILED && file->good != NULL && file->now != NULL &&
           pread(file->fd, file->good, file->bytes, 0) == (ssize_t)file->bytes;
}

static void file_end(struct file *file)
{
    munmap(file->map, file->bytes);
    close(file->fd);
    free(file->good);
    free(file->now);
}

/* Writes what is another now, and nothing else: it is done for each bit. */
static void put_back(const struct file *file)
{
    if (lseek(file->fd, 0, SEEK_END) != (off_t)file->bytes &&
        ftruncate(file->fd, (off_t)file->bytes) != 0)
        abort();
    for (size_t at = 0; at < file->bytes; at += PAGE_BYTES)
        if (memcmp(file->map + at, file->good + at, PAGE_BYTES) != 0)
            memcpy(file->map + at, file->good + at, PAGE_BYTES);
}

/* Whether it is as it should be, but for one byte. */
static bool is_untouched(const struct file *file, uint64_t at, uint8_t byte)
{
    if (lseek(file->fd, 0, SEEK_END) != (off_t)file->bytes ||
        pread(file->fd, file->now, file->bytes, 0) != (ssize_t)file->bytes || file->now[at] != byte)
        return false;
    file->now[at] = file->good[at];
    return memcmp(file->now, file->good, file->bytes) == 0;
}

/* --- what a flip does --- */

enum { LAYER_COUNT, WORDS, STATES, SLOTS, FLIGHT };

static unsigned place_of(uint64_t at)
{
    return at < COUNTER_SETTLED_AT ? LAYER_COUNT
           : at < LAYER_STATES_AT  ? WORDS
           : at < SLOTS_AT         ? STATES
           : at < FLIGHT_AT        ? SLOTS
                                   : FLIGHT;
}

/* What says which lines are forgotten: how many layers there are, the ages of generations, the era
 * of a stage. */
static bool may_forget(const struct file *file, unsigned place)
{
    const struct filter_plan *plan = &file->kind->plan;
    return (place == LAYER_COUNT && file->records > 1) ||
           (place == STATES && (plan->window || plan->staged || file->records > 1));
}

/* How many of the keys that should be in are not, or -1 with the fault. */
static int lost(struct filter *filter, uint64_t keys, struct fault *fault)
{
    struct key key[LOOKED_AT];
    uint8_t seen[LOOKED_AT];
    int missing = 0;
    for (uint64_t i = 0; i < LOOKED_AT; i++)
        key[i] = sample_key(keys - 1 - i * (keys < 100 ? 38 : keys - 1) / (LOOKED_AT - 1));
    if (filter_test(filter, key, LOOKED_AT, seen, fault) != 0)
        return -1;
    for (unsigned i = 0; i < LOOKED_AT; i++)
        missing += !seen[i];
    return missing;
}

static bool names_it(const struct file *file, const struct fault *fault)
{
    return strcmp(fault->object, file->path) == 0 && fault->reason[0] != '\0' &&
           fault->way_out[0] != '\0';
}

/* All lines are in an open filter, unless the place may forget some. */
static void look_for_lines(const struct file *file, struct filter *filter, const char *what,
                           unsigned place)
{
    struct fault fault = {.reason = ""};
    int missing = lost(filter, file->keys, &fault);
    tap_check(missing == 0 || (missing > 0 && may_forget(file, place)), "%s: %d of %d lines lost",
              what, missing, LOOKED_AT);
}

/* What a reader finds that opens it. */
static void check_reader(const struct file *file, const char *what, unsigned place)
{
    struct fault fault = {.reason = ""};
    struct filter *filter = filter_open(file->path, false, NULL, &fault);
    if (filter == NULL) {
        tap_check(names_it(file, &fault) || strstr(fault.reason, "not a filter") != NULL,
                  "%s: refused as \"%s\"", what, fault.reason);
        return;
    }
    look_for_lines(file, filter, what, place);
    filter_close(filter);
}

/* The filter form: old lines are seen; new ones come out, and are then in. */
static void check_writer(const struct file *file, const char *what, unsigned place, uint64_t at,
                         uint8_t byte)
{
    struct fault fault = {.reason = ""};
    struct writer *writer = sample_writer(filter_open(file->path, true, NULL, &fault), &fault);
    if (writer == NULL) {
        tap_check(is_untouched(file, at, byte), "%s: refused, and changed", what);
        return;
    }
    bool window = file->kind->plan.window, forgets = may_forget(file, place);
    uint64_t new = take(writer, FIRST_OUTSIDE, FIRST_OUTSIDE + file->kind->new, &fault);
    uint64_t again = window ? 0 : sample_claim(writer, 0, file->keys, SETTLED, &fault);
    sample_close(writer);
    tap_check(again == 0 || forgets, "%s: %" PRIu64 " old lines come out: %s", what, again,
              fault.reason);
    tap_check(new == file->kind->new || (forgets && !window), "%s: %" PRIu64 " new lines: %s", what,
              new, fault.reason);
}

/* All bits that mean something, and some of the others. */
static bool is_for_all(const struct file *file, unsigned place, uint64_t at, uint64_t bit)
{
    uint64_t states = LAYER_STATES_AT + (uint64_t)file->records * LAYER_STATE_BYTES;
    if (place == LAYER_COUNT || (place == WORDS && at <= QUEUE_AT) ||
        (place == STATES && at < states && at % LAYER_STATE_BYTES < WINDOW_BEGAN + 8) ||
        (place == SLOTS && at < SLOTS_AT + FLIGHT_RECORD_BYTES))
        return true;
    return bit % (8 * REST_STRIDE) == 0;
}

static void flip(struct file *file, struct filter *filter, uint64_t bit)
{
    uint64_t at = bit / 8, noon = clock_milliseconds;
    uint8_t byte = file->good[at] ^ (uint8_t)(1U << bit % 8);
    unsigned place = place_of(at);
    char what[96];
    if (!is_for_all(file, place, at, bit))
        return;
    snprintf(what, sizeof what, "%s: bit %u of byte %" PRIu64, file->kind->name, (unsigned)bit % 8,
             at);
    file->map[at] = byte;
    if (at >= COUNTER_SETTLED_AT) /* mapped: who has it open sees the flip */
        look_for_lines(file, filter, what, place);
    check_reader(file, what, place);
    check_writer(file, what, place, at, byte);
    put_back(file);
    clock_milliseconds = noon;
}

/* All generations of a window have the same number, or a state that is none: new keys are new and
 * then in, or it says what is wrong. */
static void numbers_alike(const struct file *file)
{
    static const uint64_t numbers[] = {GENERATION_FREE, GENERATION_RETIRED, GENERATION_RETIRED - 1,
                                       1, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct fault fault = {.reason = ""};
        for (unsigned layer = 0; layer < file->records; layer++)
            store64(file->map + layer_state_at(layer) + WINDOW_NUMBER, numbers[i]);
        struct writer *writer = sample_writer(filter_open(file->path, true, NULL, &fault), &fault);
        uint64_t new = writer == NULL ? 0 : take(writer, FIRST_OUTSIDE, FIRST_OUTSIDE + 60, &fault);
        tap_check(new == 60 || strstr(fault.reason, "generation number") != NULL,
                  "%s: all of number %" PRIx64 ": %" PRIu64 " new: %s", file->kind->name,
                  numbers[i], new, fault.reason);
        sample_close(writer);
        put_back(file);
    }
}

static void every_bit(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct file file;
        if (!tap_check(file_make(&file, &kinds[i]), "%s: cannot be made", kinds[i].name))
            continue;
        struct fault fault;
        struct filter *filter = filter_open(file.path, false, NULL, &fault);
        uint64_t step = tap_brief() ? 9 : 1;
        for (uint64_t bit = 0; filter != NULL && bit < 4 * 8; bit++)
            flip(&file, filter, LAYER_COUNT_AT * 8 + bit);
        for (uint64_t bit = COUNTER_SETTLED_AT * 8; filter != NULL && bit < file.metadata_bytes * 8;
             bit += step)
            flip(&file, filter, bit);
        filter_close(filter);
        if (kinds[i].plan.window)
            numbers_alike(&file);
        file_end(&file);
    }
}

int main(void)
{
    scratch_make();
    tap_run("a bit flipped in the metadata of a filter, each bit, each kind", every_bit);
    return tap_end();
}
