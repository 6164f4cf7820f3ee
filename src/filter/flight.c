/* flight - see flight.h. */
#include "filter/flight.h"

#include "core/bytes.h"
#include "filter/internal.h"
#include "system/io.h"
#include "system/map.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    AHEAD = 32,            /* keys whose places are prefetched */
    LARGE_BYTES = 4 << 20, /* of a file, from which on huge pages pay off */
    LEVELS_MORE = 2        /* at most, beyond the next level, if many keys are expected */
};

/* --- where it is --- */

struct flight flight_in_slot(uint8_t *record, uint8_t *bytes, unsigned slot)
{
    uint64_t capacity = slot_capacity(slot);
    return (struct flight){
        .record = record,
        .log = bytes,
        .table = (void *)(bytes + capacity * KEY_BYTES),
        .capacity = capacity,
        .places = 2 * capacity,
        .salt = load64(record + FLIGHT_SALT),
        .fd = -1,
    };
}

int flight_write_head(int fd, const struct key_file_head *head)
{
    uint8_t bytes[KEY_FILE_BYTES];
    key_file_encode(head, bytes);
    return io_write_at(fd, bytes, sizeof bytes, 0) == sizeof bytes ? 0 : -1;
}

int flight_read_head(int fd, struct key_file_head *head)
{
    uint8_t bytes[KEY_FILE_BYTES] = {0};
    size_t n = io_read_at(fd, bytes, sizeof bytes, 0);
    return n < sizeof bytes && errno != 0 ? -1 : (int)key_file_decode(bytes, n, head);
}

int flight_map(struct flight *flight, bool write, unsigned level, struct fault *fault)
{
    size_t bytes = (size_t)flight_bytes(level);
    if (level > FLIGHT_LEVEL_MAX || bytes != flight_bytes(level))
        return fault_set(fault, flight->path, "too many lines in flight");
    uint8_t *map = map_file(flight->fd, write, 0, bytes, flight->path, fault);
    if (map == NULL)
        return -1;
    flight->map = map;
    flight->level = level;
    flight->capacity = (uint64_t)FLIGHT_FILE_KEYS << level;
    flight->places = (uint64_t)FLIGHT_FILE_PLACES << level;
    flight->log = map + FLIGHT_HEAD_BYTES;
    flight->table = (void *)(flight->log + flight->capacity * KEY_BYTES);
    if (write && bytes >= LARGE_BYTES) {
        map_advise(map, bytes, MADV_HUGEPAGE);
        map_advise(flight->table, (size_t)flight->places * sizeof *flight->table,
                   MADV_POPULATE_WRITE);
    }
    return 0;
}

void flight_unmap(struct flight *flight)
{
    if (flight->map != NULL)
        map_drop(flight->map, (size_t)flight_bytes(flight->level));
    flight->map = NULL;
}

/* --- the log --- */

/* Publishes a word of the record. */
static void publish(struct flight *flight, size_t at, uint64_t value)
{
    if (flight->record == NULL)
        return;
    void *word = flight->record + at;
    __atomic_store_n((uint64_t *)word, LITTLE64(value), __ATOMIC_RELEASE);
}

static void set_count(struct flight *flight, uint64_t count)
{
    flight->count = count;
    publish(flight, FLIGHT_COUNT, count);
}

const struct key *flight_keys(const struct flight *flight, uint64_t from, size_t n,
                              struct key *buffer)
{
    const uint8_t *log = flight->log + from * KEY_BYTES;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    (void)n, (void)buffer;
    return (const void *)log;
#else
    for (size_t i = 0; i < n; i++)
        buffer[i] = load_key(log + i * KEY_BYTES);
    return buffer;
#endif
}

/* --- the table --- */

/* The first place of a key, and the tag of its entry. */
struct aim {
    uint64_t at;
    uint32_t tag;
};

static inline struct aim aim_at(const struct flight *flight, struct key key)
{
    uint64_t hash = salt_key(key, flight->salt);
    uint32_t number_bits = (uint32_t)(flight->places - 1);
    return (struct aim){hash >> 32 & (flight->places - 1), (uint32_t)hash & ~number_bits};
}

/* A damaged table may have no empty place: then the line may come again. */
static void put_entry(struct flight *flight, uint64_t at, uint32_t entry)
{
    if (at < flight->places)
        __atomic_store_n(&flight->table[at], LITTLE32(entry), __ATOMIC_RELEASE);
}

/* Whether the key is in. *at: its place, or the empty place where it would go; `places` if there is
 * neither, which happens only in a damaged file. */
static inline bool find_key(const struct flight *flight, struct key key, struct aim aim,
                            uint64_t *at)
{
    uint32_t number_bits = (uint32_t)(flight->places - 1);
    for (uint64_t step = 0; step < flight->places; step++) {
        *at = (aim.at + step) & (flight->places - 1);
        uint32_t entry = LITTLE32(__atomic_load_n(&flight->table[*at], __ATOMIC_ACQUIRE));
        uint64_t number = (uint64_t)(entry & number_bits) - 1;
        if (entry == 0)
            return false;
        if ((entry & ~number_bits) != aim.tag || number >= flight->capacity)
            continue; /* another key, or a damaged entry */
        struct key there = load_key(flight->log + number * KEY_BYTES);
        if (there.lo == key.lo && there.hi == key.hi)
            return true;
    }
    *at = flight->places;
    return false;
}

