/*
 * state - which bytes of a queue are still needed, and by whom: as bytes, and as numbers.
 *
 * Positions count the bytes that were ever put into the queue, and the state is a list of ranges of
 * them: the specification is the comment at the head of state.c. These functions do no I/O.
 */
#ifndef UNSEEN_QUEUE_STATE_H
#define UNSEEN_QUEUE_STATE_H

#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QUEUE_HEAD_BYTES = 4096, /* written once */
    QUEUE_RANGES = 1 + 1024,
    QUEUE_RANGE_BYTES = 24,
    QUEUE_FIXED_BYTES = 40, /* of a copy, before the ranges */
    /* Each of the two copies, in whole pages. */
    QUEUE_COPY_BYTES = (QUEUE_FIXED_BYTES + QUEUE_RANGES * QUEUE_RANGE_BYTES + 4095) / 4096 * 4096,
    QUEUE_STATE_BYTES = QUEUE_HEAD_BYTES + 2 * QUEUE_COPY_BYTES
};

struct queue_head {
    uint8_t uuid[UUID_BYTES]; /* of the filter */
    uint64_t segment_bytes;   /* a segment as long as this gets no more lines */
};

struct queue_range {
    uint64_t begin, end;
    uint64_t lines;
    bool taken; /* by a worker that has not given it back: if nobody locks it, that worker died */
};

struct queue_state {
    uint64_t sequence; /* of two copies, the one with the higher number counts */
    uint64_t oldest;   /* where the oldest segment begins */
    uint64_t newest;   /* where the one that is written to begins; the tail if there is none */
    char delimiter;    /* of its lines; a copy in which it is not known leaves it as it was */
    bool known;        /* it is: something was put in, or is about to be */
    unsigned used;     /* at least 1; ranges from this one on are empty */
    /* First what nobody has taken yet, up to the tail; then what somebody took: out while a live
     * worker holds the lock of the range. */
    struct queue_range ranges[QUEUE_RANGES];
};

void queue_head_encode(const struct queue_head *head, uint8_t bytes[QUEUE_HEAD_BYTES]);
/* Returns 0, or -1 with the fault, which names `path`. */
int queue_head_decode(const uint8_t bytes[QUEUE_HEAD_BYTES], const char *path,
                      struct queue_head *head, struct fault *fault);

/* Returns how many bytes of the copy are used. */
size_t queue_state_encode(const struct queue_state *state, uint8_t bytes[QUEUE_COPY_BYTES]);

/* How long a copy is that begins with these bytes (QUEUE_FIXED_BYTES): at most QUEUE_COPY_BYTES. */
size_t queue_state_length(const uint8_t *bytes);

/* Whether the copy is whole and makes sense; if not, `state` means nothing. */
bool queue_state_decode(const uint8_t *bytes, struct queue_state *state);

static inline bool queue_range_is_empty(const struct queue_range *range)
{
    return range->begin == range->end;
}

static inline uint64_t queue_state_tail(const struct queue_state *state)
{
    return state->ranges[0].end;
}

/* Whether the numbers can be those of a queue, as the specification has it. */
bool queue_state_is_sound(const struct queue_state *state);

/* The lowest position that is still needed; the tail if none is. It never falls. */
uint64_t queue_state_lowest(const struct queue_state *state);

/* All lines that wait or are out. */
uint64_t queue_state_lines(const struct queue_state *state);

#endif
