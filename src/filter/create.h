/*
 * create - making a filter file: where it may be made; an empty one; its fixed part, for a merge.
 */
#ifndef UNSEEN_FILTER_CREATE_H
#define UNSEEN_FILTER_CREATE_H

#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <sys/stat.h>

/* What stands under a name. */
enum create_place {
    PLACE_FREE,   /* nothing */
    PLACE_EMPTY,  /* an empty file that may be replaced */
    PLACE_FILTER, /* a filter that may be */
    PLACE_TAKEN,
};

/* What may be replaced, as bits. */
enum { OVER_EMPTY = 1, OVER_FILTER = 2 };

/* Returns what is there, or -1 with the fault if no filter can ever stand there, or none is to be
 * made there (system/network.h). */
int create_check_place(const char *path, unsigned over, struct fault *fault);

/* Whether what a name stands for begins as a filter does. */
bool create_is_filter(const char *path);

/* Makes a filter file at `path`, whole or not at all; fills in header's uuid and geometry of the
 * file. `there` is what create_check_place found, not PLACE_TAKEN. Returns 0; 1 if something else
 * is there by now (nothing was changed); -1 with the fault. Takes as long as an fsync. */
int create_filter(const char *path, struct header *header, enum create_place there,
                  struct fault *fault);

/* The layers that such a filter is made with, all alike. Returns how many, or 0 if there can be
 * none. Takes milliseconds. */
unsigned create_layers(const struct filter_plan *asked, struct layer_plan *layer);

/* A UUID of its own, and the time. */
void create_new_identity(struct header *header);

/* Finds the place of everything: where layers may begin, and the offset of
 * each of the records, whose plans are set. Returns where the file ends. */
uint64_t create_lay_out(struct header *header, struct layer_record *records, unsigned count);

/* Allocates the blocks of a file, from byte `from` to the end of the last of `count` layers. Stages
 * stay holes (filter/stage.h). Returns 0, or -1 with errno. */
int create_allocate(int fd, uint64_t from, const struct layer_record *records, unsigned count);

/* Writes the header and the layer table. Returns 0, or -1 with errno. */
int create_write_head(int fd, const struct header *header, const struct layer_record *records,
                      unsigned count);

#endif
