/*
 * filter - see filter.h.
 *
 * What changes in a file is changed under LOCK_CHANGE, and held for memory work only: never while
 * reading, writing or allocating. Growing has a lock of its own, since it takes as long as the disk
 * does; under it the new layer is allocated behind the end, and only then announced.
 */
#include "file/filter.h"

#include "core/kernel.h"
#include "file/flight.h"
#include "file/guard.h"
#include "file/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct layer {
    struct bits bits;
    struct layer_plan plan;
    uint64_t end;  /* where it ends in the file */
    /* In memory only: */
    uint64_t keys; /* exact */
    void *map;     /* what is unmapped; larger than the pages, for the sake of alignment */
    size_t map_bytes;
    bool huge; /* large pages were asked for */
};

struct filter {
    const struct kernel *kernel;
    struct header header;
    struct layer layers[LAYERS_MAX];
    unsigned count;
    struct filter_watch watch;

    /* The rest is for files. */
    char *path;
    int fd; /* -1 in memory */
    bool write;
    dev_t device;
    ino_t inode;
    uint8_t *fixed; /* the mapped fixed part */
    unsigned slot;
    struct flight *flight;
};

/* --- shared words of the mapped fixed part: little-endian, read and written whole --- */

static uint64_t swap64(uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(value);
#else
    return value;
#endif
}

static uint32_t swap32(uint32_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(value);
#else
    return value;
#endif
}

static uint64_t get64(const struct filter *filter, size_t at)
{
    const void *word = filter->fixed + at;
    return swap64(__atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE));
}

static void put64(struct filter *filter, size_t at, uint64_t value)
{
    void *word = filter->fixed + at;
    __atomic_store_n((uint64_t *)word, swap64(value), __ATOMIC_RELEASE);
}

static uint32_t get32(const struct filter *filter, size_t at)
{
    const void *word = filter->fixed + at;
    return swap32(__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE));
}

static void put32(struct filter *filter, size_t at, uint32_t value)
{
    void *word = filter->fixed + at;
    __atomic_store_n((uint32_t *)word, swap32(value), __ATOMIC_RELEASE);
}

static size_t keys_at(unsigned layer)
{
    return COUNTER_KEYS_AT + (size_t)layer * 8;
}

static size_t slot_at(unsigned slot)
{
    return SLOTS_AT + (size_t)slot * SLOT_BYTES;
}

static uint8_t *slot_keys(const struct filter *filter, unsigned slot)
{
    return filter->fixed + FLIGHT_AT + slot_first(&filter->header, slot) * KEY_BYTES;
}

/* --- layers --- */

static int add_layer(struct filter *filter, const struct layer_plan *plan, uint8_t *bytes,
                     uint64_t end)
{
    filter->layers[filter->count++] = (struct layer){
        .bits = {.bytes = bytes, .pages = plan->pages, .geometry = plan->geometry},
        .plan = *plan,
        .end = end,
    };
    return 0;
}

/* Pages of 2 MB make a filter in memory twice as fast, for want of TLB misses. But each is cleared
 * as a whole when it is first touched, which a run of a few lines should not pay for: they are asked
 * for once HUGE_FROM keys have come. */
enum { HUGE_BYTES = 2 << 20, HUGE_FROM = 1024 };

static int map_memory_layer(struct filter *filter, const struct layer_plan *plan,
                            struct fault *fault)
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
    uint8_t *aligned = (uint8_t *)(((uintptr_t)map + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1));
    add_layer(filter, plan, aligned, 0);
    struct layer *layer = &filter->layers[filter->count - 1];
    layer->map = map;
    layer->map_bytes = map_bytes;
    return 0;
}

/* For a layer that was in use with small pages already, those are put together by the kernel. */
static void use_huge_pages(struct layer *layer)
{
    size_t bytes = (size_t)(layer->plan.pages * PAGE_BYTES);
    layer->huge = true;
#ifdef MADV_HUGEPAGE
    if (bytes < HUGE_BYTES || madvise(layer->bits.bytes, bytes, MADV_HUGEPAGE) != 0)
        return;
#ifdef MADV_COLLAPSE
    if (layer->keys > 0)
        madvise(layer->bits.bytes, bytes, MADV_COLLAPSE);
#endif
#endif
}

