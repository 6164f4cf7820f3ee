/*
 * filter - FILTER: its layers of bits, its header and counters, in a file or in memory.
 *
 * Reading needs no lock (internal.h). One thread at a time uses a struct filter.
 */
#ifndef UNSEEN_FILTER_FILTER_H
#define UNSEEN_FILTER_FILTER_H

#include "core/growth.h"
#include "core/hash.h"
#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct filter;

enum { BATCH_KEYS = 2048 }; /* at most this many are tested at a time */

/* Callbacks for the user. The pointer and its members may be NULL. */
struct filter_watch {
    /* A layer was added. */
    void (*grew)(const struct filter *filter, unsigned layers);
    /* It has waited five seconds for the lock of another writer. */
    void (*waits)(const struct filter *filter, bool to_the_end); /* system/lock.h */
    /* It has waited five seconds for a slot: SLOTS_MAX runs have lines in flight. */
    void (*waits_for_slot)(const struct filter *filter);
};

/* Opens a filter file. For reading, nothing is ever written. For writing, refuses file systems
 * where writers would not see each other (system/path.h). Returns NULL with the fault;
 * fault->error is ENOENT if there is no file. */
struct filter *filter_open(const char *path, bool write, const struct filter_watch *watch,
                           struct fault *fault);

/* Makes a filter of header->plan and its seed in memory; without capacity and pages, a small one
 * that grows (growth_in_memory). Returns NULL with the fault. */
struct filter *filter_memory(const struct header *header, const struct filter_watch *watch,
                             struct fault *fault);

/* NULL is allowed. */
void filter_close(struct filter *filter);

const struct header *filter_header(const struct filter *filter);
const char *filter_path(const struct filter *filter);      /* NULL in memory */
const char *filter_real_path(const struct filter *filter); /* without links, at opening */
/* The path, or words for a filter in memory. */
const char *filter_name(const struct filter *filter);
uint64_t filter_file_bytes(const struct filter *filter); /* apparent size; 0 in memory */
/* How many of these bytes belong to stages, which take disk space only while in use. */
uint64_t filter_stage_bytes(const struct filter *filter);
uint64_t filter_end(const struct filter *filter); /* where the last layer ends in the file */
unsigned filter_layers(const struct filter *filter);
uint64_t filter_capacity(const struct filter *filter); /* keys that the layers have room for */

/* Keys counted so far: exact in memory, a hint in a file. */
uint64_t filter_keys(const struct filter *filter);

/* How often keys were settled in the file, by any process. */
uint64_t filter_settlings(const struct filter *filter);

/* The open file, for its queue (queue/queue.h); -1 in memory. It stays the filter's. */
int filter_descriptor(const struct filter *filter);

/* The kind of the queue, QUEUE_NONE or another (format/shared.h). */
uint8_t filter_queue(const struct filter *filter);

/* About a layer, from 0 on, oldest first. Keys in its staging area are counted, and have no bits
 * yet. */
struct layer_plan filter_plan(const struct filter *filter, unsigned layer);
const struct bits *filter_bits(const struct filter *filter, unsigned layer);
uint64_t filter_layer_keys(const struct filter *filter, unsigned layer);

/* Sets seen[i] = 1 for each key that is in, else 0. Maps new layers first. No lock; about 10 to 60
 * ns per key. Returns 0, or -1 with the fault. */
int filter_test(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                struct fault *fault);

/* Keeps every process from changing this file, which is open for writing, and its queue, until
 * filter_thaw. For replacing the file: other writers wait, and then notice the replacement. Returns
 * 0, or -1 with the fault. */
int filter_freeze(struct filter *filter, struct fault *fault);
void filter_thaw(struct filter *filter);

/* Flushes the file to disk, with all that other writers have settled in it. Without LOCK_CHANGE, as
 * that takes as long as the disk. Returns 0, or -1 with the fault. In memory 0. */
int filter_flush(const struct filter *filter, struct fault *fault);

/* Checks that the path still leads to the open file; for a writer at most every 10 ms, as settling
 * checks each time. A reader sees all that was settled before this call. Returns 0, or -1 with the
 * fault: the file was replaced, removed, or copied by its overlay. In memory 0. */
int filter_check_name(struct filter *filter, struct fault *fault);

