/*
 * shared - the page of a filter file that changes, and the keys in flight after it.
 *
 * Page 2 changes all the time and has no checksum. Nothing in it is believed: wrong counters only
 * make the filter grow late or early, and a writer mends those that are far below what the bits
 * tell. Every word of it is read and written whole.
 *
 * Times are milliseconds since 1970-01-01 UTC, none less than any that was written before. One
 * above 10^13 means nothing.
 *
 * The keys in flight are 16 bytes each, lo then hi. Slot 0 has room for half of the flight keys,
 * each further one for half as many as the one before, but for at least 8. A slot counts only while
 * its owner holds a lock on byte 2^62 + 1 + slot of the file (an open file description lock; no
 * file has bytes so far from its start). Byte 2^62 is the lock for bits, counters and slots; byte
 * 2^62 + 4096 the one for layer records and their count; byte 2^62 + 4097 that of the queue.
 *
 * In a counting filter the last page of the fixed part is the journal: what a remove is changing,
 * as it was before, so that a remove that is killed can be undone (removal.c). It has no checksum
 * and is not believed: it is used only if the layer is as the journal says.
 *
 *        0    4  1 if it means something, else 0
 *        4    4  layer, from 0
 *        8   16  the key that is being removed, lo then hi
 *       64 g*64  the key's lines as they were
 */
#ifndef UNSEEN_FORMAT_SHARED_H
#define UNSEEN_FORMAT_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COUNTER_SETTLED_AT = 8192, /*      8 how often keys in flight were settled */
    STAGE_EMPTIED_AT = 8200,   /*      8 how often a stage was emptied */
    STAGE_EMPTYING_AT = 8208,  /*      8 the layer whose stage is being emptied, from 1 on; or 0 */
    STAGE_SETTING_AT = 8216,   /*      8 while keys go into a stage: how many it had, plus 1 */
    STAGE_SET_IN_AT = 8224,    /*      8 while they do: its layer, from 0 on */
    QUEUE_AT = 8232,           /*      1 the kind of queue beside the filter, as below */
    LAYER_STATES_AT = 9216,    /*  48*64 the state of each layer */
    SLOTS_AT = 12288,          /* 128*16 slots of writers */
    FLIGHT_AT = 14336          /*        the keys in flight */
};

/* FILTER.queue, set by the first push, with LOCK_QUEUE (queue/queue.h). */
enum { QUEUE_NONE = 0, QUEUE_OF_LINES = 1, QUEUE_OF_NULS = 2 };

/* The state of a layer: a cache line of its own. */
enum {
    LAYER_KEYS = 0,     /*  8 keys in it */
    LAYER_STAGED = 8,   /*  8 keys in its stage */
    WINDOW_LAST = 16,   /*  8 of a window by time: when it last got keys */
    WINDOW_NUMBER = 24, /* 8 of a window: number of its generation, or one of the two below */
    WINDOW_BEGAN = 32,  /*  8 of a window: when the generation began */
    LAYER_STATE_BYTES = 64
};

/* A slot. */
enum {
    SLOT_COUNT = 0, /* 4 keys in flight in this file */
    SLOT_HOLDS = 4, /* 4 1 if its writer has more, in the file FILTER.flight-SLOT, else 0 */
    SLOT_MARK = 8,  /* 8 the inode number of that file */
    SLOT_BYTES = 16
};

/* The largest number is filling, smaller ones are older. These are of no generation: the layer is
 * empty; it is being emptied. */
#define GENERATION_FREE UINT64_C(0)
#define GENERATION_RETIRED UINT64_MAX
/* With WINDOW_LAST: the clock told less than had been written before. */
#define WINDOW_BEHIND (UINT64_C(1) << 63)
/* No clock tells a later time: Linux's own ends in the year 2262, this in 2286. */
#define WINDOW_TIME_MAX UINT64_C(10000000000000)

enum {
    KEY_BYTES = 16,
    SLOTS_MAX = 128,
    SLOT_KEYS_MIN = 8,
    FLIGHT_KEYS_MIN = 32,
    FLIGHT_KEYS_MAX = 4096,
    JOURNAL_BYTES = 4096
};

/* Where the state of a layer begins, and its two counters; and where a slot. */
static inline size_t layer_state_at(unsigned layer)
{
    return LAYER_STATES_AT + (size_t)layer * LAYER_STATE_BYTES;
}

static inline size_t keys_at(unsigned layer)
{
    return layer_state_at(layer) + LAYER_KEYS;
}

static inline size_t staged_at(unsigned layer)
{
    return layer_state_at(layer) + LAYER_STAGED;
}

static inline size_t slot_at(unsigned slot)
{
    return SLOTS_AT + (size_t)slot * SLOT_BYTES;
}

/* First key and number of keys of a slot, in keys from FLIGHT_AT. */
uint64_t slot_first(uint64_t flight_keys, unsigned slot);
uint64_t slot_room(uint64_t flight_keys, unsigned slot);

/* Bytes of the whole fixed part for so many flight keys. */
uint64_t fixed_bytes(uint64_t flight_keys, bool counting);

/* The flight keys that suit a first layer of so many pages: their bytes are at most 1/64 of it. */
uint64_t flight_keys_for(uint64_t pages, bool fixed);

#endif
