/*
 * filter_internal - what the files behind filter.h share: filter.c (opening, looking),
 * room.c, window.c, claim.c, hold.c, removal.c. For nobody else.
 */
#ifndef UNSEEN_STORE_INTERNAL_H
#define UNSEEN_STORE_INTERNAL_H

#include "core/kernel.h"
#include "delivery/filter.h"
#include "delivery/flight.h"
#include "delivery/key_set.h"

#include <sys/types.h>

enum { MEMORY_BATCH = 2048 }; /* keys a claim, where no slot limits it */

struct layer {
    struct bits bits;
    struct layer_plan plan;
    uint64_t at;      /* where it begins in the file */
    uint64_t set;     /* keys, by this run */
    bool in_bulk;     /* its pages were asked for in bulk */
    uint64_t to_read; /* pages at its end that are still to be read ahead */
    /* In memory only: */
    uint64_t keys; /* exact */
    void *map;     /* what is unmapped; larger than the pages, for the sake of alignment */
    size_t map_bytes;
};

/* Where a page of a layer lies in the file. */
static inline uint64_t page_at(const struct layer *layer, uint64_t page)
{
    return layer->at + page * PAGE_BYTES;
}

static inline bool is_stage(const struct layer *layer)
{
    return layer->plan.journal != 0;
}

struct filter {
    const struct kernel *kernel;
    struct header header;
    struct layer layers[LAYERS_MAX];
    unsigned count;
    struct filter_watch watch;

    /* In memory, of any number of lines: the keys in its small first layer; NULL: that is gone. */
    struct key *small_keys;

    /* The rest is for files. */
    char *path;
    int fd; /* -1 in memory */
    bool write;
    dev_t device;
    ino_t inode;
    int64_t named_at; /* when the path led to this file, in milliseconds of a coarse clock */
    uint8_t *fixed;   /* the mapped fixed part; of a window in memory, its own page of states */
    unsigned slot;
    struct flight *flight;
    uint64_t claimed_at; /* the counter of settlings when what is in flight was claimed */
    uint64_t emptied;    /* how often a stage had been emptied when room was looked for */
    struct hold *hold;   /* long flights; NULL: batches */
    struct key_set *attached[SLOTS_MAX]; /* long flights of others, as far as they were met */
    uint64_t attached_mark[SLOTS_MAX];   /* which one of the slot's it was */

    /* So often room was made since the counter of settlings stood here. */
    unsigned tries;
    uint64_t tried_at;
};

/* --- shared words of the mapped fixed part: little-endian, read and written whole --- */

static inline uint64_t get64(const struct filter *filter, size_t at)
{
    const void *word = filter->fixed + at;
    return LITTLE64(__atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE));
}

static inline void put64(struct filter *filter, size_t at, uint64_t value)
{
    void *word = filter->fixed + at;
    __atomic_store_n((uint64_t *)word, LITTLE64(value), __ATOMIC_RELEASE);
}

static inline uint32_t get32(const struct filter *filter, size_t at)
{
    const void *word = filter->fixed + at;
    return LITTLE32(__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE));
}

static inline void put32(struct filter *filter, size_t at, uint32_t value)
{
    void *word = filter->fixed + at;
    __atomic_store_n((uint32_t *)word, LITTLE32(value), __ATOMIC_RELEASE);
}

/* What was read or written before is so for other processes, too, before what comes after. (The thread
 * sanitizer knows no fences, and no other process.) */
