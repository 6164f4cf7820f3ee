/*
 * The file format: bytes to numbers and back, and each rule that a file must keep.
 *
 * A broken rule is planted behind a checksum that is right, so that it is the rule that refuses,
 * not the checksum; that one is tested by flipping every bit.
 */
#include "format/header.h"

#include "chance.h"
#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CHECKSUM_AT = HEADER_BYTES - 8, RECORD_SUM_AT = LAYER_RECORD_BYTES - 8 };
/* As many as a window has at least. */
enum { LAYERS = 5, COUNT_AT = LAYER_COUNT_AT - LAYER_TABLE_AT };

/* A file of three layers, the last of them large, as a writer would have made it. */
struct file {
    struct header header;
    struct layer_record records[LAYERS_MAX];
    uint8_t page0[HEADER_BYTES], page1[HEADER_BYTES];
    uint64_t bytes;
};

static void seal(uint8_t *bytes, size_t at)
{
    store64(bytes + at, hash_checksum(bytes, at));
}

static void file_make(struct file *file)
{
    static const uint64_t pages[LAYERS] = {7, 100, 40, 50, 9000};
    memset(file, 0, sizeof *file);
    file->header = (struct header){
        .created = 1700000000,
        .hasher = hasher_xxh3(0x0123456789abcdef),
        .plan = {.rate = 1e-6, .capacity = 1000, .pages = 7, .geometry = {3, 6, false}},
        .asked = ASKED_CAPACITY | ASKED_SEED,
        .flight_keys = 64,
        .layers_at = fixed_bytes(64, false),
    };
    for (unsigned i = 0; i < UUID_BYTES; i++)
        file->header.uuid[i] = (uint8_t)(0xa0 + i);
    header_encode(&file->header, file->page0);
    file->bytes = file->header.layers_at;
    for (unsigned i = 0; i < LAYERS; i++) {
        struct layer_record *record = &file->records[i];
        record->plan = (struct layer_plan){
            .pages = pages[i],
            .capacity = 1000 * (i + 1),
            .rate = 1e-6 / (i + 2),
            .geometry = {(uint8_t)(3 + i), 6, false},
        };
        layer_put(record, file->bytes);
        file->bytes = layer_end(record);
        layer_encode(record, file->page1 + (size_t)i * LAYER_RECORD_BYTES);
    }
    store32(file->page1 + COUNT_AT, LAYERS);
}

/* Gives layer `layer` a stage, and moves what comes after it. */
static void make_stage(struct file *file, unsigned layer)
{
    struct stage_plan *stage = &file->records[layer].plan.stage;
    stage->pages = 20;
    stage->journal = STAGE_KEYS_MIN * KEY_BYTES / PAGE_BYTES;
    stage->capacity = STAGE_KEYS_MIN;
    stage->rate = growth_stage_rate(file->records[layer].plan.rate);
    stage->geometry = (struct geometry){.lines = 4, .fields = 6};
    file->bytes = layer > 0 ? layer_end(&file->records[layer - 1]) : file->header.layers_at;
    for (unsigned i = layer; i < LAYERS; i++) {
        struct layer_record *record = &file->records[i];
        layer_put(record, file->bytes);
        file->bytes = layer_end(record);
        layer_encode(record, file->page1 + (size_t)i * LAYER_RECORD_BYTES);
    }
}

/* Opens it as filter_open does: 0, or -1 with the fault. */
static int decode(const struct file *file, struct header *header,
                  struct layer_record records[LAYERS_MAX], unsigned *count, struct fault *fault)
{
    memset(fault, 0, sizeof *fault);
    if (header_decode(file->page0, file->bytes, "f", header, fault) != 0)
        return -1;
    return layers_decode(file->page1, header, file->bytes, "f", records, count, fault);
}

static bool same_plan(const struct filter_plan *a, const struct filter_plan *b)
{
    return a->rate == b->rate && a->capacity == b->capacity && a->pages == b->pages &&
           a->geometry.lines == b->geometry.lines && a->geometry.fields == b->geometry.fields &&
           a->geometry.counting == b->geometry.counting && a->fixed == b->fixed &&
           a->window == b->window && a->forget == b->forget && a->stage == b->stage;
}

static bool same_hash(const struct header *a, const struct header *b)
{
    return a->hasher.kind == b->hasher.kind && a->hasher.k0 == b->hasher.k0 &&
           a->hasher.k1 == b->hasher.k1;
}

static bool same_header(const struct header *a, const struct header *b)
{
    return recipe_is_same(&a->recipe, &b->recipe) &&
           recipe_is_same(&a->part_recipe, &b->part_recipe) && a->shard.part == b->shard.part &&
           a->shard.parts == b->shard.parts && memcmp(a->uuid, b->uuid, UUID_BYTES) == 0 &&
           a->created == b->created && same_hash(a, b) && same_plan(&a->plan, &b->plan) &&
           a->asked == b->asked && a->flight_keys == b->flight_keys && a->layers_at == b->layers_at;
}

static bool same_stage(const struct stage_plan *a, const struct stage_plan *b)
{
    return a->pages == b->pages && a->journal == b->journal && a->capacity == b->capacity &&
           a->rate == b->rate && a->geometry.lines == b->geometry.lines &&
           a->geometry.fields == b->geometry.fields && a->geometry.counting == b->geometry.counting;
}

static bool same_record(const struct layer_record *a, const struct layer_record *b)
{
    return a->offset == b->offset && a->plan.pages == b->plan.pages &&
           a->plan.capacity == b->plan.capacity && a->plan.rate == b->plan.rate &&
           a->plan.geometry.lines == b->plan.geometry.lines &&
           a->plan.geometry.fields == b->plan.geometry.fields &&
           a->plan.geometry.counting == b->plan.geometry.counting &&
           a->stage_offset == b->stage_offset && same_stage(&a->plan.stage, &b->plan.stage);
}

/* Whether it opens, and as what was encoded. */
static bool opens_the_same(const struct file *file, unsigned layers)
{
    struct header header;
    struct layer_record records[LAYERS_MAX];
    struct fault fault;
    unsigned count = 0;
    if (decode(file, &header, records, &count, &fault) != 0 || count != layers ||
        !same_header(&header, &file->header))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!same_record(&records[i], &file->records[i]))
            return false;
    return true;
}

