/*
 * merge - one new filter of several: their union.
 *
 * Layers of one shape are laid over one another where the rate that was asked for allows it
 * (group.h): bit for bit the layer that one filter of all keys has. What does not fit stays a layer
 * of its own, so that no line is lost; but a filter of several layers has the sum of their rates,
 * which may be above that. The header keeps what was asked for.
 *
 * Which layers come together depends on what is in them, not on the order of the inputs; the result
 * is the same file, but for its UUID and time, whatever the order. And where all layers of a shape
 * fit into one, merging in steps ends with the same file as merging at once.
 *
 * Inputs may be in use: what was settled before merge_new is in. Memory is bounded: bits are read
 * where they are mapped, a page at a time.
 */
#ifndef UNSEEN_UNION_MERGE_H
#define UNSEEN_UNION_MERGE_H

#include "filter/store.h"

struct merge;

/* Reads the bits of all inputs, which stay the caller's, and works out what becomes of them. If the
 * new filter takes the place of one of them, `replaced`, open for writing, that is frozen until
 * merge_free: what others settle in it meanwhile is in neither, which they notice. NULL with the
 * fault: they were not made alike, a shard of their list is missing, or there are too many layers;
 * EINTR if a signal came. About 1 us a page. */
struct merge *merge_new(struct store *const *inputs, size_t count, struct store *replaced,
                        struct fault *fault);
void merge_free(struct merge *merge);

/* What it comes to: its layers, and its rate. */
unsigned merge_layers(const struct merge *merge);
double merge_rate(const struct merge *merge);

/* Writes it to a file of its own and gives that its name, over what is there if `over` is set. In
 * place of an input the file has its UUID, owner and mode, so that it goes on as that filter.
 * Returns 0; 1 if something is there; -1 with the fault. In the last two cases nothing was
 * changed. */
int merge_write(const struct merge *merge, const char *path, bool over, struct fault *fault);

#endif
