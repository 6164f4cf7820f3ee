/* filter - see filter.h and internal.h. */
#include "filter/internal.h"

#include "system/io.h"
#include "system/lock.h"
#include "system/machine.h"
#include "system/map.h"
#include "system/path.h"
#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- opening --- */

static int fault_replaced(const struct filter *filter, const char *what, struct fault *fault)
{
    fault_set(fault, filter->file.path, "was %s during this run", what);
    fault_way_out(fault, "run it again, with the same input");
    return fault_temporary(fault);
}

/* Opens and checks the file, before anything in it is read. */
static int open_path(struct filter *filter, struct fault *fault)
{
    struct open_file *file = &filter->file;
    const char *path = file->path;
    struct stat status;

    /* The birth before the file is opened: if it is copied in between, a check is wrong on the safe
     * side. O_NONBLOCK: a FIFO must not hang the program. */
    file->birth = path_birth(path);
    file->fd = open(path, (file->write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0) {
        int error = errno;
        bool denied = (error == EACCES || error == EROFS) && access(path, R_OK) == 0;
        if (!denied || !file->write)
            return fault_errno(fault, path, NULL, error);
        fault_errno(fault, path, "cannot be opened for writing", error);
        return fault_way_out(fault, "query, stats and verify need only read access");
    }
    file->overlaid = !file->write && path_is_overlaid(file->fd);

    if (fstat(file->fd, &file->status) != 0)
        return fault_errno(fault, path, NULL, errno);
    if (S_ISDIR(file->status.st_mode))
        return fault_errno(fault, path, NULL, EISDIR);
    if (!S_ISREG(file->status.st_mode))
        return fault_set(fault, path, "is not a regular file");
    if (file->status.st_size == 0)
        return fault_set(fault, path, "is empty, not a filter");

    /* Resolves symbolic links once, so that side files stay beside this file. If the path cannot be
     * resolved, takes it as it is. */
    file->real = realpath(path, NULL);
    if (file->real == NULL)
        file->real = strdup(path);
    else if (stat(file->real, &status) != 0 || !filter_is_file(filter, &status))
        return fault_replaced(filter, "replaced", fault);
    if (file->real == NULL)
        return fault_errno(fault, path, NULL, ENOMEM);

    return file->write ? network_check(file->fd, path, fault) : 0;
}

/* Reads a page into private memory; bytes after the end of the file read as zeros. */
static int read_page(const struct filter *filter, uint64_t at, uint8_t page[HEADER_BYTES],
                     struct fault *fault)
{
    memset(page, 0, HEADER_BYTES);
    if (io_read_at(filter->file.fd, page, HEADER_BYTES, at) < HEADER_BYTES && errno != 0)
        return fault_errno(fault, filter->file.path, NULL, errno);
    return 0;
}

/* Maps pages of the file. Returns NULL with the fault. */
static void *map_pages(const struct filter *filter, uint64_t at, uint64_t pages,
                       struct fault *fault)
{
    const char *path = filter->file.path;
    size_t bytes = (size_t)(pages * PAGE_BYTES);
    void *map = NULL;
    if (bytes / PAGE_BYTES != pages)
        fault_set(fault, path, "is too large for the address space of this machine");
    else
        map = map_file(filter->file.fd, filter->file.write, at, bytes, path, fault);
    if (map == NULL && sizeof bytes < 8)
        fault_way_out(fault, "use it on a 64-bit machine");
    /* A key is on one page: reading ahead would read a hundred times too much. */
    if (map != NULL)
        map_advise(map, bytes, MADV_RANDOM);
    return map;
}

static void unmap_layer(const struct layer *layer)
{
    map_drop(layer->bits.bytes, (size_t)(layer->plan.pages * PAGE_BYTES));
    if (layer->stage.table != NULL)
        map_drop(layer->stage.table, (size_t)(layer->stage.pages * PAGE_BYTES));
}

static int map_layer(struct filter *filter, const struct layer_record *record, struct fault *fault)
{
    struct layer *layer = &filter->layers[filter->count];
    const struct layer_plan *plan = &record->plan;
    *layer = (struct layer){
        .plan = *plan,
        .at = record->offset,
        .state_at = layer_state_at(filter->count),
        .bits = {.pages = plan->pages, .geometry = plan->geometry},
        .stage = {.pages = plan->stage,
                  .at = record->stage_offset,
                  .unused = !growth_uses_stage(plan->pages, machine_memory() / PAGE_BYTES)},
    };
    layer->bits.bytes = map_pages(filter, layer->at, plan->pages, fault);
    if (layer->bits.bytes == NULL)
        return -1;
    if (layer->stage.pages != 0) {
        layer->stage.table = map_pages(filter, layer->stage.at, plan->stage, fault);
        layer->began_empty = !pages_have_data(filter, layer);
        if (layer->stage.table == NULL) {
            unmap_layer(layer);
            return -1;
        }
    }
    filter->count++;
    return 0;
}

int filter_refresh(struct filter *filter, struct fault *fault)
{
    uint8_t page[HEADER_BYTES];
    struct layer_record records[LAYERS_MAX];
    struct stat status;
    unsigned count;
    if (in_memory(filter) ||
        (filter->metadata != NULL && get32(filter, LAYER_COUNT_AT) <= filter->count))
        return 0;
    /* The count before the records: counted records were written before the count. */
    if (read_page(filter, LAYER_TABLE_AT, page, fault) != 0)
        return -1;
    uint32_t counted = load32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT));
    if (read_page(filter, LAYER_TABLE_AT, page, fault) != 0)
        return -1;
    store32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT), counted);
    /* The size after the table: its layers were allocated before it was written. */
    if (fstat(filter->file.fd, &status) != 0)
        return fault_errno(fault, filter->file.path, NULL, errno);
    if (layers_decode(page, &filter->header, (uint64_t)status.st_size, filter->file.path, records,
                      &count, fault) != 0)
        return -1;
    while (filter->count < count)
        if (map_layer(filter, &records[filter->count], fault) != 0)
            return -1;
    return 0;
}

