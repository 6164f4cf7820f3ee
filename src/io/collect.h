/*
 * collect - lines gathered for an output, so that short ones are written many at a time.
 *
 * Where what is printed does not lie in one piece in the input's buffer, it is put together here:
 * keys, lines with a tag, the few lines of each batch that are held back. The owner flushes before
 * it waits for more input, so that nothing that has arrived stays here.
 */
#ifndef UNSEEN_IO_COLLECT_H
#define UNSEEN_IO_COLLECT_H

#include "io/output.h"

enum { COLLECT_BYTES = 256 << 10 }; /* gathered at most */

struct collect;

/* `output` must outlive it. NULL if memory is short. */
struct collect *collect_new(struct output *output);

/* What was not flushed is lost. */
void collect_free(struct collect *collect);

/* Adds some bytes: a line with its delimiter, or a piece of one. The bytes of one call are never
 * divided between two writes: so an output that mends its last line gets whole lines, if it is
 * given whole ones. Bytes for which the buffer is too small are written by themselves, and not
 * copied. Returns 0; or -1 with the fault of output_write, and then all that was gathered is
 * dropped. */
int collect_add(struct collect *collect, const char *bytes, size_t length, struct fault *fault);

/* Writes what was gathered, if anything. Returns as collect_add. */
int collect_flush(struct collect *collect, struct fault *fault);

#endif
