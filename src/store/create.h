/*
 * create - making a filter file: an empty one; or its fixed part, for a merge.
 */
#ifndef UNSEEN_STORE_CREATE_H
#define UNSEEN_STORE_CREATE_H

#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Makes what lies beside the filter `path`, for whoever may use a file like that; may give the
 * filter another UUID. Returns 0, or -1 with the fault. */
typedef int create_beside(const char *path, const struct stat *like, uint8_t uuid[UUID_BYTES],
                          struct fault *fault);

/* Makes a filter file at `path`, whole or not at all; fills in header's uuid and geometry of the
 * file. Unless `replace`, nothing may be there but an empty file. `beside` is called first, unless
 * it is NULL. Returns 0; 1 if something is there (nothing was changed); -1 with the fault. Takes as
 * long as an fsync. */
int create_filter(const char *path, struct header *header, bool replace, create_beside *beside,
                  struct fault *fault);

/* A UUID of its own, and the time. */
void create_new_identity(struct header *header);

/* Finds the place of everything: header's flight keys and where layers may begin, and the offset of
 * each of the records, whose plans are set. Returns where the file ends. */
uint64_t create_lay_out(struct header *header, struct layer_record *records, unsigned count);

/* Writes the header and the layer table. Returns 0, or -1 with errno. */
int create_write_head(int fd, const struct header *header, const struct layer_record *records,
                      unsigned count);

#endif
