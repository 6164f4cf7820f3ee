/*
 * filter - a filter, in memory or in a file: what is in, claim what is new, settle what was
 * delivered.
 *
 * A line goes through three states (DESIGN section 5):
 *
 *   new        filter_claim found it neither in the layers nor in flight anywhere;
 *   in flight  it is in this writer's table, where all writers see it; its bits are not set;
 *   settled    filter_settle has set its bits, because it was handed on.
 *
 * A process that dies takes its lines in flight with it: their slot's lock is gone, so the slot
 * counts as empty, and nothing need be repaired. Bits only go from 0 to 1, so looking needs no lock.
 *
 * A filter in memory dies with its process, so there is nothing to protect: claim sets the bits at
 * once, and settle does nothing. What is printed is the same.
 *
 * One thread at a time uses a struct filter.
 */
#ifndef UNSEEN_DELIVERY_FILTER_H
#define UNSEEN_DELIVERY_FILTER_H

#include "core/growth.h"
#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct filter;

/* What a filter tells while it works, and what it may do; members may be NULL. */
struct filter_watch {
    /* It grew: another layer was added because `keys` are inside. */
    void (*grew)(void *context, const struct filter *filter, unsigned layers, uint64_t keys);
    /* It has waited five seconds for another writer's lock. */
    void (*waits)(void *context, const struct filter *filter);
    void *context;
    /* Write to a file system that several machines share, though their maps are not coherent. */
    bool allow_network;
};

/* A new filter in memory. header->plan, seed: as asked; without capacity and pages it starts
 * small (growth_in_memory). Returns NULL with the fault. */
struct filter *filter_memory(const struct header *header, struct fault *fault);

/* From now on a filter (in memory: filter_open has it as an argument) tells what happens. */
void filter_set_watch(struct filter *filter, const struct filter_watch *watch);

/* Makes a filter file at `path`, whole or not at all; fills in header's uuid and geometry of the
 * file. Unless `replace`, nothing may be there but an empty file. Returns 0; 1 if something is
 * there (nothing was changed); -1 with the fault. Takes as long as an fsync. */
int filter_create(const char *path, struct header *header, bool replace, struct fault *fault);

/* Opens a filter file. For reading, the file and the file system may be read-only, and nothing is
 * ever written. For writing, takes a slot, and waits while all are taken. Returns NULL with the
 * fault; fault->error is ENOENT if there is no file. */
struct filter *filter_open(const char *path, bool write, const struct filter_watch *watch,
                           struct fault *fault);

/* Lines in flight are dropped, unsettled. NULL is allowed. */
void filter_close(struct filter *filter);
/* The same at the end of the program, which the maps are left to: it gives them back in a tenth of the
 * time. */
void filter_leave(struct filter *filter);

/* How many lines to hand to claim at a time. */
size_t filter_batch(const struct filter *filter);

/* About so many keys will be looked for in this run: if they touch much of the filter, its pages may
 * be had in bulk. Only a hint, that costs nothing if it is wrong but time. */
void filter_expect(struct filter *filter, uint64_t keys);

/* Reads ahead some more of what filter_expect found worth it. For once in a while: with a cold disk it
 * takes as long as reading 16 MB, and when all is there, nothing. */
void filter_read_slice(struct filter *filter);

/* seen[i] = 1 for each key that is in, else 0. No lock; about 10 to 60 ns a key. */
int filter_probe(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                 struct fault *fault);

/*
 * Judges keys in order: seen[i] = 1 if it is in, or in flight here or with another live writer;
 * else 0, and it is now in flight here. Stops behind the most_new-th new key, or when the table is
 * full, or before a key for which a window or a stage has to make room. Returns how many keys were judged
 * (fewer than n only if at least one was, and without these is in flight), or -1 with the fault, and then
 * none is newly in flight.
 * Precondition: all that was in flight has been settled, but for long flights.
 */
ptrdiff_t filter_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault);

/* The first `delivered` of the keys in flight were handed on: they are settled, the others are
 * forgotten. Returns 0, or -1 with the fault if the lock could not be had. */
int filter_settle(struct filter *filter, size_t delivered, struct fault *fault);

/*
 * Long flights. From now on keys stay in flight until filter_settle_held, not for a batch: in a file
 * beside the filter, where other writers see them (filter opened for writing), or in a nameless one
 * beside the file `beside` (opened for reading: then nothing is ever settled here). filter_settle only
 * says which of the last claim's keys were not delivered; these are no longer in flight.
 *
 * HOLD_EXACTLY   A key is new if it is neither in nor one of those in flight: however many these are.
 * HOLD_AS_SET    Keys are judged as if those in flight were set, so that it makes no difference when
 *                they are. Once there are too many, or room has to be made, filter_claim returns 0:
 *                filter_settle_held is next. Only for a filter that was opened for writing.
 */
enum hold_kind { HOLD_EXACTLY, HOLD_AS_SET };
int filter_hold(struct filter *filter, enum hold_kind kind, const char *beside,
                struct fault *fault);
