/*
 * fuzz_side_files - damaged or hostile keys beside a sound filter (hostile.h): in flight, in slots
 * and in FILTER.flight-SLOT, of writers that live or are dead; and files of pending keys.
 */
#include "filter/flight.h"
#include "hostile.h"

#include <sys/mman.h>

#define QUICK "-j 1 "

enum {
    FLAG_KEEP_SUM = FLAG_KEEP_RECORDS, /* of pending keys */
    /* Of the flights in slot 0, and in files of levels 0 and 1. */
    TABLE_AT = FLIGHT_AT + 2048 * KEY_BYTES,
    TABLE_0_AT = FLIGHT_HEAD_BYTES + FLIGHT_FILE_KEYS * KEY_BYTES,
    TABLE_1_AT = FLIGHT_HEAD_BYTES + 2 * FLIGHT_FILE_KEYS * KEY_BYTES
};

static const struct field fields[] = {
    {PENDING, 0, 4, 14},    /* magic, version, kind, UUID, count, checksums */
    {PENDING, 32, 8, 3},    /* the numbers */
    {PENDING, 4096, 8, 64}, /* keys */
    {FLIGHT_0, 0, 4, 14},
    {FLIGHT_0, 4096, 8, 200},
    {FLIGHT_0, TABLE_0_AT, 4, 4096},
    {FLIGHT_0, 4096, 4096, 16}, /* pages */
    {FLIGHT_1, 4096, 8, 200},
    {FLIGHT_1, TABLE_1_AT, 4, 8192},
    {FLIGHT_1, 4096, 4096, 32},
    {FILTER, SLOTS_AT, 4, 16}, /* count, salt, file, number, level */
    {FILTER, FLIGHT_AT, 8, 200},
    {FILTER, TABLE_AT, 4, 4096},
    {FILTER, COUNTER_SETTLED_AT, 8, 1},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const struct run runs[] = {
    {READS, "--pending pending " QUICK "f in", false, "f"},
    {WRITES, "commit f pending", false, "pending"},
    {WRITES, "commit --summary f pending pending", false, "pending"},
    {WRITES, QUICK "f in", true, "pending"},
    {WRITES, "add " QUICK "f in", true, "pending"},
    {WRITES, "--durable -a out " QUICK "f in", true, "pending"},
    {WRITES, QUICK "f in -x cat", true, "pending"},
    {WRITES, "-a out --dropped dropped " QUICK "f in", true, "pending"},
    {WRITES, "remove " QUICK "f in", false, "pending"},
    {WRITES, "merge -o f f ../g", false, "pending"},
    {WRITES, "commit f f.flight-0", false, "pending"},
    {WRITES, QUICK "f pending", false, "pending"},
    {WRITES, "--dropped pending " QUICK "f in", false, NULL},
    {WRITES, "--pending f.flight-0 " QUICK "f in", false, NULL},
    {READS, "stats f", false, NULL},
    {READS, "stats --json f", false, NULL},
    {READS, "verify f", false, NULL},
    {READS, "query " QUICK "f in", false, NULL},
    {READS, "query " QUICK "f f.flight-0 pending", false, NULL},
    {READS, "merge -o out f ../g", false, NULL},
};
enum { RUNS = sizeof runs / sizeof *runs };

static void take_lines(struct flight *flight, unsigned n)
{
    const struct hasher hasher = hasher_in_domain(hasher_xxh3(0), DOMAIN_KEY);
    for (unsigned i = 0; i < n; i++) {
        char line[64];
        uint8_t seen = 0;
        int length = sprintf(line, "http://host%u.example/a,%u b", i % 3, i);
        struct key key = hash_key(line, (size_t)length, hasher);
        INSIST(flight_add(flight, &key, 1, 1, &seen) == 1);
    }
}

/* To the next level of a file, which is made for the first. */
static void enlarge(struct flight *flight, const uint8_t *uuid)
{
    struct fault fault;
    struct flight larger = *flight;
    if (flight->map == NULL) {
        struct key_file_head head = {.kind = KEYS_IN_FLIGHT};
        memcpy(head.uuid, uuid, UUID_BYTES);
        larger.fd = open(flight->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        INSIST(larger.fd >= 0 && flight_write_head(larger.fd, &head) == 0);
    }
    INSIST(flight_enlarge(flight, &larger, &fault) == 0);
    flight_unmap(flight);
    *flight = larger;
}

/* In slot 0 are 100 keys of a writer that was killed; or in files, and of two writers. */
static void put_flight(unsigned slot, bool in_file)
{
    char name[32];
    int fd = open("f", O_RDWR | O_CLOEXEC);
    uint8_t *map = mmap(NULL, metadata_bytes(false), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    INSIST(map != MAP_FAILED);
    uint8_t *record = map + slot_at(slot);
    unsigned n = slot == 0 ? 100 : 4000; /* which need level 1 */
    store64(record + FLIGHT_SALT, 1);
    struct flight flight = flight_in_slot(record, map + slot_keys_at(slot), slot);
    sprintf(name, "f.flight-%u", slot);
    flight.path = name;
    while (in_file && (flight.map == NULL || flight.capacity < n))
        enlarge(&flight, map + 32);
    take_lines(&flight, n);
    if (in_file) {
        store64(record + FLIGHT_FILE, FLIGHT_MARK + slot);
        store32(record + FLIGHT_NUMBER, slot);
        store32(record + FLIGHT_LEVEL, flight.level);
        flight_unmap(&flight);
        close(flight.fd);
    }
    munmap(map, metadata_bytes(false));
    close(fd);
}

enum flights { NONE, IN_SLOT, ONE_FILE, TWO_FILES };

static void make_scene(const char *create, enum flights flights, const char *pending)
{
    make_filter(create);
    make("add -j 1 f in", "../some");
    if (flights != NONE)
        put_flight(0, flights != IN_SLOT);
    if (flights == TWO_FILES)
        put_flight(1, true);
    if (pending != NULL)
        make(pending, "../in");
    keep_scene();
}

static void make_scenes(void)
{
    static const char pending[] = "--pending pending -j 1 f in", plain[] = "create -n 200 f";
    enter_directory();
    put_lines("../some", 0, 100);
    make_scene(plain, NONE, NULL);
    INSIST(rename("f", "../g") == 0);
    make_scene(plain, NONE, pending);
    make("commit f pending", NULL);
    keep_scene();
    make_scene(plain, IN_SLOT, pending);
    make_scene(plain, TWO_FILES, NULL);
    make_scene("create -n 20 -p 0.5 f", TWO_FILES, pending);
    make_scene("create -n 100 --counting f", ONE_FILE, pending);
    make_scene("create --window 100 f", ONE_FILE, pending);
    make_scene("create -n 10000 f", IN_SLOT, pending);
}

/* The head's count of keys is taken as it is; the sum is made as pending.c does. */
static void repair_pending(uint8_t flags)
{
    enum { COUNT_AT = 32, SUM_AT = 40, HEAD_SUM_AT = 48, LINK = 1 << 15 };
    struct file *file = &stage[PENDING];
    if (!file->there || file->size < FLIGHT_HEAD_BYTES)
        return;
    uint64_t left = load64(file->bytes + COUNT_AT), sum = 0;
    size_t at = FLIGHT_HEAD_BYTES, length;
    left = left < FILE_MAX / KEY_BYTES ? left * KEY_BYTES : FILE_MAX;
    left = left < file->size - at ? left : file->size - at;
    for (; left > 0; left -= length, at += length) {
        length = left < LINK ? (size_t)left : LINK;
        sum = hash_chain(sum, file->bytes + at, length);
    }
    if (!(flags & FLAG_KEEP_SUM))
        store64(file->bytes + SUM_AT, sum);
    if (!(flags & FLAG_KEEP_CHECKSUMS))
        store64(file->bytes + HEAD_SUM_AT, hash_checksum(file->bytes, HEAD_SUM_AT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!set_stage(data, size, make_scenes, fields, FIELDS))
        return 0;
    repair_pending(data[3]);
    play(data, runs, RUNS);
    return 0;
}
