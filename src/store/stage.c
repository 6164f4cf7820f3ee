/*
 * filter_stage - stages: how keys come into a layer that is too large to be dirtied all over; see
 * internal.h.
 *
 * Set one by one, the keys of a run dirty as many pages of the layer, anywhere. Above a share of the
 * memory (vm.dirty_background_ratio) the system writes such pages back as fast as they come, and each
 * faults again with its next key: of a filter of 3.7 GB 20 million keys wrote 40 GB. So they gather in
 * a stage, a small layer that can stay dirty: it is a filter like any other, where they are found; and
 * their journal, behind it, has them in full. When the stage is full it is emptied: the journal is
 * read, once for each stretch of the layer that can be dirty as a whole, and the keys of that stretch
 * are set. So a page is written once for all of a stage's keys, in the order of the file.
 *
 * A key is written to the journal, then counted, then its bits are set in the stage. Whoever is killed
 * on the way has left a mark where it began, and the next one that has the lock sets the bits again:
 * else those keys would not be found until the stage is emptied.
 *
 * Emptying is a stage's kind of growing, and under the same lock, as it takes as long as the disk:
 *
 *   1. the stage is marked: who settles meanwhile sets keys in the layer itself, at once;
 *   2. the journal's keys are set in the layer, and that is on disk;
 *   3. the stage is cleared, and the zeros are on disk;
 *   4. its counter becomes 0, the layer's takes them over, and the mark is gone.
 *
 * Bits go from 1 to 0 in step 3, while others look without a lock. They look in the stage first, then
 * in the layer, where by then all of it is. Whoever is killed on the way leaves the mark, and the next
 * one that needs room starts again at step 2: setting bits twice changes nothing. After a power cut a
 * stage may be older or newer than its journal and the counter; at worst lines of the last seconds
 * are forgotten, as in any layer. If the zeros did not reach the disk before the counter, new keys
 * would come on top of old bits, and the rate would rise above p: hence the order.
 *
 * In the file the stage lies before its layer: a copy that is made front to back while it is emptied
 * has each key in one of them, if not in both.
 */
#include "store/internal.h"

#include "system/lock.h"
#include "system/map.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Keys that are read, or set, at a time: buffers for them are on the stack, which may be small. */
enum { PIECE = 512 };

/* --- looking --- */

static uint64_t journal_room(const struct layer *stage)
{
    return stage->plan.journal * (PAGE_BYTES / KEY_BYTES);
}

/* Where key number `key` of a journal lies in the file. */
static uint64_t journal_at(const struct layer *stage, uint64_t key)
{
    return page_at(stage, stage->plan.pages) + key * KEY_BYTES;
}

uint64_t filter_staged(const struct filter *filter, unsigned layer)
{
    if (filter->fd < 0 || !is_stage(&filter->layers[layer]))
        return 0;
    uint64_t keys = get64(filter, keys_at(layer));
    uint64_t room = journal_room(&filter->layers[layer]);
    return keys < room ? keys : room;
}

/* The stage that is marked; filter->count if none is, or what is no stage. */
static unsigned marked(const struct filter *filter)
{
    uint64_t number = get64(filter, STAGE_EMPTYING_AT);
    if (number == 0 || number > filter->count || !is_stage(&filter->layers[number - 1]))
        return filter->count;
    return (unsigned)number - 1;
}

bool filter_stage_emptying(const struct filter *filter)
{
    return filter->fd >= 0 && marked(filter) < filter->count;
}

bool filter_stage_left(const struct filter *filter)
{
    return filter_stage_emptying(filter) && !lock_is_held(filter->fd, LOCK_GROW);
}

unsigned filter_stage_next(const struct filter *filter)
{
    if (filter_stage_emptying(filter))
        return marked(filter);
    for (unsigned i = 0; i < filter->count; i++)
        if (filter_staged(filter, i) > 0)
            return i;
    return filter->count;
}

/* --- filling --- */

/* Under LOCK_CHANGE: writes keys behind what is there, and counts them. Returns whether it could. */
static bool append_journal(struct filter *filter, unsigned stage, const struct key *keys, size_t n)
{
    uint8_t bytes[PIECE * KEY_BYTES];
    const struct layer *layer = &filter->layers[stage];
    uint64_t staged = filter_staged(filter, stage);
    if (n > journal_room(layer) - staged)
        return false;
    for (size_t i = 0; i < n; i++)
        store_key(bytes + i * KEY_BYTES, keys[i]);
    if (whole_write_at(filter->fd, bytes, n * KEY_BYTES, journal_at(layer, staged)) < n * KEY_BYTES)
        return false;
    put64(filter, STAGE_SET_IN_AT, stage);
    put64(filter, STAGE_SETTING_AT, staged + 1);
    put64(filter, keys_at(stage), staged + n);
    return true;
}

