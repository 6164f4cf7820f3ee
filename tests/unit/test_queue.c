/* Queues: random operations of several workers against a list, with deaths at every step. */
#include "file/queue.h"
#include "file/queue_state.h"

#include "chance.h"
#include "scratch.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- dying in the middle ---
 *
 * What a queue changes on disk goes through these three calls, which stand in for those of libc: the
 * process can die before any of them, or with half of a write done. */

static int calls_left = -1; /* until it dies; -1: it does not */
static bool half_done;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

static void one_call_less(void)
{
    if (calls_left == 0)
        _exit(9);
    if (calls_left > 0)
        calls_left--;
}

static ssize_t raw_pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    return syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    if (calls_left == 0 && half_done)
        (void)!raw_pwrite(fd, bytes, length / 2, at);
    one_call_less();
    return raw_pwrite(fd, bytes, length, at);
}

int ftruncate(int fd, off_t length)
{
    one_call_less();
    return (int)syscall(SYS_ftruncate, fd, length);
}

int unlinkat(int directory, const char *name, int flags)
{
    one_call_less();
    return (int)syscall(SYS_unlinkat, directory, name, flags);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* --- the list --- */

enum { WORKERS = 5, WAITING_MAX = 1 << 16 };

/* Lines are numbers, padded to a length that follows from the number. A list is sorted by rank: what
 * is put in gets the next rank, and keeps it until it is put back. */
struct line {
    uint64_t rank;
    unsigned number;
};

struct list {
    struct line lines[WAITING_MAX];
    size_t count;
};

static struct list waiting;
static struct list out[WORKERS];
static uint64_t next_rank;
static unsigned next_number;

static void list_insert(struct list *list, struct line line)
{
    size_t at = list->count++;
    for (; at > 0 && list->lines[at - 1].rank > line.rank; at--)
        list->lines[at] = list->lines[at - 1];
    list->lines[at] = line;
}

static void list_remove(struct list *list, uint64_t rank)
{
    size_t at = 0;
    while (list->lines[at].rank != rank)
        at++;
    list->count--;
    memmove(list->lines + at, list->lines + at + 1, (list->count - at) * sizeof *list->lines);
}

static void list_remove_first(struct list *list, size_t n)
{
    list->count -= n;
    memmove(list->lines, list->lines + n, list->count * sizeof *list->lines);
}

static void all_wait_again(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list_insert(&waiting, list->lines[i]);
    list->count = 0;
}

static size_t line_text(unsigned number, char *text)
{
    size_t length = number % 97 == 0 ? number % 5000 : number % 40;
    int digits = sprintf(text, "%u", number);
    memset(text + digits, '.', length);
    text[(size_t)digits + length] = '\n';
    return (size_t)digits + length + 1;
}

/* --- the queue --- */

static const uint8_t uuid[UUID_BYTES] = "a filter's uuid";
static uint64_t segment_bytes = 1000;
static struct queue *workers[WORKERS];

static struct queue *open_queue(void)
{
    struct fault fault;
    struct queue *queue = queue_open(scratch_path("f"), uuid, true, segment_bytes, &fault);
    tap_check(queue != NULL, "cannot be opened: %s: %s", fault.object, fault.reason);
    if (queue == NULL)
        exit(1);
    return queue;
}

static void start(uint64_t bytes)
{
    struct fault fault;
    char command[PATH_MAX];
    segment_bytes = bytes;
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_path("f.queue"));
    tap_check(system(command) == 0, "not removed"); /* NOLINT(cert-env33-c): a fixed command */
    tap_check(queue_make(scratch_path("f"), &fault) == 0, "not made");
    waiting.count = 0;
    for (unsigned i = 0; i < WORKERS; i++) {
        out[i].count = 0;
        workers[i] = open_queue();
    }
}

static void finish(void)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        queue_close(workers[i]);
        workers[i] = NULL;
    }
}

/* --- operations, on both --- */

static size_t make_lines(unsigned count, unsigned first, char *bytes)
{
    size_t length = 0;
    for (unsigned i = 0; i < count; i++)
        length += line_text(first + i, bytes + length);
    return length;
}

static char bytes[64 * 6000];

static void push(struct queue *queue, unsigned count)
{
    struct fault fault;
    size_t length = make_lines(count, next_number, bytes);
    tap_check(queue_append(queue, bytes, length, &fault) == length, "append: %s", fault.reason);
}

static void note_pushed(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        list_insert(&waiting, (struct line){next_rank++, next_number++});
}

