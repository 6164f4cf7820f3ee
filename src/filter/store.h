/*
 * store - the layers of one filter, in a file or in memory: what is in, and what it is made of.
 *
 * Whoever only looks needs no lock: bits go from 0 to 1, except in windows that turn; and keys
 * leave a stage when their bits are set (filter/filter.h).
 *
 * One thread at a time uses a struct store.
 */
#ifndef UNSEEN_FILTER_STORE_H
#define UNSEEN_FILTER_STORE_H

#include "core/growth.h"
#include "format/header.h"
#include "system/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct store;

enum { BATCH_KEYS = 2048 }; /* that are looked for at a time */

/* What a filter tells while it works. It may be NULL, as may its members. */
struct store_watch {
    /* It grew: another layer was added. */
    void (*grew)(const struct store *store, unsigned layers);
    /* It has waited five seconds for another writer's lock. */
    void (*waits)(const struct store *store, bool to_the_end); /* system/lock.h */
};

/* Opens a filter file. For reading, the file and the file system may be read-only, and nothing is
 * ever written. For writing it is refused where writers would not see each other
 * (system/network.h). Returns NULL with the fault; fault->error is ENOENT if there is no file. */
struct store *store_open(const char *path, bool write, const struct store_watch *watch,
                         struct fault *fault);

/* NULL is allowed. */
void store_close(struct store *store);

/* Allows one to be opened that is only read. */
void store_allow(const char *path, struct confine *confine);

/* What it is. */
const struct header *store_header(const struct store *store);
const char *store_path(const struct store *store);      /* NULL in memory */
const char *store_real_path(const struct store *store); /* as it was when it was opened */
/* The same, or a word for what has no path. */
const char *store_name(const struct store *store);
uint64_t store_file_bytes(const struct store *store); /* apparent size; 0 in memory */
/* How many of these bytes belong to stages, which are on disk only while these are in use. */
uint64_t store_stage_bytes(const struct store *store);
uint64_t store_end(const struct store *store); /* where the last layer ends in the file */
unsigned store_layers(const struct store *store);
uint64_t store_capacity(const struct store *store); /* keys that the layers have room for */

/* Keys counted so far: exact in memory, a hint in a file. */
uint64_t store_keys(const struct store *store);

/* How often keys were settled in a file, by anybody. */
uint64_t store_settlings(const struct store *store);

/* The kind of queue beside a file, QUEUE_NONE or another one (format/shared.h). */
uint8_t store_queue(const struct store *store);

/* Of a layer, from 0 on, the oldest first. Keys in its stage are counted, and have no bits. */
struct layer_plan store_plan(const struct store *store, unsigned layer);
const struct bits *store_bits(const struct store *store, unsigned layer);
uint64_t store_layer_keys(const struct store *store, unsigned layer);

/* From now on nobody, in any process, changes this file, which is open for writing, or its queue,
 * until it is thawed: who wants to, waits. Returns 0, or -1 with the fault. For making a file that
 * takes its place: what others would then settle in the old one would be lost, and they notice. */
int store_freeze(struct store *store, struct fault *fault);
void store_thaw(struct store *store);

/* Whether the path still names the open file, if that was not asked in the last 10 ms. Returns 0,
 * or -1 with the fault: it was replaced or removed. (Settling asks each time.) In memory 0. */
int store_check_name(struct store *store, struct fault *fault);
/* Whether this is the same file (device and inode). */
bool store_is_file(const struct store *store, const struct stat *stat);
/* Whether an open regular file begins as a filter file does. Nobody's offset moves. */
bool store_begins(int fd);

#endif
