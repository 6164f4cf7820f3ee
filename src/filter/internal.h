/*
 * internal - an open filter as the files of this directory see it: who writes what, under which
 * lock; its structs; what the files call of each other.
 *
 * Locks. Of the first four, a process takes each before those below it:
 *   LOCK_HELD    while held keys are settled, as long as that takes
 *   LOCK_GROW    while room is made, as long as the disk takes
 *   LOCK_QUEUE   for the queue (queue/queue.h): alone, except by merge
 *   LOCK_CHANGE  for bits, counters, slots and flights: for one batch of keys at a time
 *   LOCK_SLOT+i  for slot i: proves that its owner is alive. The first 64 are held from open to
 *                close, the others while keys are in flight, so that idle writers block nobody
 *   LOCK_WAITING while all slots are taken: its holder looks for a free one, the others wait
 * Four more are of other files: LOCK_MAKING of a new file until it has its name (io/newfile.h),
 * LOCK_FLIGHT of a side file with keys in flight (flight.h), LOCK_PENDING of a pending file that is
 * being written (pending.h), and LOCK_OUTPUT of a file that lines are appended to (io/output.h).
 *
 * What each operation does:
 *   open       LOCK_CHANGE to take a slot and clear what dead owners left in all, and to raise a
 *              counter that is far too low for the bits.
 *   claim      Tests keys without a lock. If any are new, takes a slot, unless it has one, and
 *              LOCK_CHANGE, and writes keys to its flight: salt, keys, places, then the count.
 *   keep       Undelivered keys leave the flight, last first, without a lock. (A larger flight is
 *              made without a lock, too, and published under LOCK_CHANGE.)
 *   settle     LOCK_CHANGE for each batch: sets bits, then counters; with the last batch, empties
 *              the flight. Held keys are settled under LOCK_HELD, so a merge over the file sees all
 *              of them or none.
 *   add        Claims and settles under one LOCK_CHANGE, whatever others have in flight.
 *   make room  LOCK_GROW. Allocates a layer after the end of the file, writes its record, then the
 *              count of layers, each flushed. Or allocates the staging area of a layer (stage.c),
 *              then begins its era, flushed.
 *   turn       LOCK_GROW, and LOCK_CHANGE for two moments: marks the oldest layer as retired,
 *              clears and flushes it without LOCK_CHANGE, gives it the next number (window.c).
 *   empty      LOCK_GROW, and LOCK_CHANGE for moments: marks a stage, sets its keys in the layer,
 *              512 at a time, flushes, ends the era, frees the blocks, clears the mark (stage.c).
 *   remove     LOCK_CHANGE for up to 2048 keys. A journal of one page lets the next holder of the
 *              lock undo a removal that was cut short (removal.c).
 *   merge      Reads its inputs without a lock. If it replaces one of them, it holds the first four
 *              locks of that file throughout; writers wait, then find their file replaced.
 *
 * Reading without a lock is safe because bits are only ever added, with two exceptions: a cleared
 * generation loses only lines that are being forgotten, and a key that is being removed is seen as
 * in or not in. A stage is tested before its layer, because keys reach the layer before they leave
 * the stage; the layers are tested again after flights, because bits are set before keys leave.
 *
 * Nobody holds LOCK_CHANGE during an fsync, an allocation of blocks, input or output, except that
 * merge. Its holder may wait for pages of bits that are read or written back, for the stat of the
 * filter's name, for the map of a new layer or flight, or to remove the file of a dead writer.
 */
#ifndef UNSEEN_FILTER_INTERNAL_H
#define UNSEEN_FILTER_INTERNAL_H

#include "core/kernel.h"
#include "filter/flight.h"
#include "filter/writer.h"
#include "io/side_file.h"
#include "system/signals.h"

/* The staging area of a layer (stage.c). */
struct stage {
    uint64_t pages;    /* 0: the layer has none */
    uint64_t at;       /* where it begins in the file */
    struct key *table; /* mapped, as it is in the file: little-endian */
    bool unused;       /* this run does without the stage */
    uint64_t ours;     /* the era in which this run allocated its blocks */
    uint64_t full;     /* the era in which this run found it full */
    uint64_t unplaced; /* keys for which this run found no place */
};

