/*
 * header - page 0 of a filter file as bytes, and as numbers.
 *
 * The specification is at the head of header.c. These functions turn bytes into numbers and back
 * and check every one of them; none does any I/O or allocates.
 */
#ifndef UNSEEN_FORMAT_HEADER_H
#define UNSEEN_FORMAT_HEADER_H

#include "core/growth.h"
#include "core/little.h"
#include "core/shard.h"
#include "format/layer_table.h"
#include "format/shared.h"
#include "key/recipe.h"
#include "system/fault.h"

enum { HEADER_BYTES = 4096, UUID_BYTES = 16 };

/* How many milliseconds a window by time may have: some 300 years. */
#define FORGET_MAX WINDOW_TIME_MAX

/* What is written once, at creation. */
struct header {
    uint8_t uuid[UUID_BYTES];
    int64_t created;         /* seconds since 1970 */
    struct hasher hasher;    /* XXH3 with a seed, or SipHash with a secret */
    struct recipe recipe;    /* how a line becomes its key */
    struct shard shard;      /* which part of a list it is for */
    struct filter_plan plan; /* as asked for */
    uint64_t layers_at;      /* where the first layer may begin; the fixed part ends there */
};

/* Fills the whole page, its checksum included. */
void header_encode(const struct header *header, uint8_t bytes[HEADER_BYTES]);

/* Is it a filter file at all? bytes: the first 8. */
bool header_is_filter(const uint8_t *bytes);

/* Whether the keys of lines are made with a secret. */
static inline bool header_has_secret(const struct header *header)
{
    return header->hasher.kind == HASH_SIPHASH;
}

/* Checks and decodes a private copy of the page; file_bytes is the file's real size. Returns 0, or
 * -1 with the fault (object `path`) naming the first field that is wrong, and *header unchanged. */
int header_decode(const uint8_t bytes[HEADER_BYTES], uint64_t file_bytes, const char *path,
                  struct header *header, struct fault *fault);

#endif
