/* store - see store.h and internal.h. */
#include "filter/internal.h"

#include "filter/pages.h"
#include "filter/removal.h"
#include "system/clock.h"
#include "system/io.h"
#include "system/lock.h"
#include "system/machine.h"
#include "system/map.h"
#include "system/network.h"
#include "system/path.h"
#include "system/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- opening --- */

static int fault_replaced(const struct store *store, const char *what, struct fault *fault)
{
    fault_set(fault, store->file.path, "was %s during this run", what);
    fault_way_out(fault, "run it again, with the same input");
    return fault_temporary(fault);
}

static int open_fd(struct store *store, struct fault *fault)
{
    const char *path = store->file.path;
    /* O_NONBLOCK: a FIFO must not hang the program. */
    int mode = store->file.write ? O_RDWR : O_RDONLY;
    /* Before the file is opened: if it is copied in between, a check is wrong on the safe side. */
    store->file.birth = path_birth(path);
    store->file.fd = open(path, mode | O_CLOEXEC | O_NONBLOCK);
    int error = errno;
    store->file.overlaid = !store->file.write && path_is_overlaid(store->file.fd);
    if (store->file.fd >= 0)
        return 0;
    bool denied = (error == EACCES || error == EROFS) && access(path, R_OK) == 0;
    if (!denied || !store->file.write)
        return fault_errno(fault, path, NULL, error);
    fault_errno(fault, path, "cannot be opened for writing", error);
    return fault_way_out(fault, "query, stats and verify need only read access");
}

static int check_kind(struct store *store, struct fault *fault)
{
    struct stat *status = &store->file.status;
    const char *path = store->file.path;
    if (fstat(store->file.fd, status) != 0)
        return fault_errno(fault, path, NULL, errno);
    if (S_ISDIR(status->st_mode))
        return fault_errno(fault, path, NULL, EISDIR);
    if (!S_ISREG(status->st_mode))
        return fault_set(fault, path, "is not a regular file");
    if (status->st_size != 0)
        return 0;
    return fault_set(fault, path, "is empty, not a filter");
}

/* Resolves symbolic links once, so that side files stay beside this file. If the path cannot be
 * resolved, takes it as it is. */
static int find_real(struct store *store, struct fault *fault)
{
    struct stat status;
    struct open_file *file = &store->file;
    file->real = realpath(file->path, NULL);
    if (file->real == NULL)
        file->real = strdup(file->path);
    else if (stat(file->real, &status) != 0 || !store_is_file(store, &status))
        return fault_replaced(store, "replaced", fault);
    return file->real != NULL ? 0 : fault_errno(fault, file->path, NULL, ENOMEM);
}

/* Reads a page into private memory; bytes after the end of the file read as zeros. */
static int read_page(const struct store *store, uint64_t at, uint8_t page[HEADER_BYTES],
                     struct fault *fault)
{
    memset(page, 0, HEADER_BYTES);
    if (io_read_at(store->file.fd, page, HEADER_BYTES, at) < HEADER_BYTES && errno != 0)
        return fault_errno(fault, store->file.path, NULL, errno);
    return 0;
}

static int read_header(struct store *store, struct fault *fault)
{
    uint8_t page[HEADER_BYTES];
    const char *path = store->file.path;
    uint64_t bytes = (uint64_t)store->file.status.st_size;
    if (read_page(store, 0, page, fault) != 0)
        return -1;
    if (header_decode(page, bytes, path, &store->header, fault) != 0)
        return -1;
    store->kernel = kernel_for(store->header.plan.geometry);
    return 0;
}

static int map_fixed(struct store *store, struct fault *fault)
{
    size_t bytes = (size_t)store->header.layers_at;
    const struct open_file *file = &store->file;
    store->metadata = map_file(file->fd, store->file.write, 0, bytes, file->path, fault);
    return store->metadata != NULL ? 0 : -1;
}

