/*
 * create - making a filter file: an empty one; or its fixed part, for a merge.
 */
#ifndef UNSEEN_STORE_CREATE_H
#define UNSEEN_STORE_CREATE_H

#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Makes a filter file at `path`, whole or not at all; fills in header's uuid and geometry of the
 * file. Nothing may be there but what `over` says (store/newfile.h). Returns 0; 1 if something is
 * there (nothing was changed); -1 with the fault. Takes as long as an fsync. */
int create_filter(const char *path, struct header *header, unsigned over, struct fault *fault);

/* The layers that such a filter is made with, all alike. Returns how many, or 0 if there can be
 * none. Takes milliseconds. */
unsigned create_layers(const struct filter_plan *asked, struct layer_plan *layer);

/* A UUID of its own, and the time. */
void create_new_identity(struct header *header);

/* Finds the place of everything: header's flight keys and where layers may begin, and the offset of
 * each of the records, whose plans are set. Returns where the file ends. */
uint64_t create_lay_out(struct header *header, struct layer_record *records, unsigned count);

/* Allocates the blocks of a file, from byte `from` to the end of the last of `count` layers. Stages
 * stay holes (store/stage.h), unless the file system could not fill them later. Returns 0, or -1
 * with errno. */
int create_allocate(int fd, uint64_t from, const struct layer_record *records, unsigned count);

/* Writes the header and the layer table. Returns 0, or -1 with errno. */
int create_write_head(int fd, const struct header *header, const struct layer_record *records,
                      unsigned count);

#endif
