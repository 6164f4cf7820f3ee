/*
 * queue_internal - what the files behind queue.h share: queue.c (opening, putting in), queue_take.c
 * (taking out). For nobody else.
 */
#ifndef UNSEEN_FILE_QUEUE_INTERNAL_H
#define UNSEEN_FILE_QUEUE_INTERNAL_H

#include "file/queue.h"
#include "file/queue_state.h"

struct queue {
    char *path;
    int directory;
    int fd; /* of the state; -1: read only, and not made yet */
    struct queue_head head;
    struct queue_state state; /* as it was under the lock */
    uint8_t copies[2][QUEUE_COPY_BYTES];
    lock_waits *waits;
    void *waits_context;
    char delimiter;
    bool durable;
    int sync_error; /* of a segment that is no more written to */
    int notify;     /* inotify, or -1 */

    /* The segments that were used last: one to read, one to write. */
    int read_fd, write_fd;
    uint64_t read_start, write_start;

    /* What is out here. */
    bool own[QUEUE_SLOTS];
    unsigned owned;
    char *buffer;
    size_t capacity;
    struct queue_lines taken; /* the last lines */
    unsigned taken_slot;
    uint64_t refused_bytes, refused_lines; /* of them */
    struct queue_take *takes;              /* all, oldest first */
    size_t take_count, take_room;
};

/* A chunk that is out. */
struct queue_take {
    unsigned slot;
    uint64_t bytes, lines; /* that were accepted */
};

/* Takes the lock and reads the state. Returns 0, or -1 with the fault and without the lock. */
int queue_begin(struct queue *queue, struct fault *fault);
void queue_end(struct queue *queue);

/* Reads the state: the newer of its copies that is sound. Returns 0 or -1. */
int queue_load(struct queue *queue, struct fault *fault);

/* Under the lock: writes the state. Returns 0, or -1 with the fault, and the state on disk is as it
 * was. */
int queue_save(struct queue *queue, struct fault *fault);

/* Under the lock: puts whole lines in, as queue_append, but does not save. */
size_t queue_append_unsaved(struct queue *queue, const char *bytes, size_t length,
                            struct fault *fault);

/* Under the lock: how long a segment is that is no more written to. If it is gone, because a process
 * was killed while it removed drained ones, *start moves to the next there is. */
int queue_segment_length(const struct queue *queue, uint64_t *start, uint64_t *length,
                         struct fault *fault);

/* Under the lock: removes the segments of which nothing is needed any more. */
void queue_drain(struct queue *queue);

static inline int queue_damaged(const struct queue *queue, const char *what, struct fault *fault)
{
    fault_set(fault, queue->path, "damaged queue: %s", what);
    return fault_way_out(fault, "what is left of its lines: cat %s/[0-9]*", queue->path);
}

/* Reads lines of begin..end into the buffer: at most `most`, a chunk of them, but at least one.
 * Returns 0 or -1. */
int queue_read_lines(struct queue *queue, uint64_t begin, uint64_t end, uint64_t most,
                     struct queue_lines *lines, struct fault *fault);

/* The same for what is within the segment that begins at `start`. */
int queue_read_segment(struct queue *queue, uint64_t start, uint64_t begin, uint64_t end,
                       uint64_t most, struct queue_lines *lines, struct fault *fault);

/* How many delimiters are among the bytes. */
uint64_t queue_count_lines(const struct queue *queue, const char *bytes, size_t length);

#endif
