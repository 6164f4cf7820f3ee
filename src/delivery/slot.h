/*
 * slot - a writer's place in the filter file, where others see what it has in flight (filter.h).
 */
#ifndef UNSEEN_DELIVERY_SLOT_H
#define UNSEEN_DELIVERY_SLOT_H

#include "core/hash.h"
#include "store/store.h"
#include "system/beside.h"

#include <stdbool.h>

struct filter;

/* Keys in flight with slot `slot`, whether its writer lives, and whether more are in a set. */
uint64_t slot_keys(const struct store *store, unsigned slot, bool *alive, bool *has_set);

/* --- for delivery --- */

/* Takes a free slot until the file is closed. Waits while all are taken. Returns 0 or -1. */
int slot_take(struct filter *filter, struct fault *fault);

/* Another free slot, after this one, is this writer's. Precondition: nothing is in flight. Returns
 * 0, or -1: there is none, and the fault that the caller has stands, as one that may pass. */
int slot_change(struct filter *filter, struct fault *fault);

/* Whether the owner of another slot lives: 1 or 0, or -1 with the fault. */
int slot_lives(const struct filter *filter, unsigned slot, struct fault *fault);

/* Under LOCK_CHANGE: others see what is in flight, from key number `from` on. */
void slot_show(struct filter *filter, size_t from);
void slot_clear(struct filter *filter);

/* How many keys this writer's has room for. */
size_t slot_size(const struct filter *filter);

/* The keys that a slot has; not more than it has room for. */
uint64_t slot_count(const struct store *store, unsigned slot);
struct key slot_key(const struct store *store, unsigned slot, uint64_t i);

/* The key set of a slot: its file, whether there is one, and what tells it from others. */
void slot_set_path(const struct store *store, unsigned slot, char path[BESIDE_MAX]);
bool slot_has_set(const struct store *store, unsigned slot);
uint64_t slot_set_mark(const struct store *store, unsigned slot);

/* Under LOCK_CHANGE: this writer has one now, or no more. */
void slot_note_set(struct filter *filter, uint64_t mark);
void slot_drop_set(struct filter *filter);

#endif
