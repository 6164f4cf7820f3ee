/*
 * stage - see stage.h.
 *
 * Set one by one, the keys of a run dirty as many pages of the layer, anywhere. Above a fraction of
 * the memory (vm.dirty_background_ratio) the system writes such pages back as fast as they come,
 * and each faults again with its next key: of a filter of 3.7 GB 20 million keys wrote 40 GB. So
 * they gather in the layer's stage, which is small and can stay dirty. It has bits, like any layer,
 * where keys are found; and its journal has them in full. When the stage is full it is emptied: the
 * journal is read, once for each stretch of the layer that can be dirty as a whole, and the keys of
 * that stretch are set. So a page is written once for all of a stage's keys, in the order of the
 * file.
 *
 * A key is written to the journal, then counted, then its bits are set in the stage. Whoever is
 * killed on the way has left a mark where it began, and the next one that has the lock sets the
 * bits again: else those keys would not be found until the stage is emptied.
 *
 * Emptying is a stage's way to make room, and takes as long as the disk does:
 *
 *   1. the stage is marked: who settles meanwhile sets keys in the layer itself, at once;
 *   2. the journal's keys are set in the layer, and that is on disk;
 *   3. the stage becomes a hole, and that is on disk: it reads as zeros;
 *   4. its counter becomes 0, the layer's takes them over, and the mark is gone;
 *   5. when that is on disk, too, the journal becomes a hole.
 *
 * Bits go from 1 to 0 in step 3, while others look without a lock. They look in the stage first,
 * then in the layer, where by then all of it is. Whoever is killed or stopped on the way leaves the
 * mark, and the next one that needs room starts again at step 2: setting bits twice changes
 * nothing. After a power cut a stage may be older or newer than its journal and the counter; at
 * worst lines of the last seconds are forgotten, as in any layer. If the zeros did not reach the
 * disk before the counter, new keys would come on top of old bits, and the rate would rise above p:
 * hence the order. Likewise for step 5: if the journal were gone and its counter not yet 0, its
 * zeros would be taken for keys.
 *
 * A run must not find the disk full after it has printed a line. So before keys are claimed for a
 * stage, each run asks for the blocks that they need; where these are there already, that costs a
 * system call. It remembers how far it has asked until a stage is emptied. The file does not say
 * how far, since a copy may have holes elsewhere.
 *
 * In the file the stage lies before its layer: a copy that is made front to back while it is
 * emptied has each key in one of them, if not in both.
 */
#include "store/stage.h"

#include "store/internal.h"
#include "store/key_file.h"
#include "store/pages.h"
#include "system/lock.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <unistd.h>

/* Keys that are read, or set, at a time: buffers for them are on the stack, which may be small. */
enum { PIECE = 512 };

/* --- looking --- */

static uint64_t journal_room(const struct region *stage)
{
    return stage->journal * (PAGE_BYTES / KEY_BYTES);
}

/* It lies right after the pages of the stage. */
static struct key_file journal_of(const struct store *store, const struct region *stage)
{
    return (struct key_file){store->file.fd, page_at(stage, stage->plan.pages)};
}

uint64_t stage_keys(const struct store *store, unsigned layer)
{
    const struct region *stage = &store->layers[layer].stage;
    if (!is_stage(stage))
        return 0;
    uint64_t keys = region_keys(store, stage);
    uint64_t room = journal_room(stage);
    return keys < room ? keys : room;
}

/* The layer that a word of the file names, if it has a stage; else store->count. */
static unsigned layer_of(const struct store *store, uint64_t word)
{
    return word < store->count && has_stage(&store->layers[word]) ? (unsigned)word : store->count;
}

/* The layer whose stage is marked; store->count if none is. */
static unsigned marked(const struct store *store)
{
    return layer_of(store, get64(store, STAGE_EMPTYING_AT) - 1);
}

bool stage_is_emptying(const struct store *store)
{
    return marked(store) < store->count;
}

