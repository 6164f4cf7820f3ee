/*
 * fuzz_beside - damaged or hostile files beside a sound filter (hostile.h): sets of keys in flight,
 * FILTER.flight-SLOT, of writers that live or are dead; files of pending keys.
 */
#include "delivery/key_set.h"
#include "hostile.h"

#define QUICK "-j 1 "

enum {
    FLAG_KEEP_SUM = FLAG_KEEP_RECORDS, /* of pending keys */
    PENDING_HEAD = 64
};

static const struct field fields[] = {
    {"pending", 0, 4, 16},            /* magic, version, UUID, count, checksums */
    {"pending", 32, 8, 4},            /* the numbers */
    {"pending", PENDING_HEAD, 8, 64}, /* keys */
    {"f.flight-0", 0, 4, 8},          /* magic, segments */
    {"f.flight-0", 4096, 8, 256},     /* keys */
    {"f.flight-0", 4096, 4096, 17},   /* pages */
    {"f.flight-0", 69632, 4096, 32},  /*       of the second segment */
    {"f.flight-1", 0, 4, 8},
    {"f.flight-1", 4096, 4096, 17},
    {"f", SLOTS_AT, 4, 12},  /* who has a set, and its mark */
    {"f", FLIGHT_AT, 8, 16}, /* keys in flight in the file itself */
    {"f", COUNTER_SETTLED_AT, 8, 1},
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

/* A slot of the filter whose writer was killed while it had these keys in flight. */
static void put_set(unsigned slot, unsigned n)
{
    struct fault fault;
    const struct hasher hasher = hasher_in_domain(hasher_xxh3(0), DOMAIN_KEY);
    char name[NAME_MAX_HERE];
    uint8_t bytes[SLOT_BYTES] = {0};
    int fd = open("f", O_RDWR | O_CLOEXEC);
    sprintf(name, "f.flight-%u", slot);
    struct key_set *set = key_set_new(name, fd, &fault);
    INSIST(set && key_set_reserve(set, n, &fault) == 0);
    for (unsigned i = 0; i < n; i++) {
        char line[64];
        int length = sprintf(line, "http://host%u.example/a,%u b", i % 3, i);
        key_set_add(set, hash_key(line, (size_t)length, hasher));
    }
    key_set_leave(set);
    key_set_free(set);
    store32(bytes + SLOT_HOLDS, 1);
    store64(bytes + SLOT_MARK, SET_MARK + slot);
    INSIST(pwrite(fd, bytes, sizeof bytes, (off_t)slot_at(slot)) == (ssize_t)sizeof bytes);
    close(fd);
}

static void make_scene(const char *create, unsigned sets, const char *pending)
{
    make_filter(create);
    make("add -j 1 f in", "../some");
    for (unsigned slot = 0; slot < sets; slot++)
        put_set(slot, 100 << 6 * slot); /* 6400 need a second segment */
    if (pending != NULL)
        make(pending, "../in");
    keep_scene();
}

static void make_scenes(void)
{
    static const char pending[] = "--pending pending -j 1 f in", plain[] = "create -n 200 f";
    enter_directory();
    put_lines("../some", 0, 100);
    make_scene(plain, 0, NULL);
    INSIST(rename("f", "../g") == 0);
    make_scene(plain, 0, pending);
    make("commit f pending", NULL);
    keep_scene();
    make_scene(plain, 1, pending);
    make_scene(plain, 2, NULL);
    make_scene("create -n 20 -p 0.5 f", 2, pending);
    make_scene("create -n 100 --counting f", 1, pending);
    make_scene("create --window 100 f", 1, pending);
    make_scene("create -n 10000 f", 1, pending);
}

/* The head's count of keys is taken as it is. */
static void repair_pending(struct file *file, uint8_t flags)
{
    enum { COUNT_AT = 32, SUM_AT = 40, HEAD_SUM_AT = 56 };
    if (file == NULL || file->size < PENDING_HEAD)
        return;
    uint64_t count = load64(file->bytes + COUNT_AT), sum = 0;
    for (uint64_t i = 0; i < count && i < (file->size - PENDING_HEAD) / KEY_BYTES; i++)
        sum = hash_chain(sum, file->bytes + PENDING_HEAD + i * KEY_BYTES, KEY_BYTES);
    if (!(flags & FLAG_KEEP_SUM))
        store64(file->bytes + SUM_AT, sum);
    if (!(flags & FLAG_KEEP_CHECKSUMS))
        store64(file->bytes + HEAD_SUM_AT, hash_checksum(file->bytes, HEAD_SUM_AT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!set_stage(data, size, make_scenes, fields, FIELDS))
        return 0;
    repair_pending(scene_file(&stage, "pending"), data[3]);
    play(data, runs, RUNS);
    return 0;
}