struct layer {
    struct layer_plan plan;
    struct bits bits;
    uint64_t at;                /* where it begins in the file */
    size_t state_at;            /* where its state is in the metadata */
    bool in_bulk;               /* its pages were requested in bulk */
    uint64_t to_read, read_end; /* where what remains to be read ahead lies in the file, */
    uint64_t slice;             /* and how many bytes of it come next; 0: in_bulk by other means */
    uint64_t added, mapped;     /* keys that this run added; pages that are mapped for writing */
    bool began_empty; /* with a stage: the layer had no data when this run opened the file */
    bool asked, two;  /* whether it holds two generations (growth.h) was asked; it does */
    struct stage stage;
};

/* Where a page of a layer lies in the file. */
static inline uint64_t page_at(const struct layer *layer, uint64_t page)
{
    return layer->at + page * PAGE_BYTES;
}

/* The open file. */
struct open_file {
    char *path;
    char *real;         /* the same without symbolic links, which may change */
    int fd;             /* -1: there is none, the filter is in memory */
    bool write;         /* it is open for writing */
    struct stat status; /* at opening */
    bool overlaid;      /* it is on an overlay, and open for reading only */
    uint64_t birth;     /* then: path_birth at opening */
    int64_t named_at;   /* when the path last led to this file, by clock_monotonic */
};

struct filter {
    const struct kernel *kernel;
    struct header header;
    unsigned count;    /* of layers */
    uint8_t *metadata; /* all before the layers: mapped, or in memory as far as needed */
    struct open_file file;
    struct key *noted; /* in memory: the keys of a small first layer; NULL: there is none */
    struct filter_watch watch;
    bool settling;                   /* see "Settling" below */
    uint64_t expected;               /* keys in this run; 0: nobody knows */
    uint64_t tested;                 /* of these, so far */
    bool warm;                       /* pages of the last batch were in memory; */
    uint64_t waits;                  /* faults that had waited for the disk by then */
    struct layer layers[LAYERS_MAX]; /* the last member: from `count` on, not cleared */
};

/* A flight of another writer, in a file. */
struct attached {
    struct flight flight;
    uint64_t file; /* its inode number */
    char path[SIDE_FILE_NAME_MAX];
};

struct writer {
    struct filter *filter;
    bool has_slot;                 /* open for writing: always while keys are in flight */
    unsigned slot;                 /* that one, or the last one it had */
    struct flight flight;          /* log NULL: none, as in memory */
    bool holds;                    /* keys stay in flight for longer than a batch */
    bool turns;                    /* but not for longer than the generation of a window fills */
    uint64_t kept;                 /* keys in flight whose lines were delivered: the first ones */
    uint64_t claimed_at;           /* the counter of settlings when the first one was claimed */
    char path[SIDE_FILE_NAME_MAX]; /* of the flight's file, */
    uint32_t number;               /* the number in that name, */
    uint64_t inode;                /* and its inode number */
    struct flight expected;        /* log NULL: no key is expected */
    uint64_t came_again;           /* expected keys that have come */
    struct attached *attached[SLOTS_MAX];
};

/* --- shared words of the metadata: little-endian, read and written whole --- */

static inline uint64_t get64(const struct filter *filter, size_t at)
{
    const void *word = filter->metadata + at;
    return LITTLE64(__atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE));
}

static inline void put64(struct filter *filter, size_t at, uint64_t value)
{
    void *word = filter->metadata + at;
    __atomic_store_n((uint64_t *)word, LITTLE64(value), __ATOMIC_RELEASE);
}

static inline uint32_t get32(const struct filter *filter, size_t at)
{
    const void *word = filter->metadata + at;
    return LITTLE32(__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE));
}

static inline void put32(struct filter *filter, size_t at, uint32_t value)
{
    void *word = filter->metadata + at;
    __atomic_store_n((uint32_t *)word, LITTLE32(value), __ATOMIC_RELEASE);
}