/* Whether the lines are the first that wait. */
static bool are_first(const struct queue_lines *lines)
{
    static char wanted[1 << 20];
    size_t length = 0;
    if (lines->count > waiting.count)
        return false;
    for (size_t i = 0; i < lines->count && length + 6000 < sizeof wanted; i++)
        length += line_text(waiting.lines[i].number, wanted + length);
    return length == lines->length && memcmp(lines->bytes, wanted, length) == 0;
}

static struct list last; /* what was taken last */

static void note_taken(unsigned w, uint64_t count)
{
    last.count = 0;
    for (uint64_t i = 0; i < count; i++) {
        list_insert(&out[w], waiting.lines[i]);
        list_insert(&last, waiting.lines[i]);
    }
    list_remove_first(&waiting, (size_t)count);
}

/* Of what was taken last, the lines behind the first `accepted`. They wait from the removal on. */
static void note_refused(unsigned w, uint64_t accepted)
{
    for (uint64_t i = accepted; i < last.count; i++) {
        list_remove(&out[w], last.lines[i].rank);
        list_insert(&waiting, last.lines[i]);
    }
}

/* Takes up to `most` lines; in the end perhaps refuses some of the last. */
static void take(unsigned w, unsigned most, struct chance *chance)
{
    struct fault fault;
    struct queue_lines lines;
    bool awaited;
    unsigned taken = 0;
    while (taken < most) {
        int result = queue_take(workers[w], most - taken, &lines, &awaited, &fault);
        if (result <= 0) {
            tap_check(result == 0, "take: %s", fault.reason);
            /* Nothing that waits for an end would come to one. */
            if (!tap_check(waiting.count == 0, "nothing to take, and %zu wait", waiting.count))
                exit(1);
            bool others = false;
            for (unsigned i = 0; i < WORKERS; i++)
                others = others || (i != w && out[i].count > 0);
            tap_check(awaited == others, "awaited is %d", awaited);
            return;
        }
        if (!tap_check(lines.count > 0 && lines.count <= most - taken && are_first(&lines),
                       "takes %" PRIu64 " other lines than the first of %zu", lines.count,
                       waiting.count))
            exit(1);
        note_taken(w, lines.count);
        taken += (unsigned)lines.count;
    }
    if (taken == 0 || chance_below(chance, 4) != 0)
        return;
    note_refused(w, queue_accept(workers[w], chance_below(chance, lines.length + 1)));
    tap_check(queue_remove(workers[w], &fault) == 0, "remove: %s", fault.reason);
    out[w].count = 0;
}

static void remove_out(unsigned w)
{
    struct fault fault;
    tap_check(queue_remove(workers[w], &fault) == 0, "remove: %s", fault.reason);
    out[w].count = 0;
}

static void note_put_back(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list_insert(&waiting, (struct line){next_rank++, list->lines[i].number});
    list->count = 0;
}

static void put_back(unsigned w)
{
    struct fault fault;
    tap_check(queue_put_back(workers[w], &fault) == 0, "put back: %s", fault.reason);
    note_put_back(&out[w]);
}

static void die(unsigned w)
{
    queue_close(workers[w]);
    all_wait_again(&out[w]);
    workers[w] = open_queue();
}

static void check_counts(void)
{
    struct fault fault;
    struct queue_facts facts;
    uint64_t told, found, outside = 0;
    for (unsigned i = 0; i < WORKERS; i++)
        outside += out[i].count;
    if (!tap_check(queue_facts(workers[0], &facts, &fault) == 0, "facts: %s", fault.reason))
        return;
    /* A worker's own lock is not somebody else's, so what is out here counts as waiting. */
    tap_check(facts.waiting + facts.out == waiting.count + outside,
              "%" PRIu64 " wait and %" PRIu64 " are out, not %zu and %" PRIu64, facts.waiting,
              facts.out, waiting.count, outside);
    tap_check(queue_check(workers[0], &told, &found, &fault) == 0, "check: %s", fault.reason);
    tap_check(told == found, "%" PRIu64 " lines told of, %" PRIu64 " found", told, found);
}

static void check_sums(uint64_t lines)
{
    struct fault fault;
    uint64_t told, found;
    tap_check(queue_check(workers[0], &told, &found, &fault) == 0, "check: %s", fault.reason);
    tap_check(told == lines && found == lines, "%" PRIu64 " told of, %" PRIu64 " found", told,
              found);
}

static unsigned files_left(void)
{
    unsigned files = 0;
    DIR *directory = opendir(scratch_path("f.queue"));
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        files += entry->d_name[0] != '.';
    closedir(directory);
    return files;
}

