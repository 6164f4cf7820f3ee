/*
 * segment - the files of a queue's lines, each named by the position of its first byte.
 *
 * `directory` is an open descriptor of FILTER.queue. Where a file stands under such a name that is
 * no segment, the error is EINVAL: a directory, a link, a FIFO; one that would end after
 * SEGMENT_END_MAX; and, where the directory is read, a name that begins with a digit and is no
 * position.
 */
#ifndef UNSEEN_QUEUE_SEGMENT_H
#define UNSEEN_QUEUE_SEGMENT_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_END_MAX (UINT64_C(1) << 62)

/* 20 decimal digits, so that names sort as positions do. */
struct segment_name {
    char text[21];
};
struct segment_name segment_name(uint64_t start);

/* A descriptor, or -1 with errno. The flags are those of open(2). Never through somebody's link,
 * symbolic or, to write where others can make one, hard; nothing but a plain file; what is made is
 * for its maker alone. */
int segment_open(int directory, uint64_t start, int flags);
/* The same for a file of any other name. */
int segment_open_named(int directory, const char *name, int flags);

/* Its length. Returns 0, or -1 with errno. */
int segment_length(int directory, uint64_t start, uint64_t *length);

int segment_remove(int directory, uint64_t start);

/* To read its names from the first on; to be closed. NULL with errno. */
DIR *segment_directory(int directory);

struct segment_list {
    uint64_t *starts; /* ascending */
    size_t count;
};

/* All there are. Reads the directory: for what a killed process left, not for every day. Returns 0
 * and a list to be freed, or -1 with errno and an empty one. */
int segment_list_read(struct segment_list *list, int directory);
void segment_list_free(struct segment_list *list);

#endif
