/*
 * The file format: bytes to numbers and back, and each rule that a file must keep.
 *
 * A broken rule is planted behind a checksum that is right, so that it is the rule that refuses,
 * not the checksum; that one is tested by flipping every bit.
 */
#include "format/header.h"

#include "tap.h"

#include <inttypes.h>
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
enum kind {
    PLAIN,
    FIXED,
    BY_TIME,
    BY_COUNT,
    RECIPE,
    EXCEPT,
    MEMBER,
    PATTERNS,
    SECRET,
    PART,
    COUNTING,
    STAGED,
    KINDS
};

static void choose(struct header *header, enum kind kind)
{
    struct filter_plan *plan = &header->plan;
    if (kind == BY_TIME || kind == BY_COUNT) {
        plan->window = true;
        plan->forget = kind == BY_TIME ? 1000 : 0;
    } else if (kind == RECIPE) {
        header->recipe = (struct recipe){.profile = PROFILE_URL,
                                         .version = 2,
                                         .trim = true,
                                         .fold = true,
                                         .separated = true,
                                         .separator = ',',
                                         .ranges = 2,
                                         .range = {{2, 4}, {7, 7}}};
    } else if (kind == EXCEPT) {
        header->recipe = (struct recipe){.syntax = SYNTAX_CSV,
                                         .separated = true,
                                         .separator = '\t',
                                         .names = "\"1\",id",
                                         .except = true};
    } else if (kind == MEMBER) {
        header->recipe = (struct recipe){.syntax = SYNTAX_JSONL, .names = "1"};
    } else if (kind == PATTERNS) {
        header->recipe = (struct recipe){.patterns = "a+\0b"};
    } else if (kind == SECRET) {
        header->hasher = (struct hasher){HASH_SIPHASH, UINT64_C(0x0706050403020100),
                                         UINT64_C(0x0f0e0d0c0b0a0908)};
    } else if (kind == PART) {
        header->shard = (struct shard){3, 8};
    } else {
        plan->geometry.counting = kind == COUNTING;
        plan->fixed = kind == FIXED;
        if (kind == FIXED)
            plan->geometry = (struct geometry){3, 6, false};
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
        .plan = {.rate = 1e-6, .capacity = 1000, .pages = 7},
    };
    for (unsigned i = 0; i < UUID_BYTES; i++)
        file->header.uuid[i] = (uint8_t)(0xa0 + i);
    choose(&file->header, kind);
    file->header.layers_at = metadata_bytes(kind == COUNTING);
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

/* Whether it opens, and as what was encoded. */
static bool opens_the_same(const struct file *file, unsigned layers)
{
    struct header header;
    struct layer_record records[LAYERS_MAX];
    struct fault fault;
    uint8_t page0[HEADER_BYTES], page1[HEADER_BYTES];
    unsigned count = 0;
    if (decode(file, &header, records, &count, &fault) != 0 || count != layers)
        return false;
    header_encode(&header, page0);
    for (unsigned i = 0; i < count; i++)
        layer_encode(&records[i], page1 + (size_t)i * LAYER_RECORD_BYTES);
    return memcmp(page0, file->page0, HEADER_BYTES) == 0 &&
           memcmp(page1, file->page1, (size_t)count * LAYER_RECORD_BYTES) == 0;
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
    const bool earlier = strstr(name, "earlier rules") != NULL;
    if (earlier || strstr(name, "later rules") != NULL)
        tap_check(strstr(fault.way_out, earlier ? "make it again" : "newer version") != NULL,
                  "%s: the way out is \"%s\"", name, fault.way_out);
}

/* --- round trip --- */

static void all_kinds(void)
{
    /* Where unseen(5) says that they are. */
    static const struct {
        enum kind kind;
        unsigned at;
        uint64_t value;
    } places[] = {
        {PLAIN, 0, 0x0a6e6565736e7589},
        {PLAIN, 8, 6},
        {PLAIN, 16, 0},
        {PLAIN, 32, 0xa7a6a5a4a3a2a1a0},
        {PLAIN, 40, 0xafaeadacabaaa9a8},
        {PLAIN, 48, 1700000000},
        {PLAIN, 64, 0x0123456789abcdef},
        {PLAIN, 72, 0},
        {PLAIN, 104, 0x3eb0c6f7a0b5ed8d},
        {PLAIN, 112, 1000},
        {PLAIN, 120, 7},
        {PLAIN, 128, 0},
        {FIXED, 128, 0x01000603},
        {BY_COUNT, 16, 2},
        {BY_COUNT, 160, 0},
        {BY_TIME, 16, 2},
        {BY_TIME, 160, 1000},
        {RECIPE, 256, 0x6c7275},
        {RECIPE, 272, UINT64_C(7) << 32 | 2 << 16 | 2},
        {RECIPE, 280, 2 << 16 | 3 << 8 | ','},
        {RECIPE, 288, UINT64_C(7) << 48 | UINT64_C(7) << 32 | 4 << 16 | 2},
        {EXCEPT, 272, UINT64_C(44) << 32},
        {EXCEPT, 280, 2 << 16 | '\t'},
        {EXCEPT, 384, 0x64692c223122},
        {MEMBER, 272, UINT64_C(16) << 32},
        {MEMBER, 280, 2 << 16},
        {MEMBER, 384, '1'},
        {PATTERNS, 280, 1 << 24},
        {PATTERNS, 1408, UINT64_C(0x62002b61)},
        {SECRET, 16, 4},
        {SECRET, 64, 0x0706050403020100},
        {SECRET, 72, 0x0f0e0d0c0b0a0908},
        {PART, 168, UINT64_C(8) << 32 | 3},
        {COUNTING, 16, 1},
    };
    /* Of the record of layer 2. */
    static const uint64_t record[] = {0x40000, 100, 2000, 0x3e965e9f80f29211, 0x0604, 0x2c000,
                                      20,      0,   0};
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
    file_make(&file, STAGED);
    for (unsigned i = 0; i < 9; i++) {
        uint64_t value = load64(file.page1 + LAYER_RECORD_BYTES + 8 * (size_t)i);
        tap_check(value == record[i], "record, %u: %" PRIx64, 8 * i, value);
    }
}

static void limits_are_legal(void)
{
    static const struct {
        struct filter_plan plan;
        struct shard shard;
        struct recipe recipe;
    } limits[] = {
        {.plan = {.rate = SIZING_RATE_MIN, .capacity = SIZING_KEYS_MAX, .pages = SIZING_PAGES_MAX}},
        {.plan = {SIZING_RATE_MAX, 1, .geometry = {BLOCKS_MAX, FIELDS_MAX, false}, .fixed = true}},
        {.plan = {SIZING_RATE_MAX, 1, .geometry = {1, 1, false}, .window = true}},
        {.plan = {1e-6, 1, .geometry = {1, 1, false}, .fixed = true}},
        {.plan = {1e-6, 1, .window = true}},
        {.plan = {1e-6, 1, .window = true, .forget = FORGET_MAX}},
        {.plan = {1e-6, 0, .window = true, .forget = 1}},
        {.plan = {.rate = 1e-6}, .shard = {SHARDS_MAX, SHARDS_MAX}},
        {.plan = {.rate = 1e-6},
         .recipe = {.ranges = 16,
                    .range = {{1, 1},
                              {3, 3},
                              {5, 5},
                              {7, 7},
                              {9, 9},
                              {11, 11},
                              {13, 13},
                              {15, 15},
                              {17, 17},
                              {19, 19},
                              {21, 21},
                              {23, 23},
                              {25, 25},
                              {27, 27},
                              {29, 29},
                              {65535, 0}}}},
        {.plan = {.rate = 1e-6},
         .recipe = {.profile = PROFILE_ENDPOINT,
                    .version = 2,
                    .separated = true,
                    .ranges = 1,
                    .range = {{1, 65535}}}},
        {.plan = {.rate = 1e-6}, .recipe = {.syntax = SYNTAX_CSV, .separated = true}},
        {.plan = {.rate = 1e-6}, .recipe = {.separated = true, .names = "b,a"}},
        {.plan = {.rate = 1e-6}, .recipe = {.separated = true, .names = "b", .except = true}},
        {.plan = {.rate = 1e-6}, .recipe = {.syntax = SYNTAX_JSONL, .names = "\"a,b\",/c~1d"}},
        {.plan = {.rate = 1e-6},
         .recipe = {.syntax = SYNTAX_CSV,
                    .separated = true,
                    .separator = ';',
                    .except = true,
                    .names = "\"!\",\"2\",a,b,c,d,e,f,g,h,i,j,k,l,m,\"n,\"\"\""}},
        {.plan = {.rate = 1e-6},
         .recipe = {.patterns = "a\0a\0\xff\0\n\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p"}},
        {.plan = {.rate = 1e-6}, .recipe = {.syntax = SYNTAX_JSONL, .names = "a", .patterns = "1"}},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct file file;
        file_make(&file, PLAIN);
        file.header.plan = limits[i].plan;
        file.header.shard = limits[i].shard;
        file.header.recipe = limits[i].recipe;
        encode(&file);
        tap_check(opens_the_same(&file, LAYERS), "limits %zu", i);
    }
}

/* Recipes that no options make. */
static void recipes_are_refused(void)
{
    static const struct recipe recipes[] = {
        {.names = "id"},
        {.except = true},
        {.separated = true, .separator = ','},
        {.separator = ',', .ranges = 1, .range = {{1, 1}}},
        {.separated = true, .separator = ',', .ranges = 1, .range = {{1, 1}}, .except = true},
        {.separated = true, .separator = ',', .ranges = 1, .range = {{1, 1}}, .names = "id"},
        {.separated = true, .separator = ',', .names = "!id"},
        {.separated = true, .separator = ',', .names = "2-"},
        {.separated = true, .separator = ',', .names = "b,a", .except = true},
        {.syntax = SYNTAX_CSV},
        {.syntax = SYNTAX_CSV, .separated = true, .separator = '"'},
        {.syntax = SYNTAX_CSV, .separated = true, .separator = ',', .except = true},
        {.syntax = SYNTAX_JSONL},
        {.syntax = SYNTAX_JSONL, .names = "id", .except = true},
        {.syntax = SYNTAX_JSONL, .names = "id", .separated = true},
        {.syntax = SYNTAX_JSONL, .names = "id", .ranges = 1, .range = {{1, 1}}},
        {.syntax = SYNTAX_JSONL, .names = "/~2"},
        {.syntax = SYNTAX_JSONL, .names = "\"/a,~\""},
        {.patterns = "a\0("},
        {.patterns = "a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0q"},
    };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct file file;
        char name[32];
        file_make(&file, PLAIN);
        file.header.recipe = recipes[i];
        encode(&file);
        snprintf(name, sizeof name, "recipe %zu", i);
        check_refused(&file, name, "key options");
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
    /* With 7, still one or two of each byte. */
    for (unsigned bit = 0; bit < 2 * HEADER_BYTES * 8; bit += tap_brief() ? 7 : 1) {
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
    {PLAIN, "version 0", 8, 4, 0, "older version"},
    {PLAIN, "version 5", 8, 4, 5, "older version"},
    {PLAIN, "version 7", 8, 4, 7, "version 7; this program supports 6"},
    {PLAIN, "version, high byte", 11, 1, 1, "version"},
    {PLAIN, "an unknown feature", 16, 8, 8, "features"},
    {PLAIN, "the last feature", 16, 8, UINT64_C(1) << 63, "features"},
    {PLAIN, "counting, and no journal before the layers", 16, 8, 1, "layer 1: invalid offset"},
    {PLAIN, "a byte behind the seed", 72, 1, 1, "unused"},
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
    {FIXED, "g without f", 129, 1, 0, "geometry"},
    {FIXED, "f without g", 128, 1, 0, "geometry"},
    {FIXED, "hashes, and it may grow", 131, 1, 0, "has --hashes and may grow"},
    {BY_TIME, "hashes in a window that grows", 128, 2, 0x0603, "has --hashes and may grow"},
    {PLAIN, "fixed = 2", 131, 1, 2, "fixed flag"},
    {PLAIN, "a time without a window", 160, 1, 1, "unused"},
    {PLAIN, "after the ranges", 383, 1, 1, "unused"},
    {PLAIN, "a shard of none", 168, 4, 1, "unused"},
    {PLAIN, "a number of shards, and no shard", 172, 4, 2, "shard"},

    {BY_TIME, "more than 300 years", 160, 8, FORGET_MAX + 1, "window"},
    {BY_TIME, "as if it were none", 16, 1, 0, "unused"},
    {BY_COUNT, "of no lines", 112, 8, 0, "window"},
    {BY_COUNT, "fixed", 131, 1, 1, "window"},
    {BY_COUNT, "counting", 16, 1, 3, "window"},

    /* Fields 2-4 and 7, separated, by url/2. */
    {RECIPE, "another profile", 256, 4, 0x74727573, "with the rules surt/2, which this"},
    {RECIPE, "a name of 16 letters", 256, 8, UINT64_C(0x6161616161616161), "the rules aaaaaaaa/2"},
    {RECIPE, "an earlier version", 272, 2, 1, "made with the rules url/1, which this program does"},
    {RECIPE, "a later version", 272, 2, 3, "made with the rules url/3, which this program does"},
    {RECIPE, "version 0", 272, 2, 0, "key options"},
    {RECIPE, "a version of the line", 256, 4, 0, "key options"},
    {RECIPE, "a name that cannot be shown", 256, 1, 27, "key options"},
    {RECIPE, "something after the name", 271, 1, 'x', "key options"},
    {RECIPE, "17 ranges", 274, 2, 17, "key options"},
    {RECIPE, "more ranges than there are", 274, 2, 3, "key options"},
    {RECIPE, "fewer ranges than there are", 274, 2, 1, "unused"},
    {RECIPE, "a separator without fields", 274, 2, 0, "key options"},
    {RECIPE, "an unknown flag", 276, 4, 7 | 64, "key options"},
    {RECIPE, "no names, and all but these", 276, 4, 7 | 32, "key options"},
    {RECIPE, "CSV and JSON", 276, 4, 7 | 8 | 16, "key options"},
    {RECIPE, "CSV without a separator", 276, 4, 3 | 8, "key options"},
    {RECIPE, "ranges and names", 384, 1, 'a', "key options"},
    {RECIPE, "after no names", 400, 1, 'a', "key options"},
    {RECIPE, "earlier rules of fields", 282, 1, 1, "made with the rules fields/1"},
    {RECIPE, "later rules of fields", 282, 1, 3, "made with the rules fields/3"},
    {RECIPE, "no rules of fields", 282, 1, 0, "key options"},
    {PLAIN, "rules of fields, and none are chosen", 282, 1, 2, "key options"},
    {PLAIN, "rules of trimming, and no flag for it", 281, 1, 3, "key options"},
    {RECIPE, "trimming by earlier rules", 281, 1, 2, "made with the rules trim/2"},
    {RECIPE, "trimming by later rules", 281, 1, 4, "made with the rules trim/4"},
    {PLAIN, "rules of patterns, and none are given", 283, 1, 1, "key options"},
    {RECIPE, "later rules of patterns", 283, 1, 2, "made with the rules without/2"},
    {PLAIN, "a pattern, and no rules", 1408, 1, 'a', "key options"},
    {PLAIN, "a pattern's last byte", 2431, 1, 'a', "key options"},
    {PATTERNS, "no rules of patterns", 283, 1, 0, "key options"},
    {PATTERNS, "later rules of patterns", 283, 1, 255, "made with the rules without/255"},
    {PATTERNS, "an empty pattern", 1408, 1, 0, "key options"},
    {PATTERNS, "another empty one", 1409, 1, 0, "key options"},
    {PLAIN, "after the patterns", 2432, 1, 1, "unused"},
    {RECIPE, "a separator, and no flag for it", 276, 4, 0, "key options"},
    {RECIPE, "after the versions", 284, 1, 1, "unused"},
    {RECIPE, "before the ranges", 287, 1, 1, "unused"},
    {RECIPE, "field 0", 288, 2, 0, "key options"},
    {RECIPE, "a range that ends before it begins", 290, 2, 1, "key options"},
    {RECIPE, "the rest of the line, and more", 290, 2, 0, "key options"},
    {RECIPE, "ranges that overlap", 292, 2, 4, "key options"},
    {RECIPE, "ranges that touch", 292, 2, 5, "key options"},
    {RECIPE, "after the last range", 296, 1, 1, "unused"},
    {RECIPE, "the last range", 288 + 15 * 4, 2, 9, "unused"},
    /* CSV: all columns but "1" and id, separated by TAB. */
    {EXCEPT, "earlier rules", 282, 1, 1, "made with the rules csv/1"},
    {EXCEPT, "later rules", 282, 1, 3, "made with the rules csv/3"},
    {EXCEPT, "all but no columns", 384, 8, 0, "key options"},
    {EXCEPT, "a name of digits, not in quotes", 384, 8, UINT64_C(0x64692c31), "key options"},
    {EXCEPT, "quotes that are not needed", 384, 8, UINT64_C(0x64692c226122), "key options"},
    {EXCEPT, "a name that is not closed", 386, 1, 'x', "key options"},
    {EXCEPT, "bytes after a name in quotes", 387, 1, 'x', "key options"},
    {EXCEPT, "a name without bytes", 388, 2, 0, "key options"},
    {EXCEPT, "names in another order", 384, 8, UINT64_C(0x2231222c6469), "key options"},
    {EXCEPT, "a name twice", 384, 8, UINT64_C(0x64692c6469), "key options"},
    {EXCEPT, "a byte after the names", 391, 1, 'x', "key options"},
    {EXCEPT, "the last byte for names", 1407, 1, 'x', "key options"},
    {MEMBER, "a name of digits in quotes", 384, 8, UINT64_C(0x223122), "key options"},
    {MEMBER, "earlier rules", 282, 1, 1, "made with the rules jsonl/1"},
    {MEMBER, "no rules", 282, 1, 0, "key options"},
    {MEMBER, "later rules", 282, 1, 3, "made with the rules jsonl/3"},
    {SECRET, "after the secret", 80, 1, 1, "unused"},
    /* Part 3 of 8. */
    {PART, "shard 0", 168, 4, 0, "shard"},
    {PART, "shard 9 of 8", 168, 4, 9, "shard"},
    {PART, "of no shards", 172, 4, 0, "unused"},
    {PART, "of more shards than may be", 172, 4, SHARDS_MAX + 1, "shard"},
};

/* The same for a layer's record. A stage has 20 pages. */
static const struct rule record_rules[] = {
    {PLAIN, "offset 0", 0, 8, 0, "offset"},
    {PLAIN, "an offset inside the metadata", 0, 8, 8192, "offset"},
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
    {PLAIN, "an offset of no stage", 40, 8, 32768, "unused"},
    {PLAIN, "pages of a stage, and nothing else of it", 48, 8, 20, "staging area"},
    {STAGED, "no pages", 48, 8, 0, "unused"},
    {STAGED, "more pages than may be", 48, 8, SIZING_PAGES_MAX + 1, "size of the staging area"},
    {STAGED, "as many pages as may be", 48, 8, SIZING_PAGES_MAX, "offset"},
    {STAGED, "a page more", 48, 8, 21, "offset"},
    {STAGED, "fewer pages than may be", 48, 8, 3, "size of the staging area"},
    {STAGED, "no offset", 40, 8, 0, "offset of the staging area"},
    {STAGED, "an offset off the page boundary", 40, 1, 1, "offset of the staging area"},
    {STAGED, "an offset after the file", 40, 8, UINT64_C(1) << 40, "offset of the staging area"},
    {STAGED, "an offset of 2^64 less it", 40, 8, UINT64_MAX - 20 * 4096 + 1, "staging area"},
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

/* Behind the last pattern and its zero another may begin; behind that there are zeros. */
static void bytes_after_patterns(void)
{
    enum { FIRST = 1408, USED = sizeof "a+\0b" };
    for (unsigned at = USED + 1; at < RECIPE_PATTERNS_ROOM; at++)
        check_rule(&(struct rule){PATTERNS, "after", FIRST + at, 1, 'x', "key options"}, 0);
}

/* Bytes without a name are zero, in the header and in a record. */
static void unused_bytes(void)
{
    static const struct {
        unsigned at, end;
    } named[2][9] = {{{0, 12},
                      {16, 24},
                      {32, 56},
                      {64, 80},
                      {104, 130},
                      {131, 132},
                      {160, 176},
                      {256, 2560},
                      {CHECKSUM_AT, HEADER_BYTES}},
                     {{0, 34}, {40, 56}, {RECORD_SUM_AT, LAYER_RECORD_BYTES}}};
    for (unsigned layer = 0; layer < 2; layer++)
        for (unsigned at = 0, i = 0; i < (layer == 0 ? 9 : 3); at = named[layer][i++].end)
            for (; at < named[layer][i].at; at++)
                check_rule(&(struct rule){STAGED, "unused", at, 1, 0x80, "unused"}, layer);
}

static void rules(void)
{
    for (size_t i = 0; i < sizeof header_rules / sizeof *header_rules; i++)
        check_rule(&header_rules[i], 0);
    for (size_t i = 0; i < sizeof record_rules / sizeof *record_rules; i++)
        for (unsigned layer = 1; layer < LAYERS; layer++)
            check_rule(&record_rules[i], layer);
}

/* Layers and stages lie behind each other, whatever their records say for themselves. */
static void order_of_the_layers(void)
{
    static const struct rule of_layer_2[] = {
        {PLAIN, "in the last page of the layer before", 0, 8, 0x17000, "layer 2: invalid offset"},
        {STAGED, "in its stage", 0, 8, 0x3f000, "layer 2: invalid offset"},
        {STAGED, "a stage in the layer before", 40, 8, 0x2b000, "offset of the staging area"},
    };
    static const enum kind that_clear[] = {COUNTING, BY_TIME, BY_COUNT};
    struct file file;
    for (size_t i = 0; i < sizeof of_layer_2 / sizeof *of_layer_2; i++)
        check_rule(&of_layer_2[i], 2);
    for (size_t i = 0; i < sizeof that_clear / sizeof *that_clear; i++) {
        file_make(&file, that_clear[i]);
        file.records[0].plan.stage = 20;
        encode(&file);
        check_refused(&file, "a stage in a filter that clears", "layer 1: staging area");
    }
    file_make(&file, PLAIN);
    file.records[0].offset += PAGE_BYTES;
    file.records[0].plan.pages--;
    layer_encode(&file.records[0], file.page1);
    tap_check(opens_the_same(&file, LAYERS), "a gap before a layer is not legal");
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
}

int main(void)
{
    tap_run("filters of all kinds open as what they were", all_kinds);
    tap_run("the limits themselves are legal", limits_are_legal);
    tap_run("recipes that no options make", recipes_are_refused);
    tap_run("every bit of both pages, flipped, is refused or harmless", every_bit);
    tap_run("rules of the header and the records, behind a right checksum", rules);
    tap_run("after patterns are zeros", bytes_after_patterns);
    tap_run("bytes without a name are zero", unused_bytes);
    tap_run("layers lie in order, behind each other", order_of_the_layers);
    tap_run("0, too many, and 48 layers", counts_of_layers);
    tap_run("sizes of the file", file_sizes);
    tap_run("where layers begin", places);
    return tap_end();
}
