/*
 * pages - how a layer's pages come into memory.
 *
 * A key touches one page, anywhere. A run of a few lines should read, clear and dirty just those,
 * whatever the size of the filter; a run that will touch most of them anyway is up to twice as fast
 * if they come in bulk:
 *
 *   memory        Pages of 2 MB, to save TLB misses. But each is cleared as a whole when it is
 *                 first touched, 20 ms for 56 MB: so they are asked for when HUGE_FROM keys are to
 *                 come, or have come.
 *   small layers  of a file: large folios of the page cache, mapped as pages of 2 MB, where the
 *                 file system has them. 100 -> 86 ns a line for a first fill, 64 -> 56 for lines
 *                 seen. Once they are there, any run dirties 2 MB with a key: so only up to 128 MB.
 *   large layers  of a file: read ahead as a whole, a slice with each chunk of the input: what has
 *                 arrived should not wait for all of it. One by one, 4 KB come at 60 us, from a
 *                 disk that reads 100 MB in a second.
 *
 * Sources: madvise(2); measured with tests/bench/run, rows lines, middle, small.
 */
#include "filter/pages.h"

#include "filter/internal.h"
#include "system/io.h"
#include "system/map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A run is large if it looks at one of so many pages. */
enum { FEW = 16 };
enum { SMALL_BYTES = 128 << 20 };

static size_t bytes_of(const struct layer *layer)
{
    return (size_t)(layer->plan.pages * PAGE_BYTES);
}

void pages_use_huge(struct layer *layer)
{
    layer->in_bulk = true;
    if (bytes_of(layer) >= HUGE_BYTES)
        map_advise(layer->bits.bytes, bytes_of(layer), MADV_HUGEPAGE);
}

static void advise(const struct bits *bits, uint64_t page, uint64_t pages, int advice)
{
    map_advise(bits->bytes + page * PAGE_BYTES, (size_t)(pages * PAGE_BYTES), advice);
}

/* Mapped in one go, pages cost half of what faults cost. Errors will be met when they are used.
 * MADV_WILLNEED would read 128 KB and no more. Sequential only here: a single key elsewhere should
 * not read its neighbours. */
static void populate(const struct bits *bits, uint64_t page, uint64_t pages, int advice)
{
    advise(bits, page, pages, MADV_SEQUENTIAL);
    advise(bits, page, pages, advice);
    advise(bits, page, pages, MADV_RANDOM);
}

void pages_read_ahead(const struct store *store, unsigned layer, uint64_t page, uint64_t pages)
{
    const struct bits *bits = store_bits(store, layer);
    if (in_memory(store))
        return;
    if (page == 0)
        advise(bits, 0, bits->pages, MADV_SEQUENTIAL);
    advise(bits, page, pages, MADV_POPULATE_READ);
}

uint64_t pages_of_memory(void)
{
    long memory = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return memory > 0 && page > 0 ? (uint64_t)memory * ((uint64_t)page / PAGE_BYTES) : 0;
}

/* Whether large pages are worth asking for, once much of it is wanted. */
static bool takes_huge(const struct layer *layer)
{
    return bytes_of(layer) <= SMALL_BYTES;
}

static void expect(const struct store *store, struct layer *layer, uint64_t keys)
{
    if (layer->in_bulk || keys < (in_memory(store) ? HUGE_FROM : layer->plan.pages / FEW))
        return;
    if (in_memory(store) || takes_huge(layer))
        pages_use_huge(layer);
    else if (layer->plan.pages <= pages_of_memory() / 2)
        layer->to_read = layer->plan.pages;
    layer->in_bulk = true;
}

void pages_expect(struct store *store, uint64_t keys)
{
    for (unsigned i = 0; i < store->count; i++) {
        struct layer *layer = &store->layers[i];
        if (!layer_is_empty(store, layer))
            expect(store, layer, keys);
    }
}

/* 16 MB: a sixth of a second from a slow disk, and a layer of 3.7 GB is there after a million lines
 * or less. */
enum { SLICE_PAGES = 4096 };

static uint64_t slice_from(uint64_t page, uint64_t end)
{
    return end - page < SLICE_PAGES ? end - page : SLICE_PAGES;
}

void pages_read_slice(struct store *store)
{
    for (unsigned i = 0; i < store->count; i++) {
        struct layer *layer = &store->layers[i];
        uint64_t page = layer->plan.pages - layer->to_read;
        uint64_t pages = slice_from(page, layer->plan.pages);
        if (pages == 0)
            continue;
        populate(&layer->bits, page, pages, MADV_POPULATE_READ);
        layer->to_read -= pages;
        return;
    }
}

