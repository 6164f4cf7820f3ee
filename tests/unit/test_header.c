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

/* A file of five layers, the last of them large, as a writer would have made it. */
struct file {
    struct header header;
    struct layer_record records[LAYERS_MAX];
    uint8_t page0[HEADER_BYTES], page1[HEADER_BYTES];
    unsigned layers;
    uint64_t bytes;
};

/* Of which kind, and what its header has beside the rest. */
enum kind { PLAIN, BY_TIME, BY_COUNT, RECIPE, SECRET, PART, COUNTING, STAGED, KINDS };

static void choose(struct header *header, enum kind kind)
{
    struct filter_plan *plan = &header->plan;
    if (kind == BY_TIME || kind == BY_COUNT) {
        plan->window = true;
        plan->forget = kind == BY_TIME ? 1000 : 0;
    } else if (kind == RECIPE) {
        header->recipe = (struct recipe){.profile = PROFILE_URL,
                                         .version = 1,
                                         .separated = true,
                                         .separator = ',',
                                         .ranges = 2,
                                         .range = {{2, 4}, {7, 7}}};
    } else if (kind == SECRET) {
        header->hasher = (struct hasher){HASH_SIPHASH, UINT64_C(0x0706050403020100),
                                         UINT64_C(0x0f0e0d0c0b0a0908)};
    } else if (kind == PART) {
        header->shard = (struct shard){3, 8};
    } else {
        plan->geometry.counting = kind == COUNTING;
    }
}

/* Puts all layers in their places, and makes both pages anew. */
static void encode(struct file *file)
{
    memset(file->page1, 0, sizeof file->page1);
    header_encode(&file->header, file->page0);
    file->bytes = file->header.layers_at;
    for (unsigned i = 0; i < file->layers; i++) {
        layer_put(&file->records[i], file->bytes);
        file->bytes = layer_end(&file->records[i]);
        layer_encode(&file->records[i], file->page1 + (size_t)i * LAYER_RECORD_BYTES);
    }
    store32(file->page1 + COUNT_AT, file->layers);
}