static inline uint64_t layer_keys(const struct filter *filter, const struct layer *layer)
{
    return get64(filter, layer->state_at + LAYER_KEYS);
}

/* Whether a layer must be tested; if not, all its keys are in its stage. To be asked after the
 * stage was tested. In a copy, or after a power cut, this word may be older than the bits, so it
 * counts only if the layer had no data at opening. */
static inline bool layer_has_bits(const struct filter *filter, const struct layer *layer)
{
    return !layer->began_empty || get64(filter, layer->state_at + LAYER_HAS_BITS) != 0;
}

/* After bits have changed. A store through a map sets the file's time only when its page becomes
 * dirty, on tmpfs only once, and backup tools go by that time. */
static inline void note_change(const struct filter *filter)
{
    if (filter->file.fd >= 0)
        signals_touch(filter->file.fd);
}

/* After bits were set. Makes others who tested keys without the lock test them again. */
static inline void count_settling(struct filter *filter)
{
    put64(filter, COUNTER_SETTLED_AT, get64(filter, COUNTER_SETTLED_AT) + 1);
    note_change(filter);
}

/* Orders the loads and stores before it and after it for other processes, too. (The thread
 * sanitizer does not support fences.) */
static inline void fence_for_others(void)
{
#ifdef __SANITIZE_THREAD__
    __atomic_signal_fence(__ATOMIC_ACQ_REL);
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}

static inline bool in_memory(const struct filter *filter)
{
    return filter->file.fd < 0;
}

static inline bool is_window(const struct filter *filter)
{
    return filter->header.plan.window;
}

/* Settling. Lines that were delivered must be remembered, so no signal ends writer_settle, nor a
 * wait of any function that it calls, down to a slice of pages. It alone sets filter->settling, and
 * clears it before it returns. All others obey a signal to end, by this function or
 * filter_check_signals: then the line that they wait for was not delivered. (A parameter would pass
 * through thirty functions of six files, only for the few that wait.) */
static inline bool must_end(const struct filter *filter)
{
    return signals_arrived() && !filter->settling;
}

/* --- filter.c --- */

struct filter *filter_new(const struct filter_watch *watch, struct fault *fault);

/* Takes LOCK_CHANGE, under which bits, counters and slots change; maps new layers, and repairs what
 * a killed writer left half done. Returns 0, or -1 with the fault. Does nothing unless the filter
 * is a file, open for writing. */
int filter_lock(struct filter *filter, struct fault *fault);
/* As filter_lock, but fails if the path no longer leads to the file. */
int filter_lock_to_settle(struct filter *filter, struct fault *fault);
void filter_unlock(struct filter *filter);

/* Takes another lock, in the order above: LOCK_HELD or LOCK_GROW. lock_drop drops it. */
int filter_take(struct filter *filter, unsigned lock, struct fault *fault);

/* Asks for signals in the middle of work that waits for the disk. Returns 0, or -1 with the fault:
 * with EINTR the process is to end (never while it settles), with ECANCELED it is to stop (Ctrl-Z).
 * Then all locks must be dropped, and the work begun again. */
int filter_check_signals(const struct filter *filter, struct fault *fault);

/* Maps layers that are not mapped yet: at opening all, later those that were added. */
int filter_refresh(struct filter *filter, struct fault *fault);

/* --- memory.c --- */

/* As writer_claim, but sets the bits of new keys. */
ptrdiff_t memory_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault);

/* --- writer.c --- */

/* As filter_test, for keys with seen[i] == 0, in the layers that are mapped, but for layer
 * `except`; filter_layers: in all. */
void filter_test_layers(const struct filter *filter, unsigned except, const struct key *keys,
                        size_t n, uint8_t *seen);

/* How many more keys fit into all layers, or into the filling generation of a window. Without
 * LOCK_CHANGE, a hint. */
uint64_t room_left(const struct filter *filter);
/* The layer of the next key; filter_layers if room must be made. */
unsigned room_next(const struct filter *filter);