static int map_file_layer(struct filter *filter, const struct layer_record *record,
                          struct fault *fault)
{
    size_t bytes = (size_t)(record->plan.pages * PAGE_BYTES);
    if (bytes / PAGE_BYTES != record->plan.pages)
        return fault_set(fault, filter->path, "too large to be mapped by this machine");
    int access = filter->write ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map = mmap(NULL, bytes, access, MAP_SHARED, filter->fd, (off_t)record->offset);
    if (map == MAP_FAILED)
        return fault_errno(fault, filter->path, "cannot be mapped", errno);
    /* One key is one page: reading ahead would read a hundred times too much. */
    madvise(map, bytes, MADV_RANDOM);
    guard_add(map, bytes, filter->path);
    return add_layer(filter, &record->plan, map, record->offset + bytes);
}

/* --- memory --- */

static struct filter *filter_new(struct fault *fault)
{
    struct filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) {
        fault_errno(fault, "filter", NULL, ENOMEM);
        return NULL;
    }
    filter->kernel = kernel_best();
    filter->fd = -1;
    return filter;
}

struct filter *filter_memory(const struct header *header, struct fault *fault)
{
    struct layer_plan plan;
    struct filter_plan first = header->plan;
    struct filter *filter = filter_new(fault);
    if (filter == NULL)
        return NULL;
    filter->header = *header;
    if (first.capacity == 0 && first.pages == 0)
        first.pages = GROWTH_MEMORY_PAGES;
    if (growth_first(&first, &plan) != 0) {
        fault_set(fault, "filter in memory", "no filter of that size can be made");
        filter_close(filter);
        return NULL;
    }
    if (map_memory_layer(filter, &plan, fault) != 0) {
        filter_close(filter);
        return NULL;
    }
    return filter;
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
        if (error == ENOENT)
            fault_way_out(fault, "to start one: unseen --create %s", path);
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

/* Reads a page into private memory; what the file lacks reads as zeros. */
static int read_page(const struct filter *filter, uint64_t at, uint8_t page[HEADER_BYTES],
                     struct fault *fault)
{
    size_t got = 0;
    memset(page, 0, HEADER_BYTES);
    while (got < HEADER_BYTES) {
        ssize_t n = pread(filter->fd, page + got, HEADER_BYTES - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fault_errno(fault, filter->path, NULL, errno);
        if (n == 0)
            break;
        got += (size_t)n;
    }
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
    return header_decode(page, bytes, filter->path, &filter->header, fault);
}

/* Maps the layers that the file has and this process does not know yet. */
static int map_new_layers(struct filter *filter, struct fault *fault)
{
    uint8_t page[HEADER_BYTES];
    struct layer_record records[LAYERS_MAX];
    struct stat status;
    unsigned count;
    if (read_page(filter, LAYER_TABLE_AT, page, fault) != 0)
        return -1;
    /* The size after the table: what the table names was there before it. */
    if (fstat(filter->fd, &status) != 0)
        return fault_errno(fault, filter->path, NULL, errno);
    if (layers_decode(page, &filter->header, (uint64_t)status.st_size, filter->path, records,
                      &count, fault) != 0)
        return -1;
    while (filter->count < count)
        if (map_file_layer(filter, &records[filter->count], fault) != 0)
            return -1;
    return 0;
}

static int map_fixed(struct filter *filter, struct fault *fault)
{
    size_t bytes = (size_t)filter->header.layers_at;
    int access = filter->write ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map = mmap(NULL, bytes, access, MAP_SHARED, filter->fd, 0);
    if (map == MAP_FAILED)
        return fault_errno(fault, filter->path, "cannot be mapped", errno);
    filter->fixed = map;
    guard_add(map, bytes, filter->path);
    return 0;
}

static void tell_waiting(void *context)
{
    struct filter *filter = context;
    if (filter->watch.waits != NULL)
        filter->watch.waits(filter->watch.context, filter);
}

static int take_lock(struct filter *filter, unsigned lock, struct fault *fault)
{
    if (lock_take(filter->fd, lock, tell_waiting, filter) == 0)
        return 0;
    return fault_errno(fault, filter->path, "cannot be locked", errno);
}

/* The first free slot is this writer's until it closes the file. */
static int take_slot(struct filter *filter, struct fault *fault)
{
    struct timespec doze = {0, 10000000};
    for (unsigned round = 0;; round++) {
        for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
            int got = lock_try(filter->fd, LOCK_SLOT + slot);
            if (got < 0)
                return fault_errno(fault, filter->path, "cannot be locked", errno);
            if (got > 0) {
                filter->slot = slot;
                return 0;
            }
        }
        if (round == 500)
            tell_waiting(filter);
        if (nanosleep(&doze, NULL) != 0)
            return fault_errno(fault, filter->path, "cannot be locked", errno);
    }
}

static int start_writing(struct filter *filter, struct fault *fault)
{
    if (take_slot(filter, fault) != 0)
        return -1;
    filter->flight = flight_new((size_t)slot_room(&filter->header, filter->slot));
    if (filter->flight == NULL)
        return fault_errno(fault, filter->path, NULL, ENOMEM);
    /* What a dead owner left in the slot. */
    if (take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    put32(filter, slot_at(filter->slot), 0);
    lock_drop(filter->fd, LOCK_CHANGE);
    return 0;
}

static int open_all(struct filter *filter, struct fault *fault)
{
    uint64_t bytes = 0;
    if (open_fd(filter, fault) != 0 || check_kind(filter, &bytes, fault) != 0 ||
        read_header(filter, bytes, fault) != 0 || map_new_layers(filter, fault) != 0 ||
        map_fixed(filter, fault) != 0)
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

void filter_close(struct filter *filter)
{
    if (filter == NULL)
        return;
    for (unsigned i = 0; i < filter->count; i++) {
        struct layer *layer = &filter->layers[i];
        guard_remove(layer->bits.bytes);
        if (layer->map != NULL)
            munmap(layer->map, layer->map_bytes);
        else
            munmap(layer->bits.bytes, (size_t)(layer->plan.pages * PAGE_BYTES));
    }
    if (filter->fixed != NULL) {
        guard_remove(filter->fixed);
        munmap(filter->fixed, (size_t)filter->header.layers_at);
    }
    if (filter->fd >= 0)
        close(filter->fd); /* this drops the slot and every lock */
    flight_free(filter->flight);
    free(filter->path);
    free(filter);
}

/* --- looking --- */

static void test_layers(const struct filter *filter, const struct key *keys, size_t n,
                        uint8_t *seen, unsigned from)
{
    /* Newest first: it is the largest. */
    for (unsigned i = filter->count; i-- > from;)
        filter->kernel->test(&filter->layers[i].bits, keys, n, seen);
}

static int refresh(struct filter *filter, struct fault *fault)
{
    if (filter->fd < 0 || get32(filter, LAYER_COUNT_AT) <= filter->count)
        return 0;
    return map_new_layers(filter, fault);
}

int filter_probe(struct filter *filter, const struct key *keys, size_t n, uint8_t *seen,
                 struct fault *fault)
{
    if (refresh(filter, fault) != 0)
        return -1;
    memset(seen, 0, n);
    test_layers(filter, keys, n, seen, 0);
    return 0;
}

/* --- growing --- */

static uint64_t pages_in_all(const struct filter *filter)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < filter->count; i++)
        pages += filter->layers[i].plan.pages;
    return pages;
}

static int next_layer(const struct filter *filter, struct layer_plan *plan, struct fault *fault)
{
    const char *object = filter->path != NULL ? filter->path : "filter in memory";
    if (filter->count == LAYERS_MAX ||
        growth_next(&filter->header.plan, filter->count, pages_in_all(filter),
                    filter_capacity(filter), plan) != 0)
        return fault_set(fault, object, "cannot grow any further");
    return 0;
}

static void tell_growth(struct filter *filter)
{
    if (filter->watch.grew != NULL) {
        uint64_t keys = 0;
        for (unsigned i = 0; i + 1 < filter->count; i++)
            keys += filter->layers[i].plan.capacity;
        filter->watch.grew(filter->watch.context, filter, filter->count, keys);
    }
}

static int sync_fixed(struct filter *filter)
{
    return msync(filter->fixed, HEADER_BYTES * 2, MS_SYNC);
}

/* Allocates the layer's blocks behind the end and flushes them, then writes its record, then the
 * count, each on disk before the next. What a killed writer left behind the end is cut off first:
 * a layer must begin with zeros. */
static int append_layer(struct filter *filter, struct layer_record *record, struct fault *fault)
{
    uint64_t end = filter->layers[filter->count - 1].end;
    record->offset = layer_place(end, record->plan.pages);
    off_t bytes = (off_t)(record->plan.pages * PAGE_BYTES);
    if (ftruncate(filter->fd, (off_t)end) != 0)
        return fault_errno(fault, filter->path, "cannot grow", errno);
    int error = posix_fallocate(filter->fd, (off_t)record->offset, bytes);
    if (error == 0 && fsync(filter->fd) != 0)
        error = errno;
    if (error != 0) {
        (void)!ftruncate(filter->fd, (off_t)end);
        return fault_errno(fault, filter->path, "cannot grow", error);
    }
    layer_encode(record, filter->fixed + LAYER_TABLE_AT +
                             (size_t)filter->count * LAYER_RECORD_BYTES);
    put64(filter, keys_at(filter->count), 0);
    if (sync_fixed(filter) != 0)
        return fault_errno(fault, filter->path, "cannot grow", errno);
    put32(filter, LAYER_COUNT_AT, filter->count + 1);
    if (sync_fixed(filter) != 0)
        return fault_errno(fault, filter->path, "cannot grow", errno);
    return map_file_layer(filter, record, fault);
}

/* Precondition: LOCK_CHANGE is not held. Somebody else may have grown the file meanwhile. */
static int grow_file(struct filter *filter, struct fault *fault)
{
    struct layer_record record;
    unsigned before = filter->count;
    if (take_lock(filter, LOCK_GROW, fault) != 0)
        return -1;
    int result = refresh(filter, fault);
    bool grown = filter->count > before;
    if (result == 0 && !grown) {
        result = next_layer(filter, &record.plan, fault);
        if (result == 0)
            result = append_layer(filter, &record, fault);
    }
    lock_drop(filter->fd, LOCK_GROW);
    if (result == 0 && !grown)
        tell_growth(filter);
    return result;
}

static int grow_memory(struct filter *filter, struct fault *fault)
{
    struct layer_plan plan;
    if (next_layer(filter, &plan, fault) != 0 || map_memory_layer(filter, &plan, fault) != 0)
        return -1;
    tell_growth(filter);
    return 0;
}

/* --- claiming --- */

/* In memory: test the older layers, test and set in the newest; when that is full, grow, and go on
 * with the key that did not fit. */
static ptrdiff_t claim_memory(struct filter *filter, const struct key *keys, size_t n,
                              uint64_t most_new, uint8_t *seen, struct fault *fault)
{
    size_t done = 0;
    uint64_t new = 0;
    memset(seen, 0, n);
    for (unsigned i = 0; i + 1 < filter->count; i++)
        filter->kernel->test(&filter->layers[i].bits, keys, n, seen);
    for (;;) {
        struct layer *layer = &filter->layers[filter->count - 1];
        bool fixed = filter->header.plan.fixed;
        uint64_t room = fixed ? UINT64_MAX : layer->plan.capacity - layer->keys;
        uint64_t most = most_new - new < room ? most_new - new : room;
        uint64_t set;
        if (!layer->huge && layer->keys + n - done >= HUGE_FROM)
            use_huge_pages(layer);
        done += filter->kernel->insert(&layer->bits, keys + done, n - done, seen + done, most,
                                       &set);
        layer->keys += set;
        new += set;
        if (done == n || new == most_new)
            return (ptrdiff_t)done;
        if (grow_memory(filter, fault) != 0)
            return new > 0 ? (ptrdiff_t)done : -1;
        filter->kernel->test(&layer->bits, keys + done, n - done, seen + done);
    }
}

/* Marks as seen those of the keys that another live writer has in flight. */
static void drop_others_keys(const struct filter *filter, const struct key *keys, size_t n,
                             uint8_t *seen, unsigned slot)
{
    uint64_t count = get32(filter, slot_at(slot));
    uint64_t room = slot_room(&filter->header, slot);
    const uint8_t *theirs = slot_keys(filter, slot);
    if (count > room)
        count = room;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t lo = load64(theirs + i * KEY_BYTES);
        uint64_t hi = load64(theirs + i * KEY_BYTES + 8);
        for (size_t j = 0; j < n; j++)
            if (keys[j].lo == lo && keys[j].hi == hi)
                seen[j] = 1;
    }
}