/* All comes out, in order, and nothing is left. */
static void drain(struct chance *chance)
{
    for (unsigned i = 0; i < WORKERS; i++)
        die(i);
    check_counts();
    while (waiting.count > 0) {
        take(0, 1 + (unsigned)chance_below(chance, 50), chance);
        remove_out(0);
    }
    take(0, 1, chance);
    tap_check(files_left() == 1, "%u files are left", files_left());
}

static void operate(struct chance *chance)
{
    unsigned w = (unsigned)chance_below(chance, WORKERS);
    unsigned what = (unsigned)chance_below(chance, 100);
    if (what < 30) {
        unsigned count = 1 + (unsigned)chance_below(chance, what == 0 ? 60 : 8);
        push(workers[w], count);
        note_pushed(count);
    } else if (what < 60) {
        take(w, 1 + (unsigned)chance_below(chance, what == 59 ? 100 : 6), chance);
    } else if (what < 80) {
        remove_out(w);
    } else if (what < 88) {
        put_back(w);
    } else if (what < 97) {
        die(w);
    } else {
        check_counts();
    }
}

/* --- a process that dies in the middle of an operation --- */

enum doing { PUSHING, REMOVING, PUTTING_BACK, DOINGS };

/* In a child: a worker of its own does it, and dies at the given call. */
static int in_child(enum doing doing, unsigned count, int calls)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct fault fault;
        struct queue_lines lines;
        bool awaited;
        struct queue *queue = open_queue();
        unsigned taken = 0;
        for (; doing != PUSHING && taken < count; taken += (unsigned)lines.count)
            if (queue_take(queue, count - taken, &lines, &awaited, &fault) <= 0)
                _exit(8);
        calls_left = calls;
        if (doing == PUSHING)
            push(queue, count);
        else if ((doing == REMOVING ? queue_remove : queue_put_back)(queue, &fault) != 0)
            _exit(8);
        _exit(0);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static uint64_t lines_there(void)
{
    struct fault fault;
    struct queue_facts facts;
    tap_check(queue_facts(workers[0], &facts, &fault) == 0, "facts: %s", fault.reason);
    return facts.waiting;
}

/* The number on the line at *at, which goes on to the next. */
static unsigned number_at(const struct queue_lines *lines, size_t *at)
{
    unsigned number = 0;
    for (; lines->bytes[*at] != '\n'; ++*at)
        if (lines->bytes[*at] >= '0' && lines->bytes[*at] <= '9')
            number = number * 10 + (unsigned)(lines->bytes[*at] - '0');
    ++*at;
    return number;
}

/* The first line that waits, looked at and left. */
static unsigned first_number(void)
{
    struct fault fault;
    struct queue_lines lines;
    bool awaited;
    unsigned number = 0;
    struct queue *queue = open_queue();
    if (tap_check(queue_take(queue, 1, &lines, &awaited, &fault) > 0, "nothing is there"))
        number = number_at(&lines, &(size_t){0});
    queue_close(queue);
    return number;
}

static void note_done(enum doing doing, unsigned count)
{
    static struct list moved;
    moved.count = 0;
    for (unsigned i = 0; doing != PUSHING && i < count; i++)
        list_insert(&moved, waiting.lines[i]);
    if (doing == PUSHING)
        note_pushed(count);
    else
        list_remove_first(&waiting, count);
    if (doing == PUTTING_BACK)
        note_put_back(&moved);
}

/* How many of `count` lines it happened to. Pushing and removing are done, or not at all; what is put
 * back goes one segment's lines after the other. */
static unsigned happened_to(enum doing doing, unsigned count)
{
    uint64_t there = lines_there();
    size_t first = 0;
    if (doing != PUTTING_BACK) {
        uint64_t done = waiting.count + (doing == PUSHING ? count : -(uint64_t)count);
        tap_check(there == waiting.count || there == done,
                  "doing %d: %zu lines before, %" PRIu64 " after", (int)doing, waiting.count,
                  there);
        return there == done ? count : 0;
    }
    tap_check(there == waiting.count, "put back: %zu lines before, %" PRIu64 " after",
              waiting.count, there);
    if (there != waiting.count)
        exit(1);
    for (unsigned number = first_number(); first < count; first++)
        if (waiting.lines[first].number == number)
            break;
    return (unsigned)first;
}

/* Returns whether the child came to its end. */
static bool die_at(enum doing doing, unsigned count, int calls, unsigned *done)
{
    int status = in_child(doing, count, calls);
    if (!tap_check(status == 0 || status == 9, "the child exits with %d", status))
        exit(1);
    unsigned happened = happened_to(doing, count);
    tap_check(status != 0 || happened == count, "doing %d: came to its end with %u of %u",
              (int)doing, happened, count);
    *done += happened > 0;
    if (happened > 0)
        note_done(doing, happened);
    return status == 0;
}

