/*
 * pages - how pages of layers are read, written, flushed and cleared.
 *
 * A key touches one page, anywhere. A run of a few lines should read, clear and dirty only those
 * pages, however large the filter is. A run that touches most pages is up to twice as fast if they
 * are read in bulk:
 *
 *   memory        Huge pages of 2 MB, to save TLB misses. Each is cleared when it is first touched,
 *                 which takes 20 ms for 56 MB. So they are used from HUGE_FROM keys on.
 *   small layers  of a file: large folios of the page cache, mapped as huge pages where the file
 *                 system has them. A first fill takes 86 instead of 100 ns per line, a test of seen
 *                 lines 56 instead of 64. But then one key dirties 2 MB: so only up to 128 MB.
 *   large layers  of a file, and their stages: read ahead as a whole, a slice for each chunk of
 *                 input, so that lines do not wait for all of it. The system is asked to read, and
 *                 not waited for: that takes single pages, of which a key dirties one, and keeps a
 *                 disk busy (4.3 GB in 2.1 s; 28 s if pages are populated, 5 s by dd).
 *
 * A page that is not in memory is waited for by the key that needs it: 60 to 100 us each. So the
 * pages of a batch are requested together before it is tested, which takes 11 us each. For a page
 * in memory that wastes 0.2 us, five times what a test takes; so it ends with a batch of which few
 * pages were read, and goes on after one that waited for the disk.
 *
 * Sources: madvise(2), posix_fadvise(2); measured with tests/bench/run, rows lines, middle, small,
 * cold.
 */
#include "filter/internal.h"

#include "system/io.h"
#include "system/machine.h"
#include "system/map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FEW = 16, /* a run reads in bulk if it has a key for one page in 16, */
    MANY = 4, /* and maps pages for writing if it will add four keys for each, */
    SOME = 4, /* which is judged once it has added keys for a quarter of them */
    HUGE_BYTES = 2 << 20,
    SMALL_BYTES = 128 << 20, /* up to here huge pages pay off in a bulk run of a file */
    SLICE_PAGES = 4096,      /* 16 MB: takes 0.16 s from a slow disk */
    SLICE_OF = 8             /* slices grow to this part of a layer */
};

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

static bool fits_in_memory(const struct layer *layer)
{
    return layer->plan.pages + layer->stage.pages <= machine_memory() / PAGE_BYTES / 2;
}

/* Of a layer and, if it is used, its stage, which precedes it: where they are in the file. */
static void find_data(const struct filter *filter, unsigned i, uint64_t *from, uint64_t *end)
{
    const struct layer *layer = &filter->layers[i];
    *from = stage_is_used(filter, i) ? layer->stage.at : layer->at;
    *end = layer_has_bits(filter, layer) ? page_at(layer, layer->plan.pages) : layer->at;
}

void filter_expect(struct filter *filter, uint64_t keys)
{
    filter->expected = keys;
    for (unsigned i = 0; i < filter->count; i++) {
        struct layer *layer = &filter->layers[i];
        uint64_t pages = layer_has_bits(filter, layer) ? layer->plan.pages : layer->stage.pages;
        uint64_t many = in_memory(filter) ? HUGE_FROM : pages / FEW;
        if (layer->in_bulk || keys < many)
            continue;
        layer->in_bulk = true;
        if (in_memory(filter) || bytes_of(layer) <= SMALL_BYTES) {
            pages_use_huge(layer);
            continue;
        }
        layer->slice = SLICE_PAGES * PAGE_BYTES;
        if (fits_in_memory(layer))
            find_data(filter, i, &layer->to_read, &layer->read_end);
    }
}

static uint64_t slice_from(uint64_t page, uint64_t end)
{
    return end - page < SLICE_PAGES ? end - page : SLICE_PAGES;
}

/* Signals end it between pieces; then the run ends, too. */
static uint64_t request(const struct filter *filter, uint64_t from, uint64_t end)
{
    enum { PIECE = 4 << 20 };
    struct fault ignored;
    while (from < end && filter_check_signals(filter, &ignored) == 0) {
        uint64_t piece = end - from < PIECE ? end - from : PIECE;
        io_read_ahead(filter->file.fd, from, piece);
        from += piece;
    }
    return from;
}

