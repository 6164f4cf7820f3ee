/*
 * internal - a queue as the files of this directory see it: segment.c knows records, queue.c opens
 * and locks, push.c appends, take.c takes and removes, facts.c counts.
 */
#ifndef UNSEEN_QUEUE_INTERNAL_H
#define UNSEEN_QUEUE_INTERNAL_H

#include "io/side_file.h"
#include "queue/queue.h"

#include <inttypes.h>
#include <stdbool.h>
#include <sys/stat.h>

/* --- segment.c: one file of a queue, and its records --- */

#define SEGMENT_NAME "%010" PRIu64 /* of its number */

/* Reads a directory, called `path`: next = the first segment after number `after`, last = the last;
 * 0 if none; foreign = a file that is no segment, or "". Returns 0, or -1 with the fault. */
struct segments {
    uint64_t next, last;
    char foreign[NAME_MAX + 1];
};
int segments_find(struct segments *segments, int directory, const char *path, uint64_t after,
                  struct fault *fault);

/* An open segment, mapped. */
struct segment {
    uint64_t number;
    int fd;
    char *bytes;
    size_t length; /* of the whole records; 0: not mapped */
    uint64_t size; /* of the file */
};

struct record {
    size_t at;  /* of its status */
    size_t end; /* after its delimiter */
    char status;
};

static inline bool record_waits(const struct record *record)
{
    return record->status == ' ' || (record->status >= '1' && record->status <= '9');
}

/* The size of a file, and the end of its last whole record or line. Returns 0, or -1 with the
 * fault, of the object `name`. */
int segment_measure(int fd, char delimiter, uint64_t *size, uint64_t *end, const char *name,
                    struct fault *fault);

/* Maps the whole records; again, if their number has changed. Returns as above. */
int segment_map(struct segment *segment, bool write, char delimiter, const char *name,
                struct fault *fault);
/* Also drops the locks on its bytes. */
void segment_close(struct segment *segment);

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

/* --- the queue --- */

/* About so many bytes are moved at a time; and how much a process holds at most. */
enum { QUEUE_CHUNK = 256 << 10, QUEUE_RUNS = 1024, QUEUE_OPEN = 128 };

/* Records that this process holds: all waiting records from `at` to `end`, under one lock. */
struct run {
    struct segment *segment;
    size_t at, end;
    uint64_t lines;
    size_t bytes; /* of the lines */
};

struct queue {
    struct queue_plan plan;
    const char *filter_path;
    char path[SIDE_FILE_NAME_MAX], failed_path[SIDE_FILE_NAME_MAX];
    int filter;    /* a descriptor of the filter, for its lock and byte 8232 */
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
    struct run runs[QUEUE_RUNS];
    unsigned run_count;
};

/* A queue of which nothing is open yet. NULL with the fault. */
struct queue *queue_new(const char *filter, const struct queue_plan *plan, struct fault *fault);

/* Opens the directory if the filter has a queue, or checks that the name still leads to it. Returns
 * 1; 0 if there is no queue; -1 with the fault. */
int queue_find(struct queue *queue, struct fault *fault);

/* Takes the lock. Returns 1; 0 if there is no queue yet; -1 with the fault, and without the
 * lock. */
int queue_lock(struct queue *queue, struct fault *fault);
void queue_unlock(struct queue *queue);

/* Opens a segment, or makes it with O_CREAT. Returns a descriptor, or -1 with the fault. */
int queue_open_segment(const struct queue *queue, uint64_t number, int flags, struct fault *fault);

/* Opens the segment after *segment into *segment. Returns 1, 0 if there is none, or -1 with the
 * fault.
 */
int queue_next_segment(const struct queue *queue, struct segment *segment, int flags,
                       struct fault *fault);

void queue_close_segments(struct queue *queue);

/* Makes the buffer at least that large. Returns 0, or -1 with the fault. */
int queue_make_room(struct queue *queue, size_t bytes, struct fault *fault);

/* Counts what is in FILTER.queue, and beside it in FILTER.failed, of a queue that may be another
 * filter's. All is 0 if there is no such directory. Returns 0, or -1 with the fault. */
struct left {
    struct queue_facts facts;
    char delimiter; /* as most records have it */
    bool is_queue;  /* there is such a directory */
};
int queue_look_left(struct queue *queue, struct left *left, struct fault *fault);

/* Returns -1 with the fault if lines wait or were given up there, else 0. `kind`: of the filter's
 * queue; `exists`: whether there is a filter. */
int queue_refuse_left(const struct queue *queue, const struct left *left, uint8_t kind, bool exists,
                      struct fault *fault);

/* Under the lock: opens the segment to append to, and cuts off its rest. Returns a descriptor with
 * *end; or -1 with the fault. */
int queue_open_back(struct queue *queue, uint64_t *end, struct fault *fault);

#endif
