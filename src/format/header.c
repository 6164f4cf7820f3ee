/*
 * header - the filter file, format version 6.
 *
 * All numbers are unsigned and little-endian, at fixed offsets, on every machine; a double is its
 * IEEE 754 bits as a 64-bit number. A page is 4096 bytes. Bytes without a name are zero.
 *
 *     0  the header, written once, when the file is created: here
 *     1  the layers, written when one is added: layer_table.c
 *     2  counters and slots, which change all the time: shared.h
 *     3  and more: the keys in flight, and in a counting filter the journal: shared.h
 *
 * These pages are the metadata. The layers follow.
 *
 * A recipe has 2304 bytes and says how a line becomes its key: recipe_record.c.
 *
 * A filter may be for one shard of a list (core/shard.h); it refuses lines of other shards.
 *
 * Keys are hashed with XXH3 and a seed or, with feature 4, with SipHash and a secret of 16 bytes,
 * without which nobody can craft lines whose hashes are equal.
 *
 * A file is valid if and only if
 *
 *    1. it has all of the metadata;
 *    2. magic and version are as below, and no unknown feature bit is set;
 *    3. the header's checksum is right;
 *    4. p is in 1e-12..0.5 (not a NaN); n is at most 10^12; size at most 2^38 pages; g at most 16
 *       and f at most 7, both zero or neither, and both zero in a filter that may grow: with any
 *       number of hashes, its next layers could have any size; the flag is 0, or it is 1 and n or
 *       size is not 0;
 *    5. the recipe is as in recipe_record.c, with known rules; it has a separator only if there are
 *       fields, and for CSV, where it is no quote, CR or LF; it has names only with a separator,
 *       instead of ranges, or for JSON, which has nothing else; they are left out only where they
 *       are columns; N is at most 10^6 and I within 1..N, or both are zero;
 *    6. bytes of the header without a name are zero; a window is neither counting nor fixed, and
 *       has a time of at most 10^13 ms or, if that is 0, n; without a window, the time is 0;
 *
 * and rules 7 to 10, in layer_table.c, hold for its layers.
 */
#include "format/header.h"

#include <errno.h>
#include <inttypes.h>

enum {
    MAGIC_AT = 0,        /*   8 magic: 89 75 6e 73 65 65 6e 0a */
    VERSION_AT = 8,      /*   4 format version: 6 */
    FEATURES_AT = 16,    /*   8 features that a reader must support: FEATURE_... */
    UUID_AT = 32,        /*  16 UUID of the filter: random (RFC 4122 version 4) */
    CREATED_AT = 48,     /*   8 time of creation, seconds since 1970 UTC, two's complement */
    HASH_SEED_AT = 64,   /*  16 the seed of XXH3 and 8 zeros, or the secret of SipHash-2-4 */
    RATE_AT = 104,       /*   8 p, the false-positive rate that was asked for, a double */
    CAPACITY_AT = 112,   /*   8 n, the capacity that was given, in keys; 0: none */
    PAGES_AT = 120,      /*   8 size that was given, in pages of each first layer; 0: none */
    BLOCKS_AT = 128,     /*   1 blocks per key (g), if given; 0: they follow from p */
    FIELDS_AT = 129,     /*   1 fields per block (f), likewise */
    FIXED_AT = 131,      /*   1 1 if the filter never grows, else 0 */
    FORGET_AT = 160,     /*   8 window: milliseconds that it remembers; 0: it remembers n lines */
    SHARD_AT = 168,      /*   4 number of the shard, I, from 1 on */
    SHARDS_AT = 172,     /*   4 number of shards, N; 0: not for a shard */
    KEY_RECIPE_AT = 256, /* 2304 recipe: how a line becomes its key */
    CHECKSUM_AT = 4088   /*   8 XXH3, 64-bit variant, seed 0, of bytes 0..4087 */
};

/* "unseen" between a byte that is not ASCII and LF. */
const uint8_t header_magic[HEADER_MAGIC_BYTES] = {0x89, 'u', 'n', 's', 'e', 'e', 'n', '\n'};
enum { VERSION = 6 };

/* A reader refuses a file that has any other feature bit set. */
enum {
    FEATURE_COUNTING = 1, /* cells of 4 bits, not of 1 */
    FEATURE_WINDOW = 2,
    FEATURE_SECRET = 4, /* SipHash, not XXH3 */
    FEATURES_KNOWN = 7
};