/* Under LOCK_CHANGE: all that live other writers have in flight. Returns how many keys that is. */
static uint64_t look_at_others(const struct filter *filter, const struct key *keys, size_t n,
                               uint8_t *seen)
{
    uint64_t total = 0;
    for (unsigned slot = 0; slot < SLOTS_MAX; slot++) {
        uint32_t count = get32(filter, slot_at(slot));
        if (count == 0 || slot == filter->slot || !lock_is_held(filter->fd, LOCK_SLOT + slot))
            continue;
        drop_others_keys(filter, keys, n, seen, slot);
        total += count;
    }
    return total;
}

/* The layer of the key that comes behind `ahead` others which are not settled yet; filter->count
 * if it needs a new one. */
static unsigned layer_for(const struct filter *filter, uint64_t ahead)
{
    for (unsigned i = 0; i < filter->count; i++) {
        uint64_t keys = get64(filter, keys_at(i));
        uint64_t capacity = filter->layers[i].plan.capacity;
        uint64_t room = keys < capacity ? capacity - keys : 0;
        if (ahead < room)
            return i;
        ahead -= room;
    }
    return filter->header.plan.fixed ? filter->count - 1 : filter->count;
}

static bool in_own_flight(const struct filter *filter, struct key key)
{
    const struct flight *flight = filter->flight;
    if (flight_count(flight) == 0)
        return false;
    for (unsigned i = flight_layer_low(flight); i <= flight_layer_high(flight); i++)
        if (flight_covers(flight, key, i, &filter->layers[i].bits))
            return true;
    return false;
}

