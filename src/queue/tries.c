#include "queue/tries.h"

#include "queue/internal.h"
#include "system/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RECORD_BYTES = 32 };

static const char name[] = "tries", new_name[] = "tries.new", what[] = "its counts of tries";

struct record {
    uint64_t begin, end;
    uint64_t sum;
    uint32_t tries;
};

/* --- records in the file --- */

static void encode(const struct record *record, uint8_t bytes[RECORD_BYTES])
{
    store64(bytes, record->begin);
    store64(bytes + 8, record->end);
    store64(bytes + 16, record->sum);
    store32(bytes + 24, record->tries);
    store32(bytes + 28, (uint32_t)hash_checksum(bytes, 28));
}

/* Returns whether it is one. */
static bool read_record(int fd, uint64_t number, struct record *record)
{
    uint8_t bytes[RECORD_BYTES];
    if (whole_read_at(fd, bytes, sizeof bytes, number * RECORD_BYTES) != sizeof bytes)
        return false;
    *record = (struct record){load64(bytes), load64(bytes + 8), load64(bytes + 16),
                              load32(bytes + 24)};
    return load32(bytes + 28) == (uint32_t)hash_checksum(bytes, 28) &&
           record->begin < record->end && record->tries > 0;
}

/* How many records there are. Half a one at the end is none: its writer was killed, or it was cut
 * off. */
static uint64_t count_records(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? (uint64_t)status.st_size / RECORD_BYTES : 0;
}

/* The first of `count` records that ends after `at`, or `count`. Returns 0, or -1 if one on the way
 * is none. */
static int search(int fd, uint64_t at, uint64_t count, uint64_t *first)
{
    struct record record;
    *first = 0;
    while (*first < count) {
        uint64_t middle = *first + (count - *first) / 2;
        if (!read_record(fd, middle, &record))
            return -1;
        if (record.end > at)
            count = middle;
        else
            *first = middle + 1;
    }
    return 0;
}

/* --- written --- */

static uint64_t sum_of(const struct queue_lines *lines)
{
    return hash_checksum(lines->bytes, lines->length < QUEUE_CHUNK ? lines->length : QUEUE_CHUNK);
}

/* What the file says of places at or after that of `record`, and half a record, is cut off. */
static int write_record(struct queue *queue, int fd, const struct record *record)
{
    uint8_t bytes[RECORD_BYTES];
    uint64_t number, count = count_records(fd);
    if (search(fd, record->begin, count, &number) != 0) {
        queue->uncounted = true;
        number = 0;
    }
    encode(record, bytes);
    off_t at = (off_t)(number * RECORD_BYTES);
    if (ftruncate(fd, at) != 0)
        return -1;
    if (whole_write_at(fd, bytes, sizeof bytes, (uint64_t)at) == sizeof bytes)
        return 0;
    int error = errno;
    (void)!ftruncate(fd, at);
    errno = error;
    return -1;
}

int tries_note(struct queue *queue, uint64_t begin, const struct queue_lines *lines, uint32_t tries,
               struct fault *fault)
{
    struct record record = {begin, begin + lines->length, sum_of(lines), tries};
    int fd = queue_open_file(queue, name, O_RDWR);
    int result = fd >= 0 ? write_record(queue, fd, &record) : -1;
    if (result != 0)
        queue_fault_file(queue, name, what, fault);
    if (fd >= 0)
        close(fd);
    return result;
}

/* --- found --- */

/* Whether it was written for the lines that are there now: 1, 0, or -1 if they cannot be read. */
static int is_of_lines(struct queue *queue, const struct record *record, struct fault *fault)
{
    struct queue_lines lines;
    uint64_t length = record->end - record->begin;
    if (record->end > queue_state_tail(&queue->state))
        return 0;
    if (queue_read_bytes(queue, record->begin, record->end, &lines, fault) != 0)
        return fault->error == 0 ? 0 : -1;
    return lines.length == (length < QUEUE_CHUNK ? length : QUEUE_CHUNK) &&
           sum_of(&lines) == record->sum;
}

/* Returns 1; 0 if what the file says cannot be believed; -1 with the fault. */
static int find_in(struct queue *queue, int fd, uint64_t at, uint64_t *end, uint32_t *tries,
                   struct fault *fault)
{
    struct record record = {.begin = UINT64_MAX};
    uint64_t number, count = count_records(fd);
    if (search(fd, at, count, &number) != 0 ||
        (number < count && !read_record(fd, number, &record)))
        return 0;
    if (record.begin >= *end)
        return 1;
    int is = is_of_lines(queue, &record, fault);
    bool covers = record.begin <= at;
    uint64_t change = covers ? record.end : record.begin;
    if (is > 0 && covers)
        *tries = record.tries;
    if (is > 0 && change < *end)
        *end = change;
    return is;
}

int tries_find(struct queue *queue, uint64_t at, uint64_t *end, uint32_t *tries,
               struct fault *fault)
{
    *tries = 0;
    int fd = segment_open_named(queue->directory, name, O_RDONLY);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && errno != EINVAL)
        return queue_fault_file(queue, name, what, fault);
    int result = fd >= 0 ? find_in(queue, fd, at, end, tries, fault) : 0;
    if (fd >= 0)
        close(fd);
    if (result == 0) {
        queue->uncounted = true;
        (void)unlinkat(queue->directory, name, 0);
    }
    return result < 0 ? -1 : 0;
}

/* --- forgotten --- */

static bool copy_records(int from, int to, uint64_t first, uint64_t count)
{
    char bytes[256 * RECORD_BYTES];
    for (uint64_t at = first * RECORD_BYTES, end = count * RECORD_BYTES, out = 0; at < end;) {
        size_t n = end - at < sizeof bytes ? (size_t)(end - at) : sizeof bytes;
        if (whole_read_at(from, bytes, n, at) != n || whole_write_at(to, bytes, n, out) != n)
            return false;
        at += n;
        out += n;
    }
    return true;
}

/* The records from the first one on become the file. If that cannot be done, it stays as it is. */
static void keep_from(const struct queue *queue, int fd, uint64_t first, uint64_t count)
{
    (void)unlinkat(queue->directory, new_name, 0);
    int to = queue_open_file(queue, new_name, O_RDWR);
    if (to < 0)
        return;
    if (!copy_records(fd, to, first, count) ||
        renameat(queue->directory, new_name, queue->directory, name) != 0)
        (void)unlinkat(queue->directory, new_name, 0);
    close(to);
}

void tries_forget(const struct queue *queue, uint64_t off)
{
    uint64_t first;
    int fd = segment_open_named(queue->directory, name, O_RDONLY);
    if (fd < 0)
        return;
    uint64_t count = count_records(fd);
    if (search(fd, off, count, &first) != 0)
        first = 0;
    if (first > 0 && first < count)
        keep_from(queue, fd, first, count);
    if (first == count) {
        (void)unlinkat(queue->directory, new_name, 0);
        (void)unlinkat(queue->directory, name, 0);
    }
    close(fd);
}
