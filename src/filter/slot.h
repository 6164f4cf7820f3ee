/*
 * slot - a writer's record in the filter file, where other writers see its keys in flight
 * (filter.h).
 *
 * A slot has the record of a flight, and the first slots also have space for its keys. A flight
 * that does not fit is in a side file, FILTER.flight-NUMBER, with the filter's mode. NUMBER is that
 * of the slot in which it was made, or 128 more, and so on, if that name is taken. Its owner holds
 * LOCK_FLIGHT of it to the end.
 *
 * Who has one of the first 64 slots keeps it from open to close. In another one, a writer is a
 * guest, with its keys in its side file: when nothing is in flight, it gives the slot back and
 * keeps the file, to show it in the next slot that it takes. (To make a file for each batch would
 * take longer than the batch, and a confined process cannot.)
 */
#ifndef UNSEEN_FILTER_SLOT_H
#define UNSEEN_FILTER_SLOT_H

#include "filter/filter.h"
#include "filter/flight.h"
#include "io/side_file.h"

struct writer;

/* The record of a slot. */
struct slot_facts {
    uint64_t keys;     /* as the record says, which may be damaged */
    uint64_t capacity; /* how many keys fit */
    uint64_t file;     /* the inode number of its file; 0: there is none */
    uint32_t number, level;
};
struct slot_facts slot_facts(const struct filter *filter, unsigned slot);

/* Whether the owner of another slot lives: 1 or 0, or -1 with the fault. */
int slot_lives(const struct filter *filter, unsigned slot, struct fault *fault);

/* --- for the files of this directory --- */

/* Takes a free slot, unless this writer has one; waits while all are taken. Returns 0, or -1 with
 * the fault. */
int slot_take(struct writer *writer, struct fault *fault);

/* Gives a guest's slot back, unless keys are in flight. */
void slot_rest(struct writer *writer);

/* Makes room for `n` more keys in this writer's flight; makes or enlarges its side file if needed.
 * LOCK_CHANGE must not be held. Returns 0, or -1 with the fault. */
int slot_reserve(struct writer *writer, uint64_t n, struct fault *fault);

/* Empties the flight, and removes its side file. */
void slot_leave(struct writer *writer);

/* The flight in a slot; and the name of a side file. */
struct flight slot_flight(const struct filter *filter, unsigned slot);
void slot_path(const struct filter *filter, uint32_t number, char path[SIDE_FILE_NAME_MAX]);

#endif
