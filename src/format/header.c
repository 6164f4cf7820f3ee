/*
 * header - the filter file, format version 1.
 *
 * All numbers are unsigned, little-endian, at fixed offsets, whatever machine wrote them; a double
 * is its IEEE 754 bits in 64 of them. A page is 4096 bytes. Bytes named nowhere below are zero.
 *
 * Page 0, the header: written once, when the file is made.
 *
 *   offset size meaning
 *        0    8  magic: 89 75 6e 73 65 65 6e 0a  ("unseen" between a byte that is no text and LF)
 *        8    4  format version: 1
 *       12    4  bytes of this header: 4096
 *       16    8  features without which the file cannot be used: 1 counting, or 2 a window. A
 *                reader that finds a bit it does not know refuses the file.
 *       24    8  features that a reader may ignore, but a writer must know: 1 a queue (state.c)
 *       32   16  UUID of the filter, random (RFC 4122 version 4)
 *       48    8  time of creation, seconds since 1970-01-01 UTC, two's complement
 *       56    4  hash: 1 = XXH3, 128-bit variant, of the key's bytes
 *       60    4  bytes of the hash's key: 8, the seed
 *       64   32  the hash's key: the seed, then zeros
 *       96    8  p, the false-positive rate asked for, a double
 *      104    8  n, the capacity asked for, in keys; 0 if the filter was to grow from small
 *      112    8  size asked for, in pages of each first layer; 0 if it followed from n and p
 *      120    1  lines a key asked for (g); 0 if it followed from p
 *      121    1  fields a line asked for (f); 0 likewise
 *      122    1  bits a cell: 1, or 4 with the feature counting
 *      123    1  1 if the filter never grows, else 0
 *      124    4  zero
 *      128    8  which values were given by name: 1 n, 2 p, 4 size, 8 bits a key, 16 hashes,
 *                32 seed, 64 fixed, 128 window, 256 forget-after, 512 slack, 1024 counting,
 *                2048 stage
 *      136    8  flight keys: a power of two, 32..4096; see below
 *      144    8  bytes of the fixed part; no layer begins before
 *      152   40  key recipe: zeros, the key is the whole line
 *      192    4  generations of a window, G, 1..47; 0 if it is none
 *      196    4  zero
 *      200    8  a window by time: after how many milliseconds lines are forgotten; 0: after n lines
 *      208    8  slack asked for, a double
 *      216    8  pages for a stage before each layer; 0: there is none
 *     4088    8  checksum: XXH3, 64-bit variant, seed 0, of bytes 0..4087
 *
 * Page 1, the layers: a record is written, then the count.
 *
 *     4096 48*64 layer records, oldest first
 *     8128     4 count of layers: records from there on mean nothing
 *
 *   a record:
 *        0    8  offset of the layer in the file
 *        8    8  pages
 *       16    8  capacity in keys
 *       24    8  the rate it may contribute, a double
 *       32    1  lines a key (g), 1..16
 *       33    1  fields a line (f), 1..7
 *       34    1  bits a cell: as in the header
 *       35    5  zero
 *       40    8  of a stage: pages of its journal, which lies right behind its own; else 0
 *       48    8  zero
 *       56    8  checksum: XXH3, 64-bit variant, seed 0, of the record's bytes 0..55
 *
 * A stage is a layer in which keys gather, to be set in the next layer together (stage.c). Its
 * journal has those keys, as many as its counter says: 16 bytes each, lo then hi. They are believed
 * as bits are.
 *
 * Page 2, counters and slots: changes all the time and is under no checksum. Nothing in it is
 * believed: wrong counters make the filter grow late or early, no more, and a writer mends those that
 * are far behind the bits.
 *
 *     8192    8  number of times that keys in flight were settled
 *     8256  48*8 keys in each layer
 *     8640  48*8 of a window by time: when keys were settled in each layer last, with the top
 *                bit set if the clock was behind what had been written before
 *     9024    8  how often a stage was emptied into the layer behind it
 *     9032    8  while one is: the number of its layer, from 1 on; else 0
 *     9040    8  while keys are added to a stage: how many its journal had before, and 1; else 0
 *     9048    8  while they are: the number of that layer, from 0 on
 *     9216 128*16 slots of writers:
 *        0    4  keys in flight in this file
 *        4    4  1 if the writer has more keys in flight, in the file FILTER.flight-SLOT, else 0
 *        8    8  a number that is another one for each such file
 *
 *    11264 48*16 of a window, for each layer:
 *        0    8  number of the generation in it: the largest one is filling, smaller ones are older;
 *                0: none, the layer is empty; all ones: it is being emptied
 *        8    8  when the generation began
 *
 * These times are milliseconds since 1970-01-01 UTC, none less than any that was written before. One
 * above 10^13 is none.
 *
 * From 12288, the keys in flight, 16 bytes each, lo then hi: slot 0 has room for half of the flight
 * keys, each further one for half of the one before, but at least 8. A slot counts only while its
 * owner holds a lock on byte 2^62 + 1 + slot of the file (an open-file-description lock; there are no
 * bytes so far behind the end). Byte 2^62 is the lock for bits, counters and slots; byte 2^62 + 4096
 * the one for layer records and their count.
 *
 * In a counting filter the last page of the fixed part is the journal: what a remove is changing, as
 * it was before, so that a remove that is killed can be undone (removal.c). Under no checksum
 * and not believed: it is used only if the layer is what it tells of.
 *
 *        0    4  1 if it means something, else 0
 *        4    4  layer, from 0
 *        8   16  the key that is being removed, lo then hi
 *       64 g*64  the key's lines as they were
 *
 * Then the layers: arrays of pages, in which bit b is byte b/8, mask 1 << (b%8); geometry.h says
 * which bits a key has. In a counting layer cell c of a line, from 0 to 127, is the low nibble of
 * byte c/2 if c is even, else the high one; a key that is in raised each of its cells by one, up to
 * 15. Layers of 32 MB and more begin at a multiple of 2 MB, so that what is always written shares no
 * large folio of the page cache with them.
 *
 * A file is valid if and only if
 *
 *    1. it has at least the 12288 bytes before the flight, and all of the fixed part;
 *    2. magic, version and header bytes are as above, and no unknown bit is set among the features
 *       at 16, nor for a writer among those at 24;
 *    3. the header's checksum is right;
 *    4. the hash is known, its key has 8 bytes, and cells have 4 bits if the feature counting is
 *       set, else 1;
 *    5. p is in 1e-12..0.5 (not a NaN); n is at most 10^12; size at most 2^38 pages; g at most 16
 *       and f at most 7, both zero or neither; the flag is 0, or 1 and n or size is
 *       not 0; the given values are known ones;
 *    6. flight keys are a power of two within 32..4096, and the fixed part is 12288 plus the flight
 *       region, rounded up to whole pages, plus a page if the feature counting is set;
 *    7. the key recipe and the unnamed bytes of the header are zero;
 *       a window has its feature bit, does not count and is not fixed, G is within 1..47, the slack within 0..1, and
 *       it has a time of at most 10^13 milliseconds, or else n; what is no window has zeros there;
 *       the pages for a stage are at most 2^38, and zero in a window or a counting filter;
 *    8. the count of layers is within 1..48, in a window at least G + 1, and without a time just that;
 *    9. for each layer below the count: the record's checksum is right; g and f are within 1..16 and
 *       1..7; pages within 1..2^38; capacity at least 1; the rate within 0..1; cells are as in the
 *       header; the unnamed bytes are zero; a stage has a capacity of at least 8192, for which its
 *       journal has room, the layer behind it is none, and neither is in a counting filter or a window;
 *   10. the capacity of a layer is 1, or its pages can hold it: with x = capacity / pages * g/64 *
 *       (1 - (1 - 1/c)^f), c being 512, or 128 in a counting filter, x is at most 12, and
 *       (1 - 1/(1 + x + x^2/2 + x^3/6))^(g*f) at most 1.5 times the rate;
 *   11. each layer begins on a page boundary, behind the end of the one before it (the first:
 *       behind the fixed part), and ends within the file.
 *
 * Bytes behind the last layer are legal: they are left by a writer killed while it was growing.
 */