struct filter *filter_new(const struct filter_watch *watch, struct fault *fault)
{
    struct filter *filter = malloc(sizeof *filter);
    if (filter == NULL) {
        fault_errno(fault, "filter", NULL, ENOMEM);
        return NULL;
    }
    memset(filter, 0, offsetof(struct filter, layers));
    filter->file.fd = -1;
    if (watch != NULL)
        filter->watch = *watch;
    return filter;
}

struct filter *filter_open(const char *path, bool write, const struct filter_watch *watch,
                           struct fault *fault)
{
    uint8_t page[HEADER_BYTES];
    struct filter *filter = filter_new(watch, fault);
    if (filter == NULL)
        return NULL;
    struct open_file *file = &filter->file;
    file->write = write;
    file->path = strdup(path);
    if (file->path == NULL) {
        fault_errno(fault, path, NULL, ENOMEM);
        goto failed;
    }
    if (open_path(filter, fault) != 0 || read_page(filter, 0, page, fault) != 0 ||
        header_decode(page, (uint64_t)file->status.st_size, path, &filter->header, fault) != 0)
        goto failed;
    filter->kernel = kernel_for(filter->header.plan.geometry);
    if (filter_refresh(filter, fault) != 0)
        goto failed;
    size_t bytes = (size_t)filter->header.layers_at;
    filter->metadata = map_file(file->fd, write, 0, bytes, path, fault);
    if (filter->metadata == NULL)
        goto failed;
    if (filter->header.plan.forget != 0)
        (void)clock_uptime(); /* it cannot be asked first when the process is confined */
    return filter;

failed:
    filter_close(filter);
    return NULL;
}

/* --- closing --- */

