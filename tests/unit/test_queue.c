/* Queues: the records of a segment; random operations of several workers against a list; limits. */
#include "chance.h"
#include "format/shared.h"
#include "queue/internal.h"
#include "scratch.h"
#include "tap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

/* --- queues --- */

static char text[1 << 20];
static struct fault fault;
static struct queue_lines got;

static const char *segment(unsigned number)
{
    char name[40];
    snprintf(name, sizeof name, "f.queue/%010u", number);
    return scratch_path(name);
}

static void put(const char *path, const char *bytes, size_t length, off_t at)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || pwrite(fd, bytes, length, at) != (ssize_t)length || close(fd) != 0)
        exit(1);
}

/* The file, ended by a NUL; one that is not there is empty. */
static const char *slurp(const char *path)
{
    static char bytes[1 << 20];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof bytes - 1) : 0;
    bytes[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return bytes;
}

static int filter = -1; /* its descriptor */

/* Of a filter a queue knows one byte. The first segment has these records. */
static void start(const char *records)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "cd '%s' && rm -rf f f.* && mkdir f.queue",
             scratch_directory);
    if (system(command) != 0) /* NOLINT(cert-env33-c): a fixed command */
        exit(1);
    put(scratch_path("f"), "\1", 1, QUEUE_AT);
    put(segment(1), records, strlen(records), 0);
    close(filter);
    filter = open(scratch_path("f"), O_RDWR | O_CLOEXEC);
}

static struct queue *use(enum queue_use use, uint64_t max_line)
{
    static char path[PATH_MAX]; /* as long as the queue */
    struct queue_plan plan = {use, '\n', max_line, NULL, false};
    strcpy(path, scratch_path("f"));
    struct queue *queue = queue_open(path, filter, &plan, &fault);
    if (!tap_check(queue != NULL, "cannot be opened: %s: %s", fault.object, fault.reason))
        exit(1);
    return queue;
}

static size_t push(struct queue *queue, size_t length)
{
    struct output output = queue_output(queue);
    return output.append(output.context, text, length, &fault);
}

enum { FAULT = -1, EMPTY = -2 - QUEUE_EMPTY, AWAITED = -2 - QUEUE_AWAITED, FULL = -2 - QUEUE_FULL };

/* How many lines it takes, or why none. */
static int take(struct queue *queue, uint64_t most)
{
    enum queue_why end;
    int result = queue_take(queue, most, 0, false, &got, &end, &fault);
    return result > 0 ? (int)got.count : result < 0 ? FAULT : -2 - (int)end;
}

static bool took(struct queue *queue, uint64_t most, const char *lines)
{
    return take(queue, most) > 0 && got.length == strlen(lines) &&
           memcmp(got.bytes, lines, got.length) == 0;
}

static void off(struct queue *queue, uint64_t left)
{
    tap_check(queue_remove(queue, left, &fault) == 0, "off: %s", fault.reason);
}

static struct queue_facts facts_now(void)
{
    struct queue_facts facts;
    tap_check(queue_facts(scratch_path("f"), filter, &facts, &fault) == 0, "facts: %s",
              fault.reason);
    return facts;
}

static unsigned files_left(void)
{
    unsigned files = 0;
    for (unsigned i = 1; i <= 100; i++)
        files += access(segment(i), F_OK) == 0;
    return files;
}

#define BYTES(text) (text), sizeof(text) - 1

static void records(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        char delimiter;
        const char *records; /* status and place of each; then where a rest begins */
    } cases[] = {
        {BYTES(""), '\n', "|0"},
        {BYTES("a"), '\n', "|0"},
        {BYTES("\n"), '\n', "\n0|1"}, /* no status */
        {BYTES(" \n-\n9\n"), '\n', " 0-294|6"},
        {BYTES(" a\n1b\n-d\n-"), '\n', " 013-6|9"},
        {BYTES(" a\n\0\0 b"), '\n', " 0|5"},
        {BYTES("\0\0\0"), '\n', "|3"},
        {BYTES("\0\0xa\n\0-b\n\0"), '\n', "x2-6|10"},
        {BYTES(" a\0 b\n-\0\n"), '\n', " 0-6|9"},
        {BYTES(" a\0-b\0 \0"), '\0', " 0-3 6|8"},
        {BYTES(" a\n b\0\0\0-\0\0\0-"), '\0', " 0-8|12"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char copy[32], found[64] = "";
        memcpy(copy, cases[i].bytes, cases[i].length);
        struct segment segment = {.bytes = copy, .length = cases[i].length};
        struct record record = {.end = 0};
        while (segment_next(&segment, record.end, cases[i].delimiter, &record))
            sprintf(found + strlen(found), "%c%zu", record.status, record.at);
        sprintf(found + strlen(found), "|%zu", record.at);
        tap_check(strcmp(found, cases[i].records) == 0, "case %zu: %s", i, found);
    }
}