void filter_stage_keys(struct filter *filter, unsigned stage, const struct key *keys, size_t n)
{
    for (size_t run; n > 0; keys += run, n -= run) {
        run = n < PIECE ? n : PIECE;
        if (append_journal(filter, stage, keys, run)) {
            filter_set_keys(filter, stage, keys, run);
            put64(filter, STAGE_SETTING_AT, 0);
        } else {
            /* The layer itself takes keys that the journal does not. */
            filter_set_keys(filter, stage + 1, keys, run);
            put64(filter, keys_at(stage + 1), get64(filter, keys_at(stage + 1)) + run);
        }
    }
}

/* Reads keys of a journal, at most a PIECE, from number `from` on. Returns how many bytes came. */
static size_t read_journal(const struct filter *filter, unsigned stage, uint64_t from, size_t n,
                           uint8_t *bytes)
{
    return whole_read_at(filter->fd, bytes, n * KEY_BYTES,
                         journal_at(&filter->layers[stage], from));
}

void filter_stage_finish(struct filter *filter)
{
    uint8_t bytes[PIECE * KEY_BYTES];
    struct key keys[PIECE];
    struct fault ignored;
    uint64_t setting = get64(filter, STAGE_SETTING_AT);
    /* The stage may be one that this process does not know yet. */
    if (filter_refresh(filter, &ignored) != 0)
        return;
    uint64_t in = get64(filter, STAGE_SET_IN_AT);
    unsigned stage = in < filter->count ? (unsigned)in : 0;
    uint64_t staged = filter_staged(filter, stage);
    /* What says otherwise is not the work of a writer. */
    bool sound = in < filter->count && setting <= staged && staged - (setting - 1) <= PIECE;
    size_t n = sound ? (size_t)(staged - (setting - 1)) : 0;
    if (n > 0 && read_journal(filter, stage, setting - 1, n, bytes) < n * KEY_BYTES)
        return;
    for (size_t i = 0; i < n; i++)
        keys[i] = load_key(bytes + i * KEY_BYTES);
    filter->kernel->set(&filter->layers[stage].bits, keys, n);
    /* Others may have found them absent meanwhile: they must look again. */
    put64(filter, COUNTER_SETTLED_AT, get64(filter, COUNTER_SETTLED_AT) + 1);
    put64(filter, STAGE_SETTING_AT, 0);
}

/* --- emptying --- */

/* How much of a layer may be dirty at a time: a sixteenth of the memory, which is below what the
 * system begins to write back at, within 64 MB and 1 GB; in pages of a filter. */
static uint64_t stretch_pages(void)
{
    enum { LEAST = 16384, MOST = 262144 };
    long pages = sysconf(_SC_PHYS_PAGES);
    uint64_t bytes = pages > 0 ? (uint64_t)pages / 16 * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    uint64_t stretch = bytes / PAGE_BYTES;
    return stretch < LEAST ? LEAST : stretch > MOST ? MOST : stretch;
}

/* What is being emptied. */
struct emptying {
    struct filter *filter;
    unsigned stage;
    uint64_t keys;      /* in the journal */
    uint64_t from, end; /* pages of the layer whose turn it is */
    size_t gathered;    /* keys for these pages, not yet set */
    struct key piece[PIECE];
};

/* Under LOCK_CHANGE only this long, as others may settle in the layer. */
static int set_piece(struct emptying *emptying, struct fault *fault)
{
    struct filter *filter = emptying->filter;
    if (emptying->gathered == 0)
        return 0;
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    filter->kernel->set(&filter->layers[emptying->stage + 1].bits, emptying->piece,
                        emptying->gathered);
    lock_drop(filter->fd, LOCK_CHANGE);
    emptying->gathered = 0;
    return 0;
}

