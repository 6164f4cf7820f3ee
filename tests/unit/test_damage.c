/*
 * Damaged files, opened: each bit of the fixed part flipped that no checksum covers, in a small
 * filter of each kind. (test_header has those that one does.)
 *
 * Either the file is refused, with a fault that names it and leaves it as it was; or all lines are
 * in as before, for readers and for writers. Where a bit may make lines come out again, since it
 * says which lines are forgotten, it stands in may_forget.
 */
#include "commands/command.h"
#include "commands/message.h"
#include "filter/filter.h"
#include "filter/survey.h"

#include "chance.h"
#include "filter/probe.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOKED_AT = 16, OUTSIDE = 16, FIRST_OUTSIDE = 1000000, REST_STRIDE = 61 };

/* --- the filters --- */

struct kind {
    const char *name;
    struct header header;
    unsigned regions; /* it is filled until it has so many */
    uint64_t keys;    /* and has so many */
};

#define SMALL .rate = 1e-9, .capacity = 300

static const struct kind kinds[] = {
    {.name = "plain", .header.plan = {SMALL}, .keys = 200},
    {.name = "grown", .header.plan = {SMALL}, .regions = 3},
    {.name = "fixed", .header.plan = {SMALL, .fixed = true}, .keys = 200},
    {.name = "counting", .header.plan = {SMALL, .geometry.counting = true}, .keys = 200},
    {.name = "window", .header.plan = {SMALL, .window = true}, .keys = 350},
    {.name = "window by time",
     .header.plan = {.rate = 1e-9, .window = true, .forget = 86400000},
     .keys = 200},
    {.name = "stage",
     .header.plan = {.rate = 1e-9, .capacity = 100000, .staged = true},
     .keys = 200},
    {.name = "recipe",
     .header = {.plan = {SMALL},
                .recipe = {.profile = PROFILE_URL, .version = 1, .ranges = 1, .range = {{2, 3}}}},
     .keys = 200},
    {.name = "part", .header = {.plan = {SMALL}, .shard = {3, 8}}, .keys = 200},
    {.name = "secret", .header = {.plan = {SMALL}, .hasher = {HASH_SIPHASH, 7, 9}}, .keys = 200},
};

/* A filter file as it is in memory, and as it should be. */
struct file {
    const struct kind *kind;
    char path[256];
    uint8_t *good, *now; /* `now`: room to read it again */
    uint8_t *map;        /* the file itself */
    uint64_t bytes, end; /* its length, and where the last layer ends */
    uint64_t fixed, keys;
    unsigned records;
    int fd;
};

/* Claims and settles keys from..to. Returns how many were new. */
static uint64_t take(struct filter *filter, uint64_t from, uint64_t to, struct fault *fault)
{
    uint64_t new = 0;
    for (uint64_t i = from; i < to; i++) {
        struct key key = sample_key(i);
        uint8_t seen = 0;
        if (filter_claim(filter, &key, 1, UINT64_MAX, &seen, fault) != 1 ||
            sample_settle(filter, !seen, fault) != 0)
            return UINT64_MAX;
        new += !seen;
    }
    return new;
}

static bool fill(struct file *file)
{
    struct fault fault;
    struct filter *filter = sample_open(file->path, true);
    if (filter == NULL)
        return false;
    while (file->keys < file->kind->keys ||
           store_layers(filter_store(filter)) < file->kind->regions) {
        take(filter, file->keys, file->keys + 10, &fault);
        file->keys += 10;
    }
    const struct store *store = filter_store(filter);
    file->records = store_layers(store);
    file->end = store_end(store);
    file->bytes = store_file_bytes(store);
    file->fixed = store_header(store)->layers_at;
    filter_close(filter);
    return true;
}

