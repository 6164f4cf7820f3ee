/*
 * merge - makes one new filter of several: their union.
 *
 * Layers of one shape are combined as long as the rate allows: the result is, bit for
 * bit, the layer of a single filter with all keys. All other layers are appended, so that no line
 * is lost; but the rate of the new filter is the sum of its layers' rates and may be above p. The
 * header still has p. Layers that are not full get new capacities, so that they can be filled
 * while the sum stays at most p.
 *
 * The result does not depend on the order of the inputs, except for its UUID and time. If all
 * layers of a shape fit into one, merging in steps gives the same file as merging at once.
 *
 * Inputs may be in use: the new filter has all lines that were settled before merge_new. Memory is
 * bounded, because bits are read from the maps a page at a time.
 */
#ifndef UNSEEN_MERGE_MERGE_H
#define UNSEEN_MERGE_MERGE_H

#include "filter/filter.h"

struct merge;

/* Reads the bits of all inputs, which stay the caller's, and plans the new filter. `replaced`,
 * which may be NULL, is the input that the new filter will replace; it is open for writing, and is
 * frozen until merge_free: other writers wait, and then notice that it was replaced. Returns NULL
 * with the fault if the inputs were not made alike, a shard is missing, there are too many layers,
 * or a signal came (EINTR). About 1 us per page. */
struct merge *merge_new(struct filter *const *inputs, size_t count, struct filter *replaced,
                        struct fault *fault);
void merge_free(struct merge *merge);

/* The number of layers, and the rate, of the new filter. */
unsigned merge_layers(const struct merge *merge);
double merge_rate(const struct merge *merge);

/* Writes the new filter to `path`, replacing an existing file if `over` is set. A filter that
 * replaces an input has its UUID, owner and mode. Returns 0; 1 if there is a file and `over` is not
 * set; -1 with the fault. In the last two cases nothing was changed. */
int merge_write(const struct merge *merge, const char *path, bool over, struct fault *fault);

#endif