/* Prefetches the place of key `i`, unless that is seen. */
static inline void aim_ahead(const struct flight *flight, const struct key *keys, size_t n,
                             const uint8_t *seen, size_t i, struct aim aims[AHEAD])
{
    if (i >= n || seen[i])
        return;
    aims[i % AHEAD] = aim_at(flight, keys[i]);
    __builtin_prefetch(&flight->table[aims[i % AHEAD].at], 1);
}

void flight_test(const struct flight *flight, const struct key *keys, size_t n, uint8_t *seen)
{
    struct aim aims[AHEAD] = {0};
    uint64_t at;
    for (size_t i = 0; i < AHEAD; i++)
        aim_ahead(flight, keys, n, seen, i, aims);
    for (size_t i = 0; i < n; i++) {
        if (!seen[i])
            seen[i] = find_key(flight, keys[i], aims[i % AHEAD], &at);
        aim_ahead(flight, keys, n, seen, i + AHEAD, aims);
    }
}

size_t flight_add(struct flight *flight, const struct key *keys, size_t n, uint64_t most,
                  uint8_t *seen)
{
    struct aim aims[AHEAD] = {0};
    uint64_t count = flight->count, at;
    uint64_t end = most < flight->capacity - count ? count + most : flight->capacity;
    size_t i;
    /* Before the first entry: a salt tells the next owner of the slot that there may be entries. */
    if (count == 0)
        publish(flight, FLIGHT_SALT, flight->salt);
    for (i = 0; i < AHEAD; i++)
        aim_ahead(flight, keys, n, seen, i, aims);
    for (i = 0; i < n; i++) {
        struct aim aim = aims[i % AHEAD];
        if (!seen[i] && !find_key(flight, keys[i], aim, &at)) {
            if (count == end)
                break;
            store_key(flight->log + count * KEY_BYTES, keys[i]);
            put_entry(flight, at, (uint32_t)++count | aim.tag);
        } else {
            seen[i] = 1;
        }
        aim_ahead(flight, keys, n, seen, i + AHEAD, aims);
    }
    set_count(flight, count);
    return i;
}

/* Empties the entries of keys number from..end, last first. This breaks no probe sequence if they
 * are the last that were added: the table becomes what it was before. */
static void empty_entries(struct flight *flight, uint64_t from, uint64_t end)
{
    uint64_t at;
    while (end > from) {
        struct key key = load_key(flight->log + --end * KEY_BYTES);
        if (find_key(flight, key, aim_at(flight, key), &at))
            put_entry(flight, at, 0);
    }
}

void flight_drop(struct flight *flight, uint64_t n)
{
    uint64_t left = flight->count > n ? flight->count - n : 0;
    empty_entries(flight, left, flight->count);
    set_count(flight, left);
}

void flight_hide(struct flight *flight)
{
    set_count(flight, 0);
}

/* Few keys are removed one by one. */
void flight_clear(struct flight *flight, uint64_t n)
{
    fence_for_others();
    if (n > flight->places / 64)
        memset(flight->table, 0, (size_t)flight->places * sizeof *flight->table);
    else
        empty_entries(flight, 0, n);
}

/* --- growing --- */

/* Puts the first `count` keys of the log into a table that is all zeros: they differ. */
static void put_all(struct flight *flight, uint64_t count)
{
    struct aim aims[AHEAD];
    const uint64_t last = flight->places - 1;
    for (uint64_t i = 0; i < count + AHEAD; i++) {
        struct aim *aim = &aims[i % AHEAD];
        if (i >= AHEAD) {
            uint64_t at = aim->at, step = 0;
            while (flight->table[at] != 0 && step++ < last)
                at = (at + 1) & last;
            put_entry(flight, at, (uint32_t)(i - AHEAD + 1) | aim->tag);
        }
        if (i < count) {
            *aim = aim_at(flight, load_key(flight->log + i * KEY_BYTES));
            __builtin_prefetch(&flight->table[aim->at], 1);
        }
    }
}

int flight_enlarge(const struct flight *old, struct flight *larger, struct fault *fault)
{
    unsigned least = old->map != NULL ? old->level + 1 : 0, level = least;
    uint64_t from = old->map != NULL ? flight_bytes(old->level) : 0;
    uint64_t count = old->count;
    if (level > FLIGHT_LEVEL_MAX || (size_t)flight_bytes(level) != flight_bytes(level))
        return fault_set(fault, larger->path, "too many lines in flight");
    while (level < FLIGHT_LEVEL_MAX && level < least + LEVELS_MORE &&
           (uint64_t)FLIGHT_FILE_KEYS << level < old->expected &&
           (size_t)flight_bytes(level + 1) == flight_bytes(level + 1))
        level++;
    for (;; level = least) {
        if (io_allocate(larger->fd, from, flight_bytes(level) - from) != 0)
            fault_errno(fault, larger->path, "cannot store lines in flight", errno);
        else if (flight_map(larger, true, level, fault) == 0)
            break;
        /* What a full disk still had would stay with the file, and the run may go on with fewer. */
        (void)!ftruncate(larger->fd, (off_t)(from > 0 ? from : FLIGHT_HEAD_BYTES));
        if (level == least)
            return -1;
    }
    if (old->map == NULL && count > 0)
        memcpy(larger->log, old->log, (size_t)count * KEY_BYTES);
    put_all(larger, count);
    return 0;
}

int flight_reserve(struct flight *flight, uint64_t n, struct fault *fault)
{
    while (flight->capacity - flight->count < n) {
        struct flight larger = *flight;
        if (flight_enlarge(flight, &larger, fault) != 0)
            return -1;
        flight_unmap(flight);
        *flight = larger;
    }
    return 0;
}