#include "format/header.h"

#include <inttypes.h>
#include <string.h>

static const uint8_t magic[8] = {0x89, 'u', 'n', 's', 'e', 'e', 'n', '\n'};

static double load_double(const uint8_t *bytes)
{
    uint64_t raw = load64(bytes);
    double value;
    memcpy(&value, &raw, sizeof value);
    return value;
}

static void store_double(uint8_t *bytes, double value)
{
    uint64_t raw;
    memcpy(&raw, &value, sizeof raw);
    store64(bytes, raw);
}

void header_encode(const struct header *header, uint8_t bytes[HEADER_BYTES])
{
    memset(bytes, 0, HEADER_BYTES);
    memcpy(bytes, magic, sizeof magic);
    store32(bytes + 8, HEADER_VERSION);
    store32(bytes + 12, HEADER_BYTES);
    bool window = header->plan.generations != 0;
    store64(bytes + 16, (header->plan.geometry.counting ? (uint64_t)FEATURE_COUNTING : 0) |
                            (window ? (uint64_t)FEATURE_WINDOW : 0));
    store64(bytes + 24, header->writer_features);
    memcpy(bytes + 32, header->uuid, UUID_BYTES);
    store64(bytes + 48, (uint64_t)header->created);
    store32(bytes + 56, HASH_XXH3_128);
    store32(bytes + 60, SEED_BYTES);
    store64(bytes + 64, header->seed);
    store_double(bytes + 96, header->plan.rate);
    store64(bytes + 104, header->plan.capacity);
    store64(bytes + 112, header->plan.pages);
    bytes[120] = header->plan.geometry.lines;
    bytes[121] = header->plan.geometry.fields;
    bytes[122] = (uint8_t)geometry_cell_bits(header->plan.geometry);
    bytes[123] = header->plan.fixed;
    store64(bytes + 128, header->asked);
    store64(bytes + 136, header->flight_keys);
    store64(bytes + 144, header->layers_at);
    if (header->plan.generations != 0) {
        store32(bytes + 192, header->plan.generations);
        store64(bytes + 200, header->plan.forget);
        store_double(bytes + 208, header->plan.slack);
    }
    store64(bytes + 216, header->plan.stage);
    store64(bytes + HEADER_BYTES - 8, hash_checksum(bytes, HEADER_BYTES - 8));
}