/* For pending.c, as writer_hold for a filter open for reading: keys go to the file `fd`, called
 * `path`, after a head (format/key_file.h), and are not settled. The caller closes `fd` after the
 * writer. */
int writer_hold_in(struct writer *writer, int fd, const char *path, struct fault *fault);
/* Then, before the first claim: these keys, at most BATCH_KEYS, are expected. 0.1 us per key. */
int writer_expect_again(struct writer *writer, const struct key *keys, size_t n,
                        struct fault *fault);

/* --- slot.c: a writer's place in the file, and those of other living writers --- */

/* Takes a free slot, unless this writer has one, or needs none as its filter is open for reading;
 * waits while all are taken. Returns 0, or -1 with the fault. */
int slot_take(struct writer *writer, struct fault *fault);

/* Gives a guest's slot back, unless keys are in flight. */
void slot_rest(struct writer *writer);

/* Makes space for `n` more keys in this writer's flight; makes or enlarges its side file if needed.
 * LOCK_CHANGE must not be held. Returns 0, or -1 with the fault. */
int slot_reserve(struct writer *writer, uint64_t n, struct fault *fault);

/* Empties the flight, and removes its side file; unmaps and closes the files of others. */
void slot_close(struct writer *writer);

/* The flight in a slot, whosever it is. */
struct flight slot_flight(const struct filter *filter, unsigned slot);

/* Sets seen[i] = 1 for keys that another living writer has in flight; *total: how many keys they
 * all have. Under LOCK_CHANGE; or without a lock, and then a key that is settled meanwhile may be
 * missed: it is in the layers, and the counter of settlings has moved. One load per slot with
 * nothing in flight. Returns 0, or -1 with the fault. */
int slot_test_others(struct writer *writer, const struct key *keys, size_t n, uint8_t *seen,
                     uint64_t *total, struct fault *fault);

/* --- room.c: allocates or empties a stage, turns a window, or adds a layer --- */

/* Makes room in a file for more keys than the `taken` that are in flight, unless another process
 * has made room since this one looked. LOCK_CHANGE must not be held. Takes as long as the disk. A
 * signal to end (except while lines are settled) or to stop is obeyed at once, and the next writer
 * that needs room continues. Returns 0, or -1 with the fault. */
int room_make(struct filter *filter, uint64_t taken, struct fault *fault);

/* Plans the next layer, for memory.c, too. Returns 0, or -1 with the fault. */
int room_plan(const struct filter *filter, struct layer_plan *layer, struct fault *fault);

/* Raises counters of a file that are far too low for the bits. Reads 4 to 16 pages per layer.
 * LOCK_CHANGE must not be held. */
void room_raise_counters(struct filter *filter);

/* --- window.c --- */

/* The layer that new keys go into; filter_layers if there is none, or its time is over. */
unsigned generation_filling(const struct filter *filter);

/* The layer with the largest number, or filter_layers. */
unsigned generation_largest(const struct filter *filter);

/* The time now, for generation_expired; 0 if the filter is no window by time. */
uint64_t generation_now(const struct filter *filter);
/* Whether the layer's lines are forgotten, though its bits may be set. */
bool generation_expired(const struct filter *filter, unsigned layer, uint64_t now);

/* Under LOCK_CHANGE, after `more` keys were settled in a layer: counts them, and in a window by
 * time writes when that was. */
void window_count(struct filter *filter, unsigned layer, uint64_t more);

/* How many keys fit into layers that may be cleared now; practically unlimited in a window by
 * lines. 0 if the filter is no window. */
uint64_t window_room_ahead(const struct filter *filter);

/* Under LOCK_GROW: the layer to clear next; filter_layers if none may be cleared yet. */
unsigned window_next(const struct filter *filter);

/* Under LOCK_GROW, but not LOCK_CHANGE: clears a layer and makes it the newest generation. Takes
 * as long as the disk. Returns 0, or -1 with the fault, maybe that of filter_check_signals: then
 * the next writer that needs room does it again. */