bool stage_left(const struct store *store)
{
    return stage_is_emptying(store) && !lock_is_held(store->file.fd, LOCK_GROW);
}

unsigned stage_next(const struct store *store)
{
    unsigned next = marked(store);
    if (next < store->count)
        return next;
    for (next = 0; next < store->count; next++)
        if (stage_keys(store, next) > 0)
            break;
    return next;
}

/* --- its room in the file --- */

/* Keys for which room is asked at a time, 16 MB of journal. No claim goes past what was asked for,
 * and more is asked for when less than half is left: far more than can be in flight. */
enum { RESERVE_KEYS = 1 << 20 };

/* How many keys have room in the file, as far as this run knows. */
static uint64_t reserved(const struct store *store, const struct region *stage)
{
    return stage->reserved_at == get64(store, STAGE_EMPTIED_AT) ? stage->reserved : 0;
}

uint64_t stage_most(const struct store *store, unsigned layer)
{
    const struct region *stage = &store->layers[layer].stage;
    uint64_t room = reserved(store, stage);
    if (stage_is_emptying(store) || stage_repair_is_due(store))
        return 0;
    return room < stage->plan.capacity ? room : stage->plan.capacity;
}

bool stage_wants_room(const struct store *store, unsigned layer)
{
    const struct region *stage = &store->layers[layer].stage;
    uint64_t room = reserved(store, stage), staged = stage_keys(store, layer);
    return is_stage(stage) && !stage_is_emptying(store) && staged < stage->plan.capacity &&
           room < stage->plan.capacity && room < staged + RESERVE_KEYS / 2;
}

/* Where a file system cannot do it, the whole file got its blocks when it was made. */
static bool reserve(const struct store *store, const struct region *stage, uint64_t from,
                    uint64_t end)
{
    return whole_reserve(store->file.fd, page_at(stage, from), (end - from) * PAGE_BYTES) == 0 ||
           errno == EOPNOTSUPP;
}

int stage_reserve(struct store *store, unsigned layer, struct fault *fault)
{
    enum { KEYS_A_PAGE = PAGE_BYTES / KEY_BYTES };
    struct region *stage = &store->layers[layer].stage;
    uint64_t pages = stage->plan.pages, capacity = stage->plan.capacity;
    uint64_t staged = stage_keys(store, layer), had = reserved(store, stage);
    uint64_t from = had > staged ? had : staged;
    uint64_t to = from < capacity && RESERVE_KEYS < capacity - from ? from + RESERVE_KEYS
                                                                    : capacity;
    bool done = (had > 0 || reserve(store, stage, 0, pages)) &&
                reserve(store, stage, pages + from / KEYS_A_PAGE,
                        pages + (to - 1) / KEYS_A_PAGE + 1);
    if (!done)
        return fault_errno(fault, store->file.path, "no room for new lines", errno);
    stage->reserved = to;
    stage->reserved_at = get64(store, STAGE_EMPTIED_AT);
    return 0;
}

/* --- filling --- */

/* Under LOCK_CHANGE: writes keys after those that are there, and counts them. Returns whether it
 * could. */
static bool append_journal(struct store *store, unsigned layer, const struct key *keys, size_t n)
{
    const struct region *stage = &store->layers[layer].stage;
    uint64_t staged = stage_keys(store, layer);
    if (n > journal_room(stage) - staged ||
        !key_file_write(journal_of(store, stage), staged, keys, n))
        return false;
    put64(store, STAGE_SET_IN_AT, layer);
    put64(store, STAGE_SETTING_AT, staged + 1);
    put64(store, stage->keys_at, staged + n);
    return true;
}

void stage_add(struct store *store, unsigned layer, const struct key *keys, size_t n)
{
    struct region *region = &store->layers[layer].region;
    struct region *stage = &store->layers[layer].stage;
    for (size_t run; n > 0; keys += run, n -= run) {
        run = n < PIECE ? n : PIECE;
        if (append_journal(store, layer, keys, run)) {
            pages_set(store, stage, keys, run);
            put64(store, STAGE_SETTING_AT, 0);
        } else {
            /* The layer itself takes keys that the journal does not. */
            pages_set(store, region, keys, run);
            count_keys(store, region, run);
        }
    }
}

