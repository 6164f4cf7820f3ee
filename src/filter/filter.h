/*
 * filter - FILTER: its layers of bits, its header and counters, in a file or in memory.
 *
 * Reading needs no lock (filter/writer.h). One thread at a time uses a struct filter.
 */
#ifndef UNSEEN_FILTER_FILTER_H
#define UNSEEN_FILTER_FILTER_H

#include "core/growth.h"
#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct filter;

enum { BATCH_KEYS = 2048 }; /* at most so many are tested at a time */

/* Callbacks for the user. The pointer and its members may be NULL. */
struct filter_watch {
    /* A layer was added. */
    void (*grew)(const struct filter *filter, unsigned layers);
    /* It has waited five seconds for the lock of another writer. */
    void (*waits)(const struct filter *filter, bool to_the_end); /* system/lock.h */
    /* It has waited as long for a slot: SLOTS_MAX runs have lines in flight. */
    void (*waits_for_slot)(const struct filter *filter);
};

/* Opens a filter file. For reading, nothing is ever written. For writing, refuses file systems
 * where writers would not see each other (system/network.h). Returns NULL with the fault;
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

/* About a layer, from 0 on, oldest first. Keys in its stage are counted, and have no bits yet. */
struct layer_plan filter_plan(const struct filter *filter, unsigned layer);
const struct bits *filter_bits(const struct filter *filter, unsigned layer);
uint64_t filter_layer_keys(const struct filter *filter, unsigned layer);

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

#endif