static bool is_refused(const struct file *file, struct fault *fault)
{
    struct header header;
    struct layer_record records[LAYERS_MAX] = {0};
    unsigned count;
    return decode(file, &header, records, &count, fault) == -1 && fault->reason[0] != '\0' &&
           strcmp(fault->object, "f") == 0;
}

/* --- round trip --- */

static void round_trip(void)
{
    struct file file;
    file_make(&file);
    tap_check(opens_the_same(&file, LAYERS), "it does not open as what it was");
    tap_check(header_is_filter(file.page0), "it is not a filter at all");
}

/* Any header that a plan can lead to. */
/* Fields such that a list of them is in canonical form; sometimes to the end of the line. */
static void some_recipe(struct chance *chance, struct recipe *recipe)
{
    unsigned at = 0;
    recipe->profile = (enum profile)chance_below(chance, PROFILES);
    recipe->version = profile_versions[recipe->profile];
    recipe->trim = chance_below(chance, 2);
    recipe->fold = chance_below(chance, 2);
    recipe->ranges = (unsigned)chance_below(chance, RECIPE_RANGES_MAX + 1);
    for (unsigned i = 0; i < recipe->ranges; i++) {
        recipe->range[i].first = (uint16_t)(at + 1 + chance_below(chance, 2000));
        at = recipe->range[i].first + (unsigned)chance_below(chance, 2000);
        recipe->range[i].last = (uint16_t)at++;
    }
    if (recipe->ranges > 0 && chance_below(chance, 2))
        recipe->range[recipe->ranges - 1].last = 0;
    if (recipe->ranges > 0 && chance_below(chance, 2)) {
        recipe->separated = true;
        recipe->separator = (char)chance_below(chance, 256);
    }
}

static void round_trip_of_many(void)
{
    struct chance chance = {30};
    unsigned headers = tap_cases(20000);
    for (unsigned i = 0; i < headers; i++) {
        struct file file;
        file_make(&file);
        struct header *header = &file.header;
        header->created = (int64_t)(chance_next(&chance) >> i % 64);
        header->hasher = hasher_xxh3(chance_next(&chance) >> i % 65 % 64);
        if (i % 7 == 1)
            header->hasher = (struct hasher){HASH_SIPHASH, chance_next(&chance), i};
        header->asked = chance_below(&chance, ASKED_ALL + 1);
        header->plan = (struct filter_plan){
            .rate = pow(10, -12.0 * (double)chance_below(&chance, 1000) / 1000) / 2,
            .capacity = chance_below(&chance, SIZING_KEYS_MAX + 1),
            .pages = chance_below(&chance, SIZING_PAGES_MAX + 1),
            .fixed = i % 2,
        };
        if (i % 4 == 1)
            header->plan.stage = i % 8 == 1 ? STAGE_BY_SIZE
                                            : chance_below(&chance, SIZING_PAGES_MAX + 1);
        if (header->plan.rate < SIZING_RATE_MIN)
            header->plan.rate = SIZING_RATE_MIN;
        if (i % 4 == 2) {
            header->plan.window = true;
            header->plan.forget = i % 8 == 2 ? 0 : 1 + chance_below(&chance, FORGET_MAX);
            header->plan.capacity += i % 8 == 2 && header->plan.capacity == 0;
        }
        if (i % 3 == 0)
            header->plan.geometry =
                (struct geometry){.lines = (uint8_t)(1 + chance_below(&chance, 16)),
                                  .fields = (uint8_t)(1 + chance_below(&chance, 7))};
        if (i % 5 == 3)
            some_recipe(&chance, &header->recipe);
        header_encode(header, file.page0);
        tap_check(opens_the_same(&file, LAYERS), "header %u does not come back", i);
    }
}

/* Makes the file a window. */
static void make_window(struct file *file, uint64_t forget)
{
    file->header.plan.window = true;
    file->header.plan.forget = forget;
    header_encode(&file->header, file->page0);
}

static void windows_at_their_limits(void)
{
    struct file file;
    file_make(&file);
    make_window(&file, 0);
    tap_check(opens_the_same(&file, LAYERS), "a window by count");
    make_window(&file, FORGET_MAX);
    tap_check(opens_the_same(&file, LAYERS), "a window by time");
    file.header.plan.capacity = 0;
    make_window(&file, 1);
    tap_check(opens_the_same(&file, LAYERS), "a window by time without n");
}

static void limits_are_legal(void)
{
    static const struct filter_plan plans[] = {
        {.rate = SIZING_RATE_MIN, .capacity = SIZING_KEYS_MAX, .pages = SIZING_PAGES_MAX},
        {.rate = SIZING_RATE_MAX, .geometry = {LINES_MAX, FIELDS_MAX, false}},
        {.rate = 1e-6, .capacity = 1, .geometry = {1, 1, false}, .fixed = true},
    };
    windows_at_their_limits();
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (uint64_t keys = FLIGHT_KEYS_MIN; keys <= FLIGHT_KEYS_MAX; keys *= 2) {
            struct file file;
            file_make(&file);
            file.header.plan = plans[i];
            file.header.flight_keys = keys;
            file.header.layers_at = fixed_bytes(keys, false);
            header_encode(&file.header, file.page0);
            file.bytes = file.header.layers_at + PAGE_BYTES;
            file.records[0].offset = file.header.layers_at;
            file.records[0].plan.pages = 1;
            layer_encode(&file.records[0], file.page1);
            store32(file.page1 + COUNT_AT, 1);
            tap_check(opens_the_same(&file, 1), "plan %zu, %" PRIu64 " flight keys", i, keys);
        }
}

static void numbers(void)
{
    uint8_t bytes[18] = {0};
    store64(bytes + 1, UINT64_C(0x0102030405060708));
    tap_check(bytes[0] == 0 && bytes[1] == 8 && bytes[8] == 1 && bytes[9] == 0, "store64");
    tap_check(load64(bytes + 1) == UINT64_C(0x0102030405060708), "load64");
    store32(bytes + 1, UINT32_C(0xf1f2f3f4));
    tap_check(bytes[1] == 0xf4 && bytes[4] == 0xf1 && bytes[5] == 4, "store32");
    tap_check(load32(bytes + 1) == UINT32_C(0xf1f2f3f4), "load32");
    struct key key = {.lo = UINT64_C(0x1112131415161718), .hi = UINT64_C(0x2122232425262728)};
    store_key(bytes + 1, key);
    struct key back = load_key(bytes + 1);
    tap_check(bytes[1] == 0x18 && bytes[9] == 0x28 && bytes[17] == 0, "store_key");
    tap_check(back.lo == key.lo && back.hi == key.hi, "load_key");
}