/* Under LOCK_CHANGE: takes the new ones of the keys into flight, in order. Returns how many keys
 * were judged, and in *full whether it stopped for want of a layer. */
static size_t take_new(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint64_t ahead, uint8_t *seen, bool *full)
{
    struct flight *flight = filter->flight;
    uint8_t *slot = slot_keys(filter, filter->slot);
    size_t i;
    *full = false;
    for (i = 0; i < n; i++) {
        if (seen[i])
            continue;
        if (in_own_flight(filter, keys[i])) {
            seen[i] = 1;
            continue;
        }
        size_t count = flight_count(flight);
        if (count == flight_room(flight) || count == most_new)
            break;
        unsigned layer = layer_for(filter, ahead + count);
        if (layer == filter->count) {
            *full = true;
            break;
        }
        flight_add(flight, keys[i], layer, &filter->layers[layer].bits);
        store64(slot + count * KEY_BYTES, keys[i].lo);
        store64(slot + count * KEY_BYTES + 8, keys[i].hi);
    }
    put32(filter, slot_at(filter->slot), (uint32_t)flight_count(flight));
    return i;
}

static ptrdiff_t claim_file(struct filter *filter, const struct key *keys, size_t n,
                            uint64_t most_new, uint8_t *seen, struct fault *fault)
{
    for (;;) {
        if (refresh(filter, fault) != 0)
            return -1;
        uint64_t settled = get64(filter, COUNTER_SETTLED_AT);
        memset(seen, 0, n);
        test_layers(filter, keys, n, seen, 0);
        if (memchr(seen, 0, n) == NULL)
            return (ptrdiff_t)n;

        if (take_lock(filter, LOCK_CHANGE, fault) != 0)
            return -1;
        unsigned known = filter->count;
        if (refresh(filter, fault) != 0) {
            lock_drop(filter->fd, LOCK_CHANGE);
            return -1;
        }
        /* Others may have settled since the look without a lock. */
        bool changed = get64(filter, COUNTER_SETTLED_AT) != settled || filter->count != known;
        if (changed)
            test_layers(filter, keys, n, seen, 0);
        bool full;
        uint64_t ahead = look_at_others(filter, keys, n, seen);
        size_t done = take_new(filter, keys, n, most_new, ahead, seen, &full);
        lock_drop(filter->fd, LOCK_CHANGE);

        if (!full || flight_count(filter->flight) > 0)
            return (ptrdiff_t)done;
        if (grow_file(filter, fault) != 0)
            return -1;
    }
}

