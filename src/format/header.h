/*
 * header - encodes and decodes what a filter file begins with, and checks every number in it. Pure.
 *
 * Page 0 is the header, and page 1 the table of layers; header.c, recipe_record.c and layer_table.c
 * begin with their specification.
 */
#ifndef UNSEEN_FORMAT_HEADER_H
#define UNSEEN_FORMAT_HEADER_H

#include "core/bytes.h"
#include "core/growth.h"
#include "core/shard.h"
#include "format/shared.h"
#include "key/recipe.h"
#include "system/fault.h"

enum { HEADER_BYTES = 4096, UUID_BYTES = 16 };

/* The longest window by time, in milliseconds: about 300 years. */
#define FORGET_MAX WINDOW_TIME_MAX

/* The page's contents, which are written once, at creation. */
struct header {
    uint8_t uuid[UUID_BYTES];
    int64_t created;         /* seconds since 1970 */
    struct hasher hasher;    /* XXH3 with a seed, or SipHash with a secret */
    struct recipe recipe;    /* how a line becomes its key */
    struct shard shard;      /* the shard that it is for */
    struct filter_plan plan; /* as the options gave it */
    uint64_t layers_at;      /* where the metadata ends and the first layer may begin */
};

/* Fills the whole page, its checksum included. */
void header_encode(const struct header *header, uint8_t bytes[HEADER_BYTES]);

/* What a filter file begins with. */
enum { HEADER_MAGIC_BYTES = 8 };
extern const uint8_t header_magic[HEADER_MAGIC_BYTES];

/* Whether a file that begins with these 8 bytes is a filter. */
bool header_is_filter(const uint8_t *bytes);

/* If a file that begins with these bytes is a filter of another program, sets the fault about
 * `path` and returns true. Files without a magic, or compressed, are not recognized. */
enum { HEADER_OTHER_BYTES = 51 };
bool header_is_of_other(const uint8_t bytes[HEADER_OTHER_BYTES], const char *path,
                        struct fault *fault);

static inline bool header_has_secret(const struct header *header)
{
    return header->hasher.kind == HASH_SIPHASH;
}

/* Checks and decodes a private copy of the page; file_bytes is the size of the file. Returns 0, or
 * -1 with a fault about `path` that names the first wrong field, and *header unchanged. */
int header_decode(const uint8_t bytes[HEADER_BYTES], uint64_t file_bytes, const char *path,
                  struct header *header, struct fault *fault);

/* --- the recipe, a part of page 0 --- */

enum { RECIPE_BYTES = 2304 };

void recipe_encode(const struct recipe *recipe, uint8_t bytes[RECIPE_BYTES]);

enum recipe_found {
    RECIPE_GOOD,
    RECIPE_UNKNOWN, /* rules that this program does not have; `name` is as in "url/2", "csv/3" */
    RECIPE_EARLIER, /* the same, but an earlier one had them */
    RECIPE_DAMAGED,
    RECIPE_NO_MEMORY, /* to check its patterns */
};

/* *recipe is set only if the result is RECIPE_GOOD; then encoding it gives these bytes again,
 * except for bytes without a name. */
enum { RECIPE_NAME = 32 };
enum recipe_found recipe_decode(const uint8_t bytes[RECIPE_BYTES], struct recipe *recipe,
                                char name[RECIPE_NAME]);

/* --- page 1: a record for each layer, and the number of records --- */

enum {
    LAYER_TABLE_AT = 4096,   /* 48*80 records, oldest first */
    LAYER_COUNT_AT = 8128,   /*     4 number of records; those after it are unused */
    LAYER_RECORD_BYTES = 80, /*       size of a record */
    LAYERS_MAX = 48,
    STAGE_REACH = 256, /* places of the stage's table where a key can be */
    STAGE_PAGES_MIN = 4
};

struct layer_record {
    struct layer_plan plan;
    uint64_t offset;       /* of the layer's first page in the file */
    uint64_t stage_offset; /* of its stage, which precedes it; 0: none */
};

/* Sets the fault for a damaged filter, or for its layer `layer` if that is not 0. Returns -1. */
int layer_damaged(unsigned layer, const char *flaw, const char *path, struct fault *fault);

/* Fills the record, its checksum included. */
void layer_encode(const struct layer_record *record, uint8_t bytes[LAYER_RECORD_BYTES]);

/* Checks and decodes a private copy of page 1 into records[0..*count); file_bytes is the size of
 * the file. Returns 0, or -1 with a fault about `path` that names the first wrong field. */
int layers_decode(const uint8_t page[PAGE_BYTES], const struct header *header, uint64_t file_bytes,
                  const char *path, struct layer_record records[LAYERS_MAX], unsigned *count,
                  struct fault *fault);

/* Sets the offsets of a layer and of its stage before it, no earlier than `at`. */
void layer_put(struct layer_record *record, uint64_t at);

/* The offset after a layer. */
uint64_t layer_end(const struct layer_record *record);

/* The size of a file with `layers` layers of `pages` pages, each with its stage, if any. */
uint64_t header_file_bytes(uint64_t pages, const struct filter_plan *plan, unsigned layers);

/* The size as --size has it: without stages, which are on disk only while in use. */
uint64_t header_bytes_without_stages(uint64_t pages, const struct filter_plan *plan,
                                     unsigned layers);

/* The most pages of each first layer with which the size, as --size has it, is at most `bytes`. */
uint64_t header_pages_within(const struct filter_plan *plan, uint64_t bytes);

#endif