bool stage_repair_is_due(const struct store *store)
{
    return get64(store, STAGE_SETTING_AT) != 0;
}

void stage_repair(struct store *store)
{
    struct key keys[PIECE];
    uint64_t setting = get64(store, STAGE_SETTING_AT);
    unsigned layer = layer_of(store, get64(store, STAGE_SET_IN_AT));
    uint64_t staged = layer < store->count ? stage_keys(store, layer) : 0;
    /* What says otherwise is not the work of a writer. */
    bool sound = setting <= staged && staged - (setting - 1) <= PIECE;
    if (sound) {
        const struct region *stage = &store->layers[layer].stage;
        size_t n = (size_t)(staged - (setting - 1));
        if (!key_file_read(journal_of(store, stage), setting - 1, keys, n))
            return;
        store->kernel->set(&stage->bits, keys, n);
    }
    /* Others may have found them absent meanwhile. */
    count_settling(store);
    put64(store, STAGE_SETTING_AT, 0);
}

/* --- emptying --- */

/* A sixteenth of the memory, which is below what the system begins to write back at, within 64 MB
 * and 1 GB. */
uint64_t stage_stretch(void)
{
    enum { LEAST = 16384, MOST = 262144 };
    long pages = sysconf(_SC_PHYS_PAGES);
    uint64_t bytes = pages > 0 ? (uint64_t)pages / 16 * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    uint64_t stretch = bytes / PAGE_BYTES;
    return stretch < LEAST ? LEAST : stretch > MOST ? MOST : stretch;
}

/* What is being emptied. */
struct emptying {
    struct store *store;
    const struct layer *layer;
    uint64_t keys;      /* in the journal */
    uint64_t from, end; /* pages of the layer whose turn it is */
    size_t gathered;    /* keys for these pages, not yet set */
    struct key piece[PIECE];
};

/* Under LOCK_CHANGE only this long, as others may settle in the layer. */
static int set_piece(struct emptying *emptying, struct fault *fault)
{
    struct store *store = emptying->store;
    if (emptying->gathered == 0)
        return 0;
    if (store_lock(store, fault) != 0)
        return -1;
    store->kernel->set(&emptying->layer->region.bits, emptying->piece, emptying->gathered);
    store_unlock(store);
    emptying->gathered = 0;
    return 0;
}

static int gather(struct emptying *emptying, const struct key *keys, size_t n, struct fault *fault)
{
    uint64_t pages = emptying->layer->region.plan.pages;
    for (size_t i = 0; i < n; i++) {
        uint64_t page = geometry_page(keys[i], pages);
        emptying->piece[emptying->gathered] = keys[i];
        emptying->gathered += page >= emptying->from && page < emptying->end;
        if (emptying->gathered == PIECE && set_piece(emptying, fault) != 0)
            return -1;
    }
    return 0;
}

/* Reads the next keys of a journal, of which so many are `left`. Returns how many, or -1. */
static ptrdiff_t read_piece(const struct store *store, const struct region *stage, uint64_t done,
                            uint64_t left, struct key keys[PIECE], struct fault *fault)
{
    size_t n = left < PIECE ? (size_t)left : PIECE;
    if (!key_file_read(journal_of(store, stage), done, keys, n))
        return fault_errno(fault, store->file.path, NULL, errno != 0 ? errno : EIO);
    return (ptrdiff_t)n;
}

/* Sets those of the journal's keys whose pages' turn it is. */
static int set_stretch(struct emptying *emptying, struct fault *fault)
{
    struct key keys[PIECE];
    struct store *store = emptying->store;
    const struct region *stage = &emptying->layer->stage;
    ptrdiff_t n;
    for (uint64_t done = 0; done < emptying->keys; done += (uint64_t)n) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        n = read_piece(store, stage, done, emptying->keys - done, keys, fault);
        if (n < 0 || gather(emptying, keys, (size_t)n, fault) != 0)
            return -1;
    }
    return set_piece(emptying, fault);
}

