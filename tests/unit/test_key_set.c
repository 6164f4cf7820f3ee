/* Keys in flight in a file: the set, the one that others look into, and files that are not one. */
#include "delivery/key_set.h"

#include "chance.h"
#include "scratch.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS = 20000 };

static struct key key_number(uint64_t n)
{
    return (struct key){.lo = n * UINT64_C(0x9e3779b97f4a7c15), .hi = ~n};
}

static int beside; /* open, on the same file system */

static struct key_set *key_set_made(const char *path)
{
    struct fault fault;
    struct key_set *set = key_set_new(path, -1, &fault);
    if (set == NULL) {
        printf("# %s: %s\n", fault.object, fault.reason);
        exit(1);
    }
    return set;
}

static void add_numbers(struct key_set *set, uint64_t from, uint64_t to)
{
    struct fault fault;
    for (uint64_t i = from; i < to; i++) {
        tap_check(key_set_reserve(set, 1, &fault) == 0, "no room: %s", fault.reason);
        tap_check(key_set_add(set, key_number(i)), "key %llu was in", (unsigned long long)i);
        tap_check(!key_set_add(set, key_number(i)), "key %llu is new twice", (unsigned long long)i);
    }
}

/* How many of the numbers below `to` are in, in batches and one by one. */
static uint64_t count_numbers(const struct key_set *set, uint64_t to)
{
    enum { BATCH = 100 };
    uint64_t count = 0;
    for (uint64_t i = 0; i < to; i += BATCH) {
        struct key keys[BATCH];
        uint8_t seen[BATCH] = {[7] = 1};
        size_t n = to - i < BATCH ? (size_t)(to - i) : BATCH;
        for (size_t j = 0; j < n; j++)
            keys[j] = key_number(i + j);
        key_set_look(set, keys, n, seen);
        for (size_t j = 0; j < n; j++) {
            bool in = key_set_has(set, keys[j]);
            count += in;
            tap_check(seen[j] == (in || j == 7), "the batch does not agree");
        }
    }
    return count;
}

/* Over several segments; taken out, and emptied. */
static void set(void)
{
    struct key_set *set = key_set_made(scratch_path("set"));
    add_numbers(set, 0, KEYS);
    tap_check(key_set_count(set) == KEYS, "it counts %llu", (unsigned long long)key_set_count(set));
    tap_check(count_numbers(set, 2 * KEYS) == KEYS, "it has others, or not all");
    for (uint64_t i = 0; i < KEYS; i += 2)
        key_set_remove(set, key_number(i));
    key_set_remove(set, key_number(KEYS));
    tap_check(key_set_count(set) == KEYS / 2, "taken out: it counts %llu",
              (unsigned long long)key_set_count(set));
    add_numbers(set, KEYS, KEYS + 10);
    key_set_clear(set);
    tap_check(key_set_count(set) == 0 && count_numbers(set, KEYS + 10) == 0, "not emptied");
    add_numbers(set, 0, 10);
    tap_check(count_numbers(set, 20) == 10, "emptied, it does not work any more");
    key_set_free(set);
    tap_check(access(scratch_path("set"), F_OK) != 0, "it left its file");
}

/* Zeros and ones mean something else in the file. */
static void special_keys(void)
{
    static const struct key special[] = {{0, 0}, {UINT64_MAX, UINT64_MAX}, {0, 5}, {5, 0}};
    struct fault fault;
    struct key_set *set = key_set_made(scratch_path("special"));
    tap_check(key_set_reserve(set, 10, &fault) == 0, "no room");
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        tap_check(!key_set_has(set, special[i]), "special key %zu is in", i);
        tap_check(key_set_add(set, special[i]), "special key %zu is not new", i);
        tap_check(key_set_has(set, special[i]), "special key %zu is not in", i);
    }
    key_set_remove(set, special[0]);
    key_set_remove(set, special[1]);
    tap_check(!key_set_has(set, special[0]) && !key_set_has(set, special[1]) &&
                  key_set_has(set, special[2]) && key_set_has(set, special[3]),
              "not those that were taken out are gone");
    key_set_free(set);
}

static void others(void)
{
    struct fault fault;
    struct key_set *owner = key_set_made(scratch_path("shared"));
    add_numbers(owner, 0, 100);
    struct key_set *other = key_set_attach(scratch_path("shared"), beside, key_set_mark(owner),
                                           &fault);
    if (!tap_check(other != NULL, "cannot be attached: %s", fault.reason))
        return;
    tap_check(count_numbers(other, 200) == 100, "another one does not see what is in");
    add_numbers(owner, 100, KEYS);
    tap_check(key_set_refresh(other, &fault) == 0, "%s", fault.reason);
    tap_check(count_numbers(other, KEYS) == KEYS, "nor what was added since");
    key_set_clear(owner);
    tap_check(count_numbers(other, KEYS) == 0, "nor that it was emptied");
    /* What it had is not seen again, not even in a segment that is used again. */
    add_numbers(owner, 0, 10);
    tap_check(count_numbers(other, KEYS) == 10, "emptied, it has %llu of 10 keys",
              (unsigned long long)count_numbers(other, KEYS));
    add_numbers(owner, KEYS, 2 * KEYS);
    tap_check(count_numbers(other, 2 * KEYS) == KEYS + 10, "emptied and filled, it has %llu keys",
              (unsigned long long)count_numbers(other, 2 * KEYS));
    key_set_free(other);
    tap_check(access(scratch_path("shared"), F_OK) == 0, "the looker removed the file");
    key_set_leave(owner);
    key_set_free(owner);
    tap_check(access(scratch_path("shared"), F_OK) == 0, "the file was to be left");
}

