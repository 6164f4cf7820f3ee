/*
 * fuzz_queue - a damaged or hostile queue beside a sound filter (hostile.h): its state, its files
 * of lines, its counts of tries.
 */
#include "hostile.h"
#include "queue/state.h"

#define QUICK "-j 1 "
#define STATE "f.queue/state"
#define FIRST "f.queue/00000000000000000000"

enum {
    FLAG_BOTH = 32, /* the second copy of the state is as the first */
    FIRST_AT = QUEUE_HEAD_BYTES,
    SECOND_AT = QUEUE_HEAD_BYTES + QUEUE_COPY_BYTES,
    SHORT = 512, /* a segment of many */
    TRIES_BYTES = 32
};

static const struct field fields[] = {
    {STATE, 0, 4, 10},             /* magic, version, UUID, bytes of a segment */
    {STATE, FIRST_AT + 8, 8, 3},   /* sequence, oldest, newest */
    {STATE, FIRST_AT + 32, 4, 2},  /* end of lines, number of ranges */
    {STATE, FIRST_AT + 40, 8, 12}, /* ranges */
    {STATE, FIRST_AT + 40, 24, 128},
    {STATE, SECOND_AT + 8, 8, 3},
    {STATE, SECOND_AT + 40, 8, 12},
    {STATE, 0, 4096, 15}, /* pages */
    {FIRST, 0, 1, 256},   /* lines */
    {FIRST, 0, 16, 256},
    {"f.queue/tries", 0, 8, 16},
    {"f.queue/tries", 24, 8, 4},
    {"f.queue/failed", 0, 8, 16},
    {"f", 24, 4, 6}, /* features for a writer, and the UUID */
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const struct run runs[] = {
    {WRITES, "push " QUICK "f in", true, NULL},
    {WRITES, "push --durable --summary " QUICK "f in", true, NULL},
    {WRITES, "push -z --dropped dropped " QUICK "f in", false, NULL},
    {WRITES, "pop f", false, NULL},
    {WRITES, "pop -m 3 --summary f", false, NULL},
    {WRITES, "pop -m 1000000 f", false, NULL},
    {WRITES, "pop -z -m 2 f", false, NULL},
    {WRITES, "pop --max-line 10 f", false, NULL},
    {WRITES, "pop -m 4 f -x false", false, NULL},
    {WRITES, "pop -m 4 --tries 2 f -x false", false, NULL},
    {WRITES, "pop -m 9 --tries 1 --failed dead f -x false", false, NULL},
    {WRITES, "pop -m 50 f -x cat", false, NULL},
    {WRITES, QUICK "f in", true, "f.queue"},
    {READS, "stats f", false, NULL},
    {READS, "stats --json f", false, NULL},
    {READS, "verify f", false, NULL},
    {READS, "query " QUICK "f in", false, NULL},
    {READS, "merge -o out f ../g", false, NULL},
    {WRITES, "merge -o f f ../g", false, "f.queue"},
    {REPLACES, "create --force -n 10 f", false, NULL},
    {REPLACES, "create --force --queue -n 10 f", false, NULL},
};
enum { RUNS = sizeof runs / sizeof *runs };

/* --- scenes --- */

/* The head says that a segment takes so many bytes. */
static void shorten_segments(uint64_t bytes)
{
    uint8_t number[8];
    store64(number, bytes);
    int fd = open(STATE, O_WRONLY | O_CLOEXEC);
    INSIST(fd >= 0 && pwrite(fd, number, sizeof number, 32) == (ssize_t)sizeof number);
    close(fd);
    stamp(STATE, 16, QUEUE_HEAD_BYTES);
}

/* The lines of the first `bytes` were taken by two workers. */
static void take(uint64_t bytes, uint64_t lines)
{
    static uint8_t copy[QUEUE_COPY_BYTES];
    static struct queue_state state;
    int fd = open(STATE, O_RDWR | O_CLOEXEC);
    INSIST(fd >= 0 && pread(fd, copy, sizeof copy, FIRST_AT) == (ssize_t)sizeof copy);
    INSIST(queue_state_decode(copy, &state));
    state.ranges[1] = (struct queue_range){0, bytes / 2, lines / 2, true};
    state.ranges[2] = (struct queue_range){bytes / 2, bytes, lines / 2, true};
    state.ranges[0].begin = bytes;
    state.ranges[0].lines -= lines;
    state.used = 3;
    queue_state_encode(&state, copy);
    INSIST(pwrite(fd, copy, sizeof copy, FIRST_AT) == (ssize_t)sizeof copy);
    INSIST(pwrite(fd, copy, sizeof copy, SECOND_AT) == (ssize_t)sizeof copy);
    close(fd);
}

static void begin_scene(uint64_t segment_bytes, const char *push)
{
    make_filter("create --queue -n 200 f");
    if (segment_bytes != 0)
        shorten_segments(segment_bytes);
    if (push != NULL)
        make(push, "../some");
}

static void make_scenes(void)
{
    static const char push[] = "push -j 1 f in";
    enum { LINE = 28 }; /* of 10 to 99 */
    enter_directory();
    put_lines("../some", 10, 60);
    begin_scene(0, push);
    keep_scene();
    make("pop -m 3 f -x cat", NULL);
    keep_scene();
    begin_scene(0, NULL);
    keep_scene();
    INSIST(rename("f", "../g") == 0);
    begin_scene(0, push);
    take(2 * LINE, 2);
    keep_scene();
    begin_scene(0, push);
    make("pop -m 3 --tries 3 f -x false", NULL);
    make("pop -m 2 --tries 1 f -x false", NULL);
    keep_scene();
    begin_scene(SHORT, push);
    keep_scene();
    take(20 * LINE, 20);
    keep_scene();
    begin_scene(0, "push -z -j 1 f in");
    keep_scene();
    begin_scene(0, push);
    put_file("f.queue/04611686018427387904", "x\n", 2, 0);
    put_file("f.queue/00000000000000000007", "y\n", 2, 0);
    keep_scene();
    put_file("f.queue/7", "z\n", 2, 0);
    keep_scene();
}

/* --- checksums --- */

static void repair_copy(uint8_t *copy)
{
    store64(copy, hash_checksum(copy + 8, queue_state_length(copy) - 8));
}

static void repair_state(struct file *file, uint8_t flags)
{
    if (file == NULL || file->size < QUEUE_STATE_BYTES)
        return;
    if (!(flags & FLAG_KEEP_CHECKSUMS))
        store64(file->bytes + QUEUE_HEAD_BYTES - 8,
                hash_checksum(file->bytes, QUEUE_HEAD_BYTES - 8));
    if (flags & FLAG_BOTH)
        memcpy(file->bytes + SECOND_AT, file->bytes + FIRST_AT, QUEUE_COPY_BYTES);
    if (flags & FLAG_KEEP_RECORDS)
        return;
    repair_copy(file->bytes + FIRST_AT);
    repair_copy(file->bytes + SECOND_AT);
}

static void repair_tries(struct file *file, uint8_t flags)
{
    if (file == NULL || flags & FLAG_KEEP_RECORDS)
        return;
    for (size_t at = 0; at + TRIES_BYTES <= file->size; at += TRIES_BYTES) {
        uint8_t *record = file->bytes + at;
        store32(record + TRIES_BYTES - 4, (uint32_t)hash_checksum(record, TRIES_BYTES - 4));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!set_stage(data, size, make_scenes, fields, FIELDS))
        return 0;
    repair_filter(scene_file(&stage, "f"), 0);
    repair_state(scene_file(&stage, STATE), data[3]);
    repair_tries(scene_file(&stage, "f.queue/tries"), data[3]);
    play(data, runs, RUNS, STATE);
    return 0;
}
