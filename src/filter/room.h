/*
 * room - making it: a stage gets blocks or is emptied, a window turns, or a layer is added.
 */
#ifndef UNSEEN_FILTER_ROOM_H
#define UNSEEN_FILTER_ROOM_H

#include "filter/store.h"

/* Makes room in a file for more keys than the `taken` that are in flight, unless somebody else has
 * made some since this process looked for a place. LOCK_CHANGE must not be held. Takes as long as
 * the disk does; a signal to end (but not while delivered lines are settled) or to stop is obeyed
 * at once, and whoever needs room next goes on. Returns 0, or -1 with the fault. */
int room_make(struct store *store, uint64_t taken, struct fault *fault);

/* Whether the stage of the layer that is filling is to get its blocks, or to be emptied, before
 * keys are claimed for it: a hint. */
bool room_is_wanted(const struct store *store);

/* --- for memory.c --- */

/* Plans the next layer. Returns 0, or -1 with the fault. */
int room_plan(const struct store *store, struct layer_plan *layer, struct fault *fault);

/* Tells the watch of a layer that was added. */
void room_tell(const struct store *store);

#endif
