/*
 * layer_table - the records of layers in a filter file.
 *
 * A writer adds a record first, and then raises the count. A record never changes.
 *
 * A layer may have a stage, which collects keys that are then set in the layer together
 * (filter/stage.c). A stage is a hole in the file, or an open-addressing table of keys, 16 bytes
 * each, lo then hi. A place whose lo is 0 is empty; a key whose lo is 0 is never stored. In a table
 * of n + 256 places, a key is at place (hi * n) >> 64 or at the first place after it that was
 * empty, at most 255 further on. Keys in a stage are trusted as bits are.
 *
 * The layers are arrays of pages, in which bit b is byte b/8, mask 1 << (b%8); geometry.h says
 * which bits a key has. In a counting layer, cell c of a block, from 0 to 127, is the low nibble of
 * byte c/2 if c is even, else the high nibble; each key in the layer has raised its cells by one,
 * up to 15.
 * Layers of 32 MB and more begin at a multiple of 2 MB, so that no large folio of the page cache
 * holds both a layer and the metadata, which is written all the time.
 *
 * A file is valid if and only if, besides the rules in header.c,
 *
 *    7. the number of layers is within 1..48, in a window 5..48, in a window without a time 5;
 *    8. for each layer: the record's checksum is right; g and f are within 1..16 and 1..7; pages
 *       within 1..2^38; capacity at least 1; the rate within 0..1; bytes without a name are zero;
 *       both numbers of the stage are zero, or its pages are within 4..2^38 and the filter is
 *       neither counting nor a window;
 *    9. the capacity of a layer is 1, or its pages can hold it: with x = capacity / pages * g/64 *
 *       (1 - (1 - 1/c)^f), c being 512, or 128 in a counting filter, x is at most 12, and
 *       (1 - 1/(1 + x + x^2/2 + x^3/6))^(g*f) at most 1.5 times the rate;
 *   10. each stage and each layer begins on a page boundary, at or after the end of the preceding
 *       one (the first: of the metadata), and ends within the file.
 *
 * Bytes after the last layer are allowed: a writer that was killed while growing leaves them.
 */
#include "format/header.h"

/* A record. Bytes without a name are zero. */
enum {
    OFFSET_AT = 0,        /* 8 offset of the layer in the file */
    PAGES_AT = 8,         /* 8 pages */
    CAPACITY_AT = 16,     /* 8 capacity in keys */
    RATE_AT = 24,         /* 8 the rate that it may add to the filter's, a double */
    BLOCKS_AT = 32,       /* 1 blocks per key (g), 1..16 */
    FIELDS_AT = 33,       /* 1 fields per block (f), 1..7 */
    STAGE_OFFSET_AT = 40, /* 8 offset of the stage in the file; 0 if there is none */
    STAGE_PAGES_AT = 48,  /* 8 pages of the stage; 0 if there is none */
    CHECKSUM_AT = 72      /* 8 XXH3, 64-bit variant, seed 0, of the record's bytes 0..71 */
};

/* Fills a record except for its checksum. */
static void encode_record(const struct layer_record *record, uint8_t bytes[LAYER_RECORD_BYTES])
{
    const struct layer_plan *plan = &record->plan;
    memset(bytes, 0, LAYER_RECORD_BYTES);
    store64(bytes + OFFSET_AT, record->offset);
    store64(bytes + PAGES_AT, plan->pages);
    store64(bytes + CAPACITY_AT, plan->capacity);
    store_double(bytes + RATE_AT, plan->rate);
    bytes[BLOCKS_AT] = plan->geometry.blocks;
    bytes[FIELDS_AT] = plan->geometry.fields;
    if (plan->stage != 0) {
        store64(bytes + STAGE_OFFSET_AT, record->stage_offset);
        store64(bytes + STAGE_PAGES_AT, plan->stage);
    }
}

void layer_encode(const struct layer_record *record, uint8_t bytes[LAYER_RECORD_BYTES])
{
    encode_record(record, bytes);
    store64(bytes + CHECKSUM_AT, hash_checksum(bytes, CHECKSUM_AT));
}

static bool is_size(uint64_t pages)
{
    return pages >= 1 && pages <= SIZING_PAGES_MAX;
}

static uint64_t stage_end(const struct layer_record *record)
{
    return record->stage_offset + record->plan.stage * PAGE_BYTES;
}

/* Returns what is wrong with a record, or NULL; it is to lie between the offsets `from`, where the
 * layer before it ended, and `to`, the end of the file. */