static inline void in_order_for_others(void)
{
#ifdef __SANITIZE_THREAD__
    __atomic_signal_fence(__ATOMIC_ACQ_REL);
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

static inline size_t keys_at(unsigned layer)
{
    return COUNTER_KEYS_AT + (size_t)layer * 8;
}

static inline size_t slot_at(unsigned slot)
{
    return SLOTS_AT + (size_t)slot * SLOT_BYTES;
}

static inline uint8_t *slot_keys(const struct filter *filter, unsigned slot)
{
    return filter->fixed + FLIGHT_AT + slot_first(&filter->header, slot) * KEY_BYTES;
}

/* --- filter.c --- */

int filter_take_lock(struct filter *filter, unsigned lock, struct fault *fault);
/* LOCK_CHANGE, in order to settle: not in a file that no name leads to any more. */
int filter_take_to_settle(struct filter *filter, struct fault *fault);
/* Tests keys not yet seen against the layers, newest first. */
void filter_test_layers(const struct filter *filter, const struct key *keys, size_t n,
                        uint8_t *seen);
/* Another free slot, after this one, is this writer's. Precondition: nothing is in flight. Returns -1
 * with the fault: there is none. */
int filter_change_slot(struct filter *filter, struct fault *fault);
/* Maps layers that another writer has added. */
int filter_refresh(struct filter *filter, struct fault *fault);
int filter_map_memory(struct filter *filter, const struct layer_plan *plan, struct fault *fault);
/* Precondition: filter->small_keys. A large first layer takes the place of the small one, with its keys. */
int filter_enlarge(struct filter *filter, struct fault *fault);
int filter_map_file(struct filter *filter, const struct layer_record *record, struct fault *fault);

/* --- pages.c --- */

/* Under LOCK_CHANGE: sets the bits of keys in a layer of a file. */
void filter_set_keys(struct filter *filter, unsigned index, const struct key *keys, size_t n);

/* Pages from..end of a layer of a file will all be written. Returns -1 with the fault if a signal wants
 * the program to end. */
int filter_populate_to_write(const struct filter *filter, unsigned layer, uint64_t from,
                             uint64_t end, struct fault *fault);

/* In memory: asks for large pages. */
void filter_use_huge_pages(struct layer *layer);
enum {
    HUGE_BYTES = 2 << 20,
    HUGE_FROM = 16384 /* keys in a layer from which on large pages pay */
};

/* --- room.c --- */

/* Makes room for more keys: adds a layer, or turns a window to its next generation. Of a file:
 * LOCK_CHANGE must not be held, and somebody else may have done it. */
int filter_grow(struct filter *filter, struct fault *fault);

/* --- window.c; all but filter_newest are for windows --- */

static inline bool filter_is_window(const struct filter *filter)
{
    return filter->header.plan.generations != 0;
}

/* The layer for keys that fit nowhere. */
unsigned filter_newest(const struct filter *filter);
/* The layer that new keys go into; filter->count if there is none, or its time is over. */
unsigned filter_window_filling(const struct filter *filter);
/* Under LOCK_CHANGE: keys were settled in the layer. */
void filter_window_settled(struct filter *filter, unsigned layer);

/* The time, in milliseconds, for filter_window_expired; 0 if the window is not by time. */
uint64_t filter_window_now(const struct filter *filter);
/* Whether the layer's lines are forgotten, though its bits may be set. */
bool filter_window_expired(const struct filter *filter, unsigned layer, uint64_t now);

/* Under LOCK_GROW: the layer that is emptied next; filter->count if none may be yet. */
unsigned filter_window_next(const struct filter *filter);
/* Under LOCK_GROW, and not LOCK_CHANGE: empties the layer and makes it the newest generation. */
int filter_window_turn(struct filter *filter, unsigned layer, struct fault *fault);

/* --- stage.c --- */

/* Keys in a stage; in a layer that is none, 0. */
uint64_t filter_staged(const struct filter *filter, unsigned layer);
/* The stage to be emptied before its layer takes in more; filter->count if there is none. */
unsigned filter_stage_next(const struct filter *filter);
/* Whether a stage is being emptied, or was when its writer died: it takes no keys. */
bool filter_stage_emptying(const struct filter *filter);
/* Under LOCK_CHANGE: keys go into a stage: its journal, its counter, its bits. */
void filter_stage_keys(struct filter *filter, unsigned stage, const struct key *keys, size_t n);
/* Under LOCK_CHANGE, right after it was taken, if STAGE_SETTING_AT is not 0: what a writer killed in
 * filter_stage_keys left half done. If the journal cannot be read, it stays so. */
void filter_stage_finish(struct filter *filter);
/* Under LOCK_GROW, and not LOCK_CHANGE: sets all keys of a stage in the layer behind it, and empties
 * it. Returns -1 with the fault; then all is as it was, or the next writer does it again. */
int filter_stage_empty(struct filter *filter, unsigned stage, struct fault *fault);

/* --- claim.c --- */

/* Where a key goes that comes behind others which are not settled yet: a layer, and how many more
 * after it go there too. */
struct place {
    unsigned layer; /* filter->count: a new one is needed */
    uint64_t left;
};
struct place filter_place_behind(const struct filter *filter, uint64_t ahead);

/* The flight has room for so many keys. Precondition: it is empty. Returns -1 with the fault. */
int filter_fit_flight(struct filter *filter, size_t room, struct fault *fault);

/* Under LOCK_CHANGE: keys that were looked for without it are looked for again, if others have
 * settled any since the counter stood at `settled`, or added a layer. Returns -1 with the fault. */
int filter_look_again(struct filter *filter, const struct key *keys, size_t n, uint64_t settled,
                      uint8_t *seen, struct fault *fault);

/* Under LOCK_CHANGE: marks as seen those of the keys that another live writer has in flight, and
 * counts in *total what live others have in flight. Returns -1 with the fault. */
int filter_look_at_others(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                          uint64_t *total, struct fault *fault);

/* --- counter.c --- */

/* Sets counters that are far behind the bits to what a sample tells. LOCK_CHANGE must not be held. */
void filter_mend_counters(struct filter *filter);

/* --- removal.c --- */

/* Under LOCK_CHANGE, right after it was taken: undoes what a killed remove left half done. Returns -1
 * with the fault. */
int filter_finish_removal(struct filter *filter, struct fault *fault);

/* --- hold.c --- */

/* Before each claim of at most `n` keys: what it takes into flight can be shown to others. */
int filter_prepare_held(struct filter *filter, size_t n, struct fault *fault);
bool filter_held_exactly(const struct filter *filter);
ptrdiff_t filter_claim_exactly(struct filter *filter, const struct key *keys, size_t n,
                               uint64_t most_new, uint8_t *seen, struct fault *fault);
/* Under LOCK_CHANGE: these keys are in flight, too. Other writers see them. */
void filter_show_held(struct filter *filter, const struct key *keys, size_t n);
int filter_settle_batch_held(struct filter *filter, size_t delivered, struct fault *fault);
void filter_hold_free(struct filter *filter);
/* Under LOCK_CHANGE: what a dead owner of this writer's slot left. */
void filter_forget_hold(struct filter *filter);
/* The other's long flight in a slot: marks as seen what is in it. Returns -1 with the fault. */
int filter_look_into_hold(struct filter *filter, unsigned slot, const struct key *keys, size_t n,
                          uint8_t *seen, struct fault *fault);

#endif