void layer_encode(const struct layer_record *record, uint8_t bytes[LAYER_RECORD_BYTES])
{
    memset(bytes, 0, LAYER_RECORD_BYTES);
    store64(bytes, record->offset);
    store64(bytes + 8, record->plan.pages);
    store64(bytes + 16, record->plan.capacity);
    store_double(bytes + 24, record->plan.rate);
    bytes[32] = record->plan.geometry.lines;
    bytes[33] = record->plan.geometry.fields;
    bytes[34] = (uint8_t)geometry_cell_bits(record->plan.geometry);
    store64(bytes + 40, record->plan.journal);
    store64(bytes + LAYER_RECORD_BYTES - 8, hash_checksum(bytes, LAYER_RECORD_BYTES - 8));
}

int header_is_filter(const uint8_t *bytes)
{
    return memcmp(bytes, magic, sizeof magic) == 0;
}

static bool all_zero(const uint8_t *bytes, size_t from, size_t to)
{
    /* The first is zero, and each is as the one before. */
    return bytes[from] == 0 && memcmp(bytes + from, bytes + from + 1, to - from - 1) == 0;
}

static const char *window_flaw(const uint8_t *bytes)
{
    uint32_t generations = load32(bytes + 192);
    uint64_t forget = load64(bytes + 200);
    double slack = load_double(bytes + 208);
    if ((load64(bytes + 16) & FEATURE_WINDOW) == 0)
        return all_zero(bytes, 192, 216) ? NULL : "unused bytes of the header";
    bool bounded = forget != 0 ? forget <= FORGET_MAX : load64(bytes + 104) != 0;
    if (generations < 1 || generations > GENERATIONS_MAX || !bounded || bytes[123] != 0 ||
        (load64(bytes + 16) & FEATURE_COUNTING) != 0 || !(slack > 0 && slack <= 1))
        return "window";
    return NULL;
}