ptrdiff_t filter_claim(struct filter *filter, const struct key *keys, size_t n, uint64_t most_new,
                       uint8_t *seen, struct fault *fault)
{
    return filter->fd < 0 ? claim_memory(filter, keys, n, most_new, seen, fault)
                          : claim_file(filter, keys, n, most_new, seen, fault);
}

/* --- settling --- */

/* Under LOCK_CHANGE: sets the bits of the first `n` keys in flight, each layer up to its
 * capacity. */
static void settle_keys(struct filter *filter, size_t n)
{
    const struct key *keys = flight_keys(filter->flight);
    while (n > 0) {
        unsigned i = layer_for(filter, 0);
        bool over = i == filter->count;
        if (over)
            i--;
        uint64_t inside = get64(filter, keys_at(i));
        uint64_t capacity = filter->layers[i].plan.capacity;
        uint64_t room = inside < capacity && !over ? capacity - inside : n;
        size_t run = room < n ? (size_t)room : n;
        filter->kernel->set(&filter->layers[i].bits, keys, run);
        put64(filter, keys_at(i), inside + run);
        keys += run;
        n -= run;
    }
}

int filter_settle(struct filter *filter, size_t delivered, struct fault *fault)
{
    if (filter->fd < 0 || flight_count(filter->flight) == 0)
        return 0;
    if (take_lock(filter, LOCK_CHANGE, fault) != 0)
        return -1;
    settle_keys(filter, delivered);
    if (delivered > 0)
        put64(filter, COUNTER_SETTLED_AT, get64(filter, COUNTER_SETTLED_AT) + 1);
    put32(filter, slot_at(filter->slot), 0);
    lock_drop(filter->fd, LOCK_CHANGE);
    flight_clear(filter->flight);
    return 0;
}

/* --- facts --- */

enum { MEMORY_BATCH = 2048 };

size_t filter_batch(const struct filter *filter)
{
    return filter->flight != NULL ? flight_room(filter->flight) : MEMORY_BATCH;
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
    return filter->layers[filter->count - 1].end;
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
        capacity += filter->layers[i].plan.capacity;
    return capacity;
}

bool filter_is_file(const struct filter *filter, const struct stat *status)
{
    return filter->fd >= 0 && filter->device == status->st_dev && filter->inode == status->st_ino;
}

uint64_t filter_slot_keys(const struct filter *filter, unsigned slot, bool *alive)
{
    *alive = lock_is_held(filter->fd, LOCK_SLOT + slot);
    return get32(filter, slot_at(slot));
}
