/*
 * collect - a buffer before an output, so that many short lines are written at a time.
 *
 * It is for output that is not one piece of the input's buffer: keys, lines with a tag, the dropped
 * lines of a batch. The owner flushes it before it waits for input, so that no line is delayed.
 */
#ifndef UNSEEN_IO_COLLECT_H
#define UNSEEN_IO_COLLECT_H

#include "io/output.h"

#include <stdint.h>

enum { COLLECT_BYTES = 256 << 10 }; /* size of the buffer */

struct collect;

/* `output` must outlive the result. Returns NULL if memory is short. */
struct collect *collect_new(struct output *output);

/* Discards what was not flushed. */
void collect_free(struct collect *collect);

/* Adds lines with their delimiters. The bytes of one call are never divided between two writes, so
 * whole lines stay whole. More bytes than the buffer holds are written directly. Returns 0; or -1
 * with the fault of output_write, and then the buffer is discarded. */
int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault);

/* The same for a line after a tag of a few bytes, and for one of `n` pieces. A line that is longer
 * than the buffer is not copied, because that would take as much memory again. */
int collect_add_tagged(struct collect *collect, const char *tag, size_t tag_length,
                       const char *bytes, size_t length, struct fault *fault);
int collect_add_pieces(struct collect *collect, const struct iovec *pieces, size_t n,
                       struct fault *fault);

/* Writes the buffer. Returns as collect_add. */
int collect_flush(struct collect *collect, struct fault *fault);

/* How many bytes the output has accepted so far, those of a write that failed included. */
uint64_t collect_accepted(const struct collect *collect);

#endif