/* --- tests --- */

static void model(void)
{
    struct chance chance = {50};
    unsigned operations = 0;
    for (unsigned round = 0; operations < 100000; round++) {
        start(1 + chance_below(&chance, 3000));
        for (unsigned i = 0; i < 2500; i++, operations++)
            operate(&chance);
        drain(&chance);
        finish();
    }
}

static void deaths(void)
{
    struct chance chance = {51};
    unsigned died = 0, done = 0;
    start(700);
    for (unsigned round = 0; round < 150; round++) {
        enum doing doing = (enum doing)(round % DOINGS);
        half_done = round / DOINGS % 2 != 0;
        for (int calls = 0;; calls++) {
            if (waiting.count < 20) {
                push(workers[1], 20);
                note_pushed(20);
            }
            if (chance_below(&chance, 3) == 0) {
                take(0, (unsigned)chance_below(&chance, waiting.count), &chance);
                remove_out(0);
            }
            if (waiting.count < 2)
                continue;
            unsigned count = 1 + (unsigned)chance_below(&chance, waiting.count - 1);
            if (doing == PUSHING)
                count = 1 + (unsigned)chance_below(&chance, 20);
            if (die_at(doing, count, calls, &done))
                break;
            died++;
        }
        check_counts();
    }
    drain(&chance);
    finish();
    tap_check(died > 300 && done > 200, "only %u deaths, %u done", died, done);
}

/* The state at every byte changed: refused, or the copy before it, and never nonsense. */
static void damage(void)
{
    struct fault fault;
    struct chance chance = {52};
    unsigned refused = 0, taken = 0;
    for (unsigned round = 0; round < 600; round++) {
        start(300);
        push(workers[0], 20);
        note_pushed(20);
        take(0, 3, &chance);
        remove_out(0);
        finish();
        FILE *state = fopen(scratch_path("f.queue/state"), "r+");
        long at = round < 400 ? (long)(chance_below(&chance, 2) * QUEUE_COPY_BYTES + 4096 +
                                       chance_below(&chance, 200))
                              : (long)chance_below(&chance, 4096);
        fseek(state, at, SEEK_SET);
        int byte = fgetc(state);
        fseek(state, at, SEEK_SET);
        fputc(byte ^ 1 << chance_below(&chance, 8), state);
        fclose(state);
        struct queue *queue = queue_open(scratch_path("f"), uuid, true, 300, &fault);
        struct queue_lines lines;
        bool awaited;
        int result = queue != NULL ? queue_take(queue, 5, &lines, &awaited, &fault) : -1;
        refused += result < 0;
        taken += result > 0;
        queue_close(queue);
    }
    tap_check(refused > 100 && taken > 100, "%u refused, %u taken", refused, taken);
}

/* Cuts off the segment that is the `which`-th, so that it has a part of its bytes, or removes it. Returns
 * how many whole lines it had and has. */
static void cut_segment(unsigned which, unsigned percent, uint64_t *had, uint64_t *has)
{
    char path[PATH_MAX], command[PATH_MAX + 100];
    snprintf(command, sizeof command, "ls '%s'/0* | sed -n %up", scratch_path("f.queue"),
             which + 1);
    FILE *names = popen(command, "r"); /* NOLINT(cert-env33-c): a fixed command */
    bool found = fgets(path, sizeof path, names) != NULL;
    pclose(names);
    path[strcspn(path, "\n")] = '\0';
    if (!tap_check(found, "no segment %u", which))
        return;
    FILE *file = fopen(path, "r+");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    size_t left = length * percent / 100;
    *had = *has = 0;
    for (size_t i = 0; i < length; i++) {
        *had += bytes[i] == '\n';
        *has += i < left && bytes[i] == '\n';
    }
    if (percent == 0)
        unlink(path);
    else
        tap_check(ftruncate(fileno(file), (off_t)left) == 0, "not cut off");
    fclose(file);
}