/* --- the list --- */

enum { WORKERS = 5, LINES_MAX = 1 << 15 };

/* In the order of the queue. */
static struct line {
    unsigned number, tries;
    int holder; /* -1: none */
    bool off;
} lines[LINES_MAX];
static unsigned line_count, next_number, segments;

static struct {
    struct queue *queue;
    unsigned next; /* what it looks at next */
} workers[WORKERS];

static char given_up[1 << 20];

static size_t line_text(unsigned number, char *to)
{
    int more = (int)(number % 97 == 0 ? number % 5000 : number % 40);
    return (size_t)sprintf(to, "%u%*s\n", number, more, "");
}

static void push_some(struct queue *queue, unsigned count)
{
    size_t length = 0;
    for (; count > 0; count--, next_number++) {
        length += line_text(next_number, text + length);
        lines[line_count++] = (struct line){.number = next_number, .holder = -1};
    }
    tap_check(push(queue, length) == length, "push: %s", fault.reason);
}

/* From where it is to the end, whoever holds some of them. */
static void take_some(int w, unsigned most)
{
    size_t length = 0;
    unsigned i, count = 0, others = 0, own = 0;
    for (i = 0; i < workers[w].next; i++)
        own += lines[i].holder == w;
    for (; i < line_count && count < most; i++) {
        others += lines[i].holder >= 0;
        if (lines[i].off || lines[i].holder >= 0)
            continue;
        length += line_text(lines[i].number, text + length);
        lines[i].holder = w;
        count++;
    }
    text[length] = '\0';
    workers[w].next = count + own > 0 ? i : 0;
    if (!tap_check(count > 0 ? took(workers[w].queue, most, text)
                             : take(workers[w].queue, most) == (others > 0 ? AWAITED : EMPTY),
                   "not the next %u; others hold %u", count, others))
        exit(1);
}

static void let_go(int w, bool are_off)
{
    for (unsigned i = 0; i < line_count; i++)
        if (lines[i].holder == w) {
            lines[i].holder = -1;
            lines[i].off = are_off;
        }
}

/* All that it has is off, but for the last few. */
static void let_go_but(int w, unsigned count)
{
    off(workers[w].queue, count);
    for (unsigned i = line_count; count > 0 && i-- > 0;)
        if (lines[i].holder == w) {
            lines[i].holder = -1;
            count--;
        }
    let_go(w, true);
}

static void fail(int w, unsigned tries)
{
    struct queue_failed what;
    unsigned back = 0, up = 0, end = line_count;
    for (unsigned i = 0; i < end; i++) {
        unsigned had = lines[i].tries + 1;
        if (lines[i].holder != w)
            continue;
        if (tries > 0 && had >= tries)
            up += line_text(lines[i].number, given_up + strlen(given_up)) > 0;
        else
            lines[line_count + back++] = (struct line){lines[i].number, had, -1, false};
    }
    tap_check(queue_fail(workers[w].queue, tries, &what, &fault) == 0, "%s", fault.reason);
    tap_check(what.back == back && what.given_up == up, "not %u back", back);
    line_count += back;
    let_go(w, true);
}

static void compare(void)
{
    unsigned waiting = 0, held = 0;
    struct queue_facts now = facts_now();
    for (unsigned i = 0; i < line_count; i++) {
        waiting += !lines[i].off && lines[i].holder < 0;
        held += lines[i].holder >= 0;
    }
    tap_check(now.waiting == waiting && now.held == held && now.unknown == 0,
              "%" PRIu64 " wait and %" PRIu64 " are held, not %u and %u", now.waiting, now.held,
              waiting, held);
    tap_check(strcmp(slurp(scratch_path("f.failed")), given_up) == 0, "other lines are given up");
}

