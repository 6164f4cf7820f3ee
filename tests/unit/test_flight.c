/* Keys in flight: a log and its table, in a slot and in a file, against a plain list. */
#include "filter/flight.h"

#include "core/bytes.h"

#include "chance.h"
#include "sample.h"
#include "scratch.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RANGE = 40000, BATCH = 500, GUARD = 64, IN_FILE = SLOTS_MAX };
#define SALT UINT64_C(0x8a5cd789635d2dff)

/* A flight, and what it should have: keys by their numbers, in order. */
struct world {
    struct flight flight;
    _Alignas(8) uint8_t record[FLIGHT_RECORD_BYTES];
    _Alignas(8) uint8_t bytes[2048 * 24 + GUARD]; /* of a slot, and what nobody may touch */
    size_t slot_bytes;
    unsigned count;
    unsigned log[RANGE];
    uint8_t in[RANGE];
};

static void enlarge(struct world *world)
{
    struct fault fault;
    struct flight larger = world->flight;
    if (flight_enlarge(&world->flight, &larger, &fault) != 0) {
        sample_fault("enlarge", &fault);
        exit(1);
    }
    flight_unmap(&world->flight);
    world->flight = larger;
}

/* In this slot, or in a file. */
static void begin(struct world *world, unsigned slot)
{
    memset(world, 0, sizeof *world);
    memset(world->bytes, 0xa5, sizeof world->bytes);
    store64(world->record + FLIGHT_SALT, SALT);
    world->flight = flight_in_slot(world->record, world->bytes, slot % IN_FILE);
    world->slot_bytes = world->flight.capacity * KEY_BYTES + world->flight.places * 4;
    memset(world->bytes, 0, world->slot_bytes);
    if (slot < IN_FILE)
        return;
    world->flight = (struct flight){
        .record = world->record,
        .salt = SALT,
        .path = "flight",
        .fd = open(scratch_path("flight"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
    };
    enlarge(world);
}

static void end(struct world *world)
{
    flight_unmap(&world->flight);
    if (world->flight.fd >= 0)
        close(world->flight.fd);
}

static bool same_key(struct key a, struct key b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

static void check_outside(const struct world *world)
{
    for (size_t i = world->slot_bytes; i < world->slot_bytes + GUARD; i++)
        tap_check(world->bytes[i] == 0xa5, "a byte outside was written");
}

/* --- against the list --- */

static void check(const struct world *world)
{
    static struct key keys[RANGE], buffer[RANGE];
    static uint8_t seen[RANGE];
    const struct flight *flight = &world->flight;
    uint64_t shown = load64(world->record + FLIGHT_COUNT);
    if (!tap_check(flight->count == world->count && shown == world->count,
                   "%" PRIu64 " keys, %" PRIu64 " for others, not %u", flight->count, shown,
                   world->count))
        return;
    const struct key *log = flight_keys(flight, 0, world->count, buffer);
    for (unsigned i = 0; i < world->count; i++)
        tap_check(same_key(log[i], sample_key(world->log[i])), "key %u of the log", i);
    for (unsigned i = 0; i < RANGE; i++) {
        keys[i] = sample_key(i);
        seen[i] = i % 7 == 0;
    }
    flight_test(flight, keys, RANGE, seen);
    for (unsigned i = 0; i < RANGE; i++)
        tap_check(seen[i] == (i % 7 == 0 || world->in[i]), "key %u is seen as %u", i, seen[i]);
    check_outside(world);
}

/* Some keys of few, which come again; with a limit on new ones; some are known to be seen. */
static void take(struct world *world, struct chance *chance)
{
    struct key keys[BATCH];
    unsigned number[BATCH];
    uint8_t seen[BATCH] = {0}, want[BATCH] = {0};
    size_t n = chance_below(chance, BATCH + 1), judged = 0;
    uint64_t most = chance_below(chance, 3) == 0 ? chance_below(chance, 50) : UINT64_MAX;
    uint64_t room = world->flight.capacity - world->count, fresh = 0;
    for (size_t i = 0; i < n; i++) {
        number[i] = (unsigned)chance_below(chance, RANGE);
        keys[i] = sample_key(number[i]);
        want[i] = seen[i] = chance_below(chance, 16) == 0;
    }
    for (; judged < n; judged++) {
        if (!want[judged] && !world->in[number[judged]]) {
            if (fresh == most || fresh == room)
                break;
            world->in[number[judged]] = 1;
            world->log[world->count++] = number[judged];
            fresh++;
        } else {
            want[judged] = 1;
        }
    }
    tap_check(flight_add(&world->flight, keys, n, most, seen) == judged, "it judged others");
    tap_check(memcmp(seen, want, judged) == 0, "other verdicts");
}

static void drop(struct world *world, unsigned n)
{
    flight_drop(&world->flight, n);
    for (; n > 0 && world->count > 0; n--)
        world->in[world->log[--world->count]] = 0;
}

/* Others see nothing any more before anything is cleared. */
static void clear(struct world *world)
{
    unsigned n = world->count;
    flight_hide(&world->flight);
    tap_check(load64(world->record + FLIGHT_COUNT) == 0, "it is not hidden");
    flight_clear(&world->flight, n);
    drop(world, n);
}

static void against_the_list(void)
{
    static const unsigned slots[] = {0, 1, 15, IN_FILE, IN_FILE};
    static struct world world;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        struct chance chance = {40 + i};
        begin(&world, slots[i]);
        world.flight.expected = i == 4 ? 9999 : 0; /* then it grows by several levels at once */
        for (unsigned step = 0; step < 600; step++) {
            uint64_t dice = chance_below(&chance, 20);
            if (dice < 14)
                take(&world, &chance);
            else if (dice < 18)
                drop(&world, (unsigned)chance_below(&chance, world.count / 4 + 10));
            else if (dice == 18)
                clear(&world);
            if (slots[i] == IN_FILE && world.flight.capacity - world.count < BATCH)
                enlarge(&world);
            if (step % 20 == 0)
                check(&world);
        }
        tap_check(slots[i] != IN_FILE || world.flight.level > 0, "the file was to grow");
        end(&world);
    }
}

/* --- keys whose places and tags agree --- */

/* One of 64 keys that share a hash: of salt_key's two products the first is by a power of two, so
 * it only turns the bits round. */
static struct key twin(unsigned i, uint64_t hash)
{
    uint64_t turned = hash ^ SALT;
    uint64_t lo = i == 0 ? turned : turned >> i | turned << (64 - i);
    return (struct key){.lo = lo ^ SALT, .hi = (SALT << 32 | SALT >> 32) ^ UINT64_C(1) << i};
}

static void twins(void)
{
    enum { TWINS = 64, TAKEN = 50, STAY = 20 };
    static struct world world;
    struct key keys[TWINS];
    uint64_t hash = 1;
    begin(&world, 0);
    /* From the last place of the table they go on at the first. */
    while ((salt_key(twin(0, hash), SALT) >> 32 & (world.flight.places - 1)) !=
           world.flight.places - 1)
        hash++;
    for (unsigned i = 0; i < TWINS; i++) {
        keys[i] = twin(i, hash);
        tap_check(salt_key(keys[i], SALT) == salt_key(keys[0], SALT), "twin %u is none", i);
    }
    for (unsigned round = 0; round < 2; round++) {
        uint8_t seen[TWINS] = {0};
        tap_check(flight_add(&world.flight, keys, TAKEN, TAKEN, seen) == TAKEN &&
                      memchr(seen, 1, TWINS) == NULL,
                  "one is taken for another");
        flight_test(&world.flight, keys, TWINS, seen);
        for (unsigned i = 0; i < TWINS; i++)
            tap_check(seen[i] == (i < TAKEN), "of %u twins number %u", TAKEN, i);
        flight_drop(&world.flight, TAKEN - STAY);
        memset(seen, 0, sizeof seen);
        flight_test(&world.flight, keys, TWINS, seen);
        for (unsigned i = 0; i < TWINS; i++)
            tap_check(seen[i] == (i < STAY), "of %u twins number %u", STAY, i);
        flight_drop(&world.flight, STAY);
    }
    end(&world);
}

/* --- keys leave while another process reads --- */

enum { STAYING = 100, LEAVING = 1900 };

/* Another writer's view. Keys are added under LOCK_CHANGE, and dropped without it. */
struct reader {
    struct flight flight;
    const struct key *kept;
    pthread_mutex_t change;
    bool ended;
    unsigned missed;
};

static void *read_kept(void *context)
{
    struct reader *reader = context;
    while (!__atomic_load_n(&reader->ended, __ATOMIC_ACQUIRE)) {
        uint8_t seen[STAYING] = {0};
        pthread_mutex_lock(&reader->change);
        flight_test(&reader->flight, reader->kept, STAYING, seen);
        pthread_mutex_unlock(&reader->change);
        reader->missed += memchr(seen, 0, STAYING) != NULL;
    }
    return NULL;
}

static void dropped_without_a_lock(void)
{
    static struct world world;
    static struct key keys[STAYING + LEAVING];
    static uint8_t seen[STAYING + LEAVING];
    struct reader reader = {.kept = keys, .change = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    begin(&world, 0);
    for (unsigned i = 0; i < STAYING + LEAVING; i++)
        keys[i] = sample_key(i);
    flight_add(&world.flight, keys, STAYING, STAYING, seen);
    reader.flight = world.flight;
    if (!tap_check(pthread_create(&thread, NULL, read_kept, &reader) == 0, "a thread"))
        return;
    for (unsigned round = 0; round < 200; round++) {
        memset(seen, 0, sizeof seen);
        pthread_mutex_lock(&reader.change);
        flight_add(&world.flight, keys + STAYING, LEAVING, LEAVING, seen);
        pthread_mutex_unlock(&reader.change);
        flight_drop(&world.flight, LEAVING);
    }
    __atomic_store_n(&reader.ended, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    tap_check(reader.missed == 0 && world.flight.count == STAYING, "kept keys were missed %u times",
              reader.missed);
    end(&world);
}

/* --- what others have written --- */

/* The bytes do not depend on the machine. */
static void bytes(void)
{
    static const uint8_t log[] = {8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9};
    static struct world world;
    const struct key key = {.lo = 0x0102030405060708, .hi = 0x090a0b0c0d0e0f10};
    uint8_t seen = 0, table[16 * 4] = {0};
    begin(&world, 1);
    tap_check(flight_add(&world.flight, &key, 1, 1, &seen) == 1, "take");
    uint64_t hash = salt_key(key, SALT);
    uint8_t *entry = table + (hash >> 32 & 15) * 4;
    for (unsigned i = 0; i < 4; i++)
        entry[i] = (uint8_t)(hash >> 8 * i);
    entry[0] = (entry[0] & 0xf0) | 1;
    tap_check(memcmp(world.bytes, log, sizeof log) == 0, "the log");
    tap_check(memcmp(world.bytes + 8 * KEY_BYTES, table, sizeof table) == 0, "the table");
    tap_check(memcmp(world.record, "\1\0\0\0\0\0\0\0\xff\x2d\x5d\x63\x89\xd7\x5c\x8a", 16) == 0,
              "the record");
}

/* Any table, any count: an end, nothing outside, and no key that is not in the log. */
static void hostile(void)
{
    enum { ROUNDS = 300 };
    static struct world world;
    struct chance chance = {41};
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned slot = round % 3 == 0 ? IN_FILE : round % 3 - 1;
        begin(&world, slot);
        struct flight *flight = &world.flight;
        uint64_t full = chance_next(&chance);
        for (uint64_t i = 0; i < flight->places; i++)
            flight->table[i] = (uint32_t)(round % 2 ? full | 1 : chance_next(&chance) | 1U << 31);
        store64(world.record + FLIGHT_COUNT, chance_next(&chance));
        struct key keys[BATCH];
        uint8_t seen[BATCH] = {0};
        for (unsigned i = 0; i < BATCH; i++)
            keys[i] = sample_key(i);
        flight_test(flight, keys, BATCH, seen);
        tap_check(memchr(seen, 1, BATCH) == NULL, "a key that is not there");
        /* Whoever owns it finds no place for its keys, and none to take them from. */
        tap_check(flight_add(flight, keys, 8, 8, seen) == 8, "take");
        flight_drop(flight, 9);
        check_outside(&world);
        end(&world);
    }
}

/* --- no room --- */

static void no_larger_file(void)
{
    static struct world world;
    struct fault fault;
    struct rlimit limit;
    struct chance chance = {42};
    begin(&world, IN_FILE);
    enlarge(&world);
    take(&world, &chance);
    struct flight larger = world.flight, last = world.flight;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = flight_bytes(1);
    setrlimit(RLIMIT_FSIZE, &limit);
    tap_check(flight_enlarge(&world.flight, &larger, &fault) == -1 && fault.error == EFBIG,
              "it grows past a limit");
    check(&world);
    last.level = FLIGHT_LEVEL_MAX;
    tap_check(flight_enlarge(&last, &larger, &fault) == -1, "there is a level after the last");
    end(&world);
}

int main(void)
{
    scratch_make();
    tap_run("keys come and go, in slots and in a file", against_the_list);
    tap_run("keys whose places and tags agree", twins);
    tap_run("kept keys are found while others leave", dropped_without_a_lock);
    tap_run("log, table and record are little-endian", bytes);
    tap_run("tables that others have filled", hostile);
    tap_run("where the file cannot grow", no_larger_file);
    return tap_end();
}
