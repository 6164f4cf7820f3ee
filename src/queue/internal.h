/*
 * internal - what the files of this room share: segment.c knows records, queue.c opens and locks,
 * push.c appends, take.c takes, facts.c looks.
 */
#ifndef UNSEEN_QUEUE_INTERNAL_H
#define UNSEEN_QUEUE_INTERNAL_H

#include "queue/queue.h"
#include "system/side_file.h"

#include <inttypes.h>
#include <stdbool.h>
#include <sys/stat.h>

/* --- segment.c: one file of a queue, and its records --- */

#define SEGMENT_NAME "%010" PRIu64 /* of its number */

/* What is in a directory, called `path`: the first segment after a number, and the last, or 0; and
 * the name of something that is none, or "". Returns 0, or -1 with the fault. */
struct segments {
    uint64_t next, last;
    char foreign[NAME_MAX + 1];
};
int segments_find(struct segments *segments, int directory, const char *path, uint64_t after,
                  struct fault *fault);

/* A segment that is open, and mapped. */
struct segment {
    uint64_t number;
    int fd;
    char *bytes;
    size_t length; /* of its whole records; 0: not mapped */
    uint64_t size; /* of the file */
};

struct record {
    size_t at;  /* of its status */
    size_t end; /* behind its delimiter */
    char status;
};

static inline bool record_waits(const struct record *record)
{
    return record->status == ' ' || (record->status >= '1' && record->status <= '9');
}

/* How long a file is, and where its last whole record, or line, ends. Returns 0, or -1 with the
 * fault, which is of `name`. */
int segment_measure(int fd, char delimiter, uint64_t *size, uint64_t *end, const char *name,
                    struct fault *fault);

/* Maps its whole records; again, if there are more or fewer now. As above. */
int segment_map(struct segment *segment, bool write, char delimiter, const char *name,
                struct fault *fault);
/* Drops the locks on it, too. */
void segment_close(struct segment *segment);

/* The first record at or after `from`, where one begins. False: there is no other whole one. */
bool segment_next(const struct segment *segment, size_t from, char delimiter,
                  struct record *record);

/* Locks bytes of it (F_WRLCK), or drops the lock (F_UNLCK). Returns 1; 0 if somebody else has some
 * of them; -1 with errno. */
int segment_lock(const struct segment *segment, short type, size_t from, size_t to);

/* Whether somebody else has locked the byte at `at`. *until: how far to look; and then, how far the
 * answer holds. */
bool segment_is_held(const struct segment *segment, uint64_t at, uint64_t *until);

/* --- the queue --- */

/* About so many bytes are moved at once; and so much a process holds at most. */
enum { QUEUE_CHUNK = 256 << 10, QUEUE_RUNS = 1024, QUEUE_OPEN = 128 };

/* Records that are held here, all of those that wait between two places. One lock. */
struct run {
    struct segment *segment;
    size_t at, end;
    uint64_t lines;
    size_t bytes; /* in these */
};

struct queue {
    struct queue_plan plan;
    const char *filter_path;
    char path[SIDE_FILE_NAME_MAX], failed_path[SIDE_FILE_NAME_MAX];
    int filter;    /* a descriptor of the filter, for the lock and the byte */
    int directory; /* -1: there is no queue yet */
    struct stat filter_stat;
    struct stat directory_stat;
    char *buffer; /* of lines, or records, on their way */
    size_t capacity;

    uint64_t dirty_from, dirty_to; /* segments that were appended to; from 0: all are flushed */

    /* What is taken from. */
    struct segment open[QUEUE_OPEN];
    unsigned open_count; /* the last one is looked through, up to `at` */
    size_t at;
    struct run runs[QUEUE_RUNS];
    unsigned run_count;
};

/* Opens the directory, if the filter says that there is one, or asks whether the name still leads
 * to it. Returns 1; 0 if there is no queue; -1 with the fault. */
int queue_find(struct queue *queue, struct fault *fault);

/* Takes the lock. Returns 1; 0 if nobody has made a queue; -1, without the lock, with the fault. */
int queue_lock(struct queue *queue, struct fault *fault);
void queue_unlock(struct queue *queue);

/* Opens a segment, or, with O_CREAT, makes it. Returns a descriptor, or -1 with the fault. */
int queue_open_segment(const struct queue *queue, uint64_t number, int flags, struct fault *fault);

/* Opens the segment after that of *segment, which becomes that. Returns 1, 0 if there is none, or
 * -1 with the fault. */
int queue_next_segment(const struct queue *queue, struct segment *segment, int flags,
                       struct fault *fault);

void queue_close_segments(struct queue *queue);

/* Gives the buffer so much room, and some more. Returns 0, or -1 with the fault. */
int queue_make_room(struct queue *queue, size_t bytes, struct fault *fault);

/* Under the lock: opens the segment to append to, its rest cut away. Returns a descriptor, and its
 * end; or -1 with the fault. */
int queue_open_back(struct queue *queue, uint64_t *end, struct fault *fault);

#endif
