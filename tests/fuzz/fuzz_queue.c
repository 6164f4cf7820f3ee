/*
 * fuzz_queue - a queue whose segments are any bytes.
 *
 *        0    1  flags: FLAG_...
 *        1    1  how many bytes of the rest are segment 1; the others are segment 2
 *        2   12  what is done: its kind, the worker, and a number
 *       14       the segments
 *
 * What must hold: what waits is what a walk byte by byte finds; each line is taken off, or given
 * up, or waits in the end; and what has no known status stays.
 */
#include "core/hash.h"
#include "format/shared.h"
#include "queue/queue.h"
#include "replay.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLAG_NULS = 1, FLAG_SHORT = 2, OPERATIONS = 12, HEAD = 2 + OPERATIONS, MOST = 1 << 16 };

/* So many lines, and the sum of their hashes. */
struct tally {
    uint64_t lines, sum;
};

static struct worker {
    struct queue *queue;
    struct tally taken[MOST]; /* up to each line that it has */
    size_t count;
} workers[2];

static char delimiter;
static struct fault fault;

static void put(const char *name, const void *bytes, size_t length, off_t at)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    INSIST(fd >= 0 && pwrite(fd, bytes, length, at) == (ssize_t)length && close(fd) == 0);
}

static void add(struct tally *tally, const char *line, size_t length)
{
    tally->lines++;
    tally->sum += hash_checksum(line, length);
}

/* Returns how many records have an unknown status. */
static uint64_t walk(struct tally *waiting, const char *bytes, size_t length)
{
    uint64_t unknown = 0;
    for (size_t at = 0, end; at < length; at = end + 1) {
        for (end = at; bytes[at] != '\0' && end < length && bytes[end] != delimiter;)
            end++;
        if (bytes[at] == '\0' || end == length)
            continue;
        if (strchr(" 123456789", bytes[at]))
            add(waiting, bytes + at + 1, end - at - 1);
        else
            unknown += bytes[at] != '-';
    }
    return unknown;
}

static int filter = -1; /* its descriptor */

static struct queue *use(enum queue_use use, uint64_t max_line)
{
    struct queue_plan plan = {use, delimiter, max_line, NULL, false};
    struct queue *queue = queue_open("f", filter, &plan, &fault);
    INSIST(queue);
    return queue;
}

static bool take(struct worker *worker, uint64_t most)
{
    struct queue_lines lines;
    enum queue_why end;
    int result = queue_take(worker->queue, most, 0, false, &lines, &end, &fault);
    INSIST(result >= 0 || strstr(fault.reason, "longer than 4 bytes"));
    for (size_t at = 0, n; at < lines.length; at += n + 1) {
        const char *line = lines.bytes + at, *stop = memchr(line, delimiter, lines.length - at);
        struct tally *taken = &worker->taken[worker->count++];
        INSIST(stop && worker->count < MOST);
        n = (size_t)(stop - line);
        taken[1] = taken[0];
        add(&taken[1], line, n);
    }
    return result > 0;
}

/* All but the last few are off. */
static void off(struct worker *worker, size_t back, struct tally *gone)
{
    const struct tally *taken = &worker->taken[worker->count > back ? worker->count - back : 0];
    INSIST(queue_remove(worker->queue, back, &fault) == 0);
    gone->lines += taken->lines;
    gone->sum += taken->sum;
    worker->count = 0;
}

static void operate(uint8_t what, uint64_t max_line, struct tally *there, struct tally *gone)
{
    struct worker *worker = &workers[what >> 3 & 1];
    struct queue_failed failed;
    size_t n = what >> 4;
    char line[16];
    if ((what & 7) < 2) {
        struct queue *queue = use(QUEUE_PUSH, max_line);
        struct output output = queue_output(queue);
        memset(line, 'p', n);
        line[n] = delimiter;
        INSIST(output.append(output.context, line, n + 1, &fault) == n + 1);
        add(there, line, n);
        queue_close(queue);
    } else if ((what & 7) < 4) {
        take(worker, n + 1);
    } else if ((what & 7) < 6) {
        off(worker, (what & 7) == 5 ? n : 0, gone);
    } else if ((what & 7) == 6) {
        INSIST(queue_fail(worker->queue, (unsigned)n % 10, &failed, &fault) == 0);
        INSIST(failed.back + failed.given_up == worker->count);
        worker->count = 0;
    } else {
        queue_close(worker->queue);
        worker->queue = use(QUEUE_POP, max_line);
        worker->count = 0;
    }
}

static void start(void)
{
    static char directory[4096];
    if (directory[0] == '\0') {
        const char *place = getenv("TMPDIR");
        snprintf(directory, sizeof directory, "%s/queue.XXXXXX", place ? place : "/tmp");
        INSIST(mkdtemp(directory) && chdir(directory) == 0 && mkdir("f.queue", 0700) == 0);
    }
    for (char name[] = "f.queue/0000000001"; name[17] <= '3'; name[17]++)
        (void)unlink(name);
    (void)unlink("f.failed");
}

static struct queue_facts facts_now(void)
{
    struct queue_facts facts;
    INSIST(queue_facts("f", filter, &facts, &fault) == 0);
    return facts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *line;
    static size_t room;
    ssize_t given_up;
    struct tally there = {0, 0}, gone = {0, 0};
    if (size < HEAD || size > MOST / 2)
        return 0;
    const char *bytes = (const char *)data + HEAD;
    size_t length = size - HEAD, first = data[1] < length ? data[1] : length;
    uint64_t max_line = data[0] & FLAG_SHORT ? 4 : MOST;
    delimiter = data[0] & FLAG_NULS ? '\0' : '\n';
    start();
    put("f", delimiter ? "\1" : "\2", 1, QUEUE_AT);
    if (filter < 0)
        filter = open("f", O_RDWR | O_CLOEXEC);
    put("f.queue/0000000001", bytes, first, 0);
    put("f.queue/0000000002", bytes + first, length - first, 0);
    uint64_t unknown = walk(&there, bytes, first) + walk(&there, bytes + first, length - first);
    struct queue_facts facts = facts_now();
    INSIST(facts.waiting == there.lines && facts.unknown == unknown);
    for (unsigned i = 0; i < 2; i++, workers[i - 1].count = 0)
        workers[i].queue = use(QUEUE_POP, max_line);
    for (unsigned i = 0; i < OPERATIONS; i++)
        operate(data[2 + i], max_line, &there, &gone);
    for (unsigned i = 0; i < 2; i++)
        queue_close(workers[i].queue);
    facts = facts_now();
    INSIST(facts.held == 0 && facts.unknown == unknown);
    workers[0].queue = use(QUEUE_POP, MOST);
    for (workers[0].count = 0; take(&workers[0], MOST);)
        ;
    off(&workers[0], 0, &gone);
    queue_close(workers[0].queue);
    FILE *failed = fopen("f.failed", "r");
    while (failed && (given_up = getdelim(&line, &room, delimiter, failed)) > 0)
        add(&gone, line, (size_t)given_up - 1);
    if (failed)
        fclose(failed);
    INSIST(gone.lines == there.lines && gone.sum == there.sum);
    return 0;
}