static void nameless(void)
{
    struct fault fault;
    struct key_set *set = key_set_nameless(scratch_path("beside"), &fault);
    if (!tap_check(set != NULL, "%s", fault.reason))
        return;
    add_numbers(set, 0, 2500);
    for (uint64_t i = 0; i < 2500; i += 2)
        key_set_remove(set, key_number(i));
    tap_check(key_set_reserve(set, KEYS, &fault) == 0 && count_numbers(set, KEYS) == 1250,
              "not the same after making room");
    add_numbers(set, 2500, KEYS + 1250);
    add_numbers(set, KEYS + 1250, 3 * KEYS);
    tap_check(key_set_count(set) == 3 * KEYS - 1250 &&
                  count_numbers(set, 4 * KEYS) == 3 * KEYS - 1250,
              "not all in, or others");
    tap_check(access(scratch_path("beside"), F_OK) != 0, "it has a name");
    key_set_free(set);
    tap_check(key_set_nameless("/nowhere/at/all", &fault) == NULL && fault.error == ENOENT,
              "made in a directory that is not there");
    tap_check(key_set_new("/nowhere/at/all", -1, &fault) == NULL && fault.error == ENOENT,
              "made in a directory that is not there");
    key_set_free(NULL);
}

/* The longest row of places that are taken, in the first segment of the file. */
static unsigned longest_row(const char *path)
{
    enum { PLACES = 4096 };
    static uint8_t bytes[4096 + PLACES * 16];
    unsigned row = 0, longest = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pread(fd, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        exit(1);
    close(fd);
    for (size_t i = 0; i < PLACES; i++) {
        static const uint8_t empty[16];
        row = memcmp(bytes + 4096 + i * 16, empty, sizeof empty) == 0 ? 0 : row + 1;
        longest = row > longest ? row : longest;
    }
    return longest;
}

/* Keys that somebody has chosen agree in any bits he likes; their places do not. With 1000 keys in
 * 4096 places a row of 60 is rarer than any other fault. */
static void chosen_keys(void)
{
    static const struct key same[] = {{.lo = 0xffff000000},
                                      {.lo = ~UINT64_C(0xffff)},
                                      {.hi = 0xffff},
                                      {.hi = UINT64_C(0xffff) << 48},
                                      {.lo = 0xffff, .hi = 0xffff}};
    for (size_t kind = 0; kind < sizeof same / sizeof *same; kind++) {
        struct fault fault;
        struct key_set *set = key_set_made(scratch_path("chosen"));
        tap_check(key_set_reserve(set, 1000, &fault) == 0, "no room");
        for (uint64_t i = 1; i <= 1000; i++) {
            uint64_t number = i * UINT64_C(0x0001000100010001);
            key_set_add(set, (struct key){number & same[kind].lo, number & same[kind].hi});
        }
        unsigned row = longest_row(scratch_path("chosen"));
        tap_check(row < 60, "kind %zu: %u places in a row", kind, row);
        key_set_free(set);
    }
}

static void write_file(const char *path, const void *bytes, size_t length, off_t at)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || pwrite(fd, bytes, length, at) != (ssize_t)length)
        exit(1);
    close(fd);
}

static uint64_t inode_of(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static void refused_with(const char *path, uint64_t mark, const char *reason)
{
    struct fault fault = {.reason = ""};
    struct key_set *set = key_set_attach(path, beside, mark, &fault);
    tap_check(set == NULL, "%s: attached", path);
    tap_check(strstr(fault.reason, reason) != NULL, "%s: %s", path, fault.reason);
    key_set_free(set);
}

static void refused(const char *path, const char *reason)
{
    refused_with(path, inode_of(path), reason);
}

static void files_that_are_none(void)
{
    static const char text[] = "these are no keys";
    struct fault fault;
    refused(scratch_path("absent"), "by another name");
    refused(scratch_directory, "");
    write_file(scratch_path("short"), text, sizeof text, 0);
    refused(scratch_path("short"), "not a file of lines in flight");
    write_file(scratch_path("text"), text, sizeof text, 0);
    write_file(scratch_path("text"), text, sizeof text, 100000);
    refused(scratch_path("text"), "not a file of lines in flight");
    if (mkfifo(scratch_path("fifo"), 0600) == 0)
        refused(scratch_path("fifo"), "not a file of lines in flight");
    if (symlink("short", scratch_path("link")) == 0)
        refused_with(scratch_path("link"), inode_of(scratch_path("short")), "by another name");

    /* One that is not the writer's, one that says that it has more than the file can hold. */
    struct key_set *owner = key_set_made(scratch_path("other"));
    refused_with(scratch_path("other"), key_set_mark(owner) + 1, "by another name");
    struct key_set *other = key_set_attach(scratch_path("other"), beside, key_set_mark(owner),
                                           &fault);
    tap_check(other != NULL, "%s", fault.reason);
    for (unsigned segments = 2; segments < 256; segments *= 3) {
        uint8_t byte = (uint8_t)segments;
        write_file(scratch_path("other"), &byte, 1, 8);
        refused(scratch_path("other"), "damaged");
        tap_check(other != NULL && key_set_refresh(other, &fault) != 0, "%u segments are believed",
                  segments);
    }
    key_set_free(other);
    key_set_free(owner);
}

int main(void)
{
    scratch_make();
    beside = open(scratch_directory, O_RDONLY | O_CLOEXEC);
    tap_run("a set over several segments", set);
    tap_run("keys of zeros and of ones", special_keys);
    tap_run("others look into it", others);
    tap_run("without a name", nameless);
    tap_run("chosen keys", chosen_keys);
    tap_run("files that are none, or damaged", files_that_are_none);
    return tap_end();
}
