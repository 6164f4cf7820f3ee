/*
 * internal - a queue as the files of this directory see it: queue.c opens, locks and counts;
 * lines.c pushes, takes and removes; segment.c knows files and records.
 */
#ifndef UNSEEN_QUEUE_INTERNAL_H
#define UNSEEN_QUEUE_INTERNAL_H

#include "io/side_file.h"
#include "queue/queue.h"

#include <inttypes.h>
#include <stdbool.h>
#include <sys/stat.h>

/* An open segment, or FILTER.failed, mapped. */
struct segment {
    uint64_t number;
    int fd;
    char *bytes;
    size_t length; /* of the whole records; 0: not mapped */
    uint64_t size; /* of the file */
};

/* About QUEUE_CHUNK bytes are moved at a time; a process holds at most that many locks and
 * segments. */
enum { QUEUE_CHUNK = 256 << 10, QUEUE_HOLDINGS = 1024, QUEUE_OPEN = 128 };

/* All waiting records of a segment from `at` to `end`, which this process holds under one lock. */
struct holding {
    struct segment *segment;
    size_t at, end;
    uint64_t lines;
    size_t bytes; /* of the lines */
};

struct queue {
    struct queue_plan plan;
    const char *filter_path;
    char path[SIDE_FILE_NAME_MAX], failed_path[SIDE_FILE_NAME_MAX];
    int filter;    /* the caller's descriptor of the filter, for its lock and byte 8232 */
    int directory; /* -1: there is no queue yet */
    struct stat filter_stat;
    struct stat directory_stat;
    char *buffer; /* of lines or records */
    size_t capacity;

    uint64_t taken_over;           /* lines that another filter has left */
    uint64_t dirty_from, dirty_to; /* segments to be flushed; from 0: none */

    /* Taking: */
    struct segment open[QUEUE_OPEN];
    unsigned open_count; /* the last one was read up to `at` */
    size_t at;
    uint64_t held_for; /* milliseconds of the lock, by the last take */
    struct holding holdings[QUEUE_HOLDINGS];
    unsigned holding_count;
};

/* --- queue.c --- */

/* Opens the directory if the filter has a queue, or checks that the name still leads to it. Returns
 * 1; 0 if there is no queue; -1 with the fault. */
int queue_find(struct queue *queue, struct fault *fault);

/* Takes the lock. Returns 1; 0 if there is no queue yet; -1 with the fault, and without the
 * lock. */
int queue_lock(struct queue *queue, struct fault *fault);
void queue_unlock(struct queue *queue);

/* Makes the buffer at least that large. Returns 0, or -1 with the fault. */
int queue_reserve(struct queue *queue, size_t bytes, struct fault *fault);

/* --- segment.c --- */

/* Reads a directory, called `path`: next = the first segment after number `after`, last = the last;
 * 0 if none; foreign = a file that is no segment, or "". Returns 0, or -1 with the fault. */
struct segments {
    uint64_t next, last;
    char foreign[NAME_MAX + 1];
};
int segments_find(struct segments *segments, int directory, const char *path, uint64_t after,
                  struct fault *fault);

/* Opens a segment, or makes it with O_CREAT. Returns a descriptor, or -1 with the fault. */
int segment_open(const struct queue *queue, uint64_t number, int flags, struct fault *fault);

/* Opens the segment after *segment into *segment. Returns 1, 0 if there is none, or -1 with the
 * fault. */
int segment_open_next(const struct queue *queue, struct segment *segment, int flags,
                      struct fault *fault);

/* The size of a file, and the end of its last whole record or line. Returns 0, or -1 with the
 * fault, of the object `name`. */
int segment_measure(int fd, char delimiter, uint64_t *size, uint64_t *end, const char *name,
                    struct fault *fault);

/* Maps the whole records; again, if their number has changed. Returns as above. */
int segment_map(struct segment *segment, bool write, char delimiter, const char *name,
                struct fault *fault);
/* Also drops the locks on its bytes. */
void segment_close(struct segment *segment);

/* Deletes a segment that is not the last, if all its records are removed. */
void segment_remove_if_done(const struct queue *queue, const struct segment *segment);

struct record {
    size_t at;  /* of its status */
    size_t end; /* after its delimiter */
    char status;
};

static inline bool record_waits(const struct record *record)
{
    return record->status == ' ' || (record->status >= '1' && record->status <= '9');
}

/* The first record at or after `from`, where a record begins. False: there are no more whole
 * ones. */
bool segment_next(const struct segment *segment, size_t from, char delimiter,
                  struct record *record);

/* Locks bytes from..to (F_WRLCK), or drops the lock (F_UNLCK). Returns 1; 0 if another process has
 * a lock there; -1 with errno. */
int segment_lock(const struct segment *segment, short type, size_t from, size_t to);

/* Whether another process has locked the byte at `at`. *until: in, how far to look; out, up to
 * where the answer holds. */
bool segment_is_held(const struct segment *segment, uint64_t at, uint64_t *until);

#endif