/* --- damage --- */

/* No byte of the header page is outside its checksum. */
static void every_bit_of_the_header(void)
{
    struct file file;
    struct fault fault;
    file_make(&file);
    for (unsigned bit = 0; bit < HEADER_BYTES * 8; bit++) {
        file.page0[bit / 8] ^= (uint8_t)(1U << bit % 8);
        tap_check(is_refused(&file, &fault), "bit %u of byte %u flipped: it opens", bit % 8,
                  bit / 8);
        file.page0[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    tap_check(opens_the_same(&file, LAYERS), "it was not put back");
}

/* Of the layers' page the records below the count are, and what lies behind them means nothing. The
 * count is not: other bits there lead to a record that is none, or to fewer layers, which is how a
 * file looks whose writer was killed before it announced one. */
static void every_bit_of_the_layers(void)
{
    struct file file;
    struct fault fault;
    file_make(&file);
    make_stage(&file, 1);
    for (unsigned bit = 0; bit < HEADER_BYTES * 8; bit++) {
        unsigned byte = bit / 8;
        file.page1[byte] ^= (uint8_t)(1U << bit % 8);
        if (byte < LAYERS * LAYER_RECORD_BYTES)
            tap_check(is_refused(&file, &fault), "bit %u of byte %u flipped: it opens", bit % 8,
                      byte);
        else if (byte < COUNT_AT || byte >= COUNT_AT + 4)
            tap_check(opens_the_same(&file, LAYERS), "bit %u of byte %u flipped: it is another",
                      bit % 8, byte);
        else
            tap_check(is_refused(&file, &fault) || opens_the_same(&file, LAYERS ^ 1U << bit % 8),
                      "bit %u of the count flipped", bit);
        file.page1[byte] ^= (uint8_t)(1U << bit % 8);
    }
}

static void noise(void)
{
    struct chance chance = {31};
    for (unsigned i = 0; i < 2000; i++) {
        struct file file;
        struct fault fault;
        file_make(&file);
        unsigned kind = i % 4;
        for (unsigned j = 0; j < HEADER_BYTES; j++) {
            if (kind < 2 && j >= 8 * kind)
                file.page0[j] = (uint8_t)chance_next(&chance);
            if (kind >= 2 && j < COUNT_AT)
                file.page1[j] = (uint8_t)chance_next(&chance);
        }
        tap_check(is_refused(&file, &fault), "noise %u opens", i);
    }
}

/* --- rules --- */

/* What is planted at `at`, and what the fault then says. */
struct rule {
    const char *name;
    unsigned at, size;
    uint64_t value;
    const char *says;
};

/* A value planted in the header, behind a right checksum, and what the message must say. */
static const struct rule header_rules[] = {
    {"magic", 0, 1, 0x88, "not a filter"},
    {"magic, its end", 7, 1, '\r', "not a filter"},
    {"version 0", 8, 4, 0, "version"},
    {"version 2", 8, 4, 2, "version"},
    {"version, high byte", 11, 1, 1, "version"},
    {"header bytes 0", 12, 4, 0, "header size"},
    {"header bytes 8192", 12, 4, 8192, "header size"},
    {"an unknown feature without which it cannot be used", 16, 8, 1U << 20, "features"},
    {"counting, with cells of a bit", 16, 8, 1, "cell width"},
    {"the last such feature", 16, 8, UINT64_C(1) << 63, "features"},
    {"unused 56", 56, 1, 1, "unused"},
    {"unused 63", 63, 1, 1, "unused"},
    {"a byte behind the seed", 72, 1, 1, "unused"},
    {"unused 80", 80, 1, 1, "unused"},
    {"unused 103", 103, 1, 1, "unused"},
    {"p = 0", 104, 8, 0, "false-positive rate"},
    {"p = -0", 104, 8, UINT64_C(0x8000000000000000), "false-positive rate"},
    {"p = -1e-6", 104, 8, UINT64_C(0xbeb0c6f7a0b5ed8d), "false-positive rate"},
    {"p just below 1e-12", 104, 8, UINT64_C(0x3d719799812dea10), "false-positive rate"},
    {"p just above 0.5", 104, 8, UINT64_C(0x3fe0000000000001), "false-positive rate"},
    {"p = 1", 104, 8, UINT64_C(0x3ff0000000000000), "false-positive rate"},
    {"p infinite", 104, 8, UINT64_C(0x7ff0000000000000), "false-positive rate"},
    {"p not a number", 104, 8, UINT64_C(0x7ff8000000000000), "false-positive rate"},
    {"p not a number, negative", 104, 8, UINT64_C(0xfff8000000000001), "false-positive rate"},
    {"p denormal", 104, 8, 1, "false-positive rate"},
    {"n above 10^12", 112, 8, SIZING_KEYS_MAX + 1, "capacity"},
    {"n = 2^64 - 1", 112, 8, UINT64_MAX, "capacity"},
    {"size above 2^38 pages", 120, 8, SIZING_PAGES_MAX + 1, "size"},
    {"size of 2^52 pages, 2^64 bytes", 120, 8, UINT64_C(1) << 52, "size"},
    {"size of 2^64 - 1 pages", 120, 8, UINT64_MAX, "size"},
    {"g = 17", 128, 1, 17, "geometry"},
    {"g = 255", 128, 1, 255, "geometry"},
    {"f = 8", 129, 1, 8, "geometry"},
    {"g without f", 129, 1, 0, "geometry"},
    {"f without g", 128, 1, 0, "geometry"},
    {"cells of 0 bits", 130, 1, 0, "cell width"},
    {"cells of 4 bits", 130, 1, 4, "cell width"},
    {"fixed = 2", 131, 1, 2, "fixed flag"},
    {"unused 132", 132, 1, 1, "unused"},
    {"unused 135", 135, 1, 0x80, "unused"},
    {"an unknown given value", 136, 8, ASKED_ALL + 1, "given values"},
    {"all given values", 136, 8, UINT64_MAX, "given values"},
    {"no flight keys", 144, 8, 0, "flight keys"},
    {"16 flight keys", 144, 8, 16, "flight keys"},
    {"48 flight keys", 144, 8, 48, "flight keys"},
    {"8192 flight keys", 144, 8, 8192, "flight keys"},
    {"2^63 flight keys", 144, 8, UINT64_C(1) << 63, "flight keys"},
    {"4096 flight keys, for which the fixed part is too small", 144, 8, 4096, "fixed part"},
    {"no fixed part", 152, 8, 0, "fixed part"},
    {"a fixed part of one page more", 152, 8, 8 * 4096 + 4096, "fixed part"},
    {"a fixed part of 2^63", 152, 8, UINT64_C(1) << 63, "fixed part"},
    {"a time without a window", 160, 1, 1, "unused"},
    {"more pages for a stage than may be", 168, 8, SIZING_PAGES_MAX + 1, "stage"},
    {"2^64 - 2 pages for a stage", 168, 8, UINT64_MAX - 1, "stage"},
    {"unused 176", 176, 1, 1, "unused"},
    {"unused 255", 255, 1, 1, "unused"},
    {"a key recipe's unused byte", 274 + 7, 1, 1, "unused"},
    {"the end of the recipe", 383, 1, 1, "unused"},
    {"a key recipe without its feature", 276, 4, 1, "unused"},
    {"a recipe for parts without the feature", 384, 1, 1, "unused"},
    {"the end of that recipe", 511, 1, 1, "unused"},
    {"a part", 512, 4, 1, "unused"},
    {"a number of parts", 516, 4, 2, "unused"},
    {"a mapping to parts", 520, 4, 1, "unused"},
    {"unused 524", 524, 1, 1, "unused"},
    {"the feature of a key recipe, without one", 16, 8, 4, "unused"},
    {"the feature of a part, without one", 16, 8, 8, "part"},
    {"the last byte before the checksum", 4087, 1, 1, "unused"},
};

static void store(uint8_t *bytes, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static void check_refused(const struct file *file, const char *name, const char *says)
{
    struct fault fault;
    if (tap_check(is_refused(file, &fault), "%s: it opens", name))
        tap_check(strstr(fault.reason, says) != NULL, "%s: it says \"%s\"", name, fault.reason);
}

/* The same of a window by time, and by count. */
static const struct {
    const char *name;
    bool by_time;
    unsigned at, size;
    uint64_t value;
    const char *says;
} window_rules[] = {
    {"no feature bit", true, 16, 8, 0, "unused"},
    {"more than 300 years", true, 160, 8, FORGET_MAX + 1, "window"},
    {"2^64 - 1 milliseconds", true, 160, 8, UINT64_MAX, "window"},
    {"a stage", true, 168, 1, 1, "stage"},
    {"by count, of no lines", false, 112, 8, 0, "window"},
    {"fixed", false, 131, 1, 1, "window"},
};

static void rules_of_windows(void)
{
    for (size_t i = 0; i < sizeof window_rules / sizeof *window_rules; i++) {
        struct file file;
        file_make(&file);
        make_window(&file, window_rules[i].by_time ? 1000 : 0);
        store(file.page0 + window_rules[i].at, window_rules[i].size, window_rules[i].value);
        seal(file.page0, CHECKSUM_AT);
        check_refused(&file, window_rules[i].name, window_rules[i].says);
    }
}

/* The same of a file with fields 2-4 and 7, separated, by url/1. */
static const struct rule recipe_rules[] = {
    {"no feature bit", 16, 8, 0, "unused"},
    {"another profile", 256, 4, 0x74727573, "was made for --by surt/1, which this program"},
    {"a longer name", 259, 1, 'x', "was made for --by urlx/1, which this program does not know"},
    {"a name of 16 letters", 256, 8, UINT64_C(0x6161616161616161), "was made for --by aaaaaaaa/1"},
    {"version 2", 272, 2, 2, "was made for --by url/2, which this program does not know"},
    {"version 0", 272, 2, 0, "key recipe"},
    {"a version of the line", 256, 4, 0, "key recipe"},
    {"a name that cannot be shown", 256, 1, 27, "key recipe"},
    {"something after the name", 271, 1, 'x', "key recipe"},
    {"17 ranges", 274, 2, 17, "key recipe"},
    {"more ranges than there are", 274, 2, 3, "key recipe"},
    {"fewer ranges than there are", 274, 2, 1, "unused"},
    {"a separator without fields", 274, 2, 0, "key recipe"},
    {"an unknown flag", 276, 4, 4 | 8, "key recipe"},
    {"a separator, and no flag for it", 276, 4, 0, "key recipe"},
    {"after the separator", 281, 1, 1, "unused"},
    {"before the ranges", 287, 1, 1, "unused"},
    {"field 0", 288, 2, 0, "key recipe"},
    {"a range that ends before it begins", 290, 2, 1, "key recipe"},
    {"the rest of the line, and more", 290, 2, 0, "key recipe"},
    {"ranges that overlap", 292, 2, 4, "key recipe"},
    {"ranges that touch", 292, 2, 5, "key recipe"},
    {"after the last range", 296, 1, 1, "unused"},
    {"the last range", 288 + 15 * 4, 2, 9, "unused"},
};

/* Each rule, broken in a header that is good. */
static void check_rules(const struct file *good, const struct rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct file file = *good;
        store(file.page0 + rules[i].at, rules[i].size, rules[i].value);
        seal(file.page0, CHECKSUM_AT);
        check_refused(&file, rules[i].name, rules[i].says);
    }
}

/* The same of a file with a secret. */
static const struct rule secret_rules[] = {
    {"no feature bit", 16, 8, 0, "unused"},
    {"after the secret", 80, 1, 1, "unused"},
};

static void rules_of_secrets(void)
{
    struct file file;
    file_make(&file);
    file.header.hasher = (struct hasher){HASH_SIPHASH, UINT64_C(0x0706050403020100),
                                         UINT64_C(0x0f0e0d0c0b0a0908)};
    header_encode(&file.header, file.page0);
    tap_check(opens_the_same(&file, LAYERS), "it does not open");
    tap_check(load64(file.page0 + 16) == 16, "the feature");
    for (unsigned i = 0; i < 32; i++)
        tap_check(file.page0[64 + i] == (i < 16 ? i : 0), "byte %u of the key", i);
    check_rules(&file, secret_rules, sizeof secret_rules / sizeof *secret_rules);
}

static void rules_of_recipes(void)
{
    struct file file;
    file_make(&file);
    file.header.recipe = (struct recipe){.profile = PROFILE_URL,
                                         .version = 1,
                                         .separated = true,
                                         .separator = ',',
                                         .ranges = 2,
                                         .range = {{2, 4}, {7, 7}}};
    header_encode(&file.header, file.page0);
    tap_check(opens_the_same(&file, LAYERS), "it does not open");
    tap_check(load64(file.page0 + 16) == 4 && memcmp(file.page0 + 256, "url\0", 4) == 0,
              "the feature, the name");
    check_rules(&file, recipe_rules, sizeof recipe_rules / sizeof *recipe_rules);
}

/* Of a filter for part 3 of 8 by host. */
static const struct rule part_rules[] = {
    {"no feature bit", 16, 8, 0, "unused"},
    {"part 0", 512, 4, 0, "part"},
    {"part 9 of 8", 512, 4, 9, "part"},
    {"part 2^32 - 1", 512, 4, UINT32_MAX, "part"},
    {"of 0 parts", 516, 4, 0, "part"},
    {"of more parts than may be", 516, 4, SHARD_PARTS_MAX + 1, "part"},
    {"no mapping", 520, 4, 0, "unused"},
    {"another mapping", 520, 4, 2, "maps lines to parts by rule 2; this program knows rule 1"},
    {"another profile", 384, 4, 0x74727573, "was made for --shard-by surt/1, which this program"},
    {"version 0", 400, 2, 0, "recipe for parts"},
    {"an unknown flag", 404, 4, 8, "recipe for parts"},
    {"after the mapping", 524, 1, 1, "unused"},
};

static void rules_of_parts(void)
{
    struct file file;
    file_make(&file);
    file.header.shard = (struct shard){3, 8};
    file.header.part_recipe = (struct recipe){.profile = PROFILE_HOST, .version = 1};
    file.header.plan.stage = 20;
    header_encode(&file.header, file.page0);
    tap_check(opens_the_same(&file, LAYERS), "it does not open");
    tap_check(load64(file.page0 + 16) == 8 && memcmp(file.page0 + 384, "host\0", 5) == 0 &&
                  load32(file.page0 + 512) == 3 && load32(file.page0 + 516) == 8,
              "the feature, the recipe, the part");
    check_rules(&file, part_rules, sizeof part_rules / sizeof *part_rules);
    file.header.shard = (struct shard){SHARD_PARTS_MAX, SHARD_PARTS_MAX};
    file.header.part_recipe = (struct recipe){.ranges = 0};
    header_encode(&file.header, file.page0);
    tap_check(opens_the_same(&file, LAYERS), "the last of the most parts, by whole lines");
}

static void rules_of_the_header(void)
{
    struct file fixed;
    file_make(&fixed);
    fixed.header.plan.fixed = true;
    fixed.header.plan.capacity = fixed.header.plan.pages = 0;
    header_encode(&fixed.header, fixed.page0);
    check_refused(&fixed, "fixed, of no size", "fixed flag");
    struct file file;
    file_make(&file);
    check_rules(&file, header_rules, sizeof header_rules / sizeof *header_rules);
}

/* A counting filter: other cells in all records, and a page more before the layers. */
static void counting(void)
{
    struct file file, plain;
    struct header header;
    struct layer_record records[LAYERS_MAX];
    struct fault fault;
    unsigned count;
    file_make(&plain);
    file = plain;
    file.header.plan.geometry.counting = true;
    file.header.layers_at += JOURNAL_BYTES;
    header_encode(&file.header, file.page0);
    tap_check(load64(file.page0 + 16) == 1 && file.page0[130] == 4, "feature, bits a cell");
    check_refused(&file, "records of bits in a counting filter", "layer 1: cell width");
    for (unsigned i = 0; i < LAYERS; i++) {
        file.records[i].plan.geometry.counting = true;
        file.records[i].offset += JOURNAL_BYTES;
        layer_encode(&file.records[i], file.page1 + (size_t)i * LAYER_RECORD_BYTES);
    }
    file.records[LAYERS - 1].offset = plain.records[LAYERS - 1].offset;
    layer_encode(&file.records[LAYERS - 1], file.page1 + (LAYERS - 1L) * LAYER_RECORD_BYTES);
    tap_check(opens_the_same(&file, LAYERS), "it does not open as what it was");
    tap_check(decode(&file, &header, records, &count, &fault) == 0 &&
                  header.plan.geometry.counting && records[2].plan.geometry.counting,
              "it is not a counting one");
    memcpy(file.page0, plain.page0, sizeof file.page0);
    check_refused(&file, "records of cells in another filter", "layer 1: cell width");
    file.header.layers_at -= JOURNAL_BYTES;
    header_encode(&file.header, file.page0);
    check_refused(&file, "no journal", "fixed part");
}

/* What only a writer must know is no reason not to read: filter_open decides. */
static void features_for_writers(void)
{
    struct file file;
    struct header header;
    struct fault fault;
    file_make(&file);
    tap_check(header_decode(file.page0, file.bytes, "f", &header, &fault) == 0 &&
                  header.writer_features == 0,
              "features of none");
    store64(file.page0 + 24, UINT64_C(1) << 63 | 1);
    seal(file.page0, CHECKSUM_AT);
    tap_check(opens_the_same(&file, LAYERS), "it does not open");
    tap_check(header_decode(file.page0, file.bytes, "f", &header, &fault) == 0 &&
                  header.writer_features == (UINT64_C(1) << 63 | 1),
              "features %016" PRIx64, header.writer_features);
}

/* The rest of the file is as long as the header needs, or it is refused before it is mapped. */
static void file_sizes(void)
{
    static const uint64_t sizes[] = {0, 1, 4095, 4096, 8192, 14335, 14336};
    struct file file;
    struct fault fault;
    file_make(&file);
    uint64_t whole = file.bytes;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        file.bytes = sizes[i];
        tap_check(is_refused(&file, &fault), "a file of %" PRIu64 " bytes opens", sizes[i]);
    }
    file.bytes = file.header.layers_at - 1;
    tap_check(is_refused(&file, &fault), "a file without its last byte of flight opens");
    file.bytes = whole - 1;
    tap_check(is_refused(&file, &fault), "a file without its last byte opens");
    file.bytes = whole;
    tap_check(opens_the_same(&file, LAYERS), "the whole file does not open");
    file.bytes = whole + 1;
    tap_check(opens_the_same(&file, LAYERS), "a byte behind the last layer is not legal");
    file.bytes = INT64_MAX;
    tap_check(opens_the_same(&file, LAYERS), "a file of 2^63 - 1 bytes does not open");
}

/* The same for a layer's record. */
static const struct rule record_rules[] = {
    {"offset 0", 0, 8, 0, "offset"},
    {"an offset inside the fixed part", 0, 8, 8192, "offset"},
    {"an offset off the page boundary", 0, 8, 4096 * 4000 + 1, "offset"},
    {"an offset behind the file", 0, 8, UINT64_C(1) << 40, "end"},
    {"an offset of 2^63", 0, 8, UINT64_C(1) << 63, "end"},
    {"the last page of 2^64", 0, 8, UINT64_MAX - 4095, "end"},
    {"an offset of 2^64 less the layer", 0, 8, UINT64_MAX - 100 * 4096 + 1, "end"},
    {"no pages", 8, 8, 0, "size"},
    {"more pages than may be", 8, 8, SIZING_PAGES_MAX + 1, "size"},
    {"as many pages as may be", 8, 8, SIZING_PAGES_MAX, "end"},
    {"2^52 pages, which are 0 bytes", 8, 8, UINT64_C(1) << 52, "size"},
    {"2^52 + 1 pages, which are 1", 8, 8, (UINT64_C(1) << 52) + 1, "size"},
    {"2^64 - 1 pages", 8, 8, UINT64_MAX, "size"},
    {"no capacity", 16, 8, 0, "capacity"},
    {"a capacity of 2^64 - 1", 16, 8, UINT64_MAX, "capacity"},
    {"a capacity of 10^7", 16, 8, 10000000, "capacity"},
    {"a rate far below its keys'", 24, 8, UINT64_C(0x0010000000000000), "capacity"},
    {"a rate below 0", 24, 8, UINT64_C(0xbeb0c6f7a0b5ed8d), "rate"},
    {"a rate above 1", 24, 8, UINT64_C(0x3ff0000000000001), "rate"},
    {"a rate that is infinite", 24, 8, UINT64_C(0x7ff0000000000000), "rate"},
    {"a rate that is no number", 24, 8, UINT64_C(0x7ff8000000000000), "rate"},
    {"g = 0", 32, 1, 0, "geometry"},
    {"g = 17", 32, 1, 17, "geometry"},
    {"f = 0", 33, 1, 0, "geometry"},
    {"f = 8", 33, 1, 8, "geometry"},
    {"cells of 0 bits", 34, 1, 0, "cell width"},
    {"cells of 4 bits", 34, 1, 4, "cell width"},
    {"g of no stage", 35, 1, 1, "unused"},
    {"f of no stage", 36, 1, 1, "unused"},
    {"unused 37", 37, 1, 1, "unused"},
    {"unused 39", 39, 1, 1, "unused"},
    {"an offset of no stage", 40, 8, 32768, "unused"},
    {"a journal of no stage", 56, 8, 32, "unused"},
    {"a capacity of no stage", 64, 8, STAGE_KEYS_MIN, "unused"},
    {"the last byte before the checksum", 71, 1, 1, "unused"},
    {"pages of a stage, and nothing else of it", 48, 8, 20, "stage"},
};

/* The same for the stage of a layer: 20 pages and 32 of journal, for 8192 keys. */
static const struct rule stage_rules[] = {
    {"no pages", 48, 8, 0, "unused"},
    {"more pages than may be", 48, 8, SIZING_PAGES_MAX + 1, "size of the stage"},
    {"as many pages as may be", 48, 8, SIZING_PAGES_MAX, "offset"},
    {"2^52 pages, which are 0 bytes", 48, 8, UINT64_C(1) << 52, "size of the stage"},
    {"2^64 - 1 pages", 48, 8, UINT64_MAX, "size of the stage"},
    {"a page more", 48, 8, 21, "offset"},
    {"pages that cannot hold its keys", 48, 8, 1, "capacity of the stage"},
    {"no journal", 56, 8, 0, "size of the stage"},
    {"a journal with too little room", 56, 8, 31, "capacity of the stage"},
    {"a page more of journal", 56, 8, 33, "offset"},
    {"as many pages of journal as may be", 56, 8, SIZING_PAGES_MAX, "offset"},
    {"2^52 + 32 pages of journal", 56, 8, (UINT64_C(1) << 52) + 32, "size of the stage"},
    {"2^64 - 1 pages of journal", 56, 8, UINT64_MAX, "size of the stage"},
    {"no capacity", 64, 8, 0, "capacity of the stage"},
    {"too few keys", 64, 8, STAGE_KEYS_MIN - 1, "capacity of the stage"},
    {"a key too many for the journal", 64, 8, STAGE_KEYS_MIN + 1, "capacity of the stage"},
    {"2^64 - 1 keys", 64, 8, UINT64_MAX, "capacity of the stage"},
    {"g = 0", 35, 1, 0, "geometry of the stage"},
    {"g = 17", 35, 1, 17, "geometry of the stage"},
    {"f = 0", 36, 1, 0, "geometry of the stage"},
    {"f = 8", 36, 1, 8, "geometry of the stage"},
    {"no offset", 40, 8, 0, "offset of the stage"},
    {"an offset off the page boundary", 40, 1, 1, "offset of the stage"},
    {"an offset after the file", 40, 8, UINT64_C(1) << 40, "offset of the stage"},
    {"the last page of 2^64", 40, 8, UINT64_MAX - 4095, "offset of the stage"},
    {"an offset of 2^64 less the stage", 40, 8, UINT64_MAX - 52 * 4096 + 1, "offset of the stage"},
    {"unused 37", 37, 1, 1, "unused"},
};

static void rules_of_the_stages(void)
{
    for (size_t i = 0; i < sizeof stage_rules / sizeof *stage_rules; i++)
        for (unsigned layer = 0; layer + 1 < LAYERS; layer++) {
            struct file file;
            char name[96];
            file_make(&file);
            make_stage(&file, layer);
            uint8_t *record = file.page1 + (size_t)layer * LAYER_RECORD_BYTES;
            store(record + stage_rules[i].at, stage_rules[i].size, stage_rules[i].value);
            seal(record, RECORD_SUM_AT);
            snprintf(name, sizeof name, "the stage of layer %u: %s", layer + 1,
                     stage_rules[i].name);
            check_refused(&file, name, stage_rules[i].says);
        }
}

static void rules_of_the_records(void)
{
    for (size_t i = 0; i < sizeof record_rules / sizeof *record_rules; i++)
        for (unsigned layer = 0; layer < LAYERS; layer++) {
            struct file file;
            char name[96];
            file_make(&file);
            uint8_t *record = file.page1 + (size_t)layer * LAYER_RECORD_BYTES;
            store(record + record_rules[i].at, record_rules[i].size, record_rules[i].value);
            seal(record, RECORD_SUM_AT);
            snprintf(name, sizeof name, "layer %u: %s", layer + 1, record_rules[i].name);
            check_refused(&file, name, record_rules[i].says);
        }
}

/* Each number that says how much there is or where, at the edges of what a machine can count. */
static void edges_of_numbers(void)
{
    static const uint64_t edges[] = {UINT64_C(1) << 52, (UINT64_C(1) << 52) + 1,
                                     UINT64_C(1) << 62, (UINT64_C(1) << 63) - 1,
                                     UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
                                     UINT64_MAX - 4095, UINT64_MAX};
    static const unsigned of_header[] = {112, 120, 144, 152, 168};
    static const unsigned of_record[] = {0, 8, 16}, of_stage[] = {40, 48, 56, 64};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        struct file file;
        char name[64];
        for (size_t j = 0; j < sizeof of_header / sizeof *of_header; j++) {
            /* A stage of 2^64 - 1 pages is one by size. */
            if (of_header[j] == 168 && edges[i] == STAGE_BY_SIZE)
                continue;
            file_make(&file);
            store64(file.page0 + of_header[j], edges[i]);
            seal(file.page0, CHECKSUM_AT);
            snprintf(name, sizeof name, "%" PRIx64 " at %u", edges[i], of_header[j]);
            check_refused(&file, name, "damaged filter: ");
        }
        for (size_t j = 0; j < 7; j++) {
            unsigned at = j < 3 ? of_record[j] : of_stage[j - 3];
            file_make(&file);
            make_stage(&file, 1);
            store64(file.page1 + LAYER_RECORD_BYTES + at, edges[i]);
            seal(file.page1 + LAYER_RECORD_BYTES, RECORD_SUM_AT);
            snprintf(name, sizeof name, "%" PRIx64 " at %u of a record", edges[i], at);
            check_refused(&file, name, "layer 2: ");
        }
    }
}

