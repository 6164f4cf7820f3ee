/*
 * room - makes room for keys: allocates or empties a stage, turns a window, or adds a layer.
 */
#ifndef UNSEEN_FILTER_ROOM_H
#define UNSEEN_FILTER_ROOM_H

#include "filter/store.h"

/* Makes room in a file for more keys than the `taken` that are in flight, unless another process
 * has made room since this one looked. LOCK_CHANGE must not be held. Takes as long as the disk. A
 * signal to end (except while lines are settled) or to stop is obeyed at once, and the next writer
 * that needs room continues. Returns 0, or -1 with the fault. */
int room_make(struct store *store, uint64_t taken, struct fault *fault);

/* Whether the stage of the filling layer must be allocated or emptied before keys are claimed for
 * it: a hint. */
bool room_is_wanted(const struct store *store);

/* --- for memory.c --- */

/* Plans the next layer. Returns 0, or -1 with the fault. */
int room_plan(const struct store *store, struct layer_plan *layer, struct fault *fault);

/* Tells the watch that a layer was added. */
void room_tell(const struct store *store);

#endif
