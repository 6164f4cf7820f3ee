/*
 * slot - a writer's place in the filter file, where others see what it has in flight (filter.h).
 *
 * A slot has the record of a flight, and the first ones room for its keys. Where these are too many
 * they are in a file beside the filter, FILTER.flight-NUMBER, with its mode: NUMBER is the slot's,
 * or 128 more, and so on, if something else has that name.
 */
#ifndef UNSEEN_FILTER_SLOT_H
#define UNSEEN_FILTER_SLOT_H

#include "filter/flight.h"
#include "filter/store.h"
#include "system/side_file.h"

struct filter;

/* What a slot says of its flight. */
struct slot_facts {
    uint64_t keys;     /* as the file says, which may be damaged */
    uint64_t capacity; /* how many keys fit */
    uint64_t file;     /* the inode number of its file; 0: there is none */
    uint32_t number, level;
};
struct slot_facts slot_facts(const struct store *store, unsigned slot);

/* Whether the owner of another slot lives: 1 or 0, or -1 with the fault. */
int slot_lives(const struct store *store, unsigned slot, struct fault *fault);

/* --- for this room --- */

/* Takes a free slot until the file is closed. Waits while all are taken. Returns 0 or -1. */
int slot_take(struct filter *filter, struct fault *fault);

/* Room for `n` more keys in this writer's flight: in its slot, or in a file, which it makes or
 * enlarges. LOCK_CHANGE must not be held. Returns 0, or -1 with the fault. */
int slot_reserve(struct filter *filter, uint64_t n, struct fault *fault);

/* Nothing is in flight any more, and its file is gone. */
void slot_leave(struct filter *filter);

/* The flight in a slot, or the name of its file. */
struct flight slot_flight(const struct store *store, unsigned slot);
void slot_path(const struct store *store, uint32_t number, char path[SIDE_FILE_NAME_MAX]);

#endif
