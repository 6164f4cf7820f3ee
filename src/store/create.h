/*
 * create - the fixed part of a new filter file; shared by filter_create, whose filter is empty, and
 * merge, whose filter is not.
 */
#ifndef UNSEEN_STORE_CREATE_H
#define UNSEEN_STORE_CREATE_H

#include "format/header.h"

/* A UUID of its own, and the time. */
void create_new_identity(struct header *header);

/* Finds the place of everything: header's flight keys and where layers may begin, and the offset of
 * each of the records, whose plans are set. Returns where the file ends. */
uint64_t create_lay_out(struct header *header, struct layer_record *records, unsigned count);

/* Writes the header and the layer table. Returns 0, or -1 with errno. */
int create_write_head(int fd, const struct header *header, const struct layer_record *records,
                      unsigned count);

#endif
