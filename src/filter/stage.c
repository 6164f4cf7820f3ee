/*
 * stage - the staging area of a large layer: a buffer of new keys, which are set in the layer
 * together.
 *
 * A hash table of keys in the order of the layer's pages, without false positives. Its keys count
 * as keys of the layer. A stage that is not in use is a hole in the file.
 *
 * If the keys of a run are set in the layer one by one, each dirties a page, anywhere. Above a
 * fraction of the memory (vm.dirty_background_ratio) the system writes dirty pages back at once,
 * and each faults again with its next key: 20 million keys in a filter of 3.7 GB wrote 40 GB. So
 * keys are buffered in a table, which is small enough to stay dirty. When it is full, one pass sets
 * all its keys in the layer. Table and layer are both in the order of hi, so each page is written
 * once.
 *
 * Linear probing: a key is in one of STAGE_REACH places from (hi * n) >> 64 on. With 4 to 500
 * million places, 75% are taken when the first key finds no place. (With twice the reach 83%; but
 * from 70% on a test takes 250 ns instead of 40, which costs more than it saves.) A key without a
 * place is set in the layer at once, and so is a key whose lo is 0, the mark of an empty place.
 * Nobody counts the keys of the table: a writer with a key that has no place samples a few pages.
 * If these are not full, lines were crafted to fall together.
 *
 * The second word of a key is written before the first. So a reader without a lock sees a key or an
 * empty place, also after a kill, and there is nothing to repair.
 *
 * A stage has an era. While it is even, the stage has no keys, and is a hole or becomes one; while
 * it is odd, the stage is in use. A run first allocates the blocks of the whole stage, so that the
 * disk is never found full after a line was printed. It does so in each era, and each run for
 * itself, as a copy of the file may have holes. How a stage is emptied:
 *
 *   1. it is marked; from now on keys are set in the layer at once;
 *   2. its keys are set in the layer, and flushed;
 *   3. its era becomes even; from now on it is not tested, and takes no keys;
 *   4. its blocks are freed, and the mark is cleared.
 *
 * Readers test the stage before the layer, which has all keys by step 3. A writer that ends in
 * between leaves the mark, which counts only while a process holds LOCK_GROW. Then the stage is
 * used until it is found full again, and its keys are set twice, which changes nothing: they were
 * counted when they were added. After a power cut the table may still have keys, or the era may be
 * older than the rest; these keys are in the layer, too.
 *
 * In the file a stage precedes its layer, so a copy made front to back while the stage is emptied
 * has each key in at least one of them.
 */
#include "filter/internal.h"

#include "system/io.h"
#include "system/lock.h"
#include "system/machine.h"
#include "system/map.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
    KEYS_A_PAGE = PAGE_BYTES / KEY_BYTES,
    /* Places are prefetched this many keys ahead. In the loops, not by a function: GCC 12 takes one
     * that only prefetches for one that does nothing, and leaves out its calls. */
    AHEAD = 16
};

static uint64_t era_of(const struct filter *filter, unsigned layer)
{
    return get64(filter, layer_state_at(layer) + LAYER_ERA);
}

static bool in_use(uint64_t era)
{
    return era % 2 != 0;
}

bool stage_is_used(const struct filter *filter, unsigned layer)
{
    return filter->layers[layer].stage.pages != 0 && in_use(era_of(filter, layer));
}

static bool is_marked(const struct filter *filter, unsigned layer)
{
    return get64(filter, layer_state_at(layer) + LAYER_EMPTYING) != 0;
}

static bool is_emptying(const struct filter *filter, unsigned layer)
{
    return is_marked(filter, layer) && lock_is_held(filter->file.fd, LOCK_GROW);
}

bool filter_is_half_emptied(const struct filter *filter, unsigned layer)
{
    return is_marked(filter, layer) && !is_emptying(filter, layer);
}

/* --- places --- */

/* How many places a search may begin at; the reach of the last follows it. */
static uint64_t homes_of(const struct stage *stage)
{
    return stage->pages * KEYS_A_PAGE - STAGE_REACH;
}

/* Where the search for a key begins. */
static uint64_t home_of(const struct stage *stage, struct key key)
{
    return hash_high_product(key.hi, homes_of(stage));
}

static uint64_t low_word(const struct key *place)
{
    return LITTLE64(__atomic_load_n(&place->lo, __ATOMIC_ACQUIRE));
}

/* The place of a key, or the empty place where it would go; NULL: neither. */
static struct key *find_place(const struct stage *stage, struct key key, bool *there)
{
    struct key *at = &stage->table[home_of(stage, key)];
    for (const struct key *end = at + STAGE_REACH; at < end; at++) {
        uint64_t low = low_word(at);
        *there = low == key.lo && LITTLE64(__atomic_load_n(&at->hi, __ATOMIC_RELAXED)) == key.hi;
        if (*there || low == 0)
            return at;
    }
    return NULL;
}