/* Layers lie behind each other, whatever their records say for themselves. */
static void order_of_the_layers(void)
{
    struct file file;
    file_make(&file);
    file.records[1].offset = file.records[0].offset + 6 * PAGE_BYTES;
    layer_encode(&file.records[1], file.page1 + LAYER_RECORD_BYTES);
    check_refused(&file, "a layer that begins in the last page of the one before", "offset");
    file_make(&file);
    file.records[1].offset = file.records[0].offset;
    layer_encode(&file.records[1], file.page1 + LAYER_RECORD_BYTES);
    check_refused(&file, "two layers in one place", "offset");
    file_make(&file);
    file.records[0].offset = file.header.layers_at - PAGE_BYTES;
    layer_encode(&file.records[0], file.page1);
    check_refused(&file, "a layer that begins in the fixed part", "offset");
    file_make(&file);
    file.records[0].offset += PAGE_BYTES;
    file.records[0].plan.pages--;
    layer_encode(&file.records[0], file.page1);
    tap_check(opens_the_same(&file, LAYERS), "a gap before a layer is not legal");
}

/* Pages for stages as asked for, and stages before the layers. */
static void stages(void)
{
    struct file file;
    file_make(&file);
    file.header.plan.stage = SIZING_PAGES_MAX;
    header_encode(&file.header, file.page0);
    tap_check(opens_the_same(&file, LAYERS), "as many pages for a stage as may be");
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        file_make(&file);
        make_stage(&file, layer);
        tap_check(opens_the_same(&file, LAYERS), "layer %u has a stage", layer + 1);
        uint8_t *record = file.page1 + (size_t)layer * LAYER_RECORD_BYTES;
        file.records[layer].offset = file.records[layer].stage_offset +
                                     (20 + 31) * (uint64_t)PAGE_BYTES;
        layer_encode(&file.records[layer], record);
        check_refused(&file, "a layer that begins in its journal", "offset");
    }
    for (unsigned layer = 0; layer < LAYERS; layer++)
        make_stage(&file, layer);
    tap_check(opens_the_same(&file, LAYERS), "each layer has a stage");
    file.records[1].stage_offset -= PAGE_BYTES;
    layer_encode(&file.records[1], file.page1 + LAYER_RECORD_BYTES);
    check_refused(&file, "a stage that begins in the layer before", "layer 2: offset of the stage");
    file_make(&file);
    make_stage(&file, 0);
    make_window(&file, 0);
    check_refused(&file, "a stage in a window", "layer 1: a stage");
    file_make(&file);
    file.header.plan.geometry.counting = true;
    file.header.layers_at += JOURNAL_BYTES;
    header_encode(&file.header, file.page0);
    for (unsigned i = 0; i < LAYERS; i++)
        file.records[i].plan.geometry.counting = true;
    make_stage(&file, 0);
    check_refused(&file, "a stage in a counting filter", "layer 1: a stage");
}