/* Whether this is the same file (device and inode). */
bool filter_is_file(const struct filter *filter, const struct stat *stat);
/* Whether an open regular file begins as a filter. Does not move its offset. */
bool filter_begins(int fd);

/* --- reading its pages (pages.c) --- */

/* A hint that this run will test about this many keys: if they touch much of the filter, its pages
 * are read in bulk. A wrong hint costs only time. */
void filter_expect(struct filter *filter, uint64_t keys);

/* Reads ahead the next slice of layers that filter_expect chose, the first of 16 MB, later ones of
 * up to an eighth of a layer; or maps it for writing. To be called now and then. Takes a quarter of
 * the time of reading it if the disk is fast, nearly all if it is slow, and nothing in the end. */
void filter_next_slice(struct filter *filter);

/* Before a run reads a layer from front to back: tells the system so, and asks it to read all of it
 * now, unless that is more than half of memory. Never fails. */
void filter_read_all(const struct filter *filter, unsigned layer);

/* --- the staging areas of large layers (stage.c) --- */

/* Whether a writer ended while it emptied the stage of a layer. All keys are still in the stage. */
bool filter_is_half_emptied(const struct filter *filter, unsigned layer);

/* Reads the keys of a stage that fall on pages from..end of its layer, from the file, without a
 * lock, roughly in the order of these pages; 1 ns per place. If the stage is emptied meanwhile,
 * keys that are missed are in the layer by then. filter_read_stage fills `keys` and returns how
 * many; 0 at the end; -1 with the fault, with EINTR after a signal. */
enum { STAGE_PIECE = 512 };
struct stage_reader {
    const struct filter *filter;
    unsigned layer;
    uint64_t from, end;   /* pages */
    uint64_t place, last; /* places of the table that are still to be read */
};
struct stage_reader filter_stage_reader(const struct filter *filter, unsigned layer, uint64_t from,
                                        uint64_t end);
ptrdiff_t filter_read_stage(struct stage_reader *reader, struct key keys[STAGE_PIECE],
                            struct fault *fault);

/* Counts the keys of a stage that fall on pages from..end and are not in its layer. Returns 0, or
 * -1 as filter_read_stage. */
int filter_count_staged(const struct filter *filter, unsigned layer, uint64_t from, uint64_t end,
                        uint64_t *keys, struct fault *fault);

/* How many pages of a layer may be dirty at a time: a sixteenth of the memory, from 64 MB to 1 GB,
 * which is less than where the system begins to write back. */
uint64_t filter_stretch(void);

/* --- removing keys from a counting filter (removal.c) --- */

/* What became of a line that was to be removed. */
enum removal {
    REMOVAL_DONE,
    REMOVAL_ABSENT,   /* it was not in */
    REMOVAL_AMBIGUOUS /* several layers seem to have it, all but one falsely: nothing was done */
};

/* Removes up to BATCH_KEYS keys, in order; removals[i] is an enum removal. Keys in flight are not
 * in. Returns how many were removed, or -1 with the fault: none was, then. If the process is
 * killed, each key is removed completely or not at all. */
ptrdiff_t removal_remove(struct filter *filter, const struct key *keys, size_t n, uint8_t *removals,
                         struct fault *fault);

/* Whether a removal was killed, so that the next writer will undo its last key. */
bool removal_is_unfinished(const struct filter *filter);

/* --- windows (window.c); times are milliseconds since 1970 --- */

/* The generation in a layer of a window. */
struct generation {
    uint64_t number; /* from 1 on, larger ones are newer; 0: none */
    bool retired;    /* the layer is being cleared, or was when a writer died */
    bool filling;    /* new lines go here */
    bool expired;    /* by time: forgotten, and to be cleared */
    bool behind;     /* by time: the clock was set back while lines were added */
    uint64_t began;
    uint64_t ends; /* by time: when it expires if no more lines are added; else 0 */
};
struct generation filter_generation(const struct filter *filter, unsigned layer);

/* Whether a writer is clearing a layer, or growing, right now. */
bool filter_is_turning(const struct filter *filter);

/* Of a window by time: the latest time in it, if that is ahead of the clock by more than a
 * generation, so that nothing is forgotten until then; else 0. */
uint64_t filter_clock_ahead(const struct filter *filter);

#endif