/* Locks are dropped when neither a map nor the descriptor holds the file. */
void filter_close(struct filter *filter)
{
    if (filter == NULL)
        return;
    for (unsigned i = 0; i < filter->count; i++)
        unmap_layer(&filter->layers[i]);
    if (filter->file.fd < 0)
        free(filter->metadata);
    else if (filter->metadata != NULL)
        map_drop(filter->metadata, (size_t)filter->header.layers_at);
    if (filter->file.write)
        signals_touch_now();
    if (filter->file.fd >= 0)
        close(filter->file.fd);
    free(filter->noted);
    free(filter->file.path);
    free(filter->file.real);
    free(filter);
}

/* --- the name --- */

/* On an overlay, the first writer of a file gets a copy. Maps of those who opened the file before
 * keep showing the original forever, while read(2) shows the copy, and stat(2) the same device
 * and inode number. The birth tells, except for a copy without contents that chown(1) has made
 * before. The counter of settlings tells as soon as a line was remembered; it is read again
 * because a read need not be atomic. (Opening for writing would tell, too, but make the copy.) */
static bool is_behind_copy(const struct filter *filter)
{
    uint64_t before, after, now;
    const struct open_file *file = &filter->file;
    if (path_birth(file->path) != file->birth)
        return true;
    for (unsigned tries = 0; tries < 3; tries++) {
        uint8_t bytes[8];
        before = filter_settlings(filter);
        bool read = io_read_at(file->fd, bytes, sizeof bytes, COUNTER_SETTLED_AT) == sizeof bytes;
        now = load64(bytes);
        after = filter_settlings(filter);
        if (!read || (now >= before && now <= after))
            return false;
    }
    return true;
}

static int check_name_now(struct filter *filter, struct fault *fault)
{
    struct stat status;
    if (stat(filter->file.path, &status) != 0)
        return fault_replaced(filter, "removed", fault);
    if (!filter_is_file(filter, &status))
        return fault_replaced(filter, "replaced", fault);
    if (filter->file.overlaid && is_behind_copy(filter))
        return fault_replaced(filter, "copied by its first writer on an overlay", fault);
    filter->file.named_at = clock_monotonic();
    return 0;
}

int filter_check_name(struct filter *filter, struct fault *fault)
{
    enum { RECENTLY = 10 };
    /* A writer checks again when it settles. */
    if (in_memory(filter) ||
        (filter->file.write && clock_monotonic() - filter->file.named_at < RECENTLY))
        return 0;
    return check_name_now(filter, fault);
}

bool filter_is_file(const struct filter *filter, const struct stat *status)
{
    return !in_memory(filter) && path_same_file(&filter->file.status, status);
}

bool filter_begins(int fd)
{
    uint8_t bytes[8];
    return io_read_at(fd, bytes, sizeof bytes, 0) == sizeof bytes && header_is_filter(bytes);
}

/* --- locks --- */

static void tell_waiting(void *context, bool to_the_end)
{
    const struct filter *filter = context;
    if (filter->watch.waits != NULL)
        filter->watch.waits(filter, to_the_end);
}

int filter_take(struct filter *filter, unsigned lock, struct fault *fault)
{
    if (lock_take(filter->file.fd, lock, filter->settling, tell_waiting, filter) != 0)
        return fault_errno(fault, filter->file.path, "cannot be locked", errno);
    return 0;
}

