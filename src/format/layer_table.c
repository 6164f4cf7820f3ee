/*
 * layer_table - the records of layers in a filter file.
 *
 * A writer adds a record first, and raises the count after that. A stage is a layer in which keys
 * gather, to be set in the next layer together (stage.c). Its journal has those keys, as many as its
 * counter says: 16 bytes each, lo then hi. They are believed as bits are.
 *
 * The layers are arrays of pages, in which bit b is byte b/8, mask 1 << (b%8); geometry.h says which
 * bits a key has. In a counting layer cell c of a line, from 0 to 127, is the low nibble of byte c/2
 * if c is even, else the high one; a key that is in raised each of its cells by one, up to 15.
 * Layers of 32 MB and more begin at a multiple of 2 MB, so that what is always written shares no
 * large folio of the page cache with them.
 *
 * A file is valid if and only if, besides the rules in header.c,
 *
 *    8. the count of layers is within 1..48, in a window at least G + 1, and without a time just that;
 *    9. for each layer below the count: the record's checksum is right; g and f are within 1..16 and
 *       1..7; pages within 1..2^38; capacity at least 1; the rate within 0..1; cells are as in the
 *       header; bytes without a name are zero; a stage has a capacity of at least 8192, for which
 *       its journal has room, the layer after it is no stage, and neither is in a counting filter or
 *       a window;
 *   10. the capacity of a layer is 1, or its pages can hold it: with x = capacity / pages * g/64 *
 *       (1 - (1 - 1/c)^f), c being 512, or 128 in a counting filter, x is at most 12, and
 *       (1 - 1/(1 + x + x^2/2 + x^3/6))^(g*f) at most 1.5 times the rate;
 *   11. each layer begins on a page boundary, not before the end of the one before it (the first: of
 *       the fixed part), and ends within the file.
 *
 * Bytes after the last layer are legal: a writer that was killed while growing leaves them.
 */
#include "format/layer_table.h"

#include "core/little.h"
#include "format/header.h"

/* A record. Bytes without a name are zero. */
enum {
    OFFSET_AT = 0,     /* 8 offset of the layer in the file */
    PAGES_AT = 8,      /* 8 pages */
    CAPACITY_AT = 16,  /* 8 capacity in keys */
    RATE_AT = 24,      /* 8 the rate it may contribute, a double */
    LINES_AT = 32,     /* 1 lines a key (g), 1..16 */
    FIELDS_AT = 33,    /* 1 fields a line (f), 1..7 */
    CELL_BITS_AT = 34, /* 1 bits a cell: as in the header */
    JOURNAL_AT = 40,   /* 8 of a stage: pages of its journal, right after its own; else 0 */
    CHECKSUM_AT = 56   /* 8 XXH3, 64-bit variant, seed 0, of the record's bytes 0..55 */
};

/* All of a record but its checksum. */
static void encode(const struct layer_record *record, uint8_t bytes[LAYER_RECORD_BYTES])
{
    const struct layer_plan *plan = &record->plan;
    memset(bytes, 0, LAYER_RECORD_BYTES);
    store64(bytes + OFFSET_AT, record->offset);
    store64(bytes + PAGES_AT, plan->pages);
    store64(bytes + CAPACITY_AT, plan->capacity);
    store_double(bytes + RATE_AT, plan->rate);
    bytes[LINES_AT] = plan->geometry.lines;
    bytes[FIELDS_AT] = plan->geometry.fields;
    bytes[CELL_BITS_AT] = (uint8_t)geometry_cell_bits(plan->geometry);
    store64(bytes + JOURNAL_AT, plan->journal);
}

void layer_encode(const struct layer_record *record, uint8_t bytes[LAYER_RECORD_BYTES])
{
    encode(record, bytes);
    store64(bytes + CHECKSUM_AT, hash_checksum(bytes, CHECKSUM_AT));
}