/* Maps the next slice of where new keys go for writing, if this run will change nearly all of it.
 * That takes a quarter of the time of two faults for each page, to read and then to write. */
static bool map_slice(struct filter *filter, unsigned i)
{
    struct layer *layer = &filter->layers[i];
    const bool staged = layer->stage.ours != 0 && stage_is_used(filter, i);
    uint8_t *bytes = staged ? (uint8_t *)layer->stage.table : layer->bits.bytes;
    uint64_t at = staged ? layer->stage.at : layer->at;
    uint64_t pages = staged ? layer->stage.pages : layer->plan.pages, page = layer->mapped;
    uint64_t slice = slice_from(page, pages);
    double share = (double)layer->added / (double)(filter->tested + 1);
    if (layer->slice == 0 || layer->added < pages / SOME || slice == 0 ||
        share * (double)filter->expected < MANY * (double)pages ||
        growth_uses_stage(pages, machine_memory() / PAGE_BYTES))
        return false;
    io_read_ahead(filter->file.fd, at + page * PAGE_BYTES, slice * PAGE_BYTES);
    map_advise(bytes + page * PAGE_BYTES, (size_t)(slice * PAGE_BYTES), MADV_POPULATE_WRITE);
    layer->mapped += slice;
    return true;
}

static bool read_slice(const struct filter *filter, struct layer *layer)
{
    uint64_t left = layer->read_end - layer->to_read, most = bytes_of(layer) / SLICE_OF;
    uint64_t slice = layer->slice < left ? layer->slice : left;
    if (left == 0 || filter->warm)
        return false;
    layer->to_read = request(filter, layer->to_read, layer->to_read + slice);
    layer->slice = layer->slice < most / 2 ? 2 * layer->slice : most;
    return true;
}

void filter_next_slice(struct filter *filter)
{
    for (unsigned i = 0; i < filter->count; i++)
        if (read_slice(filter, &filter->layers[i]) || map_slice(filter, i))
            return;
}

void filter_read_all(const struct filter *filter, unsigned layer)
{
    const struct layer *its = &filter->layers[layer];
    uint64_t from, end;
    if (in_memory(filter))
        return;
    find_data(filter, layer, &from, &end);
    advise(&its->bits, 0, its->plan.pages, MADV_SEQUENTIAL);
    if (fits_in_memory(its))
        (void)request(filter, from, end);
}

/* --- some pages, anywhere --- */

const uint8_t *pages_get(const struct filter *filter, unsigned layer, uint64_t number,
                         uint8_t page[PAGE_BYTES])
{
    const struct layer *its = &filter->layers[layer];
    if (in_memory(filter))
        return its->bits.bytes + number * PAGE_BYTES;
    return io_read_at(filter->file.fd, page, PAGE_BYTES, page_at(its, number)) == PAGE_BYTES ? page
                                                                                             : NULL;
}

static void request_all(const struct filter *filter, const struct key *keys, size_t n)
{
    for (unsigned i = 0; i < filter->count; i++)
        stage_request(filter, i, keys, n);
    for (unsigned i = filter->count; i-- > 0;) {
        const struct layer *layer = &filter->layers[i];
        /* Huge pages must not be split. */
        if (!layer_has_bits(filter, layer) || (layer->in_bulk && bytes_of(layer) <= SMALL_BYTES))
            continue;
        /* This reads exactly one page per key, whatever advice the map has. */
        for (size_t k = 0; k < n; k++)
            advise(&layer->bits, geometry_page(keys[k], layer->plan.pages), 1, MADV_WILLNEED);
    }
}

void pages_request(struct filter *filter, const struct key *keys, size_t n)
{
    enum { LEAST = 16 }; /* fewer, not at the beginning, take turns with their reader */
    const bool first = filter->tested == 0;
    filter->tested += n;
    if (in_memory(filter) || (!first && n < LEAST))
        return;
    struct disk_reads before = machine_disk_reads();
    const bool waited = before.waits - filter->waits > n / FEW;
    filter->waits = before.waits;
    if (filter->warm && !waited)
        return;
    request_all(filter, keys, n);
    uint64_t pages = (machine_disk_reads().bytes - before.bytes) / PAGE_BYTES;
    filter->warm = !waited && pages <= n / FEW;
}