void stage_test(const struct filter *filter, unsigned layer, const struct key *keys, size_t n,
                uint8_t *seen)
{
    const struct stage *stage = &filter->layers[layer].stage;
    if (!stage_is_used(filter, layer))
        return;
    for (size_t i = 0; i < n + AHEAD; i++) {
        bool there = false;
        if (i < n)
            __builtin_prefetch(&stage->table[home_of(stage, keys[i])]);
        size_t k = i - AHEAD;
        if (i >= AHEAD && !seen[k] && keys[k].lo != 0 && find_place(stage, keys[k], &there) != NULL)
            seen[k] = there;
    }
    fence_for_others();
}

void stage_request(const struct filter *filter, unsigned layer, const struct key *keys, size_t n)
{
    const struct stage *stage = &filter->layers[layer].stage;
    if (!stage_is_used(filter, layer))
        return;
    for (size_t i = 0; i < n; i++)
        map_advise(&stage->table[home_of(stage, keys[i])], KEY_BYTES, MADV_WILLNEED);
}

/* --- filling --- */

/* To be called for a key without a place. Now and then counts the keys of a few pages, a random one
 * of each of as many equal sections, and notes that the stage is full. */
static void check_full(struct stage *stage, uint64_t era)
{
    enum { EVERY = 512, PAGES = 16, FULL = 65 };
    if (stage->unplaced++ % EVERY != 0)
        return;
    uint64_t pages = stage->pages < PAGES ? stage->pages : PAGES;
    uint64_t each = stage->pages / pages, keys = 0;
    for (uint64_t i = 0; i < pages; i++) {
        const struct key *page = &stage->table[(i * each + random_word() % each) * KEYS_A_PAGE];
        for (unsigned k = 0; k < KEYS_A_PAGE; k++)
            keys += low_word(&page[k]) != 0;
    }
    if (keys * 100 > FULL * KEYS_A_PAGE * pages)
        stage->full = era;
}

void stage_set(struct filter *filter, unsigned number, const struct key *keys, size_t n)
{
    struct layer *layer = &filter->layers[number];
    struct stage *stage = &layer->stage;
    /* The mark before the era, because the mark is cleared last. */
    bool emptying = is_emptying(filter, number);
    uint64_t era = era_of(filter, number);
    if (emptying || !in_use(era) || stage->ours != era) {
        pages_set(filter, layer, keys, n);
        return;
    }
    for (size_t i = 0; i < n + AHEAD; i++) {
        bool there = false;
        if (i < n)
            __builtin_prefetch(&stage->table[home_of(stage, keys[i])], 1);
        if (i < AHEAD)
            continue;
        const struct key key = keys[i - AHEAD];
        struct key *at = key.lo != 0 ? find_place(stage, key, &there) : NULL;
        if (at == NULL) {
            pages_set(filter, layer, &key, 1);
            if (key.lo != 0)
                check_full(stage, era);
        } else if (!there) {
            /* In this order, for readers without a lock. */
            __atomic_store_n(&at->hi, LITTLE64(key.hi), __ATOMIC_RELAXED);
            __atomic_store_n(&at->lo, LITTLE64(key.lo), __ATOMIC_RELEASE);
        }
    }
}

/* --- reading --- */

/* About where the keys of a page begin: at most one place too far. */
static uint64_t place_of_page(const struct layer *layer, uint64_t page)
{
    return (uint64_t)((double)page / (double)layer->plan.pages * (double)homes_of(&layer->stage));
}

struct stage_reader filter_stage_reader(const struct filter *filter, unsigned layer, uint64_t from,
                                        uint64_t end)
{
    struct stage_reader reader = {.filter = filter, .layer = layer, .from = from, .end = end};
    if (!stage_is_used(filter, layer))
        return reader;
    uint64_t place = place_of_page(&filter->layers[layer], from);
    reader.place = place > 0 ? place - 1 : 0;
    reader.last = place_of_page(&filter->layers[layer], end) + STAGE_REACH;
    return reader;
}

ptrdiff_t filter_read_stage(struct stage_reader *reader, struct key keys[STAGE_PIECE],
                            struct fault *fault)
{
    const struct filter *filter = reader->filter;
    const struct layer *layer = &filter->layers[reader->layer];
    size_t kept = 0;
    while (kept == 0 && reader->place < reader->last) {
        uint64_t left = reader->last - reader->place, at = reader->place * KEY_BYTES;
        size_t n = left < STAGE_PIECE ? (size_t)left : STAGE_PIECE, bytes = n * KEY_BYTES;
        if (must_end(filter))
            return fault_errno(fault, filter->file.path, NULL, EINTR);
        if (io_read_at(filter->file.fd, keys, bytes, layer->stage.at + at) != bytes)
            return fault_errno(fault, filter->file.path, NULL, errno != 0 ? errno : EIO);
        reader->place += n;
        /* Keeps the keys that fall on the reader's pages. */
        for (size_t i = 0; i < n; i++) {
            struct key key = {LITTLE64(keys[i].lo), LITTLE64(keys[i].hi)};
            uint64_t page = geometry_page(key, layer->plan.pages);
            keys[kept] = key;
            kept += key.lo != 0 && page >= reader->from && page < reader->end;
        }
    }
    return (ptrdiff_t)kept;
}

