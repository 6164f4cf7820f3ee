/*
 * filter - see filter.h.
 *
 * What changes in a file is changed under LOCK_CHANGE, and held for memory work only: never while
 * reading, writing or allocating. Growing has a lock of its own, since it takes as long as the disk
 * does; under it the new layer is allocated behind the end, and only then announced.
 */
#include "store/internal.h"

#include "system/lock.h"
#include "system/map.h"
#include "system/signals.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* --- layers --- */

static int add_layer(struct filter *filter, const struct layer_plan *plan, void *map, uint64_t at)
{
    filter->layers[filter->count++] = (struct layer){
        .bits = {.bytes = map, .pages = plan->pages, .geometry = plan->geometry},
        .plan = *plan,
        .at = at,
    };
    return 0;
}

int filter_map_memory(struct filter *filter, const struct layer_plan *plan, struct fault *fault)
{
    size_t bytes = (size_t)(plan->pages * PAGE_BYTES);
    size_t map_bytes = bytes + HUGE_BYTES;
    if (bytes / PAGE_BYTES != plan->pages || map_bytes < bytes)
        return fault_errno(fault, "filter in memory", NULL, ENOMEM);
    void *map = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        fault_errno(fault, "filter in memory", NULL, errno);
        return fault_way_out(fault, "it needs %llu bytes; a file does not have to fit into memory",
                             (unsigned long long)bytes);
    }
    uint8_t *aligned = (uint8_t *)(((uintptr_t)map + HUGE_BYTES - 1) &
                                   ~(uintptr_t)(HUGE_BYTES - 1));
    add_layer(filter, plan, aligned, 0);
    struct layer *layer = &filter->layers[filter->count - 1];
    layer->map = map;
    layer->map_bytes = map_bytes;
    return 0;
}

int filter_map_file(struct filter *filter, const struct layer_record *record, struct fault *fault)
{
    size_t bytes = (size_t)(record->plan.pages * PAGE_BYTES);
    if (bytes / PAGE_BYTES != record->plan.pages)
        return fault_set(fault, filter->path, "too large to be mapped by this machine");
    void *map = map_file(filter->fd, filter->write, record->offset, bytes, filter->path);
    if (map == NULL)
        return fault_errno(fault, filter->path, "cannot be mapped", errno);
    /* One key is one page: reading ahead would read a hundred times too much. */
    map_advise(map, bytes, MADV_RANDOM);
    return add_layer(filter, &record->plan, map, record->offset);
}

/* --- memory --- */

static struct filter *filter_new(struct fault *fault)
{
    struct filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) {
        fault_errno(fault, "filter", NULL, ENOMEM);
        return NULL;
    }
    filter->fd = -1;
    return filter;
}

