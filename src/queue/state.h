/*
 * queue_state - where a queue begins and ends, and what is out: as bytes, and as numbers.
 *
 * The specification is the comment at the head of state.c. These functions do no I/O.
 *
 * Positions count the bytes that were ever put into the queue. What waits is
 *
 *     the ranges of workers that are gone       begin..end of their slots
 *     what live ones did not take of a range    middle..end of their slots
 *     what nobody has taken yet                 front..tail
 *
 * and the lower position comes first. So a worker that dies puts its lines back by doing nothing.
 */
#ifndef UNSEEN_QUEUE_STATE_H
#define UNSEEN_QUEUE_STATE_H

#include "format/header.h"
#include "system/fault.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QUEUE_HEAD_BYTES = 4096, /* written once */
    QUEUE_SLOTS = 1024,
    QUEUE_SLOT_BYTES = 40,
    QUEUE_FIXED_BYTES = 64, /* of a copy, before the slots */
    /* Each of the two copies, in whole pages. */
    QUEUE_COPY_BYTES = (QUEUE_FIXED_BYTES + QUEUE_SLOTS * QUEUE_SLOT_BYTES + 4095) / 4096 * 4096,
    QUEUE_STATE_BYTES = QUEUE_HEAD_BYTES + 2 * QUEUE_COPY_BYTES
};

struct queue_head {
    uint8_t uuid[UUID_BYTES]; /* of the filter */
    uint64_t segment_bytes;   /* a segment as long as this gets no more lines */
};

/* The range of a worker: begin..middle is out while it lives, middle..end waits. */
struct queue_slot {
    uint64_t begin, middle, end;
    uint64_t lines_out, lines_left; /* in begin..middle, in middle..end */
};

struct queue_state {
    uint64_t sequence; /* of two copies, the one with the higher number counts */
    uint64_t front, tail;
    uint64_t lines;   /* in front..tail */
    uint64_t oldest;  /* where the oldest segment begins */
    uint64_t newest;  /* where the one that is written to begins; the tail if there is none */
    char delimiter;   /* of its lines, if that is */
    bool known;       /* known: something was put into it */
    unsigned highest; /* slots from this one on are empty */
    struct queue_slot slots[QUEUE_SLOTS];
};

void queue_head_encode(const struct queue_head *head, uint8_t bytes[QUEUE_HEAD_BYTES]);
/* Returns 0, or -1 with the fault, which names `path`. */
int queue_head_decode(const uint8_t bytes[QUEUE_HEAD_BYTES], const char *path,
                      struct queue_head *head, struct fault *fault);

/* Returns how many bytes of the copy are used. */
size_t queue_state_encode(const struct queue_state *state, uint8_t bytes[QUEUE_COPY_BYTES]);

/* How long a copy is that begins with these bytes (QUEUE_FIXED_BYTES): at most QUEUE_COPY_BYTES. */
size_t queue_state_length(const uint8_t *bytes);

/* Whether the copy is whole and makes sense; only then is `state` filled in. */
bool queue_state_decode(const uint8_t *bytes, struct queue_state *state);

static inline bool queue_slot_is_empty(const struct queue_slot *slot)
{
    return slot->begin == slot->end;
}

/* The lowest position that is still needed. */
uint64_t queue_state_lowest(const struct queue_state *state);

#endif
