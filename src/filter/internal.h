/*
 * internal - what the files of this room share of an open filter. For nobody else.
 */
#ifndef UNSEEN_FILTER_INTERNAL_H
#define UNSEEN_FILTER_INTERNAL_H

#include "core/kernel.h"
#include "filter/filter.h"
#include "filter/flight.h"
#include "system/side_file.h"

/* Where the keys of a layer gather (filter/stage.h). */
struct stage {
    uint64_t pages;    /* 0: the layer has none */
    uint64_t at;       /* where it begins in the file */
    struct key *table; /* mapped, as it is in the file: little-endian */
    bool unused;       /* by this run */
    uint64_t ours;     /* the era in which this run asked for its blocks */
    uint64_t full;     /* the era in which this run found it full */
    uint64_t unplaced; /* keys for which this run found no place */
};

struct layer {
    struct layer_plan plan;
    struct bits bits;
    uint64_t at;      /* where it begins in the file */
    size_t state_at;  /* where its state is in the fixed part */
    bool in_bulk;     /* its pages were asked for in bulk */
    uint64_t to_read; /* pages at its end that are still to be read ahead */
    bool began_empty; /* a layer with a stage: it had no data when this run opened it */
    struct stage stage;
};

static inline bool has_stage(const struct layer *layer)
{
    return layer->stage.pages != 0;
}

/* Where a page of a layer lies in the file. */
static inline uint64_t page_at(const struct layer *layer, uint64_t page)
{
    return layer->at + page * PAGE_BYTES;
}

/* The open file. */
struct open_file {
    char *path;
    char *real;         /* the same without symbolic links, which may lead elsewhere by and by */
    int fd;             /* -1: there is none, the filter is in memory */
    bool write;         /* it is open for writing */
    struct stat status; /* as it was when it was opened */
    int64_t named_at;   /* when the path led to this file, by clock_monotonic */
};

struct store {
    const struct kernel *kernel;
    struct header header;
    unsigned count;    /* of layers */
    uint8_t *metadata; /* all before the layers: mapped, or in memory as far as needed */
    struct open_file file;
    struct key *noted; /* in memory: those of a small first layer; NULL: there is none */
    struct store_watch watch;
    bool settling; /* what was delivered is settled: no signal ends that, nor a wait for it */
    bool asked;    /* for the pages of the first keys that were tested */
    struct layer layers[LAYERS_MAX]; /* the last member: those from `count` on are not cleared */
};

/* A flight of another writer, in a file. */
struct attached {
    struct flight flight;
    uint64_t file; /* its inode number */
    char path[SIDE_FILE_NAME_MAX];
};

struct filter {
    struct store *store;
    bool writes;                   /* to a file: it has a slot */
    unsigned slot;                 /* then */
    struct flight flight;          /* log NULL: it has none, as in memory */
    bool holds;                    /* what is in flight stays there for longer than a batch */
    uint64_t delivered;            /* of the keys in flight, those whose lines were handed on */
    uint64_t claimed_at;           /* the counter of settlings when they were claimed */
    char path[SIDE_FILE_NAME_MAX]; /* of the flight's file */
    struct flight expected;        /* log NULL: nothing is */
    uint64_t came_again;           /* of what is expected */
    struct attached *attached[SLOTS_MAX];
};

/* --- shared words of the metadata: little-endian, read and written whole --- */

static inline uint64_t get64(const struct store *store, size_t at)
{
    const void *word = store->metadata + at;
    return LITTLE64(__atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE));
}

static inline void put64(struct store *store, size_t at, uint64_t value)
{
    void *word = store->metadata + at;
    __atomic_store_n((uint64_t *)word, LITTLE64(value), __ATOMIC_RELEASE);
}

static inline uint32_t get32(const struct store *store, size_t at)
{
    const void *word = store->metadata + at;
    return LITTLE32(__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE));
}

static inline void put32(struct store *store, size_t at, uint32_t value)
{
    void *word = store->metadata + at;
    __atomic_store_n((uint32_t *)word, LITTLE32(value), __ATOMIC_RELEASE);
}

static inline uint64_t layer_keys(const struct store *store, const struct layer *layer)
{
    return get64(store, layer->state_at + LAYER_KEYS);
}

static inline void count_keys(struct store *store, const struct layer *layer, uint64_t more)
{
    put64(store, layer->state_at + LAYER_KEYS, layer_keys(store, layer) + more);
}

/* Whether all keys of a layer are in its stage, so that nobody need look into the layer. To be
 * asked after a look into the stage. Of a copy, or after a power cut, the word may be older than
 * the bits: so it counts only where there was no data. */
static inline bool layer_is_empty(const struct store *store, const struct layer *layer)
{
    return layer->began_empty && get64(store, layer->state_at + LAYER_HAS_BITS) == 0;
}

/* Others who looked for a key without the lock must look again. */
static inline void count_settling(struct store *store)
{
    put64(store, COUNTER_SETTLED_AT, get64(store, COUNTER_SETTLED_AT) + 1);
}

/* What was read or written before is so for other processes, too, before what comes after. (The
 * thread sanitizer knows no fences, and no other process.) */
static inline void fence_for_others(void)
{
#ifdef __SANITIZE_THREAD__
    __atomic_signal_fence(__ATOMIC_ACQ_REL);
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

static inline bool in_memory(const struct store *store)
{
    return store->file.fd < 0;
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

/* LOCK_HELD, under which keys that were held are settled; the first of them all. */
int store_lock_held(struct store *store, struct fault *fault);
void store_unlock_held(struct store *store);

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
