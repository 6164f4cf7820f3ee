/* Queues: random operations of several workers against a list, with deaths at every step. */
#include "queue/queue.h"
#include "queue/state.h"
#include "system/signals.h"

#include "chance.h"
#include "scratch.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- dying in the middle ---
 *
 * What a queue changes on disk goes through these three calls, which stand in for those of libc:
 * the process can die before any of them, or with half of a write done. */

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

static void power_may_fail_before(int fd);

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    power_may_fail_before(fd);
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

static void note_synced(int fd);

int fdatasync(int fd)
{
    note_synced(fd);
    return 0;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* --- the power fails ---
 *
 * A disk has what was flushed, and of each page that was written since the old content or the
 * new. */

static bool power_fails;
static uint8_t on_disk[QUEUE_STATE_BYTES];
static unsigned cuts, torn;
static struct chance power_chance = {55};

static bool read_state(int fd, uint8_t *state)
{
    return pread(fd, state, QUEUE_STATE_BYTES, 0) == QUEUE_STATE_BYTES;
}

static void note_synced(int fd)
{
    power_may_fail_before(fd);
    if (power_fails)
        read_state(fd, on_disk);
}

static void power_may_fail_before(int fd)
{
    static uint8_t written[QUEUE_STATE_BYTES], disk[QUEUE_STATE_BYTES];
    static struct queue_state state;
    if (!power_fails || !read_state(fd, written) || memcmp(written, on_disk, 8) != 0)
        return;
    for (unsigned i = 0; i < 4; i++, cuts++) {
        for (size_t at = 0; at < QUEUE_STATE_BYTES; at += 4096)
            memcpy(disk + at, (chance_below(&power_chance, 2) ? written : on_disk) + at, 4096);
        bool first = queue_state_decode(disk + QUEUE_HEAD_BYTES, &state);
        bool second = queue_state_decode(disk + QUEUE_HEAD_BYTES + QUEUE_COPY_BYTES, &state);
        torn += !first || !second;
        tap_check(first || second, "both copies are torn");
    }
}

/* --- the list --- */

enum { WORKERS = 5, WAITING_MAX = 1 << 16 };

/* Lines are numbers, padded to a length that follows from the number. A list is sorted by rank:
 * what is put in gets the next rank, and keeps it until it is put back. */
struct line {
    uint64_t rank;
    unsigned number;
    unsigned tries;
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
    char command[PATH_MAX];
    segment_bytes = bytes;
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_path("f.queue"));
    tap_check(system(command) == 0, "not removed"); /* NOLINT(cert-env33-c): a fixed command */
    tap_check(mkdir(scratch_path("f.queue"), 0777) == 0, "not made");
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
        list_insert(&waiting, (struct line){next_rank++, next_number++, 0});
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

/* Those that had `most` tries are to be given up. */
static void note_put_back(struct list *list, unsigned most, struct list *given_up)
{
    given_up->count = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct line line = {next_rank, list->lines[i].number, list->lines[i].tries + 1};
        list_insert(line.tries < most ? &waiting : given_up, line);
        next_rank++;
    }
    list->count = 0;
}

/* Where lines that are given up go. */
static struct queue_lines got;

static size_t get_failed(void *context, const char *some, size_t length, struct fault *fault)
{
    static char failed[1 << 22];
    (void)fault;
    tap_check(context == &got && got.length + length <= sizeof failed, "too many are given up");
    memcpy(failed + got.length, some, length);
    got.bytes = failed;
    got.length += length;
    return length;
}

static int flush_failed(void *context, struct fault *fault)
{
    (void)context;
    (void)fault;
    return 0;
}

static struct output failed_output(void)
{
    got.length = 0;
    return (struct output){.fd = -1, .append = get_failed, .sync = flush_failed, .context = &got};
}

static int put_all_back(struct queue *queue, struct fault *fault)
{
    struct queue_failed what;
    int result = queue_put_back(queue, 1, NULL, &what, fault);
    return tap_check(!what.uncounted && what.given_up == 0, "uncounted, or given up") ? result : -1;
}