static void file_make(struct file *file, enum kind kind)
{
    static const uint64_t pages[LAYERS] = {7, 100, 40, 50, 9000};
    memset(file, 0, sizeof *file);
    file->header = (struct header){
        .created = 1700000000,
        .hasher = hasher_xxh3(0x0123456789abcdef),
        .plan = {.rate = 1e-6, .capacity = 1000, .pages = 7, .geometry = {3, 6, false}},
    };
    for (unsigned i = 0; i < UUID_BYTES; i++)
        file->header.uuid[i] = (uint8_t)(0xa0 + i);
    choose(&file->header, kind);
    file->header.layers_at = fixed_bytes(kind == COUNTING);
    file->layers = LAYERS;
    for (unsigned i = 0; i < LAYERS; i++) {
        file->records[i].plan = (struct layer_plan){
            .pages = pages[i],
            .capacity = 1000 * (i + 1),
            .rate = 1e-6 / (i + 2),
            .geometry = {(uint8_t)(3 + i), 6, kind == COUNTING},
        };
        if (kind == STAGED)
            file->records[i].plan.stage = 20;
    }
    encode(file);
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

static bool same_geometry(struct geometry a, struct geometry b)
{
    return a.lines == b.lines && a.fields == b.fields && a.counting == b.counting;
}

static bool same_plan(const struct filter_plan *a, const struct filter_plan *b)
{
    return a->rate == b->rate && a->capacity == b->capacity && a->pages == b->pages &&
           same_geometry(a->geometry, b->geometry) && a->fixed == b->fixed &&
           a->window == b->window && a->forget == b->forget;
}

static bool same_header(const struct header *a, const struct header *b)
{
    return recipe_is_same(&a->recipe, &b->recipe) && a->shard.part == b->shard.part &&
           a->shard.parts == b->shard.parts && memcmp(a->uuid, b->uuid, UUID_BYTES) == 0 &&
           a->created == b->created && a->hasher.kind == b->hasher.kind &&
           a->hasher.k0 == b->hasher.k0 && a->hasher.k1 == b->hasher.k1 &&
           same_plan(&a->plan, &b->plan) && a->layers_at == b->layers_at;
}

static bool same_record(const struct layer_record *a, const struct layer_record *b)
{
    return a->offset == b->offset && a->plan.pages == b->plan.pages &&
           a->plan.capacity == b->plan.capacity && a->plan.rate == b->plan.rate &&
           same_geometry(a->plan.geometry, b->plan.geometry) &&
           a->stage_offset == b->stage_offset && a->plan.stage == b->plan.stage;
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

static void check_refused(const struct file *file, const char *name, const char *says)
{
    struct fault fault;
    if (tap_check(is_refused(file, &fault), "%s: it opens", name))
        tap_check(strstr(fault.reason, says) != NULL, "%s: it says \"%s\"", name, fault.reason);
}

/* --- round trip --- */

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

static void all_kinds(void)
{
    /* Where unseen(5) says that they are. */
    static const struct {
        enum kind kind;
        unsigned at;
        uint64_t value;
    } places[] = {
        {PLAIN, 8, 4},
        {PLAIN, 16, 0},
        {PLAIN, 64, 0x0123456789abcdef},
        {PLAIN, 112, 1000},
        {BY_COUNT, 16, 2},
        {BY_TIME, 160, 1000},
        {RECIPE, 256, 0x6c7275},
        {SECRET, 16, 4},
        {SECRET, 64, 0x0706050403020100},
        {SECRET, 72, 0x0f0e0d0c0b0a0908},
        {PART, 384, UINT64_C(8) << 32 | 3},
        {COUNTING, 16, 1},
    };
    struct file file;
    for (enum kind kind = PLAIN; kind < KINDS; kind++) {
        file_make(&file, kind);
        tap_check(opens_the_same(&file, LAYERS), "kind %u does not open as what it was", kind);
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        file_make(&file, places[i].kind);
        uint64_t value = load64(file.page0 + places[i].at);
        tap_check(value == places[i].value, "kind %u, %u: %" PRIx64, places[i].kind, places[i].at,
                  value);
    }
}

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

static void many_headers(void)
{
    struct chance chance = {30};
    unsigned headers = tap_cases(20000);
    for (unsigned i = 0; i < headers; i++) {
        struct file file;
        file_make(&file, i % 4 == 2 ? i % 8 == 2 ? BY_COUNT : BY_TIME : PLAIN);
        struct header *header = &file.header;
        struct filter_plan *plan = &header->plan;
        header->created = (int64_t)(chance_next(&chance) >> i % 64);
        header->hasher = hasher_xxh3(chance_next(&chance) >> i % 65 % 64);
        if (i % 7 == 1)
            header->hasher = (struct hasher){HASH_SIPHASH, chance_next(&chance), i};
        plan->rate = fmax(pow(10, -12.0 * (double)chance_below(&chance, 1000) / 1000) / 2,
                          SIZING_RATE_MIN);
        plan->capacity = 1 + chance_below(&chance, SIZING_KEYS_MAX);
        plan->pages = chance_below(&chance, SIZING_PAGES_MAX + 1);
        plan->fixed = !plan->window && i % 2;
        if (plan->forget != 0)
            plan->forget = 1 + chance_below(&chance, FORGET_MAX);
        if (i % 3 == 0)
            plan->geometry = (struct geometry){.lines = (uint8_t)(1 + chance_below(&chance, 16)),
                                               .fields = (uint8_t)(1 + chance_below(&chance, 7))};
        if (i % 5 == 3)
            some_recipe(&chance, &header->recipe);
        header_encode(header, file.page0);
        tap_check(opens_the_same(&file, LAYERS), "header %u does not come back", i);
    }
}

static void limits_are_legal(void)
{
    static const struct {
        struct filter_plan plan;
        struct shard shard;
    } limits[] = {
        {.plan = {.rate = SIZING_RATE_MIN, .capacity = SIZING_KEYS_MAX, .pages = SIZING_PAGES_MAX}},
        {.plan = {SIZING_RATE_MAX, .geometry = {LINES_MAX, FIELDS_MAX, false}}},
        {.plan = {1e-6, 1, .geometry = {1, 1, false}, .fixed = true}},
        {.plan = {1e-6, 1, .window = true}},
        {.plan = {1e-6, 1, .window = true, .forget = FORGET_MAX}},
        {.plan = {1e-6, 0, .window = true, .forget = 1}},
        {.plan = {.rate = 1e-6}, .shard = {SHARD_PARTS_MAX, SHARD_PARTS_MAX}},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct file file;
        file_make(&file, PLAIN);
        file.header.plan = limits[i].plan;
        file.header.shard = limits[i].shard;
        encode(&file);
        tap_check(opens_the_same(&file, LAYERS), "limits %zu", i);
    }
}

/* --- damage --- */

/* No byte of the header page is outside its checksum. Of the layers' page the records below the
 * count are, and what lies behind them means nothing. The count is not: other bits there lead to a
 * record that is none, or to fewer layers, which is how a file looks whose writer was killed before
 * it announced one. */
static void every_bit(void)
{
    struct file file;
    struct fault fault;
    file_make(&file, STAGED);
    for (unsigned bit = 0; bit < 2 * HEADER_BYTES * 8; bit++) {
        unsigned byte = bit / 8 % HEADER_BYTES;
        bool is_header = bit / 8 < HEADER_BYTES;
        uint8_t *page = is_header ? file.page0 : file.page1;
        page[byte] ^= (uint8_t)(1U << bit % 8);
        if (is_header || byte < LAYERS * LAYER_RECORD_BYTES)
            tap_check(is_refused(&file, &fault), "bit %u flipped: it opens", bit);
        else if (byte < COUNT_AT || byte >= COUNT_AT + 4)
            tap_check(opens_the_same(&file, LAYERS), "bit %u flipped: it is another", bit);
        else
            tap_check(is_refused(&file, &fault) || opens_the_same(&file, load32(page + COUNT_AT)),
                      "bit %u of the count flipped", bit);
        page[byte] ^= (uint8_t)(1U << bit % 8);
    }
    tap_check(opens_the_same(&file, LAYERS), "it was not put back");
}

/* --- rules --- */

/* What is planted at `at` of a file, behind a right checksum, and what the fault then says. */
struct rule {
    enum kind kind;
    const char *name;
    unsigned at, size;
    uint64_t value;
    const char *says;
};

/* clang-format off */
static const struct rule header_rules[] = {
    {PLAIN, "magic", 0, 1, 0x88, "not a filter"},
    {PLAIN, "magic, its end", 7, 1, '\r', "not a filter"},
    {PLAIN, "version 0", 8, 4, 0, "older unseen"},
    {PLAIN, "version 3", 8, 4, 3, "older unseen"},
    {PLAIN, "version 5", 8, 4, 5, "version 5; this program knows 4"},
    {PLAIN, "version, high byte", 11, 1, 1, "version"},
    {PLAIN, "unused 12", 12, 1, 1, "unused"},
    {PLAIN, "an unknown feature", 16, 8, 8, "features"},
    {PLAIN, "the last feature", 16, 8, UINT64_C(1) << 63, "features"},
    {PLAIN, "unused 24", 24, 1, 1, "unused"},
    {PLAIN, "unused 31", 31, 1, 1, "unused"},
    {PLAIN, "counting, and no journal before the layers", 16, 8, 1, "layer 1: offset"},
    {PLAIN, "unused 56", 56, 1, 1, "unused"},
    {PLAIN, "unused 63", 63, 1, 1, "unused"},
    {PLAIN, "a byte behind the seed", 72, 1, 1, "unused"},
    {PLAIN, "unused 103", 103, 1, 1, "unused"},
    {PLAIN, "p = 0", 104, 8, 0, "false-positive rate"},
    {PLAIN, "p = -1e-6", 104, 8, UINT64_C(0xbeb0c6f7a0b5ed8d), "false-positive rate"},
    {PLAIN, "p just below 1e-12", 104, 8, UINT64_C(0x3d719799812dea10), "false-positive rate"},
    {PLAIN, "p just above 0.5", 104, 8, UINT64_C(0x3fe0000000000001), "false-positive rate"},
    {PLAIN, "p infinite", 104, 8, UINT64_C(0x7ff0000000000000), "false-positive rate"},
    {PLAIN, "p not a number", 104, 8, UINT64_C(0x7ff8000000000000), "false-positive rate"},
    {PLAIN, "n above 10^12", 112, 8, SIZING_KEYS_MAX + 1, "capacity"},
    {PLAIN, "size above 2^38 pages", 120, 8, SIZING_PAGES_MAX + 1, "size"},
    {PLAIN, "g = 17", 128, 1, 17, "geometry"},
    {PLAIN, "f = 8", 129, 1, 8, "geometry"},
    {PLAIN, "g without f", 129, 1, 0, "geometry"},
    {PLAIN, "f without g", 128, 1, 0, "geometry"},
    {PLAIN, "unused 130", 130, 1, 1, "unused"},
    {PLAIN, "fixed = 2", 131, 1, 2, "fixed flag"},
    {PLAIN, "unused 132", 132, 1, 1, "unused"},
    {PLAIN, "unused 143", 143, 1, 0x80, "unused"},
    {PLAIN, "unused 144", 144, 1, 1, "unused"},
    {PLAIN, "a time without a window", 160, 1, 1, "unused"},
    {PLAIN, "unused 176", 176, 1, 1, "unused"},
    {PLAIN, "unused 255", 255, 1, 1, "unused"},
    {PLAIN, "the end of the recipe", 383, 1, 1, "unused"},
    {PLAIN, "a part of none", 384, 4, 1, "unused"},
    {PLAIN, "a number of parts, and no part", 388, 4, 2, "part"},
    {PLAIN, "unused 392", 392, 1, 1, "unused"},
    {PLAIN, "the last byte before the checksum", 4087, 1, 1, "unused"},

    {BY_TIME, "more than 300 years", 160, 8, FORGET_MAX + 1, "window"},
    {BY_TIME, "as if it were none", 16, 1, 0, "unused"},
    {BY_COUNT, "of no lines", 112, 8, 0, "window"},
    {BY_COUNT, "fixed", 131, 1, 1, "window"},
    {BY_COUNT, "counting", 16, 1, 3, "window"},

    /* Fields 2-4 and 7, separated, by url/1. */
    {RECIPE, "another profile", 256, 4, 0x74727573, "was made for --by surt/1, which this program"},
    {RECIPE, "a name of 16 letters", 256, 8, UINT64_C(0x6161616161616161), "for --by aaaaaaaa/1"},
    {RECIPE, "version 2", 272, 2, 2, "was made for --by url/2, which this program does not know"},
    {RECIPE, "version 0", 272, 2, 0, "recipe"},
    {RECIPE, "a version of the line", 256, 4, 0, "recipe"},
    {RECIPE, "a name that cannot be shown", 256, 1, 27, "recipe"},
    {RECIPE, "something after the name", 271, 1, 'x', "recipe"},
    {RECIPE, "17 ranges", 274, 2, 17, "recipe"},
    {RECIPE, "more ranges than there are", 274, 2, 3, "recipe"},
    {RECIPE, "fewer ranges than there are", 274, 2, 1, "unused"},
    {RECIPE, "a separator without fields", 274, 2, 0, "recipe"},
    {RECIPE, "an unknown flag", 276, 4, 4 | 8, "recipe"},
    {RECIPE, "a separator, and no flag for it", 276, 4, 0, "recipe"},
    {RECIPE, "after the separator", 281, 1, 1, "unused"},
    {RECIPE, "before the ranges", 287, 1, 1, "unused"},
    {RECIPE, "field 0", 288, 2, 0, "recipe"},
    {RECIPE, "a range that ends before it begins", 290, 2, 1, "recipe"},
    {RECIPE, "the rest of the line, and more", 290, 2, 0, "recipe"},
    {RECIPE, "ranges that overlap", 292, 2, 4, "recipe"},
    {RECIPE, "ranges that touch", 292, 2, 5, "recipe"},
    {RECIPE, "after the last range", 296, 1, 1, "unused"},
    {RECIPE, "the last range", 288 + 15 * 4, 2, 9, "unused"},
    {SECRET, "after the secret", 80, 1, 1, "unused"},
    /* Part 3 of 8. */
    {PART, "part 0", 384, 4, 0, "part"},
    {PART, "part 9 of 8", 384, 4, 9, "part"},
    {PART, "of no parts", 388, 4, 0, "unused"},
    {PART, "of more parts than may be", 388, 4, SHARD_PARTS_MAX + 1, "part"},
};

/* The same for a layer's record. A stage has 20 pages. */
static const struct rule record_rules[] = {
    {PLAIN, "offset 0", 0, 8, 0, "offset"},
    {PLAIN, "an offset inside the fixed part", 0, 8, 8192, "offset"},
    {PLAIN, "an offset off the page boundary", 0, 8, 4096 * 4000 + 1, "offset"},
    {PLAIN, "an offset behind the file", 0, 8, UINT64_C(1) << 40, "end"},
    {PLAIN, "an offset of 2^64 less the layer", 0, 8, UINT64_MAX - 100 * 4096 + 1, "end"},
    {PLAIN, "no pages", 8, 8, 0, "size"},
    {PLAIN, "more pages than may be", 8, 8, SIZING_PAGES_MAX + 1, "size"},
    {PLAIN, "as many pages as may be", 8, 8, SIZING_PAGES_MAX, "end"},
    {PLAIN, "no capacity", 16, 8, 0, "capacity"},
    {PLAIN, "a capacity of 10^7", 16, 8, 10000000, "capacity"},
    {PLAIN, "a rate far below its keys'", 24, 8, UINT64_C(0x0010000000000000), "capacity"},
    {PLAIN, "a rate below 0", 24, 8, UINT64_C(0xbeb0c6f7a0b5ed8d), "rate"},
    {PLAIN, "a rate above 1", 24, 8, UINT64_C(0x3ff0000000000001), "rate"},
    {PLAIN, "a rate that is no number", 24, 8, UINT64_C(0x7ff8000000000000), "rate"},
    {PLAIN, "g = 0", 32, 1, 0, "geometry"},
    {PLAIN, "g = 17", 32, 1, 17, "geometry"},
    {PLAIN, "f = 0", 33, 1, 0, "geometry"},
    {PLAIN, "f = 8", 33, 1, 8, "geometry"},
    {PLAIN, "unused 34", 34, 1, 1, "unused"},
    {PLAIN, "unused 39", 39, 1, 1, "unused"},
    {PLAIN, "an offset of no stage", 40, 8, 32768, "unused"},
    {PLAIN, "unused 56", 56, 8, 32, "unused"},
    {PLAIN, "unused 71", 71, 1, 1, "unused"},
    {PLAIN, "pages of a stage, and nothing else of it", 48, 8, 20, "stage"},
    {STAGED, "no pages", 48, 8, 0, "unused"},
    {STAGED, "more pages than may be", 48, 8, SIZING_PAGES_MAX + 1, "size of the stage"},
    {STAGED, "as many pages as may be", 48, 8, SIZING_PAGES_MAX, "offset"},
    {STAGED, "a page more", 48, 8, 21, "offset"},
    {STAGED, "fewer pages than may be", 48, 8, 3, "size of the stage"},
    {STAGED, "no offset", 40, 8, 0, "offset of the stage"},
    {STAGED, "an offset off the page boundary", 40, 1, 1, "offset of the stage"},
    {STAGED, "an offset after the file", 40, 8, UINT64_C(1) << 40, "offset of the stage"},
    {STAGED, "an offset of 2^64 less it", 40, 8, UINT64_MAX - 20 * 4096 + 1, "offset of the stage"},
};
/* clang-format on */

/* Breaks the rule in the header, or in the record of layer `layer` from 1 on. */
static void check_rule(const struct rule *rule, unsigned layer)
{
    struct file file;
    char name[96];
    file_make(&file, rule->kind);
    uint8_t *bytes = layer == 0 ? file.page0
                                : file.page1 + (size_t)(layer - 1) * LAYER_RECORD_BYTES;
    unsigned sum_at = layer == 0 ? CHECKSUM_AT : RECORD_SUM_AT;
    for (unsigned i = 0; i < rule->size; i++)
        bytes[rule->at + i] = (uint8_t)(rule->value >> 8 * i);
    store64(bytes + sum_at, hash_checksum(bytes, sum_at));
    snprintf(name, sizeof name, "kind %d, layer %u: %s", (int)rule->kind, layer, rule->name);
    check_refused(&file, name, rule->says);
}

static void rules(void)
{
    for (size_t i = 0; i < sizeof header_rules / sizeof *header_rules; i++)
        check_rule(&header_rules[i], 0);
    for (size_t i = 0; i < sizeof record_rules / sizeof *record_rules; i++)
        for (unsigned layer = 1; layer < LAYERS; layer++)
            check_rule(&record_rules[i], layer);
}

/* Each number that says how much there is or where, at the edges of what a machine can count. */
static void edges_of_numbers(void)
{
    static const uint64_t edges[] = {UINT64_C(1) << 52, (UINT64_C(1) << 52) + 1,
                                     UINT64_C(1) << 62, (UINT64_C(1) << 63) - 1,
                                     UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
                                     UINT64_MAX - 4095, UINT64_MAX};
    static const unsigned of_header[] = {112, 120, 144, 160},
                          of_record[] = {0, 8, 16, 40, 48, 56, 64};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        for (size_t j = 0; j < sizeof of_header / sizeof *of_header; j++)
            check_rule(&(struct rule){BY_TIME, "an edge", of_header[j], 8, edges[i], "damaged"}, 0);
        for (size_t j = 0; j < sizeof of_record / sizeof *of_record; j++)
            check_rule(&(struct rule){STAGED, "an edge", of_record[j], 8, edges[i], "layer 2: "},
                       2);
    }
}

/* Plants the record anew, after a change. */
static void put_record(struct file *file, unsigned i)
{
    layer_encode(&file->records[i], file->page1 + (size_t)i * LAYER_RECORD_BYTES);
}

/* Layers and stages lie behind each other, whatever their records say for themselves. */
static void order_of_the_layers(void)
{
    struct file file;
    file_make(&file, PLAIN);
    file.records[1].offset = file.records[0].offset + 6 * PAGE_BYTES;
    put_record(&file, 1);
    check_refused(&file, "a layer that begins in the last page of the one before", "offset");
    file_make(&file, PLAIN);
    file.records[0].offset += PAGE_BYTES;
    file.records[0].plan.pages--;
    put_record(&file, 0);
    tap_check(opens_the_same(&file, LAYERS), "a gap before a layer is not legal");
    file_make(&file, STAGED);
    file.records[1].offset = file.records[1].stage_offset + 19 * (uint64_t)PAGE_BYTES;
    put_record(&file, 1);
    check_refused(&file, "a layer that begins in its stage", "layer 2: offset");
    file_make(&file, STAGED);
    file.records[1].stage_offset -= PAGE_BYTES;
    put_record(&file, 1);
    check_refused(&file, "a stage that begins in the layer before", "layer 2: offset of the stage");
    for (enum kind kind = COUNTING; kind != KINDS; kind = kind == COUNTING ? BY_COUNT : KINDS) {
        file_make(&file, kind);
        for (unsigned i = 0; i < LAYERS; i++)
            file.records[i].plan.stage = 20;
        encode(&file);
        check_refused(&file, "a stage in a filter that clears", "layer 1: a stage");
    }
    file_make(&file, PLAIN);
    file.header.plan = (struct filter_plan){.rate = 1e-6, .fixed = true};
    encode(&file);
    check_refused(&file, "fixed, of no size", "fixed flag");
}

static void counts_of_layers(void)
{
    static const uint32_t counts[] = {0,        LAYERS + 1, LAYERS_MAX, LAYERS_MAX + 1,
                                      1U << 31, UINT32_MAX};
    struct file file;
    file_make(&file, PLAIN);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char name[32];
        store32(file.page1 + COUNT_AT, counts[i]);
        snprintf(name, sizeof name, "%u layers", counts[i]);
        check_refused(&file, name, counts[i] - 1 < LAYERS_MAX ? "checksum" : "number of layers");
    }
    file.layers = LAYERS_MAX;
    for (unsigned i = 0; i < LAYERS_MAX; i++)
        file.records[i].plan = file.records[0].plan;
    encode(&file);
    tap_check(opens_the_same(&file, LAYERS_MAX), "48 layers do not open");
}