static const char *record_flaw(const struct layer_record *record, const uint8_t *bytes,
                               const struct filter_plan *filter, uint64_t from, uint64_t to)
{
    /* Rules 8 and 9, for the layer. */
    const struct layer_plan *plan = &record->plan;
    const struct geometry geometry = plan->geometry;
    if (hash_checksum(bytes, CHECKSUM_AT) != load64(bytes + CHECKSUM_AT))
        return "checksum mismatch";
    if (!is_size(plan->pages))
        return "invalid size";
    if (plan->capacity < 1)
        return "invalid capacity";
    if (!(plan->rate >= 0 && plan->rate <= 1))
        return "invalid false-positive rate";
    if (geometry.blocks < 1 || geometry.blocks > BLOCKS_MAX || geometry.fields < 1 ||
        geometry.fields > FIELDS_MAX)
        return "invalid geometry";
    if (!sizing_may_hold(geometry, plan->pages, plan->capacity, plan->rate))
        return "invalid capacity";
    uint8_t again[LAYER_RECORD_BYTES];
    encode_record(record, again);
    if (memcmp(again, bytes, CHECKSUM_AT) != 0)
        return "unused bytes are not zero";

    /* Rules 8 and 10, for its stage. No sum overflows: pages are at most 2^38, and no file has 2^63
     * bytes. */
    if (plan->stage != 0) {
        if (filter->geometry.counting || filter->window)
            return "staging area in a filter that has none";
        if (plan->stage < STAGE_PAGES_MIN || !is_size(plan->stage))
            return "invalid size of the staging area";
        if (record->stage_offset % PAGE_BYTES != 0 || record->stage_offset < from ||
            record->stage_offset > to)
            return "invalid offset of the staging area";
        from = stage_end(record);
    }

    /* Rule 10, for the layer. */
    if (record->offset % PAGE_BYTES != 0 || record->offset < from)
        return "invalid offset";
    if (record->offset > to || plan->pages * PAGE_BYTES > to - record->offset)
        return "ends after the end of the file";
    return NULL;
}

int layer_damaged(unsigned layer, const char *flaw, const char *path, struct fault *fault)
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
    bool grows = !header->plan.window || header->plan.forget != 0;
    if (n < least || n > (grows ? (unsigned)LAYERS_MAX : least))
        return layer_damaged(0, "invalid number of layers", path, fault);
    uint64_t end = header->layers_at;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *bytes = page + (size_t)i * LAYER_RECORD_BYTES;
        records[i] = (struct layer_record){
            .plan =
                {
                    .pages = load64(bytes + PAGES_AT),
                    .capacity = load64(bytes + CAPACITY_AT),
                    .rate = load_double(bytes + RATE_AT),
                    .geometry = {bytes[BLOCKS_AT], bytes[FIELDS_AT],
                                 header->plan.geometry.counting},
                    .stage = load64(bytes + STAGE_PAGES_AT),
                },
            .offset = load64(bytes + OFFSET_AT),
            .stage_offset = load64(bytes + STAGE_OFFSET_AT),
        };
        const char *flaw = record_flaw(&records[i], bytes, &header->plan, end, file_bytes);
        if (flaw != NULL)
            return layer_damaged(i + 1, flaw, path, fault);
        end = layer_end(&records[i]);
    }
    *count = n;
    return 0;
}

/* The first offset from `at` on where this many pages may begin. */
static uint64_t align_pages(uint64_t at, uint64_t pages)
{
    uint64_t boundary = pages >= 8192 ? UINT64_C(2) << 20 : PAGE_BYTES;
    return (at + boundary - 1) / boundary * boundary;
}

void layer_put(struct layer_record *record, uint64_t at)
{
    record->stage_offset = 0;
    if (record->plan.stage != 0) {
        record->stage_offset = align_pages(at, record->plan.stage);
        at = stage_end(record);
    }
    record->offset = align_pages(at, record->plan.pages);
}

uint64_t layer_end(const struct layer_record *record)
{
    return record->offset + record->plan.pages * PAGE_BYTES;
}

uint64_t header_file_bytes(uint64_t pages, const struct filter_plan *plan, unsigned layers)
{
    struct layer_record record = {
        .plan = {.pages = pages, .stage = growth_stage_pages(plan, pages)}};
    uint64_t at = metadata_bytes(plan->geometry.counting);
    for (; layers > 0; layers--) {
        layer_put(&record, at);
        at = layer_end(&record);
    }
    return at;
}

uint64_t header_bytes_without_stages(uint64_t pages, const struct filter_plan *plan,
                                     unsigned layers)
{
    return header_file_bytes(pages, plan, layers) -
           layers * growth_stage_pages(plan, pages) * PAGE_BYTES;
}

uint64_t header_pages_within(const struct filter_plan *plan, uint64_t bytes)
{
    unsigned layers = growth_first_layers(plan);
    uint64_t pages = bytes / PAGE_BYTES / layers;
    while (pages > 0) {
        uint64_t total = header_bytes_without_stages(pages, plan, layers);
        if (total <= bytes)
            break;
        uint64_t over = (total - bytes - 1) / PAGE_BYTES / layers + 1;
        pages = over < pages ? pages - over : 0;
    }
    return pages;
}
