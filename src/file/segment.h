/*
 * segment - the files of a queue's lines, each named by the position of its first byte.
 *
 * `directory` is an open descriptor of FILTER.queue.
 */
#ifndef UNSEEN_FILE_SEGMENT_H
#define UNSEEN_FILE_SEGMENT_H

#include <stdint.h>

/* 20 decimal digits, so that names sort as positions do. */
enum { SEGMENT_NAME_BYTES = 21 };
void segment_name(uint64_t start, char name[SEGMENT_NAME_BYTES]);

/* Open it for reading, for writing, and a new one, over what may be there. A descriptor, or -1 with
 * errno. */
int segment_open(int directory, uint64_t start);
int segment_open_to_write(int directory, uint64_t start);
int segment_make(int directory, uint64_t start);

/* Its length. Returns 0, or -1 with errno. */
int segment_length(int directory, uint64_t start, uint64_t *length);

int segment_remove(int directory, uint64_t start);

/* The one with the lowest start from `from` on. Returns 1, 0 if there is none, -1 with errno. Reads
 * the directory: for what a killed process left, not for every day. */
int segment_first(int directory, uint64_t from, uint64_t *start);

#endif
