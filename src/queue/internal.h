/*
 * internal - what the files of queue.h share. For nobody else.
 *
 * Calls go down this list, and never up:
 *
 *     facts  mend  make  take    what can be done with a queue
 *     failed                     lines that were given up
 *     drain  append  tries       lines: the segments they leave and enter; what CMDs failed on
 *     read                       the segments that they lie in
 *     queue                      opening and locking one
 *     state_file                 FILTER.queue/state on disk
 *     damage  segment  state     what is said of a broken one; files of lines; bytes and numbers
 */
#ifndef UNSEEN_QUEUE_INTERNAL_H
#define UNSEEN_QUEUE_INTERNAL_H

#include "queue/queue.h"
#include "queue/segment.h"
#include "queue/state.h"
#include "queue/tries.h"
#include "system/beside.h"

/* How much is read at a time, in bytes, unless a line is longer. */
enum { QUEUE_CHUNK = 256 * 1024 };

struct queue {
    char *path;
    int directory;
    int fd; /* of the state; -1: read only, and not made yet */
    struct queue_head head;
    struct queue_state state; /* as it was under the lock */
    uint8_t copies[2][QUEUE_COPY_BYTES];
    unsigned older;    /* of the copies in the file, the one that is to be written first */
    struct stat like;  /* of the filter: what is made here takes after it; st_nlink 0: not known */
    uint64_t max_line; /* with its end */
    lock_waits *waits;
    bool durable;
    int sync_error; /* of a segment that is not written to any more */
    int notify;     /* inotify, or -1 */

    /* The segments that were used last: one to read, one to write. */
    int read_fd, write_fd;
    uint64_t read_start, write_start;
    char *buffer;
    size_t capacity;

    /* What is out here: ranges whose lock this process holds. */
    bool own[QUEUE_RANGES];
    unsigned owned;
    unsigned last;            /* the range with the lines taken last */
    struct queue_lines taken; /* these */
    uint64_t refused_bytes, refused_lines;
    struct queue_range rest; /* the end of range `last`, which is locked but not taken (take.c) */
    bool uncounted;          /* counts of tries could not be believed */
};

/* --- damage --- */

/* What the user can do about a damaged queue. Returns -1. */
int queue_way_out(const struct queue *queue, struct fault *fault);
int queue_damaged(const struct queue *queue, const char *what, struct fault *fault);
/* What a call of segment.h could not do, by its errno. fault->error is 0 if that is damage. */
int queue_fault_segment(const struct queue *queue, struct fault *fault);
/* The same of another file in the directory: `what` it is. */
int queue_fault_file(const struct queue *queue, const char *name, const char *what,
                     struct fault *fault);

/* --- state_file --- */

/* Opens the state, made if it is opened for writing and there is nothing yet. Returns 1; 0 if there
 * is none; -1. */
int queue_open_state(struct queue *queue, bool write, struct fault *fault);
/* Makes the state of a new queue, with `head`. Returns 0; 1 if there is one; -1 with errno. */
int queue_make_state(struct queue *queue);
/* Reads the state: the newer of its copies that is sound. Returns 0 or -1. */
int queue_load(struct queue *queue, struct fault *fault);
/* Under the lock: writes the state. Returns 0, or -1 with the fault, and the state on disk is as it
 * was. */
int queue_save(struct queue *queue, struct fault *fault);

/* Gives an open file of the queue the filter's owner, group and mode, as far as that can be. */
static inline void queue_follow(const struct queue *queue, int fd)
{
    if (queue->like.st_nlink != 0)
        beside_take_after(fd, &queue->like);
}

/* --- queue --- */

/* In steps: one that is not open; its directory. */
struct queue *queue_new(const char *filter, struct fault *fault);
int queue_open_directory(struct queue *queue, struct fault *fault);
/* Opens a plain file in the directory to be written, made if it is not there. Returns a descriptor,
 * or -1 with errno, which is EINVAL if something else has the name. */
int queue_open_file(const struct queue *queue, const char *name, int flags);
/* Whether a name in the directory is that of the open file. */
bool queue_names(const struct queue *queue, const char *name, int fd);
/* Whether the queue is still what its name leads to. Returns 0 or -1. */
int queue_check_name(const struct queue *queue, struct fault *fault);
/* Takes the lock and reads the state. Returns 0, or -1 with the fault and without the lock. */
int queue_begin(struct queue *queue, struct fault *fault);
void queue_end(struct queue *queue);

/* The lock of a range but the first. */
static inline unsigned queue_lock(unsigned range)
{
    return LOCK_SLOT + range - 1;
}

/* --- read --- */

/* Under the lock: how long a segment is that is not written to any more. If it is gone, because a
 * process was killed while it removed drained ones, *start moves to the next there is. */
int queue_segment_length(const struct queue *queue, uint64_t *start, uint64_t *length,
                         struct fault *fault);
/* Reads lines of begin..end into the buffer: at most `most`, a chunk of them, but at least one.
 * Returns 0 or -1. */
int queue_read_lines(struct queue *queue, uint64_t begin, uint64_t end, uint64_t most,
                     struct queue_lines *lines, struct fault *fault);
/* The same for what is within the segment that begins at `start`. */
int queue_read_segment(struct queue *queue, uint64_t start, uint64_t begin, uint64_t end,
                       uint64_t most, struct queue_lines *lines, struct fault *fault);
/* Reads whatever bytes there are at `begin`, a chunk of them at most, within one segment. Returns 0
 * or -1, which is also said of a segment that does not end with a line. */
int queue_read_bytes(struct queue *queue, uint64_t begin, uint64_t end, struct queue_lines *lines,
                     struct fault *fault);
/* How many of the bytes are whole lines, from the first on; how many delimiters are among them. */
size_t queue_whole_lines(const struct queue *queue, const char *bytes, size_t length);
uint64_t queue_count_lines(const struct queue *queue, const char *bytes, size_t length);

/* --- failed --- */

/* How many lines there are in FILTER.queue/failed: 0 if there is none. Returns 0 or -1. */
int queue_count_failed(const struct queue *queue, uint64_t *lines, struct fault *fault);

/* --- append --- */

/* Under the lock: puts whole lines in, as queue_append, but does not save. They have had so many
 * tries. */
size_t queue_append_unsaved(struct queue *queue, const char *bytes, size_t length, uint32_t tries,
                            struct fault *fault);

/* --- drain --- */

/* Without the lock, after it was held: removes the segments of which nothing is needed any more. */
void queue_drain(struct queue *queue);

#endif