uint64_t filter_held(const struct filter *filter);
int filter_settle_held(struct filter *filter, struct fault *fault);

/* Of keys that are held exactly, the last `n` that were delivered count as not delivered. */
void filter_drop_held(struct filter *filter, uint64_t n);

/* How often keys were settled in a file, by anybody. */
uint64_t filter_settlings(const struct filter *filter);

/* filter_settle_keys settles keys that were claimed, in order and growing as needed, whatever they are
 * found in by now; if another process claimed them, filter_set_claimed says when that was, as
 * filter_settlings was then. Returns 0, or -1 with the fault: some may have been settled. */
void filter_set_claimed(struct filter *filter, uint64_t settlings);
int filter_settle_keys(struct filter *filter, const struct key *keys, size_t n,
                       struct fault *fault);

/* Sets the bits of keys that are known to be delivered, growing as needed, in flight somewhere or not;
 * those that are in change nothing. seen[i] = 1 if it was in,
 * else 0; *added: how many were not. Returns 0, or -1 with the fault, and then some may have been set.
 * Precondition: nothing is in flight here. */
int filter_add(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
               uint64_t *added, struct fault *fault);

/* From now on nobody, in any process, changes this file, which is open for writing, until it is
 * thawed: who wants to, waits. Returns 0, or -1 with the fault. For making a file that takes its
 * place: what others would then settle in the old one would be lost, and they notice. */
int filter_freeze(struct filter *filter, struct fault *fault);
void filter_thaw(struct filter *filter);

/* Tells that `pages` pages of a layer, from `page` on, are read now, and that all of it will be,
 * front to back. Never fails. */
void filter_read_ahead(const struct filter *filter, unsigned layer, uint64_t page, uint64_t pages);

/* What became of a line that was to be removed. */
enum removal {
    REMOVAL_DONE,
    REMOVAL_ABSENT,   /* it was not in */
    REMOVAL_AMBIGUOUS /* it looks in in several layers, of which all but one err: nothing was done */
};

/*
 * Takes keys out of a counting filter, in order: removals[i] is an enum removal. Keys in flight are not
 * in. Returns how many were removed, or -1 with the fault: a prefix of the keys may be removed then.
 * A process that dies on the way has removed each key whole or not at all.
 */
ptrdiff_t filter_remove(struct filter *filter, const struct key *keys, size_t n, uint8_t *removals,
                        struct fault *fault);

/* Whether a remove was killed, and the next writer will undo its last key. */
bool filter_removal_open(const struct filter *filter);

/* What it is. */
const struct header *filter_header(const struct filter *filter);
const char *filter_path(const struct filter *filter);
unsigned filter_layers(const struct filter *filter);
struct layer_plan filter_layer(const struct filter *filter, unsigned layer);
const struct bits *filter_bits(const struct filter *filter, unsigned layer);
uint64_t filter_file_bytes(const struct filter *filter); /* apparent size; 0 in memory */
uint64_t filter_end(const struct filter *filter);        /* where the last layer ends in the file */
/* Keys counted so far: exact in memory, a hint in a file. */
uint64_t filter_keys(const struct filter *filter);
uint64_t filter_layer_keys(const struct filter *filter, unsigned layer);
uint64_t filter_capacity(const struct filter *filter);
/* The rate as it is now, read off the bits of at most 16 pages a layer. Not for windows. */
double filter_sampled_rate(const struct filter *filter);

/* What a layer of a window has in it. Times: milliseconds since 1970. */
struct generation {
    uint64_t number; /* from 1 on, larger ones are newer; 0: none */
    bool retired;    /* it is being emptied, or was when a writer died */
    bool filling;    /* new lines go here */
    bool expired;    /* by time: it is forgotten, and will be emptied */
    bool behind;     /* by time: the clock was set back while lines came here */
    uint64_t began;
    uint64_t ends; /* by time: when it expires if no more lines come; else 0 */
};
struct generation filter_generation(const struct filter *filter, unsigned layer);
/* Of a window by time: the latest time in it, if that is ahead of the clock by more than a generation,
 * so that nothing is forgotten until then; else 0. */
uint64_t filter_window_ahead(const struct filter *filter);
/* Whether a writer is just emptying a layer, or growing. */
bool filter_window_turning(const struct filter *filter);
/* Whether a writer died while it emptied a stage. */
bool filter_stage_left(const struct filter *filter);
/* Whether the path still names the open file, if that was not asked in the last 10 ms. Returns 0, or -1
 * with the fault: it was replaced or removed. (Settling asks each time.) In memory always 0. */
int filter_check_name(struct filter *filter, struct fault *fault);
/* Whether an open regular file begins as a filter file does. Nobody's offset moves. */
bool filter_begins(int fd);
/* Whether this is the same file (device and inode). */
bool filter_is_file(const struct filter *filter, const struct stat *stat);
/* Keys in flight with slot `slot`, whether its writer is alive, and whether more are in a file. */
uint64_t filter_slot_keys(const struct filter *filter, unsigned slot, bool *alive, bool *holds);

#endif