/* What makes a header invalid, or NULL. Rules 2 to 7 of the specification. */
static const char *header_flaw(const uint8_t *bytes)
{
    bool counting = (load64(bytes + 16) & FEATURE_COUNTING) != 0;
    if (load32(bytes + 12) != HEADER_BYTES)
        return "header size";
    if (hash_checksum(bytes, HEADER_BYTES - 8) != load64(bytes + HEADER_BYTES - 8))
        return "checksum of the header";
    if (load32(bytes + 60) != SEED_BYTES || !all_zero(bytes, 72, 96))
        return "hash key";
    double rate = load_double(bytes + 96);
    if (!(rate >= SIZING_RATE_MIN && rate <= SIZING_RATE_MAX))
        return "error rate";
    if (load64(bytes + 104) > SIZING_KEYS_MAX)
        return "capacity";
    if (load64(bytes + 112) > SIZING_PAGES_MAX)
        return "size";
    if (bytes[120] > LINES_MAX || bytes[121] > FIELDS_MAX || !bytes[120] != !bytes[121])
        return "geometry";
    if (bytes[122] != geometry_cell_bits((struct geometry){.counting = counting}))
        return "cell width";
    if (bytes[123] > 1 || (bytes[123] != 0 && load64(bytes + 104) == 0 && load64(bytes + 112) == 0))
        return "fixed flag";
    if (load64(bytes + 128) & ~(uint64_t)ASKED_ALL)
        return "list of given values";
    uint64_t keys = load64(bytes + 136);
    if (keys < FLIGHT_KEYS_MIN || keys > FLIGHT_KEYS_MAX || (keys & (keys - 1)) != 0)
        return "flight keys";
    if (load64(bytes + 144) != fixed_bytes(keys, counting))
        return "size of the fixed part";
    if (!all_zero(bytes, 124, 128) || !all_zero(bytes, 152, 192) || !all_zero(bytes, 196, 200) ||
        !all_zero(bytes, 224, HEADER_BYTES - 8))
        return "unused bytes of the header";
    uint64_t stage = load64(bytes + 216);
    if (stage > (load64(bytes + 16) == 0 ? SIZING_PAGES_MAX : 0))
        return "stage";
    return window_flaw(bytes);
}