/* What a killed push has left at the back; or a record that fills the segment. */
static void leave(bool fills)
{
    struct stat status;
    while (access(segment(segments + 1), F_OK) == 0)
        segments++;
    if (stat(segment(segments), &status) != 0)
        exit(1);
    put(segment(segments), fills ? "-" : " half", fills ? 1 : 5, status.st_size);
    if (fills)
        put(segment(segments), "\n", 1, status.st_size + QUEUE_SEGMENT_BYTES);
}

static void operate(struct queue *pusher, struct chance *chance)
{
    int w = (int)chance_below(chance, WORKERS);
    unsigned what = (unsigned)chance_below(chance, 100);
    if (what < 25) {
        push_some(pusher, 1 + (unsigned)chance_below(chance, what == 0 ? 60 : 8));
    } else if (what < 27) {
        push_some(pusher, 1);
        leave(what == 26 && chance_below(chance, 10) == 0);
    } else if (what < 60) {
        take_some(w, 1 + (unsigned)chance_below(chance, what == 59 ? 100 : 6));
    } else if (what < 75) {
        let_go_but(w, what < 65 ? (unsigned)chance_below(chance, 5) : 0);
    } else if (what < 85) {
        fail(w, (unsigned)chance_below(chance, QUEUE_TRIES_MAX + 1));
    } else if (what < 97) {
        let_go(w, false);
        workers[w].next = 0;
        queue_close(workers[w].queue);
        workers[w].queue = use(QUEUE_POP, SIZE_MAX);
    } else {
        compare();
    }
}

static void model(void)
{
    struct chance chance = {50};
    for (unsigned round = 0; round < tap_cases(10); round++) {
        start("");
        line_count = 0;
        segments = 1;
        given_up[0] = '\0';
        struct queue *pushers[] = {use(QUEUE_PUSH, SIZE_MAX), use(QUEUE_PUSH, SIZE_MAX)};
        for (int w = 0; w < WORKERS; w++, workers[w - 1].next = 0)
            workers[w].queue = use(QUEUE_POP, SIZE_MAX);
        for (unsigned i = 0; i < 3000; i++)
            operate(pushers[i % 2], &chance);
        for (int w = 0; w < WORKERS; w++, let_go(w - 1, false))
            queue_close(workers[w].queue);
        compare();
        workers[0].queue = use(QUEUE_POP, SIZE_MAX);
        workers[0].next = 0;
        take_some(0, UINT32_MAX);
        off(workers[0].queue, 0);
        tap_check(take(workers[0].queue, 1) == EMPTY && files_left() == 1, "segments stay");
        queue_close(workers[0].queue);
        queue_close(pushers[0]);
        queue_close(pushers[1]);
    }
}

/* --- limits --- */

static void limits(void)
{
    start("");
    for (unsigned i = 0; i < QUEUE_HOLDINGS * 2 + 20; i++)
        put(segment(1), " a\n", 3, (off_t)i * 3);
    struct queue *a = use(QUEUE_POP, 9), *b = use(QUEUE_POP, 9);
    for (unsigned i = 0; i < QUEUE_HOLDINGS; i++)
        tap_check(take(a, 1) == 1 && take(b, 1) == 1, "line %u", 2 * i);
    tap_check(take(a, 9) == FULL && facts_now().held == 2L * QUEUE_HOLDINGS, "more locks");
    off(a, 0);
    tap_check(take(a, 99) == 20, "not the others");
    tap_check(take(a, 99) == EMPTY, "more than there are");
    off(a, 0);
    off(b, 0);
    for (unsigned i = 2; i <= 300; i++)
        put(segment(i), " b\n", 3, 0);
    struct queue *const both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        tap_check(take(both[i], 300) == QUEUE_OPEN, "not behind those of others");
        tap_check(take(both[i], 300) == FULL, "more segments");
    }
    off(a, 0);
    tap_check(take(a, 300) == 299 - 2 * QUEUE_OPEN, "not the others");
    queue_close(a);
    queue_close(b);
}

/* --- at the back --- */

