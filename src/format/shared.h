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
 * The keys in flight are 16 bytes each, lo then hi, with a table of them (filter/flight.h). Slot 0
 * has room for a batch of them, the next 15 for 8; in others, and if there are more, they are in
 * the file FILTER.flight-NUMBER (format/key_file.h). A slot counts only while its owner holds a
 * lock on byte 2^62 + 1 + slot of the file (an open file description lock; no file has bytes so far
 * from its start). Byte 2^62 is the lock for bits, counters and slots; byte 2^62 + 4096 the one for
 * layer records and their count; then come that of the queue, and that of who waits for a slot.
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
    QUEUE_AT = 8232,           /*      1 the kind of queue beside the filter, as below */
    LAYER_STATES_AT = 9216,    /*  48*64 the state of each layer */
    SLOTS_AT = 12288,          /* 128*32 slots of writers */
    FLIGHT_AT = 16384          /*        the keys in flight */
};

/* FILTER.queue, set by the first push, with LOCK_QUEUE (queue/queue.h). */
enum { QUEUE_NONE = 0, QUEUE_OF_LINES = 1, QUEUE_OF_NULS = 2 };

/* The state of a layer: a cache line of its own. */
enum {
    LAYER_KEYS = 0,      /* 8 keys in it, those in its stage included */
    LAYER_ERA = 8,       /* 8 of its stage; odd: it is in use, even: nothing in it counts */
    WINDOW_LAST = 16,    /* 8 of a window by time: when it last got keys */
    WINDOW_NUMBER = 24,  /* 8 of a window: number of its generation, or one of the two below */
    WINDOW_BEGAN = 32,   /* 8 of a window: when the generation began */
    LAYER_HAS_BITS = 40, /* 8 of a layer with a stage: not 0 before bits are set in the layer */
    LAYER_EMPTYING = 48, /* 8 not 0 while its stage is emptied, or if that was cut short */
    LAYER_STATE_BYTES = 64
};

/* A slot: the record of its flight. */
enum {
    FLIGHT_COUNT = 0, /* 8 keys in flight */
    FLIGHT_SALT = 8,  /* 8 of the table */
    FLIGHT_FILE = 16, /* 8 the inode number of the file that they are in; 0: they are in the slot */
    FLIGHT_NUMBER = 24, /* 4 of that file's name */
    FLIGHT_LEVEL = 28,  /* 4 of that file; or FLIGHT_BEGINS: it is being made */
    FLIGHT_RECORD_BYTES = 32
};

/* A file of keys: its head, and keys and places of level 0, which double with each level. */
enum {
    FLIGHT_HEAD_BYTES = 4096,
    FLIGHT_FILE_KEYS = 3072,
    FLIGHT_FILE_PLACES = 4096,
    FLIGHT_FILE_BYTES = FLIGHT_FILE_KEYS * 16 + FLIGHT_FILE_PLACES * 4,
    FLIGHT_LEVEL_MAX = 20,
    FLIGHT_BEGINS = 255
};

/* The largest number is filling, smaller ones are older. These are of no generation: the layer is
 * empty; it is being emptied. */
#define GENERATION_FREE UINT64_C(0)
#define GENERATION_RETIRED UINT64_MAX
/* With WINDOW_LAST: the clock told less than had been written before. */
#define WINDOW_BEHIND (UINT64_C(1) << 63)
/* No clock tells a later time: Linux's own ends in the year 2262, this in 2286. */
#define WINDOW_TIME_MAX UINT64_C(10000000000000)

enum { KEY_BYTES = 16, SLOTS_MAX = 128, JOURNAL_BYTES = 4096 };

/* Where the state of a layer begins, and its counter; and where a slot. */
static inline size_t layer_state_at(unsigned layer)
{
    return LAYER_STATES_AT + (size_t)layer * LAYER_STATE_BYTES;
}

static inline size_t keys_at(unsigned layer)
{
    return layer_state_at(layer) + LAYER_KEYS;
}

static inline size_t slot_at(unsigned slot)
{
    return SLOTS_AT + (size_t)slot * FLIGHT_RECORD_BYTES;
}

/* Keys and places of a slot, and where they begin. */
static inline uint64_t slot_capacity(unsigned slot)
{
    return slot == 0 ? 2048 : slot < 16 ? 8 : 0;
}

static inline uint64_t slot_places(unsigned slot)
{
    return 2 * slot_capacity(slot);
}

static inline size_t slot_keys_at(unsigned slot)
{
    const size_t first = 2048 * (KEY_BYTES + 8), other = 8 * (KEY_BYTES + 8);
    size_t others = slot < 16 ? slot : 16;
    return FLIGHT_AT + (slot > 0 ? first + (others - 1) * other : 0);
}

/* Bytes of the whole fixed part. */
static inline uint64_t metadata_bytes(bool counting)
{
    uint64_t end = slot_keys_at(SLOTS_MAX);
    return (end + 4095) / 4096 * 4096 + (counting ? JOURNAL_BYTES : 0);
}

#endif
