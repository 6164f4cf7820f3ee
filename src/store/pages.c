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
 * Whatever filled the page cache, perhaps cat(1), may have left large folios there, and a bit set
 * in the map dirties all of its folio. So the first keys that a run sets in a layer of more than 32
 * MB are written with pwrite(2), a page of 4 KB each: 100 lines in a filter of 3.7 GB then write
 * 0.4 MB instead of 200.
 *
 * Sources: madvise(2); measured with tests/bench/run, rows lines, middle, small.
 */
#include "store/pages.h"

#include "store/internal.h"
#include "system/map.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A run is large if it looks at one of so many pages. */
enum { FEW = 16 };
enum { SMALL_BYTES = 128 << 20 };

static size_t bytes_of(const struct region *region)
{
    return (size_t)(region->plan.pages * PAGE_BYTES);
}

void pages_use_huge(struct region *region)
{
    region->in_bulk = true;
    if (bytes_of(region) >= HUGE_BYTES)
        map_advise(region->bits.bytes, bytes_of(region), MADV_HUGEPAGE);
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

void pages_read_ahead(const struct store *store, unsigned region, uint64_t page, uint64_t pages)
{
    const struct bits *bits = store_bits(store, region);
    if (store->file.fd < 0)
        return;
    if (page == 0)
        advise(bits, 0, bits->pages, MADV_SEQUENTIAL);
    advise(bits, page, pages, MADV_POPULATE_READ);
}

static bool fits_memory(const struct region *region)
{
    long memory = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return memory > 0 && page > 0 && bytes_of(region) <= (uint64_t)memory * (uint64_t)page / 2;
}

/* Whether large pages are worth asking for, once much of it is wanted. */
static bool takes_huge(const struct region *region)
{
    return bytes_of(region) <= SMALL_BYTES || is_stage(region);
}

static void expect(const struct store *store, struct region *region, uint64_t keys)
{
    bool in_memory = store->file.fd < 0;
    if (region->in_bulk || keys < (in_memory ? HUGE_FROM : region->plan.pages / FEW))
        return;
    if (in_memory || takes_huge(region))
        pages_use_huge(region);
    else if (fits_memory(region))
        region->to_read = region->plan.pages;
    region->in_bulk = true;
}

void pages_expect(struct store *store, uint64_t keys)
{
    for (unsigned i = 0; i < store->count; i++) {
        struct layer *layer = &store->layers[i];
        if (has_stage(layer))
            expect(store, &layer->stage, keys);
        if (!layer_is_empty(store, layer))
            expect(store, &layer->region, keys);
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
        struct region *region = &store->layers[i].region;
        uint64_t page = region->plan.pages - region->to_read;
        uint64_t pages = slice_from(page, region->plan.pages);
        if (pages == 0)
            continue;
        populate(&region->bits, page, pages, MADV_POPULATE_READ);
        region->to_read -= pages;
        return;
    }
}

/* --- some pages, anywhere --- */

/* Exactly one page each is read, whatever was said of the map. */
static void ask(const struct region *region, const struct key *keys, size_t n)
{
    /* They come 2 MB at a time, and should not be cut up. */
    if (region->in_bulk && takes_huge(region))
        return;
    for (size_t i = 0; i < n; i++)
        advise(&region->bits, geometry_page(keys[i], region->plan.pages), 1, MADV_WILLNEED);
}

void pages_ask(const struct store *store, const struct key *keys, size_t n)
{
    for (unsigned i = store->count; i-- > 0;) {
        const struct layer *layer = &store->layers[i];
        if (has_stage(layer))
            ask(&layer->stage, keys, n);
        if (!layer_is_empty(store, layer))
            ask(&layer->region, keys, n);
    }
}

int pages_populate_to_write(const struct store *store, const struct region *region, uint64_t from,
                            uint64_t end, struct fault *fault)
{
    for (uint64_t page = from; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        populate(&region->bits, page, slice_from(page, end), MADV_POPULATE_WRITE);
    }
    return 0;
}

/* --- to the disk --- */

enum {
    BEGIN = SYNC_FILE_RANGE_WRITE,
    FINISH = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER,
};

static int sync_range(const struct store *store, const struct region *region, uint64_t page,
                      uint64_t pages, unsigned how)
{
    return sync_file_range(store->file.fd, (off_t)page_at(region, page),
                           (off_t)(pages * PAGE_BYTES), how);
}

/* Slice by slice: if the disk has much to do already, this waits until it has begun. */
int pages_begin_to_write(const struct store *store, const struct region *region, uint64_t from,
                         uint64_t end, struct fault *fault)
{
    for (uint64_t page = from; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        (void)sync_range(store, region, page, slice_from(page, end), BEGIN);
    }
    return 0;
}

/* Slice by slice, since nothing ends a flush before its time; the last word has the flush of the
 * file, which then has little left to do. An error that a slice was told is not told again: so all
 * count but those of a file system that cannot do it slice by slice. */
int pages_flush(const struct store *store, const struct region *region, const char *doing,
                struct fault *fault)
{
    uint64_t end = region->plan.pages;
    for (uint64_t page = 0; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        if (sync_range(store, region, page, slice_from(page, end), FINISH) != 0 &&
            errno != ENOSYS && errno != EINVAL && errno != ESPIPE && errno != EPERM)
            return fault_errno(fault, store_name(store), doing, errno);
    }
    return fdatasync(store->file.fd) == 0 ? 0 : fault_errno(fault, store_name(store), doing, errno);
}

bool pages_have_data(const struct store *store, const struct region *region)
{
    if (store->file.fd < 0)
        return false;
    off_t data = lseek(store->file.fd, (off_t)region->at, SEEK_DATA);
    return data < 0 ? errno != ENXIO : (uint64_t)data < page_at(region, region->plan.pages);
}

/* Where the file system can say that blocks read as zeros, none need be written: clearing 4 GB took
 * as long as writing them does. */
static void clear_slice(const struct store *store, const struct region *region, uint64_t page,
                        uint64_t pages)
{
    size_t bytes = (size_t)(pages * PAGE_BYTES);
    if (store->file.fd < 0 || whole_zero(store->file.fd, page_at(region, page), bytes) != 0)
        memset(region->bits.bytes + page * PAGE_BYTES, 0, bytes);
}

int pages_clear(const struct store *store, const struct region *region, const char *doing,
                struct fault *fault)
{
    uint8_t *bytes = region->bits.bytes;
    uint64_t end = region->plan.pages;
    /* Memory without a file is given back, and comes as zeros when it is touched again. */
    if (store->file.fd < 0 && madvise(bytes, bytes_of(region), MADV_DONTNEED) == 0)
        return 0;
    for (uint64_t page = 0; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        clear_slice(store, region, page, slice_from(page, end));
    }
    return store->file.fd < 0 ? 0 : pages_flush(store, region, doing, fault);
}

int pages_give_back(const struct store *store, const struct region *region, const char *doing,
                    struct fault *fault)
{
    uint64_t end = region->plan.pages;
    /* Of few keys each has a piece of the disk to itself: then this takes seconds. */
    for (uint64_t page = 0; page < end; page += SLICE_PAGES) {
        if (store_check_signals(store, fault) != 0)
            return -1;
        if (whole_give_back(store->file.fd, page_at(region, page),
                            slice_from(page, end) * PAGE_BYTES) != 0)
            return pages_clear(store, region, doing, fault);
    }
    return fsync(store->file.fd) == 0 ? 0 : fault_errno(fault, store_name(store), doing, errno);
}

/* --- bits --- */

enum { LARGE_PAGES = 8192, FIRST_KEYS = 512 };

/* Returns whether it could be written. Whole pages are, since nobody else changes one meanwhile. */
static bool write_key(const struct store *store, const struct region *region, struct key key)
{
    uint8_t copy[PAGE_BYTES] __attribute__((aligned(LINE_BYTES)));
    uint64_t page = geometry_page(key, region->plan.pages);
    struct bits bits = {.bytes = copy, .pages = 1, .geometry = region->bits.geometry};
    memcpy(copy, region->bits.bytes + page * PAGE_BYTES, PAGE_BYTES);
    store->kernel->set(&bits, &key, 1);
    return whole_write_at(store->file.fd, copy, PAGE_BYTES, page_at(region, page)) == PAGE_BYTES;
}

void pages_set(struct store *store, struct region *region, const struct key *keys, size_t n)
{
    region->set += n;
    bool first = region->plan.pages > LARGE_PAGES && !region->in_bulk && region->set <= FIRST_KEYS;
    size_t done = 0;
    while (first && done < n && write_key(store, region, keys[done]))
        done++;
    store->kernel->set(&region->bits, keys + done, n - done);
}