static void put_back(unsigned w, unsigned most)
{
    static struct list given_up;
    static char wanted[1 << 22];
    struct fault fault;
    struct queue_failed what;
    struct output failed = failed_output();
    uint64_t count = out[w].count;
    size_t length = 0;
    note_put_back(&out[w], most, &given_up);
    for (size_t i = 0; i < given_up.count; i++)
        length += line_text(given_up.lines[i].number, wanted + length);
    tap_check(queue_put_back(workers[w], most, &failed, &what, &fault) == 0, "put back: %s",
              fault.reason);
    tap_check(what.given_up == given_up.count && what.back == count - given_up.count &&
                  !what.uncounted,
              "%" PRIu64 " given up, not %zu; %" PRIu64 " back of %" PRIu64 "%s", what.given_up,
              given_up.count, what.back, count, what.uncounted ? "; uncounted" : "");
    tap_check(length == got.length && (length == 0 || memcmp(wanted, got.bytes, length) == 0),
              "other lines are given up than those with %u tries", most);
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
        put_back(w, 1 + (unsigned)chance_below(chance, 6));
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
        else if ((doing == REMOVING ? queue_remove : put_all_back)(queue, &fault) != 0)
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
    static struct list moved, none;
    moved.count = 0;
    for (unsigned i = 0; doing != PUSHING && i < count; i++)
        list_insert(&moved, waiting.lines[i]);
    if (doing == PUSHING)
        note_pushed(count);
    else
        list_remove_first(&waiting, count);
    if (doing == PUTTING_BACK)
        note_put_back(&moved, UINT_MAX, &none);
}

/* How many of `count` lines it happened to. Removing is done, or not at all; of a push whole lines
 * are put in, and what is put back goes one segment's lines after the other. Of those at hand,
 * *twice may be at the back though they are still at the front. */
static unsigned happened_to(enum doing doing, unsigned count, unsigned *twice)
{
    struct fault fault;
    unsigned first = 0;
    /* The next push takes in what the dead one wrote. */
    tap_check(queue_append(workers[1], "", 0, &fault) == 0, "appends of nothing");
    uint64_t there = lines_there();
    uint64_t most = waiting.count + (doing == REMOVING ? 0 : count);
    *twice = 0;
    if (doing == REMOVING && there == waiting.count - count)
        return count;
    if (!tap_check(there >= waiting.count && there <= most,
                   "doing %d to %u: %zu lines before, %" PRIu64 " after", (int)doing, count,
                   waiting.count, there))
        exit(1);
    if (doing != PUTTING_BACK)
        return (unsigned)(there - waiting.count);
    *twice = (unsigned)(there - waiting.count);
    for (unsigned number = first_number(); first < count; first++)
        if (waiting.lines[first].number == number)
            break;
    return first;
}

/* The first lines are at the back, too. All is taken out, so that no number stays there twice. */
static void note_twice(unsigned count, struct chance *chance)
{
    for (unsigned i = 0; i < count; i++)
        list_insert(&waiting, (struct line){next_rank++, waiting.lines[i].number, 0});
    while (count > 0 && waiting.count > 0) {
        take(0, (unsigned)waiting.count, chance);
        remove_out(0);
    }
}

/* Returns whether the child came to its end. */
static bool die_at(enum doing doing, unsigned count, int calls, unsigned *done,
                   struct chance *chance)
{
    unsigned twice;
    int status = in_child(doing, count, calls);
    if (!tap_check(status == 0 || status == 9, "the child exits with %d", status))
        exit(1);
    unsigned happened = happened_to(doing, count, &twice);
    tap_check(status != 0 || happened == count, "doing %d: came to its end with %u of %u",
              (int)doing, happened, count);
    *done += happened > 0;
    if (happened > 0)
        note_done(doing, happened);
    note_twice(twice, chance);
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
                if (chance_below(&chance, 2) == 0)
                    remove_out(0);
                else
                    put_back(0, 1 + (unsigned)chance_below(&chance, 4));
            }
            if (waiting.count < 2)
                continue;
            unsigned count = 1 + (unsigned)chance_below(&chance, waiting.count - 1);
            if (doing == PUSHING)
                count = 1 + (unsigned)chance_below(&chance, 20);
            if (die_at(doing, count, calls, &done, &chance))
                break;
            died++;
        }
        check_counts();
    }
    drain(&chance);
    finish();
    tap_check(died > 300 && done > 200, "only %u deaths, %u done", died, done);
}

