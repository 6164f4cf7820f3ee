/*
 * layer_table - page 1 of a filter file: a record for each layer, and the number of records.
 *
 * layer_table.c begins with the specification.
 */
#ifndef UNSEEN_FORMAT_LAYER_TABLE_H
#define UNSEEN_FORMAT_LAYER_TABLE_H

#include "core/growth.h"
#include "system/fault.h"

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

struct header;

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