int window_turn(struct filter *filter, unsigned number, struct fault *fault);

/* --- stage.c: a reader of filter.h, too --- */

/* Asks the system to read the places of these keys in the stage of a layer, if it is in use. */
void stage_request(const struct filter *filter, unsigned layer, const struct key *keys, size_t n);

/* Whether the layer has a stage with keys. */
bool stage_is_used(const struct filter *filter, unsigned layer);

/* Sets seen[i] = 1 for keys that are in the stage of a layer. Exact. To be called before the layer
 * is tested, because keys move from the stage to the layer. No lock; one cache miss per key. */
void stage_test(const struct filter *filter, unsigned layer, const struct key *keys, size_t n,
                uint8_t *seen);

/* Under LOCK_CHANGE: puts keys into the stage of a layer; or sets them in the layer if this run
 * does not use the stage, while the stage is emptied, or if a key has no place. Does not count
 * them. */
void stage_set(struct filter *filter, unsigned number, const struct key *keys, size_t n);

/* Whether the stage of a layer must be allocated or emptied before this run adds keys. False if
 * this run does not use the stage, and for filter_layers. A hint, without a lock; a few loads. */
bool stage_wants_room(const struct filter *filter, unsigned layer);

/* Under LOCK_GROW, but not LOCK_CHANGE: makes room in the stage. If the stage is full, sets all its
 * keys in the layer, which takes as long as the disk. If blocks cannot be allocated, this run uses
 * the stage no more. Returns 0, or -1 with the fault, maybe that of filter_check_signals: then no
 * key is lost, and the next writer that finds the stage full continues. */
int stage_make_room(struct filter *filter, unsigned number, struct fault *fault);

/* --- pages.c --- */

/* One page of a layer: where it is in memory, or `page` after it was read from the file (not its
 * map, where a page fault would map the neighbours, too). NULL if it cannot be read. */
const uint8_t *pages_get(const struct filter *filter, unsigned layer, uint64_t number,
                         uint8_t page[PAGE_BYTES]);

/* Before keys are tested: asks the system to read their pages in all layers and stages, in
 * parallel, in the background, unless pages are found to be in memory. Never fails. */
void pages_request(struct filter *filter, const struct key *keys, size_t n);

/* Under LOCK_CHANGE, before bits are set in a layer: from now on tests read the layer. */
void pages_mark_bits(struct filter *filter, const struct layer *layer);

/* Under LOCK_CHANGE: sets the bits of keys in a layer. */
void pages_set(struct filter *filter, const struct layer *layer, const struct key *keys, size_t n);

/* Maps pages from..end of a layer of a file for writing. Returns 0, or -1 with the fault of
 * filter_check_signals. */
int pages_populate_to_write(const struct filter *filter, const struct layer *layer, uint64_t from,
                            uint64_t end, struct fault *fault);

/* Begins to write pages from..end of a layer to the disk; waits until the disk has begun. Returns
 * as above. */
int pages_begin_to_write(const struct filter *filter, const struct layer *layer, uint64_t from,
                         uint64_t end, struct fault *fault);

/* Flushes a layer, and the rest of the file. Returns 0, or -1 with the fault: that of
 * filter_check_signals, or one that begins with `doing`. */
int pages_flush(const struct filter *filter, const struct layer *layer, const char *doing,
                struct fault *fault);

/* Clears a layer of a window; in a file, with `flush`, also flushes it. Returns as above. */
int pages_clear(const struct filter *filter, const struct layer *layer, bool flush,
                struct fault *fault);

/* Whether a layer may have been written to since it was allocated. In memory: false. */
bool pages_have_data(const struct filter *filter, const struct layer *layer);

/* Asks for huge pages, which pay off from HUGE_FROM keys in a layer on. */
enum { HUGE_FROM = 16384 };
void pages_use_huge(struct layer *layer);

/* --- removal.c --- */

/* Under LOCK_CHANGE: undoes the last key of a removal that was killed, if there is one. */
void removal_repair(struct filter *filter);

#endif