/* Fills the page except for its checksum. */
static void encode_page(const struct header *header, uint8_t bytes[HEADER_BYTES])
{
    const struct filter_plan *plan = &header->plan;
    memset(bytes, 0, HEADER_BYTES);
    memcpy(bytes + MAGIC_AT, header_magic, HEADER_MAGIC_BYTES);
    store32(bytes + VERSION_AT, VERSION);
    store64(bytes + FEATURES_AT, (plan->geometry.counting ? FEATURE_COUNTING : 0U) |
                                     (plan->window ? FEATURE_WINDOW : 0U) |
                                     (header_has_secret(header) ? FEATURE_SECRET : 0U));
    memcpy(bytes + UUID_AT, header->uuid, UUID_BYTES);
    store64(bytes + CREATED_AT, (uint64_t)header->created);
    store64(bytes + HASH_SEED_AT, header->hasher.k0);
    store64(bytes + HASH_SEED_AT + 8, header_has_secret(header) ? header->hasher.k1 : 0);
    store_double(bytes + RATE_AT, plan->rate);
    store64(bytes + CAPACITY_AT, plan->capacity);
    store64(bytes + PAGES_AT, plan->pages);
    bytes[BLOCKS_AT] = plan->geometry.blocks;
    bytes[FIELDS_AT] = plan->geometry.fields;
    bytes[FIXED_AT] = plan->fixed;
    if (plan->window)
        store64(bytes + FORGET_AT, plan->forget);
    recipe_encode(&header->recipe, bytes + KEY_RECIPE_AT);
    if (header->shard.count != 0) {
        store32(bytes + SHARD_AT, header->shard.number);
        store32(bytes + SHARDS_AT, header->shard.count);
    }
}

void header_encode(const struct header *header, uint8_t bytes[HEADER_BYTES])
{
    encode_page(header, bytes);
    store64(bytes + CHECKSUM_AT, hash_checksum(bytes, CHECKSUM_AT));
}

static void decode_page(const uint8_t *bytes, struct header *header)
{
    uint64_t features = load64(bytes + FEATURES_AT);
    bool counting = (features & FEATURE_COUNTING) != 0;
    *header = (struct header){
        .created = (int64_t)load64(bytes + CREATED_AT),
        .hasher = {(features & FEATURE_SECRET) != 0 ? HASH_SIPHASH : HASH_XXH3,
                   load64(bytes + HASH_SEED_AT), load64(bytes + HASH_SEED_AT + 8)},
        .plan =
            {
                .rate = load_double(bytes + RATE_AT),
                .capacity = load64(bytes + CAPACITY_AT),
                .pages = load64(bytes + PAGES_AT),
                .geometry = {bytes[BLOCKS_AT], bytes[FIELDS_AT], counting},
                .fixed = bytes[FIXED_AT],
                .window = (features & FEATURE_WINDOW) != 0,
                .forget = load64(bytes + FORGET_AT),
                .staged = (features & (FEATURE_COUNTING | FEATURE_WINDOW)) == 0,
            },
        .shard = {load32(bytes + SHARD_AT), load32(bytes + SHARDS_AT)},
    };
    memcpy(header->uuid, bytes + UUID_AT, UUID_BYTES);
    header->layers_at = metadata_bytes(counting);
}

bool header_is_filter(const uint8_t *bytes)
{
    return memcmp(bytes, header_magic, HEADER_MAGIC_BYTES) == 0;
}

/* What filters of other programs begin with, and where the rate is, a double. Each was seen in a
 * file that the program had made: DCSO bloom 0.2.4 (flor 1.1.3 and version 1 of poppy write the
 * same), poppy 0.2.1, pybloomfiltermmap3 0.6.3, libbloom 2.0 (with the size of a struct). Those
 * without a magic are not guessed at: bits-and-blooms, bloomsieve, pybloom-live, rbloom. */
static const struct {
    const char *program, *magic;
    size_t length, rate_at;
} others[] = {
    {"DCSO bloom", "\1\0\0\0\0\0\0\0", 8, 16},
    {"poppy", "\2\0\0\0\0\0\0\0", 8, 16},
    {"pybloomfiltermmap3", "MBITARRAY", 9, 29},
    {"libbloom", "libbloom2@\0", 11, 43},
};

bool header_is_of_other(const uint8_t bytes[HEADER_OTHER_BYTES], const char *path,
                        struct fault *fault)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        double rate = load_double(bytes + others[i].rate_at);
        if (memcmp(bytes, others[i].magic, others[i].length) != 0 || !(rate >= 1e-15 && rate < 1))
            continue;
        fault_set(fault, path, "is a filter of %s, which unseen cannot read", others[i].program);
        fault_way_out(fault, "add its lines again: unseen add --create NEW.bf LINES");
        return true;
    }
    return false;
}