/* Step 2. */
static int set_all(struct store *store, unsigned layer, struct fault *fault)
{
    struct emptying emptying = {.store = store, .layer = &store->layers[layer]};
    const struct region *region = &store->layers[layer].region;
    uint64_t stretch = stage_stretch();
    emptying.keys = stage_keys(store, layer);
    for (uint64_t from = 0; from < region->plan.pages; from = emptying.end) {
        uint64_t left = region->plan.pages - from;
        emptying.from = from;
        emptying.end = from + (left < stretch ? left : stretch);
        /* Where every page has its keys. */
        if (emptying.keys >= region->plan.pages &&
            pages_populate_to_write(store, region, from, emptying.end, fault) != 0)
            return -1;
        /* The system writes a stretch while the next one is set. */
        if (set_stretch(&emptying, fault) != 0 ||
            pages_begin_to_write(store, region, from, emptying.end, fault) != 0)
            return -1;
    }
    return pages_flush(store, region, "cannot be written", fault);
}

/* Step 4. Killed between the counters, one is too low, which is mended; none is ever too high. */
static int hand_over(struct store *store, unsigned layer, struct fault *fault)
{
    if (store_lock(store, fault) != 0)
        return -1;
    uint64_t keys = stage_keys(store, layer);
    put64(store, store->layers[layer].stage.keys_at, 0);
    count_keys(store, &store->layers[layer].region, keys);
    put64(store, STAGE_EMPTIED_AT, get64(store, STAGE_EMPTIED_AT) + 1);
    count_settling(store);
    put64(store, STAGE_EMPTYING_AT, 0);
    store_unlock(store);
    return 0;
}

/* Step 5. If it fails, the blocks are given back the next time. */
static void give_back_journal(const struct store *store, unsigned layer)
{
    const struct region *stage = &store->layers[layer].stage;
    if (fdatasync(store->file.fd) == 0)
        (void)whole_give_back(store->file.fd, journal_of(store, stage).at,
                              stage->journal * PAGE_BYTES);
}

int stage_empty(struct store *store, unsigned layer, struct fault *fault)
{
    if (store_lock(store, fault) != 0)
        return -1;
    put64(store, STAGE_EMPTYING_AT, layer + 1);
    store_unlock(store);
    if (set_all(store, layer, fault) != 0)
        return -1;
    /* Step 3. */
    in_order_for_others();
    if (pages_give_back(store, &store->layers[layer].stage, "cannot be written", fault) != 0 ||
        hand_over(store, layer, fault) != 0)
        return -1;
    give_back_journal(store, layer);
    return 0;
}

/* --- reading --- */

/* Of n keys keeps those that fall on pages from..end of so many. Returns how many. */
static size_t keep(struct key *keys, size_t n, uint64_t pages, uint64_t from, uint64_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t page = geometry_page(keys[i], pages);
        keys[kept] = keys[i];
        kept += page >= from && page < end;
    }
    return kept;
}

int stage_set_in(const struct store *store, unsigned layer, const struct bits *to, uint64_t from,
                 uint64_t end, struct fault *fault)
{
    struct key keys[PIECE];
    const struct region *stage = &store->layers[layer].stage;
    uint64_t all = stage_keys(store, layer);
    ptrdiff_t n;
    for (uint64_t done = 0; done < all; done += (uint64_t)n) {
        if (signals_pending())
            return fault_errno(fault, store->file.path, NULL, EINTR);
        n = read_piece(store, stage, done, all - done, keys, fault);
        if (n < 0)
            return -1;
        store->kernel->set(to, keys, keep(keys, (size_t)n, to->pages, from, end));
    }
    return 0;
}
