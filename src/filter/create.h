/*
 * create - makes a filter file: checks what is there, makes one without keys, parts for a merge.
 */
#ifndef UNSEEN_FILTER_CREATE_H
#define UNSEEN_FILTER_CREATE_H

#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <sys/stat.h>

/* What a path leads to. */
enum create_found {
    FOUND_NOTHING,
    FOUND_EMPTY,  /* an empty file that may be replaced */
    FOUND_FILTER, /* a filter that may be replaced */
    FOUND_OTHER,
};

/* What may be replaced, as bits. */
enum { OVER_EMPTY = 1, OVER_FILTER = 2 };

/* Returns an enum create_found; or -1 with the fault if no filter can be made there, or must not be
 * (system/path.h). */
int create_check_path(const char *path, unsigned over, struct fault *fault);

/* Whether the path leads to a regular file that begins as a filter. */
bool create_is_filter(const char *path);

/* Makes a filter file at `path`, whole or not at all; fills in the header's UUID and layout.
 * `found`: from create_check_path, not FOUND_OTHER. Returns 0; 1 if something else is there by
 * now, which is unchanged; -1 with the fault. Takes as long as an fsync. */
int create_filter(const char *path, struct header *header, enum create_found found,
                  struct fault *fault);

/* Sets a new UUID, and the time of creation. */
void create_new_identity(struct header *header);

/* Sets header->layers_at and the offsets of the records, whose plans are set. */
void create_lay_out(struct header *header, struct layer_record *records, unsigned count);

/* Allocates the blocks of a file from byte `from` to the end of the last of `count` layers; stages
 * remain holes (filter/stage.c). Returns 0, or -1 with errno. */
int create_allocate(int fd, uint64_t from, const struct layer_record *records, unsigned count);

/* Writes the header and the layer table. Returns 0, or -1 with errno. */
int create_write_head(int fd, const struct header *header, const struct layer_record *records,
                      unsigned count);

#endif