static bool file_make(struct file *file, const struct kind *kind)
{
    struct fault fault;
    struct header header = kind->header;
    *file = (struct file){.kind = kind};
    snprintf(file->path, sizeof file->path, "%s", scratch_path("f.bf"));
    if (create_filter(file->path, &header, PLACE_FILTER, &fault) != 0) {
        sample_fault(kind->name, &fault);
        return false;
    }
    if (!fill(file))
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

static void put_back(const struct file *file)
{
    if (ftruncate(file->fd, (off_t)file->bytes) != 0 ||
        pwrite(file->fd, file->good, file->bytes, 0) != (ssize_t)file->bytes)
        abort();
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
    const struct filter_plan *plan = &file->kind->header.plan;
    return (place == LAYER_COUNT && file->records > 1) ||
           (place == STATES && (plan->window || plan->staged || file->records > 1));
}

/* How many of the keys that should be in are not, or -1 with the fault. */
static int lost(struct store *store, uint64_t keys, struct fault *fault)
{
    struct key key[LOOKED_AT];
    uint8_t seen[LOOKED_AT];
    int missing = 0;
    for (uint64_t i = 0; i < LOOKED_AT; i++)
        key[i] = sample_key(keys - 1 - i * (keys - 1) / (LOOKED_AT - 1));
    if (probe(store, key, LOOKED_AT, seen, fault) != 0)
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
static void look_for_lines(const struct file *file, struct store *store, const char *what,
                           unsigned place)
{
    struct fault fault = {.reason = ""};
    int missing = lost(store, file->keys, &fault);
    tap_check(missing == 0 || (missing > 0 && may_forget(file, place)), "%s: %d of %d lines lost",
              what, missing, LOOKED_AT);
}

/* What a reader finds that opens it. */
static void check_reader(const struct file *file, const char *what, unsigned place)
{
    struct fault fault = {.reason = ""};
    struct store *store = store_open(file->path, false, NULL, &fault);
    if (store == NULL) {
        tap_check(names_it(file, &fault) || strstr(fault.reason, "not a filter") != NULL,
                  "%s: refused as \"%s\"", what, fault.reason);
        return;
    }
    look_for_lines(file, store, what, place);
    store_close(store);
}

/* The filter form: old lines are seen; new ones come out and are then in. */
static void check_writer(const struct file *file, const char *what, unsigned place, uint64_t at,
                         uint8_t byte)
{
    struct fault fault = {.reason = ""};
    struct filter *filter = filter_open(file->path, true, NULL, &fault);
    if (filter == NULL) {
        tap_check(is_untouched(file, at, byte), "%s: refused, and changed", what);
        return;
    }
    uint64_t old = file->keys - OUTSIDE;
    uint64_t new = take(filter, FIRST_OUTSIDE, FIRST_OUTSIDE + OUTSIDE, &fault);
    uint64_t again = take(filter, old, file->keys, &fault);
    uint64_t twice = take(filter, FIRST_OUTSIDE, FIRST_OUTSIDE + OUTSIDE, &fault);
    filter_close(filter);
    tap_check((again == 0 && twice == 0) || may_forget(file, place),
              "%s: %" PRIu64 " old lines come out, %" PRIu64 " new ones a second time: %s", what,
              again, twice, fault.reason);
    tap_check(new == OUTSIDE || may_forget(file, place), "%s: %" PRIu64 " of %d new lines", what,
              new, OUTSIDE);
}

/* Opening takes a while: that is for all bits that mean something, and some of the others. */
static bool is_for_all(const struct file *file, unsigned place, uint64_t at, uint64_t bit)
{
    uint64_t states = LAYER_STATES_AT + (uint64_t)file->records * LAYER_STATE_BYTES;
    if (place == LAYER_COUNT || (place == WORDS && at <= QUEUE_AT) ||
        (place == STATES && at < states && at % LAYER_STATE_BYTES < WINDOW_BEGAN + 8) ||
        (place == SLOTS && at < SLOTS_AT + FLIGHT_RECORD_BYTES))
        return true;
    return bit % (8 * REST_STRIDE) == 0;
}

static void flip(struct file *file, struct store *store, uint64_t bit)
{
    uint64_t at = bit / 8;
    uint8_t byte = file->good[at] ^ (uint8_t)(1U << bit % 8);
    unsigned place = place_of(at);
    char what[96];
    snprintf(what, sizeof what, "%s: bit %u of byte %" PRIu64, file->kind->name, (unsigned)bit % 8,
             at);
    file->map[at] = byte;
    if (at >= COUNTER_SETTLED_AT) /* mapped: who has it open sees the flip */
        look_for_lines(file, store, what, place);
    if (is_for_all(file, place, at, bit)) {
        check_reader(file, what, place);
        check_writer(file, what, place, at, byte);
        put_back(file);
    }
    file->map[at] = file->good[at];
}

static void every_bit(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct file file;
        if (!tap_check(file_make(&file, &kinds[i]), "%s: cannot be made", kinds[i].name))
            continue;
        struct fault fault;
        struct store *store = store_open(file.path, false, NULL, &fault);
        uint64_t step = tap_brief() ? 101 : 1;
        for (uint64_t bit = 0; store != NULL && bit < 4 * 8; bit++)
            flip(&file, store, LAYER_COUNT_AT * 8 + bit);
        for (uint64_t bit = COUNTER_SETTLED_AT * 8; store != NULL && bit < file.fixed * 8;
             bit += step)
            flip(&file, store, bit);
        store_close(store);
        file_end(&file);
    }
}

int main(void)
{
    scratch_make();
    tap_run("a bit flipped in the fixed part of a filter, each bit, each kind", every_bit);
    return tap_end();
}