static int gather(struct emptying *emptying, const uint8_t *bytes, size_t n, struct fault *fault)
{
    uint64_t pages = emptying->filter->layers[emptying->stage + 1].plan.pages;
    for (size_t i = 0; i < n; i++) {
        struct key key = load_key(bytes + i * KEY_BYTES);
        uint64_t page = geometry_page(key, pages);
        emptying->piece[emptying->gathered] = key;
        emptying->gathered += page >= emptying->from && page < emptying->end;
        if (emptying->gathered == PIECE && set_piece(emptying, fault) != 0)
            return -1;
    }
    return 0;
}

/* Sets those of the journal's keys whose pages' turn it is. */
static int set_stretch(struct emptying *emptying, struct fault *fault)
{
    uint8_t bytes[PIECE * KEY_BYTES];
    struct filter *filter = emptying->filter;
    for (uint64_t done = 0; done < emptying->keys;) {
        uint64_t left = emptying->keys - done;
        size_t n = left < PIECE ? (size_t)left : PIECE;
        if (signals_pending())
            return fault_errno(fault, filter->path, NULL, EINTR);
        errno = EIO;
        if (read_journal(filter, emptying->stage, done, n, bytes) < n * KEY_BYTES)
            return fault_errno(fault, filter->path, NULL, errno != 0 ? errno : EIO);
        if (gather(emptying, bytes, n, fault) != 0)
            return -1;
        done += n;
    }
    return set_piece(emptying, fault);
}

/* The system begins to write a stretch while the next one is set. */
static void begin_to_write(const struct filter *filter, const struct layer *layer, uint64_t from,
                           uint64_t end)
{
#ifdef SYNC_FILE_RANGE_WRITE
    (void)!sync_file_range(filter->fd, (off_t)page_at(layer, from),
                           (off_t)((end - from) * PAGE_BYTES), SYNC_FILE_RANGE_WRITE);
#else
    (void)filter, (void)layer, (void)from, (void)end;
#endif
}

/* Step 2. */
static int set_all(struct filter *filter, unsigned stage, struct fault *fault)
{
    struct emptying emptying = {.filter = filter, .stage = stage};
    const struct layer *layer = &filter->layers[stage + 1];
    uint64_t stretch = stretch_pages();
    emptying.keys = filter_staged(filter, stage);
    for (uint64_t from = 0; from < layer->plan.pages; from = emptying.end) {
        uint64_t left = layer->plan.pages - from;
        emptying.from = from;
        emptying.end = from + (left < stretch ? left : stretch);
        /* Where every page has its keys. */
        if (emptying.keys >= layer->plan.pages &&
            filter_populate_to_write(filter, stage + 1, from, emptying.end, fault) != 0)
            return -1;
        if (set_stretch(&emptying, fault) != 0)
            return -1;
        begin_to_write(filter, layer, from, emptying.end);
    }
    return 0;
}

static int flush(const struct filter *filter, struct fault *fault)
{
    return fdatasync(filter->fd) == 0
               ? 0
               : fault_errno(fault, filter->path, "cannot be written", errno);
}

/* Step 3. */
static int clear(struct filter *filter, unsigned stage, struct fault *fault)
{
    const struct bits *bits = &filter->layers[stage].bits;
    in_order_for_others();
    memset(bits->bytes, 0, (size_t)(bits->pages * PAGE_BYTES));
    return flush(filter, fault);
}

/* Step 4. Killed between the counters, one is behind, which is mended; never is one ahead. */
static int hand_over(struct filter *filter, unsigned stage, struct fault *fault)
{
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    uint64_t keys = filter_staged(filter, stage);
    put64(filter, keys_at(stage), 0);
    put64(filter, keys_at(stage + 1), get64(filter, keys_at(stage + 1)) + keys);
    put64(filter, STAGE_EMPTIED_AT, get64(filter, STAGE_EMPTIED_AT) + 1);
    put64(filter, COUNTER_SETTLED_AT, get64(filter, COUNTER_SETTLED_AT) + 1);
    put64(filter, STAGE_EMPTYING_AT, 0);
    lock_drop(filter->fd, LOCK_CHANGE);
    return 0;
}

int filter_stage_empty(struct filter *filter, unsigned stage, struct fault *fault)
{
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    put64(filter, STAGE_EMPTYING_AT, (uint64_t)stage + 1);
    lock_drop(filter->fd, LOCK_CHANGE);
    return set_all(filter, stage, fault) == 0 && flush(filter, fault) == 0 &&
                   clear(filter, stage, fault) == 0
               ? hand_over(filter, stage, fault)
               : -1;
}