/* A window in memory keeps its generations where a file has them. */
static int map_states(struct filter *filter, struct fault *fault)
{
    void *map = mmap(NULL, FLIGHT_AT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return fault_errno(fault, "filter in memory", NULL, errno);
    filter->fixed = map;
    filter->header.layers_at = FLIGHT_AT;
    return 0;
}

/* Room for the keys of the small first layer. Not cleared: that takes longer than a run of a few lines. */
static int note_small_keys(struct filter *filter, struct fault *fault)
{
    filter->small_keys = malloc((size_t)filter->layers[0].plan.capacity * sizeof(struct key));
    return filter->small_keys != NULL ? 0 : fault_errno(fault, "filter in memory", NULL, ENOMEM);
}

int filter_enlarge(struct filter *filter, struct fault *fault)
{
    struct layer_plan plan;
    struct layer small = filter->layers[0];
    if (growth_in_memory(&filter->header.plan, false, &plan) != 0)
        return fault_set(fault, "filter in memory", "cannot grow any further");
    filter->count = 0;
    if (filter_map_memory(filter, &plan, fault) != 0) {
        filter->count = 1;
        return -1;
    }
    struct layer *layer = &filter->layers[0];
    filter_use_huge_pages(layer);
    filter->kernel->set(&layer->bits, filter->small_keys, (size_t)small.keys);
    layer->keys = small.keys;
    free(filter->small_keys);
    filter->small_keys = NULL;
    munmap(small.map, small.map_bytes);
    return 0;
}

struct filter *filter_memory(const struct header *header, struct fault *fault)
{
    struct layer_plan plan;
    struct filter_plan first = header->plan;
    struct filter *filter = filter_new(fault);
    if (filter == NULL)
        return NULL;
    filter->header = *header;
    /* Stages are for what is on disk. */
    first.stage = filter->header.plan.stage = 0;
    filter->kernel = kernel_for(header->plan.geometry);
    unsigned layers = growth_first_layers(&first);
    bool any = first.capacity == 0 && first.pages == 0;
    bool small = any && first.generations == 0 && !first.fixed;
    if (any)
        first.pages = GROWTH_MEMORY_PAGES / layers;
    /* With odd geometries a small layer holds not even one key. */
    small = small && growth_in_memory(&first, true, &plan) == 0;
    int result = small ? 0 : growth_first(&first, &plan);
    if (result != 0)
        fault_set(fault, "filter in memory", "no filter of that size can be made");
    while (result == 0 && filter->count < layers)
        result = filter_map_memory(filter, &plan, fault);
    if (result == 0 && first.generations != 0)
        result = map_states(filter, fault);
    if (result == 0 && small)
        result = note_small_keys(filter, fault);
    if (result == 0)
        return filter;
    filter_close(filter);
    return NULL;
}

void filter_set_watch(struct filter *filter, const struct filter_watch *watch)
{
    filter->watch = *watch;
}

/* --- opening --- */

static int open_fd(struct filter *filter, struct fault *fault)
{
    const char *path = filter->path;
    /* O_NONBLOCK: a FIFO of that name must not hang the program. */
    int access = filter->write ? O_RDWR : O_RDONLY;
    filter->fd = open(path, access | O_CLOEXEC | O_NONBLOCK);
    if (filter->fd < 0) {
        int error = errno;
        fault_errno(fault, path, NULL, error);
        /* A bare lower-case word would be taken for a command. */
        bool word = path[strspn(path, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
        if (error == ENOENT)
            fault_way_out(fault, "to start one: unseen --create %s%s", word ? "./" : "", path);
        return -1;
    }
    return 0;
}

static int check_kind(struct filter *filter, uint64_t *bytes, struct fault *fault)
{
    struct stat status;
    if (fstat(filter->fd, &status) != 0)
        return fault_errno(fault, filter->path, NULL, errno);
    if (S_ISDIR(status.st_mode))
        return fault_errno(fault, filter->path, NULL, EISDIR);
    if (!S_ISREG(status.st_mode))
        return fault_set(fault, filter->path, "not a regular file");
    if (status.st_size == 0) {
        fault_set(fault, filter->path, "empty, not a filter");
        return fault_way_out(fault, "to start one: unseen --create %s", filter->path);
    }
    filter->device = status.st_dev;
    filter->inode = status.st_ino;
    *bytes = (uint64_t)status.st_size;
    return 0;
}

/* File systems whose maps are not coherent between machines. Locks may work there; bits set on one
 * machine are not seen on the other, or are overwritten. */
static const struct {
    unsigned long type;
    const char *name;
} network_systems[] = {
    {0x6969, "NFS"},        {0x517b, "SMB"},       {0xff534d42, "SMB"},  {0xfe534d42, "SMB"},
    {0x0bd00bd0, "Lustre"}, {0x00c36400, "Ceph"},  {0x5346414f, "AFS"},  {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"}, {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},
};

static int check_file_system(const struct filter *filter, struct fault *fault)
{
    struct statfs status;
    if (!filter->write || filter->watch.allow_network || fstatfs(filter->fd, &status) != 0)
        return 0;
    for (size_t i = 0; i < sizeof network_systems / sizeof *network_systems; i++)
        if (((unsigned long)status.f_type & 0xffffffff) == network_systems[i].type) {
            fault_set(fault, filter->path,
                      "is on %s, where writers on two machines would lose each other's lines",
                      network_systems[i].name);
            return fault_way_out(fault, "if only one machine writes to it: --allow-network");
        }
    return 0;
}

/* Reads a page into private memory; what the file lacks reads as zeros. */
static int read_page(const struct filter *filter, uint64_t at, uint8_t page[HEADER_BYTES],
                     struct fault *fault)
{
    memset(page, 0, HEADER_BYTES);
    if (whole_read_at(filter->fd, page, HEADER_BYTES, at) < HEADER_BYTES && errno != 0)
        return fault_errno(fault, filter->path, NULL, errno);
    return 0;
}

static int read_header(struct filter *filter, uint64_t bytes, struct fault *fault)
{
    uint8_t page[HEADER_BYTES];
    if (read_page(filter, 0, page, fault) != 0)
        return -1;
    if (!header_is_filter(page)) {
        fault_set(fault, filter->path, "not a filter");
        return fault_way_out(fault, "to read it as lines: unseen < %s", filter->path);
    }
    if (header_decode(page, bytes, filter->path, &filter->header, fault) != 0)
        return -1;
    filter->kernel = kernel_for(filter->header.plan.geometry);
    if (!filter->write || (filter->header.writer_features & ~(uint64_t)WRITER_ALL) == 0)
        return 0;
    fault_set(fault, filter->path, "to write it needs features that this program does not know");
    return fault_way_out(fault, "use a newer unseen; reading it is possible");
}

/* Maps the layers that the file has and this process does not know yet. */
static int map_new_layers(struct filter *filter, struct fault *fault)
{
    uint8_t page[HEADER_BYTES];
    struct layer_record records[LAYERS_MAX];
    struct stat status;
    unsigned count;
    /* The count before the records: those that it counts were there before it. */
    if (read_page(filter, LAYER_TABLE_AT, page, fault) != 0)
        return -1;
    uint32_t counted = load32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT));
    if (read_page(filter, LAYER_TABLE_AT, page, fault) != 0)
        return -1;
    store32(page + (LAYER_COUNT_AT - LAYER_TABLE_AT), counted);
    /* The size after the table: what the table names was there before it. */
    if (fstat(filter->fd, &status) != 0)
        return fault_errno(fault, filter->path, NULL, errno);
    if (layers_decode(page, &filter->header, (uint64_t)status.st_size, filter->path, records,
                      &count, fault) != 0)
        return -1;
    while (filter->count < count)
        if (filter_map_file(filter, &records[filter->count], fault) != 0)
            return -1;
    return 0;
}

static int map_fixed(struct filter *filter, struct fault *fault)
{
    size_t bytes = (size_t)filter->header.layers_at;
    filter->fixed = map_file(filter->fd, filter->write, 0, bytes, filter->path);
    if (filter->fixed == NULL)
        return fault_errno(fault, filter->path, "cannot be mapped", errno);
    return 0;
}

static void tell_waiting(void *context)
{
    struct filter *filter = context;
    if (filter->watch.waits != NULL)
        filter->watch.waits(filter->watch.context, filter);
}

int filter_take_lock(struct filter *filter, unsigned lock, struct fault *fault)
{
    if (lock_take(filter->fd, lock, tell_waiting, filter) != 0)
        return fault_errno(fault, filter->path, "cannot be locked", errno);
    if (lock != LOCK_CHANGE || !filter->write)
        return 0;
    if (get64(filter, STAGE_SETTING_AT) != 0)
        filter_stage_finish(filter);
    if (filter_finish_removal(filter, fault) == 0)
        return 0;
    lock_drop(filter->fd, LOCK_CHANGE);
    return -1;
}

static int64_t now_coarse(void)
{
    struct timespec now;
#ifdef CLOCK_MONOTONIC_COARSE
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
    clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int check_name_now(struct filter *filter, struct fault *fault)
{
    struct stat status;
    int result = stat(filter->path, &status);
    if (result == 0 && filter_is_file(filter, &status)) {
        filter->named_at = now_coarse();
        return 0;
    }
    fault_set(fault, filter->path, "was %s while this run used it",
              result == 0 ? "replaced by another file" : "removed");
    return fault_way_out(fault, "run again, with the same input");
}

int filter_take_to_settle(struct filter *filter, struct fault *fault)
{
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    if (check_name_now(filter, fault) == 0)
        return 0;
    lock_drop(filter->fd, LOCK_CHANGE);
    return -1;
}

int filter_freeze(struct filter *filter, struct fault *fault)
{
    /* In this order, as whoever needs both does. */
    if (filter_take_lock(filter, LOCK_GROW, fault) != 0)
        return -1;
    if (filter_take_to_settle(filter, fault) == 0) {
        if (filter_refresh(filter, fault) == 0)
            return 0;
        lock_drop(filter->fd, LOCK_CHANGE);
    }
    lock_drop(filter->fd, LOCK_GROW);
    return -1;
}

void filter_thaw(struct filter *filter)
{
    lock_drop(filter->fd, LOCK_CHANGE);
    lock_drop(filter->fd, LOCK_GROW);
}

/* The first free slot from `from` on is this writer's until it closes the file. Returns 1, 0 if there is
 * none, -1. */
static int take_free_slot(struct filter *filter, unsigned from, struct fault *fault)
{
    for (unsigned slot = from; slot < SLOTS_MAX; slot++) {
        int got = lock_try(filter->fd, LOCK_SLOT + slot);
        if (got < 0)
            return fault_errno(fault, filter->path, "cannot be locked", errno);
        if (got > 0) {
            filter->slot = slot;
            return 1;
        }
    }
    return 0;
}

/* What a dead owner left in the slot means nothing, and would mean something again under a living
 * one: so both happen under LOCK_CHANGE, the taking and the emptying. */
static int take_slot_empty(struct filter *filter, unsigned from, struct fault *fault)
{
    if (filter_take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    int taken = take_free_slot(filter, from, fault);
    if (taken > 0) {
        filter_forget_hold(filter);
        if (get32(filter, slot_at(filter->slot)) != 0)
            put32(filter, slot_at(filter->slot), 0);
    }
    lock_drop(filter->fd, LOCK_CHANGE);
    return taken;
}

static int take_slot(struct filter *filter, struct fault *fault)
{
    struct timespec doze = {0, 10000000};
    for (unsigned round = 0;; round++) {
        int taken = take_slot_empty(filter, 0, fault);
        if (taken != 0)
            return taken > 0 ? 0 : -1;
        if (round == 500)
            tell_waiting(filter);
        if (nanosleep(&doze, NULL) != 0 && signals_pending())
            return fault_errno(fault, filter->path, "cannot be locked", errno);
    }
}

int filter_change_slot(struct filter *filter, struct fault *fault)
{
    unsigned before = filter->slot;
    int taken = take_slot_empty(filter, before + 1, fault);
    if (taken > 0)
        lock_let_go(filter->fd, LOCK_SLOT + before);
    return taken > 0 ? 0 : -1;
}

static int start_writing(struct filter *filter, struct fault *fault)
{
    if (take_slot(filter, fault) != 0)
        return -1;
    filter->flight = flight_new((size_t)slot_room(&filter->header, filter->slot));
    if (filter->flight == NULL)
        return fault_errno(fault, filter->path, NULL, ENOMEM);
    filter_mend_counters(filter);
    return 0;
}

static int open_all(struct filter *filter, struct fault *fault)
{
    uint64_t bytes = 0;
    if (open_fd(filter, fault) != 0 || check_kind(filter, &bytes, fault) != 0 ||
        check_file_system(filter, fault) != 0 || read_header(filter, bytes, fault) != 0 ||
        map_new_layers(filter, fault) != 0 || map_fixed(filter, fault) != 0)
        return -1;
    return filter->write ? start_writing(filter, fault) : 0;
}

struct filter *filter_open(const char *path, bool write, const struct filter_watch *watch,
                           struct fault *fault)
{
    struct filter *filter = filter_new(fault);
    if (filter == NULL)
        return NULL;
    filter->write = write;
    if (watch != NULL)
        filter->watch = *watch;
    filter->path = strdup(path);
    if (filter->path == NULL)
        fault_errno(fault, path, NULL, ENOMEM);
    if (filter->path == NULL || open_all(filter, fault) != 0) {
        filter_close(filter);
        return NULL;
    }
    return filter;
}

static void unmap(struct filter *filter)
{
    for (unsigned i = 0; i < filter->count; i++) {
        struct layer *layer = &filter->layers[i];
        if (filter->fd < 0)
            munmap(layer->map, layer->map_bytes);
        else
            map_drop(layer->bits.bytes, (size_t)(layer->plan.pages * PAGE_BYTES));
    }
    if (filter->fd < 0 && filter->fixed != NULL)
        munmap(filter->fixed, FLIGHT_AT);
    else if (filter->fixed != NULL)
        map_drop(filter->fixed, (size_t)filter->header.layers_at);
}

/* The slot and every lock are dropped once neither a map nor the descriptor holds the file. */
static void let_go(struct filter *filter, bool of_maps)
{
    if (filter == NULL)
        return;
    filter_hold_free(filter);
    if (of_maps)
        unmap(filter);
    if (filter->fd >= 0)
        close(filter->fd);
    flight_free(filter->flight);
    free(filter->small_keys);
    free(filter->path);
    free(filter);
}

void filter_close(struct filter *filter)
{
    let_go(filter, true);
}

void filter_leave(struct filter *filter)
{
    let_go(filter, false);
}

/* --- looking --- */

void filter_test_layers(const struct filter *filter, const struct key *keys, size_t n,
                        uint8_t *seen)
{
    uint64_t now = filter_window_now(filter);
    /* Newest first: it is the largest. But a stage before its layer: keys go from there to here, and
     * are in both for a while. */
    for (unsigned i = filter->count; i-- > 0;) {
        if (i > 0 && filter_staged(filter, i - 1) > 0) {
            filter->kernel->test(&filter->layers[i - 1].bits, keys, n, seen);
            in_order_for_others();
        }
        if (!is_stage(&filter->layers[i]) && !filter_window_expired(filter, i, now))
            filter->kernel->test(&filter->layers[i].bits, keys, n, seen);
    }
}

int filter_refresh(struct filter *filter, struct fault *fault)
{
    if (filter->fd < 0 || get32(filter, LAYER_COUNT_AT) <= filter->count)
        return 0;
    return map_new_layers(filter, fault);
}

int filter_probe(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                 struct fault *fault)
{
    if (filter_refresh(filter, fault) != 0)
        return -1;
    memset(seen, 0, n);
    filter_test_layers(filter, keys, n, seen);
    return 0;
}

/* --- facts --- */

size_t filter_batch(const struct filter *filter)
{
    bool slot = filter->flight != NULL && filter->hold == NULL;
    return slot ? (size_t)slot_room(&filter->header, filter->slot) : MEMORY_BATCH;
}

const struct header *filter_header(const struct filter *filter)
{
    return &filter->header;
}

const char *filter_path(const struct filter *filter)
{
    return filter->path;
}

unsigned filter_layers(const struct filter *filter)
{
    return filter->count;
}

struct layer_plan filter_layer(const struct filter *filter, unsigned layer)
{
    return filter->layers[layer].plan;
}

const struct bits *filter_bits(const struct filter *filter, unsigned layer)
{
    return &filter->layers[layer].bits;
}

uint64_t filter_file_bytes(const struct filter *filter)
{
    struct stat status;
    if (filter->fd < 0 || fstat(filter->fd, &status) != 0)
        return 0;
    return (uint64_t)status.st_size;
}

uint64_t filter_end(const struct filter *filter)
{
    const struct layer *last = &filter->layers[filter->count - 1];
    return page_at(last, last->plan.pages);
}

uint64_t filter_layer_keys(const struct filter *filter, unsigned layer)
{
    return filter->fd < 0 ? filter->layers[layer].keys : get64(filter, keys_at(layer));
}

uint64_t filter_keys(const struct filter *filter)
{
    uint64_t keys = 0;
    for (unsigned i = 0; i < filter->count; i++)
        keys += filter_layer_keys(filter, i);
    return keys;
}

uint64_t filter_capacity(const struct filter *filter)
{
    uint64_t capacity = 0;
    for (unsigned i = 0; i < filter->count; i++)
        if (!is_stage(&filter->layers[i]))
            capacity += filter->layers[i].plan.capacity;
    return capacity;
}

int filter_check_name(struct filter *filter, struct fault *fault)
{
    enum { RECENTLY = 10 };
    if (filter->fd < 0 || now_coarse() - filter->named_at < RECENTLY)
        return 0;
    return check_name_now(filter, fault);
}

bool filter_begins(int fd)
{
    uint8_t bytes[8];
    return whole_read_at(fd, bytes, sizeof bytes, 0) == sizeof bytes && header_is_filter(bytes);
}

bool filter_is_file(const struct filter *filter, const struct stat *status)
{
    return filter->fd >= 0 && filter->device == status->st_dev && filter->inode == status->st_ino;
}

uint64_t filter_slot_keys(const struct filter *filter, unsigned slot, bool *alive, bool *holds)
{
    *alive = lock_is_held(filter->fd, LOCK_SLOT + slot);
    *holds = get32(filter, slot_at(slot) + SLOT_HOLDS) != 0;
    return get32(filter, slot_at(slot));
}