/* Maps pages of the file. Returns NULL with the fault. */
static void *map_pages(const struct store *store, uint64_t at, uint64_t pages, struct fault *fault)
{
    const char *path = store->file.path;
    size_t bytes = (size_t)(pages * PAGE_BYTES);
    void *map = NULL;
    if (bytes / PAGE_BYTES != pages)
        fault_set(fault, path, "is too large for the address space of this machine");
    else
        map = map_file(store->file.fd, store->file.write, at, bytes, path, fault);
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

int store_map_layer(struct store *store, const struct layer_record *record, struct fault *fault)
{
    struct layer *layer = &store->layers[store->count];
    const struct layer_plan *plan = &record->plan;
    *layer = (struct layer){
        .plan = *plan,
        .at = record->offset,
        .state_at = layer_state_at(store->count),
        .bits = {.pages = plan->pages, .geometry = plan->geometry},
        .stage = {.pages = plan->stage,
                  .at = record->stage_offset,
                  .unused = !growth_uses_stage(plan->pages, machine_memory() / PAGE_BYTES)},
    };
    layer->bits.bytes = map_pages(store, layer->at, plan->pages, fault);
    if (layer->bits.bytes == NULL)
        return -1;
    if (has_stage(layer)) {
        layer->stage.table = map_pages(store, layer->stage.at, plan->stage, fault);
        layer->began_empty = !pages_have_data(store, layer);
    }
    if (has_stage(layer) && layer->stage.table == NULL) {
        unmap_layer(layer);
        return -1;
    }
    store->count++;
    return 0;
}

/* Maps layers that are not mapped yet. */
static int map_new_layers(struct store *store, struct fault *fault)
{
    uint8_t page[HEADER_BYTES];
    struct layer_record records[LAYERS_MAX];
    struct stat status;
    unsigned count;
    /* The count before the records: counted records were written before the count. */
    if (read_page(store, LAYER_TABLE_AT, page, fault) != 0)
        return -1;
    uint32_t counted = load32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT));
    if (read_page(store, LAYER_TABLE_AT, page, fault) != 0)
        return -1;
    store32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT), counted);
    /* The size after the table: its layers were allocated before it was written. */
    if (fstat(store->file.fd, &status) != 0)
        return fault_errno(fault, store->file.path, NULL, errno);
    if (layers_decode(page, &store->header, (uint64_t)status.st_size, store->file.path, records,
                      &count, fault) != 0)
        return -1;
    while (store->count < count)
        if (store_map_layer(store, &records[store->count], fault) != 0)
            return -1;
    return 0;
}

int store_refresh(struct store *store, struct fault *fault)
{
    if (store->file.fd < 0 || get32(store, LAYER_COUNT_AT) <= store->count)
        return 0;
    return map_new_layers(store, fault);
}

static int open_all(struct store *store, struct fault *fault)
{
    const struct open_file *file = &store->file;
    return open_fd(store, fault) == 0 && check_kind(store, fault) == 0 &&
                   find_real(store, fault) == 0 &&
                   (!store->file.write || network_check(file->fd, file->path, fault) == 0) &&
                   read_header(store, fault) == 0 && map_new_layers(store, fault) == 0
               ? map_fixed(store, fault)
               : -1;
}

struct store *store_new(const struct store_watch *watch, struct fault *fault)
{
    struct store *store = malloc(sizeof *store);
    if (store == NULL) {
        fault_errno(fault, "filter", NULL, ENOMEM);
        return NULL;
    }
    memset(store, 0, offsetof(struct store, layers));
    store->file.fd = -1;
    if (watch != NULL)
        store->watch = *watch;
    return store;
}

struct store *store_open(const char *path, bool write, const struct store_watch *watch,
                         struct fault *fault)
{
    struct store *store = store_new(watch, fault);
    if (store == NULL)
        return NULL;
    store->file.write = write;
    store->file.path = strdup(path);
    if (store->file.path == NULL)
        fault_errno(fault, path, NULL, ENOMEM);
    if (store->file.path == NULL || open_all(store, fault) != 0) {
        store_close(store);
        return NULL;
    }
    if (store->header.plan.forget != 0)
        (void)clock_uptime(); /* it cannot be asked first when the process is confined */
    return store;
}