/* After a power cut: what is left comes out in its order, and the rest is counted. */
static void power_cuts(void)
{
    struct chance chance = {54};
    for (unsigned round = 0; round < 200; round++) {
        struct fault fault;
        uint64_t had = 0, has = 0, lost = 0;
        unsigned before = next_number;
        start(400);
        for (unsigned i = 0; i < 12; i++) {
            push(workers[0], 12);
            note_pushed(12);
        }
        /* Ranges of workers that are gone: of the first lines, some are off. */
        take(1, 2 + (unsigned)chance_below(&chance, 5), &chance);
        take(2, 3, &chance);
        remove_out(1);
        die(2);
        tap_check(queue_mend(workers[3], &lost, &fault) == 0 && lost == 0, "mends what is whole");
        uint64_t there = waiting.count;
        /* Not the first segment, of which some lines are off. */
        cut_segment(2 + (unsigned)chance_below(&chance, 3), (unsigned)chance_below(&chance, 100),
                    &had, &has);
        bool awaited;
        struct queue_lines lines;
        take(4, 1, &chance);
        if (out[4].count > 0) {
            tap_check(queue_mend(workers[3], &lost, &fault) == 0 && lost == 0,
                      "mends while lines are out");
            remove_out(4);
            there--;
        } else {
            there = waiting.count;
        }
        tap_check(queue_mend(workers[3], &lost, &fault) == 0, "mend: %s", fault.reason);
        tap_check(lost == had - has, "%" PRIu64 " lost, not %" PRIu64, lost, had - has);
        check_sums(there - lost);
        unsigned last_number = before;
        uint64_t count = 0;
        while (queue_take(workers[0], 7, &lines, &awaited, &fault) > 0) {
            for (size_t at = 0; at < lines.length; count++) {
                unsigned number = number_at(&lines, &at);
                tap_check(number >= last_number && number < next_number, "out of order");
                last_number = number + 1;
            }
            queue_remove(workers[0], &fault);
        }
        tap_check(count == there - lost, "%" PRIu64 " came out", count);
        tap_check(files_left() == 1, "%u files are left", files_left());
        finish();
    }
}

/* A copy with a right checksum and any numbers: decoding says no, or what it says holds. */
static void hostile_states(void)
{
    static struct queue_state state, read;
    static uint8_t copy[QUEUE_COPY_BYTES];
    static const uint64_t strange[] = {0, 1, 5, 1000, UINT64_C(1) << 62, UINT64_MAX};
    struct chance chance = {53};
    unsigned good = 0;
    for (unsigned round = 0; round < 200000; round++) {
        uint64_t *const fields[] = {&state.front,           &state.tail,
                                    &state.lines,           &state.oldest,
                                    &state.newest,          &state.slots[0].begin,
                                    &state.slots[0].middle, &state.slots[0].end,
                                    &state.slots[1].begin,  &state.slots[1].middle,
                                    &state.slots[1].end};
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            *fields[i] = strange[chance_below(&chance, 6)];
        state.highest = (unsigned)chance_below(&chance, 3);
        queue_state_encode(&state, copy);
        if (!queue_state_decode(copy, &read))
            continue;
        good++;
        tap_check(read.oldest <= read.newest && read.newest <= read.tail &&
                      read.front <= read.tail && read.tail <= UINT64_C(1) << 62 &&
                      queue_state_lowest(&read) >= read.oldest,
                  "accepted nonsense");
    }
    tap_check(good > 20, "only %u made sense", good);
}

static void round_trip(void)
{
    static struct queue_state state = {.sequence = 7,
                                       .front = 600,
                                       .tail = 900,
                                       .lines = 5,
                                       .oldest = 10,
                                       .newest = 700,
                                       .delimiter = '\0',
                                       .known = true,
                                       .highest = QUEUE_SLOTS};
    static struct queue_state read;
    static uint8_t copy[QUEUE_COPY_BYTES];
    for (unsigned i = 0; i < QUEUE_SLOTS; i += 3)
        state.slots[i] = (struct queue_slot){20 + i % 100, 130, 200 + i % 7, i, 2 * i};
    size_t length = queue_state_encode(&state, copy);
    tap_check(length == queue_state_length(copy) && length <= QUEUE_COPY_BYTES, "%zu bytes",
              length);
    tap_check(queue_state_decode(copy, &read), "not sound");
    tap_check(read.sequence == 7 && read.front == 600 && read.tail == 900 && read.lines == 5 &&
                  read.oldest == 10 && read.newest == 700 && read.delimiter == '\0' && read.known,
              "other numbers");
    tap_check(memcmp(read.slots, state.slots, sizeof read.slots) == 0, "other slots");
}

int main(void)
{
    scratch_make();
    tap_run("a state as bytes and back", round_trip);
    tap_run("hostile states", hostile_states);
    tap_run("damaged states", damage);
    tap_run("segments cut off by a power cut", power_cuts);
    tap_run("100,000 random operations of five workers, against a list", model);
    tap_run("a process dies at each call that changes something", deaths);
    return tap_end();
}