int filter_count_staged(const struct filter *filter, unsigned layer, uint64_t from, uint64_t end,
                        uint64_t *keys, struct fault *fault)
{
    struct key piece[STAGE_PIECE];
    const struct bits *bits = &filter->layers[layer].bits;
    struct stage_reader reader = filter_stage_reader(filter, layer, from, end);
    ptrdiff_t n;
    *keys = 0;
    while ((n = filter_read_stage(&reader, piece, fault)) > 0) {
        uint8_t seen[STAGE_PIECE] = {0};
        filter->kernel->test(bits, piece, (size_t)n, seen);
        for (ptrdiff_t i = 0; i < n; i++)
            *keys += !seen[i];
    }
    return n < 0 ? -1 : 0;
}

/* --- room --- */

bool stage_wants_room(const struct filter *filter, unsigned layer)
{
    const struct stage *stage = &filter->layers[layer].stage;
    if (layer == filter->count || stage->pages == 0 || stage->unused)
        return false;
    uint64_t era = era_of(filter, layer);
    return (stage->ours != era || stage->full == era) && !is_emptying(filter, layer);
}

uint64_t filter_stretch(void)
{
    enum { LEAST = 16384, MOST = 262144 };
    uint64_t stretch = machine_memory() / PAGE_BYTES / 16;
    return stretch < LEAST ? LEAST : stretch > MOST ? MOST : stretch;
}

/* Step 2. The system writes a stretch of pages while the next one is set, and LOCK_CHANGE is held
 * for a piece at a time. */
static int set_all(struct filter *filter, unsigned number, struct fault *fault)
{
    const struct layer *layer = &filter->layers[number];
    uint64_t pages = layer->plan.pages, stretch = filter_stretch(), end;
    for (uint64_t from = 0; from < pages; from = end) {
        struct key keys[STAGE_PIECE];
        ptrdiff_t n;
        end = pages - from < stretch ? pages : from + stretch;
        if (pages_populate_to_write(filter, layer, from, end, fault) != 0)
            return -1;
        struct stage_reader reader = filter_stage_reader(filter, number, from, end);
        while ((n = filter_read_stage(&reader, keys, fault)) > 0) {
            if (filter_check_signals(filter, fault) != 0 || filter_lock(filter, fault) != 0)
                return -1;
            filter->kernel->set(&layer->bits, keys, (size_t)n);
            filter_unlock(filter);
        }
        if (n < 0 || pages_begin_to_write(filter, layer, from, end, fault) != 0)
            return -1;
    }
    return pages_flush(filter, layer, "cannot be written", fault);
}

int stage_make_room(struct filter *filter, unsigned number, struct fault *fault)
{
    enum { SLICE = 4096 }; /* pages */
    const struct layer *layer = &filter->layers[number];
    struct stage *stage = &filter->layers[number].stage;
    uint64_t era = era_of(filter, number);

    if (in_use(era) && stage->full == era) {
        /* Step 1. */
        if (filter_lock(filter, fault) != 0)
            return -1;
        pages_mark_bits(filter, layer);
        put64(filter, layer->state_at + LAYER_EMPTYING, 1);
        filter_unlock(filter);
        /* Steps 2 and 3. */
        if (set_all(filter, number, fault) != 0)
            return -1;
        put64(filter, layer->state_at + LAYER_ERA, ++era);
    }

    /* Step 4, also after a writer that ended before it. Blocks that cannot be freed are cleared. */
    if (!in_use(era) && is_marked(filter, number)) {
        for (uint64_t page = 0; page < stage->pages; page += SLICE) {
            uint64_t left = stage->pages - page;
            size_t bytes = (size_t)(left < SLICE ? left : SLICE) * PAGE_BYTES;
            if (filter_check_signals(filter, fault) != 0)
                return -1;
            if (io_change(filter->file.fd, IO_FREE, stage->at + page * PAGE_BYTES, bytes) != 0)
                memset(&stage->table[page * KEYS_A_PAGE], 0, bytes);
        }
        put64(filter, layer->state_at + LAYER_EMPTYING, 0);
    }

    /* All blocks are allocated, and the era is flushed before keys come, or they would not be found
     * after a power cut. */
    stage->unused = io_change(filter->file.fd, IO_RESERVE, stage->at, stage->pages * PAGE_BYTES) !=
                    0;
    if (!stage->unused && !in_use(era)) {
        put64(filter, layer->state_at + LAYER_ERA, ++era);
        stage->unused = msync(filter->metadata, FLIGHT_AT, MS_SYNC) != 0;
    }
    stage->ours = stage->unused ? 0 : era;
    filter->layers[number].mapped = 0;
    return 0;
}
