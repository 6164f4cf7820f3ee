/*
 * header - encodes and decodes page 0 of a filter file, and checks every number in it. Pure.
 *
 * header.c begins with the specification.
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

static inline bool header_has_secret(const struct header *header)
{
    return header->hasher.kind == HASH_SIPHASH;
}

/* Checks and decodes a private copy of the page; file_bytes is the size of the file. Returns 0, or
 * -1 with a fault about `path` that names the first wrong field, and *header unchanged. */
int header_decode(const uint8_t bytes[HEADER_BYTES], uint64_t file_bytes, const char *path,
                  struct header *header, struct fault *fault);

#endif