static void counts_of_layers(void)
{
    static const uint32_t counts[] = {0,        LAYERS + 1, LAYERS_MAX, LAYERS_MAX + 1,
                                      1U << 31, UINT32_MAX};
    struct file file;
    file_make(&file);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char name[32];
        store32(file.page1 + COUNT_AT, counts[i]);
        snprintf(name, sizeof name, "%u layers", counts[i]);
        check_refused(&file, name, counts[i] - 1 < LAYERS_MAX ? "checksum" : "number of layers");
    }
    /* 48 layers of a page each. */
    file.bytes = file.header.layers_at;
    for (unsigned i = 0; i < LAYERS_MAX; i++, file.bytes += PAGE_BYTES) {
        file.records[i] = (struct layer_record){.plan = file.records[0].plan, .offset = file.bytes};
        file.records[i].plan.pages = 1;
        layer_encode(&file.records[i], file.page1 + (size_t)i * LAYER_RECORD_BYTES);
    }
    store32(file.page1 + COUNT_AT, LAYERS_MAX);
    tap_check(opens_the_same(&file, LAYERS_MAX), "48 layers do not open");
}

/* --- places --- */

/* The slots of all writers lie behind each other and fill the flight region. */
static void slots(void)
{
    for (uint64_t keys = FLIGHT_KEYS_MIN; keys <= FLIGHT_KEYS_MAX; keys *= 2) {
        uint64_t end = 0;
        for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
            uint64_t room = slot_room(keys, slot);
            tap_check(slot_first(keys, slot) == end, "slot %u begins elsewhere", slot);
            tap_check(room >= SLOT_KEYS_MIN && room <= keys / 2, "slot %u: room for %" PRIu64, slot,
                      room);
            end += room;
        }
        tap_check(slot_room(keys, 0) == keys / 2, "the first slot: %" PRIu64, slot_room(keys, 0));
        uint64_t fixed = fixed_bytes(keys, false), least = FLIGHT_AT + end * KEY_BYTES;
        tap_check(fixed >= least && fixed < least + PAGE_BYTES && fixed % PAGE_BYTES == 0,
                  "%" PRIu64 " keys in %" PRIu64 " bytes", end, fixed);
        tap_check(fixed_bytes(keys, true) == fixed + JOURNAL_BYTES, "the journal");
    }
    tap_check(LAYER_TABLE_AT + LAYERS_MAX * LAYER_RECORD_BYTES <= LAYER_COUNT_AT, "the records");
    tap_check(STAGE_SET_IN_AT + 8 <= LAYER_STATES_AT, "the counters reach the layers' states");
    tap_check(layer_state_at(LAYERS_MAX) <= SLOTS_AT, "the layers' states reach the slots");
    tap_check(WINDOW_BEGAN + 8 <= LAYER_STATE_BYTES, "a state");
    tap_check(slot_at(SLOTS_MAX) <= FLIGHT_AT, "the slots' heads reach the flight");
}

