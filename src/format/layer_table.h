/*
 * layer_table - page 1 of a filter file: a record for each layer, and their count.
 *
 * The specification is at the head of layer_table.c.
 */
#ifndef UNSEEN_FORMAT_LAYER_TABLE_H
#define UNSEEN_FORMAT_LAYER_TABLE_H

#include "core/growth.h"
#include "system/fault.h"

enum {
    LAYER_TABLE_AT = 4096,   /* 48*80 records, oldest first */
    LAYER_COUNT_AT = 8128,   /*     4 their number: records from there on mean nothing */
    LAYER_RECORD_BYTES = 80, /*       a record */
    LAYERS_MAX = 48,
    STAGE_REACH = 256, /* places that a key may have */
    STAGE_PAGES_MIN = 4
};

/* One layer as the file has it. */
struct layer_record {
    struct layer_plan plan;
    uint64_t offset;       /* of its first page in the file */
    uint64_t stage_offset; /* of its stage, which lies before it; 0: there is none */
};

struct header;

/* What is said of a damaged filter, or of its layer, from 1 on; 0: of none of them. Returns -1. */
int layer_damaged(unsigned layer, const char *flaw, const char *path, struct fault *fault);

/* Fills all bytes of the record, its checksum included. */
void layer_encode(const struct layer_record *record, uint8_t bytes[LAYER_RECORD_BYTES]);

/* Checks and decodes a private copy of page 1 into records[0..*count); file_bytes is the file's
 * real size. Returns 0, or -1 with the fault (object `path`) naming the first wrong field. */
int layers_decode(const uint8_t page[PAGE_BYTES], const struct header *header, uint64_t file_bytes,
                  const char *path, struct layer_record records[LAYERS_MAX], unsigned *count,
                  struct fault *fault);

/* Places a layer, with its stage before it, no earlier than `at`; and where it ends. */
void layer_put(struct layer_record *record, uint64_t at);
uint64_t layer_end(const struct layer_record *record);

/* Bytes of a file with so many layers of `pages`, each with the stage that the plan wants; and how
 * many of them belong to stages, which are on disk only while these are in use. */
uint64_t header_file_bytes(uint64_t pages, const struct filter_plan *plan, unsigned layers);
uint64_t header_stage_bytes(uint64_t pages, const struct filter_plan *plan, unsigned layers);
/* Its size as users ask for one: stages count only if they were asked for, too. */
uint64_t header_asked_bytes(uint64_t pages, const struct filter_plan *plan, unsigned layers);
/* The most pages of each first layer with which it is no larger than that. */
uint64_t header_pages_within(const struct filter_plan *plan, uint64_t bytes);

#endif