int pages_populate_to_write(const struct filter *filter, const struct layer *layer, uint64_t from,
                            uint64_t end, struct fault *fault)
{
    (void)request(filter, page_at(layer, from), page_at(layer, end));
    for (uint64_t page = from; page < end; page += SLICE_PAGES) {
        if (filter_check_signals(filter, fault) != 0)
            return -1;
        advise(&layer->bits, page, slice_from(page, end), MADV_POPULATE_WRITE);
    }
    return 0;
}

/* --- to the disk --- */

/* Slice by slice, because each call waits if the disk is busy. */
int pages_begin_to_write(const struct filter *filter, const struct layer *layer, uint64_t from,
                         uint64_t end, struct fault *fault)
{
    for (uint64_t page = from; page < end; page += SLICE_PAGES) {
        if (filter_check_signals(filter, fault) != 0)
            return -1;
        (void)sync_file_range(filter->file.fd, (off_t)page_at(layer, page),
                              (off_t)(slice_from(page, end) * PAGE_BYTES), SYNC_FILE_RANGE_WRITE);
    }
    return 0;
}

/* Slice by slice, because a flush cannot be interrupted; then the file as a whole, which takes
 * little time by then. The system reports a write error only once, so an error of a slice counts,
 * except if the file system does not support flushing a range. */
int pages_flush(const struct filter *filter, const struct layer *layer, const char *doing,
                struct fault *fault)
{
    const unsigned finish = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                            SYNC_FILE_RANGE_WAIT_AFTER;
    uint64_t end = layer->plan.pages;
    for (uint64_t page = 0; page < end; page += SLICE_PAGES) {
        if (filter_check_signals(filter, fault) != 0)
            return -1;
        if (sync_file_range(filter->file.fd, (off_t)page_at(layer, page),
                            (off_t)(slice_from(page, end) * PAGE_BYTES), finish) != 0 &&
            errno != ENOSYS && errno != EINVAL && errno != ESPIPE && errno != EPERM)
            return fault_errno(fault, filter_name(filter), doing, errno);
    }
    return fdatasync(filter->file.fd) == 0 ? 0
                                           : fault_errno(fault, filter_name(filter), doing, errno);
}

bool pages_have_data(const struct filter *filter, const struct layer *layer)
{
    if (in_memory(filter))
        return false;
    off_t data = lseek(filter->file.fd, (off_t)layer->at, SEEK_DATA);
    return data < 0 ? errno != ENXIO : (uint64_t)data < page_at(layer, layer->plan.pages);
}

int pages_clear(const struct filter *filter, const struct layer *layer, bool flush,
                struct fault *fault)
{
    uint8_t *bytes = layer->bits.bytes;
    uint64_t end = layer->plan.pages;
    if (in_memory(filter)) {
        /* Memory is released, and reads as zeros when it is touched again. */
        if (madvise(bytes, bytes_of(layer), MADV_DONTNEED) != 0)
            memset(bytes, 0, bytes_of(layer));
        return 0;
    }
    for (uint64_t page = 0; page < end; page += SLICE_PAGES) {
        size_t slice = (size_t)(slice_from(page, end) * PAGE_BYTES);
        if (filter_check_signals(filter, fault) != 0)
            return -1;
        /* If it can, the file system makes the blocks read as zeros, instead of writing them. But
         * that may wait for the disk. */
        if (!flush || io_change(filter->file.fd, IO_ZERO, page_at(layer, page), slice) != 0)
            memset(bytes + page * PAGE_BYTES, 0, slice);
    }
    return flush ? pages_flush(filter, layer, "cannot forget", fault) : 0;
}

/* --- bits --- */

void pages_mark_bits(struct filter *filter, const struct layer *layer)
{
    if (layer->stage.pages != 0 && get64(filter, layer->state_at + LAYER_HAS_BITS) == 0)
        put64(filter, layer->state_at + LAYER_HAS_BITS, 1);
    fence_for_others();
}

void pages_set(struct filter *filter, const struct layer *layer, const struct key *keys, size_t n)
{
    pages_mark_bits(filter, layer);
    filter->kernel->set(&layer->bits, keys, n);
}