static void flight_suits_the_layer(void)
{
    uint64_t before = 0;
    for (uint64_t pages = 1; pages <= SIZING_PAGES_MAX; pages *= 2) {
        uint64_t keys = flight_keys_for(pages, true);
        tap_check(keys >= FLIGHT_KEYS_MIN && keys <= FLIGHT_KEYS_MAX && (keys & (keys - 1)) == 0,
                  "%" PRIu64 " pages: %" PRIu64 " keys", pages, keys);
        tap_check(keys >= before && flight_keys_for(pages, false) >= keys, "%" PRIu64 " pages",
                  pages);
        before = keys;
    }
}

/* Where a layer is put that has so many pages, and a stage of so many, its journal counted. */
static void check_place(uint64_t at, uint64_t stage, uint64_t pages, uint64_t stage_offset,
                        uint64_t offset)
{
    struct layer_record record = {.plan = {.pages = pages}};
    if (stage != 0)
        record.plan.stage = (struct stage_plan){.pages = stage - 1, .journal = 1};
    layer_put(&record, at);
    tap_check(record.stage_offset == stage_offset && record.offset == offset,
              "%" PRIu64 " pages, stage of %" PRIu64 ", from %" PRIu64 ": %" PRIu64 ", %" PRIu64,
              pages, stage, at, record.stage_offset, record.offset);
    tap_check(layer_end(&record) == offset + pages * PAGE_BYTES, "its end");
}