/* --- closing --- */

/* Locks are dropped when neither a map nor the descriptor holds the file. */
void store_close(struct store *store)
{
    if (store == NULL)
        return;
    for (unsigned i = 0; i < store->count; i++)
        unmap_layer(&store->layers[i]);
    if (store->file.fd < 0)
        free(store->metadata);
    else if (store->metadata != NULL)
        map_drop(store->metadata, (size_t)store->header.layers_at);
    if (store->file.write)
        signals_touch_now();
    if (store->file.fd >= 0)
        close(store->file.fd);
    free(store->noted);
    free(store->file.path);
    free(store->file.real);
    free(store);
}

/* --- the name --- */

/* On an overlay, the first writer of a file gets a copy. Maps of those who opened the file before
 * keep showing the original, for ever, while read(2) shows the copy, and stat(2) the same device
 * and inode number. The birth tells, except for a copy without contents that chown(1) has made
 * before; the counter of settlings tells as soon as a line was remembered, read again because a
 * read need not be atomic. To open for writing would tell, too, but make the copy. */
static bool is_behind_copy(const struct store *store)
{
    uint64_t before, after, now;
    const struct open_file *file = &store->file;
    if (path_birth(file->path) != file->birth)
        return true;
    for (unsigned tries = 0; tries < 3; tries++) {
        uint8_t bytes[8];
        before = store_settlings(store);
        bool read = io_read_at(file->fd, bytes, sizeof bytes, COUNTER_SETTLED_AT) == sizeof bytes;
        now = load64(bytes);
        after = store_settlings(store);
        if (!read || (now >= before && now <= after))
            return false;
    }
    return true;
}

static int check_name_now(struct store *store, struct fault *fault)
{
    struct stat status;
    if (stat(store->file.path, &status) != 0)
        return fault_replaced(store, "removed", fault);
    if (!store_is_file(store, &status))
        return fault_replaced(store, "replaced", fault);
    if (store->file.overlaid && is_behind_copy(store))
        return fault_replaced(store, "copied by its first writer on an overlay", fault);
    store->file.named_at = clock_monotonic();
    return 0;
}

int store_check_name(struct store *store, struct fault *fault)
{
    enum { RECENTLY = 10 };
    /* A writer looks again when it settles. */
    if (store->file.fd < 0 ||
        (store->file.write && clock_monotonic() - store->file.named_at < RECENTLY))
        return 0;
    return check_name_now(store, fault);
}

bool store_is_file(const struct store *store, const struct stat *status)
{
    return store->file.fd >= 0 && path_same_file(&store->file.status, status);
}

bool store_begins(int fd)
{
    uint8_t bytes[8];
    return io_read_at(fd, bytes, sizeof bytes, 0) == sizeof bytes && header_is_filter(bytes);
}

/* --- locks --- */

static void tell_waiting(void *context, bool to_the_end)
{
    const struct store *store = context;
    if (store->watch.waits != NULL)
        store->watch.waits(store, to_the_end);
}

int store_take(struct store *store, unsigned lock, struct fault *fault)
{
    if (lock_take(store->file.fd, lock, store->settling, tell_waiting, store) != 0)
        return fault_errno(fault, store->file.path, "cannot be locked", errno);
    return 0;
}

void store_drop(struct store *store, unsigned lock)
{
    lock_drop(store->file.fd, lock);
}

int store_lock(struct store *store, struct fault *fault)
{
    if (store->file.fd < 0)
        return 0;
    if (store_take(store, LOCK_CHANGE, fault) != 0)
        return -1;
    /* Delivered keys go into the layers that could be mapped. */
    if (store_refresh(store, fault) != 0 && !store->settling) {
        store_unlock(store);
        return -1;
    }
    if (removal_repair_is_due(store))
        removal_repair(store);
    return 0;
}