int header_decode(const uint8_t bytes[HEADER_BYTES], uint64_t file_bytes, const char *path,
                  struct header *header, struct fault *fault)
{
    if (!header_is_filter(bytes))
        return fault_set(fault, path, "not a filter");
    uint32_t version = load32(bytes + 8);
    if (version != HEADER_VERSION) {
        fault_set(fault, path, "filter format version %" PRIu32 ", and this program knows 1",
                  version);
        return fault_way_out(fault, "use a newer unseen");
    }
    uint64_t features = load64(bytes + 16);
    if ((features & ~(uint64_t)FEATURES_KNOWN) != 0) {
        fault_set(fault, path, "needs features that this program does not know (0x%" PRIx64 ")",
                  features & ~(uint64_t)FEATURES_KNOWN);
        return fault_way_out(fault, "use a newer unseen");
    }
    uint32_t hash = load32(bytes + 56);
    const char *flaw = header_flaw(bytes);
    if (flaw == NULL && hash != HASH_XXH3_128)
        flaw = "hash";
    if (flaw == NULL && load64(bytes + 144) > file_bytes)
        flaw = "size of the file";
    if (flaw != NULL) {
        fault_set(fault, path, "damaged filter: %s", flaw);
        return fault_way_out(fault, "restore it from a copy, or make a new one");
    }
    memcpy(header->uuid, bytes + 32, UUID_BYTES);
    header->created = (int64_t)load64(bytes + 48);
    header->seed = load64(bytes + 64);
    header->writer_features = load64(bytes + 24);
    header->plan = (struct filter_plan){
        .rate = load_double(bytes + 96),
        .capacity = load64(bytes + 104),
        .pages = load64(bytes + 112),
        .geometry = {bytes[120], bytes[121], (features & FEATURE_COUNTING) != 0},
        .fixed = bytes[123],
        .generations = load32(bytes + 192),
        .forget = load64(bytes + 200),
        .slack = load_double(bytes + 208),
        .stage = load64(bytes + 216),
    };
    header->asked = load64(bytes + 128);
    header->flight_keys = load64(bytes + 136);
    header->layers_at = load64(bytes + 144);
    return 0;
}

/* What makes a layer record invalid, or NULL; *end is where the layer before it ended. Rules 9 to
 * 11. No sum overflows: pages are at most 2^38. */
static const char *layer_flaw(const uint8_t *bytes, struct geometry asked, uint64_t file_bytes,
                              uint64_t *end)
{
    if (hash_checksum(bytes, LAYER_RECORD_BYTES - 8) != load64(bytes + LAYER_RECORD_BYTES - 8))
        return "checksum";
    uint64_t offset = load64(bytes);
    uint64_t pages = load64(bytes + 8);
    double rate = load_double(bytes + 24);
    if (pages < 1 || pages > SIZING_PAGES_MAX)
        return "size";
    if (load64(bytes + 16) < 1)
        return "capacity";
    if (!(rate >= 0 && rate <= 1))
        return "rate";
    if (bytes[32] < 1 || bytes[32] > LINES_MAX || bytes[33] < 1 || bytes[33] > FIELDS_MAX)
        return "geometry";
    if (bytes[34] != geometry_cell_bits(asked))
        return "cell width";
    if (!all_zero(bytes, 35, 40) || !all_zero(bytes, 48, LAYER_RECORD_BYTES - 8))
        return "unused bytes";
    uint64_t journal = load64(bytes + 40);
    uint64_t capacity = load64(bytes + 16);
    if (journal > SIZING_PAGES_MAX ||
        (journal != 0 &&
         (capacity < STAGE_KEYS_MIN || capacity > journal * (PAGE_BYTES / KEY_BYTES))))
        return "journal";
    struct geometry geometry = {bytes[32], bytes[33], asked.counting};
    if (!sizing_may_hold(geometry, pages, capacity, rate))
        return "capacity";
    if (offset % PAGE_BYTES != 0 || offset < *end)
        return "offset";
    if (offset > file_bytes || (pages + journal) * PAGE_BYTES > file_bytes - offset)
        return "end, which is behind the end of the file";
    *end = offset + (pages + journal) * PAGE_BYTES;
    return NULL;
}

/* Each stage needs a layer behind it, and a filter that has any. */
static bool is_stage_misplaced(const struct header *header, const struct layer_record *records,
                               unsigned i, unsigned count)
{
    if (records[i].plan.journal == 0)
        return false;
    return header->plan.geometry.counting || header->plan.generations != 0 || i + 1 == count ||
           records[i + 1].plan.journal != 0;
}