/* Rules 4 to 6, but for the recipe. Returns what is wrong, or NULL. */
static const char *header_flaw(const struct header *header, const uint8_t *bytes)
{
    const struct filter_plan *plan = &header->plan;
    const struct geometry geometry = plan->geometry;
    const struct shard shard = header->shard;
    if (!(plan->rate >= SIZING_RATE_MIN && plan->rate <= SIZING_RATE_MAX))
        return "invalid false-positive rate";
    if (plan->capacity > SIZING_KEYS_MAX)
        return "invalid capacity";
    if (plan->pages > SIZING_PAGES_MAX)
        return "invalid size";
    if (geometry.blocks > BLOCKS_MAX || geometry.fields > FIELDS_MAX ||
        !geometry.blocks != !geometry.fields)
        return "invalid geometry";
    if (bytes[FIXED_AT] > 1 || (plan->fixed && plan->capacity == 0 && plan->pages == 0))
        return "invalid fixed flag";
    bool bounded = plan->forget != 0 ? plan->forget <= FORGET_MAX : plan->capacity != 0;
    if (plan->window && (!bounded || plan->fixed || geometry.counting))
        return "invalid window";
    if (shard.count != 0 &&
        (shard.count > SHARDS_MAX || shard.number < 1 || shard.number > shard.count))
        return "invalid shard";
    /* Bytes without a name are zero: the page is what would be written for this header. */
    uint8_t again[HEADER_BYTES];
    encode_page(header, again);
    return memcmp(again, bytes, CHECKSUM_AT) != 0 ? "unused header bytes are not zero" : NULL;
}

int header_decode(const uint8_t bytes[HEADER_BYTES], uint64_t file_bytes, const char *path,
                  struct header *header, struct fault *fault)
{
    /* Rule 2. What follows has a meaning only in a version and with features that are known. */
    if (!header_is_filter(bytes))
        return header_is_of_other(bytes, path, fault) ? -1
                                                      : fault_set(fault, path, "is not a filter");
    uint32_t version = load32(bytes + VERSION_AT);
    uint64_t unknown = load64(bytes + FEATURES_AT) & ~(uint64_t)FEATURES_KNOWN;
    if (version < VERSION) {
        fault_set(fault, path, "was made by an older version of unseen");
        return fault_way_out(fault, "make it again");
    }
    if (version > VERSION)
        fault_set(fault, path, "has filter format version %" PRIu32 "; this program supports %d",
                  version, VERSION);
    else if (unknown != 0)
        fault_set(fault, path, "uses features that this program does not support (0x%" PRIx64 ")",
                  unknown);
    if (version > VERSION || unknown != 0)
        return fault_way_out(fault, "use a newer version of unseen");

    /* Rule 3. */
    if (hash_checksum(bytes, CHECKSUM_AT) != load64(bytes + CHECKSUM_AT))
        return layer_damaged(0, "header checksum mismatch", path, fault);

    /* Rules 5, 4, 6 and 1: the recipe may need another version, too. */
    struct header found;
    char rules[RECIPE_NAME];
    decode_page(bytes, &found);
    enum recipe_found recipe = recipe_decode(bytes + KEY_RECIPE_AT, &found.recipe, rules);
    if (recipe == RECIPE_NO_MEMORY)
        return fault_errno(fault, path, NULL, ENOMEM);
    if (recipe == RECIPE_DAMAGED)
        return layer_damaged(0, "invalid key options", path, fault);
    if (recipe != RECIPE_GOOD) {
        fault_set(fault, path, "was made with the rules %s, which this program does not support",
                  rules);
        return fault_way_out(fault, recipe == RECIPE_EARLIER ? "make it again"
                                                             : "use a newer version of unseen");
    }
    const char *flaw = header_flaw(&found, bytes);
    if (flaw == NULL && found.layers_at > file_bytes)
        flaw = "file too short";
    if (flaw != NULL)
        return layer_damaged(0, flaw, path, fault);
    bool may_grow = !found.plan.fixed && (!found.plan.window || found.plan.forget != 0);
    if (found.plan.geometry.blocks != 0 && may_grow) {
        fault_set(fault, path, "has --hashes and may grow, which might fill the disk");
        return fault_way_out(fault, "make a new one, with -n or --size");
    }
    *header = found;
    return 0;
}
