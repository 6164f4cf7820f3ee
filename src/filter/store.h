/*
 * store - the layers of one filter, in a file or in memory.
 *
 * Reading needs no lock (filter/filter.h). One thread at a time uses a struct store.
 */
#ifndef UNSEEN_FILTER_STORE_H
#define UNSEEN_FILTER_STORE_H

#include "core/growth.h"
#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct store;

enum { BATCH_KEYS = 2048 }; /* at most so many are tested at a time */

/* Callbacks for the user. The pointer and its members may be NULL. */
struct store_watch {
    /* A layer was added. */
    void (*grew)(const struct store *store, unsigned layers);
    /* It has waited five seconds for the lock of another writer. */
    void (*waits)(const struct store *store, bool to_the_end); /* system/lock.h */
    /* It has waited as long for a slot: SLOTS_MAX runs have lines in flight. */
    void (*waits_for_slot)(const struct store *store);
};

/* Opens a filter file. For reading, nothing is ever written. For writing, refuses file systems
 * where writers would not see each other (system/network.h). Returns NULL with the fault;
 * fault->error is ENOENT if there is no file. */
struct store *store_open(const char *path, bool write, const struct store_watch *watch,
                         struct fault *fault);

/* NULL is allowed. */
void store_close(struct store *store);

const struct header *store_header(const struct store *store);
const char *store_path(const struct store *store);      /* NULL in memory */
const char *store_real_path(const struct store *store); /* without links, at opening */
/* The path, or words for a filter in memory. */
const char *store_name(const struct store *store);
uint64_t store_file_bytes(const struct store *store); /* apparent size; 0 in memory */
/* How many of these bytes belong to stages, which take disk space only while in use. */
uint64_t store_stage_bytes(const struct store *store);
uint64_t store_end(const struct store *store); /* where the last layer ends in the file */
unsigned store_layers(const struct store *store);
uint64_t store_capacity(const struct store *store); /* keys that the layers have room for */

/* Keys counted so far: exact in memory, a hint in a file. */
uint64_t store_keys(const struct store *store);

/* How often keys were settled in the file, by any process. */
uint64_t store_settlings(const struct store *store);

/* The kind of the queue, QUEUE_NONE or another (format/shared.h). */
uint8_t store_queue(const struct store *store);

/* About a layer, from 0 on, oldest first. Keys in its stage are counted, and have no bits yet. */
struct layer_plan store_plan(const struct store *store, unsigned layer);
const struct bits *store_bits(const struct store *store, unsigned layer);
uint64_t store_layer_keys(const struct store *store, unsigned layer);

/* Keeps every process from changing this file, which is open for writing, and its queue, until
 * store_thaw. For replacing the file: other writers wait, and then notice the replacement. Returns
 * 0, or -1 with the fault. */
int store_freeze(struct store *store, struct fault *fault);
void store_thaw(struct store *store);

/* Flushes the file to disk, with all that other writers have settled in it. Without LOCK_CHANGE, as
 * that takes as long as the disk. Returns 0, or -1 with the fault. In memory 0. */
int store_flush(const struct store *store, struct fault *fault);

/* Checks that the path still leads to the open file; for a writer at most every 10 ms, as settling
 * checks each time. A reader sees all that was settled before this call. Returns 0, or -1 with the
 * fault: the file was replaced, removed, or copied by its overlay. In memory 0. */
int store_check_name(struct store *store, struct fault *fault);

/* Whether this is the same file (device and inode). */
bool store_is_file(const struct store *store, const struct stat *stat);
/* Whether an open regular file begins as a filter. Does not move its offset. */
bool store_begins(int fd);

#endif