/* layer: from 1 on; 0: none of them. */
static int damaged_layer(struct fault *fault, const char *path, unsigned layer, const char *flaw)
{
    if (layer == 0)
        fault_set(fault, path, "damaged filter: %s", flaw);
    else
        fault_set(fault, path, "damaged filter: layer %u: %s", layer, flaw);
    return fault_way_out(fault, "restore it from a copy, or make a new one");
}

int layers_decode(const uint8_t page[HEADER_BYTES], const struct header *header,
                  uint64_t file_bytes, const char *path, struct layer_record records[LAYERS_MAX],
                  unsigned *count, struct fault *fault)
{
    uint32_t n = load32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT));
    unsigned least = growth_first_layers(&header->plan);
    bool grows = header->plan.generations == 0 || header->plan.forget != 0;
    if (n < least || n > (grows ? (unsigned)LAYERS_MAX : least))
        return damaged_layer(fault, path, 0, "number of layers");
    uint64_t end = header->layers_at;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *bytes = page + (size_t)i * LAYER_RECORD_BYTES;
        const char *flaw = layer_flaw(bytes, header->plan.geometry, file_bytes, &end);
        if (flaw != NULL)
            return damaged_layer(fault, path, i + 1, flaw);
        records[i] = (struct layer_record){
            .plan =
                {
                    .pages = load64(bytes + 8),
                    .capacity = load64(bytes + 16),
                    .rate = load_double(bytes + 24),
                    .geometry = {bytes[32], bytes[33], header->plan.geometry.counting},
                    .journal = load64(bytes + 40),
                },
            .offset = load64(bytes),
        };
    }
    for (unsigned i = 0; i < n; i++)
        if (is_stage_misplaced(header, records, i, n))
            return damaged_layer(fault, path, i + 1, "a stage that belongs to no layer");
    *count = n;
    return 0;
}

uint64_t slot_room(const struct header *header, unsigned slot)
{
    uint64_t room = slot < 16 ? header->flight_keys >> (slot + 1) : 0;
    return room > SLOT_KEYS_MIN ? room : SLOT_KEYS_MIN;
}

uint64_t slot_first(const struct header *header, unsigned slot)
{
    uint64_t first = 0;
    for (unsigned i = 0; i < slot; i++)
        first += slot_room(header, i);
    return first;
}

uint64_t flight_bytes(uint64_t flight_keys)
{
    struct header header = {.flight_keys = flight_keys};
    uint64_t bytes = slot_first(&header, SLOTS_MAX) * KEY_BYTES;
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

uint64_t fixed_bytes(uint64_t flight_keys, bool counting)
{
    return FLIGHT_AT + flight_bytes(flight_keys) + (counting ? JOURNAL_BYTES : 0);
}

uint64_t flight_keys_for(uint64_t pages, bool fixed)
{
    /* A sixty-fourth of the layer is 64 bytes a page, four keys; a filter that grows has larger
     * layers to come. */
    uint64_t most = fixed ? pages * 4 : pages * 8;
    uint64_t keys = FLIGHT_KEYS_MIN;
    while (keys < FLIGHT_KEYS_MAX && keys * 2 <= most)
        keys *= 2;
    return keys;
}

uint64_t layer_place(uint64_t at, uint64_t pages)
{
    uint64_t boundary = pages >= 8192 ? UINT64_C(2) << 20 : PAGE_BYTES;
    return (at + boundary - 1) / boundary * boundary;
}

uint64_t layer_end(const struct layer_record *record)
{
    return record->offset + (record->plan.pages + record->plan.journal) * PAGE_BYTES;
}

uint64_t header_file_bytes(uint64_t pages, const struct filter_plan *plan, unsigned layers)
{
    uint64_t at = fixed_bytes(flight_keys_for(pages, plan->fixed), plan->geometry.counting);
    while (layers-- > 0) {
        at = layer_place(at, plan->stage) + plan->stage * PAGE_BYTES;
        at = layer_place(at, pages) + pages * PAGE_BYTES;
    }
    return at;
}