void store_unlock(struct store *store)
{
    if (store->file.fd >= 0)
        store_drop(store, LOCK_CHANGE);
}

int store_lock_to_settle(struct store *store, struct fault *fault)
{
    if (store_lock(store, fault) != 0)
        return -1;
    if (check_name_now(store, fault) == 0)
        return 0;
    store_unlock(store);
    return -1;
}

int store_freeze(struct store *store, struct fault *fault)
{
    static const unsigned locks[] = {LOCK_HELD, LOCK_GROW, LOCK_QUEUE};
    enum { LOCKS = sizeof locks / sizeof *locks };
    unsigned taken = 0;
    while (taken < LOCKS && store_take(store, locks[taken], fault) == 0)
        taken++;
    if (taken == LOCKS && store_lock_to_settle(store, fault) == 0)
        return 0;
    while (taken > 0)
        store_drop(store, locks[--taken]);
    return -1;
}

void store_thaw(struct store *store)
{
    store_unlock(store);
    store_drop(store, LOCK_QUEUE);
    store_drop(store, LOCK_GROW);
    store_drop(store, LOCK_HELD);
}

int store_flush(const struct store *store, struct fault *fault)
{
    if (store->file.fd < 0 || fdatasync(store->file.fd) == 0)
        return 0;
    fault_errno(fault, store->file.path, "cannot be flushed to disk", errno);
    return fault_way_out(fault, "after a power cut, lines that it remembers may come again");
}

int store_check_signals(const struct store *store, struct fault *fault)
{
    if (store->settling)
        return 0;
    if (signals_pending())
        return fault_errno(fault, store_name(store), NULL, EINTR);
    if (signals_stop_pending())
        return fault_errno(fault, store_name(store), NULL, ECANCELED);
    return 0;
}

/* --- facts --- */

const struct header *store_header(const struct store *store)
{
    return &store->header;
}

const char *store_path(const struct store *store)
{
    return store->file.path;
}

const char *store_real_path(const struct store *store)
{
    return store->file.real;
}

const char *store_name(const struct store *store)
{
    return store->file.path != NULL ? store->file.path : "filter in memory";
}

uint64_t store_stage_bytes(const struct store *store)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < store->count; i++)
        pages += store->layers[i].stage.pages;
    return pages * PAGE_BYTES;
}

uint64_t store_file_bytes(const struct store *store)
{
    struct stat status;
    if (store->file.fd < 0 || fstat(store->file.fd, &status) != 0)
        return 0;
    return (uint64_t)status.st_size;
}

uint64_t store_end(const struct store *store)
{
    const struct layer *last = &store->layers[store->count - 1];
    return page_at(last, last->plan.pages);
}

unsigned store_layers(const struct store *store)
{
    return store->count;
}

uint64_t store_capacity(const struct store *store)
{
    uint64_t capacity = 0;
    for (unsigned i = 0; i < store->count; i++)
        capacity += store->layers[i].plan.capacity;
    return capacity;
}

uint64_t store_keys(const struct store *store)
{
    uint64_t keys = 0;
    for (unsigned i = 0; i < store->count; i++)
        keys += store_layer_keys(store, i);
    return keys;
}

uint64_t store_settlings(const struct store *store)
{
    return get64(store, COUNTER_SETTLED_AT);
}

uint8_t store_queue(const struct store *store)
{
    return store->metadata[QUEUE_AT];
}

struct layer_plan store_plan(const struct store *store, unsigned layer)
{
    return store->layers[layer].plan;
}

const struct bits *store_bits(const struct store *store, unsigned layer)
{
    return &store->layers[layer].bits;
}

uint64_t store_layer_keys(const struct store *store, unsigned layer)
{
    return layer_keys(store, &store->layers[layer]);
}