static struct layer_record decode(const uint8_t *bytes, bool counting)
{
    return (struct layer_record){
        .plan =
            {
                .pages = load64(bytes + PAGES_AT),
                .capacity = load64(bytes + CAPACITY_AT),
                .rate = load_double(bytes + RATE_AT),
                .geometry = {bytes[LINES_AT], bytes[FIELDS_AT], counting},
                .journal = load64(bytes + JOURNAL_AT),
            },
        .offset = load64(bytes + OFFSET_AT),
    };
}

/* Whether bytes without a name are not zero: encoding would make them so. */
static bool uses_unnamed(const struct layer_record *record, const uint8_t *bytes)
{
    uint8_t again[LAYER_RECORD_BYTES];
    encode(record, again);
    return memcmp(again, bytes, CHECKSUM_AT) != 0;
}

static bool may_be_journal(const struct layer_plan *plan)
{
    return plan->journal == 0 ||
           (plan->journal <= SIZING_PAGES_MAX && plan->capacity >= STAGE_KEYS_MIN &&
            plan->capacity <= plan->journal * (PAGE_BYTES / KEY_BYTES));
}

/* What makes a record invalid, or NULL; *end is where the layer before it ended. Rules 9 to 11. No
 * sum overflows: pages are at most 2^38. */
static const char *record_flaw(const struct layer_record *record, const uint8_t *bytes,
                               uint64_t file_bytes, uint64_t *end)
{
    const struct layer_plan *plan = &record->plan;
    struct geometry geometry = plan->geometry;
    if (hash_checksum(bytes, CHECKSUM_AT) != load64(bytes + CHECKSUM_AT))
        return "checksum";
    if (plan->pages < 1 || plan->pages > SIZING_PAGES_MAX)
        return "size";
    if (plan->capacity < 1)
        return "capacity";
    if (!(plan->rate >= 0 && plan->rate <= 1))
        return "rate";
    if (geometry.lines < 1 || geometry.lines > LINES_MAX || geometry.fields < 1 ||
        geometry.fields > FIELDS_MAX)
        return "geometry";
    if (bytes[CELL_BITS_AT] != geometry_cell_bits(geometry))
        return "cell width";
    if (uses_unnamed(record, bytes))
        return "unused bytes";
    if (!may_be_journal(plan))
        return "journal";
    if (!sizing_may_hold(geometry, plan->pages, plan->capacity, plan->rate))
        return "capacity";
    if (record->offset % PAGE_BYTES != 0 || record->offset < *end)
        return "offset";
    if (record->offset > file_bytes ||
        (plan->pages + plan->journal) * PAGE_BYTES > file_bytes - record->offset)
        return "end, which is behind the end of the file";
    *end = layer_end(record);
    return NULL;
}

/* Each stage needs a layer after it, in a filter that may have stages. */
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

int layers_decode(const uint8_t page[PAGE_BYTES], const struct header *header, uint64_t file_bytes,
                  const char *path, struct layer_record records[LAYERS_MAX], unsigned *count,
                  struct fault *fault)
{
    uint32_t n = load32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT));
    unsigned least = growth_first_layers(&header->plan);
    bool grows = header->plan.generations == 0 || header->plan.forget != 0;
    if (n < least || n > (grows ? (unsigned)LAYERS_MAX : least))
        return damaged_layer(fault, path, 0, "number of layers");
    uint64_t end = header->layers_at;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *bytes = page + (size_t)i * LAYER_RECORD_BYTES;
        records[i] = decode(bytes, header->plan.geometry.counting);
        const char *flaw = record_flaw(&records[i], bytes, file_bytes, &end);
        if (flaw != NULL)
            return damaged_layer(fault, path, i + 1, flaw);
    }
    for (unsigned i = 0; i < n; i++)
        if (is_stage_misplaced(header, records, i, n))
            return damaged_layer(fault, path, i + 1, "a stage that belongs to no layer");
    *count = n;
    return 0;
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