/* The rest of the file is as long as the header needs, or it is refused before it is mapped. */
static void file_sizes(void)
{
    struct file file;
    struct fault fault;
    file_make(&file, PLAIN);
    const uint64_t whole = file.bytes, fixed = file.header.layers_at;
    const uint64_t small[] = {0, 1, 4096, 14335, 14336, fixed - 1, fixed, whole - 1};
    const uint64_t large[] = {whole, whole + 1, INT64_MAX};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        file.bytes = small[i];
        tap_check(is_refused(&file, &fault), "a file of %" PRIu64 " bytes opens", file.bytes);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        file.bytes = large[i];
        tap_check(opens_the_same(&file, LAYERS), "a file of %" PRIu64 " bytes", file.bytes);
    }
}

/* --- places --- */

/* The slots of all writers lie behind each other and fill the rest of the fixed part. */
static void slots(void)
{
    uint64_t end = FLIGHT_AT;
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
        tap_check(slot_keys_at(slot) == end, "slot %u begins elsewhere", slot);
        end += slot_room(slot) * KEY_BYTES + slot_places(slot) * 4;
    }
    tap_check(end <= fixed_bytes(false) && fixed_bytes(false) == 69632, "it ends elsewhere");
    tap_check(fixed_bytes(true) == 69632 + JOURNAL_BYTES, "the journal");
    tap_check(LAYER_TABLE_AT + LAYERS_MAX * LAYER_RECORD_BYTES <= LAYER_COUNT_AT, "the records");
    tap_check(QUEUE_AT < LAYER_STATES_AT, "the words reach the layers' states");
    tap_check(layer_state_at(LAYERS_MAX) <= SLOTS_AT, "the layers' states reach the slots");
    tap_check(LAYER_EMPTYING + 8 <= LAYER_STATE_BYTES, "a state");
    tap_check(slot_at(SLOTS_MAX) <= FLIGHT_AT, "the slots' records reach their keys");
}