/* A state of several pages, of which the disk can have some and not the others. */
static void torn_states(void)
{
    enum { MANY = 250 };
    static struct queue *many[MANY];
    struct fault fault;
    struct queue_lines lines;
    bool awaited;
    struct chance chance = {56};
    start(1 << 20);
    for (unsigned i = 0; i < MANY; i++) {
        many[i] = open_queue();
        push(workers[0], 4);
        next_number += 4;
    }
    int fd = open(scratch_path("f.queue/state"), O_RDONLY);
    power_fails = read_state(fd, on_disk);
    close(fd);
    for (unsigned i = 0; i < 3 * MANY; i++) {
        struct queue *queue = many[chance_below(&chance, MANY)];
        if (chance_below(&chance, 4) == 0)
            tap_check(queue_remove(queue, &fault) == 0, "remove: %s", fault.reason);
        else
            tap_check(queue_take(queue, 1, &lines, &awaited, &fault) >= 0, "take: %s",
                      fault.reason);
    }
    power_fails = false;
    for (unsigned i = 0; i < MANY; i++)
        queue_close(many[i]);
    finish();
    tap_check(cuts > 1000 && torn > 100, "%u cuts, %u torn", cuts, torn);
}

/* Reads the state that counts, or writes it as both copies. */
static void get_state(struct queue_state *state)
{
    static uint8_t file[QUEUE_STATE_BYTES];
    static struct queue_state other;
    int fd = open(scratch_path("f.queue/state"), O_RDONLY);
    tap_check(read_state(fd, file) && queue_state_decode(file + QUEUE_HEAD_BYTES, state) &&
                  queue_state_decode(file + QUEUE_HEAD_BYTES + QUEUE_COPY_BYTES, &other) &&
                  state->sequence == other.sequence,
              "no state");
    close(fd);
}

static void put_state(const struct queue_state *state)
{
    static uint8_t copy[QUEUE_COPY_BYTES];
    size_t length = queue_state_encode(state, copy);
    int fd = open(scratch_path("f.queue/state"), O_WRONLY);
    for (off_t at = QUEUE_HEAD_BYTES; at < QUEUE_STATE_BYTES; at += QUEUE_COPY_BYTES)
        tap_check(raw_pwrite(fd, copy, length, at) == (ssize_t)length, "not written");
    close(fd);
}

/* Takes `most` lines, and says whether they are `count` lines with the numbers from `first` on; or,
 * if count is 0, none, which others have. */
static bool takes(struct queue *queue, uint64_t most, unsigned first, unsigned count)
{
    struct fault fault;
    struct queue_lines lines;
    bool awaited, right = true;
    int result = queue_take(queue, most, &lines, &awaited, &fault);
    if (result <= 0)
        return result == 0 && count == 0 && awaited;
    for (size_t at = 0; at < lines.length;)
        right = number_at(&lines, &at) == first++ && right;
    return right && lines.count == count;
}

/* All ranges are those of dead workers, and each has more lines than are asked for. So many are
 * given, and no more; the rest comes next, for whoever asks. */