/* --- some pages, anywhere --- */

/* Exactly one page each is read, whatever was said of the map. */
static void ask(const struct layer *layer, const struct key *keys, size_t n)
{
    /* They come 2 MB at a time, and should not be cut up. */
    if (layer->in_bulk && takes_huge(layer))
        return;
    for (size_t i = 0; i < n; i++)
        advise(&layer->bits, geometry_page(keys[i], layer->plan.pages), 1, MADV_WILLNEED);
}

void pages_prefetch(const struct store *store, const struct key *keys, size_t n)
{
    for (unsigned i = store->count; i-- > 0;) {
        const struct layer *layer = &store->layers[i];
        if (!layer_is_empty(store, layer))
            ask(layer, keys, n);
    }
}

int pages_populate_to_write(const struct store *store, const struct layer *layer, uint64_t from,
                            uint64_t end, struct fault *fault)
{
    for (uint64_t page = from; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        populate(&layer->bits, page, slice_from(page, end), MADV_POPULATE_WRITE);
    }
    return 0;
}

/* --- to the disk --- */

enum {
    BEGIN = SYNC_FILE_RANGE_WRITE,
    FINISH = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER,
};

static int sync_range(const struct store *store, const struct layer *layer, uint64_t page,
                      uint64_t pages, unsigned how)
{
    return sync_file_range(store->file.fd, (off_t)page_at(layer, page), (off_t)(pages * PAGE_BYTES),
                           how);
}

/* Slice by slice: if the disk has much to do already, this waits until it has begun. */
int pages_begin_to_write(const struct store *store, const struct layer *layer, uint64_t from,
                         uint64_t end, struct fault *fault)
{
    for (uint64_t page = from; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        (void)sync_range(store, layer, page, slice_from(page, end), BEGIN);
    }
    return 0;
}

/* Slice by slice, since nothing ends a flush before its time; the last word has the flush of the
 * file, which then has little left to do. An error that a slice was told is not told again: so all
 * count but those of a file system that cannot do it slice by slice. */
int pages_flush(const struct store *store, const struct layer *layer, const char *doing,
                struct fault *fault)
{
    uint64_t end = layer->plan.pages;
    for (uint64_t page = 0; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        if (sync_range(store, layer, page, slice_from(page, end), FINISH) != 0 && errno != ENOSYS &&
            errno != EINVAL && errno != ESPIPE && errno != EPERM)
            return fault_errno(fault, store_name(store), doing, errno);
    }
    return fdatasync(store->file.fd) == 0 ? 0 : fault_errno(fault, store_name(store), doing, errno);
}

bool pages_have_data(const struct store *store, const struct layer *layer)
{
    if (in_memory(store))
        return false;
    off_t data = lseek(store->file.fd, (off_t)layer->at, SEEK_DATA);
    return data < 0 ? errno != ENXIO : (uint64_t)data < page_at(layer, layer->plan.pages);
}

/* Where the file system can say that blocks read as zeros, none need be written: clearing 4 GB took
 * as long as writing them does. */
static void clear_slice(const struct store *store, const struct layer *layer, uint64_t page,
                        uint64_t pages)
{
    size_t bytes = (size_t)(pages * PAGE_BYTES);
    if (in_memory(store) || io_zero(store->file.fd, page_at(layer, page), bytes) != 0)
        memset(layer->bits.bytes + page * PAGE_BYTES, 0, bytes);
}

int pages_clear(const struct store *store, const struct layer *layer, const char *doing,
                struct fault *fault)
{
    uint8_t *bytes = layer->bits.bytes;
    uint64_t end = layer->plan.pages;
    /* Memory without a file is given back, and comes as zeros when it is touched again. */
    if (in_memory(store) && madvise(bytes, bytes_of(layer), MADV_DONTNEED) == 0)
        return 0;
    for (uint64_t page = 0; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        clear_slice(store, layer, page, slice_from(page, end));
    }
    return in_memory(store) ? 0 : pages_flush(store, layer, doing, fault);
}

/* --- bits --- */

void pages_get_bits(struct store *store, const struct layer *layer)
{
    if (has_stage(layer) && get64(store, layer->state_at + LAYER_HAS_BITS) == 0)
        put64(store, layer->state_at + LAYER_HAS_BITS, 1);
    fence_for_others();
}

void pages_set(struct store *store, struct layer *layer, const struct key *keys, size_t n)
{
    pages_get_bits(store, layer);
    store->kernel->set(&layer->bits, keys, n);
}