/* Where a layer is put that has so many pages, and a stage of so many. */
static void places(void)
{
    static const struct {
        uint64_t at, stage, pages, stage_offset, offset;
    } cases[] = {
        {12289, 0, 1, 0, 16384},
        {16384, 0, 1, 0, 16384},
        {16384, 0, 8191, 0, 16384},
        {16384, 0, 8192, 0, 2 << 20},
        {2 << 20, 0, 8192, 0, 2 << 20},
        {(2 << 20) + 1, 0, 8192, 0, 4 << 20},
        {12289, 64, 1, 16384, 16384 + 64 * 4096},
        {12289, 64, 8192, 16384, 2 << 20},
        {16384, 8192, 1, 2 << 20, (2 << 20) + (32 << 20)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layer_record record = {.plan = {.pages = cases[i].pages, .stage = cases[i].stage}};
        layer_put(&record, cases[i].at);
        tap_check(record.stage_offset == cases[i].stage_offset && record.offset == cases[i].offset,
                  "case %zu: %" PRIu64 ", %" PRIu64, i, record.stage_offset, record.offset);
        tap_check(layer_end(&record) == cases[i].offset + cases[i].pages * PAGE_BYTES, "its end");
    }
    struct filter_plan plan = {.staged = true};
    uint64_t layer = UINT64_C(144000) * 4096, stage = layer / 8, fold = 2 << 20;
    uint64_t at = fold + (stage + fold - 1) / fold * fold;
    tap_check(header_file_bytes(144000, &plan, 1) == at + layer, "the bytes of a file with stages");
}

int main(void)
{
    tap_run("numbers are little-endian", numbers);
    tap_run("filters of all kinds open as what they were", all_kinds);
    tap_run("headers of all kinds come back", many_headers);
    tap_run("the limits themselves are legal", limits_are_legal);
    tap_run("every bit of both pages, flipped, is refused or harmless", every_bit);
    tap_run("rules of the header and the records, behind a right checksum", rules);
    tap_run("numbers at the edges of what can be counted", edges_of_numbers);
    tap_run("layers lie in order, behind each other", order_of_the_layers);
    tap_run("0, too many, and 48 layers", counts_of_layers);
    tap_run("sizes of the file", file_sizes);
    tap_run("slots of writers", slots);
    tap_run("where layers begin", places);
    return tap_end();
}
