/*
 * internal - what the files of store and delivery share of an open filter. For nobody else.
 */
#ifndef UNSEEN_STORE_INTERNAL_H
#define UNSEEN_STORE_INTERNAL_H

#include "core/kernel.h"
#include "store/store.h"

enum { BATCH_KEYS = 2048 }; /* that are looked for at a time */

/* A run of pages with bits in them. */
struct region {
    struct layer_plan plan; /* of a stage, as of any layer; without a stage itself */
    struct bits bits;
    uint64_t journal;     /* of a stage: pages for its keys, right after its own; else 0 */
    uint64_t at;          /* where it begins in the file */
    size_t keys_at;       /* where its counter is in the fixed part */
    uint64_t set;         /* keys, by this run */
    bool in_bulk;         /* its pages were asked for in bulk */
    uint64_t to_read;     /* pages at its end that are still to be read ahead */
    bool began_empty;     /* a layer with a stage: it had no data when this run opened it */
    uint64_t began_at;    /* when so many stages had been emptied */
    uint64_t reserved;    /* of a stage: for so many keys this run has asked for blocks, */
    uint64_t reserved_at; /* when stages had been emptied so often: void after the next time */
};

struct layer {
    struct region region;
    struct region stage; /* plan.pages 0: it has none */
};

static inline bool has_stage(const struct layer *layer)
{
    return layer->stage.plan.pages != 0;
}

static inline bool is_stage(const struct region *region)
{
    return region->journal != 0;
}

/* Where a page of a region lies in the file. */
static inline uint64_t page_at(const struct region *region, uint64_t page)
{
    return region->at + page * PAGE_BYTES;
}

/* The open file. */
struct open_file {
    char *path;
    char *real; /* the same without symbolic links, which may lead elsewhere by and by */
    int fd;     /* -1: there is none, the filter is in memory */
    const struct repair *repairs; /* NULL: open for reading */
    struct stat status;           /* as it was when it was opened */
    int64_t named_at;             /* when the path led to this file, by clock_monotonic */
};

struct store {
    const struct kernel *kernel;
    struct header header;
    unsigned count; /* of layers */
    uint8_t *fixed; /* the fixed part: mapped, or in memory as far as that needs it */
    struct open_file file;
    struct memory *memory; /* NULL: it is in a file */
    struct store_watch watch;
    bool settling;     /* what was delivered is settled: no signal ends that, nor a wait for it */
    uint64_t emptied;  /* how often a stage had been emptied when LOCK_CHANGE was taken last */
    unsigned tries;    /* so often room was made since */
    uint64_t tried_at; /* the counter of settlings stood here */
    bool asked;        /* for the pages of the first keys that were tested */
    struct layer layers[LAYERS_MAX]; /* the last member: those from `count` on are not cleared */
};

/* --- shared words of the fixed part: little-endian, read and written whole --- */

static inline uint64_t get64(const struct store *store, size_t at)
{
    const void *word = store->fixed + at;
    return LITTLE64(__atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE));
}

static inline void put64(struct store *store, size_t at, uint64_t value)
{
    void *word = store->fixed + at;
    __atomic_store_n((uint64_t *)word, LITTLE64(value), __ATOMIC_RELEASE);
}

static inline uint32_t get32(const struct store *store, size_t at)
{
    const void *word = store->fixed + at;
    return LITTLE32(__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE));
}

static inline void put32(struct store *store, size_t at, uint32_t value)
{
    void *word = store->fixed + at;
    __atomic_store_n((uint32_t *)word, LITTLE32(value), __ATOMIC_RELEASE);
}

static inline uint64_t region_keys(const struct store *store, const struct region *region)
{
    return get64(store, region->keys_at);
}

static inline void count_keys(struct store *store, const struct region *region, uint64_t more)
{
    put64(store, region->keys_at, region_keys(store, region) + more);
}

/* Whether all keys of a layer are in its stage, so that nobody need look into the layer. To be
 * asked after a look into the stage: keys get into a layer either while its stage is emptied, which
 * is marked, and counted when it is done, or by themselves, which is counted. If there is nothing
 * of that after the look, the stage still had all its keys. (The layer's own count does not tell
 * for both: who is killed between two counters leaves it at 0.) */
static inline bool layer_is_empty(const struct store *store, const struct layer *layer)
{
    return layer->region.began_empty && get64(store, STAGE_EMPTYING_AT) == 0 &&
           get64(store, STAGE_EMPTIED_AT) == layer->region.began_at &&
           region_keys(store, &layer->region) == 0;
}

/* Others who looked for a key without the lock must look again. */
static inline void count_settling(struct store *store)
{
    put64(store, COUNTER_SETTLED_AT, get64(store, COUNTER_SETTLED_AT) + 1);
}

/* What was read or written before is so for other processes, too, before what comes after. (The
 * thread sanitizer knows no fences, and no other process.) */
static inline void in_order_for_others(void)
{
#ifdef __SANITIZE_THREAD__
    __atomic_signal_fence(__ATOMIC_ACQ_REL);
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

static inline bool is_window(const struct store *store)
{
    return store->header.plan.window;
}

/* --- store.c --- */

struct store *store_new(const struct store_watch *watch, struct fault *fault);

/* LOCK_CHANGE, under which bits, counters and slots change. Whoever has it knows all layers, and
 * what a killed writer left half done is mended. Returns 0, or -1 with the fault. In memory there
 * is nothing to lock. */
int store_lock(struct store *store, struct fault *fault);
/* The same in order to settle: not in a file that no name leads to any more. */
int store_lock_to_settle(struct store *store, struct fault *fault);
void store_unlock(struct store *store);

/* LOCK_GROW, under which room is made. LOCK_CHANGE, if both are needed, comes after it. */
int store_lock_room(struct store *store, struct fault *fault);
void store_unlock_room(struct store *store);

/* Told to end (but not while it settles), or to stop (Ctrl-Z), in the middle of work that may take
 * as long as a disk does. Returns 0, or -1 with the fault, whose error is EINTR or, to stop,
 * ECANCELED: what locks are held must be dropped, and the work begun again. */
int store_check_signals(const struct store *store, struct fault *fault);

/* Tells the watch of the store `context` that it waits. */
void store_tell_waiting(void *context, bool to_the_end);

/* Maps layers that another writer has added. */
int store_refresh(struct store *store, struct fault *fault);

/* Maps one layer of a file. */
int store_map_layer(struct store *store, const struct layer_record *record, struct fault *fault);

#endif