int filter_lock(struct filter *filter, struct fault *fault)
{
    if (!filter->file.write)
        return 0;
    if (filter_take(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    /* While it settles, delivered keys go into the layers that could be mapped. */
    if (filter_refresh(filter, fault) != 0 && !filter->settling) {
        filter_unlock(filter);
        return -1;
    }
    removal_repair(filter);
    return 0;
}

void filter_unlock(struct filter *filter)
{
    if (filter->file.write)
        lock_drop(filter->file.fd, LOCK_CHANGE);
}

int filter_lock_to_settle(struct filter *filter, struct fault *fault)
{
    if (filter_lock(filter, fault) != 0)
        return -1;
    if (check_name_now(filter, fault) == 0)
        return 0;
    filter_unlock(filter);
    return -1;
}

int filter_freeze(struct filter *filter, struct fault *fault)
{
    static const unsigned locks[] = {LOCK_HELD, LOCK_GROW, LOCK_QUEUE};
    enum { LOCKS = sizeof locks / sizeof *locks };
    unsigned taken = 0;
    while (taken < LOCKS && filter_take(filter, locks[taken], fault) == 0)
        taken++;
    if (taken == LOCKS && filter_lock_to_settle(filter, fault) == 0)
        return 0;
    while (taken > 0)
        lock_drop(filter->file.fd, locks[--taken]);
    return -1;
}

void filter_thaw(struct filter *filter)
{
    filter_unlock(filter);
    lock_drop(filter->file.fd, LOCK_QUEUE);
    lock_drop(filter->file.fd, LOCK_GROW);
    lock_drop(filter->file.fd, LOCK_HELD);
}

int filter_flush(const struct filter *filter, struct fault *fault)
{
    if (in_memory(filter) || fdatasync(filter->file.fd) == 0)
        return 0;
    fault_errno(fault, filter->file.path, "cannot be flushed to disk", errno);
    return fault_way_out(fault, "after a power cut, lines that it remembers may come again");
}

int filter_check_signals(const struct filter *filter, struct fault *fault)
{
    if (must_end(filter))
        return fault_errno(fault, filter_name(filter), NULL, EINTR);
    if (signals_stop_arrived() && !filter->settling)
        return fault_errno(fault, filter_name(filter), NULL, ECANCELED);
    return 0;
}

/* --- facts --- */

const struct header *filter_header(const struct filter *filter)
{
    return &filter->header;
}

const char *filter_path(const struct filter *filter)
{
    return filter->file.path;
}

int filter_descriptor(const struct filter *filter)
{
    return filter->file.fd;
}

const char *filter_real_path(const struct filter *filter)
{
    return filter->file.real;
}

const char *filter_name(const struct filter *filter)
{
    return filter->file.path != NULL ? filter->file.path : "filter in memory";
}

uint64_t filter_stage_bytes(const struct filter *filter)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < filter->count; i++)
        pages += filter->layers[i].stage.pages;
    return pages * PAGE_BYTES;
}

uint64_t filter_file_bytes(const struct filter *filter)
{
    struct stat status;
    return !in_memory(filter) && fstat(filter->file.fd, &status) == 0 ? (uint64_t)status.st_size
                                                                      : 0;
}

uint64_t filter_end(const struct filter *filter)
{
    const struct layer *last = &filter->layers[filter->count - 1];
    return page_at(last, last->plan.pages);
}

unsigned filter_layers(const struct filter *filter)
{
    return filter->count;
}

uint64_t filter_capacity(const struct filter *filter)
{
    uint64_t capacity = 0;
    for (unsigned i = 0; i < filter->count; i++)
        capacity += filter->layers[i].plan.capacity;
    return capacity;
}

uint64_t filter_keys(const struct filter *filter)
{
    uint64_t keys = 0;
    for (unsigned i = 0; i < filter->count; i++)
        keys += filter_layer_keys(filter, i);
    return keys;
}

uint64_t filter_settlings(const struct filter *filter)
{
    return get64(filter, COUNTER_SETTLED_AT);
}

uint8_t filter_queue(const struct filter *filter)
{
    return filter->metadata[QUEUE_AT];
}

struct layer_plan filter_plan(const struct filter *filter, unsigned layer)
{
    return filter->layers[layer].plan;
}

const struct bits *filter_bits(const struct filter *filter, unsigned layer)
{
    return &filter->layers[layer].bits;
}

uint64_t filter_layer_keys(const struct filter *filter, unsigned layer)
{
    return layer_keys(filter, &filter->layers[layer]);
}
