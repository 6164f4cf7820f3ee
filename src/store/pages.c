/*
 * filter_pages - how a layer's pages come into memory.
 *
 * A key touches one page, anywhere. A run of a few lines should read, clear and dirty just those,
 * whatever the size of the filter; a run that will touch most of them anyway is up to twice as fast
 * if they come in bulk:
 *
 *   memory        Pages of 2 MB, for want of TLB misses. But each is cleared as a whole when it is
 *                 first touched, 20 ms for 56 MB: so they are asked for when HUGE_FROM keys are to
 *                 come, or have come.
 *   small layers  of a file: large folios of the page cache, mapped as pages of 2 MB, where the file
 *                 system has them. 100 -> 86 ns a line for a first fill, 64 -> 56 for lines seen.
 *                 Once they are there, any run dirties 2 MB with a key: hence only up to 128 MB.
 *   large layers  of a file: read ahead as a whole, a slice with each chunk of the input: what has
 *                 arrived should not wait for all of it. One by one, 4 KB come at 60 us, from a disk
 *                 that reads 100 MB in a second.
 *
 * Whatever filled the page cache, perhaps cat(1), may have left large folios there, and a bit set in
 * the map dirties all of its folio. So the first keys that a run sets in a layer of more than 32 MB
 * are written with pwrite(2), a page of 4 KB each: 100 lines in a filter of 3.7 GB then write 0.4 MB
 * instead of 200.
 *
 * Sources: madvise(2); measured with tests/bench/run, rows file, middle, small.
 */
#include "store/internal.h"

#include "system/map.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A run is large if it looks at one of so many pages. */
enum { FEW = 16 };
enum { SMALL_BYTES = 128 << 20 };

/* For a layer that was in use with small pages already, those are put together by the kernel. */
void filter_use_huge_pages(struct layer *layer)
{
    size_t bytes = (size_t)(layer->plan.pages * PAGE_BYTES);
    layer->in_bulk = true;
#ifdef MADV_HUGEPAGE
    if (bytes < HUGE_BYTES || madvise(layer->bits.bytes, bytes, MADV_HUGEPAGE) != 0)
        return;
#ifdef MADV_COLLAPSE
    if (layer->keys > 0)
        madvise(layer->bits.bytes, bytes, MADV_COLLAPSE);
#endif
#endif
}

/* Mapped in one go, pages cost half of what faults cost. Errors will be met when they are read.
 * MADV_WILLNEED would read 128 KB and no more. */
static void populate(const struct bits *bits, uint64_t page, uint64_t pages)
{
#ifdef MADV_POPULATE_READ
    map_advise(bits->bytes + page * PAGE_BYTES, (size_t)(pages * PAGE_BYTES), MADV_POPULATE_READ);
#else
    (void)bits, (void)page, (void)pages;
#endif
}

void filter_read_ahead(const struct filter *filter, unsigned layer, uint64_t page, uint64_t pages)
{
    const struct bits *bits = &filter->layers[layer].bits;
    if (filter->fd < 0)
        return;
    if (page == 0)
        map_advise(bits->bytes, (size_t)(bits->pages * PAGE_BYTES), MADV_SEQUENTIAL);
    populate(bits, page, pages);
}

static bool fits_memory(const struct layer *layer)
{
    long memory = sysconf(_SC_PHYS_PAGES);
    return memory > 0 && layer->plan.pages <= (uint64_t)memory / 2;
}

static void ask_in_bulk(struct layer *layer)
{
    size_t bytes = (size_t)(layer->plan.pages * PAGE_BYTES);
    layer->in_bulk = true;
    if (bytes > SMALL_BYTES && !is_stage(layer))
        layer->to_read = fits_memory(layer) ? layer->plan.pages : 0;
#ifdef MADV_HUGEPAGE
    else if (bytes >= HUGE_BYTES)
        map_advise(layer->bits.bytes, bytes, MADV_HUGEPAGE);
#endif
}

void filter_expect(struct filter *filter, uint64_t keys)
{
    bool in_memory = filter->fd < 0;
    for (unsigned i = 0; i < filter->count; i++) {
        struct layer *layer = &filter->layers[i];
        if (layer->in_bulk || keys < (in_memory ? HUGE_FROM : layer->plan.pages / FEW))
            continue;
        if (in_memory)
            filter_use_huge_pages(layer);
        else
            ask_in_bulk(layer);
    }
}

/* 16 MB: a sixth of a second from a slow disk, and a layer of 3.7 GB is there after a million lines
 * or less. */
enum { SLICE_PAGES = 4096 };

void filter_read_slice(struct filter *filter)
{
    for (unsigned i = 0; i < filter->count; i++) {
        struct layer *layer = &filter->layers[i];
        uint64_t pages = layer->to_read < SLICE_PAGES ? layer->to_read : SLICE_PAGES;
        uint64_t page = layer->plan.pages - layer->to_read;
        uint8_t *slice = layer->bits.bytes + page * PAGE_BYTES;
        if (pages == 0)
            continue;
        /* Only here: a single key elsewhere should not read its neighbours. */
        map_advise(slice, (size_t)(pages * PAGE_BYTES), MADV_SEQUENTIAL);
        populate(&layer->bits, page, pages);
        map_advise(slice, (size_t)(pages * PAGE_BYTES), MADV_RANDOM);
        layer->to_read -= pages;
        return;
    }
}

int filter_populate_to_write(const struct filter *filter, unsigned layer, uint64_t from,
                             uint64_t end, struct fault *fault)
{
    const struct bits *bits = &filter->layers[layer].bits;
    for (uint64_t page = from; page < end; page += SLICE_PAGES) {
        uint8_t *slice = bits->bytes + page * PAGE_BYTES;
        size_t bytes = (size_t)((end - page < SLICE_PAGES ? end - page : SLICE_PAGES) * PAGE_BYTES);
        if (signals_pending())
            return fault_errno(fault, filter->path, NULL, EINTR);
#ifdef MADV_POPULATE_WRITE
        map_advise(slice, bytes, MADV_SEQUENTIAL);
        map_advise(slice, bytes, MADV_POPULATE_WRITE);
        map_advise(slice, bytes, MADV_RANDOM);
#else
        (void)slice, (void)bytes;
#endif
    }
    return 0;
}

enum { LARGE_PAGES = 8192, FIRST_KEYS = 512 };

/* Returns whether it could be written. Whole pages are, since nobody else changes one meanwhile. */
static bool write_key(const struct filter *filter, const struct layer *layer, struct key key)
{
    uint8_t copy[PAGE_BYTES] __attribute__((aligned(LINE_BYTES)));
    uint64_t page = geometry_page(key, layer->plan.pages);
    struct bits bits = {.bytes = copy, .pages = 1, .geometry = layer->bits.geometry};
    memcpy(copy, layer->bits.bytes + page * PAGE_BYTES, PAGE_BYTES);
    filter->kernel->set(&bits, &key, 1);
    return whole_write_at(filter->fd, copy, PAGE_BYTES, page_at(layer, page)) == PAGE_BYTES;
}

void filter_set_keys(struct filter *filter, unsigned index, const struct key *keys, size_t n)
{
    struct layer *layer = &filter->layers[index];
    layer->set += n;
    bool first = layer->plan.pages > LARGE_PAGES && !layer->in_bulk && layer->set <= FIRST_KEYS;
    size_t done = 0;
    while (first && done < n && write_key(filter, layer, keys[done]))
        done++;
    filter->kernel->set(&layer->bits, keys + done, n - done);
}