static void only_the_dead(void)
{
    enum { RANGES = QUEUE_RANGES - 1, EACH = 3, LINE = 5 };
    static struct queue_state state;
    struct fault fault;
    start(1 << 20);
    /* Of every four lines one is off. */
    for (unsigned i = 0; i < RANGES * (EACH + 1); i++) {
        char line[LINE + 1];
        sprintf(line, "%04u\n", i);
        tap_check(queue_append(workers[0], line, LINE, &fault) == LINE, "not put in");
    }
    get_state(&state);
    state.sequence++;
    state.used = QUEUE_RANGES;
    for (uint64_t i = 0; i < RANGES; i++) {
        uint64_t begin = i * (EACH + 1) * LINE;
        state.ranges[1 + i] = (struct queue_range){begin, begin + EACH * LINE, EACH, true};
    }
    state.ranges[0].begin = state.ranges[0].end;
    state.ranges[0].lines = 0;
    put_state(&state);
    check_sums(RANGES * EACH);
    tap_check(takes(workers[0], 1, 0, 1), "not line 0");
    tap_check(takes(workers[0], 1, 0, 0), "takes on, before lines that it holds up");
    tap_check(takes(workers[1], 2, 4, 2), "not lines 4 and 5");
    tap_check(takes(workers[2], 1, 8, 1), "not line 8");
    /* Off, refused, at the back: of what was taken alone. */
    tap_check(queue_remove(workers[0], &fault) == 0, "remove: %s", fault.reason);
    tap_check(queue_accept(workers[1], LINE) == 1 && queue_remove(workers[1], &fault) == 0,
              "remove: %s", fault.reason);
    tap_check(put_all_back(workers[2], &fault) == 0, "put back: %s", fault.reason);
    check_sums(RANGES * EACH - 2);
    tap_check(takes(workers[3], 9, 1, 2), "not the rest of the first");
    tap_check(takes(workers[3], 9, 5, 2), "not what was refused, and the rest");
    tap_check(takes(workers[3], 9, 9, 2), "not the rest of what was put back");
    tap_check(queue_remove(workers[3], &fault) == 0, "remove: %s", fault.reason);
    check_sums(RANGES * EACH - 8);
    finish();
}

/* A state with a right checksum that tells of `bytes` in one segment, which is a hole. */
static void tell_of_hole(uint64_t hole)
{
    static struct queue_state state;
    state = (struct queue_state){.sequence = 9,
                                 .delimiter = '\n',
                                 .known = true,
                                 .used = 1,
                                 .ranges = {{.end = hole, .lines = 5}}};
    put_state(&state);
    int fd = open(scratch_path("f.queue/00000000000000000000"), O_WRONLY | O_CREAT, 0666);
    tap_check(syscall(SYS_ftruncate, fd, (off_t)hole) == 0, "no hole");
    close(fd);
}

static void holes(void)
{
    struct fault fault;
    struct queue_lines lines;
    struct rusage before, usage;
    bool awaited;
    uint64_t told, found;
    start(300);
    getrusage(RUSAGE_SELF, &before);
    tell_of_hole(UINT64_C(1) << 30);
    queue_set_max_line(workers[0], 10000000);
    tap_check(queue_take(workers[0], 1, &lines, &awaited, &fault) == -1 &&
                  strstr(fault.reason, "more than 10000000") != NULL,
              "taken, or %s", fault.reason);
    tap_check(queue_check(workers[1], &told, &found, &fault) == -1 &&
                  strstr(fault.reason, "no end") != NULL,
              "checked, or %s", fault.reason);
    getrusage(RUSAGE_SELF, &usage);
    tap_check(usage.ru_maxrss - before.ru_maxrss < 100000, "%ld KB of memory more",
              usage.ru_maxrss - before.ru_maxrss);
    /* For so many bytes nobody waits who has been told to end. In a child, which is. */
    tell_of_hole(UINT64_C(4000000000000));
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        signals_start();
        raise(SIGTERM);
        _exit(queue_check(workers[1], &told, &found, &fault) == -1 && fault.error == EINTR &&
                      queue_take(workers[0], 1, &lines, &awaited, &fault) == -1 &&
                      fault.error == EINTR
                  ? 0
                  : 1);
    }
    int status = 0;
    tap_check(waitpid(pid, &status, 0) == pid && status == 0, "does not end: %d", status);
    finish();
}

int main(void)
{
    scratch_make();
    tap_run("states of several pages and power cuts", torn_states);
    tap_run_long("lines that are holes", holes);
    tap_run("all ranges are those of the dead", only_the_dead);
    tap_run_long("100,000 random operations of five workers, against a list", model);
    tap_run("a process dies at each call that changes something", deaths);
    return tap_end();
}