static void places(void)
{
    check_place(12289, 0, 1, 0, 16384);
    check_place(16384, 0, 1, 0, 16384);
    check_place(16384, 0, 8191, 0, 16384);
    check_place(16384, 0, 8192, 0, 2 << 20);
    check_place(2 << 20, 0, 8192, 0, 2 << 20);
    check_place((2 << 20) + 1, 0, 8192, 0, 4 << 20);
    check_place(12289, 64, 1, 16384, 16384 + 64 * 4096);
    check_place(12289, 64, 8192, 16384, 2 << 20);
    check_place(16384, 8192, 1, 2 << 20, (2 << 20) + (32 << 20));
    struct filter_plan plan = {.stage = 64};
    tap_check(header_file_bytes(8192, &plan, 2) == (2 << 20) + (32 << 20) + (2 << 20) + (32 << 20),
              "the bytes of a file with stages");
}

int main(void)
{
    tap_run("numbers are little-endian", numbers);
    tap_run("what was encoded is decoded", round_trip);
    tap_run("headers of all kinds come back", round_trip_of_many);
    tap_run("the limits themselves are legal", limits_are_legal);
    tap_run("every bit of the header page, flipped, is refused", every_bit_of_the_header);
    tap_run("every bit of the layers' page, flipped, is refused or harmless",
            every_bit_of_the_layers);
    tap_run("noise is refused", noise);
    tap_run("rules of the header, behind a right checksum", rules_of_the_header);
    tap_run("rules of secrets", rules_of_secrets);
    tap_run("rules of key recipes", rules_of_recipes);
    tap_run("rules of parts", rules_of_parts);
    tap_run("counting filters", counting);
    tap_run("rules of windows", rules_of_windows);
    tap_run("features that only a writer must know", features_for_writers);
    tap_run("rules of the layers' records, behind a right checksum", rules_of_the_records);
    tap_run("numbers at the edges of what can be counted", edges_of_numbers);
    tap_run("layers lie in order, behind each other", order_of_the_layers);
    tap_run("stages", stages);
    tap_run("rules of stages, behind a right checksum", rules_of_the_stages);
    tap_run("0, too many, and 48 layers", counts_of_layers);
    tap_run("sizes of the file", file_sizes);
    tap_run("slots of writers", slots);
    tap_run("the flight region suits the first layer", flight_suits_the_layer);
    tap_run("where layers begin", places);
    return tap_end();
}