/* What stands after the last delimiter goes, however long it is; what is full gets a successor. */
static void back(void)
{
    enum { FULL_AT = QUEUE_SEGMENT_BYTES };
    static const struct {
        off_t at; /* the end of the last record, in segment 9 */
        size_t rest;
        unsigned number;
        off_t to; /* where it goes */
    } cases[] = {
        {3, 0, 9, 3},          {0, 1, 9, 0},    {3, 4096, 9, 3},
        {4096, 4097, 9, 4096}, {0, 4097, 9, 0}, {FULL_AT - 1, 9, 9, FULL_AT - 1},
        {FULL_AT, 9, 10, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stat status;
        start(" a\n");
        memset(text, 'x', sizeof text);
        put(segment(9), text, cases[i].rest, cases[i].at);
        if (cases[i].at > 0)
            put(segment(9), " a\n", 3, cases[i].at - 3);
        struct queue *queue = use(QUEUE_PUSH, SIZE_MAX);
        strcpy(text, "b\n\n");
        tap_check(push(queue, 3) == 3, "case %zu: %s", i, fault.reason);
        tap_check(stat(segment(cases[i].number), &status) == 0 && status.st_size == cases[i].to + 5,
                  "case %zu: %lld bytes", i, (long long)status.st_size);
        queue_close(queue);
    }
    /* A number that others have used up meanwhile is not used again. */
    start("");
    struct queue *queue = use(QUEUE_PUSH, SIZE_MAX);
    tap_check(push(queue, 3) == 3, "push: %s", fault.reason);
    put(segment(1), " a\n", 3, FULL_AT);
    put(segment(3), " c\n", 3, 0);
    tap_check(push(queue, 3) == 3 && files_left() == 2, "made segment 2 again");
    put(scratch_path("f.queue/9999999999"), " a\n", 3, FULL_AT);
    queue_close(queue);
    queue = use(QUEUE_PUSH, SIZE_MAX);
    tap_check(push(queue, 3) == 0 && strstr(fault.reason, "used up"), "%s", fault.reason);
    queue_close(queue);
}

/* Whole lines or nothing, and what cannot go to the back stays. */
static void no_room(void)
{
    enum { ANY = 99 };
    static const char before[] = " a\n1b\n9c\n d\n";
    static const struct {
        int tries;     /* -1: a push of y and z, else three lines fail */
        unsigned room; /* bytes after those */
        uint64_t done; /* bytes accepted, or lines moved */
        const char *after, *failed;
    } cases[] = {
        {-1, 2, 0, " a\n1b\n9c\n d\n", ""},
        {-1, 3, 2, " a\n1b\n9c\n d\n y\n", ""},
        {-1, 5, 2, " a\n1b\n9c\n d\n y\n", ""},
        {-1, 6, 4, " a\n1b\n9c\n d\n y\n z\n", ""},
        {0, 5, 0, "1a\n2b\n9c\n d\n", ""},
        {0, ANY, 3, "-a\n-b\n-c\n d\n1a\n2b\n9c\n", ""},
        {1, 0, 3, "-a\n-b\n-c\n d\n", "a\nb\nc\n"},
        {2, 2, 2, "1a\n-b\n-c\n d\n", "b\nc\n"},
        {9, ANY, 3, "-a\n-b\n-c\n d\n1a\n2b\n", "c\n"},
    };
    struct queue_failed what;
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool pushes = cases[i].tries < 0;
        start(before);
        struct queue *queue = use(pushes ? QUEUE_PUSH : QUEUE_POP, SIZE_MAX);
        tap_check(pushes || took(queue, 3, "a\nb\nc\n"), "case %zu: not taken", i);
        struct rlimit less = {sizeof before - 1 + cases[i].room, limit.rlim_max};
        setrlimit(RLIMIT_FSIZE, &less);
        strcpy(text, "y\nz\n");
        if (pushes)
            tap_check(push(queue, 4) == cases[i].done, "case %zu: %s", i, fault.reason);
        else
            tap_check(queue_fail(queue, (unsigned)cases[i].tries, &what, &fault) ==
                              (cases[i].done < 3 ? -1 : 0) &&
                          what.back + what.given_up == cases[i].done,
                      "case %zu: not %" PRIu64, i, cases[i].done);
        setrlimit(RLIMIT_FSIZE, &limit);
        tap_check(strcmp(slurp(segment(1)), cases[i].after) == 0, "case %zu: other records", i);
        tap_check(strcmp(slurp(scratch_path("f.failed")), cases[i].failed) == 0, "case %zu", i);
        tap_check(facts_now().held == 0, "case %zu: lines are held", i);
        queue_close(queue);
    }
}

int main(void)
{
    scratch_make();
    tap_run("the records of a segment", records);
    tap_run("30,000 random operations of five workers, against a list", model);
    tap_run("1,024 locks, and lines in 128 segments", limits);
    tap_run("appending", back);
    tap_run("no room at the back", no_room);
    return tap_end();
}
